#include "combine.h"

#include "../core/alloc.h"
#include "../core/threads.h"
#include "../core/triangle.h"
#include "combine_loops.h"

#include <math.h>

#define NO_VALUE GCOR_SUM_NO_VALUE
#define ZERO_SD GCOR_SUM_ZERO_SD

enum { SOME = 256 }; /* values at a time */

static gcor_combine *combine_of(gcor_sink *sink) {
    return (gcor_combine *)sink;
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static size_t value_bytes(const gcor_combine *c) {
    return c->sink.approximate ? sizeof(float) : sizeof(double);
}

/* Values of a pair that are kept until its tile is done. */
static int64_t values_of_pair(const gcor_combine *c) {
    return c->rule->how == GCOR_QUANTILE ? c->rule->n : 1;
}

int64_t gcor_combine_side(const gcor_combine *c, int threads, int64_t bytes) {
    enum { CACHE = 1 << 19, LEAST = 256, MOST = 4096 };
    int64_t each = (int64_t)sizeof(double) * (values_of_pair(c) + c->rule->skips), side = LEAST;
    if (c->sink.approximate) each = sizeof(float);
    if (bytes < (int64_t)CACHE * threads) bytes = (int64_t)CACHE * threads;
    while (side < MOST && 4 * side * side * each <= 2 * bytes) side *= 2;
    return side;
}

int gcor_combine_may_be_cheap(const gcor_combine *c) {
    return c->to->approximate && c->backend->pairs && c->rule->how != GCOR_QUANTILE && !c->rule->skips;
}

/* ---- sums, of exact values -------------------------------------------------------------------------- */

/* Values one by one, where there is not a coefficient of every pair. */
static void add_any(const gcor_combine *c, double *sum, double *taken, const double *value, double w, int64_t n) {
    const gcor_combination *rule = c->rule;
    for (int64_t k = 0; k < n; k++) {
        double v = value[k], none = v == GCOR_ZERO_SD ? ZERO_SD : NO_VALUE;
        if (v <= 1 && taken) taken[k] += w;
        if (v <= 1 && rule->how == GCOR_LEAST)
            c->loops->add_least(sum + k, &v, 1);
        else if (v <= 1)
            (rule->how == GCOR_FISHER ? c->loops->add_fisher : c->loops->add_mean)(sum + k, &v, w, 1);
        else if (taken)
            continue;
        else if (v != v)
            sum[k] = NAN;
        else if (rule->how == GCOR_LEAST)
            sum[k] = sum[k] > -none ? -none : sum[k];
        else
            sum[k] += none;
    }
}

static void add(const gcor_combine *c, double *sum, double *taken, const double *value, double w, int64_t n) {
    if (!c->loops->are_coefficients(value, n)) {
        add_any(c, sum, taken, value, w, n);
        return;
    }
    for (int64_t k = 0; taken && k < n; k++) taken[k] += w;
    switch (c->rule->how) {
    case GCOR_FISHER: c->loops->add_fisher(sum, value, w, n); break;
    case GCOR_LEAST: c->loops->add_least(sum, value, n); break;
    default: c->loops->add_mean(sum, value, w, n);
    }
}

/* What sums begin with. */
static void clear(const gcor_combination *rule, double *sum, double *taken, int64_t n) {
    const double start = rule->how == GCOR_LEAST ? INFINITY : 0;
    for (int64_t k = 0; k < n; k++) sum[k] = start;
    for (int64_t k = 0; taken && k < n; k++) taken[k] = 0;
}

/* A pair that had no coefficient in a subject, or with subjects left out in none: what it has instead. */
static void end_any(const gcor_combine *c, double *sum, const double *taken, int64_t n) {
    const gcor_combination *rule = c->rule;
    const double scale = rule->how == GCOR_LEAST || taken ? 1 : fabs(rule->total);
    for (int64_t k = 0; k < n; k++) {
        double size = fabs(sum[k]) * scale;
        if (taken && taken[k] == 0)
            sum[k] = GCOR_NO_VALUE;
        else if (size > NO_VALUE / 2)
            sum[k] = size > ZERO_SD / 2 ? GCOR_ZERO_SD : GCOR_NO_VALUE;
        else if (rule->how == GCOR_FISHER)
            c->loops->end_fisher(sum + k, 1);
    }
}

/* From sums to coefficients. */
static void end_sums(const gcor_combine *c, double *sum, const double *taken, int64_t n) {
    int others = 0;
    if (c->rule->how != GCOR_LEAST && !taken) c->loops->divide(sum, c->rule->total, n);
    if (c->rule->how != GCOR_LEAST && taken)
        for (int64_t k = 0; k < n; k++) sum[k] /= taken[k];
    for (int64_t k = 0; k < n; k++) others |= !(fabs(sum[k]) < 1e9);
    if (others)
        end_any(c, sum, taken, n);
    else if (c->rule->how == GCOR_FISHER)
        c->loops->end_fisher(sum, n);
}

/* ---- quantiles ------------------------------------------------------------------------------------------- */

/* The one that is number k of n ascending ones; those below it come before it then, and those above it behind. */
static double select_value(double *x, int64_t n, int64_t k) {
    int64_t low = 0, high = n - 1;
    while (low < high) {
        double pivot = x[low + (high - low) / 2];
        int64_t i = low - 1, j = high + 1;
        for (;;) {
            do i++;
            while (x[i] < pivot);
            do j--;
            while (x[j] > pivot);
            if (i >= j) break;
            double swap = x[i];
            x[i] = x[j];
            x[j] = swap;
        }
        if (k <= j)
            high = j;
        else
            low = j + 1;
    }
    return x[k];
}

/* As quantile() of R has it by default. */
static double quantile(double *x, int64_t n, double share) {
    double at = (double)(n - 1) * share;
    int64_t below = (int64_t)floor(at + 4 * 0x1p-52);
    double value = select_value(x, n, below), rest = at - (double)below;
    if (below + 1 >= n || !(rest > 4 * 0x1p-52)) return value;
    double next = x[below + 1];
    for (int64_t k = below + 2; k < n; k++) next = x[k] < next ? x[k] : next;
    return value + rest * (next - value);
}

/* Of n values of each subject, `stride` apart, to the first one's place; `room` for a value of each. */
static void end_quantiles(const gcor_combination *rule, double *values, int64_t stride, int64_t n, double *room) {
    for (int64_t k = 0; k < n; k++) {
        double none = 0;
        int64_t found = 0;
        for (int64_t s = 0; s < rule->n; s++) {
            double v = values[s * stride + k];
            if (v <= 1)
                room[found++] = v;
            else if (!rule->skips)
                none = v != v || none != none ? NAN : v > none ? v : none;
        }
        if (none != 0) /* NaN, too */
            values[k] = none;
        else
            values[k] = found > 0 ? quantile(room, found, rule->share) : GCOR_NO_VALUE;
    }
}

/* ---- cheap sums --------------------------------------------------------------------------------------- */

/* A polynomial stands for artanh, where it can; beyond, the exact coefficient. */
static void correct_beyond(const gcor_combine *c, const gcor_segment *segment, float *sum, float w) {
    for (int64_t k = 0; k < segment->n; k++) {
        double r = segment->floats[k];
        if (!(fabs(r) > GCOR_CHEAP_MOST)) continue;
        const int32_t element = (int32_t)k;
        double exact;
        segment->exact(segment, &element, 1, &exact);
        double z = 0;
        c->loops->add_fisher(&z, &exact, 1, 1);
        sum[k] += w * (float)(z - copysign(gcor_cheap_artanh((float)GCOR_CHEAP_MOST), r));
    }
}

static void add_cheap(gcor_combine *c, const gcor_segment *segment, float *sum) {
    const gcor_combine_loops *loops = c->loops;
    const gcor_combination *rule = c->rule;
    const float w = (float)(rule->subjects[c->subject].weight / rule->total), *value = segment->floats;
    const int64_t n = segment->n;
    if (c->subject == 0)
        for (int64_t k = 0; k < n; k++) sum[k] = rule->how == GCOR_LEAST ? INFINITY : 0;
    switch (rule->how) {
    case GCOR_FISHER:
        if (loops->add_cheap_fisher(sum, value, w, n)) correct_beyond(c, segment, sum, w);
        break;
    case GCOR_LEAST: loops->add_cheap_least(sum, value, n); break;
    default: loops->add_cheap_mean(sum, value, w, n);
    }
    double error = segment->error; /* the same from every thread */
    __atomic_store(&c->errors[c->subject], &error, __ATOMIC_RELAXED);
}

/* How far a cheap coefficient may be from the exact one, whose own values are to single precision. */
static double cheap_error(const gcor_combine *c) {
    const gcor_combination *rule = c->rule;
    double error = 0, single = 4e-7;
    for (int64_t s = 0; s < rule->n; s++) {
        double w = fabs(rule->subjects[s].weight / rule->total), own = c->errors[s] + single;
        if (rule->how == GCOR_LEAST)
            error = own > error ? own : error;
        else if (rule->how == GCOR_FISHER)
            error += w * (GCOR_CHEAP_SLOPE * own + GCOR_CHEAP_ERROR) + 0x1p-24 * 20;
        else
            error += w * own + 0x1p-24 * 2;
    }
    return error + 1e-6;
}

/* Of elements of a row, from the operands: the numbers that sums of exact values lead to. */
static void exact(const gcor_segment *segment, const int32_t *k, int64_t n, double *r) {
    enum { ELEMENTS = 64, SUBJECTS = 16 };
    const gcor_combine *c = segment->rows;
    const gcor_combination *rule = c->rule;
    double value[SUBJECTS * ELEMENTS];
    for (int64_t from = 0; from < n; from += ELEMENTS) {
        int64_t some = smaller(ELEMENTS, n - from);
        clear(rule, r + from, NULL, some);
        for (int64_t s = 0; s < rule->n; s++) {
            int64_t sets = smaller(SUBJECTS, rule->n - s / SUBJECTS * SUBJECTS);
            if (s % SUBJECTS == 0)
                c->backend->pairs(c->rows + s, c->cols + s, sets, segment->row, segment->col, k + from, some, value);
            add(c, r + from, NULL, value + s % SUBJECTS * some, rule->subjects[s].weight, some);
        }
        end_sums(c, r + from, NULL, some);
    }
}

/* ---- tiles -------------------------------------------------------------------------------------------- */

static gcor_status make_room(gcor_combine *c, gcor_context *context, int64_t pairs) {
    const char *what = "a tile's coefficients of all subjects";
    if (pairs <= c->room) return GCOR_OK;
    gcor_free(c->values);
    gcor_free(c->taken);
    c->room = 0;
    c->taken = NULL;
    c->values = gcor_alloc(context, pairs * values_of_pair(c), value_bytes(c), what);
    if (!c->values) return GCOR_NO_MEMORY;
    if (c->rule->skips && c->rule->how != GCOR_QUANTILE) {
        c->taken = gcor_alloc(context, pairs, sizeof *c->taken, what);
        if (!c->taken) return GCOR_NO_MEMORY;
    }
    c->room = pairs;
    return GCOR_OK;
}

static gcor_status begin_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    gcor_combine *c = combine_of(sink);
    c->tile = *tile;
    return c->subject > 0 ? GCOR_OK : make_room(c, context, tile->n_row * tile->n_col);
}

