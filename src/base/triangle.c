#include "triangle.h"

#include <math.h>

/* The largest t with t(t+1)/2 <= k. The square root is a guess, within a few units even if k has more than 53 bits;
 * the integers decide. */
static int64_t triangular_root(int64_t k) {
    int64_t t = (int64_t)sqrt(2.0 * (double)k);
    while (gcor_triangular(t) > k) t--;
    while (gcor_triangular(t + 1) <= k) t++;
    return t;
}

void gcor_column_pair(int64_t position, int64_t *i, int64_t *j) {
    int64_t t = triangular_root(position);
    *j = t + 1;
    *i = position - gcor_triangular(t);
}

/* The row order of n variables, read backwards, is the column order of their mirror image. */
void gcor_row_pair(int64_t position, int64_t n, int64_t *i, int64_t *j) {
    int64_t back_i, back_j;
    gcor_column_pair(gcor_triangular(n - 1) - 1 - position, &back_i, &back_j);
    *i = n - 1 - back_j;
    *j = n - 1 - back_i;
}
