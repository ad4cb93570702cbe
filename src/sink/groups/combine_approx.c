/* Approximate values of several subjects: sums in single precision rule out most pairs for the other sink; exact
 * coefficients of the remaining pairs are computed from the operands. */
#include "combine.h"

#include "../../base/elementary.h"
#include "../../base/triangle.h"

#include <string.h>

static const double SINGLE = 4e-7;    /* added to the error of a value, for rounding it */
static const double MAX_ERROR = 1e-3; /* of artanh, apart from GCOR_APPROX_ERROR */

/* Returns the max magnitude of an approximate value, as artanh magnifies the errors of larger ones. Up to there it
 * magnifies them to MAX_ERROR, or by a factor below 6. */
static float max_value(double error) {
    if (error > MAX_ERROR) return (float)GCOR_APPROX_LOW;
    return (float)fmin(fmax(sqrt(1 - error / MAX_ERROR) - error, GCOR_APPROX_HIGH), GCOR_APPROX_MAX);
}

/* Adds values beyond max_value() from the coefficients that exact() uses. */
static void add_beyond(const gcor_combine *c, const gcor_segment *segment, float *sum, float w) {
    const gcor_operand *rows = segment->rows, *cols = segment->cols;
    for (int64_t k = 0; k < segment->n; k++) {
        const int32_t element = (int32_t)k;
        double r, z = 0;
        if (!(fabsf(segment->floats[k]) > max_value(segment->error))) continue;
        c->backend->pairs(&rows, &cols, 1, segment->row, segment->col, &element, 1, &r);
        c->loops->add_fisher(&z, &r, 1, 1);
        sum[k] += w * (float)z;
    }
}

void gcor_approx_add(gcor_combine *c, int64_t subject, const gcor_segment *segment, float *sum) {
    const gcor_combine_loops *loops = c->loops;
    const gcor_combination *rule = c->rule;
    const float w = (float)(rule->subjects[subject].weight / rule->total), *value = segment->floats;
    const int64_t n = segment->n;
    if (subject == 0 && rule->how != GCOR_MIN) memset(sum, 0, (size_t)n * sizeof *sum);
    for (int64_t k = 0; subject == 0 && rule->how == GCOR_MIN && k < n; k++) sum[k] = INFINITY;
    switch (rule->how) {
    case GCOR_FISHER:
        if (loops->add_approx_fisher(sum, value, w, max_value(segment->error), n)) add_beyond(c, segment, sum, w);
        break;
    case GCOR_MIN: loops->add_approx_min(sum, value, n); break;
    default: loops->add_approx_mean(sum, value, w, n);
    }
    double error = segment->error; /* every thread writes the same three values */
    __atomic_store(&c->errors[subject], &error, __ATOMIC_RELAXED);
    __atomic_store_n(&c->rows[subject], (const gcor_operand *)segment->rows, __ATOMIC_RELAXED);
    __atomic_store_n(&c->cols[subject], (const gcor_operand *)segment->cols, __ATOMIC_RELAXED);
}

/* Returns the max slope of artanh between values with such an error and the exact ones. */
static double slope(double error) {
    const double r = max_value(error) + error + SINGLE;
    return r < 1 ? 1 / (1 - r * r) : INFINITY;
}

/* Returns a bound of the difference between an approximate and an exact combined coefficient. */
static double approx_error(const gcor_combine *c) {
    const gcor_combination *rule = c->rule;
    double error = 0;
    for (int64_t s = 0; s < rule->n; s++) {
        double w = fabs(rule->subjects[s].weight / rule->total), own = c->errors[s] + SINGLE;
        if (rule->how == GCOR_MIN)
            error = own > error ? own : error;
        else if (rule->how == GCOR_FISHER)
            error += w * (slope(c->errors[s]) * own + GCOR_APPROX_ERROR) + 0x1p-24 * 20;
        else
            error += w * own + 0x1p-24 * 2;
    }
    return error < 2 ? error + 1e-6 : 2; /* no two coefficients differ by more */
}

