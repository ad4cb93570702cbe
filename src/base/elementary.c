#include "elementary.h"

/* ---- logarithms and exponential ------------------------------------------------------------------- */

double gcor_log(double x) {
    double k;
    if (!(x > 0)) return x == 0 ? -INFINITY : NAN;
    if (x > DBL_MAX) return x;
    double m = gcor_split(x, &k);
    return gcor_log_of(m - 1, 0, k);
}

double gcor_log1p(double x) {
    double k, u = 1 + x;
    if (x > -0.29 && x < 0.41) return gcor_log_of(x, 0, 0);
    if (!(u > 0) || u > DBL_MAX) return gcor_log(u);
    double m = gcor_split(u, &k), lost = u > 2 ? 1 - (u - x) : x - (u - 1);
    return gcor_log_of(m - 1, lost / u, k);
}

double gcor_exp(double x) {
    return gcor_exp_of(x, 0);
}

/* ---- the normal distribution ---------------------------------------------------------------------- */

static const double SCALED_ERFC[] = {GCOR_SCALED_ERFC};
enum { SCALED_ERFC_TERMS = sizeof SCALED_ERFC / sizeof *SCALED_ERFC };

/* The terms are (-1)^n / (n! (2 n + 1)) x^(2 n + 1). */
static double erf_near_0(double x) {
    double t = x * x, sum = 1 / 11975040000.0;
    static const double divisor[] = {GCOR_ERF_DIVISORS};
    for (int n = 11; n >= 0; n--) sum = sum * t + 1 / divisor[n];
    return 1.1283791670955126 * x * sum;
}

/* Splits x = a + b, where the square of a is exact: the remainder of x^2 is (x + a) b. */
double gcor_erfc(double x) {
    if (x < 0.5) return 1 - erf_near_0(x);
    if (x > 27) return x != x ? x : 0;
    double t = (x - 3.5) / (x + 3.5), u = t * t, even = SCALED_ERFC[SCALED_ERFC_TERMS - 1], odd = 0;
    for (int n = SCALED_ERFC_TERMS - 2; n > 0; n -= 2)
        odd = odd * u + SCALED_ERFC[n], even = even * u + SCALED_ERFC[n - 1];
    double sum = even + t * odd;
    double a = gcor_double_of(gcor_bits_of(x) & 0xfffffffff8000000u), b = x - a;
    return gcor_exp_of(-a * a, -(x + a) * b) * (sum / (1 + 2 * x));
}

/* ---- powers --------------------------------------------------------------------------------------- */

/* A number as an unevaluated sum; high is the rounded number. */
typedef struct {
    double high, low;
} sum_of_two;

static sum_of_two add_smaller(double a, double smaller) {
    double high = a + smaller;
    return (sum_of_two){high, smaller - (high - a)};
}

static sum_of_two multiply(double a, double b) {
    double high = a * b;
    return (sum_of_two){high, gcor_fma(a, b, -high)};
}

/* log(1 + f) = 2 (s + s^3 / 3 + ...), s = f / (2 + f). The first two terms have about 30 digits, so that the
 * logarithm has 19, enough for its product with a power of magnitude 700. */
static sum_of_two log_of_two(double f, double k) {
    const double third = 1 / 3.0, third_low = 1.850371707708594e-17;
    double d = 2 + f, d_low = f - (d - 2), s = f / d;
    sum_of_two back = multiply(s, d), t = multiply(s, s);
    double s_low = (((f - back.high) - back.low) - s * d_low) / d;
    t.low += 2 * s * s_low;
    sum_of_two cube = multiply(t.high, s);
    cube.low += t.high * s_low + t.low * s;
    sum_of_two term = multiply(cube.high, third);
    term.low += cube.high * third_low + cube.low * third;
    sum_of_two sum = add_smaller(s, term.high);
    double rest = s * t.high * t.high * gcor_artanh_series(t.high);
    sum = add_smaller(2 * sum.high, 2 * (sum.low + (s_low + term.low + rest)));
    sum_of_two all = k == 0 ? (sum_of_two){sum.high, 0} : add_smaller(k * GCOR_LOG_2, sum.high);
    sum_of_two low = fabs(k * GCOR_LOG_2_LOW) > fabs(all.low) ? add_smaller(k * GCOR_LOG_2_LOW, all.low)
                                                              : add_smaller(all.low, k * GCOR_LOG_2_LOW);
    all = add_smaller(all.high, low.high);
    return add_smaller(all.high, all.low + (low.low + (sum.low + k * GCOR_LOG_2_LOWEST)));
}

double gcor_pow(double base, double power) {
    double k;
    if (base == 0 && power > 0) return 0;
    if (!(base > 0 && base <= DBL_MAX && power > 0 && power <= DBL_MAX)) return pow(base, power);
    double m = gcor_split(base, &k);
    sum_of_two log_base = log_of_two(m - 1, k);
    if (!(fabs(power * log_base.high) < 800)) return log_base.high > 0 ? INFINITY : 0;
    sum_of_two product = multiply(power, log_base.high);
    return gcor_exp_of(product.high, product.low + power * log_base.low);
}

/* ---- fma() for C libraries whose own is wrong --------------------------------------------------- */

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide;

/* The number is sign * digits * 2^exponent. */
typedef struct {
    wide digits;
    int exponent, is_negative;
} fma_parts;

enum { TOP = 125, DIGITS = 53, MIN_EXPONENT = -1074 };

static int count_bits(wide x) {
    uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;
    return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

/* All bits of x, which must not be 0. */
static fma_parts split_exactly(double x) {
    int exponent;
    double digits = frexp(fabs(x), &exponent) * 0x1p53;
    return (fma_parts){(wide)digits, exponent - DIGITS, signbit(x) != 0};
}

/* Shifts the highest bit to TOP, which leaves a bit for a sum. */
static fma_parts raise_digits(fma_parts x) {
    int by = TOP + 1 - count_bits(x.digits);
    return (fma_parts){x.digits << by, x.exponent - by, x.is_negative};
}

/* Bits shifted out leave a 1 in the lowest bit. It distinguishes a tie, and is far below the remaining digits, also
 * if the two numbers nearly cancel, as then no bits are shifted out. */
static wide shift_right(wide x, int by) {
    if (by > TOP + 1) return x != 0;
    return by ? x >> by | ((x & (((wide)1 << by) - 1)) != 0) : x;
}

static fma_parts add_parts(fma_parts x, fma_parts y) {
    if (x.exponent < y.exponent) return add_parts(y, x);
    wide other = shift_right(y.digits, x.exponent - y.exponent);
    if (x.is_negative == y.is_negative) return (fma_parts){x.digits + other, x.exponent, x.is_negative};
    if (x.digits >= other) return (fma_parts){x.digits - other, x.exponent, x.is_negative};
    return (fma_parts){other - x.digits, x.exponent, y.is_negative};
}

/* Rounds to nearest, ties to even; a subnormal number has fewer digits. */
static double round_once(fma_parts x) {
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
    fma_parts x = split_exactly(a), y = split_exactly(b);
    fma_parts product = raise_digits(
        (fma_parts){x.digits * y.digits, x.exponent + y.exponent, x.is_negative != y.is_negative});
    if (c == 0) return round_once(product);
    fma_parts sum = add_parts(product, raise_digits(split_exactly(c)));
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
