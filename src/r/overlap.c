/* gpuTOM: the overlaps of a sparse network's edges; several data sets' overlaps combined. */
#include "job.h"
#include "vector.h"

#include "../base/alloc.h"
#include "../base/elementary.h"
#include "../base/threads.h"
#include "../base/triangle.h"

/* ---- a sparse network ------------------------------------------------------------------------------- */

/* Compressed columns: the edges above the diagonal; and all neighbours of each variable, with adjacencies. */
typedef struct {
    gcor_context *context;
    const gcor_overlap_rule *rule;
    int64_t n;
    const int *edge_begin, *edge, *begin, *neighbour;
    const double *a;
    double *connectivity, *out;
    double *rows; /* threads x n: adjacencies of one column, 0 elsewhere */
} sparse_overlap;

static double sum_sizes(const sparse_overlap *s, int64_t j) {
    double sum = 0;
    for (int64_t e = s->begin[j]; e < s->begin[j + 1]; e++)
        if (s->neighbour[e] != j) sum += fabs(s->a[e]);
    return sum;
}

/* Computes the overlaps of variable j's edges. */
static void overlap_column(void *argument, int thread, int64_t j) {
    const sparse_overlap *s = argument;
    double *own = s->rows + thread * s->n;
    if (gcor_stop(s->context)) return;
    for (int64_t e = s->begin[j]; e < s->begin[j + 1]; e++)
        if (s->neighbour[e] != j) own[s->neighbour[e]] = s->a[e];
    for (int64_t e = s->edge_begin[j]; e < s->edge_begin[j + 1]; e++) {
        int64_t i = s->edge[e];
        double shared = 0;
        for (int64_t k = s->begin[i]; k < s->begin[i + 1]; k++)
            if (s->neighbour[k] != i) shared += s->a[k] * own[s->neighbour[k]];
        s->out[e] = i == j ? 1 : gcor_overlap_of(s->rule, shared, own[i], s->connectivity[i], s->connectivity[j]);
    }
    for (int64_t e = s->begin[j]; e < s->begin[j + 1]; e++) own[s->neighbour[e]] = 0;
}

static gcor_status overlap_columns(sparse_overlap *s, gcor_context *context) {
    memset(s->rows, 0, (size_t)(context->threads * s->n) * sizeof *s->rows);
    for (int64_t j = 0; j < s->n; j++) s->connectivity[j] = sum_sizes(s, j);
    gcor_for_each(context->threads, s->n, overlap_column, s);
    return context->error.status;
}

/* Returns the topological overlap of each edge of a symmetric network. edge_p, edge_i: compressed columns of the edges
 * above the diagonal; p, i, x: of all edges, with adjacencies. */
SEXP r_sparse_overlap(SEXP edge_p, SEXP edge_i, SEXP p, SEXP i, SEXP x, SEXP overlap, SEXP threads) {
    gcor_overlap_rule rule;
    r_call call;
    const int64_t n = Rf_xlength(p) - 1;
    r_check_compressed(p, i, x, n);
    r_check_compressed(edge_p, edge_i, NULL, n);
    if (Rf_xlength(edge_p) != n + 1) r_error("the edges are not of this network");
    r_plain_call_parse(&call, threads);
    gcor_context *context = &call.context;
    SEXP result = PROTECT(Rf_allocVector(REALSXP, Rf_xlength(edge_i)));
    double *connectivity = gcor_alloc(context, n, sizeof *connectivity, "connectivities");
    double *rows = gcor_alloc(context, context->threads * n, sizeof *rows, "adjacencies of a column");
    sparse_overlap s = {.context = context,
                        .rule = r_overlap_parse(&rule, overlap),
                        .n = n,
                        .edge_begin = INTEGER(edge_p),
                        .edge = INTEGER(edge_i),
                        .begin = INTEGER(p),
                        .neighbour = INTEGER(i),
                        .a = REAL(x),
                        .connectivity = connectivity,
                        .out = REAL(result),
                        .rows = rows};
    gcor_status status = connectivity && rows ? overlap_columns(&s, context) : context->error.status;
    gcor_free(connectivity);
    gcor_free(rows);
    UNPROTECT(1);
    return status ? r_failure(&context->error) : result;
}

/* ---- several data sets ------------------------------------------------------------------------------- */

enum { BLOCK = 4096 };

/* A pair's overlaps become one: each is raised to its data set's power, and then their mean is taken, or a quantile
 * (type 7 of R). */