/* The segment's refine(): the same numbers as from sums of exact values. */
static void exact(const gcor_segment *segment, const int32_t *k, int64_t n, double *r) {
    enum { ELEMENTS = 64, SUBJECTS = 16 };
    const gcor_combine *c = segment->rows;
    const gcor_combination *rule = c->rule;
    double value[SUBJECTS * ELEMENTS];
    for (int64_t from = 0; from < n; from += ELEMENTS) {
        int64_t some = gcor_min(ELEMENTS, n - from);
        gcor_sums_clear(rule, r + from, NULL, some);
        for (int64_t s = 0; s < rule->n; s++) {
            int64_t sets = gcor_min(SUBJECTS, rule->n - s / SUBJECTS * SUBJECTS);
            if (s % SUBJECTS == 0)
                c->backend->pairs(c->rows + s, c->cols + s, sets, segment->row, segment->col, k + from, some, value);
            gcor_sums_add(c, r + from, NULL, value + s % SUBJECTS * some, rule->subjects[s].weight, some);
        }
        gcor_sums_end(c, r + from, NULL, some);
    }
}

/* Returns the min magnitude of sums that the other sink may need; 0: any. */
static double min_size(const gcor_combine *c, double error) {
    const gcor_sink_type *type = c->to->type;
    double min = type->min ? type->min(c->to) : 0; /* of a sum of z the error is that of z */
    if (c->rule->how == GCOR_FISHER) min = gcor_artanh(min) * (1 - 1e-6);
    return fmax(0, min - error - 1e-6);
}

/* ---- to the other sink ---------------------------------------------------------------------------------- */

/* Segments of a row whose sums the other sink may need. The columns that exact() will read are prefetched when a
 * segment is found; the segment is delivered when a few more have been found. */
enum { WAITING = 2 };
typedef struct {
    gcor_combine *c;
    gcor_context *context;
    int thread;
    double min_size; /* min magnitude of sums that the other sink may need; 0: any */
    int64_t found;
    gcor_segment segment[WAITING];
} delivery;

static void prefetch(const delivery *d, const gcor_segment *segment) {
    enum { FEW = 4 }; /* exact() prefetches further ones itself */
    const gcor_combine *c = d->c;
    int32_t element[FEW];
    int64_t n = 0;
    for (int64_t k = 0; k < segment->n && n < FEW; k++) {
        element[n] = (int32_t)k;
        n += fabsf(segment->floats[k]) > (float)d->min_size;
    }
    c->backend->pairs(c->rows, c->cols, c->rule->n, segment->row, segment->col, element, n, NULL);
}

static void hand_over(const delivery *d, const gcor_segment *segment) {
    gcor_combine *c = d->c;
    if (c->rule->how == GCOR_FISHER) c->loops->end_approx_fisher((float *)segment->floats, segment->n);
    /* A failure is in the context; the remaining segments take little time. */
    (void)c->to->type->take(c->to, d->context, d->thread, segment);
}

static void wait(delivery *d, const gcor_segment *segment) {
    gcor_segment *oldest = &d->segment[d->found++ % WAITING];
    if (d->found > WAITING) hand_over(d, oldest);
    *oldest = *segment;
    prefetch(d, segment);
}

/* Delivers a row of sums. */
static void deliver_row(delivery *d, const gcor_segment *row, const float *sum) {
    gcor_segment some = *row;
    some.floats = sum;
    if (!(d->min_size > 0)) {
        hand_over(d, &some);
        return;
    }
    for (int64_t k = 0; k < row->n; k += GCOR_APPROX_SOME) {
        int64_t n = gcor_min(GCOR_APPROX_SOME, row->n - k);
        if (!d->c->loops->are_beyond(sum + k, (float)d->min_size, n)) continue;
        some.col = row->col + k;
        some.n = n;
        some.floats = sum + k;
        wait(d, &some);
    }
}

void gcor_approx_deliver(gcor_combine *c, gcor_context *context, int thread, const gcor_tile *tile, float *sums) {
    const double error = approx_error(c);
    delivery d = {.c = c, .context = context, .thread = thread, .min_size = min_size(c, error)};
    gcor_segment row = {.error = error, .refine = exact, .rows = c};
    for (int64_t i = 0; i < tile->n_row; i++) {
        row.row = tile->row + i;
        gcor_tile_segment(tile, c->to->shape, row.row, &row.col, &row.n);
        if (row.n > 0) deliver_row(&d, &row, sums + i * tile->n_col + (row.col - tile->col));
    }
    for (int64_t k = gcor_max(0, d.found - WAITING); k < d.found; k++) hand_over(&d, &d.segment[k % WAITING]);
}
