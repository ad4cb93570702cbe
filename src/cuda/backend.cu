/* The function table of the CUDA back end, and that of its sinks. Exceptions do not pass beyond these functions. */
#include "backend/info.h"
#include "product/product.cuh"
#include "sink/sinks.cuh"
#include "../sink/adjacency.h"
#include "../sink/groups/combine.h"
#include "../sink/information.h"

#include <algorithm>
#include <cstdlib>

/* CUDA's current device belongs to the calling thread, and each call may come from another thread. */
template <class Body>
static gcor_status entered(gcor_state *state, Body body) {
    return guarded(state->context, [&] {
        check(cudaSetDevice(state->device), "choosing the GPU");
        body();
    });
}

/* ---- sessions ------------------------------------------------------------------------------ */

gcor_state::gcor_state(int number) : device(number), columns(new ColumnBuffers), products(new ProductBuffers) {}
gcor_state::~gcor_state() = default;

static gcor_status cuda_open(gcor_context *context, int device, gcor_state **state) {
    *state = nullptr;
    return guarded(context, [&] {
        choose_device(device);
        std::unique_ptr<gcor_state> opened(new gcor_state(device));
        ask_gpu(opened.get());
        *state = opened.release();
        gcor_count_live(GCOR_HOST_MEMORY, 1);
    });
}

static void cuda_close(gcor_state *state) {
    if (!state) return;
    (void)cudaSetDevice(state->device);
    delete state;
    gcor_count_live(GCOR_HOST_MEMORY, -1);
}

/* ---- sinks with a device half: a new one gets a row here ------------------------------------------ */

static const struct {
    gcor_role role;
    SinkMaker make;
} TABLE[] = {
    {GCOR_STORE, make_edges},           {GCOR_NEIGHBOURS, make_edges},          {GCOR_DEGREES, make_edges},
    {GCOR_HISTOGRAM, make_histogram},   {GCOR_CONNECTIVITY, make_connectivity}, {GCOR_MAXIMUM, make_maximum},
    {GCOR_COMBINE, make_combine},       {GCOR_AGREEMENT, make_agreement},       {GCOR_MOMENTS, make_moments},
    {GCOR_ADJACENCIES, make_adjacency},
};

/* The kind of sink that has a device half. Of sinks that pass values on to their `of`, too, only that of information
 * (of all pairs, not likelihoods) has one, if they are summed. */
static gcor_role role_of(const gcor_sink *sink) {
    if (!sink->of) return sink->type->role;
    bool is_plain = sink->type->role == GCOR_INFORMATION && !((const gcor_information *)sink)->mean;
    return is_plain && sink->of->type->role == GCOR_CONNECTIVITY ? GCOR_CONNECTIVITY : GCOR_OTHER_ROLE;
}

static SinkMaker maker_of(const gcor_sink *sink) {
    gcor_role role = role_of(sink);
    if (role == GCOR_COMBINE && !gcor_combine_only_sums((const gcor_combine *)sink)) return make_host_values;
    for (const auto &row : TABLE)
        if (row.role == role) return row.make;
    return make_host_values;
}

static DeviceSink *find_or_make(gcor_state *state, DeviceSinks &made, SinkMaker make) {
    for (const auto &one : made)
        if (one.first == make) return one.second.get();
    made.emplace_back(make, make(state));
    return made.back().second.get();
}

DeviceSink *device_sink_for(gcor_state *state, const gcor_sink *sink, DeviceSinks &made) {
    return find_or_make(state, made, maker_of(sink));
}

/* ---- runs ------------------------------------------------------------------------------------ */

static void begin_run(gcor_state *state, gcor_kind kind) {
    if (gcor_seconds() - state->asked > MEMORY_SECONDS) ask_memory(state);
    state->wgmma = state->has_wgmma;
#ifdef GPUCOR_MMA_ON_HOPPER
    /* Lets tests run the code for older GPUs on a Hopper GPU. */
    if (getenv("GPUCOR_NO_WGMMA")) state->wgmma = false;
#endif
    state->products->forget();
    /* For overlaps, every value goes to the host. */
    state->device_sink = find_or_make(state, state->sinks,
                                      kind == GCOR_ADJACENCY ? make_overlaps : maker_of(state->sink));
    state->needs = state->device_sink->begin_run(state->sink);
}

