/* SIGN operands: declarations shared by the files about sign bits. Bit (k, q) of a plane is set where observation k
 * is greater than q, or less, or where both are present. coefficient.h defines the order of the bits; packing.cuh
 * defines it where all bits are packed for a tile. */
#ifndef GPUCOR_CUDA_SIGN_CUH
#define GPUCOR_CUDA_SIGN_CUH

#include "product.cuh"

/* Bit planes of some variables in pieces (product.cuh): greater, less, present; NULL if the product's mode does not
 * need one. Bits after the last one are zero. */
struct Planes {
    int64_t pieces, stride;
    unsigned char *plane[3];
    int *ones_greater, *ones_untied; /* number of bits set per variable: in the first plane, and in the first two */
};

/* ---- prepare/sign_planes.cu ------------------------------------------------------------------ */

/* Packs bits first .. first+bits-1 of n_var variables with the given scores. mode: TIED or COMMON, which says which
 * planes to make. */
void open_planes(gcor_state *state, ProductMode mode, const float *scores, int64_t n_obs, int64_t n_var, int64_t first,
                 int64_t bits, const Planes &planes);

/* Packs all bits into group_pieces() pieces (packing.cuh); mode: UNTIED or TIED. */
void open_all_planes(gcor_state *state, ProductMode mode, const float *scores, int64_t n_obs, int64_t n_var,
                     const Planes &planes);

/* ---- sign.cu ------------------------------------------------------------------------------------ */

/* Number of pieces of a plane with all bits. */
int64_t sign_pieces(int64_t n_obs);
/* Number of planes that the product needs. */
inline int planes_of(ProductMode mode) {
    return (int)mode - UNTIED + 1;
}
/* Allocates planes for `pieces` pieces of n_var variables. */
Planes reserve_planes(OpenedPlanes &packed, ProductMode mode, int64_t n_var, int64_t pieces);
/* The side from variable `var` on; its planes begin `skipped` variables before. */
ProductSide sign_side(const Operand &operand, int64_t var, const Planes &planes, int64_t skipped);

#endif
