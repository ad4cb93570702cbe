/* The pair mask: predicates of single pairs, and bounding boxes of blocks of variables that decide whole tiles. */
#include "pairs.h"

#include "../base/alloc.h"
#include "../base/threads.h"
#include "../base/triangle.h"

#include <math.h>
#include <string.h>

enum { BLOCK = GCOR_PAIR_BLOCK }; /* variables per box */

/* Bounds of a block's variables. */
typedef struct {
    int32_t low, high; /* range of labels of variables in pairs */
    int any, all;      /* any variable is in a pair; all are */
    double min[GCOR_MAX_DIMS], max[GCOR_MAX_DIMS];
} box;

/* Variables in their order. Owns its arrays. */
typedef struct {
    int64_t n_var, n_boxes;
    int32_t *number; /* original index of each variable; NULL: the order is unchanged */
    int32_t *label;
    double *position[GCOR_MAX_DIMS]; /* coordinates; 0 in unused dimensions */
    box *boxes;
} side;

struct gcor_pairs {
    gcor_relation relation;
    gcor_shape shape;
    double max; /* max squared distance whose root does not exceed the rule's distance */
    side cols, own_rows;
    const side *rows; /* &cols in a triangle */
};

/* ---- boxes ------------------------------------------------------------------------------------- */

static box empty_box(int all) {
    box b = {.low = INT32_MAX, .high = -1, .all = all};
    for (int d = 0; d < GCOR_MAX_DIMS; d++) b.min[d] = INFINITY, b.max[d] = -INFINITY;
    return b;
}

static void add_to_box(box *b, const box *other) {
    if (other->low < b->low) b->low = other->low;
    if (other->high > b->high) b->high = other->high;
    b->any |= other->any;
    b->all &= other->all;
    for (int d = 0; d < GCOR_MAX_DIMS; d++) {
        if (other->min[d] < b->min[d]) b->min[d] = other->min[d];
        if (other->max[d] > b->max[d]) b->max[d] = other->max[d];
    }
}

static box box_of_variable(const side *s, int64_t v) {
    box b = {.low = s->label[v], .high = s->label[v], .any = s->label[v] >= 0, .all = s->label[v] >= 0};
    if (!b.any) return empty_box(0);
    for (int d = 0; d < GCOR_MAX_DIMS; d++) b.min[d] = b.max[d] = s->position[d][v];
    return b;
}

static void make_boxes(side *s) {
    for (int64_t k = 0; k < s->n_boxes; k++) {
        s->boxes[k] = empty_box(1);
        for (int64_t v = k * BLOCK; v < (k + 1) * BLOCK && v < s->n_var; v++) {
            box own = box_of_variable(s, v);
            add_to_box(&s->boxes[k], &own);
        }
    }
}

/* Bounds of squared distances between two boxes. Rounding is monotonic, so that no pair's computed distance is
 * outside of the bounds. */
static void distances(const box *a, const box *b, double *near, double *far) {
    *near = *far = 0;
    for (int d = 0; d < GCOR_MAX_DIMS; d++) {
        double below = b->min[d] - a->max[d], above = a->min[d] - b->max[d];
        double gap = below > 0 ? below : above > 0 ? above : 0;
        double up = b->max[d] - a->min[d], down = a->max[d] - b->min[d], span = up > down ? up : down;
        *near += gap * gap;
        *far += span * span;
    }
}

static gcor_extent extent_of_boxes(const gcor_pairs *pairs, const box *a, const box *b) {
    int apart = a->high < b->low || b->high < a->low, all = a->all && b->all;
    int same = a->low == a->high && b->low == b->high && a->low == b->low;
    double near, far;
    if (!a->any || !b->any) return GCOR_NO_PAIR;
    distances(a, b, &near, &far);
    switch (pairs->relation) {
    case GCOR_WITHIN: return apart ? GCOR_NO_PAIR : same && all ? GCOR_ALL_PAIRS : GCOR_SOME_PAIRS;
    case GCOR_BETWEEN: return same ? GCOR_NO_PAIR : apart && all ? GCOR_ALL_PAIRS : GCOR_SOME_PAIRS;
    case GCOR_NEARER:
        if (apart || near > pairs->max) return GCOR_NO_PAIR;
        return same && all && far <= pairs->max ? GCOR_ALL_PAIRS : GCOR_SOME_PAIRS;
    default:
        if (same && far <= pairs->max) return GCOR_NO_PAIR;
        return all && (apart || near > pairs->max) ? GCOR_ALL_PAIRS : GCOR_SOME_PAIRS;
    }
}