/* Also called after errors. */
static void cuda_end(gcor_state *state) {
    (void)cudaSetDevice(state->device);
    (void)cudaStreamSynchronize(state->compute.handle); /* no pending work may write to memory that is freed below */
    (void)cudaStreamSynchronize(state->copy.handle);
    (void)cudaGetLastError();
    if (state->device_sink) state->device_sink->trim();
    state->columns->trim();
    state->products->trim();
    state->context = nullptr;
    state->sink = nullptr;
    state->device_sink = nullptr;
    state->needs = {};
}

static gcor_status cuda_begin(gcor_state *state, gcor_context *context, gcor_sink *sink, gcor_kind kind) {
    state->context = context;
    state->sink = sink;
    gcor_status status = entered(state, [&] { begin_run(state, kind); });
    if (status) cuda_end(state);
    return status;
}

/* Free memory minus reserves for tiles, columns in transfer and packed bits, and for records of neighbours (an eighth)
 * or the device edge buffer (three eighths). */
static int64_t cuda_memory(const gcor_state *state) {
    const int64_t reserve = (int64_t)1 << 30;
    const double free = (double)state->free_memory, part = state->needs.edges ? 0.45 : 0.7;
    return std::max((int64_t)(part * free) - reserve, (int64_t)((part - 0.2) * free));
}

static int64_t cuda_column_bytes(const gcor_state *state, gcor_kind kind, int64_t n_obs) {
    bool halves = kind == GCOR_REAL && fused(state, kind, n_obs);
    switch (kind) {
    case GCOR_REAL_COMMON: return n_obs * (int64_t)sizeof(double) + mask_words(n_obs) * (int64_t)sizeof(uint64_t);
    case GCOR_DOUBLE: return n_obs * (int64_t)sizeof(double);
    case GCOR_RANK_COMMON: return n_obs * 3 * (int64_t)sizeof(int);
    case GCOR_PAIR_COMMON:
    case GCOR_DISTANCE_COMMON: return n_obs * (int64_t)(sizeof(double) + 3 * sizeof(int));
    case GCOR_BINNED: return n_obs + bin_steps(n_obs) * 32 * (int64_t)sizeof(uint4);
    default:
        return n_obs * (int64_t)sizeof(float) + (halves ? half_pieces(n_obs) * PIECE_BYTES : 0) +
               sign_bytes(kind, n_obs);
    }
}

/* Max variables of a side of a network's tile whose bits are packed per tile. */
static int64_t packed_side(const gcor_state *state, int64_t n_obs) {
    int64_t bytes = 2 * sign_words(n_obs) * (int64_t)sizeof(unsigned), side = PACKED_SIDE;
    while (side > TILE_COLS_MIN && side * bytes > state->total_memory / PACKED_DIVISOR) side /= 2;
    return side;
}

static void network_tile_size(const gcor_state *state, gcor_kind kind, int64_t n_obs, int64_t *n_row, int64_t *n_col) {
    int64_t given = state->context->memory,
            memory = given > 0 ? std::min<int64_t>(given, OPERAND_BYTES) : OPERAND_BYTES;
    bool packed = kind == GCOR_SIGN && sign_bytes(kind, n_obs) == 0;
    *n_col = packed ? packed_side(state, n_obs) : (int64_t)NETWORK_COLS;
    while (*n_col > TILE_COLS && 2 * *n_col * cuda_column_bytes(state, kind, n_obs) > memory) *n_col /= 2;
    *n_row = packed ? *n_col : std::min<int64_t>(*n_col, NETWORK_ROWS);
}

/* A band has all columns, if they are prepared at the same time, and some megabytes of rows. */
static void band_size(const gcor_state *state, gcor_kind kind, int64_t *n_row, int64_t *n_col) {
    int64_t n_var = state->sink->n_col, max = kind == GCOR_SIGN ? SIGN_BAND_BYTES : BAND_BYTES;
    for (*n_col = TILE_COLS; *n_col < n_var && *n_col < NETWORK_COLS;) *n_col *= 2;
    int64_t row_bytes = std::min(n_var, *n_col) * (int64_t)sizeof(float);
    *n_row = std::min<int64_t>(*n_col, NETWORK_ROWS);
    while (*n_row > BAND_ROWS_MIN && (*n_row * row_bytes > max || *n_row * BANDS > n_var)) *n_row /= 2;
}

/* Outside of a run, as when a plan counts its tiles, no sink needs bands. */
static bool has_bands(const gcor_state *state, gcor_kind kind, int64_t n_obs) {
    if (!state->needs.bands) return false;
    int64_t given = state->context->memory, memory = given > 0 ? given : cuda_memory(state);
    bool ready = kind == GCOR_REAL ? n_obs < BAND_OBS : kind == GCOR_SIGN && sign_bytes(kind, n_obs) > 0;
    return ready && state->sink->n_col * cuda_column_bytes(state, kind, n_obs) <= memory;
}

