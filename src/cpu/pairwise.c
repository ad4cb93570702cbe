/* Pairwise-complete values and ranks, and distances: each pair is computed separately, over its pairwise-complete
 * observations. */
#include "cpu.h"

#include "../measure/coefficient.h"
#include "../measure/distance_pair.h"
#include "../measure/measure.h"
#include "../base/threads.h"

#include <float.h>

/* Running sums of one pair, in the lanes of coefficient.h, and the largest absolute differences. */
typedef struct {
    double x[GCOR_LANES], y[GCOR_LANES], xx[GCOR_LANES], yy[GCOR_LANES], xy[GCOR_LANES];
    double largest_x, largest_y;
} moments;

/* The origin of a pair: its first complete values, then the means and scales of the differences from these. Without
 * centering, the origin and the means are 0. A column's values are first multiplied by its unit: 1, or less if its sum
 * of differences overflows. */
typedef struct {
    int centred;
    double unit_x, unit_y, x0, y0, mean_x, mean_y, scale_x, scale_y;
} pair_frame;

/* Max of `largest` and |difference|, ignoring infinite values. */
static double larger(double largest, double difference) {
    double size = fabs(difference);
    return size > largest && size <= DBL_MAX ? size : largest;
}

/* Adds observations k .. k+n-1 (n at most GCOR_LANES) to the sums. */
static void add_sums(const double *x, const double *y, int64_t n, const pair_frame *f, moments *m) {
    for (int64_t l = 0; l < n; l++) {
        int common = x[l] == x[l] && y[l] == y[l];
        double dx = common ? x[l] * f->unit_x - f->x0 : 0, dy = common ? y[l] * f->unit_y - f->y0 : 0;
        m->x[l] += dx;
        m->y[l] += dy;
        m->largest_x = larger(m->largest_x, dx);
        m->largest_y = larger(m->largest_y, dy);
    }
}

static void add_squares(const double *x, const double *y, int64_t n, const pair_frame *f, moments *m) {
    for (int64_t l = 0; l < n; l++) {
        int common = x[l] == x[l] && y[l] == y[l];
        double dx = common ? (x[l] * f->unit_x - f->x0) * f->scale_x - f->mean_x : 0;
        double dy = common ? (y[l] * f->unit_y - f->y0) * f->scale_y - f->mean_y : 0;
        m->xx[l] += dx * dx;
        m->yy[l] += dy * dy;
        m->xy[l] += dx * dy;
    }
}

/* Returns the number of pairwise-complete observations and sets *first to the index of the first. */
static int64_t find_common(const double *x, const double *y, int64_t n, int64_t *first) {
    int64_t common = 0;
    *first = 0;
    for (int64_t k = n - 1; k >= 0; k--)
        if (x[k] == x[k] && y[k] == y[k]) common++, *first = k;
    return common;
}

static int64_t lanes_from(int64_t k, int64_t n) {
    return n - k < GCOR_LANES ? n - k : GCOR_LANES;
}

/* Sets the frame in a first pass, and *unit_x, *unit_y to the units that the columns need: 1 if the sum of
 * differences is finite. */
static void find_frame(const double *x, const double *y, int64_t n, int64_t first, double common, pair_frame *f,
                       double *unit_x, double *unit_y) {
    moments m = {0};
    if (f->centred) {
        f->x0 = x[first] * f->unit_x;
        f->y0 = y[first] * f->unit_y;
    }
    for (int64_t k = 0; k < n; k += GCOR_LANES) add_sums(x + k, y + k, lanes_from(k, n), f, &m);
    double sum_x = gcor_fold_lanes(m.x), sum_y = gcor_fold_lanes(m.y);
    f->scale_x = gcor_scale(m.largest_x);
    f->scale_y = gcor_scale(m.largest_y);
    if (f->centred) {
        f->mean_x = sum_x * f->scale_x / common;
        f->mean_y = sum_y * f->scale_y / common;
    }
    *unit_x = isfinite(sum_x) ? 1 : GCOR_SMALL_UNIT;
    *unit_y = isfinite(sum_y) ? 1 : GCOR_SMALL_UNIT;
}

/* Computes the moments of Pearson's correlation (centred) or of the cosine, in two passes. Centering begins with the
 * first complete value: if a column is constant in these observations, its differences are exactly zero. The scale is
 * that of the pair's own differences, so that a value outside of the pair cannot make them underflow. */
