/* A worker: of the squares that it is given every pair is multiplied, on its device, for its sink. This is the only
 * loop over pairs in the package.
 *
 * Variables are prepared in panels: one where all operands fit the back end's memory, otherwise two or more at a
 * time, of which the one that was not wanted for longest makes room for the next. */
#include "workers.h"

#include "../sink/combine.h"
#include "../base/alloc.h"
#include "../measure/measure.h"
#include "../mask/pairs.h"
#include "session.h"
#include "../base/triangle.h"

enum {
    SMALL_BYTES = 64 << 20,   /* of operands that fit anywhere */
    DEVICE_BYTES = 256 << 20, /* of a device's tile of all subjects, on the host */
    SHARD_PANEL = 16384       /* variables of a panel where a run does not see all of them */
};

typedef struct {
    int of_rows; /* of y, where that is another source than x */
    int64_t subject, first;
    gcor_operand *operand; /* NULL: empty */
    int64_t wanted;        /* when it last was */
} panel_slot;

struct gcor_worker {
    const gcor_backend *backend;
    gcor_context *context;
    gcor_work *work;
    gcor_state *state;
    gcor_sink *sink;       /* what the back end delivers to */
    gcor_combine *combine; /* that, where there are several subjects; owned */
    gcor_slabs *slabs;     /* where the work is of overlaps, which then do all that follows; owned */
    int in_turns;          /* subjects are multiplied in turns, part by part of a tile */
    int64_t tile_rows, tile_cols;
    int64_t panel; /* variables in a panel, a power of two */
    int64_t clock; /* counts what is wanted */
    int64_t n_slots;
    panel_slot *slots;
};

static int64_t count_subjects(const gcor_worker *w) {
    return w->combine ? w->combine->rule->n : 1;
}

static gcor_kind kind_of(const gcor_worker *w, int64_t subject) {
    return w->work->subjects ? w->work->subjects[subject].kind : w->work->kind;
}

static const gcor_columns *columns_of(const gcor_worker *w, int64_t subject, int of_rows) {
    const gcor_data *data = w->work->subjects ? w->work->subjects + subject : NULL;
    if (of_rows) return data ? &data->rows : &w->work->rows;
    return data ? &data->cols : &w->work->cols;
}

/* Bytes of a variable's operands, of all subjects. */
static int64_t variable_bytes(const gcor_worker *w) {
    int64_t bytes = 0;
    for (int64_t s = 0; s < count_subjects(w); s++)
        bytes += w->backend->column_bytes(w->state, kind_of(w, s), columns_of(w, s, 0)->n_obs);
    return bytes;
}

static int64_t operand_memory(const gcor_worker *w) {
    return w->context->memory > 0 ? w->context->memory : w->backend->memory(w->state);
}

/* How many variables of operands fit. */
static int64_t fitting(const gcor_worker *w, int64_t variables) {
    int64_t each = variable_bytes(w);
    if (each < 1 || (w->context->memory == 0 && variables * each <= SMALL_BYTES)) return variables;
    return operand_memory(w) / each;
}

/* Whether two panels of a tile's width fit, of all subjects. */
static int fit_twice(const gcor_worker *w, int64_t side) {
    int64_t sides = 2 * gcor_min(side, w->work->grid.n_col);
    return fitting(w, sides) >= sides;
}

/* Of several subjects a tile is as large as the sink that combines has it, and no larger than the back end has any of
 * theirs. Where not even two panels of all subjects fit, operands are made ready for each tile anew. */
