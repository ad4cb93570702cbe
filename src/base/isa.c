#include "isa.h"

#include <stdlib.h>
#include <string.h>

#if defined(__aarch64__) && defined(__ARM_NEON)
static const char *const names[] = {"plain", "neon"};
#else
static const char *const names[] = {"plain", "avx2", "avx512"};
#endif

static int highest(void) {
#if defined(__x86_64__) && !defined(GPUCOR_PLAIN_KERNELS) /* configure.win says when */
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return GCOR_PLAIN;
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vnni")
               ? GCOR_AVX512
               : GCOR_AVX2;
#elif defined(__aarch64__) && defined(__ARM_NEON)
    return GCOR_NEON;
#else
    return GCOR_PLAIN;
#endif
}

const char *gcor_isa_name(int level) {
    return level <= highest() ? names[level] : NULL;
}

static int chosen = -1; /* none yet; atomic */

int gcor_isa_choose(void) {
    const char *wanted = getenv("GPUCOR_CPU");
    int level = highest();
    while (wanted && *wanted && level > GCOR_PLAIN && strcmp(names[level], wanted) != 0) level--;
    __atomic_store_n(&chosen, level, __ATOMIC_RELAXED);
    return level;
}

int gcor_isa(void) {
    int level = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    return level >= 0 ? level : gcor_isa_choose();
}
