/* From a coefficient to a similarity, and to a power of it: what a soft threshold makes of a pair. */
#ifndef GPUCOR_SIMILARITY_H
#define GPUCOR_SIMILARITY_H

#include "../base/elementary.h"
#include "../base/triangle.h"

#include <math.h>

typedef enum { GCOR_UNSIGNED, GCOR_SIGNED, GCOR_HYBRID } gcor_similarity; /* |r|, (1 + r) / 2, max(r, 0) */

GCOR_INLINE double gcor_base(gcor_similarity similarity, double r) {
    return similarity == GCOR_UNSIGNED ? fabs(r) : similarity == GCOR_SIGNED ? (1 + r) / 2 : r > 0 ? r : 0;
}

/* Whether base^power is multiplied out: small whole numbers, as the steps from one power to the next mostly are, and
 * halves. */
GCOR_INLINE int gcor_is_multiplied(double power) {
    return power <= 32 && 2 * power == (double)(int)(2 * power);
}

/* base^power; a root rounds alike on every back end, as a GPU's pow() does not. */
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

#endif
