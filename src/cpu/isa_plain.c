/* Any machine: vectors of 16 bytes, which all common processors have. */
#define ISA plain
#define BYTES 16
#define COUNT uint8_t
#define IS_FUSED 0
#define REAL_ROWS 2
#define REAL_VECTORS 4
#define UNTIED_ROWS 1
#define TIED_ROWS 1
#define COMMON_ROWS 1
#define DOT_PAIRS 4
#define DOT_VECTORS 2
#define CHUNK 31
#define NS_WORD 0.5
#define NS_PACK 100
#include "vectors.h"

INLINE double_vec fuse(double_vec a, double_vec b, double_vec c) {
    return (double_vec){gcor_fma(a[0], b[0], c[0]), gcor_fma(a[1], b[1], c[1])};
}
#define FUSE fuse
INLINE double_vec smaller(double_vec x, double_vec y) {
    return (double_vec){x[0] < y[0] ? x[0] : y[0], x[1] < y[1] ? x[1] : y[1]};
}
#define SMALLER smaller
#define ROOT(x) ((double_vec){sqrt((x)[0]), sqrt((x)[1])})
#define WIDE(x) ((double_vec){(x)[0], (x)[1]})
#define NARROW(x, out) ((out)[0] = (float)(x)[0], (out)[1] = (float)(x)[1])
#define LOW WIDE
#define HIGH(x) ((double_vec){(x)[2], (x)[3]})

#define COMPARED 1
#define GREATER(x, y) (*(x) > *(y))
#define UNTIED(x, y) (*(x) > *(y) || *(x) < *(y))
#define PRESENT(x, y) (*(x) == *(x) && *(y) == *(y))

/* Counts the bits of each byte, by pairs, nibbles and bytes. */
INLINE count_vec count_bits(word_vec x) {
    x -= (x >> 1) & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + ((x >> 2) & 0x3333333333333333u);
    return (count_vec)((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu);
}
#define COUNT_BITS count_bits

/* Sums bytes to 16-bit pairs; the multiplication adds these up in the highest 16 bits. */
INLINE word_vec widen(count_vec counts) {
    word_vec x = (word_vec)counts;
    x = (x & 0x00ff00ff00ff00ffu) + ((x >> 8) & 0x00ff00ff00ff00ffu);
    return (x * 0x0001000100010001u) >> 48;
}
#define WIDEN widen

#include "float_sums.h"
#include "kernels_of_isa.h"
