/* Every operation rounds once, so that results have the same bits on every processor: a product and a sum are fused
 * only where the source says gcor_fma(). Compilers fuse them by default where the processor can (GCC on aarch64, and on
 * x86-64 with -march=native); a pragma holds whatever CFLAGS say. gpucor.h includes this file before any function is
 * defined. CUDA's host code gets -ffp-contract=off from Makevars, as nvcc does not know the pragma. */
#ifndef GPUCOR_ROUNDING_H
#define GPUCOR_ROUNDING_H

#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "gpucor needs IEEE arithmetic: remove -ffast-math, -Ofast and -ffinite-math-only from CFLAGS (~/.R/Makevars)"
#endif

#ifndef __cplusplus
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif
#include "fma.h"
#endif

#endif
