/* Step 1: one thread per pair, straight from global memory. The bound is not the counting: the 32 threads of a warp
 * share a row, but read words of 32 columns that are far apart. */
#include "stairs.cuh"

enum { BLOCK_ROWS = 8, BLOCK_COLS = 32 };

static __global__ void popc_pairs(const __grid_constant__ Problem p) {
    int i = blockIdx.x * BLOCK_ROWS + threadIdx.y, j = blockIdx.y * BLOCK_COLS + threadIdx.x, common = 0;
    const unsigned *row = p.rows.words + (size_t)i * p.n_words, *col = p.cols.words + (size_t)j * p.n_words;
    for (int w = 0; w < p.n_words; w++) common += __popc(row[w] & col[w]);
    store(p, i, j, common);
}

void multiply_popc(const Problem &p) {
    popc_pairs<<<grid_of(p, BLOCK_ROWS, BLOCK_COLS), dim3(BLOCK_COLS, BLOCK_ROWS)>>>(p);
}
