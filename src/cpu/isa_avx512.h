/* AVX-512 with VPOPCNTDQ: Intel since 2019, AMD since 2022. */
#define SET avx512
#define SET_NAME "avx512"
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vpopcntdq,avx2,fma,popcnt")))
#define BYTES 64
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

typedef uint64_t words_avx512 __attribute__((vector_size(BYTES), may_alias));
typedef double reals_avx512 __attribute__((vector_size(BYTES), aligned(8), may_alias));
typedef float singles_avx512 __attribute__((vector_size(BYTES), may_alias));
typedef uint64_t counts_avx512 __attribute__((vector_size(BYTES)));

TARGET static inline counts_avx512 count_avx512(words_avx512 x) {
    return (counts_avx512)_mm512_popcnt_epi64((__m512i)x);
}

TARGET static inline words_avx512 widen_avx512(counts_avx512 counts) {
    return counts;
}

#define COMPARE_AVX512(name, condition) \
    TARGET static inline uint64_t name(const float *x, const float *y) { \
        uint64_t bits = 0; \
        for (int t = 0; t < 64; t += 16) \
            bits |= (uint64_t)_mm512_cmp_ps_mask(_mm512_loadu_ps(x + t), _mm512_loadu_ps(y + t), condition) << t; \
        return bits; \
    }
COMPARE_AVX512(greater_avx512, _CMP_GT_OQ)
COMPARE_AVX512(untied_avx512, _CMP_NEQ_OQ)
COMPARE_AVX512(present_avx512, _CMP_ORD_Q)
#undef COMPARE_AVX512

TARGET static inline reals_avx512 fuse_avx512(reals_avx512 a, reals_avx512 b, reals_avx512 c) {
    return (reals_avx512)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}

/* GCC compiles its generic vector conversion to three instructions. */
TARGET static inline reals_avx512 wide_avx512(const float *x) {
    return (reals_avx512)_mm512_cvtps_pd(_mm256_loadu_ps(x));
}

TARGET static inline reals_avx512 root_avx512(reals_avx512 x) {
    return (reals_avx512)_mm512_sqrt_pd((__m512d)x);
}

TARGET static inline singles_avx512 fuse_singles_avx512(singles_avx512 a, singles_avx512 b, singles_avx512 c) {
    return (singles_avx512)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}

TARGET static inline reals_avx512 low_avx512(singles_avx512 x) {
    return (reals_avx512)_mm512_cvtps_pd(_mm512_castps512_ps256((__m512)x));
}

TARGET static inline reals_avx512 high_avx512(singles_avx512 x) {
    return (reals_avx512)_mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)x, 1));
}

TARGET static inline void round_avx512(reals_avx512 x, float *out) {
    _mm256_storeu_ps(out, _mm512_cvtpd_ps((__m512d)x));
}

TARGET static inline float fuse_single_avx512(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}

#include "isa.h"
