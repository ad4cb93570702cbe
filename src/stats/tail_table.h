/* The table of Student's t, as tail.c makes it, and what a tail is made of. */
#pragma once

/* As a function of y = 1 / (1 + r s), with s near sqrt(df / 2), the quotient (tail.c) has nearly the same shape for
 * every df. The table has polynomials on equal intervals of y. */
enum { GCOR_T_INTERVALS = 128, GCOR_T_TERMS = 9 };

struct gcor_t_table {
    double half_df, scale, low, per_y;                  /* index of the interval: (y - low) * per_y */
    double coefficient[GCOR_T_INTERVALS][GCOR_T_TERMS]; /* of powers of the position in the interval, -1 to 1 */
};

/* Evaluates the quotient at `at`, an index of intervals with a fraction. */
static inline double gcor_t_quotient(const struct gcor_t_table *table, double at) {
    int interval = (int)at;
    if (interval > GCOR_T_INTERVALS - 1) interval = GCOR_T_INTERVALS - 1; /* r = 0 */
    const double *c = table->coefficient[interval], u = 2 * (at - interval) - 1;
    double sum = c[GCOR_T_TERMS - 1];
    for (int k = GCOR_T_TERMS - 2; k >= 0; k--) sum = sum * u + c[k];
    return sum;
}

/* From here on erfc() underflows, and the asymptotic series of a normal tail is accurate to all digits. */
#define GCOR_FAR_NORMAL 37
