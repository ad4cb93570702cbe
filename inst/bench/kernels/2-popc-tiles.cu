/* Step 2: a block has 64 x 64 pairs, whose variables' words pass through shared memory 32 at a time; a thread has 4
 * x 4 pairs in registers. For 8 words read it counts 16 times, and counting is now the bound: 16 counts per cycle
 * and multiprocessor. */
#include "stairs.cuh"

enum { TILE = 64, OWN = 4, THREADS = (TILE / OWN) * (TILE / OWN), STAGE_WORDS = 32 };
enum {
    STRIDE = TILE + 4
}; /* variables are written across the banks, and 16 bytes of four variables are read at once */

/* [word][variable], so that a thread's four variables are adjacent. */
struct Tile {
    __align__(16) unsigned word[STAGE_WORDS][STRIDE];
};

static __device__ void load_tile(const Side &side, int n_words, int var, int word, Tile &tile) {
    for (int e = threadIdx.x; e < TILE * STAGE_WORDS; e += THREADS) {
        int v = e / STAGE_WORDS, w = e % STAGE_WORDS;
        tile.word[w][v] = side.words[(size_t)(var + v) * n_words + word + w];
    }
}

static __device__ void count_tile(const Tile &rows, const Tile &cols, int row, int col, int (&common)[OWN][OWN]) {
#pragma unroll 8
    for (int w = 0; w < STAGE_WORDS; w++) {
        uint4 a4 = *(const uint4 *)&rows.word[w][row], b4 = *(const uint4 *)&cols.word[w][col];
        unsigned a[OWN] = {a4.x, a4.y, a4.z, a4.w}, b[OWN] = {b4.x, b4.y, b4.z, b4.w};
#pragma unroll
        for (int r = 0; r < OWN; r++)
#pragma unroll
            for (int c = 0; c < OWN; c++) common[r][c] += __popc(a[r] & b[c]);
    }
}

static __global__ void __launch_bounds__(THREADS) popc_tiles(const __grid_constant__ Problem p) {
    __shared__ Tile rows, cols;
    int row = threadIdx.x / (TILE / OWN) * OWN, col = threadIdx.x % (TILE / OWN) * OWN, common[OWN][OWN] = {};
    for (int word = 0; word < p.n_words; word += STAGE_WORDS) {
        __syncthreads(); /* the last words have been read */
        load_tile(p.rows, p.n_words, blockIdx.x * TILE, word, rows);
        load_tile(p.cols, p.n_words, blockIdx.y * TILE, word, cols);
        __syncthreads();
        count_tile(rows, cols, row, col, common);
    }
    for (int r = 0; r < OWN; r++)
        for (int c = 0; c < OWN; c++) store(p, blockIdx.x * TILE + row + r, blockIdx.y * TILE + col + c, common[r][c]);
}

void multiply_popc_tiles(const Problem &p) {
    popc_tiles<<<grid_of(p, TILE, TILE), THREADS>>>(p);
}
