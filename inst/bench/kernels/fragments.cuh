/* A product of 16 x 8 pairs and 256 bits by the tensor cores of Ampere and later, and how the lanes of a warp hold it.
 * For
 * lane l with g = l / 4 and t = l % 4, where a variable has 8 words:
 *
 *   rows[0], rows[2]      words t and t + 4 of row g
 *   rows[1], rows[3]      words t and t + 4 of row g + 8
 *   col, next_col         words t and t + 4 of column g
 *   common[0], common[1]  row g,     columns 2 t and 2 t + 1
 *   common[2], common[3]  row g + 8, columns 2 t and 2 t + 1
 *
 * Any two words work that rows and columns agree on, not only t and t + 4: the sum is over all eight. */
#pragma once

#include "stairs.cuh"

inline __device__ void multiply_add(int (&common)[4], const unsigned (&rows)[4], unsigned col, unsigned next_col) {
    asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(common[0]), "+r"(common[1]), "+r"(common[2]), "+r"(common[3])
        : "r"(rows[0]), "r"(rows[1]), "r"(rows[2]), "r"(rows[3]), "r"(col), "r"(next_col));
}

/* Stores the 16 x 8 pairs from row i and column j on. */
inline __device__ void store_fragment(const Problem &p, int i, int j, const int (&common)[4]) {
    int lane = threadIdx.x % 32, row = i + lane / 4, col = j + lane % 4 * 2;
    store(p, row, col, common[0]);
    store(p, row, col + 1, common[1]);
    store(p, row + 8, col, common[2]);
    store(p, row + 8, col + 1, common[3]);
}
