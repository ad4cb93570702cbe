/* Single-precision products by the system's BLAS, where configure found one. */
#define _GNU_SOURCE
#include "cpu.h"

#include <dlfcn.h>

#ifdef GPUCOR_SGEMM

void sgemm_(const char *trans_a, const char *trans_b, const int *m, const int *n, const int *k,
            const float *alpha, const float *a, const int *lda, const float *b, const int *ldb,
            const float *beta, float *c, const int *ldc, size_t trans_a_length, size_t trans_b_length);

void cpu_product(const float *a, const float *b, int64_t n_obs, int64_t ld_obs, int n_col, int n_row,
                 float *product) {
    const float one = 1, zero = 0;
    int k = (int)n_obs, ld = (int)ld_obs;
    sgemm_("T", "N", &n_col, &n_row, &k, &one, a, &ld, b, &ld, &zero, product, &n_col, 1, 1);
}

#else

void cpu_product(const float *a, const float *b, int64_t n_obs, int64_t ld_obs, int n_col, int n_row,
                 float *product) {
    for (int i = 0; i < n_row; i++)
        for (int j = 0; j < n_col; j++) {
            const float *x = a + j * ld_obs, *y = b + i * ld_obs;
            float sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int64_t k = 0; k < n_obs; k++) sum += x[k] * y[k];
            product[i * n_col + j] = sum;
        }
}

#endif

/* A BLAS with threads of its own must not start them inside ours. There is no standard way to
 * say so; these are the libraries that have one. */
static const struct {
    const char *name, *get, *set;
} libraries[] = {
    {"OpenBLAS", "openblas_get_num_threads", "openblas_set_num_threads"},
    {"BLIS", "bli_thread_get_num_threads", "bli_thread_set_num_threads"},
    {"MKL", "MKL_Get_Max_Threads", "MKL_Set_Num_Threads"},
};

enum { N_LIBRARIES = sizeof libraries / sizeof *libraries };

const char *cpu_blas_name(void) {
#ifdef GPUCOR_SGEMM
    for (int l = 0; l < N_LIBRARIES; l++)
        if (dlsym(RTLD_DEFAULT, libraries[l].set)) return libraries[l].name;
    return "BLAS";
#else
    return "none";
#endif
}

int cpu_blas_threads(int threads) {
    for (int l = 0; l < N_LIBRARIES; l++) {
        int (*get)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, libraries[l].get);
        void (*set)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, libraries[l].set);
        if (!get || !set) continue;
        int before = get();
        set(threads);
        return before;
    }
    return 0;
}
