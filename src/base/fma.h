/* The fused multiply-add that results depend on. */
#ifndef GPUCOR_FMA_H
#define GPUCOR_FMA_H

#ifdef __cplusplus
extern "C" {
#endif

/* Return a * b + c, rounded once, with the processor's instruction if it has one, and by integers. NaN has any bits. */
double gcor_runtime_fma(double a, double b, double c);
double gcor_integer_fma(double a, double b, double c);

/* Returns a * b + c, rounded once. The fma() of mingw-w64 rounds more than once in some versions, so that it serves
 * only where the compiler has the instruction for it. */
static inline double gcor_fma(double a, double b, double c) {
#if defined(_WIN32) && !defined(__FP_FAST_FMA)
    return gcor_runtime_fma(a, b, c);
#else
    return __builtin_fma(a, b, c);
#endif
}

#ifdef __cplusplus
}
#endif
#endif
