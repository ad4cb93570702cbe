/* Spearman's rho of all pairs, the way of S. Kim, M. Ouyang and X. Zhang, "Compute Spearman correlation
 * coefficient with Matlab/CUDA" (2012).
 *
 *   kim-spearman N n_obs [steps]
 *
 * 1. A block sorts a column in shared memory by Batcher's odd-even merge sort (section II-C.1). Columns are padded
 *    with FLT_MAX to m', a power of two, so that pads stay at the end; a block has m' / 2 threads.
 * 2. The same kernel ranks: whoever stands at the right end of a run of equal values walks to its left end and
 *    gives all of them their average rank. Pads get rank 0, which adds nothing to any sum (II-C.2).
 * 3. Blocks of 16 x 16 threads, each thread a pair: 16 x 16 tiles of ranks go through shared memory, and each
 *    thread sums x, y, xx, yy and xy, equations 5 to 7, from which equations 8 and 9 make rho (II-C.3, figure 2).
 *    Columns are padded to a multiple of 16 (equation 10), m' is one, and so no thread stands aside.
 *
 * As there: float throughout; sums not centred; a full matrix of distances, of which both halves are computed and
 * copied to the host, the padding with them.
 *
 * What the paper leaves open, and what is done here:
 * - Values and their places are sorted together, since ranks have to go back to where the values were.
 * - A block ends at 1,024 threads, the paper at m = 2,048. Here threads take several comparators each, and it is
 *   shared memory that ends it: 48 KB hold keys and places of 4,096.
 * - Figure 2 stores rho, the text says 1 - rho, as Matlab's pdist does: here 1 - rho.
 * - Matlab does the padding, on one core: here all cores do.
 * - Rows of a tile in shared memory have 17 places, so that threads writing a column of it use different banks.
 * - Nothing of the result's size is cut into pieces: it has to fit the device.
 * Values must be less than FLT_MAX. */
#include "harness.h"

#include <float.h>

enum { SIDE = 16, MAX_THREADS = 1024, SHARED_BYTES = 48 * 1024 };

/* Distance of columns i and j at i side + j; side: the number of columns, padded. */
struct Distances {
    int64_t side;
    float *at;
};

static double rho(const void *result, int64_t i, int64_t j) {
    const Distances *d = (const Distances *)result;
    return 1 - (double)d->at[i * d->side + j];
}

/* ---- sort and rank: a block for a column ---------------------------------------------------------- */

static __device__ void order(float *keys, int *positions, int low, int high) {
    float key = keys[low];
    if (key <= keys[high]) return;
    keys[low] = keys[high];
    keys[high] = key;
    int position = positions[low];
    positions[low] = positions[high];
    positions[high] = position;
}

/* Merges sorted runs of `half` keys to runs of twice that. Comparators are `step` apart, with space for length / 2:
 * after the first step they start one step later, and those across the end of a run are left out. */
static __device__ void sort(float *keys, int *positions, int length) {
    for (int half = 1; half < length; half *= 2)
        for (int step = half; step > 0; step /= 2) {
            __syncthreads();
            for (int t = threadIdx.x; t < length / 2; t += blockDim.x) {
                int low = t + (t & -step) + (step < half ? step : 0), high = low + step;
                if ((low ^ high) < 2 * half) order(keys, positions, low, high);
            }
        }
    __syncthreads();
}

/* Writes ranks, from 1, in the original order of the values. */
static __device__ void rank_sorted(const float *keys, const int *positions, int n_obs, int length, float *rank) {
    for (int end = threadIdx.x; end < length; end += blockDim.x) {
        if (end >= n_obs) {
            rank[positions[end]] = 0;
        } else if (end == n_obs - 1 || keys[end] != keys[end + 1]) {
            int start = end;
            while (start > 0 && keys[start - 1] == keys[end]) start--;
            for (int k = start; k <= end; k++) rank[positions[k]] = 0.5f * (float)(start + end) + 1;
        }
    }
}

static __global__ void rank_columns(const float *x, int n_obs, int length, float *rank) {
    extern __shared__ float keys[];
    int *positions = (int *)(keys + length);
    int64_t column = (int64_t)blockIdx.x * length;
    for (int k = threadIdx.x; k < length; k += blockDim.x) {
        keys[k] = x[column + k];
        positions[k] = k;
    }
    sort(keys, positions, length);
    rank_sorted(keys, positions, n_obs, length, rank + column);
}

/* ---- distances: a thread for a pair ------------------------------------------------------------------ */

struct Sums {
    float x, y, xx, yy, xy;
};

/* 1 minus equation 9. n: number of observations without pads. */
static __device__ float distance(Sums s, float n) {
    float mean_x = s.x / n, mean_y = s.y / n;
    float var_x = (s.xx - mean_x * mean_x * n) / (n - 1);
    float var_y = (s.yy - mean_y * mean_y * n) / (n - 1);
    float cov = (s.xy - mean_x * mean_y * n) / (n - 1);
    return 1 - cov / sqrtf(var_x * var_y);
}

