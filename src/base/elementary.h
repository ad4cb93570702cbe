/* Elementary functions with the same bits on every system: only sums, products, quotients and bit operations, none
 * fused except by gcor_fma() (rounding.h). The system's own functions differ in their last bits. Errors are in units
 * in the last place, against long double (tests/unit/test_elementary.c). */
#ifndef GPUCOR_ELEMENTARY_H
#define GPUCOR_ELEMENTARY_H

#ifdef __cplusplus
extern "C" {
#endif

/* Natural logarithms of x and of 1 + x; max error 1. -Inf and NaN as in C. */
double gcor_log(double x);
double gcor_log1p(double x);

/* e^x; max error 1.1, twice that for denormal results. */
double gcor_exp(double x);

/* Complementary error function of x >= 0; max error 5. */
double gcor_erfc(double x);

/* base^power; max error 1.1 for base >= 0 and power > 0, both finite; otherwise C's pow(). */
double gcor_pow(double base, double power);

#ifdef __cplusplus
}
#endif
#endif
