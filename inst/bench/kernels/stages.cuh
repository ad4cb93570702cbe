/* Pieces of variables in shared memory, 128 bytes each. 16-byte chunk c of variable v is at position c ^ (v & 7), so
 * that the same chunk of eight variables is spread over all banks; Hopper's instructions read this pattern. The
 * package stores columns in this order before multiplication (src/cuda/product/product.cuh); here the copies create
 * it. */
#pragma once

#include "stairs.cuh"

#include <cuda_pipeline_primitives.h>

enum { VAR_BYTES = PIECE_BITS / 8, CHUNK_BYTES = 16, CHUNKS = VAR_BYTES / CHUNK_BYTES };
enum { STEPS = CHUNKS / 2 }; /* products of 256 bits in a piece */

inline __device__ int position(int var, int chunk) {
    return var * VAR_BYTES + (chunk ^ (var & 7)) * CHUNK_BYTES;
}

/* Starts to copy a piece of n variables from `var` on; called by all threads of a block. */
inline __device__ void load_side(const Side &side, int n_words, int var, int n, int piece, unsigned char *shared) {
    for (int e = threadIdx.x; e < n * CHUNKS; e += blockDim.x) {
        int v = e / CHUNKS, c = e % CHUNKS;
        const unsigned *from = side.words + (size_t)(var + v) * n_words + piece * WORDS_OF_PIECE + c * 4;
        __pipeline_memcpy_async(shared + position(v, c), from, CHUNK_BYTES);
    }
}
