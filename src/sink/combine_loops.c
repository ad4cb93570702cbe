/* Allows the compiler to vectorize loops with a conditional; before the functions that are parts of them. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapping-math")
#endif

#include "combine_loops.h"

#include "../base/elementary.h"
#include "../base/isa.h"
#include "weight.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define NAME(function) JOIN(function, SET)
#define APPROX static inline __attribute__((always_inline))

/* Fused where the instruction set can: approximate values need not be the same on all processors. */
APPROX float multiply_add(float a, float b, float c, int is_fused) {
    return is_fused ? __builtin_fmaf(a, b, c) : a * b + c;
}

/* An odd polynomial with an error of at most 1.4e-4 up to GCOR_APPROX_MAX. */
APPROX float approx_artanh(float r, int is_fused) {
    const float t = r * r;
    float sum = 6.48284696f;
    sum = multiply_add(sum, t, -13.5850477f, is_fused);
    sum = multiply_add(sum, t, 11.717927f, is_fused);
    sum = multiply_add(sum, t, -4.65993585f, is_fused);
    sum = multiply_add(sum, t, 1.17463337f, is_fused);
    sum = multiply_add(sum, t, 0.248149894f, is_fused);
    sum = multiply_add(sum, t, 1.00213188f, is_fused);
    return sum * r;
}

/* A rational function with an error of about 1e-7. */
APPROX float approx_tanh(float z) {
    z = z > 7.9f ? 7.9f : z;
    z = z < -7.9f ? -7.9f : z;
    const float t = z * z;
    float a = -2.76076847742355e-16f;
    a = a * t + 2.00018790482477e-13f;
    a = a * t - 8.60467152213735e-11f;
    a = a * t + 5.12229709037114e-08f;
    a = a * t + 1.48572235717979e-05f;
    a = a * t + 6.37261928875436e-04f;
    a = a * t + 4.89352455891786e-03f;
    float b = 1.19825839466702e-06f;
    b = b * t + 1.18534705686654e-04f;
    b = b * t + 2.26843463243900e-03f;
    b = b * t + 4.89352518554385e-03f;
    return z * a / b;
}

/* Coefficients of artanh with fewer terms, for values up to GCOR_APPROX_LOW; the error is at most 1.33e-4. */
static const float LOW[] = {1.00146643f, 0.303777466f, 0.341046865f};

/* Defines some_reach() or some_floats_reach(). A comparison of vectors gives integers, all bits of which are set or
 * none: they are gathered in words. */
#define SOME_REACH(name, type) \
    TARGET static int name(const type *value, type low, type high, int64_t n) { \
        enum { LANES = BYTES / sizeof(type), WORDS = BYTES / 8 }; \
        typedef type lanes __attribute__((vector_size(BYTES), aligned(sizeof(type)), may_alias)); \
        typedef int64_t words __attribute__((vector_size(BYTES))); \
        words found = {0}; \
        int64_t k = 0, any = 0; \
        for (; k + LANES <= n; k += LANES) { \
            const lanes own = *(const lanes *)(value + k); \
            found |= (words)(own >= high) | (words)(own <= low); \
        } \
        for (; k < n; k++) any |= value[k] >= high || value[k] <= low; \
        for (int w = 0; w < WORDS; w++) any |= found[w]; \
        return any != 0; \
    }

static int some_beyond_plain(const float *value, float max) {
    int beyond = 0;
    for (int k = 0; k < GCOR_APPROX_SOME; k++) beyond |= fabsf(value[k]) > max;
    return beyond;
}

#define SET plain
#define BYTES 16
#define TARGET
#define IS_FUSED 0
#include "combine_set.h"

#if defined(__x86_64__)
#define SET avx2
#define BYTES 32
#define TARGET __attribute__((target("avx2,fma")))
#define IS_FUSED 1
TARGET static inline int some_beyond_avx2(const float *value, float max) {
    __m256 beyond = _mm256_setzero_ps();
    for (int k = 0; k < GCOR_APPROX_SOME; k += 8) {
        __m256 size = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), _mm256_loadu_ps(value + k));
        beyond = _mm256_or_ps(beyond, _mm256_cmp_ps(size, _mm256_set1_ps(max), _CMP_GT_OQ));
    }
    return _mm256_movemask_ps(beyond) != 0;
}
#include "combine_set.h"
#define SET avx512
#define BYTES 64
#ifdef __clang__ /* clang does not know prefer-vector-width, and would ignore the whole attribute */
#define TARGET __attribute__((target("avx512f,avx512dq,avx2,fma")))
#else
#define TARGET __attribute__((target("avx512f,avx512dq,avx2,fma,prefer-vector-width=512")))
#endif
#define IS_FUSED 1
TARGET static inline int some_beyond_avx512(const float *value, float max) {
    __mmask16 beyond = 0;
    for (int k = 0; k < GCOR_APPROX_SOME; k += 16)
        beyond |= _mm512_cmp_ps_mask(_mm512_abs_ps(_mm512_loadu_ps(value + k)), _mm512_set1_ps(max), _CMP_GT_OQ);
    return beyond != 0;
}
#include "combine_set.h"
#endif

const gcor_combine_loops *gcor_combine_best_loops(void) {
#if defined(__x86_64__)
    static const gcor_combine_loops *const levels[] = {&loops_plain, &loops_avx2, &loops_avx512};
    return levels[gcor_isa()];
#else
    return &loops_plain;
#endif
}

void gcor_subject_z(const gcor_combine_loops *loops, const double *r, int64_t stride, int64_t subjects, int64_t n,
                    double *z) {
    for (int64_t s = 0; s < subjects; s++, z += GCOR_SUM_BLOCK) {
        const double *value = r + s * stride;
        for (int64_t k = 0; k < n; k++) z[k] = 0;
        loops->add_fisher(z, value, 1, n);
        for (int64_t k = 0; k < n; k++) z[k] = value[k] <= 1 ? z[k] : NAN;
    }
}
