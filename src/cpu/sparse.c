/* REAL_SPARSE operands: columns of a sparse matrix as a list of entries, and products of common entries. A coefficient
 * does not change if a constant is added to a column, so the entries are differences from the column's value at all
 * other observations: values, or ranks less the rank of zero. With sums over all observations,
 *
 *   r = (sum x y - sum x sum y / n) / sqrt(norm norm'),   norm = sum x^2 - (sum x)^2 / n,
 *
 * where only common entries add to sum x y. A column with entries in a fraction d of the observations has
 * (sum x)^2 / n <= d sum x^2, so that for d <= 1/2 the subtraction loses at most one bit. A column with more entries is
 * prepared as a dense one, whose mean is zero, and all of its observations are entries.
 *
 * The sum of a pair is over ascending observations, so that results do not depend on threads, tiles or shards. */
#include "cpu.h"

#include "../base/alloc.h"
#include "../base/threads.h"
#include "../base/triangle.h"
#include "../measure/coefficient.h"
#include "../measure/measure.h"
#include "../source/source.h"

#include <string.h>

/* ---- columns ---------------------------------------------------------------------------- */

static int64_t count_stored(const gcor_matrix *matrix, int64_t var) {
    return matrix->sparse_start[var + 1] - matrix->sparse_start[var];
}

/* True if the column is prepared as a dense one. */
static int has_many(const gcor_matrix *matrix, int64_t var) {
    return 2 * count_stored(matrix, var) > matrix->source.n_obs;
}

/* Copies n values, with -0 as +0. Returns the flags that they cause. */
static int copy_values(const double *from, int64_t n, double *x) {
    int flags = 0;
    for (int64_t k = 0; k < n; k++) {
        x[k] = from[k] + 0.0;
        if (!isfinite(x[k])) flags |= isnan(x[k]) ? GCOR_MISSING : GCOR_INFINITE;
    }
    return flags;
}

/* Replaces n stored values by their doubled ranks less that of zero, which n_obs - n further observations have: one of
 * them is ranked with the stored values, and the others are below or above a value together. x[n] is overwritten. */
static void rank_entries(double *x, int64_t n, int64_t n_obs, const gcor_ranks *ranks) {
    int64_t others = n_obs - n - 1, tied;
    x[n] = 0;
    (void)gcor_rank(x, n + 1, ranks, &tied);
    for (int64_t k = 0; k < n; k++) {
        int64_t sign = (x[k] > 0) - (x[k] < 0);
        int64_t steps = (int64_t)ranks->begin[k] + ranks->end[k] - ranks->begin[n] - ranks->end[n];
        x[k] = (double)(steps + sign * others);
    }
}

/* Scales values to about unit length, so that products do not overflow. */
static void scale_entries(double *x, int64_t n, double *out) {
    double scale = gcor_scale_of(x, n), squares = 0;
    for (int64_t k = 0; k < n; k++) {
        x[k] *= scale;
        squares += x[k] * x[k];
    }
    double unit = squares > 0 ? 1 / sqrt(squares) : 0;
    for (int64_t k = 0; k < n; k++) out[k] = x[k] * unit;
}

/* Prepares all observations of a column. */
static void fill_dense(const cpu_sparse_preparation *p, const gcor_ranks *ranks, double *x, int64_t var, int *flags) {
    const cpu_operand *o = p->operand;
    const int32_t *row = p->matrix->sparse_row + p->matrix->sparse_start[var];
    int64_t n = o->head.n_obs, at = o->start[var - o->head.first];
    memset(x, 0, (size_t)n * sizeof *x);
    const double *stored = (const double *)p->matrix->values + p->matrix->sparse_start[var];
    for (int64_t e = 0; e < count_stored(p->matrix, var); e++) x[row[e]] = stored[e] + 0.0;
    for (int64_t k = 0; k < n; k++) o->order[at + k] = (int32_t)k;
    (void)gcor_prepare_double(o->measure, NULL, x, n, flags, ranks, o->values + at);
}

