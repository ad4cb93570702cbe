/* Any machine: vectors of 16 bytes, which all common processors have. */
#define SET plain
#define SET_NAME "plain"
#define TARGET
#define BYTES 16
#define IS_FUSED 0
#define REAL_ROWS 2
#define REAL_VECTORS 4
#define UNTIED_ROWS 1
#define TIED_ROWS 1
#define COMMON_ROWS 1
#define DOT_PAIRS 4
#define DOT_VECTORS 2
#define CHUNK 31
#define NS_WORD 0.5
#define NS_PACK 100

typedef uint64_t words_plain __attribute__((vector_size(BYTES), may_alias));
typedef double reals_plain __attribute__((vector_size(BYTES), aligned(8), may_alias));
typedef float singles_plain __attribute__((vector_size(BYTES), may_alias));
typedef uint8_t counts_plain __attribute__((vector_size(BYTES)));

/* Counts the bits of each byte, by pairs, nibbles and bytes. */
static inline counts_plain count_plain(words_plain x) {
    x -= (x >> 1) & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
    return (counts_plain)((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu);
}

/* Sums bytes to 16-bit pairs; the multiplication adds these up in the highest 16 bits. */
static inline words_plain widen_plain(counts_plain counts) {
    words_plain x = (words_plain)counts;
    x = (x & 0x00ff00ff00ff00ffu) + ((x >> 8) & 0x00ff00ff00ff00ffu);
    return (x * 0x0001000100010001u) >> 48;
}

#define COMPARE_PLAIN(name, condition) \
    static inline uint64_t name(const float *x, const float *y) { \
        uint64_t bits = 0; \
        for (int t = 0; t < 64; t++) bits |= (uint64_t)(condition) << t; \
        return bits; \
    }
COMPARE_PLAIN(greater_plain, x[t] > y[t])
COMPARE_PLAIN(untied_plain, x[t] > y[t] || x[t] < y[t])
COMPARE_PLAIN(present_plain, x[t] == x[t] && y[t] == y[t])
#undef COMPARE_PLAIN

static inline reals_plain fuse_plain(reals_plain a, reals_plain b, reals_plain c) {
    for (int l = 0; l < BYTES / 8; l++) c[l] = gcor_fma(a[l], b[l], c[l]);
    return c;
}

static inline reals_plain wide_plain(const float *x) {
    return (reals_plain){x[0], x[1]};
}

static inline reals_plain root_plain(reals_plain x) {
    for (int l = 0; l < BYTES / 8; l++) x[l] = sqrt(x[l]);
    return x;
}

/* Fused multiply-add in software: the product of two floats is exact in double. Its sum with the third is rounded to
 * odd, so that rounding again, to a float, gives the correct result. */
static inline float fuse_single_plain(float a, float b, float c) {
#ifdef __FP_FAST_FMAF
    return __builtin_fmaf(a, b, c);
#else
    double product = (double)a * b, sum = product + c, added = sum - product;
    double rest = (product - (sum - added)) + (c - added);
    int64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (rest != 0 && !(bits & 1)) bits += (rest > 0) == (sum > 0) ? 1 : -1;
    memcpy(&sum, &bits, sizeof sum);
    return (float)sum;
#endif
}

static inline singles_plain fuse_singles_plain(singles_plain a, singles_plain b, singles_plain c) {
    for (int l = 0; l < BYTES / 4; l++) c[l] = fuse_single_plain(a[l], b[l], c[l]);
    return c;
}

static inline reals_plain low_plain(singles_plain x) {
    return (reals_plain){x[0], x[1]};
}

static inline reals_plain high_plain(singles_plain x) {
    return (reals_plain){x[2], x[3]};
}

static inline void round_plain(reals_plain x, float *out) {
    for (int l = 0; l < BYTES / 8; l++) out[l] = (float)x[l];
}

#include "isa.h"
