#include "permuted_tests.h"

#include "../base/alloc.h"
#include "../base/elementary.h"

enum { BLOCK = GCOR_GROUP_BLOCK };

/* Scratch: the values of a permutation; totals of z, and of its squares; z; and y, if the model transforms z. */
enum { VALUES = 0, TOTALS = BLOCK, SQUARES = 2 * BLOCK, Z = 3 * BLOCK };

int gcor_permuted_is_t(const gcor_permutations *permutations) {
    return permutations->is_t || permutations->model;
}

int64_t gcor_permuted_scratch(const gcor_permutations *permutations) {
    return Z + BLOCK * (permutations->n_subjects + gcor_linear_scratch(permutations->model));
}

/* Subtracts the first subject's z, so that sums of squares do not cancel. */
static void shift_z(double *z, int64_t subjects, int64_t n) {
    for (int64_t s = subjects - 1; s >= 0; s--)
        for (int64_t k = 0; k < n; k++) z[s * BLOCK + k] -= z[k];
}

static void find_totals(const double *z, int64_t subjects, int64_t n, double *totals, double *squares) {
    for (int64_t k = 0; k < n; k++) totals[k] = squares[k] = 0;
    for (int64_t s = 0; s < subjects; s++, z += BLOCK)
        for (int64_t k = 0; k < n; k++) {
            totals[k] += z[k];
            squares[k] += z[k] * z[k];
        }
}

void gcor_permuted_begin(const gcor_permutations *permutations, const gcor_combine_loops *loops, const double *r,
                         int64_t stride, int64_t n, double *scratch) {
    const gcor_linear_model *model = permutations->model;
    const int64_t subjects = permutations->n_subjects;
    double *z = scratch + Z;
    gcor_subject_z(loops, r, stride, subjects, n, z);
    if (model) {
        const double *y = gcor_linear_values(model, loops, subjects, z, n);
        find_totals(y, model->n_values, n, scratch + TOTALS, scratch + SQUARES);
    } else if (permutations->is_t) {
        shift_z(z, subjects, n);
        find_totals(z, subjects, n, scratch + TOTALS, scratch + SQUARES);
    }
}

const double *gcor_permuted_values(const gcor_permutations *permutations, const gcor_combine_loops *loops, int64_t k,
                                   int64_t n, double *scratch) {
    const gcor_linear_model *model = permutations->model;
    const int64_t subjects = permutations->n_subjects;
    const double *w = permutations->weight + k * permutations->n_weights, *z = scratch + Z;
    double *values = scratch + VALUES;
    if (model)
        loops->linear_t(model->basis ? z + subjects * BLOCK : z, scratch + SQUARES, w,
                        permutations->n_weights / model->n_values, model->n_values, model->df, n, values);
    else if (permutations->is_t)
        loops->welch(z, scratch + TOTALS, w, subjects, n, values);
    else
        loops->weighted_sums(z, w, subjects, n, values);
    return values;
}

/* ---- the sink of maxima ------------------------------------------------------------------------------- */

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
