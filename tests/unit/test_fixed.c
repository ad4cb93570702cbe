/* Sums that do not depend on the order of addition. */
#include "check.h"
#include "fixture.h"

#include "../../src/sink/weight.h"

#include <math.h>
#include <stdlib.h>

/* 113 bits; if this type does not exist, as on ARM, long double has them */
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 quad;
#else
typedef long double quad;
#endif

/* A random term of magnitude up to 1, including ones that are hard to split. */
static double random_term(int k) {
    double sign = unit_random(2) ? 1 : -1;
    switch (k % 6) {
    case 0: return sign;
    case 1: return sign * ldexp(unit_uniform(), -(int)unit_random(1000));
    case 2: return sign * (1 - 0x1p-53);
    case 3: return sign * (0x1p-46 + ldexp(unit_uniform(), -90)); /* half of a high part's last bit */
    case 4: return sign * ldexp(1, -(int)unit_random(120));
    default: return sign * unit_uniform();
    }
}

/* The result is within half a unit of the last bit, 2^-91, and parts are multiples of theirs. */
static void terms_are_near(void) {
    unit_seed(4);
    for (int k = 0; k < 200000; k++) {
        double term = random_term(k), high = gcor_high_part(term), low = gcor_low_part(term, high);
        quad off = ((quad)high + low) - term;
        unit_about("term %a", term);
        CHECK(high * 0x1p45 == rint(high * 0x1p45));
        CHECK(ldexp(low, 91) == rint(ldexp(low, 91)));
        CHECK((off < 0 ? -off : off) <= (quad)0x1p-92);
        CHECK(fabs(low) <= 0x1p-46);
    }
}

static gcor_int128 fixed_of(double term) {
    double high = gcor_high_part(term);
    return gcor_fixed(high, gcor_low_part(term, high));
}

/* The sum of n terms in the given order, in parts of up to GCOR_EXACT_TERMS. */
static gcor_int128 sum_in_parts(const double *terms, int n, const int *order) {
    gcor_int128 sum = 0;
    for (int k = 0; k < n;) {
        int part = 1 + (int)unit_random(GCOR_EXACT_TERMS);
        double high = 0, low = 0;
        for (; part > 0 && k < n; part--, k++) {
            double own = gcor_high_part(terms[order[k]]);
            high += own;
            low += gcor_low_part(terms[order[k]], own);
        }
        sum += gcor_fixed(high, low);
    }
    return sum;
}

static void sums_have_no_order(void) {
    enum { N = 3000 };
    double *terms = malloc(N * sizeof *terms);
    unit_seed(5);
    for (int round = 0; round < 200; round++) {
        gcor_int128 exact = 0;
        unit_about("round %d", round);
        for (int k = 0; k < N; k++) {
            terms[k] = round == 0 ? 1 : round == 1 ? -1 + 0x1p-50 : random_term(round < 8 ? round : k);
            exact += fixed_of(terms[k]);
        }
        for (int again = 0; again < 2; again++) {
            int *order = unit_permutation(N);
            CHECK(sum_in_parts(terms, N, order) == exact);
            free(order);
        }
    }
    free(terms);
}

/* As many of the largest terms as weight.h promises. */
static void most_terms_fit(void) {
    double low = gcor_low_part(1 - 0x1p-46, gcor_high_part(1 - 0x1p-46));
    for (int sign = -1; sign <= 1; sign += 2) {
        double high = sign * (double)GCOR_EXACT_TERMS;
        gcor_int128 part = gcor_fixed(high, 0), sum = part * (((gcor_int128)1 << 35) / GCOR_EXACT_TERMS);
        CHECK(part == sign * ((gcor_int128)GCOR_EXACT_TERMS << 91));
        CHECK(sum / sign > 0);
        CHECK(gcor_fixed_value(sum) == sign * 0x1p35);
        CHECK(gcor_fixed(0, sign * GCOR_EXACT_TERMS * low) == sign * GCOR_EXACT_TERMS * gcor_fixed(0, low));
    }
}

/* The sum as a number, to double precision. */
static void values_are_sums(void) {
    unit_seed(6);
    for (int round = 0; round < 200; round++) {
        gcor_int128 sum = 0;
        quad expected = 0;
        int n = 1 + (int)unit_random(5000);
        for (int k = 0; k < n; k++) {
            double term = unit_uniform();
            sum += fixed_of(term);
            expected += term;
        }
        CHECK_NEAR(gcor_fixed_value(sum), (double)expected, (double)expected * 0x1p-53 + n * 0x1p-92);
    }
}

const unit_test fixed_tests[] = {
    {"a term is off by half of the last bit at most", terms_are_near},
    {"sums are the same in every order and in any parts", sums_have_no_order},
    {"the most terms that are promised fit", most_terms_fit},
    {"a sum's value is that of a sum in quadruple precision", values_are_sums},
    {NULL, NULL},
};