static double real_pair(const double *x, const double *y, int64_t n, int centred) {
    moments m = {0};
    pair_frame f = {.centred = centred, .unit_x = 1, .unit_y = 1};
    double unit_x, unit_y;
    int64_t first, common = find_common(x, y, n, &first);
    if (common < 2) return GCOR_NO_VALUE;
    find_frame(x, y, n, first, (double)common, &f, &unit_x, &unit_y);
    if (unit_x < 1 || unit_y < 1) {
        f = (pair_frame){.centred = centred, .unit_x = unit_x, .unit_y = unit_y};
        find_frame(x, y, n, first, (double)common, &f, &unit_x, &unit_y);
    }
    for (int64_t k = 0; k < n; k += GCOR_LANES) add_squares(x + k, y + k, lanes_from(k, n), &f, &m);
    return gcor_coefficient(gcor_fold_lanes(m.xy), gcor_fold_lanes(m.xx), gcor_fold_lanes(m.yy));
}

/* A row of a block: its pairs' sums over the common rows. */
typedef struct {
    int64_t n;
    gcor_common_pair pairs[CPU_BLOCK_COLS];
} common_row;

/* Leaves out the rows that x misses: of the other columns, whose missing values have score 0. */
static void leave_out_of_others(common_row *r, const cpu_operand *rows, int64_t i, const cpu_operand *cols, int64_t j) {
    int64_t n_obs = cols->head.n_obs;
    for (int64_t e = rows->start[i]; e < rows->start[i + 1]; e++) {
        const double *values = cols->values + j * n_obs + rows->order[e];
        for (int64_t k = 0; k < r->n; k++) {
            double score = gcor_common_score(cols->common + j + k, values[k * n_obs]);
            r->pairs[k].other.sum -= score;
            r->pairs[k].other.squares -= score * score;
        }
    }
}

/* Leaves out the rows that another column misses: of x. */
static void leave_out_of_own(common_row *r, const cpu_operand *rows, int64_t i, const cpu_operand *cols, int64_t j) {
    const gcor_common_sums all = rows->common[i];
    const double *x = rows->values + i * rows->head.n_obs;
    for (int64_t k = 0; k < r->n; k++) {
        gcor_common_pair *pair = &r->pairs[k];
        for (int64_t e = cols->start[j + k]; e < cols->start[j + k + 1]; e++) {
            double value = x[cols->order[e]], score = gcor_common_score(&all, value);
            pair->n -= value == value;
            pair->own.sum -= score;
            pair->own.squares -= score * score;
        }
    }
}

void cpu_deliver_common(gcor_state *state, const cpu_product *product, int thread, const cpu_operand *rows,
                        const cpu_operand *cols, const gcor_tile *block, void *sums) {
    int64_t n_obs = rows->head.n_obs;
    int centred = rows->measure->angle != GCOR_AS_IS;
    double squares[CPU_BLOCK_COLS];
    common_row row;
    for (int64_t b = 0; b < block->n_row && !gcor_stop(state->context); b++) {
        gcor_segment segment = {.row = block->row + b};
        gcor_tile_segment(block, state->sink->shape, segment.row, &segment.col, &segment.n);
        int64_t i = segment.row - rows->head.first, j = segment.col - cols->head.first;
        double *values = (double *)sums + b * CPU_BLOCK_COLS + (segment.col - block->col);
        row.n = segment.n;
        for (int64_t k = 0; k < row.n; k++)
            row.pairs[k] = (gcor_common_pair){rows->common[i], cols->common[j + k], values[k],
                                              (double)(n_obs - (rows->start[i + 1] - rows->start[i]))};
        leave_out_of_others(&row, rows, i, cols, j);
        leave_out_of_own(&row, rows, i, cols, j);
        for (int64_t k = 0; k < row.n; k++) {
            gcor_common_pair *pair = &row.pairs[k];
            int is_sure = gcor_settle_common(pair, centred, rows->common[i].squares, cols->common[j + k].squares);
            values[k] = is_sure ? pair->product : 1;
            squares[k] = is_sure ? pair->own.squares * pair->other.squares : 1;
        }
        state->kernels->coefficients(values, 1, squares, row.n);
        for (int64_t k = 0; k < row.n; k++)
            if (!(fabs(values[k]) < GCOR_NEAR_ONE))
                values[k] = real_pair(rows->values + i * n_obs, cols->values + (j + k) * n_obs, n_obs, centred);
        segment.doubles = values;
        if (segment.n > 0) cpu_deliver(state, thread, segment);
    }
}

