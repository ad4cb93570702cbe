#include "work.h"

#include "../base/alloc.h"
#include "../mask/pairs.h"
#include "../base/triangle.h"

typedef struct {
    gcor_panel panel;
    gcor_operand *operand; /* NULL: empty */
    int64_t used;          /* the clock when it was last used; 0: never */
} panel_slot;

struct gcor_worker {
    gcor_panel_maker *maker; /* owned */
    gcor_context *context;   /* the maker's */
    gcor_work *work;         /* the maker's */
    gcor_tiling tiling;
    int64_t clock; /* counts uses of panels */
    panel_slot *slots;
};

gcor_status gcor_worker_new(gcor_panel_maker *maker, const gcor_tiling *tiling, gcor_worker **worker) {
    gcor_context *context = maker->context;
    gcor_worker *w = *worker = gcor_alloc(context, 1, sizeof *w, "a worker");
    if (!w) return GCOR_NO_MEMORY;
    *w = (gcor_worker){.maker = maker, .context = context, .work = maker->work, .tiling = *tiling};
    w->slots = gcor_alloc(context, tiling->n_panels, sizeof *w->slots, "a worker");
    for (int64_t s = 0; w->slots && s < tiling->n_panels; s++) w->slots[s] = (panel_slot){0};
    if (w->slots) return GCOR_OK;
    gcor_free(w);
    *worker = NULL;
    return GCOR_NO_MEMORY;
}

void gcor_worker_close(gcor_worker *w) {
    if (!w) return;
    for (panel_slot *slot = w->slots; slot < w->slots + w->tiling.n_panels; slot++)
        if (slot->operand) w->maker->type->release(w->maker, slot->operand);
    w->maker->type->close(w->maker);
    gcor_free(w->slots);
    gcor_free(w);
}

int64_t gcor_worker_min_side(const gcor_worker *w) {
    return w->tiling.min_side;
}

/* ---- panels: the least recently used one is evicted ----------------------------------- */

static panel_slot *find_panel(const gcor_worker *w, const gcor_panel *panel) {
    for (panel_slot *slot = w->slots; slot < w->slots + w->tiling.n_panels; slot++)
        if (slot->operand && slot->panel.set == panel->set && slot->panel.is_row_side == panel->is_row_side &&
            slot->panel.first == panel->first)
            return slot;
    return NULL;
}

static gcor_status evict_panel(gcor_worker *w, panel_slot **empty) {
    panel_slot *oldest = w->slots;
    for (panel_slot *slot = w->slots; slot < w->slots + w->tiling.n_panels && oldest->operand; slot++)
        if (!slot->operand || slot->used < oldest->used) oldest = slot;
    *empty = oldest;
    if (!oldest->operand) return GCOR_OK;
    gcor_status status = gcor_backend_of(w->maker)->finish(w->maker->state);
    if (status) return status;
    w->maker->type->release(w->maker, oldest->operand);
    oldest->operand = NULL;
    return GCOR_OK;
}

static gcor_status prepare_panel(gcor_worker *w, const gcor_panel *panel, panel_slot **slot) {
    const gcor_grid *grid = &w->work->grid;
    gcor_status status = evict_panel(w, slot);
    if (status) return status;
    (*slot)->panel = *panel;
    int64_t n_var = gcor_min(w->tiling.panel, (panel->is_row_side ? grid->n_row : grid->n_col) - panel->first);
    return w->maker->type->prepare(w->maker, panel, n_var, &(*slot)->operand);
}

static gcor_status get_panel(gcor_worker *w, const gcor_panel *panel, const gcor_operand **operand) {
    panel_slot *slot = find_panel(w, panel);
    gcor_status status = slot ? GCOR_OK : prepare_panel(w, panel, &slot);
    slot->used = ++w->clock;
    *operand = slot->operand;
    return status;
}

/* ---- tiles ---------------------------------------------------------------------------- */

static gcor_status begin_pairs(gcor_context *context, int64_t pairs) {
    if (gcor_stop(context)) return context->error.status;
    context->tile_pairs = pairs;
    context->tile_fraction = 0;
    return GCOR_OK;
}

/* Two panels, by their first variables. */
typedef struct {
    int64_t row, col;
} panel_pair;

/* Returns the operands of a tile in data set `set`. */
static gcor_status get_panels(gcor_worker *w, int64_t set, const panel_pair *panels, const gcor_operand **rows,
                              const gcor_operand **cols) {
    const gcor_panel row = {w->work->data[set].rows_set, w->work->grid.shape == GCOR_FULL, panels->row};
    const gcor_panel col = {set, 0, panels->col};
    gcor_status status = get_panel(w, &row, rows);
    return status ? status : get_panel(w, &col, cols);
}

/* Boundary pairs of panels are prepared whatever the mask: together they have, and so describe, every variable. */
static int is_boundary(const gcor_worker *w, const panel_pair *panels) {
    return w->work->grid.shape == GCOR_FULL ? panels->row == 0 || panels->col == 0 : panels->row == panels->col;
}

/* Computes a tile of every data set, in their order, which the combining sink relies on. The back end gets the smallest
 * part of the tile that has all pairs of the mask. */
