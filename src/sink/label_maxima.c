#include "label_maxima.h"

#include "../base/alloc.h"
#include "../base/artanh.h"

enum { BLOCK = GCOR_SUM_BLOCK };

/* Subtracts the first subject's z, so that sums of squares do not cancel, and finds the totals (largest_t()). */
static void shift_z(double *z, int64_t subjects, int64_t n, double *totals) {
    double first[BLOCK];
    for (int64_t k = 0; k < n; k++) {
        first[k] = z[k];
        totals[k] = totals[BLOCK + k] = 0;
    }
    for (int64_t s = 0; s < subjects; s++, z += BLOCK)
        for (int64_t k = 0; k < n; k++) {
            z[k] -= first[k];
            totals[k] += z[k];
            totals[BLOCK + k] += z[k] * z[k];
        }
}

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    const gcor_label_maxima *maxima = (gcor_label_maxima *)sink;
    const gcor_label_permutations *permutations = &maxima->permutations;
    const int64_t subjects = permutations->n_subjects;
    double *z = maxima->z + thread * subjects * BLOCK, *best = maxima->best + thread * permutations->n;
    double totals[2 * BLOCK];
    (void)context;
    for (int64_t from = 0; from < segment->n; from += BLOCK) {
        int64_t n = gcor_min(BLOCK, segment->n - from);
        gcor_subject_z(maxima->loops, segment->doubles + from, segment->stride, subjects, n, z);
        if (permutations->is_t) shift_z(z, subjects, n, totals);
        for (int64_t k = 0; k < permutations->n; k++) {
            const double *w = permutations->weight + k * subjects;
            double largest = permutations->is_t ? maxima->loops->largest_t(z, totals, w, subjects, maxima->side, n)
                                                : maxima->loops->largest_sum(z, w, subjects, maxima->side, n);
            if (largest > best[k]) best[k] = largest;
        }
    }
    return GCOR_OK;
}

/* Maximum over all threads. */
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
    if (!(largest > -INFINITY)) return GCOR_NO_WEIGHT;
    return maxima->permutations.is_t ? largest : gcor_tanh(largest);
}

static void clear(gcor_label_maxima *maxima) {
    for (int64_t k = 0; k < maxima->threads * maxima->permutations.n; k++) maxima->best[k] = -INFINITY;
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

static gcor_status allocate(gcor_sink *sink, gcor_context *context) {
    const char *what = "the largest differences";
    gcor_label_maxima *maxima = (gcor_label_maxima *)sink;
    const gcor_label_permutations *permutations = &maxima->permutations;
    maxima->threads = context->threads;
    maxima->z = gcor_alloc(context, maxima->threads * permutations->n_subjects, BLOCK * sizeof(double), what);
    maxima->best = gcor_alloc(context, maxima->threads * permutations->n, sizeof(double), what);
    if (!maxima->z || !maxima->best) return GCOR_NO_MEMORY;
    clear(maxima);
    return GCOR_OK;
}

static void release(gcor_sink *sink) {
    gcor_free(((gcor_label_maxima *)sink)->z);
    gcor_free(((gcor_label_maxima *)sink)->best);
}

static const gcor_sink_type TYPE = {.name = "label maxima",
                                    .size = sizeof(gcor_label_maxima),
                                    .take = take,
                                    .allocate = allocate,
                                    .merge = merge,
                                    .release = release};

gcor_status gcor_label_maxima_new(gcor_context *context, int64_t n_var, gcor_side side,
                                  const gcor_label_permutations *permutations, gcor_label_maxima **maxima) {
    const gcor_label_maxima like = {.sink = {.type = &TYPE, .shape = GCOR_LOWER, .n_row = n_var, .n_col = n_var},
                                    .side = side,
                                    .permutations = *permutations,
                                    .loops = gcor_combine_best_loops()};
    *maxima = gcor_sink_new(context, &like);
    return *maxima ? GCOR_OK : context->error.status;
}