/* Sets before[p] to the number of complete observations among the first p values of x in ascending order. Returns
 * their total. */
static int64_t count_common(const int32_t *order, int64_t n_present, const int32_t *other, int32_t *before) {
    int32_t count = 0;
    for (int64_t p = 0; p < n_present; p++) {
        before[p] = count;
        count += other[order[p]] >= 0;
    }
    before[n_present] = count;
    return count;
}

/* Lists the scores of x where y misses a value. Returns their number. */
static int64_t list_left_out(const cpu_operand *of_x, int64_t i, const cpu_operand *of_y, int64_t j, int16_t *scores) {
    const int64_t n = of_y->head.n_obs;
    const int32_t *missing = of_y->order + j * n;
    const int16_t *x = of_x->scores + i * of_x->stride;
    int64_t found = 0;
    for (int64_t p = of_y->n_present[j]; p < n; p++) {
        scores[found] = x[missing[p]];
        found += scores[found] != CPU_NO_SCORE;
    }
    return found;
}

/* Corrects the scores of the columns. All sums are exact integers, as in spearman_pair(). */
static double corrected_spearman(const cpu_operand *rows, int64_t i, const cpu_operand *cols, int64_t j) {
    cpu_left_out left_out;
    int64_t sums[3];
    left_out.n_x = list_left_out(rows, i, cols, j, left_out.x);
    left_out.n_y = list_left_out(cols, j, rows, i, left_out.y);
    if (rows->n_present[i] - left_out.n_x < 2) return GCOR_NO_VALUE;
    rows->kernels->ranks(rows->scores + i * rows->stride, cols->scores + j * cols->stride, rows->head.n_obs, &left_out,
                         sums);
    return gcor_coefficient((double)sums[2], (double)sums[0], (double)sums[1]);
}

/* Twice a value's centred rank among the complete observations is the number of complete values below it minus the
 * number above it: before[begin] - (n_common - before[end]). */
static double spearman_pair(const cpu_operand *rows, int64_t i, const cpu_operand *cols, int64_t j, int32_t *work) {
    int64_t n = rows->head.n_obs;
    if (rows->scores && 2 * n - rows->n_present[i] - cols->n_present[j] <= CPU_MAX_LEFT_OUT)
        return corrected_spearman(rows, i, cols, j);
    const int32_t *begin_x = rows->begin + i * n, *end_x = rows->end + i * n;
    const int32_t *begin_y = cols->begin + j * n, *end_y = cols->end + j * n;
    int32_t *before_x = work, *before_y = work + n + 1;
    int64_t common = count_common(rows->order + i * n, rows->n_present[i], begin_y, before_x);
    count_common(cols->order + j * n, cols->n_present[j], begin_x, before_y);
    if (common < 2) return GCOR_NO_VALUE;

    double xx = 0, yy = 0, xy = 0;
    for (int64_t k = 0; k < n; k++) {
        if (begin_x[k] < 0 || begin_y[k] < 0) continue;
        double x = (double)(before_x[begin_x[k]] + (int64_t)before_x[end_x[k]] - common);
        double y = (double)(before_y[begin_y[k]] + (int64_t)before_y[end_y[k]] - common);
        xx += x * x;
        yy += y * y;
        xy += x * y;
    }
    return gcor_coefficient(xy, xx, yy);
}

/* Columns of complete observations may have no coefficients. */
static double distance_pair(const cpu_operand *rows, int64_t i, const cpu_operand *cols, int64_t j, void *work) {
    const gcor_ordered x = cpu_ordered_of(rows, i), y = cpu_ordered_of(cols, j);
    double norm = rows->head.norm[i], other_norm = cols->head.norm[j];
    if (rows->head.kind == GCOR_DISTANCE && !(norm > 0 && other_norm > 0)) return gcor_coefficient(0, norm, other_norm);
    return cpu_distance_pair(rows->kernels, &x, &y, rows->head.n_obs, work);
}

/* Prepares both columns again on their pairwise-complete observations. */
static double pair_of_its_own(const cpu_operand *rows, int64_t i, const cpu_operand *cols, int64_t j, void *work) {
    int64_t n = rows->head.n_obs;
    double r;
    if (cpu_has_biweights(rows->measure, rows->design) && cpu_bicor_pair(rows, i, cols, j, work, &r)) return r;
    gcor_pair pair = gcor_pair_at(work, rows->measure, rows->design, n);
    return gcor_pair_coefficient(&pair, rows->values + i * n, cols->values + j * n);
}

