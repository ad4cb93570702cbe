/* Sums that do not depend on the order of addition: fixed-point numbers with 91 fractional bits, in 128 bits. A term
 * of magnitude up to 1 is split into two doubles that are multiples of 2^-45 and of 2^-91. Up to 256 of either kind
 * add up without rounding, in vectors or across a warp, before conversion to fixed point. The error of a term is at
 * most 2^-92, and 2^35 terms fit. */
#ifndef GPUCOR_FIXED_H
#define GPUCOR_FIXED_H

#include "../base/triangle.h"

enum { GCOR_EXACT_TERMS = 256, GCOR_FIXED_BITS = 91 };

/* Adding and subtracting a number whose last bit is worth 2^-45 (2^-91) rounds to multiples of that. Also for vectors.
 */
#define GCOR_HIGH_PART(term) (((term) + 0x1.8p7) - 0x1.8p7)
#define GCOR_LOW_PART(term, high) ((((term) - (high)) + 0x1.8p-39) - 0x1.8p-39)
GCOR_INLINE double gcor_high_part(double term) {
    return GCOR_HIGH_PART(term);
}
GCOR_INLINE double gcor_low_part(double term, double high) {
    return GCOR_LOW_PART(term, high);
}

/* Converts sums of high and of low parts to one fixed-point number. */
GCOR_INLINE gcor_int128 gcor_fixed(double high, double low) {
    return (gcor_int128)(int64_t)(high * 0x1p45) * ((gcor_int128)1 << 46) + (int64_t)(low * 0x1p91);
}

GCOR_INLINE double gcor_fixed_value(gcor_int128 sum) {
    return (double)sum * 0x1p-91;
}

#endif