static void fill_sparse(const cpu_sparse_preparation *p, const gcor_ranks *ranks, double *x, int64_t var) {
    const cpu_operand *o = p->operand;
    int64_t n = count_stored(p->matrix, var), at = o->start[var - o->head.first];
    memcpy(o->order + at, p->matrix->sparse_row + p->matrix->sparse_start[var], (size_t)n * sizeof *o->order);
    if (o->measure->ranked) rank_entries(x, n, o->head.n_obs, ranks);
    scale_entries(x, n, o->values + at);
}

/* Sets the column's mean. Returns its norm, summed as the product with another column. */
static double describe_entries(const cpu_operand *o, int64_t j) {
    double sum = 0, squares = 0;
    for (int64_t e = o->start[j]; e < o->start[j + 1]; e++) {
        sum += o->values[e];
        squares += o->values[e] * o->values[e];
    }
    o->mean[j] = o->measure->angle == GCOR_AS_IS ? 0 : sum / sqrt((double)o->head.n_obs);
    return squares - o->mean[j] * o->mean[j];
}

static void prepare_column(void *argument, int thread, int64_t j) {
    const cpu_sparse_preparation *p = argument;
    cpu_operand *o = p->operand;
    int64_t n = o->head.n_obs, var = o->head.first + j;
    if (gcor_stop(p->context)) return;
    double *x = p->values + thread * (n + 1);
    gcor_ranks ranks = gcor_ranks_at(p->ranks + thread * p->ranks_bytes, n + 1);
    int flags = copy_values((const double *)p->matrix->values + p->matrix->sparse_start[var],
                            count_stored(p->matrix, var), x);
    if (has_many(p->matrix, var))
        fill_dense(p, &ranks, x, var, &flags);
    else
        fill_sparse(p, &ranks, x, var);
    double norm = describe_entries(o, j);
    gcor_describe_column(o->measure, o->head.kind, n, &norm, &flags);
    o->head.norm[j] = norm;
    o->head.flags[j] = (unsigned char)flags;
}

/* Columns with many entries take one for each observation. */
static gcor_status allocate(gcor_context *context, const gcor_matrix *matrix, cpu_operand *o) {
    const char *what = "the prepared columns";
    int64_t n_var = o->head.n_var, entries = 0;
    if (!(o->start = gcor_alloc(context, n_var + 1, sizeof *o->start, what))) return GCOR_NO_MEMORY;
    for (int64_t j = 0; j < n_var; j++) {
        int64_t var = o->head.first + j;
        o->start[j] = entries;
        entries += has_many(matrix, var) ? o->head.n_obs : count_stored(matrix, var);
    }
    o->start[n_var] = entries;
    int ok = (o->mean = gcor_alloc(context, n_var, sizeof *o->mean, what)) &&
             (o->order = gcor_alloc(context, entries, sizeof *o->order, what)) &&
             (o->values = gcor_alloc(context, entries, sizeof *o->values, what));
    return ok ? GCOR_OK : GCOR_NO_MEMORY;
}

gcor_status cpu_prepare_entries(gcor_context *context, const gcor_matrix *matrix, cpu_operand *o,
                                void (*prepare_column)(void *preparation, int thread, int64_t j)) {
    int64_t n = o->head.n_obs + 1;
    cpu_sparse_preparation p = {context, matrix, o, .ranks_bytes = (gcor_ranks_bytes(n) + 63) / 64 * 64};
    p.values = gcor_alloc(context, context->threads * n, sizeof(double), "columns being prepared");
    p.ranks = gcor_alloc(context, context->threads, p.ranks_bytes, "columns being prepared");
    if (p.values && p.ranks) gcor_for_each(context->threads, o->head.n_var, prepare_column, &p);
    gcor_free(p.values);
    gcor_free(p.ranks);
    return context->error.status;
}

