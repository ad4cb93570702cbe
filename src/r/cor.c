/* gpuCor and its relatives: all coefficients. */
#include "job.h"
#include "vector.h"

#include "../base/alloc.h"
#include "../base/threads.h"
#include "../base/triangle.h"
#include "../sink/dense.h"
#include "../stats/partial.h"

enum { MIN_COMPACT = 8192 }; /* fewer pairs are an ordinary vector of up to 64 KB, which R has at hand */

typedef struct {
    r_job *job;
    gcor_layout layout;
    double *values;              /* an ordinary vector's; NULL: the values are compact */
    const gcor_compact *compact; /* a compact vector's, or NULL */
    int distance;                /* 1 - coefficient is wanted */
} request;

/* The coefficients of columns in single precision need no doubles. */
static gcor_form product_form(const request *q) {
    return q->job->job.in_double && !q->job->job.overlap ? GCOR_AS_DOUBLES : GCOR_AS_FLOATS;
}

/* Returns how the values are kept. Overlaps are floats. Coefficients are doubles in a matrix, which nobody reads by
 * elements; if pairs may have observations, and so norms, of their own; if they are combined from several subjects or
 * read from files; if real columns are multiplied in double; if they follow from bins; and if a numerator may be too
 * long. */
static gcor_form form_of(const request *q) {
    const gcor_source *x = &q->job->x.source;
    int is_triangle = q->layout == GCOR_TRIANGLE_ROWS || q->layout == GCOR_TRIANGLE_COLUMNS;
    if (q->job->part.save || q->job->part.parts || q->job->job.combination || !is_triangle ||
        gcor_triangular(x->n_var - 1) < MIN_COMPACT)
        return GCOR_AS_DOUBLES;
    if (q->job->job.overlap) return GCOR_AS_FLOATS;
    if (q->job->job.use == GCOR_PAIRWISE) return GCOR_AS_DOUBLES;
    if (q->job->job.measure->kind == GCOR_REAL) return product_form(q);
    if (q->job->job.measure->kind == GCOR_BINNED || q->job->job.measure->kind == GCOR_GIVEN) return GCOR_AS_DOUBLES;
    return x->n_obs <= GCOR_COMPACT_OBS ? GCOR_AS_COUNTS : GCOR_AS_DOUBLES;
}

static int64_t count_values(const request *q) {
    int64_t n = q->job->x.source.n_var;
    switch (q->layout) {
    case GCOR_SQUARE: return n * n;
    case GCOR_RECTANGLE: return n * q->job->y.source.n_var;
    default: return gcor_triangular(n - 1);
    }
}

/* Returns the bytes that allocate_values() takes. */
static int64_t value_bytes(const request *q) {
    if (q->job->part.save) return 0;
    if (form_of(q) != GCOR_AS_DOUBLES) return r_compact_bytes(q->job->x.source.n_var);
    return count_values(q) * (int64_t)sizeof(double);
}

/* After an error, which is in the context, the vector is empty. */
static SEXP allocate_values(request *q) {
    R_xlen_t n = q->job->x.source.n_var;
    gcor_form form = form_of(q);
    if (q->job->part.save) return Rf_allocVector(REALSXP, 0);
    q->job->call.context.result_bytes = value_bytes(q);
    if (form != GCOR_AS_DOUBLES)
        return r_compact_vector(&q->job->call.context, form, q->layout == GCOR_TRIANGLE_ROWS ? GCOR_UPPER : GCOR_LOWER,
                                n, q->distance);
    r_collect_garbage(value_bytes(q));
    SEXP values = PROTECT(r_new_vector(&q->job->call.context, REALSXP, count_values(q)));
    if (q->layout == GCOR_SQUARE || q->layout == GCOR_RECTANGLE) {
        SEXP dim = Rf_allocVector(INTSXP, 2);
        INTEGER(dim)[0] = (int)n;
        INTEGER(dim)[1] = (int)(q->layout == GCOR_SQUARE ? n : q->job->y.source.n_var);
        Rf_setAttrib(values, R_DimSymbol, dim);
    }
    UNPROTECT(1);
    return values;
}

