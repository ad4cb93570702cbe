/* SIGN_SPARSE operands: Kendall's tau-b of columns of a sparse matrix, by their entries that are not zero. Two
 * observations that are zero in one of two columns are tied there. With A and B the entries of columns x and y, of n
 * observations, the concordant less the discordant pairs are sums over the common entries k alone:
 *
 *   one observation common, the other in neither column:  (n - |A or B|) sum_k sgn x_k sgn y_k
 *   one in A only, the other in B only:                   -(sum of sgn x over A only) (sum of sgn y over B only)
 *   one common, the other in A only (and so for B):       sum_k sgn y_k sum_i sgn(x_k - x_i)
 *   both common:                                          sgn(x_k - x_i) sgn(y_k - y_i)
 *
 * The inner sum of the third line is that over A, which a column has for each entry, less that over the common entries.
 * Together with the fourth line, two common entries add the product of both signs, times 1, -1 or -3 if x and y have
 * the same signs at both, one of them has, or none. */
#include "cpu.h"

#include "../base/alloc.h"
#include "../base/threads.h"
#include "../measure/coefficient.h"
#include "../measure/measure.h"
#include "../source/source.h"

#include <string.h>

enum { MAX_LEVELS = 64 }; /* of a column whose common entries are counted in a table */

/* ---- columns ---------------------------------------------------------------------------- */

/* Copies the stored values that are not zero to x, and their observations to `order`. Returns their number. */
static int64_t copy_entries(const gcor_matrix *matrix, int64_t var, double *x, int32_t *order, int *flags) {
    const double *stored = matrix->values;
    int64_t n = 0;
    for (int64_t e = matrix->sparse_start[var]; e < matrix->sparse_start[var + 1]; e++) {
        if (stored[e] == 0) continue;
        if (isnan(stored[e])) *flags |= GCOR_MISSING;
        if (isinf(stored[e])) *flags |= GCOR_INFINITE;
        order[n] = matrix->sparse_row[e];
        x[n++] = stored[e];
    }
    return n;
}

/* Ranks n entries with one zero, at x[n]. Sets for each entry its level among the column's distinct values, counted
 * from zero, which is 0, up and down; and the number of the column's entries below less the number above. Returns the
 * number of tied pairs of entries. */
static int64_t rank_entries(const double *x, int64_t n, const gcor_ranks *ranks, int32_t *level, int32_t *excess) {
    int64_t tied;
    int32_t now = 0, of_zero = 0;
    (void)gcor_rank(x, n + 1, ranks, &tied);
    for (int64_t s = 0; s <= n; s++) {
        int32_t k = ranks->order[s];
        now += s > 0 && ranks->begin[k] == (int32_t)s;
        if (k < n)
            level[k] = now;
        else
            of_zero = now;
    }
    for (int64_t k = 0; k < n; k++) {
        level[k] -= of_zero;
        excess[k] = ranks->begin[k] - (level[k] > 0) - ((int32_t)n + 1 - ranks->end[k] - (level[k] < 0));
    }
    return tied;
}

/* Returns the number of levels; 0: more than MAX_LEVELS, or some below zero. */
static unsigned char count_levels(const int32_t *level, int64_t n) {
    int32_t lowest = 1, highest = 0;
    for (int64_t k = 0; k < n; k++) {
        lowest = level[k] < lowest ? level[k] : lowest;
        highest = level[k] > highest ? level[k] : highest;
    }
    return lowest > 0 && highest <= MAX_LEVELS ? (unsigned char)highest : 0;
}

static void prepare_column(void *argument, int thread, int64_t j) {
    const cpu_sparse_preparation *p = argument;
    cpu_operand *o = p->operand;
    int64_t n_obs = o->head.n_obs, at = o->start[j], tied = 0, sum = 0;
    int flags = 0;
    if (gcor_stop(p->context)) return;
    double *x = p->values + thread * (n_obs + 1);
    gcor_ranks ranks = gcor_ranks_at(p->ranks + thread * p->ranks_bytes, n_obs + 1);
    int64_t n = copy_entries(p->matrix, o->head.first + j, x, o->order + at, &flags);
    if (flags & GCOR_MISSING) n = 0; /* the column has no coefficients */
    x[n] = 0;
    tied = rank_entries(x, n, &ranks, o->begin + at, o->end + at);
    for (int64_t e = at; e < at + n; e++) sum += o->begin[e] > 0 ? 1 : -1;
    double norm = (double)(gcor_obs_pairs(n_obs) - gcor_obs_pairs(n_obs - n) - tied);
    gcor_describe_column(o->measure, o->head.kind, n_obs, &norm, &flags);
    o->n_present[j] = n;
    o->levels[j] = count_levels(o->begin + at, n);
    o->mean[j] = (double)sum;
    o->head.norm[j] = norm;
    o->head.flags[j] = (unsigned char)flags;
}

