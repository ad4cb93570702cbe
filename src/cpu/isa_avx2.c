/* AVX2 and FMA: x86 processors since 2013. */
#if defined(__x86_64__)
#define ISA avx2
#define TARGET "avx2,fma,popcnt"
#define BYTES 32
#define COUNT uint8_t
#define IS_FUSED 1
#define REAL_ROWS 4
#define REAL_VECTORS 2
#define UNTIED_ROWS 2
#define TIED_ROWS 1
#define COMMON_ROWS 2
#define DOT_PAIRS 4
#define DOT_VECTORS 2
#define CHUNK 31
#define NS_WORD 0.14
#define NS_PACK 3.5
#include "vectors.h"

#define FUSE(a, b, c) (double_vec) _mm256_fmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c))
#define FUSE_FLOATS(a, b, c) (float_vec) _mm256_fmadd_ps((__m256)(a), (__m256)(b), (__m256)(c))
#define ROOT(x) (double_vec) _mm256_sqrt_pd((__m256d)(x))
#define SMALLER(x, y) (double_vec) _mm256_min_pd((__m256d)(x), (__m256d)(y))
#define WIDE(x) (double_vec) _mm256_cvtps_pd(_mm_loadu_ps(x))
#define NARROW(x, out) _mm_storeu_ps(out, _mm256_cvtpd_ps((__m256d)(x)))
#define LOW(x) (double_vec) _mm256_cvtps_pd(_mm256_castps256_ps128((__m256)(x)))
#define HIGH(x) (double_vec) _mm256_cvtps_pd(_mm256_extractf128_ps((__m256)(x), 1))
#define GATHER(from, at) (double_vec) _mm256_i64gather_pd(from, (__m256i)(at), 8)

#define COMPARED 8
#define COMPARE(x, y, how) (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(_mm256_loadu_ps(x), _mm256_loadu_ps(y), how))
#define GREATER(x, y) COMPARE(x, y, _CMP_GT_OQ)
#define UNTIED(x, y) COMPARE(x, y, _CMP_NEQ_OQ)
#define PRESENT(x, y) COMPARE(x, y, _CMP_ORD_Q)

/* Counts the bits of each byte: looks up both halves in a table. */
INLINE count_vec count_bits(word_vec x) {
    const __m256i low = _mm256_set1_epi8(0x0f);
    const __m256i table = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    __m256i a = _mm256_and_si256((__m256i)x, low), b = _mm256_and_si256(_mm256_srli_epi16((__m256i)x, 4), low);
    return (count_vec)_mm256_add_epi8(_mm256_shuffle_epi8(table, a), _mm256_shuffle_epi8(table, b));
}
#define COUNT_BITS(words) count_bits(words)
#define WIDEN(counts) (word_vec) _mm256_sad_epu8((__m256i)(counts), _mm256_setzero_si256())

#define MULTIPLY_SHORTS(x, y) (int_vec) _mm256_madd_epi16((__m256i)(x), (__m256i)(y))

#include "kernels_of_isa.h"
#endif
