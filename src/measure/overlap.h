/* Topological overlap: how strongly two variables share neighbors (Zhang and Horvath 2005). A run of coefficients makes
 * the matrix of adjacencies; the overlaps are a product of its columns. If the matrix does not fit the memory, two
 * slabs of it are kept at a time, each the columns of some variables, and coefficients are computed again for each pair
 * of slabs, which takes little time compared with the product of slabs. */
#pragma once

#include "../base/elementary.h"
#include "../base/triangle.h"

#include <math.h>

GCOR_BEGIN_C

/* ---- soft thresholding: converts a coefficient to a similarity, and that to a power ----------------------------- */

typedef enum { GCOR_UNSIGNED, GCOR_SIGNED, GCOR_HYBRID } gcor_similarity; /* |r|, (1 + r) / 2, max(r, 0) */

GCOR_INLINE double gcor_base(gcor_similarity similarity, double r) {
    return similarity == GCOR_UNSIGNED ? fabs(r) : similarity == GCOR_SIGNED ? (1 + r) / 2 : r > 0 ? r : 0;
}

/* True if base^power is computed by multiplication: small integers, as the steps from one power to the next mostly
 * are, and halves. */
GCOR_INLINE int gcor_is_multiplied(double power) {
    return power >= 0 && power <= 32 && 2 * power == (double)(int)(2 * power);
}

/* base^power. A square root is rounded alike on every back end, unlike a GPU's pow(). */
GCOR_INLINE double gcor_power(double base, double power) {
#ifdef __CUDA_ARCH__
    if (!gcor_is_multiplied(power)) return pow(base, power);
#else
    if (!gcor_is_multiplied(power)) return gcor_pow(base, power);
#endif
    double value = power == (double)(int)power ? 1 : sqrt(base);
    for (int p = (int)power; p > 0; p--) value *= base;
    return value;
}

/* ---- adjacencies and their overlap ---------------------------------------------------------------------- */

/* Defines the adjacency of two variables, and their overlap. */
typedef struct gcor_overlap_rule {
    gcor_similarity similarity;
    double power;
    int keeps_sign;       /* |r|^power with the sign of r, whatever `similarity` is; the overlap's absolute value */
    int is_halved;        /* the overlap is the mean of the adjacency and the fraction of shared neighbors */
    int is_mean;          /* the fraction is relative to the mean of both connectivities, not to the smaller one */
    int replaces_missing; /* a pair without a coefficient has the adjacency 0; otherwise it is an error */
} gcor_overlap_rule;

/* Smaller adjacencies count as 0, so that products are normal numbers in single precision. They are below the rounding
 * errors of all sums, except in a quotient of such numbers alone, which is_halved has. */
GCOR_INLINE double gcor_min_adjacency(const gcor_overlap_rule *rule) {
    return rule->is_halved ? 0 : 0x1p-60;
}

/* Returns the adjacency of a coefficient; 0 for a missing one. */
GCOR_INLINE double gcor_adjacency_of(const gcor_overlap_rule *rule, double r) {
    double base = rule->keeps_sign ? fabs(r) : gcor_base(rule->similarity, r);
    double a = r <= 1 ? gcor_power(base, rule->power) : 0;
    if (a < gcor_min_adjacency(rule)) a = 0;
    return rule->keeps_sign && r < 0 ? -a : a;
}

/* shared: the sum over all other variables of the products of their adjacencies with these two; a: the adjacency of
 * these two; connectivity: each one's sum of absolute adjacencies. */
GCOR_INLINE double gcor_overlap_of(const gcor_overlap_rule *rule, double shared, double a, double connectivity,
                                   double other_connectivity) {
    double size = fabs(a), all = connectivity < other_connectivity ? connectivity : other_connectivity;
    if (rule->is_mean) all = (connectivity + other_connectivity) / 2;
    double others = all - size, value = (shared + a) / (others + 1);
    if (rule->is_halved) value = (a + (others > 0 ? shared / others : 0)) / 2;
    if (rule->keeps_sign) value = fabs(value);
    return value > 1 ? 1 : value < -1 ? -1 : value;
}

GCOR_END_C
