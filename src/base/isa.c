#include "isa.h"

#include <stdlib.h>
#include <string.h>

extern const gcor_loops gcor_loops_plain, gcor_loops_avx2, gcor_loops_avx512, gcor_loops_neon;

/* For every instruction set that this compiler knows. */
static const gcor_loops *const levels[] = {
    &gcor_loops_plain,
#if defined(__x86_64__)
    &gcor_loops_avx2,
    &gcor_loops_avx512,
#elif defined(__aarch64__) && defined(__ARM_NEON)
    &gcor_loops_neon,
#endif
};

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

const gcor_loops *gcor_loops_at(int level) {
    return level <= highest() ? levels[level] : NULL;
}

static int chosen = -1; /* none yet; atomic */

int gcor_isa_choose(void) {
    const char *wanted = getenv("GPUCOR_CPU");
    int level = highest();
    while (wanted && *wanted && level > GCOR_PLAIN && strcmp(levels[level]->name, wanted) != 0) level--;
    __atomic_store_n(&chosen, level, __ATOMIC_RELAXED);
    return level;
}

int gcor_isa(void) {
    int level = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    return level >= 0 ? level : gcor_isa_choose();
}

const gcor_loops *gcor_best_loops(void) {
    return levels[gcor_isa()];
}