static __global__ void distances(const float *rank, int n_obs, int length, int64_t side, float *out) {
    __shared__ float xs[SIDE][SIDE + 1], ys[SIDE][SIDE + 1]; /* xs: transposed */
    int tx = threadIdx.x, ty = threadIdx.y;
    int64_t x = (int64_t)blockIdx.x * SIDE, y = (int64_t)blockIdx.y * SIDE;
    Sums s = {0, 0, 0, 0, 0};
    for (int start = 0; start < length; start += SIDE) {
        xs[tx][ty] = rank[(x + ty) * length + start + tx];
        ys[ty][tx] = rank[(y + ty) * length + start + tx];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < SIDE; k++) {
            float a = xs[k][tx], b = ys[ty][k];
            s.x += a;
            s.y += b;
            s.xx += a * a;
            s.yy += b * b;
            s.xy += a * b;
        }
        __syncthreads();
    }
    out[(y + ty) * side + x + tx] = distance(s, (float)n_obs);
}

/* ---- the host ------------------------------------------------------------------------------------------ */

/* m': also a multiple of 16, for the tiles. */
static int padded_length(int64_t n_obs) {
    const int limit = SHARED_BYTES / (int)(sizeof(float) + sizeof(int));
    int64_t length = SIDE;
    while (length < n_obs) length *= 2;
    if (length <= limit) return (int)length;
    int fits = SIDE;
    while (2 * fits <= limit) fits *= 2;
    fprintf(stderr, "%lld observations: the %d KB of shared memory hold a column of at most %d\n", (long long)n_obs,
            SHARED_BYTES / 1024, fits);
    exit(2);
}

static float *padded_columns(const problem *p, int length) {
    float *padded = (float *)allocate(p->n_var * length, sizeof *padded);
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < p->n_var; j++) {
        for (int64_t k = 0; k < p->n_obs; k++) padded[j * length + k] = (float)p->x[j * p->n_obs + k];
        for (int64_t k = p->n_obs; k < length; k++) padded[j * length + k] = FLT_MAX;
    }
    return padded;
}

/* Ranks of all columns on the device; those of padding columns are 0. */
static float *ranks_on_device(const problem *p, int length, int64_t side) {
    float *padded = padded_columns(p, length);
    float *x = device_allocate<float>(p->n_var * length), *rank = device_allocate<float>(side * length);
    CHECK(cudaMemcpy(x, padded, (size_t)(p->n_var * length) * sizeof *x, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(rank, 0, (size_t)(side * length) * sizeof *rank));
    int threads = length / 2 < MAX_THREADS ? length / 2 : MAX_THREADS;
    size_t shared = (size_t)length * (sizeof(float) + sizeof(int));
    rank_columns<<<(unsigned)p->n_var, threads, shared>>>(x, (int)p->n_obs, length, rank);
    CHECK(cudaGetLastError());
    CHECK(cudaFree(x));
    free(padded);
    return rank;
}

static void all_distances(const problem *p, int length, Distances *result) {
    int64_t side = result->side;
    float *rank = ranks_on_device(p, length, side), *out = device_allocate<float>(side * side);
    dim3 block(SIDE, SIDE), grid((unsigned)(side / SIDE), (unsigned)(side / SIDE));
    distances<<<grid, block>>>(rank, (int)p->n_obs, length, side, out);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(result->at, out, (size_t)(side * side) * sizeof *out, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(out));
    CHECK(cudaFree(rank));
}

static Distances touched_distances(int64_t n_var) {
    int64_t side = (n_var + SIDE - 1) / SIDE * SIDE;
    return {side, touched_floats(side * side)};
}

/* Rounding errors of float, where u = 2^-24 is half a unit of rounding and m the number of observations.
 * - The error of a sum of m terms up to S is at most m u S. Ranks have S = m^3 / 3 and the sum of squares about their
 *   mean C = m^3 / 12, so that S / C = 4: the error of the covariance is 4 m u C, the root of the variances has the
 *   same
 *   relative error, rho 8 m u. Sums of ranks are exact (below 2^23, and multiples of 1 / 2); means and the rest add
 *   some
 *   u. Signs of roundings differ, and actual errors are far smaller. Ties decrease C to (m^3 - sum t^3) / 12, nine
 *   tenths of it if steps is 1.
 * - Two doubles may round to the same float: two ranks then move by 1 / 2, the covariance by at most m / 2, rho by
 *   6 / m^2. One such pair of values per column is allowed for. */
static double tolerance(double m) {
    const double u = 0x1p-24;
    return 8 * (m + 16) * u + 12 / (m * m);
}

int main(int argc, char **argv) {
    problem p = read_problem(argc, argv);
    int length = padded_length(p.n_obs);
    Distances result = touched_distances(p.n_var);
    start_gpu();
    double start = seconds_now();
    all_distances(&p, length, &result);
    double seconds = seconds_now() - start;
    int status = report("kim-spearman", &p, SPEARMAN, seconds, rho, &result, tolerance((double)p.n_obs));
    free(result.at);
    free(p.x);
    return status;
}