static gcor_status allocate(gcor_context *context, const gcor_matrix *matrix, cpu_operand *o) {
    const char *what = "the prepared columns";
    int64_t n_var = o->head.n_var, before = matrix->sparse_start[o->head.first];
    int64_t entries = matrix->sparse_start[o->head.first + n_var] - before;
    int ok = (o->start = gcor_alloc(context, n_var + 1, sizeof *o->start, what)) &&
             (o->n_present = gcor_alloc(context, n_var, sizeof *o->n_present, what)) &&
             (o->mean = gcor_alloc(context, n_var, sizeof *o->mean, what)) &&
             (o->levels = gcor_alloc(context, n_var, sizeof *o->levels, what)) &&
             (o->order = gcor_alloc(context, entries, sizeof *o->order, what)) &&
             (o->begin = gcor_alloc(context, entries, sizeof *o->begin, what)) &&
             (o->end = gcor_alloc(context, entries, sizeof *o->end, what));
    for (int64_t j = 0; ok && j <= n_var; j++) o->start[j] = matrix->sparse_start[o->head.first + j] - before;
    return ok ? GCOR_OK : GCOR_NO_MEMORY;
}

gcor_status cpu_prepare_sparse_signs(gcor_context *context, const gcor_columns *columns, cpu_operand *o) {
    const gcor_matrix *matrix = gcor_sparse_of(columns->source, GCOR_MAX_SPARSE_SIGNS);
    gcor_status status = allocate(context, matrix, o);
    return status ? status : cpu_prepare_entries(context, matrix, o, prepare_column);
}

/* ---- common entries ----------------------------------------------------------------------- */

/* Scratch of a thread, n_obs each; x and y one more. */
typedef struct {
    int32_t *entry; /* of the row's variable: index + 1 of the observation's entry; 0: none */
    int32_t *x, *y; /* levels of the common entries */
    float *x_score, *y_score;
    int32_t *rows;
    double *values;
    gcor_ranks ranks;
    void *knight;
} scratch;

/* The common entries of two columns, whose levels are in the scratch. */
typedef struct {
    int64_t n, same_signs, x_signs, y_signs; /* their number; sums of sgn x sgn y, sgn x, and sgn y */
    int64_t excess; /* sum of sgn y times x's entries below less those above, and the same for x and y exchanged */
} common_entries;

static int sign_of(int32_t level) {
    return level > 0 ? 1 : -1;
}

/* Writes the common entries of the row's variable and of variable j: their indices in both, from 1 and from 0. Without
 * a branch, as common entries cannot be predicted. Returns their number. */
static int64_t list_common(const cpu_operand *cols, int64_t j, const scratch *s) {
    const int32_t *order = cols->order + cols->start[j];
    int64_t n = 0;
    for (int32_t e = 0; e < (int32_t)cols->n_present[j]; e++) {
        int32_t own = s->entry[order[e]];
        s->x[n] = own;
        s->y[n] = e;
        n += own > 0;
    }
    return n;
}

static common_entries find_common(const cpu_operand *rows, int64_t i, const cpu_operand *cols, int64_t j,
                                  const scratch *s) {
    common_entries c = {.n = list_common(cols, j, s)};
    for (int64_t k = 0; k < c.n; k++) {
        int64_t own = rows->start[i] + s->x[k] - 1, other = cols->start[j] + s->y[k];
        int x_sign = sign_of(rows->begin[own]), y_sign = sign_of(cols->begin[other]);
        s->x[k] = rows->begin[own];
        s->y[k] = cols->begin[other];
        c.same_signs += x_sign * y_sign;
        c.x_signs += x_sign;
        c.y_signs += y_sign;
        c.excess += y_sign * rows->end[own] + x_sign * cols->end[other];
    }
    return c;
}

/* Sums over the pairs of the n common entries, see the top of this file. */
static int64_t compare_all(const int32_t *x, const int32_t *y, int64_t n) {
    int64_t sum = 0;
    for (int64_t k = 1; k < n; k++) {
        int32_t x_k = x[k], y_k = y[k], of_k = 0;
        for (int64_t i = 0; i < k; i++) {
            int32_t sign = ((x_k > x[i]) - (x_k < x[i])) * ((y_k > y[i]) - (y_k < y[i]));
            int32_t others = ((x_k ^ x[i]) < 0) + ((y_k ^ y[i]) < 0);
            of_k += sign * (1 - 2 * others);
        }
        sum += of_k;
    }
    return sum;
}

/* The same by sorting, for positive entries. */
static int64_t compare_sorted(const scratch *s, int64_t n) {
    cpu_sorted sorted = {.rows = s->rows};
    int64_t tied;
    for (int64_t k = 0; k < n; k++) s->values[k] = s->x[k];
    (void)gcor_scores(&s->ranks, n, gcor_rank(s->values, n, &s->ranks, &tied), s->values);
    for (int64_t k = 0; k < n; k++) {
        s->x_score[k] = (float)s->values[k];
        s->y_score[k] = (float)s->y[k];
    }
    cpu_sort_column(s->x_score, n, s->knight, &sorted);
    return cpu_knight(&sorted, s->y_score, s->knight).numerator;
}

