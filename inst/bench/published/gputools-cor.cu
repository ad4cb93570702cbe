/* Pearson's r or Kendall's tau of all pairs, the way of the R package gputools: J. Buckner et al., "The gputools
 * package enables GPU computing in R", Bioinformatics 26 (2010) 134-135.
 *
 *   gputools-cor N n_obs [steps [pearson | kendall]]
 *
 * A block of threads for every pair of columns. Threads stride over the observations and the block adds up what
 * they found in shared memory.
 * - Pearson: two passes, means and then squares and products of deviations, anew for every pair: a column's moments
 *   are computed N times.
 * - Kendall: the definition, every pair of observations looked at, O(n_obs^2) a pair of columns.
 * As there: float; a full matrix, every pair in it twice.
 *
 * Not as there, where it would be wrong:
 * - Ties: a pair of observations tied in one column or both is neither concordant nor discordant, and tau-b's
 *   divisor leaves it out, as R does. gputools 1 counted those tied in both columns as concordant, and those tied in
 *   one as discordant; version 2 has tau-b.
 * - Indices have 64 bits (32 wrap from 46,341 columns on), and blocks loop over rows and columns beyond the grid.
 *
 * Left open, and chosen: 64 threads a block, with which an SM's 32 blocks fill it; a thread's share of Kendall's
 * pairs is every 64th observation with all before it. The matrix comes in pieces of rows, of which the host keeps
 * what lies above the diagonal. */
#include "harness.h"

enum { THREADS = 64, MAX_GRID = 65535 };
static const int64_t PIECE_VALUES = (int64_t)1 << 22; /* 16 MB: the host's buffer stays small and in cache */

/* ---- a pair of columns, by a block ---------------------------------------------------------------- */

/* Sums over observations, or over pairs of them: for x, for y, and for both. */
template <class Number>
struct Triple {
    Number x, y, xy;
};

/* Every thread gets the sums over the block. */
template <class Number>
static __device__ Triple<Number> block_sum(Triple<Number> own) {
    __shared__ Triple<Number> all[THREADS];
    int t = threadIdx.x;
    __syncthreads(); /* sums before this one have been read */
    all[t] = own;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            all[t].x += all[t + half].x;
            all[t].y += all[t + half].y;
            all[t].xy += all[t + half].xy;
        }
        __syncthreads();
    }
    return all[0];
}

struct Pearson {
    static __device__ float of(const float *x, const float *y, int n) {
        Triple<float> sum = {0, 0, 0};
        for (int k = threadIdx.x; k < n; k += THREADS) {
            sum.x += x[k];
            sum.y += y[k];
        }
        sum = block_sum(sum);
        float mean_x = sum.x / (float)n, mean_y = sum.y / (float)n;
        Triple<float> square = {0, 0, 0};
        for (int k = threadIdx.x; k < n; k += THREADS) {
            float a = x[k] - mean_x, b = y[k] - mean_y;
            square.x += a * a;
            square.y += b * b;
            square.xy += a * b;
        }
        square = block_sum(square);
        return square.xy / (sqrtf(square.x) * sqrtf(square.y));
    }
};

static __device__ int sign_of(float a, float b) {
    return (a > b) - (a < b);
}

struct Kendall {
    static __device__ float of(const float *x, const float *y, int n) {
        Triple<int64_t> count = {0, 0, 0}; /* not tied in x, not tied in y; concordant minus discordant */
        for (int k = threadIdx.x; k < n; k += THREADS) {
            Triple<int> row = {0, 0, 0};
            for (int q = 0; q < k; q++) {
                int a = sign_of(x[k], x[q]), b = sign_of(y[k], y[q]);
                row.x += a != 0;
                row.y += b != 0;
                row.xy += a * b;
            }
            count.x += row.x;
            count.y += row.y;
            count.xy += row.xy;
        }
        count = block_sum(count);
        return (float)((double)count.xy / (sqrt((double)count.x) * sqrt((double)count.y)));
    }
};

