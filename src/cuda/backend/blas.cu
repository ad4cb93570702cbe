#include "state.cuh"

#include <dlfcn.h>

namespace {

/* The cuBLAS functions that we call, declared as in cublas_v2.h. */
struct Library {
    int (*create)(void **handle);
    int (*destroy)(void *handle);
    int (*set_stream)(void *handle, cudaStream_t stream);
    int (*dgemm)(void *handle, int transposes_a, int transposes_b, int m, int n, int k, const double *alpha,
                 const double *a, int a_stride, const double *b, int b_stride, const double *beta, double *c,
                 int c_stride);
};

enum { AS_IT_IS = 0, TRANSPOSED = 1 };

template <class Function>
void find(void *library, const char *name, Function *&function) {
    function = (Function *)dlsym(library, name);
    if (!function)
        throw Failure(GCOR_DEVICE_ERROR, "this cuBLAS has no %s; install the one of CUDA %d, or use backend = \"cpu\"",
                      name, CUDART_VERSION / 1000);
}

/* dlopen() also searches the library folder recorded when the package was linked. */
Library open_library() {
    Library found;
    char name[32];
    snprintf(name, sizeof name, "libcublas.so.%d", CUDART_VERSION / 1000);
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        throw Failure(
            GCOR_DEVICE_ERROR,
            "cuBLAS, which multiplies on the GPU, cannot be opened: %.160s; install it with the CUDA Toolkit, "
            "or use backend = \"cpu\"",
            dlerror());
    find(handle, "cublasCreate_v2", found.create);
    find(handle, "cublasDestroy_v2", found.destroy);
    find(handle, "cublasSetStream_v2", found.set_stream);
    find(handle, "cublasDgemm_v2", found.dgemm);
    return found;
}

/* The library is loaded once and never closed. */
const Library &library() {
    static const Library loaded = open_library();
    return loaded;
}

void check_blas(int status, const char *what) {
    if (status == 0 && gcor_fault(GCOR_DEVICE_CALL)) status = -1;
    if (status == 3) /* CUBLAS_STATUS_ALLOC_FAILED */
        throw Failure(GCOR_NO_DEVICE_MEMORY,
                      "not enough GPU memory for cuBLAS while %s; free some, or use backend = \"cpu\"", what);
    if (status != 0)
        throw Failure(GCOR_DEVICE_ERROR, "cuBLAS reported error %d while %s; try again, or use backend = \"cpu\"",
                      status, what);
}

} // namespace

Blas::Blas() {
    int status = library().create(&handle);
    try {
        check_blas(status, "starting");
    } catch (const Failure &) {
        if (handle) (void)library().destroy(handle);
        throw;
    }
}

Blas::~Blas() {
    if (handle) (void)library().destroy(handle);
}

/* cuBLAS stores matrices by column, so element out[row][col] is its element (col, row). */
void Blas::multiply_rows(const Stream &stream, const double *a, int64_t n_row, const double *b, int64_t n_col,
                         int64_t length, int64_t stride, double *out, int64_t out_stride) {
    const double one = 1, zero = 0;
    check_blas(library().set_stream(handle, stream.handle), "multiplying");
    check_blas(library().dgemm(handle, TRANSPOSED, AS_IT_IS, (int)n_col, (int)n_row, (int)length, &one, b, (int)stride,
                               a, (int)stride, &zero, out, (int)out_stride),
               "multiplying");
}
