#include "label_maxima.h"

#include "../base/alloc.h"
#include "../base/elementary.h"

enum { BLOCK = GCOR_GROUP_BLOCK };

/* The largest value of t |t| is that of t. */
static double root(double t) {
    return t < 0 ? -sqrt(-t) : sqrt(t);
}

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    const gcor_label_maxima *maxima = (gcor_label_maxima *)sink;
    const gcor_permutations *permutations = &maxima->permutations;
    const gcor_combine_loops *loops = maxima->loops;
    double *scratch = maxima->scratch + thread * gcor_permuted_scratch(permutations);
    double *best = maxima->best + thread * permutations->n;
    (void)context;
    for (int64_t from = 0; from < segment->n; from += BLOCK) {
        int64_t n = gcor_min(BLOCK, segment->n - from);
        gcor_permuted_begin(permutations, loops, segment->doubles + from, segment->stride, n, scratch);
        for (int64_t k = 0; k < permutations->n; k++) {
            const double *values = gcor_permuted_values(permutations, loops, k, n, scratch);
            double largest = loops->largest(values, maxima->side, n);
            if (largest > best[k]) best[k] = largest;
        }
    }
    return GCOR_OK;
}

/* Maximum over all threads. */
static double largest_of(const gcor_label_maxima *maxima, int64_t k) {
    double largest = -INFINITY;
    for (int64_t t = 0; t < maxima->threads; t++) {
        double own = maxima->best[t * maxima->permutations.n + k];
        if (own > largest) largest = own;
    }
    return largest;
}

double gcor_label_maxima_of(const gcor_label_maxima *maxima, int64_t k) {
    double largest = largest_of(maxima, k);
    if (!(largest > -INFINITY)) return GCOR_NO_WEIGHT;
    return gcor_permuted_is_t(&maxima->permutations) ? root(largest) : gcor_tanh(largest);
}

static void clear(gcor_label_maxima *maxima) {
    for (int64_t k = 0; k < maxima->threads * maxima->permutations.n; k++) maxima->best[k] = -INFINITY;
}

static gcor_status merge(gcor_sink *sink, gcor_context *context, gcor_sink *other) {
    gcor_label_maxima *maxima = (gcor_label_maxima *)sink, *from = (gcor_label_maxima *)other;
    (void)context;
    for (int64_t k = 0; k < maxima->permutations.n; k++) {
        double largest = largest_of(from, k);
        if (largest > maxima->best[k]) maxima->best[k] = largest;
    }
    clear(from);
    return GCOR_OK;
}

static gcor_status allocate(gcor_sink *sink, gcor_context *context) {
    const char *what = "the largest differences";
    gcor_label_maxima *maxima = (gcor_label_maxima *)sink;
    const gcor_permutations *permutations = &maxima->permutations;
    maxima->threads = context->threads;
    maxima->scratch = gcor_alloc(context, maxima->threads * gcor_permuted_scratch(permutations), sizeof(double), what);
    maxima->best = gcor_alloc(context, maxima->threads * permutations->n, sizeof(double), what);
    if (!maxima->scratch || !maxima->best) return GCOR_NO_MEMORY;
    clear(maxima);
    return GCOR_OK;
}

static void release(gcor_sink *sink) {
    gcor_free(((gcor_label_maxima *)sink)->scratch);
    gcor_free(((gcor_label_maxima *)sink)->best);
}

static const gcor_sink_type TYPE = {.name = "label maxima",
                                    .size = sizeof(gcor_label_maxima),
                                    .take = take,
                                    .allocate = allocate,
                                    .merge = merge,
                                    .release = release};

gcor_status gcor_label_maxima_new(gcor_context *context, int64_t n_var, gcor_side side,
                                  const gcor_permutations *permutations, gcor_label_maxima **maxima) {
    const gcor_label_maxima like = {.sink = {.type = &TYPE, .shape = GCOR_LOWER, .n_row = n_var, .n_col = n_var},
                                    .side = side,
                                    .permutations = *permutations,
                                    .loops = gcor_combine_best_loops()};
    *maxima = gcor_sink_new(context, &like);
    return *maxima ? GCOR_OK : context->error.status;
}
