/* Products in double: of columns of doubles, of columns with missing values, and of REAL columns for host sinks that
 * decide on exact coefficients. They run on the ordinary cores because the order of the sums is that of coefficient.h,
 * so the results equal the CPU's to the last bit. */
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

/* The columns of a tile's pairs, numbered from the tile's first. */
struct DoubleSides {
    Side<double> rows, cols;
    int64_t n_obs;
    __device__ double row(int64_t v, int64_t k) const { return rows.values[v * n_obs + k]; }
    __device__ double col(int64_t v, int64_t k) const { return cols.values[v * n_obs + k]; }
    __device__ double coefficient(double product, int64_t i, int64_t j) const {
        return gcor_coefficient(product, rows.norm[i], cols.norm[j]);
    }
};

/* The same for columns with missing values; a coefficient that needs a sum over the common rows alone is NaN. */
struct CommonSides {
    CommonSide rows, cols;
    int64_t n_obs;
    bool centred;
    __device__ double row(int64_t v, int64_t k) const {
        return gcor_common_score(rows.all + v, rows.values[v * n_obs + k]);
    }
    __device__ double col(int64_t v, int64_t k) const {
        return gcor_common_score(cols.all + v, cols.values[v * n_obs + k]);
    }

    /* Subtracts the scores of a column in the rows that are missing in word w of the other one. */
    __device__ static void leave_out(const double *values, const gcor_common_sums &all, uint64_t missing, int64_t w,
                                     gcor_common_sums &left) {
        for (; missing; missing &= missing - 1) {
            double score = gcor_common_score(&all, values[w * MASK_BITS + __ffsll((long long)missing) - 1]);
            left.sum -= score;
            left.squares -= score * score;
        }
    }
    __device__ double coefficient(double product, int64_t i, int64_t j) const {
        const int64_t words = mask_words(n_obs);
        const gcor_common_sums own = rows.all[i], other = cols.all[j];
        gcor_common_pair pair{own, other, product, (double)n_obs};
        for (int64_t w = 0; w < words; w++) {
            uint64_t row_misses = rows.missing[i * words + w], col_misses = cols.missing[j * words + w];
            pair.n -= __popcll(row_misses | col_misses);
            leave_out(rows.values + i * n_obs, own, col_misses, w, pair.own);
            leave_out(cols.values + j * n_obs, other, row_misses, w, pair.other);
        }
        if (!gcor_settle_common(&pair, centred, own.squares, other.squares)) return NAN;
        double r = gcor_coefficient(pair.product, 1, pair.own.squares * pair.other.squares);
        return fabs(r) < GCOR_NEAR_ONE ? r : NAN;
    }
};

/* Loads this thread's values of SIDE variables from `var` on, observations from k on. Values beyond n_var or n_obs
 * are 0. */
template <class Value>
static __device__ inline void fetch(Value value, int64_t n_obs, int64_t var, int64_t n_var, int64_t k,
                                    double (&own)[EACH]) {
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        int at = threadIdx.x + THREADS * e;
        int64_t v = var + at / STEP, o = k + at % STEP;
        own[e] = v < n_var && o < n_obs ? value(v, o) : 0;
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
template <class Sides>
static __device__ inline void sum_block(const Sides &sides, const gcor_tile &tile, int64_t row, int64_t col,
                                        Shared &shared, double (&sums)[OWN][OWN]) {
    const int64_t n_obs = sides.n_obs;
    double run[OWN][OWN] = {}, row_values[EACH], col_values[EACH];
    auto row_value = [&](int64_t v, int64_t k) { return sides.row(v, k); };
    auto col_value = [&](int64_t v, int64_t k) { return sides.col(v, k); };
    auto bring = [&](int64_t k) {
        fetch(row_value, n_obs, row, tile.n_row, k, row_values);
        fetch(col_value, n_obs, col, tile.n_col, k, col_values);
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
template <class Sides>
static __device__ inline void deliver(const Sides &sides, const gcor_tile &tile, gcor_shape shape, int64_t row,
                                      int64_t col, const Shared &shared, double *out) {
#pragma unroll 1
    for (int at = threadIdx.x; at < SIDE * SIDE; at += THREADS) {
        int64_t i = row + at / SIDE, j = col + at % SIDE, begin, n;
        if (i >= tile.n_row) return;
        gcor_tile_segment(&tile, shape, tile.row + i, &begin, &n);
        int64_t k = tile.col + j - begin;
        if (k >= 0 && k < n)
            out[gcor_tile_offset(&tile, shape, tile.row + i) + k] = sides.coefficient(shared.sums[at / SIDE][at % SIDE],
                                                                                      i, j);
    }
}

template <class Sides>
static __global__ void __launch_bounds__(THREADS, 2)
    double_blocks(const __grid_constant__ Sides sides, gcor_tile tile, gcor_shape shape, double *out) {
    __shared__ Shared shared;
    int64_t row = (int64_t)blockIdx.y * SIDE, col = (int64_t)blockIdx.x * SIDE;
    int64_t last_row = gcor_clamp(row + SIDE, 0, tile.n_row) - 1, last_col = gcor_clamp(col + SIDE, 0, tile.n_col) - 1;
    if (!has_pair(shape, tile.row + row, tile.row + last_row, tile.col + col, tile.col + last_col)) return;
    double sums[OWN][OWN] = {};
    sum_block(sides, tile, row, col, shared, sums);
    __syncthreads(); /* the last step has been read */
#pragma unroll
    for (int i = 0; i < OWN; i++)
#pragma unroll
        for (int j = 0; j < OWN; j++) shared.sums[own_row(i)][own_col(j)] = sums[i][j];
    __syncthreads();
    deliver(sides, tile, shape, row, col, shared, out);
}

template <class Sides>
static void multiply(gcor_state *state, const Sides &sides, const Packed &out) {
    const gcor_tile &tile = out.tile;
    dim3 grid((unsigned)((tile.n_col + SIDE - 1) / SIDE), (unsigned)((tile.n_row + SIDE - 1) / SIDE));
    double_blocks<<<grid, THREADS, 0, state->compute.handle>>>(sides, tile, out.shape, out.doubles);
    check_launch("multiplying columns in double");
}

} // namespace doubles

void exact_doubles(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out) {
    const int64_t row = out.tile.row, col = out.tile.col, n_obs = rows.head.n_obs;
    if (rows.head.kind == GCOR_REAL_COMMON)
        return doubles::multiply(
            state, doubles::CommonSides{rows.common_of(row), cols.common_of(col), n_obs, rows.centred}, out);
    Side<double> of_rows{rows.values_of(row), rows.norm_of(row)}, of_cols{cols.values_of(col), cols.norm_of(col)};
    doubles::multiply(state, doubles::DoubleSides{of_rows, of_cols, n_obs}, out);
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