typedef struct {
    gcor_context *context;
    int64_t sets, n;
    const gcor_values *values;
    const double *powers;
    int is_mean;
    double probability;
    float *floats; /* the result, as floats or as doubles */
    double *doubles;
    double *scratch; /* of each thread: BLOCK values of each set, and one of each */
} overlap_combination;

static void sort(double *x, int64_t n) {
    for (int64_t k = 1; k < n; k++) {
        double value = x[k];
        int64_t at = k;
        for (; at > 0 && x[at - 1] > value; at--) x[at] = x[at - 1];
        x[at] = value;
    }
}

static double combine(const overlap_combination *c, double *x) {
    if (c->is_mean) {
        double sum = 0;
        for (int64_t s = 0; s < c->sets; s++) sum += x[s];
        return sum / (double)c->sets;
    }
    double position = (double)(c->sets - 1) * c->probability;
    int64_t below = (int64_t)position;
    sort(x, c->sets);
    return below + 1 < c->sets ? x[below] + (position - (double)below) * (x[below + 1] - x[below]) : x[c->sets - 1];
}

static void combine_block(void *argument, int thread, int64_t first, int64_t end) {
    const overlap_combination *c = argument;
    const int64_t n = end - first;
    double *scratch = c->scratch + thread * c->sets * (BLOCK + 1), *of_pair = scratch + c->sets * BLOCK;
    if (gcor_stop(c->context)) return;
    for (int64_t s = 0; s < c->sets; s++) {
        double *own = scratch + s * BLOCK;
        const double *read = gcor_read_values(&c->values[s], first, n, own), power = c->powers[s];
        for (int64_t k = 0; k < n; k++) own[k] = power == 1 ? read[k] : gcor_pow(read[k], power);
    }
    for (int64_t k = 0; k < n; k++) {
        for (int64_t s = 0; s < c->sets; s++) of_pair[s] = scratch[s * BLOCK + k];
        float value = (float)combine(c, of_pair);
        if (c->floats)
            c->floats[first + k] = value;
        else
            c->doubles[first + k] = value;
    }
}

static gcor_status combine_all(overlap_combination *c, gcor_context *context) {
    c->scratch = gcor_alloc(context, context->threads * c->sets * (BLOCK + 1), sizeof *c->scratch,
                            "overlaps of several data sets");
    if (!c->scratch) return GCOR_NO_MEMORY;
    gcor_for_blocks(context->threads, c->n, BLOCK, combine_block, c);
    gcor_free(c->scratch);
    return context->error.status;
}

/* Returns the overlaps of several data sets as one, pair by pair. powers: one for each set; fraction: the probability
 * of the quantile; NULL: the mean. size: the number of variables; attributes: a named list for the result. */
SEXP r_combine_overlaps(SEXP overlaps, SEXP powers, SEXP fraction, SEXP size, SEXP attributes, SEXP threads) {
    r_call call;
    r_plain_call_parse(&call, threads);
    gcor_context *context = &call.context;
    int64_t n_var = (int64_t)Rf_asReal(size), n = gcor_triangular(n_var - 1), sets = Rf_xlength(overlaps);
    gcor_values *values = (gcor_values *)R_alloc((size_t)sets, sizeof *values);
    for (int64_t s = 0; s < sets; s++) values[s] = r_values(VECTOR_ELT(overlaps, s));
    int is_compact = values[0].compact != NULL;
    SEXP result = PROTECT(is_compact ? r_compact_vector(context, GCOR_AS_FLOATS, GCOR_UPPER, n_var, 0)
                                     : Rf_allocVector(REALSXP, n));
    const gcor_compact *compact = r_compact_of(result);
    overlap_combination c = {.context = context,
                             .sets = sets,
                             .n = n,
                             .values = values,
                             .powers = REAL(powers),
                             .is_mean = Rf_isNull(fraction),
                             .probability = Rf_isNull(fraction) ? 0 : Rf_asReal(fraction)};
    gcor_status status = context->error.status;
    if (!status) {
        c.floats = compact ? compact->values : NULL;
        c.doubles = compact ? NULL : REAL(result);
        status = combine_all(&c, context);
    }
    for (int64_t j = 0; compact && j < n_var; j++) compact->norm[j] = 1;
    if (!status && compact) r_compact_complete(result);
    if (!status) r_set_attributes(result, attributes, NULL, NULL);
    if (status) result = r_failure(&context->error);
    UNPROTECT(1);
    return result;
}
