/* Step 4: tensor cores that do not wait for data. A block has 128 x 128 pairs, each of its eight warps 64 x 32.
 * Pieces of its variables are copied to shared memory while earlier ones are multiplied, and read from there without
 * bank conflicts. */
#include "fragments.cuh"
#include "stages.cuh"

enum { TILE = 128, THREADS = 256, WARP_ROWS = 64, WARP_COLS = 32, M_TILES = WARP_ROWS / 16, N_TILES = WARP_COLS / 8 };
enum { STAGES = 3, SIDE_BYTES = TILE * VAR_BYTES, STAGE_BYTES = 2 * SIDE_BYTES };

/* Loads a piece of both sides; nothing beyond the last one, so that every stage is one group of copies. */
static __device__ void load_stage(const Problem &p, int piece, unsigned char *shared) {
    unsigned char *stage = shared + piece % STAGES * STAGE_BYTES;
    if (piece < p.n_words / WORDS_OF_PIECE) {
        load_side(p.rows, p.n_words, blockIdx.x * TILE, TILE, piece, stage);
        load_side(p.cols, p.n_words, blockIdx.y * TILE, TILE, piece, stage + SIDE_BYTES);
    }
    __pipeline_commit();
}

/* Loads four chunks of 8 variables each: lane l passes the address of variable l % 8 of chunk l / 8, and receives
 * word l % 4 of variable l / 4 of each chunk. */
static __device__ void load_matrices(const unsigned char *at, unsigned (&words)[4]) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"((unsigned)__cvta_generic_to_shared(at))
                 : "memory");
}

static __device__ void multiply_stage(const unsigned char *stage, int row, int col,
                                      int (&common)[M_TILES][N_TILES][4]) {
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int step = 0; step < STEPS; step++) {
        unsigned rows[4], cols[N_TILES / 2][4]; /* cols: for two products each */
#pragma unroll
        for (int n = 0; n < N_TILES / 2; n++) {
            int var = col + n * 16 + lane / 16 * 8 + lane % 8;
            load_matrices(stage + SIDE_BYTES + position(var, step * 2 + lane / 8 % 2), cols[n]);
        }
#pragma unroll
        for (int m = 0; m < M_TILES; m++) {
            load_matrices(stage + position(row + m * 16 + lane % 16, step * 2 + lane / 16), rows);
#pragma unroll
            for (int n = 0; n < N_TILES; n++)
                multiply_add(common[m][n], rows, cols[n / 2][n % 2 * 2], cols[n / 2][n % 2 * 2 + 1]);
        }
    }
}

static __global__ void __launch_bounds__(THREADS) mma_stages(const __grid_constant__ Problem p) {
    extern __shared__ __align__(16) unsigned char shared[];
    int warp = threadIdx.x / 32, row = warp / 4 * WARP_ROWS, col = warp % 4 * WARP_COLS;
    int common[M_TILES][N_TILES][4] = {};
    for (int piece = 0; piece < STAGES - 1; piece++) load_stage(p, piece, shared);
    for (int piece = 0; piece < p.n_words / WORDS_OF_PIECE; piece++) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads(); /* this piece has arrived, and the previous one has been read */
        load_stage(p, piece + STAGES - 1, shared);
        multiply_stage(shared + piece % STAGES * STAGE_BYTES, row, col, common);
    }
    for (int m = 0; m < M_TILES; m++)
        for (int n = 0; n < N_TILES; n++)
            store_fragment(p, blockIdx.x * TILE + row + 16 * m, blockIdx.y * TILE + col + 8 * n, common[m][n]);
}

void multiply_mma_stages(const Problem &p) {
    check(cudaFuncSetAttribute(mma_stages, cudaFuncAttributeMaxDynamicSharedMemorySize, STAGES * STAGE_BYTES),
          "asking for shared memory");
    mma_stages<<<grid_of(p, TILE, TILE), THREADS, STAGES * STAGE_BYTES>>>(p);
}