/* ---- tiles ------------------------------------------------------------------------------------- */

static box box_of_blocks(const side *s, int64_t first, int64_t end) {
    box b = empty_box(1);
    for (int64_t k = first; k < end; k++) add_to_box(&b, &s->boxes[k]);
    return b;
}

/* True if a block of rows and a block of columns can have a pair of the shape, possibly outside of the tile. */
static int have_pair(gcor_shape shape, int64_t row_block, int64_t col_block) {
    return shape == GCOR_LOWER ? col_block <= row_block : shape == GCOR_UPPER ? col_block >= row_block : 1;
}

static gcor_extent extent_of_blocks(const gcor_pairs *pairs, int64_t row, int64_t row_end, int64_t col,
                                    int64_t col_end) {
    int some = 0, none = 0;
    for (int64_t i = row; i < row_end; i++)
        for (int64_t j = col; j < col_end; j++) {
            if (!have_pair(pairs->shape, i, j)) continue;
            gcor_extent extent = extent_of_boxes(pairs, &pairs->rows->boxes[i], &pairs->cols.boxes[j]);
            if (extent == GCOR_SOME_PAIRS) return extent;
            some |= extent == GCOR_ALL_PAIRS;
            none |= extent == GCOR_NO_PAIR;
            if (some && none) return GCOR_SOME_PAIRS;
        }
    return some ? GCOR_ALL_PAIRS : GCOR_NO_PAIR;
}

gcor_extent gcor_pairs_of_tile(const gcor_pairs *pairs, const gcor_tile *tile) {
    int64_t row = tile->row / BLOCK, row_end = (tile->row + tile->n_row + BLOCK - 1) / BLOCK;
    int64_t col = tile->col / BLOCK, col_end = (tile->col + tile->n_col + BLOCK - 1) / BLOCK;
    box rows = box_of_blocks(pairs->rows, row, row_end), cols = box_of_blocks(&pairs->cols, col, col_end);
    gcor_extent extent = extent_of_boxes(pairs, &rows, &cols);
    return extent == GCOR_SOME_PAIRS ? extent_of_blocks(pairs, row, row_end, col, col_end) : extent;
}

/* Shrinks blocks *first .. *end-1 of one side to those with a pair in the mask with any of the other side's blocks. */
static void shrink(const gcor_pairs *pairs, int by_row, const int64_t *other, int64_t *first, int64_t *end) {
    int64_t from = *end, to = *first;
    for (int64_t k = *first; k < *end; k++)
        for (int64_t l = other[0]; l < other[1]; l++) {
            int64_t i = by_row ? k : l, j = by_row ? l : k;
            if (!have_pair(pairs->shape, i, j)) continue;
            if (extent_of_boxes(pairs, &pairs->rows->boxes[i], &pairs->cols.boxes[j]) == GCOR_NO_PAIR) continue;
            from = from < k ? from : k;
            to = k + 1;
            break;
        }
    *first = from;
    *end = to;
}

/* Restricts the n variables from `var` on to blocks first .. end-1. */
static void cut(int64_t first, int64_t end, int64_t *var, int64_t *n) {
    int64_t from = gcor_clamp(first * BLOCK, *var, *var + *n), to = gcor_clamp(end * BLOCK, from, *var + *n);
    *var = from;
    *n = to - from;
}

gcor_tile gcor_pairs_shrink(const gcor_pairs *pairs, const gcor_tile *tile) {
    int64_t rows[2] = {tile->row / BLOCK, (tile->row + tile->n_row + BLOCK - 1) / BLOCK};
    int64_t cols[2] = {tile->col / BLOCK, (tile->col + tile->n_col + BLOCK - 1) / BLOCK};
    const box row_box = box_of_blocks(pairs->rows, rows[0], rows[1]);
    const box col_box = box_of_blocks(&pairs->cols, cols[0], cols[1]);
    gcor_tile part = *tile;
    if (extent_of_boxes(pairs, &row_box, &col_box) == GCOR_NO_PAIR) return (gcor_tile){tile->row, 0, tile->col, 0};
    shrink(pairs, 1, cols, &rows[0], &rows[1]);
    shrink(pairs, 0, rows, &cols[0], &cols[1]);
    cut(rows[0], rows[1], &part.row, &part.n_row);
    cut(cols[0], cols[1], &part.col, &part.n_col);
    return part;
}

/* ---- pairs ------------------------------------------------------------------------------------- */