static int64_t place(const gcor_combine *c, int64_t row, int64_t col) {
    return (row - c->tile.row) * c->tile.n_col + (col - c->tile.col);
}

/* Some of a row's values, as doubles. */
static void add_some(gcor_combine *c, const double *value, int64_t at, int64_t n) {
    const gcor_combination *rule = c->rule;
    double *sum = (double *)c->values + at, *taken = c->taken ? c->taken + at : NULL;
    if (rule->how == GCOR_QUANTILE) {
        sum += c->subject * c->tile.n_row * c->tile.n_col;
        for (int64_t k = 0; k < n; k++) sum[k] = value[k];
        return;
    }
    if (c->subject == 0) clear(rule, sum, taken, n);
    add(c, sum, taken, value, rule->subjects[c->subject].weight, n);
}

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    gcor_combine *c = combine_of(sink);
    int64_t at = place(c, segment->row, segment->col);
    double wide[SOME];
    (void)context, (void)thread;
    if (sink->approximate) {
        add_cheap(c, segment, (float *)c->values + at);
        return GCOR_OK;
    }
    for (int64_t k = 0; k < segment->n; k += SOME) {
        int64_t n = smaller(SOME, segment->n - k);
        const double *value = segment->doubles ? segment->doubles + k : wide;
        for (int64_t l = 0; !segment->doubles && l < n; l++) wide[l] = segment->floats[k + l];
        add_some(c, value, at + k, n);
    }
    return GCOR_OK;
}

