/* The product of blocks of columns on Hopper; compiled with each sink (launch.cuh). A block has three groups of four
 * warps: one loads pieces into shared memory, a stage at a time; the others multiply 64 or 128 rows each by the
 * block's columns. Blocks form clusters of two or four: each has its own rows and loads a part of the columns for
 * all. */
#pragma once

#include "kernel_sink.cuh"
#include "hopper.cuh"

#include <algorithm>

namespace wgmma {

enum { GROUP = 128, THREADS = (WGMMA_GROUPS + 1) * GROUP, WARPS = WGMMA_GROUPS * 4, PRODUCT_ROWS = 64 };
enum { STEPS = PIECE_BYTES / 32 };                          /* products of 32 bytes in a piece */
enum { PRODUCER_REGISTERS = 40, CONSUMER_REGISTERS = 232 }; /* per thread, of 65,536 / 384 */

/* What a block multiplies: `Products` times 64 rows for each group, `Cols` columns. */
template <int Products, int Cols>
struct Shape {
    enum { products = Products, cols = Cols, n_tiles = Cols / 8 };
    enum { group_rows = Products * PRODUCT_ROWS, rows = WGMMA_GROUPS * group_rows };
    enum { rows_bytes = rows * PIECE_BYTES, stage_bytes = (rows + Cols) * PIECE_BYTES };
    static_assert(WGMMA_CLUSTER * rows <= (int)SLACK_COLUMNS && Cols <= (int)SLACK_COLUMNS &&
                      Cols / WGMMA_LARGE_CLUSTER % 8 == 0,
                  "see hopper.cuh");
};
typedef Shape<1, WGMMA_COLS> Square;
typedef Shape<2, WGMMA_LONG_COLS> Long;
static_assert(WGMMA_LARGE_CLUSTER * Square::rows <= (int)SLACK_COLUMNS, "of halves");

template <class S, class Sink>
struct Shared {
    static const int stages = Sink::counts      ? WGMMA_HISTOGRAM_STAGES
                              : S::products > 1 ? WGMMA_LONG_STAGES
                                                : WGMMA_STAGES;
    unsigned char stage[stages][S::stage_bytes];
    Hit hits[WARPS][WARP_HITS];
    unsigned bins[Sink::counts ? GCOR_BINS : 1];
    uint64_t full[stages], empty[stages];
};

/* Position in the ring of stages: the current stage and the parity of its barriers. */
template <int Stages>
struct Turn {
    int stage = 0;
    unsigned parity = 0;
    __device__ void next() {
        if (++stage == Stages) stage = 0, parity ^= 1;
    }
};

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/* Calls body(block) for every block of the walk that is assigned to this cluster. */
template <class S, class Body>
static __device__ void for_each_block(const Product &p, Body body) {
    int group = 0, clusters = gridDim.x / p.cluster;
    for (int index = blockIdx.x / p.cluster; index < p.walk.first[p.walk.groups]; index += clusters) {
        while (index >= p.walk.first[group + 1]) group++;
        WalkBlock block = block_at(p, group, index, p.cluster * S::rows, S::cols);
        if (block.counts) body(block);
    }
}

/* ---- loading -------------------------------------------------------------------------------- */

/* Loads one piece of one plane: this block's rows, and its part of the columns for the whole cluster. */
template <class S>
static __device__ inline void bring_stage(const Product &p, int plane, int piece, int64_t row, int64_t col,
                                          unsigned rank, unsigned char *stage, uint64_t *full) {
    int64_t at = blockIdx.y * (int64_t)p.pieces + piece; /* of this part of the product */
    int own_cols = S::cols / p.cluster, own_bytes = own_cols * PIECE_BYTES;
    const unsigned char *rows = p.rows.planes[plane] + at * p.rows.stride + (row + p.row_start) * PIECE_BYTES;
    const unsigned char *cols = p.cols.planes[plane] + at * p.cols.stride + (col + rank * own_cols) * PIECE_BYTES;
    barrier_expect(full, S::stage_bytes);
    bulk_copy(stage, rows, S::rows_bytes, full);
    bulk_copy_to_all(stage + S::rows_bytes + rank * own_bytes, cols, own_bytes, full, (1 << p.cluster) - 1);
}

template <int Planes, class S, class Memory>
static __device__ void bring_all(const Product &p, Memory &shared) {
    Turn<Memory::stages> turn;
    unsigned rank = cluster_rank();
    for_each_block<S>(p, [&](const WalkBlock &block) {
        for (int piece = 0; piece < p.pieces; piece++)
            for (int plane = 0; plane < Planes; plane++, turn.next()) {
                barrier_wait(&shared.empty[turn.stage], turn.parity ^ 1); /* in the first round all stages are empty */
                bring_stage<S>(p, plane, piece, block.row + rank * S::rows, block.col, rank, shared.stage[turn.stage],
                               &shared.full[turn.stage]);
            }
    });
}

/* ---- multiplying ------------------------------------------------------------------------------ */

/* Lanes per warp that arrive at the barrier of a finished stage. For wgmma operands in shared memory one lane
 * suffices, as products belong to the warp; rows that lanes read themselves are released by each lane. */
template <ProductMode Mode>
static constexpr int RELEASING_LANES = Mode == TIED ? 32 : 1;

/* A warp has finished a stage: all blocks that load a part of it are notified. */
template <ProductMode Mode, class Memory>
static __device__ void release(const Product &p, Memory &shared, int stage) {
    int lane = threadIdx.x % 32;
    if (RELEASING_LANES<Mode> == 1) {
        if (lane < p.cluster) barrier_arrive(&shared.empty[stage], lane);
    } else {
        for (int block = 0; block < p.cluster; block++) barrier_arrive(&shared.empty[stage], block);
    }
}

/* Multiplies one plane, rows and columns from shared memory. The next piece is awaited while one is multiplied. */
template <ProductMode Mode, class S, class Memory>
static __device__ void sum_pieces(const Product &p, Memory &shared, Turn<Memory::stages> &turn, int group,
                                  int (&sums)[S::products][S::n_tiles][4]) {
    int before = -1; /* the stage whose product may still be running */
    for (int piece = 0; piece < p.pieces; piece++, turn.next()) {
        barrier_wait(&shared.full[turn.stage], turn.parity);
        const unsigned char *stage = shared.stage[turn.stage];
        uint64_t rows[S::products], cols = describe_columns(stage + S::rows_bytes);
        for (int m = 0; m < S::products; m++)
            rows[m] = describe_columns(stage + (group * S::group_rows + m * PRODUCT_ROWS) * PIECE_BYTES);
        product_fence();
#pragma unroll
        for (int step = 0; step < STEPS; step++)
#pragma unroll
            for (int m = 0; m < S::products; m++) {
                if constexpr (Mode == HALF)
                    product_half(sums[m], rows[m] + step * 2, cols + step * 2, piece + step);
                else
                    product_bits(sums[m], rows[m] + step * 2, cols + step * 2, piece + step);
            }
        product_commit();
        product_wait<1>();
        if (before >= 0) release<Mode>(p, shared, before);
        before = turn.stage;
    }
    product_wait<0>();
    release<Mode>(p, shared, before);
}

/* Loads 32 bytes of a warp's 16 rows into registers, as wgmma expects them. */
static __device__ inline void load_rows(const unsigned char *rows, int step, unsigned (&a)[4]) {
    int lane = threadIdx.x % 32, row = lane % 16, chunk = step * 2 + lane / 16;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "r"(shared_address(rows + row * PIECE_BYTES + ((chunk ^ (row & 7)) * 16))));
}

