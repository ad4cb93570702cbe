/* Arithmetic rounds as the engine assumes, whatever the compiler flags: base/rounding.h. */
#include "check.h"
#include "fixture.h"

#include "../../src/gpucor.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { N = 64 };

/* (1 + 2^-30)^2 - (1 + 2^-29): 0 if the product is rounded before the sum, 2^-60 if they are fused. */
static const double FACTOR = 1 + 0x1p-30, LESS = -(1 + 0x1p-29);

static __attribute__((noinline)) void multiply_and_add(const double *a, const double *b, const double *c, double *out) {
    for (int k = 0; k < N; k++) out[k] = a[k] * b[k] + c[k];
}

static __attribute__((noinline)) void multiply_and_add_floats(const float *a, const float *b, const float *c,
                                                              float *out) {
    for (int k = 0; k < N; k++) out[k] = a[k] * b[k] + c[k];
}

static void round_twice(void) {
    double a[N], c[N], out[N];
    float a_float[N], c_float[N], out_float[N];
    for (int k = 0; k < N; k++) {
        a[k] = FACTOR, c[k] = LESS;
        a_float[k] = 1 + 0x1p-13f, c_float[k] = -(1 + 0x1p-12f);
    }
    multiply_and_add(a, a, c, out);
    multiply_and_add_floats(a_float, a_float, c_float, out_float);
    for (int k = 0; k < N; k++) {
        CHECK(out[k] == 0);
        CHECK(out_float[k] == 0);
    }
}

static void round_once(void) {
    volatile double a = FACTOR, c = LESS;
    volatile float a_float = 1 + 0x1p-13f, c_float = -(1 + 0x1p-12f);
    CHECK(gcor_fma(a, a, c) == 0x1p-60);
    CHECK(fmaf(a_float, a_float, c_float) == 0x1p-26f);
}

/* A double with random bits. */
static double random_double(void) {
    uint64_t bits = (uint64_t)unit_random(INT32_MAX) << 33 ^ (uint64_t)unit_random(INT32_MAX) << 16 ^
                    (uint64_t)unit_random(INT32_MAX);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* A product and a term that nearly cancels it, is far below its digits, is subnormal, or is too large. */
static void set_random(double *a, double *b, double *c) {
    double fraction[] = {frexp(random_double(), &(int){0}), frexp(random_double(), &(int){0})};
    *a = random_double(), *b = random_double(), *c = random_double();
    if (unit_random(4) == 0 || !isfinite(fraction[0]) || !isfinite(fraction[1])) return;
    *a = fraction[0], *b = fraction[1];
    *c = ldexp(frexp(*c, &(int){0}), 54 - (int)unit_random(180));
    if (unit_random(3) == 0) *c = -*a * *b * (1 + (double)unit_random(3) * 0x1p-52);
    if (unit_random(3) == 0) *a = ldexp(*a, -530), *b = ldexp(*b, -490 - (int)unit_random(70)), *c = ldexp(*c, -1020);
}

/* Compared with the processor's instruction if there is one, otherwise with the C library. */
static void round_once_by_integers(void) {
    volatile double tiny = 0x1p-1074, half = 0.5;
    unit_seed(5);
    CHECK(gcor_integer_fma(FACTOR, FACTOR, LESS) == 0x1p-60);
    CHECK(gcor_integer_fma(tiny, half, 0) == 0 && gcor_integer_fma(3 * tiny, half, 0) == 2 * tiny);
    CHECK(gcor_integer_fma(tiny, half, tiny) == 2 * tiny && gcor_integer_fma(tiny, half, -3 * tiny) == -2 * tiny);
    CHECK(signbit(gcor_integer_fma(-tiny, half, 0)) && !signbit(gcor_integer_fma(-1, 1, 1)));
    CHECK(isinf(gcor_integer_fma(DBL_MAX, 2, -DBL_MAX * half)) && gcor_integer_fma(DBL_MAX, 2, -DBL_MAX) == DBL_MAX);
    for (int k = 0; k < 1000000; k++) {
        double a, b, c;
        set_random(&a, &b, &c);
        double found = gcor_integer_fma(a, b, c), expected = gcor_runtime_fma(a, b, c);
        unit_about("%a * %a + %a", a, b, c);
        CHECK((isnan(found) && isnan(expected)) || memcmp(&found, &expected, sizeof found) == 0);
    }
    unit_about("%s", "");
}

static void keep_special_values(void) {
    volatile double zero = 0, tiny = 0x1p-1074;
    double missing = zero / zero;
    CHECK(missing != missing && isnan(missing));
    CHECK(tiny / 2 == 0 && tiny * 2 == 0x1p-1073);
}

const unit_test rounding_tests[] = {{"a product and a sum round twice", round_twice},
                                    {"a fused product and sum round once", round_once},
                                    {"the same by integers", round_once_by_integers},
                                    {"NaN and denormal numbers stay", keep_special_values},
                                    {NULL, NULL}};
