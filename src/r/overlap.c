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
    const gcor_overlap_rule *rule;
    int64_t n;
    const int *edge_begin, *edge, *begin, *neighbour;
    const double *a, *connectivity;
    double *out;
} sparse_overlap;

static double sum_sizes(const sparse_overlap *s, int64_t j) {
    double sum = 0;
    for (int64_t e = s->begin[j]; e < s->begin[j + 1]; e++)
        if (s->neighbour[e] != j) sum += fabs(s->a[e]);
    return sum;
}

/* Computes the overlaps of variable j's edges. own[n]: scratch for its adjacencies, 0 before and after. */
static void overlap_column(const sparse_overlap *s, int64_t j, double *own) {
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

static gcor_status overlap_columns(const sparse_overlap *s, gcor_context *context, double *connectivity, double *rows) {
    memset(rows, 0, (size_t)(context->threads * s->n) * sizeof *rows);
    for (int64_t j = 0; j < s->n; j++) connectivity[j] = sum_sizes(s, j);
#pragma omp parallel for num_threads(context->threads) schedule(dynamic, 16)
    for (int64_t j = 0; j < s->n; j++)
        if (!gcor_stop(context)) overlap_column(s, j, rows + omp_get_thread_num() * s->n);
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
    sparse_overlap s = {.rule = r_overlap_parse(&rule, overlap),
                        .n = n,
                        .edge_begin = INTEGER(edge_p),
                        .edge = INTEGER(edge_i),
                        .begin = INTEGER(p),
                        .neighbour = INTEGER(i),
                        .a = REAL(x),
                        .connectivity = connectivity,
                        .out = REAL(result)};
    gcor_status status = connectivity && rows ? overlap_columns(&s, context, connectivity, rows)
                                              : context->error.status;
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
    int64_t sets;
    const gcor_values *values;
    const double *powers;
    int is_mean;
    double probability;
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

static void raise_to(double power, double *x, int64_t n) {
    for (int64_t k = 0; power != 1 && k < n; k++) x[k] = gcor_pow(x[k], power);
}

/* Combines pairs first .. first+n-1. scratch: BLOCK values of each set, and one of each. */
static void combine_block(const overlap_combination *c, int64_t first, int64_t n, double *scratch, float *floats,
                          double *doubles) {
    double *of_pair = scratch + c->sets * BLOCK;
    for (int64_t s = 0; s < c->sets; s++) {
        const double *read = gcor_read_values(&c->values[s], first, n, scratch + s * BLOCK);
        if (read != scratch + s * BLOCK) memcpy(scratch + s * BLOCK, read, (size_t)n * sizeof *read);
        raise_to(c->powers[s], scratch + s * BLOCK, n);
    }
    for (int64_t k = 0; k < n; k++) {
        for (int64_t s = 0; s < c->sets; s++) of_pair[s] = scratch[s * BLOCK + k];
        float value = (float)combine(c, of_pair);
        if (floats)
            floats[first + k] = value;
        else
            doubles[first + k] = value;
    }
}

static gcor_status combine_all(const overlap_combination *c, gcor_context *context, int64_t n, float *floats,
                               double *doubles) {
    int64_t each = c->sets * (BLOCK + 1);
    double *scratch = gcor_alloc(context, context->threads * each, sizeof *scratch, "overlaps of several data sets");
    if (!scratch) return GCOR_NO_MEMORY;
#pragma omp parallel for num_threads(context->threads) schedule(dynamic)
    for (int64_t first = 0; first < n; first += BLOCK)
        if (!gcor_stop(context))
            combine_block(c, first, n - first < BLOCK ? n - first : BLOCK, scratch + omp_get_thread_num() * each,
                          floats, doubles);
    gcor_free(scratch);
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
    overlap_combination c = {sets, values, REAL(powers), Rf_isNull(fraction),
                             Rf_isNull(fraction) ? 0 : Rf_asReal(fraction)};
    gcor_status status = context->error.status;
    if (!status) status = combine_all(&c, context, n, compact ? compact->values : NULL, compact ? NULL : REAL(result));
    for (int64_t j = 0; compact && j < n_var; j++) compact->norm[j] = 1;
    if (!status && compact) r_compact_complete(result);
    if (!status) r_set_attributes(result, attributes, NULL, NULL);
    if (status) result = r_failure(&context->error);
    UNPROTECT(1);
    return result;
}
