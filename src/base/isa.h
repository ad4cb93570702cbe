/* Instruction sets that this package has loops for. */
#pragma once

#include "../gpucor.h"

GCOR_BEGIN_C

/* Each level has the instructions of the levels below it, too. */
enum { GCOR_PLAIN, GCOR_AVX2, GCOR_AVX512, GCOR_NEON = 1 };

/* The loops that are written with the vectors of an instruction set. They are compiled once for each set, in the files
 * cpu/isa_*.c. Loops that compilers vectorize need only GCOR_WIDE(). */
typedef struct {
    const char *name;                         /* "plain", "avx2", "avx512", "neon" */
    const struct gcor_tail_loops *tail;       /* stats/tail.h */
    const struct gcor_combine_loops *combine; /* sink/combine_loops.h */
    const struct cpu_kernels *kernels;        /* cpu/kernels.h */
} gcor_loops;

/* Returns the level to use: this processor's highest, or the one that the environment variable GPUCOR_CPU named when
 * gcor_isa_choose() was called; GCOR_PLAIN if the processor lacks that one. Any thread. */
int gcor_isa(void);
/* Reads the variable; gcor_watch() calls it at the beginning of every call. Returns the level. */
int gcor_isa_choose(void);

/* Returns the loops of gcor_isa(); and those of a level, NULL above the processor's highest. Any thread. */
const gcor_loops *gcor_best_loops(void);
const gcor_loops *gcor_loops_at(int level);

GCOR_END_C

/* ---- loops that compilers vectorize, for the widest vectors of this processor -------------------------------- */

#define GCOR_BODY static inline __attribute__((always_inline))

/* Defines the function `name`, which calls `name`_body, a GCOR_BODY, with its arguments, compiled for AVX-512, for AVX2
 * and for any processor. Results are the same as long as nothing but the order of independent operations depends on the
 * width of vectors. */
#if defined(__x86_64__) && !defined(GPUCOR_PLAIN_KERNELS)
#define GCOR_WIDE(name, parameters, arguments) \
    __attribute__((target("avx512f,avx512dq"))) static void name##_avx512 parameters { \
        name##_body arguments; \
    } \
    __attribute__((target("avx2"))) static void name##_avx2 parameters { \
        name##_body arguments; \
    } \
    static void name##_plain parameters { \
        name##_body arguments; \
    } \
    static void name parameters { \
        static void(*const levels[]) parameters = {name##_plain, name##_avx2, name##_avx512}; \
        levels[gcor_isa()] arguments; \
    }
#else
#define GCOR_WIDE(name, parameters, arguments) \
    static void name parameters { \
        name##_body arguments; \
    }
#endif
