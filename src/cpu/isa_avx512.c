/* AVX-512 with VPOPCNTDQ and VNNI: Intel since 2019, AMD since 2022. */
#if defined(__x86_64__)
#define ISA avx512
#ifdef __clang__ /* clang does not know prefer-vector-width */
#define TARGET "avx512f,avx512dq,avx512vpopcntdq,avx512vnni,avx2,fma,popcnt"
#else
#define TARGET "avx512f,avx512dq,avx512vpopcntdq,avx512vnni,avx2,fma,popcnt,prefer-vector-width=512"
#endif
#define BYTES 64
#define COUNT uint64_t
#define IS_FUSED 1
#define REAL_ROWS 8
#define REAL_VECTORS 2
#define UNTIED_ROWS 8
#define TIED_ROWS 4
#define COMMON_ROWS 8
#define DOT_PAIRS 6
#define DOT_VECTORS 4
#define CHUNK INT64_MAX
#define NS_WORD 0.025
#define NS_PACK 3
#include "vectors.h"

#define FUSE(a, b, c) (double_vec) _mm512_fmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c))
#define FUSE_FLOATS(a, b, c) (float_vec) _mm512_fmadd_ps((__m512)(a), (__m512)(b), (__m512)(c))
#define ROOT(x) (double_vec) _mm512_sqrt_pd((__m512d)(x))
#define SMALLER(x, y) (double_vec) _mm512_min_pd((__m512d)(x), (__m512d)(y))
#define WIDE(x) (double_vec) _mm512_cvtps_pd(_mm256_loadu_ps(x))
#define NARROW(x, out) _mm256_storeu_ps(out, _mm512_cvtpd_ps((__m512d)(x)))
#define LOW(x) (double_vec) _mm512_cvtps_pd(_mm512_castps512_ps256((__m512)(x)))
#define HIGH(x) (double_vec) _mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)(x), 1))
#define GATHER(from, at) (double_vec) _mm512_i64gather_pd((__m512i)(at), from, 8)

#define COMPARED 16
#define COMPARE(x, y, how) _mm512_cmp_ps_mask(_mm512_loadu_ps(x), _mm512_loadu_ps(y), how)
#define GREATER(x, y) COMPARE(x, y, _CMP_GT_OQ)
#define UNTIED(x, y) COMPARE(x, y, _CMP_NEQ_OQ)
#define PRESENT(x, y) COMPARE(x, y, _CMP_ORD_Q)

#define COUNT_BITS(words) (count_vec) _mm512_popcnt_epi64((__m512i)(words))
#define WIDEN(counts) (counts)

#define ADD_BYTES(sum, x, y) (sum_vec) _mm512_dpbusd_epi32((__m512i)(sum), (__m512i)(x), (__m512i)(y))

#define MULTIPLY_SHORTS(x, y) (int_vec) _mm256_madd_epi16((__m256i)(x), (__m256i)(y))

#include "kernels_of_isa.h"
#endif
