/* Every operation rounds once, so that results have the same bits on every processor: a multiplication and an
 * addition are fused only by gcor_fma(). Compilers fuse them by default where the processor can (GCC on aarch64, and
 * on x86-64 with -march=native); the pragma overrides CFLAGS. It also makes GCC vectorize at -O2 as at -O3, and as
 * clang does, which changes no result; for all functions, as GCC inlines none into one with other options. gpucor.h
 * includes this file before any function is defined. CUDA's host code gets -ffp-contract=off from Makevars, as nvcc
 * does not know the pragma. */
#pragma once

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "gpucor needs IEEE arithmetic: remove -ffast-math, -Ofast and -ffinite-math-only from CFLAGS (~/.R/Makevars)"
#endif

#ifndef __cplusplus
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off", "tree-vectorize", "vect-cost-model=dynamic")
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
#endif
