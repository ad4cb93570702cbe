/* The function table of the CPU back end. */
#include "cpu.h"

#include "../base/alloc.h"
#include "../base/isa.h"
#include "../base/triangle.h"
#include "../sink/adjacency.h"

#include <stdlib.h>
#include <string.h>

enum { KEPT_BYTES = 8 << 20 }; /* of scratch that is kept from one run to the next */

static int cpu_count(char *reason, size_t size) {
    if (size > 0) reason[0] = 0;
    return 1;
}

static gcor_status cpu_open(gcor_context *context, int device, gcor_state **state) {
    *state = gcor_alloc(context, 1, sizeof **state, "the CPU back end");
    if (!*state) return GCOR_NO_MEMORY;
    **state = (gcor_state){0};
    return GCOR_OK;
}

static void cpu_close(gcor_state *state) {
    if (!state) return;
    cpu_trim(&state->rows.memory, 0);
    cpu_trim(&state->cols.memory, 0);
    cpu_trim(&state->sums, 0);
    cpu_trim(&state->work, 0);
    cpu_trim(&state->row_levels, 0);
    cpu_trim(&state->col_levels, 0);
    gcor_free(state);
}

const cpu_kernels *cpu_find_kernels(gcor_context *context) {
    const char *wanted = getenv("GPUCOR_CPU");
    char names[64] = "";
    const gcor_loops *loops = gcor_best_loops();
    int level = 0;
    if (!wanted || !*wanted || strcmp(wanted, loops->name) == 0) return loops->kernels;
    while (gcor_loops_at(level)) level++;
    while (level-- > 0)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s\"%s\"", *names ? ", " : "",
                 gcor_loops_at(level)->name);
    gcor_fail(context, GCOR_BAD_INPUT, "GPUCOR_CPU = \"%s\": this machine has %s", wanted, names);
    return NULL;
}

static gcor_status cpu_begin(gcor_state *state, gcor_context *context, gcor_sink *sink, gcor_kind kind) {
    state->kernels = cpu_find_kernels(context);
    if (!state->kernels) return context->error.status;
    state->context = context;
    state->sink = sink;
    return GCOR_OK;
}

static void cpu_end(gcor_state *state) {
    state->context = NULL;
    state->sink = NULL;
    state->rows.of = state->cols.of = NULL;
    cpu_trim(&state->rows.memory, KEPT_BYTES);
    cpu_trim(&state->cols.memory, KEPT_BYTES);
    cpu_trim(&state->sums, KEPT_BYTES);
    cpu_trim(&state->work, KEPT_BYTES);
    cpu_trim(&state->row_levels, KEPT_BYTES);
    cpu_trim(&state->col_levels, KEPT_BYTES);
}

/* Two panels of a tile's width must fit the memory even for very long columns, and the user's limit as long as tiles
 * are not so narrow that preparing columns again takes longer than multiplying them. Outside of a run, as when a plan
 * counts its tiles, that limit is not known. Variables are packed anew for each tile: a square tile packs the fewest
 * per pair. */
static void cpu_tile_size(const gcor_state *state, gcor_kind kind, int64_t n_obs, int64_t *n_row, int64_t *n_col) {
    enum { MIN_LIMITED = 256 };
    int64_t bytes = 2 * cpu_column_bytes(state, kind, n_obs), given = state->context ? state->context->memory : 0;
    *n_col = 2048;
    while (*n_col > 64 && *n_col * bytes > cpu_memory(NULL)) *n_col /= 2;
    while (*n_col > MIN_LIMITED && given > 0 && *n_col * bytes > given) *n_col /= 2;
    int packed = kind != GCOR_RANK_COMMON && kind != GCOR_PAIR_COMMON && !cpu_is_ordered(kind);
    *n_row = packed || *n_col < 256 ? *n_col : 256;
}

static gcor_status cpu_multiply(gcor_state *state, const gcor_operand *rows, const gcor_operand *cols,
                                const gcor_tile *tile) {
    const cpu_operand *a = (const cpu_operand *)rows, *b = (const cpu_operand *)cols;
    cpu_product product;
    gcor_status status = gcor_begin_tile(state->sink, state->context, tile);
    if (status) return status;
    switch (rows->kind) {
    case GCOR_REAL:
    case GCOR_DOUBLE:
    case GCOR_REAL_COMMON:
        product = cpu_real_product(state, a, b);
        status = cpu_sum_slices(state, &product, a, b, tile);
        break;
    case GCOR_SIGN:
    case GCOR_SIGN_COMMON:
        product = cpu_sign_product(a, b, tile);
        status = cpu_is_cheaper_by_pairs(state, a, b, tile, product.mode) ? cpu_kendall_tile(state, a, b, tile)
                                                                          : cpu_sum_slices(state, &product, a, b, tile);
        break;
    case GCOR_BINNED:
    case GCOR_BINNED_COMMON:
        product = cpu_mutual_product(a);
        status = cpu_sum_slices(state, &product, a, b, tile);
        break;
    case GCOR_REAL_SPARSE: status = cpu_sparse_tile(state, a, b, tile); break;
    case GCOR_SIGN_SPARSE: status = cpu_sparse_signs_tile(state, a, b, tile); break;
    case GCOR_RANK_COMMON:
    case GCOR_DISTANCE:
    case GCOR_DISTANCE_COMMON:
    case GCOR_GIVEN:
    case GCOR_PAIR_COMMON: status = cpu_pairwise_tile(state, a, b, tile); break;
    case GCOR_ADJACENCY:
        status = cpu_overlap_tile(state, gcor_adjacency_of_operand(rows), gcor_adjacency_of_operand(cols), tile);
        break;
    default: status = gcor_fail(state->context, GCOR_BAD_INPUT, "operands of kind %d", (int)rows->kind);
    }
    return status ? status : gcor_end_tile(state->sink, state->context, tile);
}

static void cpu_column(const gcor_operand *operand, int64_t j, double *column) {
    const cpu_operand *o = (const cpu_operand *)operand;
    if (!o->columns) {
        memcpy(column, o->values + j * operand->n_obs, (size_t)operand->n_obs * sizeof *column);
        return;
    }
    const float *floats = o->columns + j * o->stride;
    for (int64_t k = 0; k < operand->n_obs; k++) column[k] = floats[k];
}

static gcor_status cpu_finish(gcor_state *state) {
    return state->context->error.status; /* multiply() has delivered every tile */
}

const gcor_backend gcor_cpu = {
    .name = "cpu",
    .count = cpu_count,
    .open = cpu_open,
    .close = cpu_close,
    .begin = cpu_begin,
    .end = cpu_end,
    .memory = cpu_memory,
    .column_bytes = cpu_column_bytes,
    .tile_size = cpu_tile_size,
    .prepare = cpu_prepare,
    .release = cpu_release,
    .column = cpu_column,
    .multiply = cpu_multiply,
    .finish = cpu_finish,
    .pairs = cpu_pairs,
    .is_host = 1,
    .overlap_side = cpu_overlap_side,
    .plan_overlap = cpu_plan_overlap,
    .overlap_memory = cpu_overlap_memory,
    .cluster = cpu_cluster,
};