static void plan_tiles(gcor_worker *w) {
    w->backend->tile_size(w->state, w->work->kind, w->work->cols.n_obs, &w->tile_rows, &w->tile_cols);
    if (!w->combine) return;
    gcor_combine *c = w->combine;
    int approx = gcor_combine_may_be_approx(c), in_turns = w->backend->multiply_in_turns != NULL;
    for (int64_t s = 0; s < c->rule->n; s++) {
        int64_t rows, cols;
        w->backend->tile_size(w->state, kind_of(w, s), columns_of(w, s, 0)->n_obs, &rows, &cols);
        w->tile_cols = gcor_min(w->tile_cols, cols);
        w->tile_rows = gcor_min(w->tile_rows, rows);
        approx = approx && kind_of(w, s) == GCOR_REAL;
        in_turns = in_turns && approx && columns_of(w, s, 0)->n_obs <= w->backend->in_turns;
    }
    c->sink.approximate = approx;
    /* What comes from a device comes in its own tiles. */
    int64_t bytes = w->backend->pairs ? 0 : DEVICE_BYTES, all = gcor_max(w->work->grid.n_row, w->work->grid.n_col);
    int64_t min = gcor_combine_side(c, w->context->threads, bytes), side = in_turns ? w->tile_cols : min;
    while (side / 2 >= all && side > 64) side /= 2;
    while (side > min && !fit_twice(w, side)) side /= 2;
    if (!fit_twice(w, side)) {
        c->sink.approximate = in_turns = 0;
        side = gcor_combine_side(c, w->context->threads, operand_memory(w) / 4);
        w->tile_rows = w->tile_cols = gcor_max(w->tile_cols, side);
    }
    w->tile_cols = gcor_min(w->tile_cols, side);
    w->tile_rows = gcor_min(w->tile_rows, w->tile_cols);
    w->in_turns = in_turns;
    if (in_turns) gcor_combine_in_turns(c);
}

/* All variables in one panel, if they fit and all are wanted; otherwise as wide as two fit, but no narrower than a
 * tile. Of several subjects, a panel each; where two of all of them do not fit, as many as do. */
static void plan_panels(gcor_worker *w) {
    const gcor_grid *grid = &w->work->grid;
    int is_part = w->work->job->shard.of > 1;
    int64_t sides = grid->shape == GCOR_FULL ? 2 : 1, longest = gcor_max(grid->n_row, grid->n_col);
    int64_t all = grid->shape == GCOR_FULL ? grid->n_row + grid->n_col : grid->n_col, fit = fitting(w, all);
    int64_t n = count_subjects(w);
    w->panel = w->tile_cols;
    while (w->panel < longest && (all <= fit ? !is_part || w->panel < SHARD_PANEL : 2 * (2 * w->panel) <= fit))
        w->panel *= 2;
    int64_t wanted = n * sides * (longest / w->panel + 1);
    w->n_slots = all <= fit ? wanted : gcor_max(2, gcor_min(wanted, n * fit / w->panel));
}

static gcor_status allocate(gcor_worker *w, gcor_sink *sink) {
    const gcor_job *job = w->work->job;
    if (!job->combination) return GCOR_OK;
    gcor_status status = gcor_combine_new(w->context, job->combination, w->backend, sink, job->in_double, &w->combine);
    if (!status) w->sink = &w->combine->sink;
    return status;
}

/* How large tiles and panels are the back end says when it knows the sink. */
static gcor_status plan(gcor_worker *w) {
    plan_tiles(w);
    plan_panels(w);
    w->slots = gcor_alloc(w->context, w->n_slots, sizeof *w->slots, "a worker");
    for (int64_t s = 0; w->slots && s < w->n_slots; s++) w->slots[s] = (panel_slot){0};
    return w->slots ? GCOR_OK : GCOR_NO_MEMORY;
}

static void release(gcor_worker *w) {
    gcor_slabs_close(w->slabs);
    gcor_sink_free(w->combine ? &w->combine->sink : NULL);
    gcor_free(w->slots);
    gcor_free(w);
}

gcor_status gcor_worker_open(gcor_context *context, gcor_work *work, gcor_state *state, gcor_sink *sink,
                             gcor_worker **worker) {
    const gcor_backend *backend = work->session->backend;
    gcor_worker *w = gcor_alloc(context, 1, sizeof *w, "a worker");
    *worker = NULL;
    if (!w) return GCOR_NO_MEMORY;
    *w = (gcor_worker){.backend = backend, .context = context, .work = work, .state = state, .sink = sink};
    if (work->of_overlaps) {
        gcor_status status = gcor_slabs_open(context, work, state, sink, &w->slabs);
        if (status) release(w);
        *worker = status ? NULL : w;
        return status;
    }
    gcor_status status = allocate(w, sink);
    if (!status) status = backend->begin(state, context, w->sink);
    if (status) {
        release(w);
        return status;
    }
    status = plan(w);
    if (status) {
        backend->end(state);
        release(w);
        return status;
    }
    *worker = w;
    return GCOR_OK;
}