/* near[k] = 1 if column col+k is within the rule's distance, otherwise 0. */
static void compare_positions(const gcor_pairs *pairs, int64_t row, int64_t col, int64_t n, unsigned char *near) {
    const side *rows = pairs->rows, *cols = &pairs->cols;
    const double max = pairs->max, x = rows->position[0][row], y = rows->position[1][row], z = rows->position[2][row];
    const double *xs = cols->position[0] + col, *ys = cols->position[1] + col, *zs = cols->position[2] + col;
    for (int64_t k = 0; k < n; k++)
        near[k] = (xs[k] - x) * (xs[k] - x) + (ys[k] - y) * (ys[k] - y) + (zs[k] - z) * (zs[k] - z) <= max;
}

/* Combines `near` from compare_positions() with the labels, in place. */
static void join_labels(const gcor_pairs *pairs, const int32_t *label, int32_t own, int64_t n, unsigned char *near) {
    if (pairs->relation == GCOR_NEARER) {
        for (int64_t k = 0; k < n; k++) near[k] = near[k] & (label[k] == own);
    } else {
        for (int64_t k = 0; k < n; k++) near[k] = (label[k] >= 0) & ((label[k] != own) | !near[k]);
    }
}

/* Compares a row's variable with columns of one block. */
static void compare(const gcor_pairs *pairs, int64_t row, int64_t col, int64_t n, unsigned char *counts) {
    const int32_t *label = pairs->cols.label + col, own = pairs->rows->label[row];
    if (pairs->relation == GCOR_WITHIN || pairs->relation == GCOR_BETWEEN) {
        const int equal = pairs->relation == GCOR_WITHIN;
        for (int64_t k = 0; k < n; k++) counts[k] = (label[k] >= 0) & ((label[k] == own) == equal);
    } else {
        compare_positions(pairs, row, col, n, counts);
        join_labels(pairs, label, own, n, counts);
    }
}

/* n is at most BLOCK, so that the sum fits. */
static int64_t count_ones(const unsigned char *counts, int64_t n) {
    unsigned char ones = 0;
    for (int64_t k = 0; k < n; k++) ones = (unsigned char)(ones + counts[k]);
    return ones;
}

int64_t gcor_pairs_of_row(const gcor_pairs *pairs, int64_t row, int64_t col, int64_t n, unsigned char *counts) {
    const box own = box_of_variable(pairs->rows, row);
    int64_t found = 0;
    for (int64_t k = 0, some; k < n; k += some) {
        int64_t block = (col + k) / BLOCK;
        some = gcor_clamp((block + 1) * BLOCK - (col + k), 0, n - k);
        gcor_extent extent = extent_of_boxes(pairs, &own, &pairs->cols.boxes[block]);
        if (extent == GCOR_SOME_PAIRS) {
            compare(pairs, row, col + k, some, counts + k);
            found += count_ones(counts + k, some);
        } else {
            memset(counts + k, extent == GCOR_ALL_PAIRS, (size_t)some);
            found += extent == GCOR_ALL_PAIRS ? some : 0;
        }
    }
    return found;
}

/* ---- counting pairs ---------------------------------------------------------------------------- */

static int64_t count_tile(const gcor_pairs *pairs, const gcor_tile *tile) {
    unsigned char counts[BLOCK];
    int64_t found = 0;
    for (int64_t row = tile->row; row < tile->row + tile->n_row; row++) {
        int64_t col, n;
        gcor_tile_segment(tile, pairs->shape, row, &col, &n);
        found += gcor_pairs_of_row(pairs, row, col, n, counts);
    }
    return found;
}

static int64_t count_block(const gcor_pairs *pairs, int64_t i, int64_t j) {
    int64_t row = i * BLOCK, col = j * BLOCK;
    gcor_tile tile = {row, gcor_clamp(pairs->rows->n_var - row, 0, BLOCK), col,
                      gcor_clamp(pairs->cols.n_var - col, 0, BLOCK)};
    gcor_extent extent = extent_of_boxes(pairs, &pairs->rows->boxes[i], &pairs->cols.boxes[j]);
    if (extent == GCOR_NO_PAIR) return 0;
    return extent == GCOR_ALL_PAIRS ? gcor_tile_pairs(&tile, pairs->shape) : count_tile(pairs, &tile);
}

typedef struct {
    const gcor_pairs *pairs;
    int64_t found;
} pair_count;