static __device__ inline void invert(const unsigned (&a)[4], unsigned (&inverse)[4]) {
    for (int w = 0; w < 4; w++) inverse[w] = ~a[w];
}

/* Multiplies two planes with the rows in registers, so that their complements need not be stored. */
template <class Memory>
static __device__ void sum_tied(const Product &p, Memory &shared, Turn<Memory::stages> &turn, int group,
                                int (&sums)[Square::n_tiles][4]) {
    int warp_row = group * Square::group_rows + threadIdx.x / 32 % 4 * 16;
    for (int piece = 0; piece < p.pieces; piece++) {
        Turn<Memory::stages> first = turn;
        turn.next();
        barrier_wait(&shared.full[first.stage], first.parity);
        barrier_wait(&shared.full[turn.stage], turn.parity);
        const unsigned char *greater = shared.stage[first.stage], *less = shared.stage[turn.stage];
        uint64_t greater_cols = describe_columns(greater + Square::rows_bytes),
                 less_cols = describe_columns(less + Square::rows_bytes);
        unsigned a[STEPS][4], b[STEPS][4], not_a[STEPS][4], not_b[STEPS][4];
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            load_rows(greater + warp_row * PIECE_BYTES, step, a[step]);
            load_rows(less + warp_row * PIECE_BYTES, step, b[step]);
            invert(a[step], not_a[step]);
            invert(b[step], not_b[step]);
        }
        product_fence();
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            product_bits(sums, a[step], greater_cols + step * 2, piece + step);
            product_bits(sums, not_b[step], greater_cols + step * 2, 1);
            product_bits(sums, b[step], less_cols + step * 2, 1);
            product_bits(sums, not_a[step], less_cols + step * 2, 1);
        }
        product_commit();
        product_wait<0>();
        release<TIED>(p, shared, first.stage);
        release<TIED>(p, shared, turn.stage);
        turn.next();
    }
}