gcor_status cpu_prepare_sparse(gcor_context *context, const gcor_columns *columns, cpu_operand *o) {
    const gcor_matrix *matrix = gcor_sparse_of(columns->source, GCOR_MAX_SPARSE);
    gcor_status status = allocate(context, matrix, o);
    return status ? status : cpu_prepare_entries(context, matrix, o, prepare_column);
}

/* ---- a tile ----------------------------------------------------------------------------- */

/* The entries of a tile's columns, ordered by observation and then by column. */
typedef struct {
    gcor_state *state;
    const cpu_operand *rows, *cols;
    const gcor_tile *tile;
    double *value;
    int64_t *at;       /* n_obs + 1 starts of observations */
    int32_t *col;      /* within the tile */
    int32_t *position; /* of each entry, in the order of the operand, among those of its observation */
    double *sums;      /* n_col per thread */
    float *rounded;    /* n_col per thread */
} sparse_tile;

/* Observations that a thread orders at a time. */
enum { CHUNK = 4096 };

/* Returns the first entry of column j of the operand whose observation is `obs` or a later one. */
static int64_t find_entry(const cpu_operand *o, int64_t j, int64_t obs) {
    return gcor_first_from(o->order, o->start[j], o->start[j + 1], obs);
}

/* Sets at[] for observations first .. end-1. */
static void count_entries(const sparse_tile *t, int64_t first, int64_t end) {
    const cpu_operand *o = t->cols;
    int64_t before = 0, own = t->tile->col - o->head.first;
    memset(t->at + first, 0, (size_t)(end - first) * sizeof *t->at);
    for (int64_t j = own; j < own + t->tile->n_col; j++) {
        int64_t e = find_entry(o, j, first);
        before += e - o->start[j];
        for (; e < o->start[j + 1] && o->order[e] < end; e++) t->at[o->order[e]]++;
    }
    for (int64_t k = first; k < end; k++) {
        int64_t n = t->at[k];
        t->at[k] = before;
        before += n;
    }
    if (end == o->head.n_obs) t->at[end] = before;
}

static void order_chunk(void *argument, int thread, int64_t chunk) {
    const sparse_tile *t = argument;
    const cpu_operand *o = t->cols;
    int64_t first = chunk * CHUNK, end = gcor_min(first + CHUNK, o->head.n_obs);
    int64_t own = t->tile->col - o->head.first;
    int32_t used[CHUNK] = {0};
    count_entries(t, first, end);
    for (int64_t c = 0; c < t->tile->n_col; c++) {
        int64_t e = find_entry(o, own + c, first);
        for (; e < o->start[own + c + 1] && o->order[e] < end; e++) {
            int32_t k = t->position[e - o->start[own]] = used[o->order[e] - first]++;
            int64_t to = t->at[o->order[e]] + k;
            t->col[to] = (int32_t)c;
            t->value[to] = o->values[e];
        }
    }
}

/* Lists of entries are short and far apart: one is prefetched this many lists before it is read. */
enum { AHEAD = 4, LINE = 8 };

/* Inlined because compilers drop calls of functions that only prefetch. */
static inline __attribute__((always_inline)) void prefetch_observation(const sparse_tile *t, int32_t obs) {
    for (int64_t k = t->at[obs]; k < t->at[obs + 1]; k += LINE) {
        __builtin_prefetch(t->value + k);
        __builtin_prefetch(t->col + k);
    }
}

/* In a triangle, returns the positions of the entries of a row's variable that is one of the tile's columns, too: it is
 * multiplied with the columns on one side of it. Otherwise NULL: it is multiplied with all columns. */
static const int32_t *position_of(const sparse_tile *t, int64_t row) {
    const int64_t *start = t->cols->start - t->cols->head.first, col = t->tile->col;
    if (t->state->sink->shape == GCOR_FULL || row < col || row >= col + t->tile->n_col) return NULL;
    return t->position + (start[row] - start[col]);
}

