/* Products in double: of columns of doubles, and of REAL columns for host sinks that decide on exact coefficients. They
 * run on the ordinary cores because the order of the sums is that of coefficient.h, so the results equal the CPU's to
 * the last bit. */
#include "pair.cuh"
#include "../backend/lanes.cuh"

/* One side of a tile, from the tile's first variable on. */
template <class Value>
struct Side {
    const Value *values;
    const double *norm;
};

/* ---- columns of doubles: a block computes SIDE x SIDE pairs, each thread OWN x OWN of them ---------------- */

namespace doubles {

enum { SIDE = 64, OWN = 4, ACROSS = SIDE / OWN, THREADS = ACROSS * ACROSS, STEP = 16, PADDED = SIDE + 2 };
enum { EACH = SIDE * STEP / THREADS }; /* values of a side that each thread loads */
static_assert(GCOR_OBS_RUN % STEP == 0, "runs of whole steps");

/* Two steps of both sides; after the last step the same memory holds the block's sums. */
union Shared {
    struct {
        double rows[2][STEP][PADDED], cols[2][STEP][PADDED];
    };
    double sums[SIDE][PADDED];
};

/* Loads this thread's values of SIDE variables from `var` on, observations from k on. Values beyond n_var or n_obs
 * are 0. */
static __device__ inline void fetch(const double *values, int64_t n_obs, int64_t var, int64_t n_var, int64_t k,
                                    double (&own)[EACH]) {
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        int at = threadIdx.x + THREADS * e;
        int64_t v = var + at / STEP, o = k + at % STEP;
        own[e] = v < n_var && o < n_obs ? values[v * n_obs + o] : 0;
    }
}

static __device__ inline void store(const double (&own)[EACH], double (&side)[STEP][PADDED]) {
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        int at = threadIdx.x + THREADS * e;
        side[at % STEP][at / STEP] = own[e];
    }
}

/* A thread has OWN consecutive rows, and columns ACROSS apart, so that a warp writes adjacent elements. */
static __device__ inline int own_row(int i) {
    return threadIdx.x / ACROSS * OWN + i;
}
static __device__ inline int own_col(int j) {
    return threadIdx.x % ACROSS + ACROSS * j;
}

/* Values beyond the last observation are zero and leave the sums unchanged. */
static __device__ inline void add_step(const double (&rows)[STEP][PADDED], const double (&cols)[STEP][PADDED],
                                       double (&run)[OWN][OWN]) {
#pragma unroll 2
    for (int o = 0; o < STEP; o++) {
        double row[OWN], col[OWN];
#pragma unroll
        for (int i = 0; i < OWN; i++) row[i] = rows[o][own_row(i)];
#pragma unroll
        for (int j = 0; j < OWN; j++) col[j] = cols[o][own_col(j)];
#pragma unroll
        for (int i = 0; i < OWN; i++)
#pragma unroll
            for (int j = 0; j < OWN; j++) run[i][j] = fma(row[i], col[j], run[i][j]);
    }
}

/* Adds a finished run of GCOR_OBS_RUN observations to the totals and starts the next run. */
static __device__ inline void end_run(double (&run)[OWN][OWN], double (&sums)[OWN][OWN]) {
#pragma unroll
    for (int i = 0; i < OWN; i++)
#pragma unroll
        for (int j = 0; j < OWN; j++) {
            sums[i][j] += run[i][j];
            run[i][j] = 0;
        }
}

/* Multiplies all steps; the next step is loaded while the current one is multiplied. */
static __device__ inline void sum_block(const Side<double> &rows, const Side<double> &cols, int64_t n_obs,
                                        const gcor_tile &tile, int64_t row, int64_t col, Shared &shared,
                                        double (&sums)[OWN][OWN]) {
    double run[OWN][OWN] = {}, row_values[EACH], col_values[EACH];
    auto bring = [&](int64_t k) {
        fetch(rows.values, n_obs, row, tile.n_row, k, row_values);
        fetch(cols.values, n_obs, col, tile.n_col, k, col_values);
    };
    bring(0);
    for (int64_t k = 0, turn = 0; k < n_obs; k += STEP, turn ^= 1) {
        store(row_values, shared.rows[turn]);
        store(col_values, shared.cols[turn]);
        __syncthreads(); /* also: the step before the last one has been read */
        bring(k + STEP);
        add_step(shared.rows[turn], shared.cols[turn], run);
        if ((k + STEP) % GCOR_OBS_RUN == 0) end_run(run, sums);
    }
    if (n_obs % GCOR_OBS_RUN != 0) end_run(run, sums);
}

