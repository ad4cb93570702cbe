/* NEON: 64-bit ARM processors, including Apple's. */
#if defined(__aarch64__) && defined(__ARM_NEON)
#define ISA neon
#define BYTES 16
#define COUNT uint8_t
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
#include "vectors.h"

#define FUSE(a, b, c) (double_vec) vfmaq_f64((float64x2_t)(c), (float64x2_t)(a), (float64x2_t)(b))
#define FUSE_FLOATS(a, b, c) (float_vec) vfmaq_f32((float32x4_t)(c), (float32x4_t)(a), (float32x4_t)(b))
#define ROOT(x) (double_vec) vsqrtq_f64((float64x2_t)(x))
#define SMALLER(x, y) (double_vec) vminq_f64((float64x2_t)(x), (float64x2_t)(y))
#define WIDE(x) (double_vec) vcvt_f64_f32(vld1_f32(x))
#define NARROW(x, out) vst1_f32(out, vcvt_f32_f64((float64x2_t)(x)))
#define LOW(x) (double_vec) vcvt_f64_f32(vget_low_f32((float32x4_t)(x)))
#define HIGH(x) (double_vec) vcvt_high_f64_f32((float32x4_t)(x))

/* Converts four comparisons to four bits. */
INLINE uint64_t bits_of(uint32x4_t compared) {
    const uint32x4_t weights = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(compared, weights));
}
INLINE uint32x4_t are_equal(const float *x) {
    return vceqq_f32(vld1q_f32(x), vld1q_f32(x));
}
#define COMPARED 4
#define GREATER(x, y) bits_of(vcgtq_f32(vld1q_f32(x), vld1q_f32(y)))
#define UNTIED(x, y) (GREATER(x, y) | GREATER(y, x))
#define PRESENT(x, y) bits_of(vandq_u32(are_equal(x), are_equal(y)))

#define COUNT_BITS(words) (count_vec) vcntq_u8((uint8x16_t)(words))
#define WIDEN(counts) (word_vec) vpaddlq_u32(vpaddlq_u16(vpaddlq_u8((uint8x16_t)(counts))))

#include "kernels_of_isa.h"
#endif
