/* The CUDA back end's table: exceptions end here. */
#include "info.h"
#include "../product/product.cuh"

#include <algorithm>
#include <cstdlib>

/* A kernel that is there on every GPU that the package was built for. */
static __global__ void probe_kernel() {}

static void open_device(int device) {
    char reason[512];
    int gpus = cuda_count_gpus(reason, sizeof reason);
    if (gpus == 0) throw Failure(GCOR_NO_BACKEND, "CUDA cannot be used: %s; use backend = \"cpu\"", reason);
    if (device >= gpus)
        throw Failure(GCOR_NO_BACKEND, "there is no GPU %d, only 0 to %d; see gpuInfo()", device, gpus - 1);
    check(cudaSetDevice(device), "choosing the GPU");
    cudaFuncAttributes attributes;
    if (cudaFuncGetAttributes(&attributes, probe_kernel) != cudaSuccess) {
        (void)cudaGetLastError();
        cuda_gpu gpu{};
        (void)cuda_describe(device, 0, &gpu);
        throw Failure(GCOR_NO_BACKEND,
                      "the package holds no code for GPU %d (%s, compute capability %d.%d); install it again with "
                      "GPUCOR_CUDA_ARCH=%d%d, or use backend = \"cpu\"",
                      device, gpu.name, gpu.major, gpu.minor, gpu.major, gpu.minor);
    }
}

static gcor_status cuda_open(gcor_context *context, gcor_sink *sink, gcor_state **state) {
    *state = nullptr;
    return guarded(context, [&] {
        open_device(context->device);
        std::unique_ptr<gcor_state> fresh(new gcor_state(context, sink));
        check(cudaDeviceGetAttribute(&fresh->processors, cudaDevAttrMultiProcessorCount, context->device),
              "asking the GPU");
        /* Tests see to it that a newer GPU runs what older ones do. */
        fresh->wgmma = has_wgmma(context->device) && !getenv("GPUCOR_NO_WGMMA");
        *state = fresh.release();
        gcor_count_live(GCOR_HOST_MEMORY, 1);
    });
}

static void cuda_close(gcor_state *state) {
    if (!state) return;
    (void)cudaDeviceSynchronize(); /* nothing may still write what is freed now */
    delete state;
    gcor_count_live(GCOR_HOST_MEMORY, -1);
}

/* What is free, less room for tiles, columns on their way, and bits that are opened: an eighth of all. */
static int64_t cuda_memory(const gcor_state *) {
    const int64_t reserve = (int64_t)1 << 30;
    size_t free_bytes = 0, total = 0;
    if (cudaMemGetInfo(&free_bytes, &total) != cudaSuccess) return 0;
    return std::max((int64_t)(0.8 * (double)free_bytes) - reserve, (int64_t)free_bytes / 2);
}

static int64_t cuda_column_bytes(const gcor_state *state, gcor_kind kind, int64_t n_obs) {
    bool halves = kind == GCOR_REAL && fused(state, kind, n_obs);
    switch (kind) {
    case GCOR_REAL_COMMON: return n_obs * (int64_t)sizeof(double);
    case GCOR_RANK_COMMON: return n_obs * 3 * (int64_t)sizeof(int);
    default:
        return n_obs * (int64_t)sizeof(float) + (halves ? half_bytes(n_obs) : 0) +
               sign_bytes(kind, n_obs);
    }
}

/* Variables of a side of a network's tile whose bits are opened. */
static int64_t opened_side(int64_t n_obs) {
    int64_t bytes = 2 * sign_words(n_obs) * (int64_t)sizeof(unsigned), side = OPENED_SIDE;
    size_t free_bytes = 0, total = 0;
    if (cudaMemGetInfo(&free_bytes, &total) != cudaSuccess) total = 0;
    while (side > TILE_COLS_LEAST && side * bytes > (int64_t)(total / OPENED_PART)) side /= 2;
    return side;
}

