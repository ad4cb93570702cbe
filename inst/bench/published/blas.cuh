/* cuBLAS for the programs that use it: link with -lcublas. */
#ifndef GPUCOR_PUBLISHED_BLAS_CUH
#define GPUCOR_PUBLISHED_BLAS_CUH

#include "harness.h"

#include <cublas_v2.h>

/* Every cuBLAS call is checked here. */
#define CHECK_BLAS(call) check_blas((call), #call, __LINE__)
static inline void check_blas(cublasStatus_t status, const char *what, int line) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    fprintf(stderr, "line %d: %s: %s\n", line, what, cublasGetStatusString(status));
    exit(2);
}

/* Dot products of each of n columns with each of `rows` others, of n_obs floats each: row r of the product begins at
 * r n. In cuBLAS's column order this is an n x rows matrix. The default math mode does not round floats to TF32. */
static inline void multiply_columns(cublasHandle_t blas, const float *columns, int64_t n, const float *others,
                                    int64_t rows, int64_t n_obs, float *product) {
    const float one = 1, zero = 0;
    CHECK_BLAS(cublasSgemm(blas, CUBLAS_OP_T, CUBLAS_OP_N, (int)n, (int)rows, (int)n_obs, &one, columns, (int)n_obs,
                           others, (int)n_obs, &zero, product, (int)n));
}

/* Starts the library outside of the timed part, as is done with the driver: its code is loaded at the first product. */
static inline cublasHandle_t start_blas() {
    const int64_t side = 256;
    cublasHandle_t blas;
    CHECK_BLAS(cublasCreate(&blas));
    float *memory = device_allocate<float>(2 * side * side);
    CHECK(cudaMemset(memory, 0, (size_t)(2 * side * side) * sizeof *memory));
    multiply_columns(blas, memory, side, memory, side, side, memory + side * side);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(memory));
    return blas;
}

#endif
