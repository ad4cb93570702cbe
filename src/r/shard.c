/* A part of a run: one process computes it and writes a file, another reads the files of all parts. Questions that R
 * asks about pairs. */
#include "job.h"

#include "../base/os.h"
#include "../base/shard.h"
#include "../sink/edges/store.h"
#include "../measure/measure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

enum { MAX_OPEN = 512 }; /* files that are open at once: a process may have 1,024 */

/* place: shard is c(index, of), save a path or none, parts NULL or a list. */
r_part r_part_parse(r_place place) {
    const double *shard = REAL(place.shard);
    return (r_part){.shard = {(int64_t)shard[0], (int64_t)shard[1]},
                    .save = Rf_xlength(place.save) == 1 ? CHAR(STRING_ELT(place.save, 0)) : NULL,
                    .parts = Rf_isNull(place.parts) ? NULL : place.parts};
}

static gcor_status cannot(gcor_context *context, const char *what, const char *path) {
    return gcor_fail(context, GCOR_BAD_FILE, "cannot %s \"%s\": %s", what, path, strerror(errno));
}

/* Adds the path to a message of a sink, which knows the stream only. */
static gcor_status in_file(gcor_context *context, gcor_status status, const char *path) {
    char *message = context->error.message;
    size_t n = strlen(message);
    if (status) snprintf(message + n, sizeof context->error.message - n, ", in \"%s\"", path);
    return status;
}

static gcor_status save(r_job *q, gcor_sink *sink) {
    gcor_context *context = &q->call.context;
    const char *path = q->part.save;
    FILE *file = gcor_os_fopen(path, "wb");
    if (!file) return cannot(context, "write", path);
    gcor_status status = in_file(context, gcor_sink_save(sink, context, &q->part.shard, file), path);
    if (fclose(file) != 0 && !status) status = cannot(context, "write", path);
    return status;
}

static gcor_status load_file(gcor_context *context, gcor_sink *sink, const char *path) {
    FILE *file = gcor_os_fopen(path, "rb");
    if (!file) return cannot(context, "read", path);
    gcor_status status = in_file(context, gcor_sink_load(sink, context, file), path);
    fclose(file);
    return status;
}

static void copy_flags(SEXP flags, SEXP to) {
    if (Rf_xlength(flags) != Rf_xlength(to)) r_error("these parts belong to another run");
    if (Rf_xlength(to) > 0) memcpy(RAW(to), RAW(flags), (size_t)Rf_xlength(to));
}

static gcor_status load(r_job *q, gcor_sink *sink) {
    gcor_context *context = &q->call.context;
    SEXP path = r_element(q->part.parts, "path");
    gcor_status status = GCOR_OK;
    /* Reading an index is enough where the edges need not be in memory. */
    const int is_for_index = sink->type->role == GCOR_STORE && ((const gcor_store *)sink)->spool &&
                             Rf_xlength(path) <= MAX_OPEN;
    context->monitor->pairs = Rf_xlength(path);
    context->monitor->pairs_done = 0;
    for (R_xlen_t k = 0; !status && k < Rf_xlength(path); k++, context->monitor->pairs_done++) {
        const char *file = CHAR(STRING_ELT(path, k));
        status = is_for_index ? gcor_store_attach((gcor_store *)sink, context, file, 0, NULL)
                              : load_file(context, sink, file);
        if (!status && gcor_stop(context)) status = context->error.status;
    }
    q->job.n_obs_used = (int64_t)Rf_asReal(r_element(q->part.parts, "n_obs"));
    return status;
}

void r_part_flags(const r_job *q, SEXP result) {
    if (!q->part.parts) return;
    copy_flags(r_element(q->part.parts, "x_flags"), VECTOR_ELT(result, 1));
    copy_flags(r_element(q->part.parts, "y_flags"), VECTOR_ELT(result, 2));
}

gcor_status r_part_run(r_job *q, gcor_session *session, gcor_sink *sink) {
    if (q->part.parts) return load(q, sink);
    gcor_status status = gcor_run(session, &q->call.context, &q->job);
    return status || !q->part.save ? status : save(q, sink);
}

/* ---- questions about pairs ---------------------------------------------------------------------- */

static double count_by_mask(r_call *call, const gcor_pair_rule *which, const gcor_grid *grid) {
    gcor_pairs *pairs;
    gcor_status status = gcor_pairs_new(&call->context, which, grid->shape, grid->n_row, grid->n_col, 1, 1, &pairs);
    double count = status ? 0 : (double)gcor_pairs_count(pairs, &call->context);
    gcor_pairs_free(pairs);
    return count;
}

/* Returns list(pairs: how many of n_row x n_col pairs, or of a triangle's, count by a mask, or all without one; shards:
 * the max number that they can be divided into). */
