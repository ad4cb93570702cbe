/* The block products of Y. Wang and others, "A hybrid CPU-GPU accelerated framework for fast mapping of
 * high-resolution human brain connectome", 2013, as GPU-PCC (Eslami, Awan, Saeed 2017, section 2) and Fast-GPU-PCC
 * (Eslami, Saeed 2018, section 1) describe it and compare with it. Written from these two descriptions.
 *
 * Columns are normalised (equation 3 of both), so that the correlation matrix is a product U U'. Of N columns in
 * blocks of d, B = ceil(N / d), each block is multiplied with itself and with those after it: B (B + 1) / 2 products
 * by GEMM. Each is copied to the host, where the CPU leaves out what is redundant and brings the rest into the
 * triangle's order.
 *
 * What the descriptions leave open:
 * - d. Here 4096: a product is 64 MB, enough for GEMM to be at its best, and fits any GPU.
 * - Whether all products are at the host before the first is reordered. Here each is reordered once it is there,
 *   which takes no second memory of the triangle's size.
 * - The reordering. Of the implementation that they measured they say that they found nothing in it optimised. Here
 *   stretches of rows are copied by all cores; OMP_NUM_THREADS=1 makes it one.
 * - Where U is. Here all of it stays on the device.
 *
 * nvcc -std=c++17 -O3 -arch=native -Xcompiler -fopenmp wang-gemm.cu -o wang-gemm -lcublas && ./wang-gemm 20000 100 */
#include "blas.cuh"
#include "pearson.cuh"

enum { BLOCK = 4096 };

/* A block of the matrix: rows from i on, columns from j on, i <= j. */
struct block {
    int64_t i, j, rows, columns;
};

static int64_t block_columns(int64_t n, int64_t first) {
    return n - first < BLOCK ? n - first : BLOCK;
}

/* Copies a block's results to their positions, row by row; on the diagonal only those above it. */
static void reorder(const block *b, const float *product, const triangle *result) {
#pragma omp parallel for schedule(static, 64)
    for (int64_t r = 0; r < b->rows; r++) {
        int64_t i = b->i + r, skip = b->i == b->j ? r + 1 : 0;
        if (skip == b->columns) continue; /* the last row of a block on the diagonal has none */
        memcpy(result->value + row_position(i, b->j + skip, result->n), product + r * b->columns + skip,
               (size_t)(b->columns - skip) * sizeof *product);
    }
}

/* on_device, on_host: memory for a block. */
static void all_blocks(cublasHandle_t blas, const float *columns, int64_t n_obs, float *on_device, float *on_host,
                       const triangle *result) {
    const int64_t n = result->n;
    for (int64_t i = 0; i < n; i += BLOCK)
        for (int64_t j = i; j < n; j += BLOCK) {
            block b = {i, j, block_columns(n, i), block_columns(n, j)};
            multiply_columns(blas, columns + j * n_obs, b.columns, columns + i * n_obs, b.rows, n_obs, on_device);
            copy_to_host(on_host, on_device, b.rows * b.columns);
            reorder(&b, on_host, result);
        }
}

int main(int argc, char **argv) {
    problem p = read_problem(argc, argv);
    const int64_t side = block_columns(p.n_var, 0);
    triangle result = touched_triangle(p.n_var);
    start_gpu();
    cublasHandle_t blas = start_blas();

    double start = seconds_now();
    float *columns = device_unit_columns(&p, p.n_obs), *on_device = device_allocate<float>(side * side);
    float *on_host = (float *)allocate(side * side, sizeof *on_host);
    all_blocks(blas, columns, p.n_obs, on_device, on_host, &result);
    double seconds = seconds_now() - start;

    int wrong = report("wang-gemm", &p, PEARSON, seconds, row_order_value, &result, float_tolerance(&p));
    CHECK(cudaFree(on_device));
    CHECK(cudaFree(columns));
    CHECK_BLAS(cublasDestroy(blas));
    free(on_host);
    free(result.value);
    free(p.x);
    return wrong;
}
