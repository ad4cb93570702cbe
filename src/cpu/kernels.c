/* The kernels for every instruction set that this compiler knows. */
#include "kernels.h"

#include "../measure/coefficient.h"

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

static const cpu_kernels *const all_kernels[] = {
#if defined(__x86_64__)
    &kernels_avx512, &kernels_avx2,
#elif defined(__aarch64__) && defined(__ARM_NEON)
    &kernels_neon,
#endif
    &kernels_plain};

const cpu_kernels *cpu_kernels_of(const char *isa) {
    size_t k = 0;
    if (!isa) return NULL;
    while (strcmp(all_kernels[k]->name, isa) != 0) k++;
    return all_kernels[k];
}
