/* Arithmetic that rounds as the engine's files assume, in whatever way they were compiled: core/rounding.h. */
#include "check.h"

#include "../../src/core/gpucor.h"

#include <math.h>

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
    CHECK(fma(a, a, c) == 0x1p-60);
    CHECK(fmaf(a_float, a_float, c_float) == 0x1p-26f);
}

static void keep_special_values(void) {
    volatile double zero = 0, tiny = 0x1p-1074;
    double missing = zero / zero;
    CHECK(missing != missing && isnan(missing));
    CHECK(tiny / 2 == 0 && tiny * 2 == 0x1p-1073);
}

const unit_test rounding_tests[] = {{"a product and a sum round twice", round_twice},
                                    {"fma() rounds once", round_once},
                                    {"NaN and denormal numbers stay", keep_special_values},
                                    {NULL, NULL}};
