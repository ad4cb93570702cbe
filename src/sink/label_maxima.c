#include "label_maxima.h"

#include "../core/alloc.h"
#include "../core/fisher.h"

enum { BLOCK = GCOR_SUM_BLOCK };

/* z of n <= BLOCK pairs of a segment, for every subject; NaN without a coefficient. */
static void fill_z(const gcor_label_maxima *maxima, const gcor_segment *segment, int64_t from, int64_t n, double *z) {
    for (int64_t s = 0; s < maxima->permutations.n_subjects; s++, z += BLOCK) {
        const double *value = segment->doubles + s * segment->stride + from;
        for (int64_t k = 0; k < n; k++) z[k] = 0;
        maxima->loops->add_fisher(z, value, 1, n);
        for (int64_t k = 0; k < n; k++) z[k] = value[k] <= 1 ? z[k] : NAN;
    }
}

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    const gcor_label_maxima *maxima = (gcor_label_maxima *)sink;
    const gcor_label_permutations *permutations = &maxima->permutations;
    double *z = maxima->z + thread * permutations->n_subjects * BLOCK, *best = maxima->best + thread * permutations->n;
    (void)context;
    for (int64_t from = 0; from < segment->n; from += BLOCK) {
        int64_t n = gcor_smaller(BLOCK, segment->n - from);
        fill_z(maxima, segment, from, n, z);
        for (int64_t k = 0; k < permutations->n; k++) {
            const double *w = permutations->weight + k * permutations->n_subjects;
            double largest = maxima->loops->largest_sum(z, w, permutations->n_subjects, maxima->side, n);
            if (largest > best[k]) best[k] = largest;
        }
    }
    return GCOR_OK;
}

/* The largest of all threads. */
static double largest_z(const gcor_label_maxima *maxima, int64_t k) {
    double largest = -INFINITY;
    for (int64_t t = 0; t < maxima->threads; t++) {
        double own = maxima->best[t * maxima->permutations.n + k];
        if (own > largest) largest = own;
    }
    return largest;
}

double gcor_label_maxima_of(const gcor_label_maxima *maxima, int64_t k) {
    double largest = largest_z(maxima, k);
    return largest > -INFINITY ? gcor_tanh(largest) : GCOR_NO_WEIGHT;
}

static void clear(gcor_label_maxima *maxima) {
    for (int64_t k = 0; k < maxima->threads * maxima->permutations.n; k++) maxima->best[k] = -INFINITY;
}

static gcor_status fork_sink(gcor_sink *sink, gcor_context *context, gcor_sink **other) {
    const gcor_label_maxima *maxima = (gcor_label_maxima *)sink;
    gcor_label_maxima *fresh;
    gcor_status status = gcor_label_maxima_new(context, sink->n_col, maxima->side, &maxima->permutations, &fresh);
    *other = fresh ? &fresh->sink : NULL;
    return status;
}

static gcor_status merge(gcor_sink *sink, gcor_context *context, gcor_sink *other) {
    gcor_label_maxima *maxima = (gcor_label_maxima *)sink, *from = (gcor_label_maxima *)other;
    (void)context;
    for (int64_t k = 0; k < maxima->permutations.n; k++) {
        double largest = largest_z(from, k);
        if (largest > maxima->best[k]) maxima->best[k] = largest;
    }
    clear(from);
    return GCOR_OK;
}

static void release(gcor_sink *sink) {
    gcor_label_maxima *maxima = (gcor_label_maxima *)sink;
    gcor_free(maxima->z);
    gcor_free(maxima->best);
    gcor_free(maxima);
}

static const gcor_sink_type TYPE = {
    .name = "label maxima", .take = take, .fork = fork_sink, .merge = merge, .free = release};

gcor_status gcor_label_maxima_new(gcor_context *context, int64_t n_var, gcor_side side,
                                  const gcor_label_permutations *permutations, gcor_label_maxima **maxima) {
    const char *what = "the largest differences";
    gcor_label_maxima *fresh = *maxima = gcor_alloc(context, 1, sizeof *fresh, what);
    if (!fresh) return GCOR_NO_MEMORY;
    *fresh = (gcor_label_maxima){
        .sink = {.type = &TYPE, .shape = GCOR_LOWER, .n_row = n_var, .n_col = n_var},
        .side = side,
        .permutations = *permutations,
        .loops = gcor_combine_best_loops(),
        .threads = context->threads,
        .z = gcor_alloc(context, context->threads * permutations->n_subjects, BLOCK * sizeof(double), what),
        .best = gcor_alloc(context, context->threads * permutations->n, sizeof(double), what)};
    if (fresh->z && fresh->best) {
        clear(fresh);
        return GCOR_OK;
    }
    release(&fresh->sink);
    *maxima = NULL;
    return GCOR_NO_MEMORY;
}
