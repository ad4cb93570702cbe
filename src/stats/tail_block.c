#include "tail_block.h"

#include "../base/elementary.h"
#include "../base/isa.h"
#include "tail_table.h"
#include "tie_variance.h"

#include <math.h>

double gcor_one_p(const gcor_t_table *table, double x) {
    if (x != x) return x;
    return gcor_tail_p(table ? gcor_t_table_tail(table, x) : gcor_normal_tail(x), x, GCOR_TWO_SIDED, 0);
}

static void all_p(const gcor_t_table *table, const double *x, int64_t n, double limit, double *p) {
#if defined(__x86_64__)
    if (gcor_isa() == GCOR_AVX512) return gcor_all_p_avx512(table, x, n, limit, p);
    if (gcor_isa() == GCOR_AVX2) return gcor_all_p_avx2(table, x, n, limit, p);
#endif
    for (int64_t k = 0; k < n; k++) p[k] = gcor_one_p(table, x[k]);
}

int64_t gcor_t_scores(double df, double max_df, const double *r, int64_t n, double *t) {
    int64_t near = 0;
#if defined(__x86_64__)
    if (gcor_isa() == GCOR_AVX512) return gcor_all_t_avx512(df, max_df, r, n, t);
    if (gcor_isa() == GCOR_AVX2) return gcor_all_t_avx2(df, max_df, r, n, t);
#endif
    for (int64_t k = 0; k < n; k++) {
        t[k] = r[k] == r[k] ? gcor_t_score(df, r[k]) : r[k];
        near += gcor_is_near(max_df, r[k]);
    }
    return near;
}

/* Vectors take coefficients for which 1 - r^2 is above this power of 1 / half_df, so that no exponent underflows. */
static const double MIN_EXPONENT = -739;

void gcor_t_table_p(const gcor_t_table *table, const double *r, int64_t n, double *p) {
    all_p(table, r, n, sqrt(1 - gcor_exp(MIN_EXPONENT / table->half_df)), p);
}

void gcor_normal_p(const double *z, int64_t n, double *p) {
    all_p(NULL, z, n, GCOR_FAR_NORMAL, p);
}
