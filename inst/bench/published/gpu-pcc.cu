/* GPU-PCC: T. Eslami, M. G. Awan, F. Saeed, "GPU-PCC: A GPU based technique to compute pairwise Pearson's correlation
 * coefficients for big fMRI data", 2017, section 3.2. Written from the paper.
 *
 * Columns are normalised on the CPU (equation 3), so that a coefficient is a dot product. On the device each group
 * of 16 threads makes one dot product: its threads load consecutive float2, 128 bytes at a time, and add up their
 * sums by shuffles. Group k of all (equation 4; blocks of 512 threads, 32 groups) makes the coefficient at position
 * k of the triangle, row by row, so that nothing is reordered: equations 5 and 6 give the position's row i and
 * column j of n, all from 0:
 *
 *   i = n - 2 - floor(sqrt(-8 k + 4 n (n - 1) - 7) / 2 - 0.5)
 *   j = k + i + 1 - n (n - 1) / 2 + (n - i) (n - i - 1) / 2
 *
 * An odd number of observations gets a zero after it, after normalising. Results that exceed the device's memory are
 * made by several calls of the kernel, each followed by a copy to the host.
 *
 * What the paper leaves open:
 * - The precision of equation 5. Here all is in 64-bit integers but the square root, which is a float's and whose
 *   row is put right by equation 6, so that positions past 2^24 and 2^32 are exact.
 * - A call's part of the triangle: what fits (floats_that_fit()), once the columns are there.
 * - The groups of the last block that have nothing left to do: they repeat the last pair and store nothing, so that
 *   all threads of a warp take part in its shuffles.
 * - L1 was to be turned on for global loads by the compiler's options; today it is on.
 *
 * nvcc -std=c++17 -O3 -arch=native -Xcompiler -fopenmp gpu-pcc.cu -o gpu-pcc && ./gpu-pcc 20000 100 */
#include "pearson.cuh"

enum { THREADS = 512, GROUP = 16, BLOCK_PAIRS = THREADS / GROUP };

/* Equation 6. If i is below the right row, the result is at least n; if it is above, at most i. */
static __host__ __device__ int64_t column_of(int64_t k, int64_t i, int64_t n) {
    return k + i + 1 - n * (n - 1) / 2 + (n - i) * (n - i - 1) / 2;
}

/* Equations 5 and 6: the pair i < j at position k. */
static inline __host__ __device__ void pair_of(int64_t k, int64_t n, int64_t *i, int64_t *j) {
    float root = sqrtf((float)(-8 * k + 4 * n * (n - 1) - 7));
    int64_t row = n - 2 - (int64_t)(root / 2 - 0.5f);
    int64_t column = column_of(k, row, n);
    while (column <= row) column = column_of(k, --row, n);
    while (column >= n) column = column_of(k, ++row, n);
    *i = row;
    *j = column;
}

/* The sum over a group's threads, valid in its first thread. */
static __device__ float group_sum(float sum) {
    for (int distance = GROUP / 2; distance > 0; distance /= 2)
        sum += __shfl_down_sync(0xFFFFFFFFu, sum, distance, GROUP);
    return sum;
}

/* Algorithm 2 for the positions from `first` up to `end`; result[0] belongs to `first`. Columns have `length`
 * float2. Four blocks fill a multiprocessor. */
static __global__ void __launch_bounds__(THREADS, 4)
    dot_products(const float2 *__restrict__ columns, int64_t n, int64_t length, int64_t first, int64_t end,
                 float *__restrict__ result) {
    const int lane = threadIdx.x % GROUP;
    const int64_t k = first + (int64_t)blockIdx.x * BLOCK_PAIRS + threadIdx.x / GROUP; /* equation 4 */
    int64_t i, j;
    pair_of(k < end ? k : end - 1, n, &i, &j);
    const float2 *x = columns + i * length, *y = columns + j * length;
    float sum = 0;
    for (int64_t at = lane; at < length; at += GROUP) {
        const float2 a = x[at], b = y[at];
        sum += a.x * b.x + a.y * b.y;
    }
    sum = group_sum(sum);
    if (lane == 0 && k < end) result[k - first] = sum;
}

/* Pairs per call of the kernel: all, or as many as fit, or the max of a grid. */
static int64_t call_pairs(int64_t pairs) {
    int64_t fit = floats_that_fit(), grid = (int64_t)INT32_MAX * BLOCK_PAIRS;
    if (fit < 1) fit = 1; /* too little: the allocation reports it */
    if (fit > grid) fit = grid;
    return pairs < fit ? pairs : fit;
}

/* Figure 3: calls of the kernel, each followed by its copy. */
static void all_pairs(const float2 *columns, int64_t length, int64_t at_once, float *part, const triangle *result) {
    const int64_t pairs = pairs_of(result->n);
    for (int64_t first = 0; first < pairs; first += at_once) {
        int64_t end = pairs - first < at_once ? pairs : first + at_once;
        unsigned blocks = (unsigned)((end - first + BLOCK_PAIRS - 1) / BLOCK_PAIRS);
        dot_products<<<blocks, THREADS>>>(columns, result->n, length, first, end, part);
        CHECK(cudaGetLastError());
        copy_to_host(result->value + first, part, end - first);
    }
}

int main(int argc, char **argv) {
    problem p = read_problem(argc, argv);
    const int64_t length = (p.n_obs + 1) / 2; /* of a column, in float2 */
    triangle result = touched_triangle(p.n_var);
    start_gpu();

    double start = seconds_now();
    float *columns = device_unit_columns(&p, 2 * length);
    int64_t at_once = call_pairs(pairs_of(p.n_var));
    float *part = device_allocate<float>(at_once);
    all_pairs((const float2 *)columns, length, at_once, part, &result);
    double seconds = seconds_now() - start;

    int wrong = report("gpu-pcc", &p, PEARSON, seconds, row_order_value, &result, float_tolerance(&p));
    CHECK(cudaFree(part));
    CHECK(cudaFree(columns));
    free(result.value);
    free(p.x);
    return wrong;
}
