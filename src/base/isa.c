#include "isa.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
/* GPUCOR_PLAIN_KERNELS: configure.win says when. */
static int has_avx2(void) {
#ifdef GPUCOR_PLAIN_KERNELS
    return 0;
#endif
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static int has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vnni");
}
#endif

const char *gcor_isa_at(int k) {
    const char *sets[3] = {NULL};
    int n = 0;
#if defined(__x86_64__)
    if (has_avx512()) sets[n++] = "avx512";
    if (has_avx2()) sets[n++] = "avx2";
#elif defined(__aarch64__) && defined(__ARM_NEON)
    sets[n++] = "neon";
#endif
    sets[n++] = "plain";
    return k < n ? sets[k] : NULL;
}

static const char *last;

const char *gcor_isa(void) {
    const char *wanted = getenv("GPUCOR_CPU");
    int k = 0;
    while (wanted && *wanted && gcor_isa_at(k) && strcmp(gcor_isa_at(k), wanted) != 0) k++;
    __atomic_store_n(&last, gcor_isa_at(k), __ATOMIC_RELAXED);
    return gcor_isa_at(k);
}

const char *gcor_isa_last(void) {
    const char *isa = __atomic_load_n(&last, __ATOMIC_RELAXED);
    return isa ? isa : gcor_isa();
}

const char *gcor_isa_names(void) {
    static char names[128];
    char *at = names;
    for (int k = 0; gcor_isa_at(k); k++)
        at += snprintf(at, (size_t)(names + sizeof names - at), "%s\"%s\"", k ? ", " : "", gcor_isa_at(k));
    return names;
}
