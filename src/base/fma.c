/* fma() for C libraries whose own is wrong. */
#include "rounding.h"

#ifdef __SIZEOF_INT128__
#include <math.h>
#include <stdint.h>

__extension__ typedef unsigned __int128 wide;

/* The number is sign * digits * 2^exponent. */
typedef struct {
    wide digits;
    int exponent, is_negative;
} parts;

enum { TOP = 125, DIGITS = 53, MIN_EXPONENT = -1074 };

static int count_bits(wide x) {
    uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;
    return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

/* All bits of x, which must not be 0. */
static parts split(double x) {
    int exponent;
    double digits = frexp(fabs(x), &exponent) * 0x1p53;
    return (parts){(wide)digits, exponent - DIGITS, signbit(x) != 0};
}

/* Shifts the highest bit to TOP, which leaves a bit for a sum. */
static parts raise(parts x) {
    int by = TOP + 1 - count_bits(x.digits);
    return (parts){x.digits << by, x.exponent - by, x.is_negative};
}

/* Bits shifted out leave a 1 in the lowest bit. It distinguishes a tie, and is far below the remaining digits, also
 * if the two numbers nearly cancel, as then no bits are shifted out. */
static wide shift_right(wide x, int by) {
    if (by > TOP + 1) return x != 0;
    return by ? x >> by | ((x & (((wide)1 << by) - 1)) != 0) : x;
}

static parts add(parts x, parts y) {
    if (x.exponent < y.exponent) return add(y, x);
    wide other = shift_right(y.digits, x.exponent - y.exponent);
    if (x.is_negative == y.is_negative) return (parts){x.digits + other, x.exponent, x.is_negative};
    if (x.digits >= other) return (parts){x.digits - other, x.exponent, x.is_negative};
    return (parts){other - x.digits, x.exponent, y.is_negative};
}

/* Rounds to nearest, ties to even; a subnormal number has fewer digits. */
static double round_once(parts x) {
    int lowest = x.exponent + count_bits(x.digits) - DIGITS;
    if (lowest < MIN_EXPONENT) lowest = MIN_EXPONENT;
    int by = lowest - x.exponent;
    wide digits = x.digits;
    if (by > TOP + 2) {
        digits = 0;
    } else if (by > 0) {
        wide half = (wide)1 << (by - 1), rest = digits & (((wide)1 << by) - 1);
        digits >>= by;
        digits += rest > half || (rest == half && (digits & 1));
    } else {
        lowest = x.exponent;
    }
    double size = ldexp((double)(uint64_t)digits, lowest);
    return x.is_negative ? -size : size;
}

double gcor_integer_fma(double a, double b, double c) {
    if (!isfinite(a) || !isfinite(b) || a == 0 || b == 0) return a * b + c;
    if (!isfinite(c)) return c;
    parts x = split(a), y = split(b);
    parts product = raise((parts){x.digits * y.digits, x.exponent + y.exponent, x.is_negative != y.is_negative});
    if (c == 0) return round_once(product);
    parts sum = add(product, raise(split(c)));
    return sum.digits ? round_once(sum) : 0;
}

#if defined(__x86_64__)
__attribute__((target("fma"))) static double hardware_fma(double a, double b, double c) {
    return __builtin_fma(a, b, c);
}

double gcor_runtime_fma(double a, double b, double c) {
    static int has_fma = -1; /* all threads write the same value */
    int has = __atomic_load_n(&has_fma, __ATOMIC_RELAXED);
    if (has < 0) {
        __builtin_cpu_init();
        has = __builtin_cpu_supports("fma") != 0;
        __atomic_store_n(&has_fma, has, __ATOMIC_RELAXED);
    }
    return has ? hardware_fma(a, b, c) : gcor_integer_fma(a, b, c);
}
#else
double gcor_runtime_fma(double a, double b, double c) {
    return __builtin_fma(a, b, c);
}
#endif

#endif