/* Returns the coefficient of a variable with itself, as stats::cor() does. */
static double diagonal(const gcor_job *job, int64_t j, double n_obs) {
    int flags = job->x_flags[j];
    if (job->overlap) return 1;
    if (job->combination && gcor_combined_diagonal(job->combination) != 1) {
        double own = gcor_combined_diagonal(job->combination);
        return own <= 1 ? own : NA_REAL;
    }
    if (job->use != GCOR_PAIRWISE || job->combination) return n_obs >= 2 ? 1 : NA_REAL;
    if (flags & (GCOR_CONSTANT | GCOR_FEW)) return NA_REAL;
    return flags & GCOR_INFINITE && job->measure->infinite == GCOR_INFINITE_IS_NAN ? R_NaN : 1;
}

enum { PIECE = 1 << 20 }; /* values that a thread rescales at a time */

typedef struct {
    gcor_context *context;
    double *values, shift, scale;
} rescaling;

static void rescale_piece(void *argument, int thread, int64_t from, int64_t end) {
    const rescaling *s = argument;
    if (gcor_stop(s->context)) return;
    for (int64_t k = from; k < end; k++) s->values[k] = s->shift + s->scale * s->values[k];
}

/* Replaces values by shift + scale * value. */
static void rescale(request *q, int64_t length, double shift, double scale) {
    gcor_context *context = &q->job->call.context;
    rescaling s = {context, q->values, shift, scale};
    gcor_for_blocks(context->threads, length, PIECE, rescale_piece, &s);
}

/* Finishes units of combined values, a matrix, and distances. Can be interrupted. */
static gcor_status complete(request *q, int64_t length, double n_obs) {
    int64_t n = q->job->x.source.n_var;
    gcor_context *context = &q->job->call.context;
    const double unit = q->job->job.combination ? gcor_combined_unit(q->job->job.combination) : 1;
    if (unit != 1) rescale(q, length, 0, unit);
    if (q->layout == GCOR_SQUARE) {
        (void)gcor_mirror(context, q->values, n);
        for (int64_t j = 0; j < n; j++) q->values[j + n * j] = diagonal(&q->job->job, j, n_obs);
    }
    if (q->distance) rescale(q, length, 1, -1);
    return context->error.status;
}

/* Returns the coefficient of every variable with itself; NULL: all are 1. */
static SEXP diagonal_values(const request *q, double n_obs) {
    int64_t n = q->job->x.source.n_var, ones = 0;
    for (int64_t j = 0; j < n; j++) ones += diagonal(&q->job->job, j, n_obs) == 1;
    if (ones == n) return R_NilValue;
    SEXP values = Rf_allocVector(REALSXP, n);
    for (int64_t j = 0; j < n; j++) REAL(values)[j] = diagonal(&q->job->job, j, n_obs);
    return values;
}

static gcor_status run_compact(request *q, SEXP result) {
    gcor_sink *sink;
    gcor_status status = gcor_compact_sink_new(&q->job->call.context, q->compact, &sink);
    q->job->job.x_norm = q->compact->norm;
    if (!status) status = r_job_run(q->job, sink, result);
    gcor_sink_free(sink);
    if (!status) r_compact_complete(VECTOR_ELT(result, 3));
    REAL(VECTOR_ELT(result, 4))[0] = status ? 0 : (double)gcor_compact_zero_sd(q->compact);
    return status;
}

static gcor_status new_dense(request *q, R_xlen_t length, gcor_dense **dense) {
    gcor_context *context = &q->job->call.context;
    int64_t n_row = r_n_row(q->job), n_col = q->job->job.x->n_var;
    if (q->job->part.save)
        return gcor_dense_shard_new(context, q->layout, n_row, n_col, &q->job->part.shard, NA_REAL, dense);
    return gcor_dense_new(context, q->layout, n_row, n_col, q->values, length, NA_REAL, dense);
}

