/* Soft thresholding: converts a coefficient to a similarity, and that to a power. */
#pragma once

#include "../base/elementary.h"
#include "../base/triangle.h"

#include <math.h>

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
