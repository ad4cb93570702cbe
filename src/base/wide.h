/* Loops that compilers vectorize, for the widest vectors of this processor. */
#pragma once

#include "isa.h"

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
