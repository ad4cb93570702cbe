/* Columns of x made ready, a batch of them at a time: gathered by the processor's threads into pinned
 * memory and copied. Pearson's are centred and scaled on the way, the others ranked on the device. */
#include "../../core/threads.h"
#include "../product/product.cuh"

#include <cub/block/block_reduce.cuh>

#include <algorithm>

using SumDoubles = cub::BlockReduce<double, COLUMN_THREADS>;

/* All threads of the block get the reduction of their values. */
template <class Operation>
static __device__ double reduce_to_all(double value, Operation operation) {
    __shared__ typename SumDoubles::TempStorage storage;
    __shared__ double result;
    double reduced = SumDoubles(storage).Reduce(value, operation);
    __syncthreads();
    if (threadIdx.x == 0) result = reduced;
    __syncthreads();
    return result;
}

struct Plus {
    __device__ double operator()(double a, double b) const { return a + b; }
};
struct Larger {
    __device__ double operator()(double a, double b) const { return a > b ? a : b; }
};

static __device__ double scale_of(const double *x, int64_t n) {
    double largest = 0;
    for (int64_t k = threadIdx.x; k < n; k += COLUMN_THREADS)
        if (isfinite(x[k])) largest = fmax(largest, fabs(x[k]));
    return gcor_scale(reduce_to_all(largest, Larger()));
}

/* Pearson over common rows: scaled only, as each pair has means of its own. norm: varies or not. */
static __global__ void scaled_columns(const double *values, int64_t n, double *out, double *norm, int *present) {
    const double *x = values + blockIdx.x * n;
    double scale = scale_of(x, n), low = INFINITY, high = -INFINITY, count = 0;
    for (int64_t k = threadIdx.x; k < n; k += COLUMN_THREADS) {
        out[blockIdx.x * n + k] = x[k] * scale;
        if (isnan(x[k])) continue;
        count++;
        low = fmin(low, x[k]);
        high = fmax(high, x[k]);
    }
    low = -reduce_to_all(-low, Larger());
    high = reduce_to_all(high, Larger());
    count = reduce_to_all(count, Plus());
    if (threadIdx.x == 0) {
        norm[blockIdx.x] = low < high;
        present[blockIdx.x] = (int)count;
    }
}

static void allocate(Operand &o) {
    const char *what = "the prepared columns";
    int64_t n = o.head.n_obs, n_var = o.head.n_var;
    o.norm.reserve(n_var, what);
    o.present.reserve(n_var, what);
    switch (o.head.kind) {
    case GCOR_REAL_COMMON: o.values.reserve(n * n_var, what); break;
    case GCOR_RANK_COMMON:
        o.order.reserve(n * n_var, what);
        o.begin.reserve(n * n_var, what);
        o.end.reserve(n * n_var, what);
        break;
    default: o.columns.reserve(n * n_var, what);
    }
}

/* Gather variables from .. from+count-1 into `staged`; their flags into the operand. */
static void gather(gcor_state *state, const gcor_columns *columns, Operand &o, int64_t from, int64_t count,
                   double *staged) {
    gcor_context *context = state->context;
    int64_t n = o.head.n_obs;
    unsigned char *flags = o.host_flags.get() + (from - o.head.first);
#pragma omp parallel for num_threads(context->threads) schedule(dynamic, 16)
    for (int64_t j = 0; j < count; j++) flags[j] = (unsigned char)gcor_gather(columns, from + j, staged + j * n);
    if (gcor_stop(context, 0)) throw Stopped{context->error.status};
}

static void prepare_batch(gcor_state *state, gcor_method method, Operand &o, const double *values, int64_t at,
                          int64_t count, RankScratch &scratch) {
    int64_t n = o.head.n_obs;
    if (method != GCOR_PEARSON)
        rank_columns(state, values, count, method, o, at, scratch);
    else
        scaled_columns<<<(unsigned)count, COLUMN_THREADS, 0, state->compute.handle>>>(
            values, n, o.values.data + at * n, o.norm.data + at, o.present.data + at);
    check_launch("preparing columns");
}

/* Batches through two staging buffers: one is filled while the other is copied. fill(staged, at, count)
 * makes columns at .. at+count-1 of the operand, copied(staged, at, count) orders their copy. */
template <class Value, class Fill, class Copy>
static void in_batches(gcor_state *state, const Operand &o, int64_t batch, Fill fill, Copy copy) {
    PinnedArray<Value> staged[2];
    Event copied[2];
    int turn = 0;
    for (int64_t at = 0; at < o.head.n_var; at += batch, turn = 1 - turn) {
        int64_t count = std::min(batch, o.head.n_var - at);
        staged[turn].reserve(batch * o.head.n_obs, "columns being prepared");
        if (at >= 2 * batch) wait_for(state, copied[turn]);
        fill(staged[turn].data, at, count);
        copy(staged[turn].data, at, count);
        copied[turn].record(state->compute);
    }
    wait_for_compute(state);
}