static gcor_status run_dense(request *q, SEXP result) {
    R_xlen_t length = Rf_xlength(VECTOR_ELT(result, 3));
    gcor_dense *dense;
    gcor_status status = new_dense(q, length, &dense);
    if (!status) dense->sink.form = product_form(q);
    if (!status) status = r_job_run(q->job, &dense->sink, result);
    if (!status && !q->job->part.save) status = complete(q, length, REAL(VECTOR_ELT(result, 0))[0]);
    REAL(VECTOR_ELT(result, 4))[0] = status ? 0 : (double)dense->zero_sd;
    gcor_sink_free(dense ? &dense->sink : NULL);
    return status;
}

/* Returns the number of constant columns: overlaps exist for all pairs, but users are warned of constant columns. */
static double count_constant(const request *q) {
    double n = 0;
    for (int64_t j = 0; j < q->job->job.x->n_var; j++) n += (q->job->job.x_flags[j] & GCOR_CONSTANT) != 0;
    return n;
}

/* Returns the flags of all variables of one side, or-ed together. */
static int any_flags(SEXP flags) {
    int any = 0;
    for (R_xlen_t k = 0; k < Rf_xlength(flags); k++) any |= RAW(flags)[k];
    return any;
}

/* arguments: layout, attributes: a named list for the values. Returns list(n_obs, x_flags, y_flags, values: all
 * coefficients in that layout, zero_sd: the number of pairs with a constant column, flags: those of all columns, or-ed
 * together). The run has `distance`, too. */
gcor_status r_cor(r_job *job, const SEXP *arguments, SEXP result) {
    request q = {.job = job, .layout = (gcor_layout)Rf_asInteger(arguments[0]), .distance = job->is_distance};
    gcor_buffers_limit((int64_t)Rf_asReal(job->place.keep));
    SEXP values = allocate_values(&q);
    SET_VECTOR_ELT(result, 3, values);
    SET_VECTOR_ELT(result, 4, Rf_allocVector(REALSXP, 1));
    q.compact = r_compact_of(values);
    q.values = q.compact ? NULL : REAL(values);
    gcor_status status = job->call.context.error.status; /* from allocate_values() */
    if (!status) status = q.compact ? run_compact(&q, result) : run_dense(&q, result);
    if (!status && job->job.overlap) REAL(VECTOR_ELT(result, 4))[0] = count_constant(&q);
    SEXP n_obs = VECTOR_ELT(result, 0), own = PROTECT(status ? R_NilValue : diagonal_values(&q, REAL(n_obs)[0]));
    if (!status) r_set_attributes(values, arguments[1], n_obs, own);
    SET_VECTOR_ELT(result, 5, Rf_ScalarInteger(any_flags(VECTOR_ELT(result, 1)) | any_flags(VECTOR_ELT(result, 2))));
    if (status && q.compact) r_compact_drop(values);
    UNPROTECT(1);
    return status;
}

/* arguments: layout. Returns list(bytes: c(values, others)), the bytes of host memory that r_cor() takes: for the
 * values, and at least for other things. */
gcor_status r_cor_bytes(r_job *job, const SEXP *arguments, SEXP result) {
    request q = {.job = job, .layout = (gcor_layout)Rf_asInteger(arguments[0])};
    double *bytes = r_new_doubles(result, 0, 2);
    int takes_more = job->job.overlap && job->backend->overlap_memory;
    bytes[0] = (double)value_bytes(&q);
    bytes[1] = takes_more ? (double)job->backend->overlap_memory(job->x.source.n_var) : 0;
    return GCOR_OK;
}

/* Returns the number of variables, which says how much is read. Users may change any R object. */
static int64_t unfolded_size(SEXP values, SEXP n_var, SEXP diagonal) {
    double n = Rf_asReal(n_var);
    if (!(n >= 0 && n <= INT_MAX)) r_error("a matrix cannot have %.0f columns", n);
    if (TYPEOF(values) != REALSXP || Rf_xlength(values) != gcor_triangular((int64_t)n - 1))
        r_error("the pairs of %.0f variables need %.0f doubles, not %.0f values of type %s", n, n * (n - 1) / 2,
                (double)Rf_xlength(values), Rf_type2char(TYPEOF(values)));
    if (!Rf_isNull(diagonal) && (TYPEOF(diagonal) != REALSXP || Rf_xlength(diagonal) != (int64_t)n))
        r_error("the diagonal of %.0f variables needs as many doubles, not %.0f values of type %s", n,
                (double)Rf_xlength(diagonal), Rf_type2char(TYPEOF(diagonal)));
    return (int64_t)n;
}

