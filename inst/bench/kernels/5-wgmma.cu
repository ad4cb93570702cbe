/* Steps 5 and 6: Hopper's product. A group of four warps multiplies 64 rows by 256 columns, both in shared memory,
 * asynchronously. With one group, a block reads 320 variables for 64 x 256 pairs; two groups that share their
 * columns read 384 for twice as many pairs. The package adds the techniques of src/cuda/product/wgmma.cuh: columns
 * stored in the order of multiplication, so that bulk copies can load them; warps that only load; blocks that share
 * their columns. */
#include "fragments.cuh"
#include "stages.cuh"

#include "../../../src/cuda/product/hopper.cuh"

enum { GROUP_THREADS = 128, GROUP_ROWS = 64, COLS = 256, N_TILES = COLS / 8 };
enum {
    STAGES = 4,
    AHEAD = STAGES - 2
}; /* one stage is being multiplied, one may still be, the others are being filled */

template <int Groups>
struct Stage {
    static const int n_rows = Groups * GROUP_ROWS, n_threads = Groups * GROUP_THREADS;
    unsigned char rows[n_rows * VAR_BYTES], cols[COLS * VAR_BYTES];
};

/* Defined as 1 where wgmma was compiled; for other GPUs the kernel is empty and is not called. */
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
static __device__ int compiled = 1;

template <int Groups>
static __device__ void load_stage(const Problem &p, int piece, Stage<Groups> *stages) {
    Stage<Groups> &stage = stages[piece % STAGES];
    if (piece < p.n_words / WORDS_OF_PIECE) {
        load_side(p.rows, p.n_words, blockIdx.x * stage.n_rows, stage.n_rows, piece, stage.rows);
        load_side(p.cols, p.n_words, blockIdx.y * COLS, COLS, piece, stage.cols);
    }
    __pipeline_commit();
}

/* Starts the products of a group's rows. */
static __device__ void multiply_stage(const unsigned char *rows, const unsigned char *cols, int piece,
                                      int (&common)[N_TILES][4]) {
    uint64_t a = describe_columns(rows + threadIdx.x / GROUP_THREADS * GROUP_ROWS * VAR_BYTES);
    uint64_t b = describe_columns(cols);
    product_fence();
#pragma unroll
    for (int step = 0; step < STEPS; step++) product_bits(common, a + step * 2, b + step * 2, piece + step);
    product_commit();
}
#else
static __device__ int compiled = 0;
#endif

template <int Groups>
static __global__ void __launch_bounds__(Stage<Groups>::n_threads, 1) wgmma_stages(const __grid_constant__ Problem p) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ __align__(1024) unsigned char shared[];
    Stage<Groups> *stages = reinterpret_cast<Stage<Groups> *>(shared);
    int common[N_TILES][4], row = blockIdx.x * Stage<Groups>::n_rows + threadIdx.x / 32 * 16, col = blockIdx.y * COLS;
    for (int piece = 0; piece < AHEAD; piece++) load_stage(p, piece, stages);
    for (int piece = 0; piece < p.n_words / WORDS_OF_PIECE; piece++) {
        __pipeline_wait_prior(AHEAD - 1);
        asm volatile("fence.proxy.async.shared::cta;" ::
                         : "memory"); /* products read shared memory through another proxy than threads write */
        __syncthreads();              /* this piece has arrived, and the one before the last is multiplied */
        load_stage(p, piece + AHEAD, stages);
        multiply_stage(stages[piece % STAGES].rows, stages[piece % STAGES].cols, piece, common);
        product_wait<1>();
    }
    product_wait<0>();
#pragma unroll
    for (int n = 0; n < N_TILES; n++) store_fragment(p, row, col + n * 8, common[n]);
#endif
}

bool has_wgmma() {
    int has = 0;
    check(cudaMemcpyFromSymbol(&has, compiled, sizeof has), "asking for wgmma");
    return has != 0;
}

template <int Groups>
void multiply_wgmma(const Problem &p) {
    const int bytes = STAGES * sizeof(Stage<Groups>);
    auto kernel = wgmma_stages<Groups>;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "asking for shared memory");
    kernel<<<grid_of(p, Stage<Groups>::n_rows, COLS), Stage<Groups>::n_threads, bytes>>>(p);
}
template void multiply_wgmma<1>(const Problem &p);
template void multiply_wgmma<2>(const Problem &p);
