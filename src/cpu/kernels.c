/* The kernels for every instruction set that this compiler knows. */
#include "kernels.h"

#include <string.h>

static const cpu_kernels *const all_kernels[] = {
#if defined(__x86_64__)
    &cpu_kernels_avx512, &cpu_kernels_avx2,
#elif defined(__aarch64__) && defined(__ARM_NEON)
    &cpu_kernels_neon,
#endif
    &cpu_kernels_plain};

const cpu_kernels *cpu_kernels_of(const char *isa) {
    size_t k = 0;
    if (!isa) return NULL;
    while (strcmp(all_kernels[k]->name, isa) != 0) k++;
    return all_kernels[k];
}
