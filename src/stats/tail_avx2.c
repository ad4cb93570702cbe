/* P values by AVX2. */
#if defined(__x86_64__)
#include <immintrin.h>

#define ALL_P gcor_all_p_avx2
#define ALL_T gcor_all_t_avx2
#define WIDTH 4
#define TARGET "avx2"
#define ROOT(x) (vec) _mm256_sqrt_pd((__m256d)(x))
#define GATHER(from, at) (vec) _mm256_i64gather_pd(from, (__m256i)(at), 8)
#include "tail_vectors.h"
#endif