typedef struct {
    gcor_context *context;
    int64_t n;
    gcor_values from;
    const double *diagonal;
    int subtracts;
    double *out;
} unfolding;

static void unfold_row(void *argument, int thread, int64_t i) {
    const unfolding *u = argument;
    const int64_t n = u->n, others = n - 1 - i;
    double *row = u->out + n * i + i + 1;
    if (gcor_stop(u->context)) return;
    row[-1] = u->diagonal ? u->diagonal[i] : 1;
    if (others == 0) return;
    const double *read = gcor_read_values(&u->from, gcor_row_position(i, i + 1, n), others, row);
    if (u->subtracts)
        for (int64_t k = 0; k < others; k++) row[k] = 1 - read[k];
    else if (read != row)
        memcpy(row, read, (size_t)others * sizeof *row);
}

/* Returns the n x n matrix of a dist's values, or with is_distance of 1 less them. diagonal: n numbers; NULL: ones. Can
 * be interrupted. */
SEXP r_unfold(SEXP values, SEXP n_var, SEXP diagonal, SEXP is_distance, SEXP threads) {
    int64_t n = unfolded_size(values, n_var, diagonal);
    r_call call;
    r_plain_call_parse(&call, threads);
    SEXP result = PROTECT(Rf_allocMatrix(REALSXP, (int)n, (int)n));
    unfolding u = {.context = &call.context,
                   .n = n,
                   .from = r_values(values),
                   .diagonal = Rf_isNull(diagonal) ? NULL : REAL(diagonal),
                   .subtracts = Rf_asLogical(is_distance),
                   .out = REAL(result)};
    gcor_huge_pages(u.out, (size_t)(n * n) * sizeof *u.out);
    gcor_for_each(call.context.threads, n, unfold_row, &u);
    if (gcor_mirror(&call.context, u.out, n)) result = r_failure(&call.context.error);
    UNPROTECT(1);
    return result;
}

/* ---- sums for partial correlations given all other variables ------------------------------------ */

static gcor_status sum_observed(r_job *q, const gcor_observations *counted, SEXP result) {
    gcor_context *context = &q->call.context;
    gcor_design *design;
    gcor_partial_sums sums = {.products = REAL(VECTOR_ELT(result, 0)), .fourth = REAL(VECTOR_ELT(result, 1))};
    if (gcor_design_pick(context, q->job.design, counted->observed, counted->n_obs, &design))
        return context->error.status;
    gcor_columns columns = {
        .source = q->job.x, .observed = counted->observed, .n_obs = counted->n_obs, .design = design};
    gcor_status status = gcor_sum_products(context, &columns, q->job.measure, &sums);
    gcor_design_free(design);
    SET_VECTOR_ELT(result, 2, Rf_ScalarReal((double)sums.n_var));
    return status;
}

static SEXP new_zeros(SEXP list, int k, int64_t n) {
    SEXP zeros = Rf_allocVector(REALSXP, n);
    SET_VECTOR_ELT(list, k, zeros);
    memset(REAL(zeros), 0, (size_t)n * sizeof(double));
    return zeros;
}

/* arguments: counted (r_observations()). Returns list(products: n * n, fourth: n, n_var) as
 * gcor_partial_sums has them, of the n observations that were counted. */
gcor_status r_partial_sums(r_job *q, const SEXP *arguments, SEXP result) {
    const gcor_observations counted = r_counted(arguments[0]);
    new_zeros(result, 0, counted.n_obs * counted.n_obs);
    new_zeros(result, 1, counted.n_obs);
    return sum_observed(q, &counted, result);
}
