/* The kernels for every instruction set that the compiler supports, and their choice for this machine. */
#include "kernels.h"

#include "../measure/coefficient.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define NAME(function) JOIN(function, SET)

#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

#include "isa_plain.h"
#if defined(__x86_64__)
#include "isa_avx2.h"
#include "isa_avx512.h"
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include "isa_neon.h"
#endif

#if defined(__x86_64__)
/* configure.win says when GPUCOR_PLAIN_KERNELS is defined. */
static int has_avx2(void) {
#ifdef GPUCOR_PLAIN_KERNELS
    return 0;
#endif
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
static int has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vpopcntdq");
}
#endif

const cpu_kernels *cpu_kernel_set(int set) {
    const cpu_kernels *sets[4] = {NULL};
    int n = 0;
#if defined(__x86_64__)
    __builtin_cpu_init();
    if (has_avx512()) sets[n++] = &kernels_avx512;
    if (has_avx2()) sets[n++] = &kernels_avx2;
#elif defined(__aarch64__) && defined(__ARM_NEON)
    sets[n++] = &kernels_neon;
#endif
    sets[n++] = &kernels_plain;
    return set < n ? sets[set] : NULL;
}

const cpu_kernels *cpu_best_kernels(void) {
    const char *wanted = getenv("GPUCOR_CPU");
    if (!wanted || !*wanted) return cpu_kernel_set(0);
    int set = 0;
    while (cpu_kernel_set(set) && strcmp(cpu_kernel_set(set)->name, wanted)) set++;
    return cpu_kernel_set(set);
}

const char *cpu_kernel_names(void) {
    static char names[128];
    char *at = names;
    for (int set = 0; cpu_kernel_set(set); set++)
        at += snprintf(at, (size_t)(names + sizeof names - at), "%s\"%s\"", set ? ", " : "", cpu_kernel_set(set)->name);
    return names;
}
