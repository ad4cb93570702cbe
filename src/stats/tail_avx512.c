/* P values by AVX-512. */
#if defined(__x86_64__)
#include <immintrin.h>

#define ALL_P gcor_all_p_avx512
#define ALL_T gcor_all_t_avx512
#define WIDTH 8
#define TARGET "avx512f,avx512dq"
#define ROOT(x) (vec) _mm512_sqrt_pd((__m512d)(x))
#define GATHER(from, at) (vec) _mm512_i64gather_pd((__m512i)(at), from, 8)
#include "tail_vectors.h"
#endif
