/* Products of large matrices of doubles by cuBLAS. The library is loaded on first use, so that a user who never
 * needs it does not have to install it. */
#ifndef GPUCOR_CUDA_BLAS_CUH
#define GPUCOR_CUDA_BLAS_CUH

#include "try.cuh"

/* A cuBLAS handle on the calling thread's GPU. The constructor and multiply_rows() throw Failure. */
class Blas {
  public:
    Blas();
    ~Blas();
    Blas(const Blas &) = delete;
    Blas &operator=(const Blas &) = delete;

    /* out[row * out_stride + col] = the dot product of row `row` of a and row `col` of b, on that stream. Each row
     * has `length` elements; rows begin every `stride` elements. All pointers are device memory. */
    void multiply_rows(const Stream &stream, const double *a, int64_t n_row, const double *b, int64_t n_col,
                       int64_t length, int64_t stride, double *out, int64_t out_stride);

  private:
    void *handle = nullptr;
};

#endif