static void count_blocks_of_row(void *argument, int thread, int64_t i) {
    pair_count *c = argument;
    int64_t found = 0;
    for (int64_t j = 0; j < c->pairs->cols.n_boxes; j++)
        if (have_pair(c->pairs->shape, i, j)) found += count_block(c->pairs, i, j);
    __atomic_fetch_add(&c->found, found, __ATOMIC_RELAXED);
}

int64_t gcor_pairs_count(const gcor_pairs *pairs, gcor_context *context) {
    pair_count c = {pairs, 0};
    gcor_for_each(context->threads, pairs->rows->n_boxes, count_blocks_of_row, &c);
    return c.found;
}

/* ---- from a rule ------------------------------------------------------------------------------- */

static void free_side(side *s) {
    gcor_free(s->number);
    gcor_free(s->label);
    for (int d = 0; d < GCOR_MAX_DIMS; d++) gcor_free(s->position[d]);
    gcor_free(s->boxes);
}

void gcor_pairs_free(gcor_pairs *pairs) {
    if (!pairs) return;
    free_side(&pairs->cols);
    free_side(&pairs->own_rows);
    gcor_free(pairs);
}

/* Label of a variable; -1 if it is in no pair, also because of its coordinates. */
static int32_t label_of(const gcor_traits *traits, int dims, int64_t v) {
    int32_t label = traits->label ? traits->label[v] : 0;
    for (int d = 0; d < dims; d++)
        if (!isfinite(traits->position[v * dims + d])) label = -1;
    return label < 0 ? -1 : label;
}

static void copy_traits(side *s, const gcor_traits *traits, int dims) {
    for (int64_t v = 0; v < s->n_var; v++) {
        int64_t own = s->number ? s->number[v] : v;
        s->label[v] = label_of(traits, dims, own);
        for (int d = 0; d < GCOR_MAX_DIMS; d++)
            s->position[d][v] = d < dims && s->label[v] >= 0 ? traits->position[own * dims + d] : 0;
    }
}

static gcor_status fill_side(gcor_context *context, side *s, const gcor_traits *traits, int dims, int64_t n_var,
                             int reorder) {
    const char *what = "which pairs count";
    *s = (side){.n_var = n_var, .n_boxes = (n_var + BLOCK - 1) / BLOCK};
    gcor_status status = reorder ? gcor_order_of(context, traits, dims, n_var, &s->number) : GCOR_OK;
    int ok = !status && (s->label = gcor_alloc(context, n_var, sizeof *s->label, what));
    for (int d = 0; d < GCOR_MAX_DIMS; d++)
        ok = ok && (s->position[d] = gcor_alloc(context, n_var, sizeof(double), what));
    ok = ok && (s->boxes = gcor_alloc(context, s->n_boxes, sizeof *s->boxes, what));
    if (!ok) return GCOR_NO_MEMORY;
    copy_traits(s, traits, dims);
    make_boxes(s);
    return GCOR_OK;
}

/* Largest number whose rounded square root does not exceed the distance, so that no root has to be taken per pair. */
static double largest_square(double distance) {
    double max = distance * distance, next;
    while (max > 0 && sqrt(max) > distance) max = nextafter(max, 0);
    while (isfinite(max) && sqrt(next = nextafter(max, INFINITY)) <= distance && next > max) max = next;
    return max;
}

gcor_status gcor_pairs_new(gcor_context *context, const gcor_pair_rule *rule, gcor_shape shape, int64_t n_row,
                           int64_t n_col, int reorder_rows, int reorder_cols, gcor_pairs **pairs) {
    gcor_pairs *fresh = *pairs = gcor_alloc(context, 1, sizeof *fresh, "which pairs count");
    if (!fresh) return GCOR_NO_MEMORY;
    *fresh = (gcor_pairs){.relation = rule->relation, .shape = shape, .max = largest_square(rule->distance)};
    fresh->rows = shape == GCOR_FULL ? &fresh->own_rows : &fresh->cols;
    gcor_status status = fill_side(context, &fresh->cols, &rule->x, rule->dims, n_col, reorder_cols);
    if (!status && shape == GCOR_FULL)
        status = fill_side(context, &fresh->own_rows, &rule->y, rule->dims, n_row, reorder_rows);
    if (!status) return GCOR_OK;
    gcor_pairs_free(fresh);
    *pairs = NULL;
    return status;
}

const int32_t *gcor_pairs_rows(const gcor_pairs *pairs) {
    return pairs->rows->number;
}

const int32_t *gcor_pairs_cols(const gcor_pairs *pairs) {
    return pairs->cols.number;
}
