/* Products of large matrices of doubles, by cuBLAS: it is asked for when it is first wanted, so that whoever never
 * wants it needs not have it. */
#ifndef GPUCOR_CUDA_BLAS_CUH
#define GPUCOR_CUDA_BLAS_CUH

#include "../backend/try.cuh"

/* cuBLAS on the calling thread's GPU. */
class Blas {
  public:
    Blas();
    ~Blas();
    Blas(const Blas &) = delete;
    Blas &operator=(const Blas &) = delete;

    /* out[row * out_stride + col] = the dot product of row `row` of a and row `col` of b, of `length` elements each,
     * which begin every `stride` elements; on that stream. */
    void multiply_rows(const Stream &stream, const double *a, int64_t n_row, const double *b, int64_t n_col,
                       int64_t length, int64_t stride, double *out, int64_t out_stride);

  private:
    void *handle = nullptr;
};

#endif
