/* AVX2 and FMA: x86 processors since 2013. */
#include <immintrin.h>

#define SET avx2
#define SET_NAME "avx2"
#define TARGET __attribute__((target("avx2,fma,popcnt")))
#define BYTES 32
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

typedef uint64_t words_avx2 __attribute__((vector_size(BYTES), may_alias));
typedef double reals_avx2 __attribute__((vector_size(BYTES), aligned(8), may_alias));
typedef float singles_avx2 __attribute__((vector_size(BYTES), may_alias));
typedef uint8_t counts_avx2 __attribute__((vector_size(BYTES)));

/* Counts the bits of each byte: looks up both halves in a table. */
TARGET static inline counts_avx2 count_avx2(words_avx2 x) {
    const __m256i low = _mm256_set1_epi8(0x0f);
    const __m256i table = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
    __m256i a = _mm256_and_si256((__m256i)x, low), b = _mm256_and_si256(_mm256_srli_epi16((__m256i)x, 4), low);
    return (counts_avx2)_mm256_add_epi8(_mm256_shuffle_epi8(table, a), _mm256_shuffle_epi8(table, b));
}

TARGET static inline words_avx2 widen_avx2(counts_avx2 counts) {
    return (words_avx2)_mm256_sad_epu8((__m256i)counts, _mm256_setzero_si256());
}

#define COMPARE_AVX2(name, condition) \
    TARGET static inline uint64_t name(const float *x, const float *y) { \
        uint64_t bits = 0; \
        for (int t = 0; t < 64; t += 8) { \
            __m256 compared = _mm256_cmp_ps(_mm256_loadu_ps(x + t), _mm256_loadu_ps(y + t), condition); \
            bits |= (uint64_t)(unsigned)_mm256_movemask_ps(compared) << t; \
        } \
        return bits; \
    }
COMPARE_AVX2(greater_avx2, _CMP_GT_OQ)
COMPARE_AVX2(untied_avx2, _CMP_NEQ_OQ)
COMPARE_AVX2(present_avx2, _CMP_ORD_Q)
#undef COMPARE_AVX2

TARGET static inline reals_avx2 fuse_avx2(reals_avx2 a, reals_avx2 b, reals_avx2 c) {
    return (reals_avx2)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}

TARGET static inline reals_avx2 wide_avx2(const float *x) {
    return (reals_avx2)_mm256_cvtps_pd(_mm_loadu_ps(x));
}

TARGET static inline reals_avx2 root_avx2(reals_avx2 x) {
    return (reals_avx2)_mm256_sqrt_pd((__m256d)x);
}

TARGET static inline singles_avx2 fuse_singles_avx2(singles_avx2 a, singles_avx2 b, singles_avx2 c) {
    return (singles_avx2)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}

TARGET static inline reals_avx2 low_avx2(singles_avx2 x) {
    return (reals_avx2)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)x));
}

TARGET static inline reals_avx2 high_avx2(singles_avx2 x) {
    return (reals_avx2)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)x, 1));
}

TARGET static inline void round_avx2(reals_avx2 x, float *out) {
    _mm_storeu_ps(out, _mm256_cvtpd_ps((__m256d)x));
}

TARGET static inline float fuse_single_avx2(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}

#include "isa.h"
