/* Elementary functions (base/elementary.h): errors, and the same bits on every system. */
#include "check.h"
#include "fixture.h"

#include "../../src/base/elementary.h"
#include "../../src/sink/adjacency.h"

#include <float.h>
#include <math.h>

enum { N = 20000, COMPARED = 5000 };

/* Difference in units in the last place of `exact`. */
static double error_of(double value, long double exact) {
    int exponent;
    if (exact == 0 || value != value) return value == 0 ? 0 : INFINITY;
    frexpl(exact, &exponent);
    return (double)(fabsl(value - exact) / ldexpl(1, exponent - DBL_MANT_DIG));
}

#define CHECK_ERROR(max, value, exact) \
    do { \
        double error = error_of(value, exact); \
        if (!(error <= (max))) unit_fail(__FILE__, __LINE__, #value " is wrong by %g units, x is %.17g", error, x); \
    } while (0)

static void near_exact(void) {
    unit_seed(31);
    for (int k = 0; k < COMPARED && LDBL_MANT_DIG > DBL_MANT_DIG; k++) {
        double u = unit_uniform(), x = u * ldexp(1, (int)(2000 * unit_uniform()) - 1000),
               power = 300 * unit_uniform() * unit_uniform();
        if (x > 0) CHECK_ERROR(1, gcor_log(x), logl(x));
        x = 0.5 + u;
        CHECK_ERROR(1, gcor_log(x), logl(x));
        x = -u * unit_uniform() * unit_uniform() * 0.9999;
        CHECK_ERROR(1, gcor_log1p(x), log1pl(x));
        x = 1e6 * u * unit_uniform() * unit_uniform();
        CHECK_ERROR(1, gcor_log1p(x), log1pl(x));
        x = 1416 * (u - 0.5);
        CHECK_ERROR(1.1, gcor_exp(x), expl(x));
        CHECK_ERROR(1.1, gcor_exp(x / 1000), expl(x / 1000));
        x = 26.2 * u;
        CHECK_ERROR(5, gcor_erfc(x), erfcl(x));
        CHECK_ERROR(5, gcor_erfc(x / 20), erfcl(x / 20));
        x = u;
        if (x > 0 && powl(x, power) > 1e-300L) CHECK_ERROR(1.1, gcor_pow(x, power), powl(x, power));
        x = 1 - u / 100;
        CHECK_ERROR(1.1, gcor_pow(x, 100 * power), powl(x, 100 * power));
    }
}

/* The logarithm without branches has the bits of the one with. */
static void without_branches(void) {
    unit_seed(32);
    for (int k = 0; k < N; k++) {
        double u = unit_uniform(), y = k % 2 ? u : 1 - u * ldexp(1, (int)(-50 * unit_uniform()));
        double a = gcor_log1p(-y), b = gcor_log_of_rest(y);
        if (y < 1 && memcmp(&a, &b, sizeof a) != 0) unit_fail(__FILE__, __LINE__, "log(1 - %.17g) differs", y);
    }
    CHECK(gcor_log_of_rest(0) == 0 && gcor_log_of_rest(1 - 0x1p-53) == gcor_log1p(0x1p-53 - 1));
}

static void special_values(void) {
    CHECK(gcor_log(1) == 0 && gcor_log(0) == -INFINITY && isnan(gcor_log(-1)) && gcor_log(INFINITY) == INFINITY);
    CHECK(gcor_log(0x1p-1074) < -744.4 && gcor_log(0x1p-1074) > -744.5);
    CHECK(gcor_log1p(0) == 0 && gcor_log1p(-1) == -INFINITY && gcor_log1p(1e-300) == 1e-300 && isnan(gcor_log1p(-2)));
    CHECK(gcor_exp(0) == 1 && gcor_exp(-800) == 0 && gcor_exp(800) == INFINITY && gcor_exp(-744) == 0x1p-1073);
    CHECK(gcor_erfc(0) == 1 && gcor_erfc(28) == 0);
    CHECK(gcor_pow(0, 2.3) == 0 && gcor_pow(1, 2.3) == 1 && gcor_pow(2, 3) == 8 && gcor_pow(0.5, 2000) == 0);
    CHECK(isnan(gcor_exp(NAN)) && isnan(gcor_log(NAN)) && isnan(gcor_log1p(NAN)) && isnan(gcor_pow(NAN, 2)));
}

/* Hashes the bits of results over the whole range with FNV-1a. */
static void same_bits(void) {
    uint64_t hash = 14695981039346656037u;
    for (int k = 1; k < N; k++) {
        double x = k / 20001.0;
        const double value[] = {gcor_log(x),      gcor_log(x * 1e200), gcor_log1p(-x),       gcor_exp(-700 * x),
                                gcor_exp(x / 10), gcor_erfc(26 * x),   gcor_pow(x, 7.3 + x), gcor_pow(x, 0.2)};
        for (int v = 0; v < 8; v++) hash = (hash ^ gcor_bits_of(value[v])) * 1099511628211u;
    }
    CHECK(hash == 0xdea8b60434348935u ||
          unit_fail(__FILE__, __LINE__, "the digest is 0x%llx", (unsigned long long)hash));
}

/* ---- powers of similarities ------------------------------------------------------------------------- */

/* Powers that no integer has are not converted to one, which -fsanitize=float-cast-overflow finds. */
static void powers_of_any_size(void) {
    static const double powers[] = {0.25, 0.5, 1, 2.5, 12, 32, 32.5, 33, 1e10, 1e300};
    const double r[] = {0.75, -0.999};
    for (size_t p = 0; p < sizeof powers / sizeof *powers; p++) {
        const gcor_overlap_rule rule = {.similarity = GCOR_UNSIGNED, .power = powers[p]};
        unit_call call;
        gcor_adjacency *of;
        unit_call_begin(&call, 1);
        unit_about("power %g", powers[p]);
        CHECK_INT(gcor_adjacency_new(&call.context, &rule, GCOR_UPPER, 3, 0, 3, 1, &of), GCOR_OK);
        const gcor_segment segment = {.row = 0, .col = 1, .n = 2, .doubles = r};
        CHECK_INT(of->sink.type->take(&of->sink, &call.context, 0, &segment), GCOR_OK);
        for (int k = 0; k < 2; k++) {
            const double a = pow(fabs(r[k]), powers[p]), expected = a < 0x1p-60 ? 0 : a;
            CHECK_NEAR(gcor_adjacency_row(of, 0, 0)[1 + k], expected, 1e-7 * expected);
            CHECK_NEAR(gcor_power(fabs(r[k]), powers[p]), a, 1e-13 * a);
            if (a > 1e-300) CHECK_NEAR(gcor_power(fabs(r[k]), -powers[p]), 1 / a, 1e-13 / a);
        }
        gcor_sink_free(&of->sink);
    }
}

const unit_test elementary_tests[] = {
    {"powers of similarities, also larger than any integer", powers_of_any_size},
    {"logarithms, exponentials, erfc and powers have few wrong units", near_exact},
    {"the logarithm without branches is the same", without_branches},
    {"special values are those of C", special_values},
    {"bits are the same on every system", same_bits},
    {NULL, NULL},
};