/* A row of the finished tile to the other sink. */
static void deliver_row(gcor_combine *c, gcor_context *context, gcor_segment *segment, double *room) {
    int64_t at = place(c, segment->row, segment->col);
    float *cheap = (float *)c->values + at;
    double *sum = (double *)c->values + at;
    if (c->sink.approximate) {
        if (c->rule->how == GCOR_FISHER) c->loops->end_cheap_fisher(cheap, segment->n);
        segment->floats = cheap;
        segment->rows = c;
        segment->exact = exact;
    } else if (c->rule->how == GCOR_QUANTILE) {
        end_quantiles(c->rule, sum, c->tile.n_row * c->tile.n_col, segment->n, room);
        segment->doubles = sum;
    } else {
        end_sums(c, sum, c->taken ? c->taken + at : NULL, segment->n);
        segment->doubles = sum;
    }
    /* A failure is in the context; the remaining rows are cheap. */
    (void)c->to->type->take(c->to, context, omp_get_thread_num(), segment);
}

static gcor_status deliver(gcor_combine *c, gcor_context *context) {
    const gcor_tile *tile = &c->tile;
    double error = c->sink.approximate ? cheap_error(c) : 0;
    int64_t each = c->rule->how == GCOR_QUANTILE ? c->rule->n : 1;
    gcor_status status = gcor_begin_tile(c->to, context, tile);
    if (status) return status;
    double *room = gcor_alloc(context, context->threads, (size_t)each * sizeof(double), "a pair's coefficients");
    if (!room) return GCOR_NO_MEMORY;
#pragma omp parallel for num_threads(context->threads) schedule(dynamic, 8)
    for (int64_t row = tile->row; row < tile->row + tile->n_row; row++) {
        gcor_segment segment = {.row = row, .error = error};
        gcor_tile_segment(tile, c->to->shape, row, &segment.col, &segment.n);
        if (segment.n > 0 && !gcor_stop(context)) deliver_row(c, context, &segment, room + omp_get_thread_num() * each);
    }
    gcor_free(room);
    return context->error.status ? context->error.status : gcor_end_tile(c->to, context, tile);
}

