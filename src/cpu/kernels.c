/* The kernels for every instruction set that this compiler knows. */
#include "kernels.h"

static const cpu_kernels *const levels[] = {
    &cpu_kernels_plain,
#if defined(__x86_64__)
    &cpu_kernels_avx2,
    &cpu_kernels_avx512,
#elif defined(__aarch64__) && defined(__ARM_NEON)
    &cpu_kernels_neon,
#endif
};

const cpu_kernels *cpu_kernels_of(int level) {
    return levels[level];
}