static gcor_status compute_tile(gcor_worker *w, const panel_pair *panels, const gcor_tile *tile) {
    const gcor_panel_maker *maker = w->maker;
    const gcor_pairs *mask = w->work->job->sink->pairs; /* NULL: all pairs count */
    const gcor_tile part = mask ? gcor_pairs_shrink(mask, tile) : *tile;
    const int is_empty = gcor_tile_pairs(&part, maker->sink->shape) == 0;
    gcor_status status = GCOR_OK;
    for (int64_t s = 0; s < w->work->n_data; s++) {
        const gcor_operand *rows = NULL, *cols = NULL;
        if (!is_empty || is_boundary(w, panels)) status = get_panels(w, s, panels, &rows, &cols);
        if (!status) status = begin_pairs(w->context, gcor_tile_pairs(tile, maker->sink->shape) * w->work->pair_weight);
        if (!status && !is_empty) status = gcor_backend_of(maker)->multiply(maker->state, rows, cols, &part);
        if (status) break;
        __atomic_fetch_add(&w->context->monitor->pairs_done, w->context->tile_pairs, __ATOMIC_RELAXED);
        w->context->pairs_done += w->context->tile_pairs;
        w->context->tile_pairs = 0;
    }
    return status;
}

/* Computes the tiles of a rectangle within two panels. Every other row of tiles is walked from right to left: its
 * first columns are the last ones of the previous row, whose bits a GPU may still hold (cuda/product/product.cu). */
static gcor_status walk_tiles(gcor_worker *w, const panel_pair *panels, const gcor_tile *all) {
    const gcor_tiling *size = &w->tiling;
    int64_t row_end = all->row + all->n_row, col_end = all->col + all->n_col;
    int64_t n_col = (all->n_col + size->tile_cols - 1) / size->tile_cols, is_back = 0;
    gcor_status status = GCOR_OK;
    for (int64_t row = all->row; !status && row < row_end; row += size->tile_rows, is_back ^= 1) {
        for (int64_t k = 0; !status && k < n_col; k++) {
            int64_t col = all->col + (is_back ? n_col - 1 - k : k) * size->tile_cols;
            gcor_tile tile = {row, gcor_min(size->tile_rows, row_end - row), col,
                              gcor_min(size->tile_cols, col_end - col)};
            if (gcor_tile_pairs(&tile, w->maker->sink->shape) > 0) status = compute_tile(w, panels, &tile);
        }
    }
    return status;
}

/* ---- pairs of panels ------------------------------------------------------------------ */

/* The intersection of a rectangle and a pair of panels. */
static gcor_tile intersect(const gcor_tile *tile, const panel_pair *panels, int64_t width) {
    int64_t row = gcor_max(tile->row, panels->row), col = gcor_max(tile->col, panels->col);
    int64_t row_end = gcor_min(tile->row + tile->n_row, panels->row + width);
    int64_t col_end = gcor_min(tile->col + tile->n_col, panels->col + width);
    return (gcor_tile){row, row_end - row, col, col_end - col};
}

/* Seconds that are already attributed. A maker of panels may run another worker, which adds its own. */
static double seconds_of(const gcor_context *context) {
    return context->seconds_preparing + context->seconds_multiplying;
}

/* Every other row of panels is walked from right to left, too: its first panel is the last one of the previous row. */
gcor_status gcor_worker_multiply(gcor_worker *w, const gcor_tile *all) {
    int64_t width = w->tiling.panel, first = all->col / width, last = (all->col + all->n_col - 1) / width, is_back = 0;
    double started = gcor_seconds(), before = seconds_of(w->context);
    gcor_status status = GCOR_OK;
    for (int64_t row = all->row / width * width; !status && row < all->row + all->n_row; row += width, is_back ^= 1)
        for (int64_t k = first; !status && k <= last; k++) {
            const panel_pair panels = {row, (is_back ? first + last - k : k) * width};
            const gcor_tile part = intersect(all, &panels, width);
            status = walk_tiles(w, &panels, &part);
        }
    w->context->seconds_multiplying += gcor_seconds() - started - (seconds_of(w->context) - before);
    return status;
}

/* Without a panel, no run may have begun. */
gcor_status gcor_worker_finish(gcor_worker *w) {
    double started = gcor_seconds();
    gcor_status status = w->clock > 0 ? gcor_backend_of(w->maker)->finish(w->maker->state) : GCOR_OK;
    w->context->seconds_multiplying += gcor_seconds() - started;
    return status;
}

/* ---- all of the queue ----------------------------------------------------------------- */

static gcor_status prepare_side(gcor_worker *w, int64_t set, int is_row_side, int64_t n_var) {
    const gcor_operand *operand;
    gcor_status status = GCOR_OK;
    for (int64_t first = 0; !status && first < n_var; first += w->tiling.panel) {
        const gcor_panel panel = {set, is_row_side, first};
        status = get_panel(w, &panel, &operand);
    }
    return status;
}

/* A run without pairs still reports the flags of its variables. */
static gcor_status prepare_all(gcor_worker *w) {
    const gcor_grid *grid = &w->work->grid;
    gcor_status status = GCOR_OK;
    for (int64_t s = 0; !status && s < w->work->n_data; s++) {
        if (grid->shape == GCOR_FULL) status = prepare_side(w, s, 1, grid->n_row);
        if (!status) status = prepare_side(w, s, 0, grid->n_col);
    }
    return status;
}

gcor_status gcor_worker_drain(gcor_worker *w) {
    gcor_work *work = w->work;
    gcor_status status = GCOR_OK;
    if (work->queue.pairs == 0) return prepare_all(w);
    while (!status) {
        gcor_square square;
        int found;
        status = gcor_queue_draw(&work->queue, w->context, 1, 1, &square, &found);
        if (status || !found) break;
        gcor_tile tile = gcor_square_tile(&work->grid, &square);
        status = gcor_worker_multiply(w, &tile);
    }
    return status ? status : gcor_worker_finish(w);
}
