/* Pearson's columns on the device: the host only copies their values. Sums have the order of the processor's, so that
 * the operand has the same bits; each thread prepares a column. */
#include "operand.cuh"
#include "../backend/lanes.cuh"
#include "../../measure/pearson.h"

extern "C" double gcor_prepare_pearson(double *x, int64_t n, gcor_preparing *with, float *out);

/* The host prepares fewer columns, and those of which fewer are on the device at a time, as fast. */
enum { THREADS = 128, MIN_COLUMNS = 1024 };

bool has_device_centring(const gcor_measure *measure, const gcor_columns *columns, int64_t n_var) {
    return measure->prepare == gcor_prepare_pearson && n_var >= MIN_COLUMNS &&
           columns->n_obs <= GROUP_VALUES / MIN_COLUMNS;
}

/* Columns with missing or infinite values become zeros. */
static __global__ void __launch_bounds__(THREADS)
    centre(const double *values, int64_t n, int64_t count, float *columns, double *norm, int *present) {
    int64_t v = blockIdx.x * (int64_t)THREADS + threadIdx.x;
    if (v >= count) return;
    const double *x = values + v * n;
    float *out = columns + v * n;
    double squares = 0;
    bool is_usable = true;
    for (int64_t k = 0; k < n; k++) is_usable &= isfinite(x[k]);
    gcor_centring c{};
    if (is_usable) c = gcor_centring_of(x, n);
    for (int64_t k = 0; is_usable && k < n; k++) {
        double value = gcor_centred(&c, x[k]);
        squares += value * value;
    }
    const double unit = squares > 0 ? 1 / sqrt(squares) : 0;
    for (int64_t k = 0; k < n; k++) out[k] = is_usable ? (float)(gcor_centred(&c, x[k]) * unit) : 0;
    norm[v] = gcor_dot(out, out, n);
    present[v] = (int)n;
}

void centre_columns(gcor_state *state, const double *values, int64_t n, int64_t count, Operand &o, int64_t at) {
    centre<<<blocks_for(count, THREADS), THREADS, 0, state->compute.handle>>>(values, n, count, o.columns.data + at * n,
                                                                              o.norm.data + at, o.present.data + at);
    check_launch("centering columns");
}
