/* Fast-GPU-PCC: T. Eslami, F. Saeed, "Fast-GPU-PCC: A GPU based technique to compute pairwise Pearson's correlation
 * coefficients for big fMRI data", 2018, section 2. Written from the paper.
 *
 * Columns are normalised on the CPU (equation 3) and stay on the device. With room for X floats beside them, a round
 * multiplies B = X / 2N columns with all N (equation 6): X / 2 for the B x N product, X / 2 for the triangle's part
 * of it, N B - B (B + 1) / 2 floats. A kernel with one thread a cell (equation 7, algorithm 1) copies that part to
 * its positions; then it is copied to the host. The next round is of the N' = N - B columns left, with
 * B = X / 2N'; if B is N' or more, it is the last.
 *
 * The triangle is in row order, or with the argument `column` in column order (figure 1a and 1b):
 *
 *   program N n_obs [steps] [row|column]
 *
 * Equation 8, k = i n - i (i + 1) / 2 + j - i, is the row order's position of the pair i < j, counted from 1.
 * Equation 9, k = i (i + 1) / 2 + j - i, printed as the column order's for the same threads, gives (0, 2) and (1, 2)
 * the same position. It is right for cells below the diagonal, i > j, whose k = i (i - 1) / 2 + j, counted from 0,
 * goes through the lower triangle by rows and so through the upper by columns. That is used here.
 *
 * What the paper leaves open:
 * - Rounds in column order. Here they go from the last columns to the first: the last B of the N' left with all N',
 *   so that a round's part is one stretch of the triangle in that order, too.
 * - Which way the product lies. Here a column's dot products lie side by side, and threads side by side read and
 *   write side by side; algorithm 1 as printed reads S[j n + i], the same value of a symmetric matrix, n apart.
 * - X: what fits (floats_that_fit()), once the columns are there. It is asked for once: both halves serve all rounds.
 * - Algorithm 2, line 18, printed N' = B, is taken to be B = N'.
 *
 * nvcc -std=c++17 -O3 -arch=native -Xcompiler -fopenmp fast-gpu-pcc.cu -o fast-gpu-pcc -lcublas
 * ./fast-gpu-pcc 20000 100 0 column */
#include "blas.cuh"
#include "pearson.cuh"

enum { THREADS = 256 };

/* Equation 9, counted from 0, for i > j; (i, 0) is the first of row i. */
static __host__ __device__ int64_t column_position(int64_t i, int64_t j) {
    return i * (i - 1) / 2 + j;
}

static double column_order_value(const void *result, int64_t i, int64_t j) {
    return ((const triangle *)result)->value[column_position(j, i)];
}

/* Equation 7. */
static __device__ int64_t thread_index() {
    return (int64_t)blockDim.x * blockIdx.x + threadIdx.x;
}

/* Algorithm 1: row i of the product belongs to the i-th of the first columns, with all n. */
static __global__ void extract_rows(const float *product, int64_t rows, int64_t n, float *part) {
    const int64_t cell = thread_index();
    if (cell >= rows * n) return;
    const int64_t i = cell / n, j = cell % n;
    if (i < j) part[row_position(i, j, n)] = product[cell];
}

/* Algorithm 1 for column order: the product is that of the last `rows` of n columns with all n. */
static __global__ void extract_columns(const float *product, int64_t rows, int64_t n, float *part) {
    const int64_t cell = thread_index(), first = n - rows;
    if (cell >= rows * n) return;
    const int64_t i = first + cell / n, j = cell % n;
    if (j < i) part[column_position(i, j) - column_position(first, 0)] = product[cell];
}

/* Shared by the rounds. half: X / 2. */
struct device_work {
    cublasHandle_t blas;
    float *columns, *product, *part;
    int64_t n_obs, half;
};

static device_work prepare(cublasHandle_t blas, const problem *p) {
    const int64_t n = p->n_var;
    device_work work = {blas, device_unit_columns(p, p->n_obs), nullptr, nullptr, p->n_obs, 0};
    work.half = floats_that_fit() / 2;
    if (work.half < n) work.half = n; /* too little for one column: the allocation reports it */
    work.product = device_allocate<float>(work.half < n * n ? work.half : n * n);
    work.part = device_allocate<float>(work.half < pairs_of(n) ? work.half : pairs_of(n));
    return work;
}

/* Computes the pairs of `rows` columns among the `left` that remain: the first of the last `left` columns or, in
 * column order, the last of the first `left`. Returns where in the triangle its part begins. */
static int64_t compute_part(const device_work *work, bool by_column, int64_t n, int64_t left, int64_t rows) {
    const float *columns = work->columns + (by_column ? 0 : (n - left) * work->n_obs);
    const float *strip = columns + (by_column ? (left - rows) * work->n_obs : 0);
    const unsigned blocks = (unsigned)((rows * left + THREADS - 1) / THREADS);
    multiply_columns(work->blas, columns, left, strip, rows, work->n_obs, work->product);
    if (by_column)
        extract_columns<<<blocks, THREADS>>>(work->product, rows, left, work->part);
    else
        extract_rows<<<blocks, THREADS>>>(work->product, rows, left, work->part);
    CHECK(cudaGetLastError());
    return by_column ? pairs_of(left - rows) : pairs_of(n) - pairs_of(left);
}

/* Algorithm 2. One remaining column has no pairs. */
static void all_rounds(const device_work *work, bool by_column, const triangle *result) {
    int64_t rows;
    for (int64_t left = result->n; left > 1; left -= rows) {
        rows = work->half / left; /* equation 6 */
        if (rows > left) rows = left;
        int64_t start = compute_part(work, by_column, result->n, left, rows);
        copy_to_host(result->value + start, work->part, rows * left - rows * (rows + 1) / 2);
    }
}

static bool asked_for_columns(int argc, char **argv) {
    for (int a = 3; a < argc; a++)
        if (strcmp(argv[a], "column") == 0) return true;
    return false;
}

int main(int argc, char **argv) {
    problem p = read_problem(argc, argv);
    const bool by_column = asked_for_columns(argc, argv);
    triangle result = touched_triangle(p.n_var);
    start_gpu();
    cublasHandle_t blas = start_blas();

    double start = seconds_now();
    device_work work = prepare(blas, &p);
    all_rounds(&work, by_column, &result);
    double seconds = seconds_now() - start;

    int wrong = report(by_column ? "fast-gpu-pcc-column" : "fast-gpu-pcc", &p, PEARSON, seconds,
                       by_column ? column_order_value : row_order_value, &result, float_tolerance(&p));
    CHECK(cudaFree(work.part));
    CHECK(cudaFree(work.product));
    CHECK(cudaFree(work.columns));
    CHECK_BLAS(cublasDestroy(blas));
    free(result.value);
    free(p.x);
    return wrong;
}