/* Writes the pairs row by row without gaps (triangle.h); adjacent threads write adjacent elements. */
static __device__ inline void deliver(const Side<double> &rows, const Side<double> &cols, const gcor_tile &tile,
                                      gcor_shape shape, int64_t row, int64_t col, const Shared &shared, double *out) {
#pragma unroll 1
    for (int at = threadIdx.x; at < SIDE * SIDE; at += THREADS) {
        int64_t i = row + at / SIDE, j = col + at % SIDE, begin, n;
        if (i >= tile.n_row) return;
        gcor_tile_segment(&tile, shape, tile.row + i, &begin, &n);
        int64_t k = tile.col + j - begin;
        if (k >= 0 && k < n)
            out[gcor_tile_offset(&tile, shape, tile.row + i) + k] = gcor_coefficient(shared.sums[at / SIDE][at % SIDE],
                                                                                     rows.norm[i], cols.norm[j]);
    }
}

static __global__ void __launch_bounds__(THREADS, 2)
    double_blocks(Side<double> rows, Side<double> cols, int64_t n_obs, gcor_tile tile, gcor_shape shape, double *out) {
    __shared__ Shared shared;
    int64_t row = (int64_t)blockIdx.y * SIDE, col = (int64_t)blockIdx.x * SIDE;
    int64_t last_row = gcor_clamp(row + SIDE, 0, tile.n_row) - 1, last_col = gcor_clamp(col + SIDE, 0, tile.n_col) - 1;
    if (!has_pair(shape, tile.row + row, tile.row + last_row, tile.col + col, tile.col + last_col)) return;
    double sums[OWN][OWN] = {};
    sum_block(rows, cols, n_obs, tile, row, col, shared, sums);
    __syncthreads(); /* the last step has been read */
#pragma unroll
    for (int i = 0; i < OWN; i++)
#pragma unroll
        for (int j = 0; j < OWN; j++) shared.sums[own_row(i)][own_col(j)] = sums[i][j];
    __syncthreads();
    deliver(rows, cols, tile, shape, row, col, shared, out);
}

} // namespace doubles

void exact_doubles(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out) {
    using namespace doubles;
    const gcor_tile &tile = out.tile;
    Side<double> of_rows{rows.values_of(tile.row), rows.norm_of(tile.row)};
    Side<double> of_cols{cols.values_of(tile.col), cols.norm_of(tile.col)};
    dim3 grid((unsigned)((tile.n_col + SIDE - 1) / SIDE), (unsigned)((tile.n_row + SIDE - 1) / SIDE));
    double_blocks<<<grid, THREADS, 0, state->compute.handle>>>(of_rows, of_cols, rows.head.n_obs, tile, out.shape,
                                                               out.doubles);
    check_launch("multiplying columns in double");
}

/* ---- REAL columns: the sums of gcor_dot(); a warp computes one row against as many columns as it has lanes -- */

namespace dots {

enum { LANES = 32, WARPS = 8, THREADS = WARPS * LANES };

/* Writes the tile's pairs row by row without gaps (triangle.h). */
static __global__ void dot_rows(Side<float> rows, Side<float> cols, int64_t n_obs, gcor_tile tile, gcor_shape shape,
                                double *out) {
    int64_t i = blockIdx.y, first = ((int64_t)blockIdx.x * WARPS + threadIdx.x / LANES) * LANES, begin, n;
    int lane = threadIdx.x % LANES;
    gcor_tile_segment(&tile, shape, tile.row + i, &begin, &n);
    int64_t from = gcor_clamp(begin - tile.col, first, first + LANES);
    int64_t end = gcor_clamp(begin + n - tile.col, from, first + LANES); /* the same in all lanes */
    double own = 0;
    for (int64_t j = from; j < end; j++) {
        const double product = warp_dot(rows.values + i * n_obs, cols.values + j * n_obs, n_obs);
        if (lane == j - first) own = product;
    }
    int64_t j = first + lane;
    if (j >= from && j < end)
        out[gcor_tile_offset(&tile, shape, tile.row + i) + tile.col + j - begin] = gcor_coefficient(own, rows.norm[i],
                                                                                                    cols.norm[j]);
}

} // namespace dots

void exact_dots(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out) {
    const gcor_tile &tile = out.tile;
    Side<float> of_rows{rows.columns_of(tile.row), rows.norm_of(tile.row)};
    Side<float> of_cols{cols.columns_of(tile.col), cols.norm_of(tile.col)};
    dim3 grid((unsigned)((tile.n_col + dots::THREADS - 1) / dots::THREADS), (unsigned)tile.n_row);
    dots::dot_rows<<<grid, dots::THREADS, 0, state->compute.handle>>>(of_rows, of_cols, rows.head.n_obs, tile,
                                                                      out.shape, out.doubles);
    check_launch("multiplying columns");
}