static int64_t batch_of(const Operand &o) {
    return std::min<int64_t>(o.head.n_var, std::max<int64_t>(1, STAGED_VALUES / o.head.n_obs));
}

/* Ranked or scaled on the device, from doubles. */
static void prepare_on_device(gcor_state *state, const gcor_columns *columns, gcor_method method, Operand &o) {
    int64_t n = o.head.n_obs, batch = batch_of(o);
    DeviceArray<double> values;
    RankScratch scratch;
    values.reserve(batch * n, "columns being prepared");
    auto fill = [&](double *staged, int64_t at, int64_t count) {
        gather(state, columns, o, o.head.first + at, count, staged);
    };
    in_batches<double>(state, o, batch, fill, [&](const double *staged, int64_t at, int64_t count) {
        check(cudaMemcpyAsync(values.data, staged, (size_t)(count * n) * sizeof(double), cudaMemcpyHostToDevice,
                              state->compute.handle),
              "copying columns");
        prepare_batch(state, method, o, values.data, at, count, scratch);
    });
}

/* Pearson: centred and scaled on the host, by the same code as on the CPU back end. */
static void prepare_on_host(gcor_state *state, const gcor_columns *columns, Operand &o) {
    gcor_context *context = state->context;
    int64_t n = o.head.n_obs;
    std::unique_ptr<double[]> work(new double[n * context->threads]);
    auto fill = [&](float *staged, int64_t at, int64_t count) {
#pragma omp parallel for num_threads(context->threads) schedule(dynamic, 16)
        for (int64_t j = 0; j < count; j++) {
            double *x = work.get() + omp_get_thread_num() * n;
            int flags = gcor_gather(columns, o.head.first + at + j, x);
            o.head.flags[at + j] = (unsigned char)flags;
            o.head.norm[at + j] = gcor_unit_column(x, n, flags, staged + j * n);
        }
        if (gcor_stop(context, 0)) throw Stopped{context->error.status};
    };
    in_batches<float>(state, o, batch_of(o), fill, [&](const float *staged, int64_t at, int64_t count) {
        check(cudaMemcpyAsync(o.columns.data + at * n, staged, (size_t)(count * n) * sizeof(float),
                              cudaMemcpyHostToDevice, state->compute.handle),
              "copying columns");
    });
}

/* What was found, completed on the host, and the norms to the device. All on the stream that the
 * products use: the default stream would not wait for it, nor it for that one. */
static void describe(gcor_state *state, gcor_method method, Operand &o, bool on_host) {
    int64_t n_var = o.head.n_var;
    size_t norm_bytes = (size_t)n_var * sizeof(double);
    cudaStream_t stream = state->compute.handle;
    std::unique_ptr<int[]> present(new int[n_var]);
    if (!on_host) {
        check(cudaMemcpyAsync(present.get(), o.present.data, n_var * sizeof(int), cudaMemcpyDeviceToHost, stream),
              "copying norms");
        check(cudaMemcpyAsync(o.head.norm, o.norm.data, norm_bytes, cudaMemcpyDeviceToHost, stream), "copying norms");
        wait_for_compute(state);
    }
    for (int64_t j = 0; j < n_var; j++) {
        int flags = o.head.flags[j];
        int64_t count = on_host ? o.head.n_obs : present[j];
        gcor_describe_column(o.head.kind, method, count, &o.head.norm[j], &flags);
        o.head.flags[j] = (unsigned char)flags;
    }
    check(cudaMemcpyAsync(o.norm.data, o.head.norm, norm_bytes, cudaMemcpyHostToDevice, stream), "copying norms");
}

std::unique_ptr<Operand> cuda_prepare(gcor_state *state, const gcor_columns *columns, gcor_method method,
                                      gcor_kind kind, int64_t first, int64_t n_var) {
    std::unique_ptr<Operand> o(new Operand());
    o->host_norm.reset(new double[n_var]());
    o->host_flags.reset(new unsigned char[n_var]());
    o->head = {kind, first, n_var, columns->n_obs, o->host_norm.get(), o->host_flags.get()};
    o->serial = ++state->prepared;
    allocate(*o);
    bool on_host = columns->n_obs == 0 || (method == GCOR_PEARSON && kind == GCOR_REAL);
    if (!on_host)
        prepare_on_device(state, columns, method, *o);
    else if (columns->n_obs > 0)
        prepare_on_host(state, columns, *o);
    describe(state, method, *o, on_host);
    if (kind == GCOR_REAL && fused(state, kind, columns->n_obs)) make_halves(state, *o);
    if (kind == GCOR_SIGN || kind == GCOR_SIGN_COMMON) make_bits(state, *o);
    return o;
}
