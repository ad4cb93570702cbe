/* SIGN operands: what the files about sign bits share. Bit (k, q) of a plane is set where
 * observation k is greater than q, or less, or where both are present. Which bit that is coefficient.h has, or, where
 * all bits of a tile are opened for it, packing.cuh. */
#ifndef GPUCOR_CUDA_SIGN_CUH
#define GPUCOR_CUDA_SIGN_CUH

#include "product.cuh"

/* Bits of some variables in pieces (product.cuh): greater, less, present; those that a product of the
 * mode wants. Beyond the last bit zero. */
struct Planes {
    int64_t pieces, stride;
    unsigned char *plane[3];
    int *ones_greater, *ones_untied; /* bits set, per variable: of the first plane, and of the first two */
};

/* ---- prepare/sign_planes.cu ------------------------------------------------------------------ */

/* Bits first .. first+bits-1 of n_var variables whose scores are given. mode: which planes to make, TIED or COMMON. */
void open_planes(gcor_state *state, ProductMode mode, const float *scores, int64_t n_obs, int64_t n_var, int64_t first,
                 int64_t bits, const Planes &planes);

/* All bits, in group_pieces() pieces (packing.cuh): UNTIED or TIED. */
void open_all_planes(gcor_state *state, ProductMode mode, const float *scores, int64_t n_obs, int64_t n_var,
                     const Planes &planes);

/* ---- sign.cu ------------------------------------------------------------------------------------ */

/* Pieces of a plane of all bits. */
int64_t sign_pieces(int64_t n_obs);
/* How many planes the product takes. */
inline int planes_of(ProductMode mode) {
    return (int)mode - UNTIED + 1;
}
/* Room for a part of the bits of n_var variables. */
Planes reserve_planes(OpenedPlanes &packed, ProductMode mode, int64_t n_var, int64_t pieces);
/* Variables from `var` on, whose planes begin `skipped` variables before them. */
ProductSide sign_side(const Operand &operand, int64_t var, const Planes &planes, int64_t skipped);

#endif