/* Adds the products of a row's variable to the sums of the tile's columns. */
static void add_products(const sparse_tile *t, int64_t row, double *restrict sums) {
    const cpu_operand *o = t->rows;
    gcor_shape shape = t->state->sink->shape;
    int64_t j = row - o->head.first;
    const int32_t *position = position_of(t, row);
    for (int64_t e = o->start[j]; e < o->start[j + 1]; e++) {
        int64_t k = t->at[o->order[e]], end = t->at[o->order[e] + 1];
        double value = o->values[e];
        if (e + AHEAD < o->start[j + 1]) prefetch_observation(t, o->order[e + AHEAD]);
        if (position && shape == GCOR_LOWER) end = k + position[e - o->start[j]];
        if (position && shape == GCOR_UPPER) k += position[e - o->start[j]] + 1;
        for (; k < end; k++) sums[t->col[k]] += value * t->value[k];
    }
}

static void compute_row(void *argument, int thread, int64_t r) {
    const sparse_tile *t = argument;
    gcor_state *state = t->state;
    gcor_segment segment = {.row = t->tile->row + r};
    double *sums = t->sums + thread * t->tile->n_col;
    float *rounded = t->rounded + thread * t->tile->n_col;
    gcor_tile_segment(t->tile, state->sink->shape, segment.row, &segment.col, &segment.n);
    if (segment.n == 0 || gcor_stop(state->context)) return;
    memset(sums, 0, (size_t)t->tile->n_col * sizeof *sums);
    add_products(t, segment.row, sums);

    int64_t row = segment.row - t->rows->head.first, col = segment.col - t->cols->head.first;
    double mean = t->rows->mean[row], *r_of = sums + (segment.col - t->tile->col);
    for (int64_t k = 0; k < segment.n; k++) r_of[k] -= mean * t->cols->mean[col + k];
    state->kernels->coefficients(r_of, t->rows->head.norm[row], t->cols->head.norm + col, segment.n);
    if (state->sink->form == GCOR_AS_FLOATS) {
        for (int64_t k = 0; k < segment.n; k++) rounded[k] = (float)r_of[k];
        segment.floats = rounded;
    } else {
        segment.doubles = r_of;
    }
    cpu_deliver(state, thread, segment);
}

static gcor_status reserve(sparse_tile *t) {
    gcor_state *state = t->state;
    const cpu_operand *o = t->cols;
    int64_t first = t->tile->col - o->head.first, n_col = t->tile->n_col, n_obs = o->head.n_obs;
    int64_t entries = o->start[first + n_col] - o->start[first];
    size_t entry = sizeof *t->value + sizeof *t->col + sizeof *t->position;
    char *packed = cpu_reserve(state->context, &state->cols.memory,
                               entries * (int64_t)entry + (n_obs + 1) * (int64_t)sizeof *t->at, 1);
    t->sums = cpu_reserve(state->context, &state->sums, state->context->threads * n_col, sizeof *t->sums);
    t->rounded = cpu_reserve(state->context, &state->work, state->context->threads * n_col, sizeof *t->rounded);
    if (!packed || !t->sums || !t->rounded) return GCOR_NO_MEMORY;
    t->value = (double *)(void *)packed;
    t->at = (int64_t *)(void *)(t->value + entries);
    t->col = (int32_t *)(void *)(t->at + n_obs + 1);
    t->position = t->col + entries;
    return GCOR_OK;
}

gcor_status cpu_sparse_tile(gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                            const gcor_tile *tile) {
    gcor_context *context = state->context;
    sparse_tile t = {.state = state, .rows = rows, .cols = cols, .tile = tile};
    gcor_status status = reserve(&t);
    if (status) return status;
    gcor_for_each(context->threads, (cols->head.n_obs + CHUNK - 1) / CHUNK, order_chunk, &t);
    gcor_for_each(context->threads, tile->n_row, compute_row, &t);
    return context->error.status;
}
