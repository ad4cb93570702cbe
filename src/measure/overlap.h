/* Topological overlap: how strongly two variables share neighbors (Zhang and Horvath 2005). The adjacencies are powers
 * of coefficients; engine/overlap.c multiplies them. */
#ifndef GPUCOR_OVERLAP_H
#define GPUCOR_OVERLAP_H

#include "similarity.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an adjacency is, and what becomes of those of two variables. */
typedef struct gcor_overlap_rule {
    gcor_similarity similarity;
    double power;
    int keeps_sign;       /* |r|^power with the sign of r, whatever `similarity` is */
    int is_absolute;      /* the size of the overlap counts */
    int is_halved;        /* the mean of the adjacency and of the part of the neighbours that is shared */
    int is_mean;          /* the mean of both connectivities, not the smaller one, is what that is a part of */
    int replaces_missing; /* a pair without a coefficient has the adjacency 0; otherwise it is an error */
} gcor_overlap_rule;

/* Below it is 0: products of larger ones are ordinary numbers in single precision. It is less than all sums' roundings,
 * but where a quotient is of such numbers alone. */
GCOR_INLINE double gcor_min_adjacency(const gcor_overlap_rule *rule) {
    return rule->is_halved ? 0 : 0x1p-60;
}

/* Of a coefficient, or of what stands for none: 0. */
GCOR_INLINE double gcor_adjacency_of(const gcor_overlap_rule *rule, double r) {
    double base = rule->keeps_sign ? fabs(r) : gcor_base(rule->similarity, r);
    double a = r <= 1 ? gcor_power(base, rule->power) : 0;
    if (a < gcor_min_adjacency(rule)) a = 0;
    return rule->keeps_sign && r < 0 ? -a : a;
}

/* shared: the sum over all others of the products of their adjacencies with the two; a: that of the two; the sums of
 * the sizes of each one's. */
GCOR_INLINE double gcor_overlap_of(const gcor_overlap_rule *rule, double shared, double a, double connectivity,
                                   double other_connectivity) {
    double size = fabs(a), all = connectivity < other_connectivity ? connectivity : other_connectivity;
    if (rule->is_mean) all = (connectivity + other_connectivity) / 2;
    double others = all - size, value = (shared + a) / (others + 1);
    if (rule->is_halved) value = (a + (others > 0 ? shared / others : 0)) / 2;
    if (rule->is_absolute) value = fabs(value);
    return value > 1 ? 1 : value < -1 ? -1 : value;
}

#ifdef __cplusplus
}
#endif
#endif
