/* Products of pairs by biweights, with the bits of measure/bicor.c. Included by kernels_of_isa.h. */

/* Replaces values by weighted differences, by whole vectors. */
INLINE void weigh_differences(double *x, int64_t n, const cpu_biweight *w) {
    for (int64_t k = 0; k < n; k += BYTES / 8) {
        const double_vec difference = *(double_vec *)(x + k) * w->scale - w->median;
        const double_vec u = difference / choose(difference < 0, w->below, w->above - (double_vec){0});
        const double_vec v = 1 - u * u;
        *(double_vec *)(x + k) = difference * choose(~(v > 0), 0, v * v);
    }
}

static void biweights(double *x, double *y, int64_t n, const cpu_biweight *of_x, const cpu_biweight *of_y,
                      double *sums) {
    double squares_x = 0, squares_y = 0;
    weigh_differences(x, n, of_x);
    weigh_differences(y, n, of_y);
    for (int64_t k = 0; k < n; k++) squares_x += x[k] * x[k], squares_y += y[k] * y[k];
    const double unit_x = squares_x > 0 ? 1 / sqrt(squares_x) : 0, unit_y = squares_y > 0 ? 1 / sqrt(squares_y) : 0;
    for (int64_t k = 0; k < n; k++) x[k] *= unit_x, y[k] *= unit_y;
    sums[0] = sums[1] = sums[2] = 0;
    for (int64_t from = 0; from < n; from += GCOR_OBS_RUN) { /* gcor_double_dot() */
        const int64_t to = n - from < GCOR_OBS_RUN ? n : from + GCOR_OBS_RUN;
        double xx = 0, yy = 0, xy = 0;
        for (int64_t k = from; k < to; k++) {
            xx = gcor_fma(x[k], x[k], xx);
            yy = gcor_fma(y[k], y[k], yy);
            xy = gcor_fma(x[k], y[k], xy);
        }
        sums[0] += xx;
        sums[1] += yy;
        sums[2] += xy;
    }
}