static void cuda_tile_size(const gcor_state *state, gcor_kind kind, int64_t n_obs, int64_t *n_row, int64_t *n_col) {
    if (has_bands(state, kind, n_obs)) return band_size(state, kind, n_row, n_col);
    if (state->needs.large_tiles && fused(state, kind, n_obs))
        return network_tile_size(state, kind, n_obs, n_row, n_col);
    *n_col = TILE_COLS;
    bool sets = kind == GCOR_SIGN && !fused_exactly(state, kind, n_obs);
    if (sets) *n_col = SETS_SIDE;
    while (*n_col > TILE_COLS_MIN && 2 * *n_col * cuda_column_bytes(state, kind, n_obs) > OPERAND_BYTES) *n_col /= 2;
    *n_row = sets ? *n_col : std::min<int64_t>(*n_col, kind == GCOR_REAL ? state->needs.rows : TILE_ROWS);
}

/* ---- operands and tiles ------------------------------------------------------------------------ */

static Operand *operand_of(const gcor_operand *operand) {
    return reinterpret_cast<Operand *>(const_cast<gcor_operand *>(operand));
}

static gcor_status cuda_prepare_entry(gcor_state *state, const gcor_columns *columns, const gcor_measure *measure,
                                      gcor_kind kind, int64_t first, int64_t n_var, gcor_operand **operand) {
    *operand = nullptr;
    return entered(state, [&] {
        *operand = &cuda_prepare(state, columns, measure, kind, first, n_var).release()->head;
        gcor_count_live(GCOR_HOST_MEMORY, 1);
    });
}

static void cuda_release(gcor_state *state, gcor_operand *operand) {
    if (!operand) return;
    (void)cudaSetDevice(state->device);
    cuda_release_operand(state, std::unique_ptr<Operand>(operand_of(operand)));
    gcor_count_live(GCOR_HOST_MEMORY, -1);
}

/* A pair's index in a tile has to fit one word (tune.h), and a walk has a limited number of groups. */
static void check_tile(const gcor_tile &tile) {
    if (tile.n_row > 1 << (32 - POSITION_COL_BITS) || tile.n_col > 1 << POSITION_COL_BITS)
        fail_impossible("a tile larger than cuda_tile_size() says");
}

static gcor_status cuda_multiply(gcor_state *state, const gcor_operand *rows, const gcor_operand *cols,
                                 const gcor_tile *tile) {
    return entered(state, [&] {
        if (rows->kind == GCOR_ADJACENCY)
            return state->device_sink->overlap(gcor_adjacency_of_operand(rows), gcor_adjacency_of_operand(cols), *tile);
        check_tile(*tile);
        state->device_sink->multiply(*operand_of(rows), *operand_of(cols), *tile);
    });
}

static gcor_status cuda_finish(gcor_state *state) {
    return entered(state, [&] { state->device_sink->finish(); });
}

/* Before a run, which sets its own context. */
static gcor_status cuda_plan_entry(gcor_state *state, gcor_context *context, int64_t n_var, gcor_overlap_plan *plan) {
    state->context = context;
    gcor_status status = entered(state, [&] { cuda_plan_overlap(state, context, n_var, plan); });
    state->context = nullptr;
    return status;
}

static gcor_status cuda_cluster_entry(gcor_state *state, gcor_context *context, const gcor_hclust *job) {
    state->context = context;
    gcor_status status = entered(state, [&] { cuda_cluster(state, *job); });
    state->context = nullptr;
    return status;
}

static int cuda_has_pairs(const gcor_measure *measure, const gcor_design *design) {
    return has_device_pairs(measure, design);
}

/* In the order of gcor_backend; the empty comments keep one member a line. */
extern "C" const gcor_backend gcor_cuda = {
    "cuda",             //
    cuda_count_gpus,    //
    cuda_open,          //
    cuda_close,         //
    cuda_begin,         //
    cuda_end,           //
    cuda_memory,        //
    cuda_column_bytes,  //
    cuda_tile_size,     //
    cuda_prepare_entry, //
    cuda_release,       //
    nullptr,            // column
    cuda_multiply,      //
    cuda_finish,        //
    nullptr,            // pairs
    cuda_overlap_side,  //
    cuda_plan_entry,    //
    nullptr,            // overlap_memory
    cuda_cluster_entry, //
    cuda_has_pairs,     //
    1,                  // keeps_adjacency
    0,                  // is_host
};