/* The two groups alternate if the ring holds the stages of both: one uses the tensor cores while the other delivers. */
struct Turns {
    bool taken;
    int group;
    __device__ Turns(bool possible) : taken(possible && WGMMA_GROUPS == 2), group(threadIdx.x / GROUP) {
        if (taken && group == 1) group_arrive(1, 2 * GROUP); /* group 0 goes first */
    }
    __device__ void begin() const {
        if (taken) group_wait(1 + group, 2 * GROUP);
    }
    __device__ void end() const {
        if (taken) group_arrive(2 - group, 2 * GROUP);
    }
    __device__ void finish() const {
        if (taken && group == 0) group_wait(1, 2 * GROUP);
    }
};

/* Computes the product of each block and hands it to the sink. */
template <ProductMode Mode, class S, class Sink, class Memory>
static __device__ void compute_blocks(const Product &p, const Sink &sink, Memory &shared) {
    Turn<Memory::stages> turn;
    int group = threadIdx.x / GROUP, warp = threadIdx.x / 32;
    WarpOutput out{shared.hits[warp], shared.bins};
    Turns turns(2 * p.pieces * (Mode == TIED ? 2 : 1) <= Memory::stages);
    for_each_block<S>(p, [&](const WalkBlock &block) {
        int sums[S::products][S::n_tiles][4];
        typename Sink::template Ahead<Mode, S::n_tiles> ahead(p, sink, block.col);
        turns.begin();
        if constexpr (Mode == TIED)
            sum_tied(p, shared, turn, group, sums[0]);
        else
            sum_pieces<Mode, S>(p, shared, turn, group, sums);
        turns.end();
        int64_t row = block.row + cluster_rank() * S::rows + group * S::group_rows + warp % 4 * 16;
#pragma unroll
        for (int m = 0; m < S::products; m++)
            sink.template deliver<Mode>(p, out, ahead, sums[m], row + m * PRODUCT_ROWS, block.col);
    });
    turns.finish();
    sink.template finish<Mode>(p, out);
}

#endif

/* ---- a block ------------------------------------------------------------------------------------ */

