/* Vectors of an instruction set, as a file isa_*.c has defined it by macros (kernels_of_isa.h lists them). */
/* Allows the compiler to vectorize loops with a conditional; before the functions that are parts of them. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapping-math")
#endif

#include "kernels.h"

#include "../base/elementary.h"
#include "../base/isa.h"
#include "../measure/coefficient.h"
#include "../sink/combine_loops.h"
#include "../stats/tail.h"

#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#define PRAGMA_(text) _Pragma(#text)
#define PRAGMA(text) PRAGMA_(text)

/* All functions from here on may use the instructions TARGET; undefined: those of the whole program. */
#if defined(TARGET) && defined(__clang__)
PRAGMA(clang attribute push(__attribute__((target(TARGET))), apply_to = function))
#elif defined(TARGET)
PRAGMA(GCC target(TARGET))
#endif

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#define UNROLL_4 _Pragma("clang loop unroll_count(4)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#define UNROLL_4 _Pragma("GCC unroll 4")
#endif
#define EACH(r, n_r, v, n_v) UNROLL for (int r = 0; r < n_r; r++) UNROLL for (int v = 0; v < n_v; v++)
/* Rows and vectors of a kernel's block, n_r rows and n_v vectors at a time. */
#define EACH_PART(r, n_r, v, n_v) \
    for (int r = 0; r < CPU_KERNEL_ROWS; r += n_r) \
        for (int v = 0; v < VECTORS; v += n_v)
#define INLINE static inline __attribute__((always_inline))

typedef uint64_t word_vec __attribute__((vector_size(BYTES), may_alias));
typedef uint64_t word_vec_loaded __attribute__((vector_size(BYTES), aligned(8), may_alias));
typedef int64_t mask_vec __attribute__((vector_size(BYTES), aligned(8), may_alias));
typedef double double_vec __attribute__((vector_size(BYTES), aligned(8), may_alias));
typedef float float_vec __attribute__((vector_size(BYTES), may_alias));
typedef COUNT count_vec __attribute__((vector_size(BYTES)));

/* Returns a where the mask's bits are set, otherwise b. */
INLINE double_vec choose(mask_vec where, double_vec a, double_vec b) {
    return (double_vec)(((mask_vec)a & where) | ((mask_vec)b & ~where));
}

/* Vectors, words and floats of a micro-panel. */
enum {
    VECTORS = CPU_MICRO_PANEL_BYTES / BYTES,
    MICRO_PANEL_WORDS = CPU_MICRO_PANEL_BYTES / 8,
    FLOATS = CPU_MICRO_PANEL_BYTES / 4
};