void gcor_worker_close(gcor_worker *w) {
    if (!w) return;
    for (int64_t s = 0; s < w->n_slots; s++)
        if (w->slots[s].operand) w->backend->release(w->state, w->slots[s].operand);
    if (!w->slabs) w->backend->end(w->state);
    release(w);
}

int64_t gcor_worker_min_side(const gcor_worker *w) {
    return w->slabs ? gcor_slabs_min_side(w->slabs) : w->tile_cols;
}

/* ---- panels ------------------------------------------------------------------------- */

static gcor_status prepare(gcor_worker *w, panel_slot *slot) {
    gcor_work *work = w->work;
    const gcor_columns *columns = columns_of(w, slot->subject, slot->of_rows);
    gcor_kind kind = kind_of(w, slot->subject);
    unsigned char *flags = slot->of_rows ? work->row_flags : work->col_flags;
    int64_t n_var = gcor_min(w->panel, columns->source->n_var - slot->first);
    double started = gcor_seconds();
    gcor_status status = w->backend->prepare(w->state, columns, work->job->measure, kind, slot->first, n_var,
                                             &slot->operand);
    w->context->seconds_preparing += gcor_seconds() - started;
    for (int64_t j = 0; !status && j < n_var; j++)
        __atomic_fetch_or(&flags[slot->first + j], slot->operand->flags[j], __ATOMIC_RELAXED);
    for (int64_t j = 0; !status && work->col_norm && j < n_var; j++)
        __atomic_store(&work->col_norm[slot->first + j], &slot->operand->norm[j], __ATOMIC_RELAXED);
    return status;
}

/* An empty slot, or that of the panel that was not wanted for longest, which makes room. */
static gcor_status evict(gcor_worker *w, panel_slot **slot) {
    panel_slot *oldest = w->slots;
    for (panel_slot *slot = w->slots; slot < w->slots + w->n_slots && oldest->operand; slot++)
        if (!slot->operand || slot->wanted < oldest->wanted) oldest = slot;
    *slot = oldest;
    if (!oldest->operand) return GCOR_OK;
    gcor_status status = w->backend->finish(w->state);
    if (status) return status;
    w->backend->release(w->state, oldest->operand);
    oldest->operand = NULL;
    return GCOR_OK;
}

/* The panel of a subject that begins at a variable, ready. */
static gcor_status fetch(gcor_worker *w, int64_t subject, int of_rows, int64_t first, const gcor_operand **operand) {
    gcor_status status = GCOR_OK;
    panel_slot *slot = w->slots, *end = w->slots + w->n_slots;
    while (slot < end &&
           !(slot->operand && slot->of_rows == of_rows && slot->first == first && slot->subject == subject))
        slot++;
    if (slot == end) {
        status = evict(w, &slot);
        if (status) return status;
        slot->of_rows = of_rows;
        slot->subject = subject;
        slot->first = first;
        status = prepare(w, slot);
    }
    slot->wanted = ++w->clock;
    *operand = slot->operand;
    return status;
}

/* ---- tiles ---------------------------------------------------------------------------- */

/* The pair mask, or NULL if all pairs count. The sink of combined coefficients has none: it needs whole tiles. */
static const gcor_pairs *mask_of(const gcor_worker *w) {
    return (w->combine ? w->combine->to : w->sink)->pairs;
}

/* Whether none of its pairs is one of those that count. */
static int is_outside(const gcor_worker *w, const gcor_tile *tile) {
    return mask_of(w) && gcor_pairs_of_tile(mask_of(w), tile) == GCOR_NO_PAIR;
}

/* The part of a tile that has all of its pairs that count; it may have no pair. */
static gcor_tile part_of(const gcor_worker *w, const gcor_tile *tile) {
    return mask_of(w) ? gcor_pairs_shrink(mask_of(w), tile) : *tile;
}