/* Bytes of scratch per thread. */
static int64_t work_bytes(const cpu_operand *o) {
    switch (o->head.kind) {
    case GCOR_RANK_COMMON: return 2 * (o->head.n_obs + 1) * (int64_t)sizeof(int32_t);
    case GCOR_DISTANCE:
    case GCOR_DISTANCE_COMMON: return (gcor_distance_bytes(o->head.n_obs) + 63) / 64 * 64;
    case GCOR_PAIR_COMMON:
        return gcor_max((int64_t)gcor_pair_bytes(o->measure, o->design, o->head.n_obs),
                        cpu_bicor_bytes(o->head.n_obs)) /
                   64 * 64 +
               64;
    default: return 1;
    }
}

static double pair(const cpu_operand *rows, int64_t i, const cpu_operand *cols, int64_t j, void *work) {
    if (rows->head.kind == GCOR_RANK_COMMON) return spearman_pair(rows, i, cols, j, work);
    if (cpu_is_ordered(rows->head.kind)) return distance_pair(rows, i, cols, j, work);
    return pair_of_its_own(rows, i, cols, j, work);
}

typedef struct {
    gcor_state *state;
    const cpu_operand *rows, *cols;
    const gcor_tile *tile;
    char *work; /* work_bytes per thread */
    int64_t work_bytes;
} tile_of_pairs;

/* Pairs take long where columns do: threads share out the parts of a block's rows. */
enum { PART_COLS = 32, ROW_PARTS = CPU_BLOCK_COLS / PART_COLS, BLOCK_PARTS = CPU_BLOCK_ROWS * ROW_PARTS };

static void work_on_part(void *argument, int thread, int64_t part) {
    const tile_of_pairs *t = argument;
    const cpu_operand *rows = t->rows, *cols = t->cols;
    gcor_context *context = t->state->context;
    const gcor_tile block = cpu_block(t->tile, part / BLOCK_PARTS);
    const int64_t row = part % BLOCK_PARTS / ROW_PARTS, col = part % ROW_PARTS * PART_COLS;
    const gcor_tile own = {block.row + row, 1, block.col + col, gcor_min(PART_COLS, block.n_col - col)};
    double values[PART_COLS];
    gcor_segment segment = {.row = own.row, .doubles = values};
    if (row >= block.n_row || own.n_col <= 0 || cpu_is_outside(t->state, &own)) return;
    gcor_tile_segment(&own, t->state->sink->shape, own.row, &segment.col, &segment.n);
    for (int64_t k = 0; k < segment.n && !gcor_stop(context); k++)
        values[k] = pair(rows, own.row - rows->head.first, cols, segment.col + k - cols->head.first,
                         t->work + thread * t->work_bytes);
    if (segment.n > 0 && !gcor_stop(context)) cpu_deliver(t->state, thread, segment); /* all are finished */
}

/* Coefficients that are given are delivered from where they are. */
static void deliver_given_row(void *argument, int thread, int64_t row) {
    const tile_of_pairs *t = argument;
    const gcor_tile own = {t->tile->row + row, 1, t->tile->col, t->tile->n_col};
    gcor_segment segment = {.row = own.row};
    if (cpu_is_outside(t->state, &own) || gcor_stop(t->state->context)) return;
    gcor_tile_segment(&own, t->state->sink->shape, own.row, &segment.col, &segment.n);
    segment.doubles = t->rows->values + (own.row - t->rows->head.first) * t->rows->head.n_obs + segment.col;
    cpu_deliver(t->state, thread, segment);
}

gcor_status cpu_pairwise_tile(gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                              const gcor_tile *tile) {
    gcor_context *context = state->context;
    if (rows->head.kind == GCOR_GIVEN && rows->head.n_obs < tile->col + tile->n_col)
        return gcor_fail(context, GCOR_BAD_INPUT, "coefficients with %.0f variables, and there are more",
                         (double)rows->head.n_obs);
    tile_of_pairs t = {.state = state, .rows = rows, .cols = cols, .tile = tile, .work_bytes = work_bytes(rows)};
    t.work = cpu_reserve(context, &state->work, t.work_bytes * context->threads, 1);
    if (!t.work) return GCOR_NO_MEMORY;
    if (rows->head.kind == GCOR_GIVEN)
        gcor_for_each(context->threads, tile->n_row, deliver_given_row, &t);
    else
        gcor_for_each(context->threads, cpu_blocks(tile) * BLOCK_PARTS, work_on_part, &t);
    return context->error.status;
}
