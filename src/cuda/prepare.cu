/* Columns of x made ready: gathered by the processor's threads into pinned memory, copied, and
 * centred or ranked on the device, a batch of columns at a time. */
#include "cuda.cuh"

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

/* Pearson: one block a column. Differences from the first value are exactly zero for a constant
 * column. A column with missing or infinite values becomes zeros with norm NaN. */
static __global__ void unit_columns(const double *values, int64_t n, float *out, double *norm, int *present) {
    const double *x = values + blockIdx.x * n;
    double scale = scale_of(x, n), first = x[0] * scale, sum = 0, squares = 0, rounded = 0;
    for (int64_t k = threadIdx.x; k < n; k += COLUMN_THREADS) sum += x[k] * scale - first;
    double mean = reduce_to_all(sum, Plus()) / (double)n;
    for (int64_t k = threadIdx.x; k < n; k += COLUMN_THREADS) {
        double d = x[k] * scale - first - mean;
        squares += d * d;
    }
    squares = reduce_to_all(squares, Plus());
    double unit = squares > 0 ? 1 / sqrt(squares) : 0;
    for (int64_t k = threadIdx.x; k < n; k += COLUMN_THREADS) {
        float u = unit > 0 ? (float)((x[k] * scale - first - mean) * unit) : 0;
        out[blockIdx.x * n + k] = u;
        rounded += (double)u * u;
    }
    rounded = reduce_to_all(rounded, Plus());
    if (threadIdx.x == 0) {
        norm[blockIdx.x] = squares >= 0 ? rounded : NAN;
        present[blockIdx.x] = (int)n;
    }
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

/* The operand's arrays; REAL is padded with zero columns to whole tiles. */
static void allocate(gcor_state *state, Operand &o) {
    const char *what = "the prepared columns";
    int64_t n = o.head.n_obs, n_var = o.head.n_var, n_row, n_col;
    o.norm.reserve(n_var, what);
    o.present.reserve(n_var, what);
    switch (o.head.kind) {
    case GCOR_REAL_COMMON: o.values.reserve(n * n_var, what); break;
    case GCOR_RANK_COMMON:
        o.order.reserve(n * n_var, what);
        o.begin.reserve(n * n_var, what);
        o.end.reserve(n * n_var, what);
        break;
    default: {
        cuda_tile_size(o.head.kind, n, &n_row, &n_col);
        int64_t padded = (n_var + n_col - 1) / n_col * n_col;
        if (o.head.kind != GCOR_REAL) padded = n_var;
        o.columns.reserve(n * padded, what);
        check(cudaMemsetAsync(o.columns.data + n * n_var, 0, (size_t)(n * (padded - n_var)) * sizeof(float),
                              state->compute.handle),
              "clearing memory");
    }
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
    else if (o.head.kind == GCOR_REAL_COMMON)
        scaled_columns<<<(unsigned)count, COLUMN_THREADS, 0, state->compute.handle>>>(
            values, n, o.values.data + at * n, o.norm.data + at, o.present.data + at);
    else
        unit_columns<<<(unsigned)count, COLUMN_THREADS, 0, state->compute.handle>>>(
            values, n, o.columns.data + at * n, o.norm.data + at, o.present.data + at);
    check_launch("preparing columns");
}

/* Two staging buffers: one is filled while the other is copied. */
static void prepare_all(gcor_state *state, const gcor_columns *columns, gcor_method method, Operand &o) {
    int64_t n = o.head.n_obs;
    int64_t batch = std::min<int64_t>(o.head.n_var, std::max<int64_t>(1, STAGED_VALUES / n));
    PinnedArray<double> staged[2];
    Event copied[2];
    DeviceArray<double> values;
    RankScratch scratch;
    values.reserve(batch * n, "columns being prepared");
    int turn = 0;
    for (int64_t at = 0; at < o.head.n_var; at += batch, turn = 1 - turn) {
        int64_t count = std::min(batch, o.head.n_var - at);
        staged[turn].reserve(batch * n, "columns being prepared");
        if (at >= 2 * batch) wait_for(state, copied[turn]);
        gather(state, columns, o, o.head.first + at, count, staged[turn].data);
        check(cudaMemcpyAsync(values.data, staged[turn].data, (size_t)(count * n) * sizeof(double),
                              cudaMemcpyHostToDevice, state->compute.handle),
              "copying columns");
        copied[turn].record(state->compute);
        prepare_batch(state, method, o, values.data, at, count, scratch);
    }
    wait_for_compute(state);
}

/* What the device found, completed on the host, and the norms back to the device. All on the
 * stream that the products use: the default stream would not wait for it, nor it for that one. */
static void describe(gcor_state *state, gcor_method method, Operand &o) {
    int64_t n_var = o.head.n_var;
    size_t norm_bytes = (size_t)n_var * sizeof(double);
    cudaStream_t stream = state->compute.handle;
    std::unique_ptr<int[]> present(new int[n_var]);
    check(cudaMemcpyAsync(present.get(), o.present.data, n_var * sizeof(int), cudaMemcpyDeviceToHost, stream),
          "copying norms");
    check(cudaMemcpyAsync(o.head.norm, o.norm.data, norm_bytes, cudaMemcpyDeviceToHost, stream), "copying norms");
    wait_for_compute(state);
    for (int64_t j = 0; j < n_var; j++) {
        int flags = o.head.flags[j];
        gcor_describe_column(o.head.kind, method, present[j], &o.head.norm[j], &flags);
        o.head.flags[j] = (unsigned char)flags;
    }
    check(cudaMemcpyAsync(o.norm.data, o.head.norm, norm_bytes, cudaMemcpyHostToDevice, stream), "copying norms");
}

std::unique_ptr<Operand> cuda_prepare(gcor_state *state, const gcor_columns *columns, gcor_method method,
                                      gcor_kind kind, int64_t first, int64_t n_var) {
    std::unique_ptr<Operand> o(new Operand());
    o->host_norm.reset(new double[n_var]);
    o->host_flags.reset(new unsigned char[n_var]());
    o->head = {kind, first, n_var, columns->n_obs, o->host_norm.get(), o->host_flags.get()};
    allocate(state, *o);
    if (columns->n_obs > 0) {
        prepare_all(state, columns, method, *o);
    } else {
        cudaStream_t stream = state->compute.handle;
        check(cudaMemsetAsync(o->norm.data, 0, n_var * sizeof(double), stream), "clearing memory");
        check(cudaMemsetAsync(o->present.data, 0, n_var * sizeof(int), stream), "clearing memory");
    }
    describe(state, method, *o);
    return o;
}