SEXP r_count_pairs(SEXP n_row, SEXP n_col, SEXP is_full, SEXP mask, SEXP place) {
    const char *names[] = {"pairs", "shards", ""};
    r_call call;
    gcor_pair_rule rule;
    const int64_t rows = (int64_t)Rf_asReal(n_row), columns = (int64_t)Rf_asReal(n_col);
    const int full = Rf_asLogical(is_full);
    const gcor_pair_rule *which = r_pairs_parse(&rule, mask, rows, columns, full);
    const gcor_grid grid = gcor_grid_of(full ? GCOR_FULL : GCOR_LOWER, rows, columns);
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names)), pairs = Rf_allocVector(REALSXP, 1);
    SET_VECTOR_ELT(result, 0, pairs);
    SET_VECTOR_ELT(result, 1, Rf_ScalarReal((double)gcor_count_shards(&grid)));
    r_quiet_call_parse(&call, place);
    if (which)
        *REAL(pairs) = count_by_mask(&call, which, &grid);
    else
        *REAL(pairs) = full ? (double)rows * (double)columns : (double)gcor_triangular(columns - 1);
    UNPROTECT(1);
    return call.context.error.status ? r_failure(&call.context.error) : result;
}

/* Returns the smallest of Spearman's correlations between a matrix's columns of doubles; NA if a value is missing or a
 * column is constant. For short columns: it takes no setting and no interrupt. */
SEXP r_least_rho(SEXP values) {
    const int64_t n = Rf_nrows(values), n_column = Rf_ncols(values);
    gcor_ranks ranks = gcor_ranks_at(R_alloc(gcor_ranks_bytes(n), 1), n);
    double *scores = (double *)R_alloc((size_t)(n * n_column) + 1, sizeof *scores), least = 1;
    memcpy(scores, REAL(values), (size_t)(n * n_column) * sizeof *scores);
    for (int64_t j = 0; j < n_column; j++) {
        double *column = scores + j * n;
        int64_t tied, present = gcor_rank(column, n, &ranks, &tied);
        double squares = gcor_scores(&ranks, n, present, column);
        if (present < n || squares == 0) return Rf_ScalarReal(NA_REAL);
        for (int64_t i = 0; i < j; i++) {
            const double *other = scores + i * n;
            double product = gcor_double_dot(column, other, n);
            least = fmin(least, product / sqrt(squares * gcor_double_dot(other, other, n)));
        }
    }
    return Rf_ScalarReal(least);
}

/* ---- positions of pairs, from 1 ---------------------------------------------------------------------------- */

/* Doubles cannot represent every position above 2^53: such positions are integer64, the class of package bit64, whose
 * doubles hold the bits of 64-bit integers. */
static const int64_t MAX_EXACT = (int64_t)1 << 53;

static int64_t integer_at(SEXP x, R_xlen_t k, int is_integer64) {
    int64_t value;
    if (!is_integer64) return (int64_t)REAL(x)[k];
    memcpy(&value, REAL(x) + k, sizeof value);
    return value;
}

/* Returns a matrix of the pairs (i, j) at positions k. order 0: by rows; 1: by columns. */
SEXP r_triangle_index(SEXP k, SEXP n_var, SEXP order) {
    int is_integer64 = Rf_inherits(k, "integer64"), by_columns = Rf_asInteger(order);
    int64_t n = (int64_t)Rf_asReal(n_var), pairs = gcor_triangular(n - 1);
    R_xlen_t length = Rf_xlength(k);
    if (length > INT_MAX) r_error("'k' has %.0f positions; ask for at most 2^31 - 1 at a time", (double)length);
    SEXP result = PROTECT(Rf_allocMatrix(REALSXP, (int)length, 2));
    for (R_xlen_t at = 0; at < length; at++) {
        int64_t position = integer_at(k, at, is_integer64), i, j;
        if (position < 1 || position > pairs)
            r_error("'k' is %.0f at element %.0f; positions go from 1 to n(n-1)/2 = %.0f", (double)position,
                    (double)at + 1, (double)pairs);
        if (by_columns)
            gcor_column_pair(position - 1, &i, &j);
        else
            gcor_row_pair(position - 1, n, &i, &j);
        REAL(result)[at] = (double)(i + 1);
        REAL(result)[length + at] = (double)(j + 1);
    }
    UNPROTECT(1);
    return result;
}

static int64_t position_of(double i, double j, int64_t n, int by_columns) {
    int64_t low = (int64_t)(i < j ? i : j) - 1, high = (int64_t)(i < j ? j : i) - 1;
    return 1 + (by_columns ? gcor_column_position(low, high) : gcor_row_position(low, high, n));
}

/* Returns the positions of pairs. i and j: doubles of equal length, which the caller has checked. */
SEXP r_triangle_position(SEXP i, SEXP j, SEXP n_var, SEXP order) {
    int by_columns = Rf_asInteger(order), large = 0;
    int64_t n = (int64_t)Rf_asReal(n_var);
    R_xlen_t length = Rf_xlength(i);
    SEXP result = PROTECT(Rf_allocVector(REALSXP, length));
    for (R_xlen_t at = 0; at < length; at++) large |= position_of(REAL(i)[at], REAL(j)[at], n, by_columns) > MAX_EXACT;
    for (R_xlen_t at = 0; at < length; at++) {
        int64_t position = position_of(REAL(i)[at], REAL(j)[at], n, by_columns);
        if (large)
            memcpy(REAL(result) + at, &position, sizeof position);
        else
            REAL(result)[at] = (double)position;
    }
    if (large) Rf_setAttrib(result, R_ClassSymbol, Rf_mkString("integer64"));
    UNPROTECT(1);
    return result;
}