static gcor_status multiply_part(gcor_worker *w, const gcor_operand *rows, const gcor_operand *cols,
                                 const gcor_tile *tile) {
    gcor_tile part = part_of(w, tile);
    if (gcor_tile_pairs(&part, w->sink->shape) == 0) return GCOR_OK;
    return w->backend->multiply(w->state, rows, cols, &part);
}

gcor_status gcor_begin_pairs(gcor_context *context, int64_t pairs) {
    if (gcor_stop(context)) return context->error.status;
    context->tile_pairs = pairs;
    context->tile_fraction = 0;
    return GCOR_OK;
}

void gcor_end_pairs(gcor_context *context) {
    __atomic_fetch_add(&context->monitor->pairs_done, context->tile_pairs, __ATOMIC_RELAXED);
    context->pairs_done += context->tile_pairs;
    context->tile_pairs = 0;
}

static gcor_status multiply_tile(gcor_worker *w, const gcor_operand *rows, const gcor_operand *cols,
                                 const gcor_tile *tile) {
    gcor_status status = gcor_begin_pairs(w->context, gcor_tile_pairs(tile, w->sink->shape));
    if (!status) status = multiply_part(w, rows, cols, tile);
    if (!status) gcor_end_pairs(w->context);
    return status;
}

/* Two panels, by the variables that they begin with. */
typedef struct {
    int64_t row, col;
} panel_pair;

/* All subjects' operands, which are there at the same time. */
static gcor_status multiply_in_turns(gcor_worker *w, const gcor_tile *tile) {
    gcor_combine *c = w->combine;
    gcor_tile part = part_of(w, tile);
    gcor_status status = gcor_begin_pairs(w->context, c->rule->n * gcor_tile_pairs(tile, w->sink->shape));
    if (!status && gcor_tile_pairs(&part, w->sink->shape) > 0)
        status = w->backend->multiply_in_turns(w->state, c->rows, c->cols, c->rule->n, &part);
    if (!status) gcor_end_pairs(w->context);
    return status;
}

/* A tile of every subject, one after the other: what combines them counts on that order. */
static gcor_status multiply_subjects(gcor_worker *w, const panel_pair *panels, const gcor_tile *tile) {
    int of_rows = w->work->grid.shape == GCOR_FULL;
    gcor_status status = GCOR_OK;
    for (int64_t s = 0; !status && s < count_subjects(w); s++) {
        const gcor_operand *rows, *cols;
        status = fetch(w, s, of_rows, panels->row, &rows);
        if (!status) status = fetch(w, s, 0, panels->col, &cols);
        if (!status && w->combine) {
            w->combine->rows[s] = rows;
            w->combine->cols[s] = cols;
        }
        if (!status && !w->in_turns) status = multiply_tile(w, rows, cols, tile);
    }
    return status || !w->in_turns ? status : multiply_in_turns(w, tile);
}

/* The pairs of a rectangle within two panels. Every other row of tiles is done from the right, as its first columns are
 * then those that the row before had last: a back end may have opened them. */
static gcor_status multiply_tiles(gcor_worker *w, const panel_pair *panels, const gcor_tile *all) {
    int64_t row_end = all->row + all->n_row, col_end = all->col + all->n_col;
    int64_t n_col = (all->n_col + w->tile_cols - 1) / w->tile_cols;
    gcor_status status = GCOR_OK;
    for (int64_t row = all->row, turn = 0; !status && row < row_end; row += w->tile_rows, turn ^= 1) {
        for (int64_t k = 0; !status && k < n_col; k++) {
            int64_t col = all->col + (turn ? n_col - 1 - k : k) * w->tile_cols;
            gcor_tile tile = {row, gcor_min(w->tile_rows, row_end - row), col, gcor_min(w->tile_cols, col_end - col)};
            if (gcor_tile_pairs(&tile, w->sink->shape) > 0) status = multiply_subjects(w, panels, &tile);
        }
    }
    return status;
}

