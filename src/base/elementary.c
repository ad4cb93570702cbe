#include "elementary.h"

#include "artanh.h"

#include <float.h>
#include <math.h>

/* LOG_2 has so few digits that its product with an exponent is exact. The sum of all three is log(2). */
static const double LOG_2 = 0.6931467056274414, LOG_2_LOW = 4.7493250390316726e-07,
                    LOG_2_LOWEST = -2.34079388656782e-23;

/* ---- logarithms ----------------------------------------------------------------------------------- */

/* x = 2^k m for positive finite x; returns m, between sqrt(1/2) and sqrt(2). */
static double split(double x, double *k) {
    *k = 0;
    if (x < DBL_MIN) x *= 0x1p54, *k = -54;
    uint64_t bits = gcor_bits_of(x);
    double m = gcor_double_of((bits & 0xfffffffffffffu) | 0x3ff0000000000000u);
    *k += (double)(bits >> 52) - 1023;
    if (m > 1.4142135623730951) m /= 2, *k += 1;
    return m;
}

/* The series 1/5 + t/7 + ... + t^9/23 of artanh, for t up to 0.0295; even and odd terms are separate, which is
 * faster. */
static double artanh_series(double t) {
    double u = t * t;
    double even = 1 / 5.0 + u * (1 / 9.0 + u * (1 / 13.0 + u * (1 / 17.0 + u * (1 / 21.0))));
    double odd = 1 / 7.0 + u * (1 / 11.0 + u * (1 / 15.0 + u * (1 / 19.0 + u * (1 / 23.0))));
    return even + t * odd;
}

/* log(1 + f) + rest + k log(2). With s = f / (2 + f), log(1 + f) = 2 artanh(s), and 2 s = f - f^2 / 2 + s f^2 / 2,
 * where f is exact. */
static double log_of(double f, double rest, double k) {
    double s = f / (2 + f), t = s * s, half = f * f / 2;
    double sum = s * (half + 2 * t * (1 / 3.0 + t * artanh_series(t)));
    return k * LOG_2 - ((half - (sum + (k * LOG_2_LOW + rest))) - f);
}

double gcor_log(double x) {
    double k;
    if (!(x > 0)) return x == 0 ? -INFINITY : NAN;
    if (x > DBL_MAX) return x;
    double m = split(x, &k);
    return log_of(m - 1, 0, k);
}

double gcor_log1p(double x) {
    double k, u = 1 + x;
    if (x > -0.29 && x < 0.41) return log_of(x, 0, 0);
    if (!(u > 0) || u > DBL_MAX) return gcor_log(u);
    double m = split(u, &k), lost = u > 2 ? 1 - (u - x) : x - (u - 1);
    return log_of(m - 1, lost / u, k);
}

/* ---- exponential ---------------------------------------------------------------------------------- */

/* e^(x + low), |low| much smaller than 1. e^x = 2^k e^f, |f| <= log(2) / 2. */
static double exp_of(double x, double low) {
    const double round = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to an integer */
    if (!(x < 710)) return x != x ? x : INFINITY;
    if (x < -746) return 0;
    double k = (x * 1.4426950408889634 + round) - round;
    double f = (x - k * LOG_2) - (k * LOG_2_LOW - low), t = f * f;
    double even = 1 / 2.0 +
                  t * (1 / 24.0 + t * (1 / 720.0 + t * (1 / 40320.0 + t * (1 / 3628800.0 + t * (1 / 479001600.0)))));
    double odd = 1 / 6.0 + t * (1 / 120.0 +
                                t * (1 / 5040.0 + t * (1 / 362880.0 + t * (1 / 39916800.0 + t * (1 / 6227020800.0)))));
    double value = 1 + (f + t * (even + f * odd));
    int first = (int)k / 2, second = (int)k - first; /* a denormal result is rounded once, in the last product */
    return value * gcor_double_of((uint64_t)(first + 1023) << 52) * gcor_double_of((uint64_t)(second + 1023) << 52);
}

double gcor_exp(double x) {
    return exp_of(x, 0);
}

/* ---- the normal distribution ---------------------------------------------------------------------- */

/* (1 + 2 x) e^(x^2) erfc(x) from 0.46 to 27 as a polynomial in t = (x - 3.5) / (x + 3.5), interpolated at Chebyshev
 * nodes with 40 digits; its error is 1.4e-17. */
static const double SCALED_ERFC[] = {
    1.2423492448711544,      -0.1400091801376194,    -0.010555596332218167,  0.09751909515325463,
    -0.1150895981602014,     0.08798315382504146,    -0.048823325827615886,  0.01909933093883817,
    -0.004215019912274393,   -0.0003022678374613368, 0.0005643844588036124,  -0.00012151269533151757,
    -4.2782464482978844e-05, 2.426214865413402e-05,  2.3291504167258613e-06, -3.8179611839093585e-06,
    -4.61811922638822e-08,   6.070711081425606e-07,  -5.090413852206879e-09, -1.0145595117041056e-07,
    -1.931858629105183e-09,  1.6282260957439735e-08, 1.1870059293459254e-09, -1.7858271303042028e-09,
    -2.1959126793132594e-10};
enum { SCALED_ERFC_TERMS = sizeof SCALED_ERFC / sizeof *SCALED_ERFC };

/* The terms are (-1)^n / (n! (2 n + 1)) x^(2 n + 1). */
static double erf_near_0(double x) {
    double t = x * x, sum = 1 / 11975040000.0;
    static const double divisor[] = {1, -3, 10, -42, 216, -1320, 9360, -75600, 685440, -6894720, 76204800, -918086400};
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
    return exp_of(-a * a, -(x + a) * b) * (sum / (1 + 2 * x));
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
    double rest = s * t.high * t.high * artanh_series(t.high);
    sum = add_smaller(2 * sum.high, 2 * (sum.low + (s_low + term.low + rest)));
    sum_of_two all = k == 0 ? (sum_of_two){sum.high, 0} : add_smaller(k * LOG_2, sum.high);
    sum_of_two low = fabs(k * LOG_2_LOW) > fabs(all.low) ? add_smaller(k * LOG_2_LOW, all.low)
                                                         : add_smaller(all.low, k * LOG_2_LOW);
    all = add_smaller(all.high, low.high);
    return add_smaller(all.high, all.low + (low.low + (sum.low + k * LOG_2_LOWEST)));
}

double gcor_pow(double base, double power) {
    double k;
    if (base == 0 && power > 0) return 0;
    if (!(base > 0 && base <= DBL_MAX && power > 0 && power <= DBL_MAX)) return pow(base, power);
    double m = split(base, &k);
    sum_of_two log_base = log_of_two(m - 1, k);
    if (!(fabs(power * log_base.high) < 800)) return log_base.high > 0 ? INFINITY : 0;
    sum_of_two product = multiply(power, log_base.high);
    return exp_of(product.high, product.low + power * log_base.low);
}
