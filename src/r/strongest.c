/* The strongest few of many values, without sorting the others. */
#include "r.h"

#include "../core/threads.h"

#include <math.h>

enum { MOST = 32 };

/* The strongest so far, of equal ones the first; n of them. */
typedef struct {
    int n;
    double size[MOST];
    int64_t place[MOST];
} best_list;

static int is_before(double size, int64_t place, double other, int64_t other_place) {
    return size > other || (size == other && place < other_place);
}

static void offer(best_list *best, int most, double size, int64_t place) {
    if (best->n == most && !is_before(size, place, best->size[most - 1], best->place[most - 1])) return;
    int at = best->n < most ? best->n++ : most - 1;
    for (; at > 0 && is_before(size, place, best->size[at - 1], best->place[at - 1]); at--) {
        best->size[at] = best->size[at - 1];
        best->place[at] = best->place[at - 1];
    }
    best->size[at] = size;
    best->place[at] = place;
}

SEXP r_strongest(SEXP x, SEXP most, SEXP threads) {
    const double *value = REAL(x);
    int64_t n = Rf_xlength(x);
    int wanted = Rf_asInteger(most), n_threads = r_threads(threads);
    best_list all = {0};
    if (wanted < 1 || wanted > MOST) Rf_error("from 1 to %d values can be asked for", MOST);
    (void)n_threads; /* without OpenMP */
#pragma omp parallel num_threads(n_threads)
    {
        best_list own = {0};
#pragma omp for schedule(static)
        for (int64_t k = 0; k < n; k++) offer(&own, wanted, fabs(value[k]), k);
#pragma omp critical
        for (int k = 0; k < own.n; k++) offer(&all, wanted, own.size[k], own.place[k]);
    }
    SEXP result = Rf_allocVector(REALSXP, all.n);
    for (int k = 0; k < all.n; k++) REAL(result)[k] = (double)all.place[k] + 1;
    return result;
}
