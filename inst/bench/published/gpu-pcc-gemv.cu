/* The matrix-vector method of T. Eslami, M. G. Awan, F. Saeed, "GPU-PCC: A GPU based technique to compute pairwise
 * Pearson's correlation coefficients for big fMRI data", 2017, section 3.1 and algorithm 1. Written from the paper.
 *
 * Columns are normalised on the CPU (equation 3), so that a coefficient is a dot product. One cublasSgemv for each
 * column i multiplies it with the matrix of the columns after it, which gives row i of the triangle; rows follow one
 * another in memory of the device until there is no room for the next. Then they are copied to the host, and the
 * next rows begin at the start of that memory.
 *
 * What the paper leaves open:
 * - How much memory of the device holds rows: what fits (floats_that_fit()), once the columns are there.
 * - Its step i ends with "multiplying (N - 2)th vector to (N - 1)th vector", counted from 0: rows 0 to N - 2.
 *
 * nvcc -std=c++17 -O3 -arch=native -Xcompiler -fopenmp gpu-pcc-gemv.cu -o gpu-pcc-gemv -lcublas
 * ./gpu-pcc-gemv 20000 100 */
#include "blas.cuh"
#include "pearson.cuh"

/* Computes row i of the triangle: column i with each of the n - 1 - i after it. */
static void multiply_row(cublasHandle_t blas, const float *columns, int64_t n_obs, int64_t n, int64_t i, float *row) {
    const float one = 1, zero = 0;
    const float *column = columns + i * n_obs;
    CHECK_BLAS(cublasSgemv(blas, CUBLAS_OP_T, (int)n_obs, (int)(n - 1 - i), &one, column + n_obs, (int)n_obs, column, 1,
                           &zero, row, 1));
}

/* Number of floats for whole rows: all of them, or as many as fit, but at least the longest row. */
static int64_t capacity_for_rows(int64_t n) {
    int64_t fit = floats_that_fit(), pairs = pairs_of(n);
    if (fit < n - 1) fit = n - 1; /* too little: the allocation reports it */
    return pairs < fit ? pairs : fit;
}

/* Computes rows into `rows`, which has capacity `room` floats, and copies to the host whenever the next row does not
 * fit. */
static void all_rows(cublasHandle_t blas, const float *columns, int64_t n_obs, float *rows, int64_t capacity,
                     const triangle *result) {
    const int64_t n = result->n;
    int64_t copied = 0, held = 0; /* results on the host, and after them on the device */
    for (int64_t i = 0; i < n - 1; i++) {
        if (held + (n - 1 - i) > capacity) {
            copy_to_host(result->value + copied, rows, held);
            copied += held;
            held = 0;
        }
        multiply_row(blas, columns, n_obs, n, i, rows + held);
        held += n - 1 - i;
    }
    copy_to_host(result->value + copied, rows, held);
}

int main(int argc, char **argv) {
    problem p = read_problem(argc, argv);
    triangle result = touched_triangle(p.n_var);
    start_gpu();
    cublasHandle_t blas = start_blas();

    double start = seconds_now();
    float *columns = device_unit_columns(&p, p.n_obs);
    int64_t capacity = capacity_for_rows(p.n_var);
    float *rows = device_allocate<float>(capacity);
    all_rows(blas, columns, p.n_obs, rows, capacity, &result);
    double seconds = seconds_now() - start;

    int wrong = report("gpu-pcc-gemv", &p, PEARSON, seconds, row_order_value, &result, float_tolerance(&p));
    CHECK(cudaFree(rows));
    CHECK(cudaFree(columns));
    CHECK_BLAS(cublasDestroy(blas));
    free(result.value);
    free(p.x);
    return wrong;
}
