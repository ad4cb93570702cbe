/* Sign bits, declared for those who pack them for a tile. Bit (k, q) of a plane is set where observation k is greater
 * than q, or less, or where both are present. coefficient.h defines the order of the bits; packing.cuh defines it where
 * all bits are packed for a tile. */
#ifndef GPUCOR_CUDA_SIGNS_CUH
#define GPUCOR_CUDA_SIGNS_CUH

#include "operand.cuh"

/* Bit planes of some variables in pieces (operand.cuh): greater, less, present; those that are not needed are NULL.
 * Bits after the last one are zero. */
struct Planes {
    int64_t pieces, stride;
    unsigned char *plane[3];
    int *ones_greater, *ones_untied; /* number of bits set per variable: in the first plane, and in the first two */
};

/* Sign bits packed for a tile. */
struct PackedPlanes {
    struct Contents {
        int64_t operand, var, n_var;
        int planes;
        bool operator==(const Contents &other) const {
            return operand == other.operand && var == other.var && n_var == other.n_var && planes == other.planes;
        }
    };
    DeviceArray<unsigned char> bits;
    DeviceArray<int> ones; /* as in Operand */
    Contents contents{};   /* what the bits hold; operand 0: a part of the bits */
    void trim() { trim_all(bits, ones); }
};

/* Number of pieces of a plane with all bits. */
int64_t sign_pieces(int64_t n_obs);
/* True if the bits of all variables are kept, which kept_planes() describes: greater and less. */
bool keeps_bits(gcor_kind kind, int64_t n_obs);
Planes kept_planes(const Operand &operand);

/* Allocates `planes` planes (1 to 3) of `pieces` pieces of n_var variables. */
Planes reserve_planes(PackedPlanes &packed, int planes, int64_t n_var, int64_t pieces);
/* Packs bits first .. first+bits-1 of n_var variables with the given scores into 2 or 3 planes. */
void pack_bits(gcor_state *state, int planes, const float *scores, int64_t n_obs, int64_t n_var, int64_t first,
               int64_t bits, const Planes &to);
/* Packs all bits into group_pieces() pieces (packing.cuh) of 1 or 2 planes. */
void pack_all_bits(gcor_state *state, int planes, const float *scores, int64_t n_obs, int64_t n_var, const Planes &to);

#endif
