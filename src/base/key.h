/* Maps doubles to integers of the same order, for sorting and binning by bits. */
#ifndef GPUCOR_KEY_H
#define GPUCOR_KEY_H

#include <stdint.h>
#include <string.h>

/* The value must be neither NaN nor -0. */
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