/* Computes rows from `first` on of the matrix, all columns. */
template <class Measure>
static __global__ void every_pair(const float *columns, int64_t n_var, int n_obs, int64_t first, int64_t rows,
                                  float *piece) {
    for (int64_t row = blockIdx.y; row < rows; row += gridDim.y)
        for (int64_t column = blockIdx.x; column < n_var; column += gridDim.x) {
            float value = Measure::of(columns + (first + row) * n_obs, columns + column * n_obs, n_obs);
            if (threadIdx.x == 0) piece[row * n_var + column] = value;
        }
}

/* ---- the host ------------------------------------------------------------------------------------------ */

/* The triangle, row by row, without the diagonal. */
struct Triangle {
    int64_t n;
    float *at;
};

/* Where row i starts. */
static float *triangle_row(const Triangle *t, int64_t i) {
    return t->at + (pairs_of(t->n) - pairs_of(t->n - i));
}

static double value_of(const void *result, int64_t i, int64_t j) {
    return triangle_row((const Triangle *)result, i)[j - i - 1];
}

static float *columns_on_device(const problem *p) {
    int64_t count = p->n_var * p->n_obs;
    float *host = (float *)allocate(count, sizeof *host), *device = device_allocate<float>(count);
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < count; k++) host[k] = (float)p->x[k];
    CHECK(cudaMemcpy(device, host, (size_t)count * sizeof *host, cudaMemcpyHostToDevice));
    free(host);
    return device;
}

static int64_t rows_of_a_piece(int64_t n) {
    int64_t fit = free_device_bytes() / 2 / (int64_t)sizeof(float);
    int64_t rows = (fit < PIECE_VALUES ? fit : PIECE_VALUES) / n;
    return rows < 1 ? 1 : rows > n ? n : rows;
}

static void keep_above_diagonal(const float *piece, int64_t first, int64_t rows, Triangle *result) {
    int64_t n = result->n;
#pragma omp parallel for schedule(static)
    for (int64_t row = 0; row < rows; row++) {
        int64_t i = first + row;
        memcpy(triangle_row(result, i), piece + row * n + i + 1, (size_t)(n - i - 1) * sizeof(float));
    }
}

static unsigned grid_of(int64_t count) {
    return (unsigned)(count < MAX_GRID ? count : MAX_GRID);
}

template <class Measure>
static void all_pairs(const problem *p, Triangle *result) {
    int64_t n = p->n_var;
    float *columns = columns_on_device(p);
    int64_t max = rows_of_a_piece(n);
    float *piece = device_allocate<float>(max * n), *host = (float *)allocate(max * n, sizeof *host);
    for (int64_t first = 0; first < n; first += max) {
        int64_t rows = n - first < max ? n - first : max;
        dim3 grid(grid_of(n), grid_of(rows));
        every_pair<Measure><<<grid, THREADS>>>(columns, n, (int)p->n_obs, first, rows, piece);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(host, piece, (size_t)(rows * n) * sizeof *host, cudaMemcpyDeviceToHost));
        keep_above_diagonal(host, first, rows, result);
    }
    free(host);
    CHECK(cudaFree(piece));
    CHECK(cudaFree(columns));
}

/* With u = 2^-24, half a unit of rounding. Pearson: a thread adds n / 64 terms and the block 64, in six steps, so
 * the error of a sum of products is (n / 64 + 6) u times the root of the sums of squares; deviations, products and
 * the rounding of the values to float add some u; the divisor has the same error as the sum. Kendall: counts are
 * exact, and the value is rounded once; but two doubles may round to the same float, a tie, which costs less than 2
 * of the pairs of observations. One such tie per column is allowed for. */
static double tolerance(measure what, double n) {
    const double u = 0x1p-24;
    return what == PEARSON ? 2 * (n / THREADS + 16) * u : 2 * u + 8 / (n * (n - 1));
}

int main(int argc, char **argv) {
    measure what = read_measure(argc, argv, 0);
    problem p = read_problem(argc, argv);
    Triangle result = {p.n_var, touched_floats(pairs_of(p.n_var))};
    start_gpu();
    double start = seconds_now();
    if (what == PEARSON) all_pairs<Pearson>(&p, &result);
    if (what == KENDALL) all_pairs<Kendall>(&p, &result);
    double seconds = seconds_now() - start;
    int status = report("gputools-cor", &p, what, seconds, value_of, &result, tolerance(what, (double)p.n_obs));
    free(result.at);
    free(p.x);
    return status;
}