static gcor_status end_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    gcor_combine *c = combine_of(sink);
    (void)tile;
    if (++c->subject < c->rule->n) return GCOR_OK;
    c->subject = 0;
    return deliver(c, context);
}

static void release(gcor_sink *sink) {
    gcor_combine *c = combine_of(sink);
    gcor_free(c->values);
    gcor_free(c->taken);
    gcor_free(c->rows);
    gcor_free(c->cols);
    gcor_free(c->errors);
    gcor_free(c);
}

/* No fork and no file: it is a worker's own, and what it has found is in the other sink. */
const gcor_sink_type gcor_combine_type = {
    .name = "combine",
    .take = take,
    .begin_tile = begin_tile,
    .end_tile = end_tile,
    .free = release,
};

/* Of all values of a pair, or of some subjects: no device does that. */
static const gcor_sink_type host_type = {
    .name = "combine",
    .take = take,
    .begin_tile = begin_tile,
    .end_tile = end_tile,
    .free = release,
};

gcor_status gcor_combine_new(gcor_context *context, const gcor_combination *rule, const gcor_backend *backend,
                             gcor_sink *to, int in_double, gcor_combine **combine) {
    const char *what = "the sums of all subjects";
    gcor_combine *c = *combine = gcor_alloc(context, 1, sizeof *c, what);
    if (!c) return GCOR_NO_MEMORY;
    int on_host = rule->how == GCOR_QUANTILE || rule->skips;
    *c = (gcor_combine){.sink = {.type = on_host ? &host_type : &gcor_combine_type,
                                 .shape = to->shape,
                                 .n_row = to->n_row,
                                 .n_col = to->n_col},
                        .to = to,
                        .rule = rule,
                        .backend = backend,
                        .loops = gcor_combine_best_loops()};
    c->sink.in_turns = 1;
    c->sink.form = in_double ? GCOR_AS_DOUBLES : GCOR_AS_FLOATS;
    c->rows = gcor_alloc(context, rule->n, sizeof *c->rows, what);
    c->cols = gcor_alloc(context, rule->n, sizeof *c->cols, what);
    c->errors = gcor_alloc(context, rule->n, sizeof *c->errors, what);
    if (c->rows && c->cols && c->errors) return GCOR_OK;
    release(&c->sink);
    *combine = NULL;
    return GCOR_NO_MEMORY;
}