/* The kernel is empty when compiled for other GPUs. */
template <ProductMode Mode, class S, class Sink>
static __global__ void __launch_bounds__(THREADS, 1)
    wgmma_clusters(const __grid_constant__ Product p, const __grid_constant__ Sink sink) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ __align__(1024) unsigned char wgmma_memory[];
    typedef Shared<S, Sink> Memory;
    Memory &shared = *reinterpret_cast<Memory *>(wgmma_memory);
    if (threadIdx.x == 0) {
        for (int s = 0; s < Memory::stages; s++) {
            barrier_init(&shared.full[s], 1);
            barrier_init(&shared.empty[s], p.cluster * WARPS * RELEASING_LANES<Mode>);
        }
        barrier_init_done();
    }
    if constexpr (Sink::counts) clear_bins(shared.bins, THREADS);
    cluster_sync();
    if (threadIdx.x >= WGMMA_GROUPS * GROUP) {
        give_registers<PRODUCER_REGISTERS>();
        if (threadIdx.x == WGMMA_GROUPS * GROUP) bring_all<Mode == TIED ? 2 : 1, S>(p, shared);
    } else {
        take_registers<CONSUMER_REGISTERS>();
        compute_blocks<Mode, S>(p, sink, shared);
    }
    cluster_sync(); /* no copy or arrival may be pending for a block that has exited */
    if constexpr (Sink::counts) add_bins(shared.bins, sink.bins, THREADS);
#endif
}

/* Launch settings with clusters of the given size; the grid is blocks x parts. */
struct Launch {
    cudaLaunchAttribute cluster{};
    cudaLaunchConfig_t config{};

    Launch(gcor_state *state, int blocks_of_cluster, int bytes) {
        cluster.id = cudaLaunchAttributeClusterDimension;
        cluster.val.clusterDim.x = (unsigned)blocks_of_cluster;
        cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
        config.blockDim = dim3(THREADS);
        config.dynamicSmemBytes = (size_t)bytes;
        config.stream = state->compute.handle;
        config.attrs = &cluster;
        config.numAttrs = 1;
    }
};

/* Number of clusters that run at a time: some multiprocessors may not fit into a cluster. */
static int count_resident(gcor_state *state, const void *kernel, int cluster, int bytes) {
    int &known = state->resident_clusters[{kernel, cluster}];
    if (known > 0) return known;
    Launch launch(state, cluster, bytes);
    launch.config.gridDim = dim3((unsigned)cluster);
    check(cudaOccupancyMaxActiveClusters(&known, kernel, &launch.config), "asking for clusters");
    return known = std::max(1, known);
}

/* Plans a walk in clusters of the given size. Returns its number of blocks of pairs. */
template <class S>
static int plan_cluster(Product &p, int cluster) {
    p.cluster = cluster;
    p.walk = plan_walk(p, cluster * S::rows, S::cols);
    return p.walk.first[p.walk.groups];
}

template <ProductMode Mode, class S, class Sink>
static void launch_shape(gcor_state *state, Product &p, const Sink &sink) {
    const void *kernel = (const void *)wgmma_clusters<Mode, S, Sink>;
    int bytes = (int)sizeof(Shared<S, Sink>), parts = std::max(1, p.parts), blocks = 0, resident = 1;
    allow_shared(state, kernel, bytes);
    if (Mode == HALF) {
        blocks = plan_cluster<S>(p, WGMMA_LARGE_CLUSTER);
        resident = count_resident(state, kernel, p.cluster, bytes);
    }
    if (blocks < WGMMA_LARGE_ROUNDS * resident) {
        blocks = plan_cluster<S>(p, WGMMA_CLUSTER);
        resident = count_resident(state, kernel, p.cluster, bytes);
    }
    if (blocks == 0) return;
    Launch launch(state, p.cluster, bytes);
    launch.config.gridDim = dim3((unsigned)(std::min(blocks, resident) * p.cluster), (unsigned)parts);
    check(cudaLaunchKernelEx(&launch.config, wgmma_clusters<Mode, S, Sink>, p, sink), "multiplying columns");
}

template <ProductMode Mode, class Sink>
static void launch(gcor_state *state, Product &p, const Sink &sink) {
    if constexpr (Mode == UNTIED && Sink::long_blocks)
        if (p.pieces >= WGMMA_LONG_PIECES) return launch_shape<Mode, Long>(state, p, sink);
    launch_shape<Mode, Square>(state, p, sink);
}

} // namespace wgmma