/* Of a network the tile may depend on the memory at hand: its edges do not depend on the tile. */
static void network_tile_size(const gcor_state *state, gcor_kind kind, int64_t n_obs, int64_t *n_row, int64_t *n_col) {
    int64_t given = state->context->memory, memory = given > 0 ? std::min<int64_t>(given, PANEL_BYTES) : PANEL_BYTES;
    bool opened = kind == GCOR_SIGN && sign_bytes(kind, n_obs) == 0;
    *n_col = opened ? opened_side(n_obs) : NETWORK_COLS;
    while (*n_col > TILE_COLS && 2 * *n_col * cuda_column_bytes(state, kind, n_obs) > memory) *n_col /= 2;
    *n_row = opened ? *n_col : std::min<int64_t>(*n_col, NETWORK_ROWS);
}

void cuda_tile_size(const gcor_state *state, gcor_kind kind, int64_t n_obs, int64_t *n_row, int64_t *n_col) {
    if (has_network_tiles(state) && fused(state, kind, n_obs))
        return network_tile_size(state, kind, n_obs, n_row, n_col);
    *n_col = TILE_COLS;
    while (*n_col > TILE_COLS_LEAST && 2 * *n_col * cuda_column_bytes(state, kind, n_obs) > PANEL_BYTES) *n_col /= 2;
    *n_row = std::min<int64_t>(*n_col, TILE_ROWS);
}

static gcor_status cuda_prepare_entry(gcor_state *state, const gcor_columns *columns, gcor_method method,
                                      gcor_kind kind, int64_t first, int64_t n_var, gcor_operand **operand) {
    *operand = nullptr;
    return guarded(state->context, [&] {
        *operand = &cuda_prepare(state, columns, method, kind, first, n_var).release()->head;
        gcor_count_live(GCOR_HOST_MEMORY, 1);
    });
}

static void cuda_release(gcor_state *, gcor_operand *operand) {
    delete reinterpret_cast<Operand *>(operand);
    gcor_count_live(GCOR_HOST_MEMORY, -1);
}

void multiply_exact(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out) {
    gcor_kind kind = rows.head.kind;
    if (fused_exactly(state, kind, rows.head.n_obs)) {
        Product product = exact_product_of(state, rows, cols, out.tile);
        product.out = out;
        run_product(state, STORE, product);
    } else if (kind == GCOR_SIGN || kind == GCOR_SIGN_COMMON) {
        multiply_slices(state, rows, cols, out);
    } else {
        multiply_common(state, rows, cols, out);
    }
}

Packed multiply_in_place(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    state->tile.reserve(gcor_tile_pairs(&tile, state->sink->shape), "a tile's coefficients");
    Packed values{tile, state->sink->shape, state->tile.data, nullptr};
    multiply_exact(state, rows, cols, values);
    return values;
}

static void dense_multiply(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    Slot &slot = ring_acquire(state, tile, rows.head.kind != GCOR_REAL);
    multiply_exact(state, rows, cols, slot.values);
    ring_submit(state, slot);
}

static gcor_status cuda_multiply(gcor_state *state, const gcor_operand *rows, const gcor_operand *cols,
                                 const gcor_tile *tile) {
    return guarded(state->context, [&] {
        const Operand &a = *reinterpret_cast<const Operand *>(rows), &b = *reinterpret_cast<const Operand *>(cols);
        switch (state->sink->kind) {
        case GCOR_DENSE: dense_multiply(state, a, b, *tile); break;
        case GCOR_EDGES: edges_multiply(state, a, b, *tile); break;
        case GCOR_HISTOGRAM: histogram_multiply(state, a, b, *tile); break;
        case GCOR_CONNECTIVITY: connectivity_multiply(state, a, b, *tile); break;
        }
    });
}

static gcor_status cuda_finish(gcor_state *state) {
    return guarded(state->context, [&] {
        switch (state->sink->kind) {
        case GCOR_DENSE: ring_drain(state); break;
        case GCOR_EDGES: edges_drain(state); break;
        case GCOR_HISTOGRAM: histogram_finish(state); break;
        case GCOR_CONNECTIVITY: connectivity_finish(state); break;
        }
    });
}

extern "C" const gcor_backend gcor_cuda = {
    "cuda",          cuda_open,          cuda_close,   cuda_memory,   cuda_column_bytes,
    cuda_tile_size,  cuda_prepare_entry, cuda_release, cuda_multiply, cuda_finish,
};
