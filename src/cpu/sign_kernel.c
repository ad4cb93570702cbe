/* AND and popcount for the instruction sets that this machine may have; chosen when asked. */
#include "sign.h"

#define NAME_(function, set) function##_##set
#define NAME2(function, set) NAME_(function, set)
#define NAME(function) NAME2(function, SET)

#define SET plain
#define TARGET
#include "sign_kernel.h"
#undef SET
#undef TARGET

#if defined(__x86_64__) && defined(__GNUC__)
#define X86_SETS
#define SET popcnt
#define TARGET __attribute__((target("popcnt")))
#include "sign_kernel.h"
#undef SET
#undef TARGET
#define SET avx512
#define TARGET __attribute__((target("avx512f,avx512vl,avx512vpopcntdq,prefer-vector-width=512")))
#include "sign_kernel.h"
#undef SET
#undef TARGET
#endif

cpu_sign_count cpu_sign_counter(void) {
#ifdef X86_SETS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vl")) return count_avx512;
    if (__builtin_cpu_supports("popcnt")) return count_popcnt;
#endif
    return count_plain;
}

const char *cpu_sign_kernel(void) {
#ifdef X86_SETS
    if (cpu_sign_counter() == count_avx512) return "AVX-512 VPOPCNTDQ";
    if (cpu_sign_counter() == count_popcnt) return "POPCNT";
#endif
    return "plain C";
}