/* The same by counting, for positive entries of few levels. */
static int64_t compare_table(const scratch *s, int64_t n, int x_levels, int y_levels) {
    int32_t count[MAX_LEVELS * MAX_LEVELS];
    int64_t before[MAX_LEVELS] = {0}, all = 0, sum = 0;
    memset(count, 0, (size_t)(x_levels * y_levels) * sizeof *count);
    for (int64_t k = 0; k < n; k++) count[(s->x[k] - 1) * y_levels + s->y[k] - 1]++;
    for (int a = 0; a < x_levels; a++) { /* before: of each level of y, the entries of lower levels of x */
        const int32_t *own = count + a * y_levels;
        int64_t below = 0, row = 0;
        for (int b = 0; b < y_levels; b++) {
            sum += own[b] * (2 * below + before[b] - all);
            below += before[b];
            before[b] += own[b];
            row += own[b];
        }
        all += row;
    }
    return sum;
}

static int64_t compare(const scratch *s, const common_entries *c, int x_levels, int y_levels, int64_t n_obs) {
    enum { FEW = 384, EXACT = 1 << 24 }; /* sorting is faster from FEW on; floats below EXACT are exact */
    int are_positive = c->x_signs == c->n && c->y_signs == c->n;
    if (x_levels > 0 && y_levels > 0 && x_levels * y_levels <= 8 * c->n)
        return compare_table(s, c->n, x_levels, y_levels);
    return are_positive && c->n > FEW && n_obs < EXACT ? compare_sorted(s, c->n) : compare_all(s->x, s->y, c->n);
}

/* Returns concordant less discordant pairs of observations. */
static int64_t numerator(const cpu_operand *rows, int64_t i, const cpu_operand *cols, int64_t j, const scratch *s) {
    common_entries c = find_common(rows, i, cols, j, s);
    int64_t n = rows->head.n_obs, neither = n - (rows->n_present[i] + cols->n_present[j] - c.n);
    int64_t compared = c.n > 1 ? compare(s, &c, rows->levels[i], cols->levels[j], n) : 0;
    int64_t only_x = (int64_t)rows->mean[i] - c.x_signs, only_y = (int64_t)cols->mean[j] - c.y_signs;
    return neither * c.same_signs - only_x * only_y + c.excess + compared;
}

/* ---- a tile ----------------------------------------------------------------------------- */

typedef struct {
    gcor_state *state;
    const cpu_operand *rows, *cols;
    const gcor_tile *tile;
    char *work; /* work_bytes per thread: n_col values and a scratch */
    int64_t work_bytes;
} sparse_tile;

static scratch scratch_at(const sparse_tile *t, int thread, double **values) {
    int64_t n = t->rows->head.n_obs;
    scratch s;
    *values = (double *)(void *)(t->work + thread * t->work_bytes);
    s.values = *values + t->tile->n_col;
    s.knight = s.values + n;
    char *ranks = (char *)s.knight + (cpu_knight_bytes(n) + 7) / 8 * 8;
    s.ranks = gcor_ranks_at(ranks, n);
    s.entry = (int32_t *)(void *)(ranks + (gcor_ranks_bytes(n) + 7) / 8 * 8);
    s.x = s.entry + n;
    s.y = s.x + n + 1;
    s.rows = s.y + n + 1;
    s.x_score = (float *)(void *)(s.rows + n);
    s.y_score = s.x_score + n;
    return s;
}

static void compute_row(void *argument, int thread, int64_t r) {
    const sparse_tile *t = argument;
    const cpu_operand *o = t->rows;
    gcor_segment segment = {.row = t->tile->row + r};
    double *values;
    const scratch s = scratch_at(t, thread, &values);
    gcor_tile_segment(t->tile, t->state->sink->shape, segment.row, &segment.col, &segment.n);
    if (segment.n == 0) return;
    int64_t i = segment.row - o->head.first, j = segment.col - t->cols->head.first, first = o->start[i];
    memset(s.entry, 0, (size_t)o->head.n_obs * sizeof *s.entry);
    for (int64_t e = 0; e < o->n_present[i]; e++) s.entry[o->order[first + e]] = (int32_t)e + 1;
    for (int64_t k = 0; k < segment.n; k++) {
        if (gcor_stop(t->state->context)) return;
        values[k] = (double)numerator(o, i, t->cols, j + k, &s);
    }
    t->state->kernels->coefficients(values, o->head.norm[i], t->cols->head.norm + j, segment.n);
    segment.doubles = values;
    cpu_deliver(t->state, thread, segment);
}

gcor_status cpu_sparse_signs_tile(gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                                  const gcor_tile *tile) {
    gcor_context *context = state->context;
    int64_t n = rows->head.n_obs;
    sparse_tile t = {.state = state, .rows = rows, .cols = cols, .tile = tile};
    int64_t doubles = tile->n_col + n, sorting = cpu_knight_bytes(n) + (int64_t)gcor_ranks_bytes(n) + 16;
    t.work_bytes = (8 * doubles + sorting + (6 * n + 2) * (int64_t)sizeof(int32_t) + 63) / 64 * 64;
    t.work = cpu_reserve(context, &state->work, context->threads, (size_t)t.work_bytes);
    if (!t.work) return GCOR_NO_MEMORY;
    gcor_for_each(context->threads, tile->n_row, compute_row, &t);
    return context->error.status;
}
