/* Step 3: the tensor cores, in the simplest way. A warp has 16 x 8 pairs, and each lane reads the words of its part
 * of the fragments from global memory. The bound is these six reads per product, not the product. */
#include "fragments.cuh"

enum { WARPS = 8, COL_WARPS = 4, BLOCK_ROWS = WARPS / COL_WARPS * 16, BLOCK_COLS = COL_WARPS * 8 };

static __global__ void mma_pairs(const __grid_constant__ Problem p) {
    int warp = threadIdx.x / 32, g = threadIdx.x % 32 / 4, t = threadIdx.x % 4, common[4] = {};
    int i = blockIdx.x * BLOCK_ROWS + warp / COL_WARPS * 16, j = blockIdx.y * BLOCK_COLS + warp % COL_WARPS * 8;
    const unsigned *high = p.rows.words + (size_t)(i + g) * p.n_words + t, *low = high + 8 * (size_t)p.n_words;
    const unsigned *col = p.cols.words + (size_t)(j + g) * p.n_words + t;
    for (int w = 0; w < p.n_words; w += 8) {
        unsigned rows[4] = {high[w], low[w], high[w + 4], low[w + 4]};
        multiply_add(common, rows, col[w], col[w + 4]);
    }
    store_fragment(p, i, j, common);
}

void multiply_mma(const Problem &p) {
    mma_pairs<<<grid_of(p, BLOCK_ROWS, BLOCK_COLS), WARPS * 32>>>(p);
}
