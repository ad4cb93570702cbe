/* Doubles as whole numbers in their order, so that digits and bins of bits sort them. */
#ifndef GPUCOR_KEY_H
#define GPUCOR_KEY_H

#include <stdint.h>
#include <string.h>

/* Of a value that is neither NaN nor -0. */
static inline uint64_t gcor_key(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static inline double gcor_key_value(uint64_t key) {
    uint64_t bits = key >> 63 ? key & ~((uint64_t)1 << 63) : ~key;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
