/* NEON: 64-bit ARM processors, including Apple's. */
#include <arm_neon.h>

#define SET neon
#define SET_NAME "neon"
#define TARGET
#define BYTES 16
#define IS_FUSED 1
#define REAL_ROWS 4
#define REAL_VECTORS 4
#define UNTIED_ROWS 2
#define TIED_ROWS 1
#define COMMON_ROWS 2
#define DOT_PAIRS 4
#define DOT_VECTORS 4
#define CHUNK 31
#define NS_WORD 0.1
#define NS_PACK 6

typedef uint64_t words_neon __attribute__((vector_size(BYTES), may_alias));
typedef double reals_neon __attribute__((vector_size(BYTES), aligned(8), may_alias));
typedef float singles_neon __attribute__((vector_size(BYTES), may_alias));
typedef uint8_t counts_neon __attribute__((vector_size(BYTES)));

static inline counts_neon count_neon(words_neon x) {
    return (counts_neon)vcntq_u8((uint8x16_t)x);
}

static inline words_neon widen_neon(counts_neon counts) {
    uint64x2_t sums = vpaddlq_u32(vpaddlq_u16(vpaddlq_u8((uint8x16_t)counts)));
    return (words_neon)sums;
}

/* Converts four comparisons to four bits. */
static inline uint64_t bits_neon(uint32x4_t compared) {
    const uint32x4_t weights = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(compared, weights));
}

#define COMPARE_NEON(name, condition) \
    static inline uint64_t name(const float *x, const float *y) { \
        uint64_t bits = 0; \
        for (int t = 0; t < 64; t += 4) { \
            float32x4_t a = vld1q_f32(x + t), b = vld1q_f32(y + t); \
            bits |= bits_neon(condition) << t; \
        } \
        return bits; \
    }
COMPARE_NEON(greater_neon, vcgtq_f32(a, b))
COMPARE_NEON(untied_neon, vorrq_u32(vcgtq_f32(a, b), vcltq_f32(a, b)))
COMPARE_NEON(present_neon, vandq_u32(vceqq_f32(a, a), vceqq_f32(b, b)))
#undef COMPARE_NEON

static inline reals_neon fuse_neon(reals_neon a, reals_neon b, reals_neon c) {
    return (reals_neon)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
}

static inline reals_neon wide_neon(const float *x) {
    return (reals_neon)vcvt_f64_f32(vld1_f32(x));
}

static inline reals_neon root_neon(reals_neon x) {
    return (reals_neon)vsqrtq_f64((float64x2_t)x);
}

static inline singles_neon fuse_singles_neon(singles_neon a, singles_neon b, singles_neon c) {
    return (singles_neon)vfmaq_f32((float32x4_t)c, (float32x4_t)a, (float32x4_t)b);
}

static inline reals_neon low_neon(singles_neon x) {
    return (reals_neon)vcvt_f64_f32(vget_low_f32((float32x4_t)x));
}

static inline reals_neon high_neon(singles_neon x) {
    return (reals_neon)vcvt_high_f64_f32((float32x4_t)x);
}

static inline void round_neon(reals_neon x, float *out) {
    vst1_f32(out, vcvt_f32_f64((float64x2_t)x));
}

static inline float fuse_single_neon(float a, float b, float c) {
    return __builtin_fmaf(a, b, c);
}

#include "isa.h"
