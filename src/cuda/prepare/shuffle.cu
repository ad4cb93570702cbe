/* Permutes prepared columns (source/source.h). A series of permutations prepares them once: the operand's values are
 * kept, and each run permutes a copy. */
#include "operand.cuh"
#include "../backend/lanes.cuh"
#include "../../source/source.h"

#include <algorithm>

/* A thread permutes a column, in shared memory where it has room. */
static const int64_t SHUFFLE_THREADS = 32, SHUFFLE_FLOATS = 12288;

static __global__ void shuffle_values(gcor_shuffle shuffle, int64_t first, int64_t n_var, int64_t n, bool is_staged,
                                      float *columns) {
    extern __shared__ float staged[];
    const int64_t v = blockIdx.x * (int64_t)blockDim.x + threadIdx.x, step = is_staged ? (int64_t)blockDim.x : 1;
    if (v >= n_var) return;
    float *own = columns + v * n, *x = is_staged ? staged + threadIdx.x : own;
    for (int64_t k = 0; is_staged && k < n; k++) x[k * step] = own[k];
    gcor_shuffle_values(&shuffle, first + v, nullptr, x, n, step);
    for (int64_t k = 0; is_staged && k < n; k++) own[k] = x[k * step];
}

void shuffle_columns(gcor_state *state, const gcor_shuffle *shuffle, Operand &o) {
    const int64_t n_var = o.head.n_var, n = o.head.n_obs;
    if (n < 2 || n_var == 0) return;
    gcor_shuffle there = *shuffle;
    if (shuffle->variable) {
        DeviceArray<int> &variable = state->columns->unshuffled.variable;
        variable.reserve(o.head.first + n_var, "the numbers of variables");
        copy_to_device(variable.data, shuffle->variable, o.head.first + n_var, state->compute, "copying numbers");
        there.variable = variable.data;
    }
    const bool is_staged = n <= SHUFFLE_FLOATS;
    const int64_t threads = std::min(SHUFFLE_THREADS, is_staged ? SHUFFLE_FLOATS / n : SHUFFLE_THREADS);
    const size_t bytes = is_staged ? (size_t)(threads * n) * sizeof(float) : 0;
    shuffle_values<<<blocks_for(n_var, threads), (unsigned)threads, bytes, state->compute.handle>>>(
        there, o.head.first, n_var, n, is_staged, o.columns.data);
    check_launch("permuting columns");
}

/* ---- columns kept for a series ---------------------------------------------------------------------- */

template <class T>
static void copy_on_device(T *to, const T *from, int64_t n, const Stream &stream) {
    check(cudaMemcpyAsync(to, from, (size_t)n * sizeof(T), cudaMemcpyDeviceToDevice, stream.handle), "copying columns");
}

static UnshuffledColumns::Contents contents_of(const gcor_shuffle *shuffle, const Operand &o) {
    return {shuffle->series, o.head.first, o.head.n_var, o.head.n_obs};
}

void keep_unshuffled(gcor_state *state, const gcor_columns *columns, const Operand &o) {
    UnshuffledColumns &kept = state->columns->unshuffled;
    const int64_t n_var = o.head.n_var, values = n_var * o.head.n_obs;
    kept.contents = {};
    if (values == 0 || n_var < columns->source->n_var || (size_t)values * sizeof(float) > UNSHUFFLED_BYTES) return;
    kept.columns.reserve(values, "columns before a permutation");
    kept.norm.reserve(n_var, "columns before a permutation");
    copy_on_device(kept.columns.data, o.columns.data, values, state->compute);
    copy_on_device(kept.norm.data, o.norm.data, n_var, state->compute);
    kept.host_norm.assign(o.head.norm, o.head.norm + n_var);
    kept.flags.assign(o.head.flags, o.head.flags + n_var);
    kept.contents = contents_of(columns->shuffle, o);
    kept.is_used = true;
}

bool restore_unshuffled(gcor_state *state, const gcor_shuffle *shuffle, Operand &o) {
    UnshuffledColumns &kept = state->columns->unshuffled;
    if (!(kept.contents == contents_of(shuffle, o))) return false;
    copy_on_device(o.columns.data, kept.columns.data, o.head.n_var * o.head.n_obs, state->compute);
    copy_on_device(o.norm.data, kept.norm.data, o.head.n_var, state->compute);
    std::copy(kept.host_norm.begin(), kept.host_norm.end(), o.head.norm);
    std::copy(kept.flags.begin(), kept.flags.end(), o.head.flags);
    kept.is_used = true;
    return true;
}