/* What a rectangle and a pair of panels have in common. */
static gcor_tile common(const gcor_tile *tile, int64_t row, int64_t col, int64_t panel) {
    int64_t row_begin = gcor_max(tile->row, row), row_end = gcor_min(tile->row + tile->n_row, row + panel);
    int64_t col_begin = gcor_max(tile->col, col), col_end = gcor_min(tile->col + tile->n_col, col + panel);
    return (gcor_tile){row_begin, row_end - row_begin, col_begin, col_end - col_begin};
}

/* Whether a pair of panels is there to make variables known, whatever pairs count: each is in one such pair. */
static int is_at_rim(const gcor_worker *w, int64_t row, int64_t col) {
    return w->work->grid.shape == GCOR_FULL ? row == 0 || col == 0 : row == col;
}

/* Of pairs that do not count: as if they had been done. */
static gcor_status skip(gcor_worker *w, const gcor_tile *part) {
    int64_t pairs = count_subjects(w) * gcor_tile_pairs(part, w->sink->shape);
    __atomic_fetch_add(&w->context->monitor->pairs_done, pairs, __ATOMIC_RELAXED);
    w->context->pairs_done += pairs;
    return gcor_stop(w->context) ? w->context->error.status : GCOR_OK;
}

static gcor_status multiply_panels(gcor_worker *w, const gcor_tile *part, int64_t row, int64_t col) {
    const panel_pair panels = {row, col};
    if (!is_at_rim(w, row, col) && is_outside(w, part)) return skip(w, part);
    double started = gcor_seconds(), prepared = w->context->seconds_preparing;
    gcor_status status = multiply_tiles(w, &panels, part);
    prepared = w->context->seconds_preparing - prepared;
    w->context->seconds_multiplying += gcor_seconds() - started - prepared;
    return status;
}

gcor_status gcor_worker_multiply_tile(gcor_worker *w, const gcor_tile *all) {
    gcor_status status = GCOR_OK;
    if (w->slabs) return gcor_slabs_multiply(w->slabs, all);
    for (int64_t row = all->row / w->panel * w->panel; !status && row < all->row + all->n_row; row += w->panel)
        for (int64_t col = all->col / w->panel * w->panel; !status && col < all->col + all->n_col; col += w->panel) {
            gcor_tile part = common(all, row, col, w->panel);
            if (gcor_tile_pairs(&part, w->sink->shape) > 0) status = multiply_panels(w, &part, row, col);
        }
    return status;
}

gcor_status gcor_worker_multiply(gcor_worker *w, const gcor_square *square) {
    gcor_tile all = gcor_square_tile(&w->work->grid, square);
    return gcor_worker_multiply_tile(w, &all);
}

gcor_status gcor_worker_finish(gcor_worker *w) {
    double started = gcor_seconds();
    if (w->slabs) return gcor_slabs_finish(w->slabs);
    gcor_status status = w->backend->finish(w->state);
    w->context->seconds_multiplying += gcor_seconds() - started;
    return status;
}

/* Where there is no pair, what is known of the variables is still asked for. */
static gcor_status prepare_all(gcor_worker *w) {
    const gcor_operand *operand;
    gcor_status status = GCOR_OK;
    int64_t n_row = w->work->grid.shape == GCOR_FULL ? w->work->grid.n_row : 0;
    for (int64_t s = 0; s < count_subjects(w); s++) {
        for (int64_t row = 0; !status && row < n_row; row += w->panel) status = fetch(w, s, 1, row, &operand);
        for (int64_t col = 0; !status && col < w->work->grid.n_col; col += w->panel)
            status = fetch(w, s, 0, col, &operand);
    }
    return status;
}

gcor_status gcor_worker_multiply_all(gcor_worker *w) {
    gcor_status status = GCOR_OK;
    if (w->work->queue.pairs == 0) return w->slabs ? gcor_slabs_prepare(w->slabs) : prepare_all(w);
    for (;;) {
        gcor_square square;
        int found;
        status = gcor_queue_draw(&w->work->queue, w->context, 1, 1, &square, &found);
        if (status || !found) break;
        status = gcor_worker_multiply(w, &square);
        if (status) break;
    }
    return status ? status : gcor_worker_finish(w);
}
