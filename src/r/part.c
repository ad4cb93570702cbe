/* A part of a run: computed by one process for its file, and read by another that puts all parts together. */
#include "r.h"

#include "../base/os.h"
#include "../engine/needs.h"
#include "../base/shard.h"
#include "../sink/edges/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_OPEN = 512 }; /* files: a process may have 1,024 */

void r_part_parse(r_part *part, SEXP settings) {
    const double *shard = REAL(r_element(settings, "share"));
    SEXP save = r_element(settings, "save"), parts = r_element(settings, "parts");
    *part = (r_part){.shard = {(int64_t)shard[0], (int64_t)shard[1]}};
    if (Rf_xlength(save) == 1) part->save = CHAR(STRING_ELT(save, 0));
    if (!Rf_isNull(parts)) part->parts = parts;
}

static gcor_status cannot(gcor_context *context, const char *what, const char *path) {
    return gcor_fail(context, GCOR_BAD_FILE, "cannot %s \"%s\": %s", what, path, strerror(errno));
}

/* What a sink says of its file knows the stream alone. */
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

/* Of edges that need not be in memory only an index is read. */
static int is_for_index(const gcor_sink *sink, R_xlen_t files) {
    return sink->type == &gcor_store_type && ((const gcor_store *)sink)->spool && files <= MAX_OPEN;
}

static gcor_status load_file(gcor_context *context, gcor_sink *sink, const char *path) {
    FILE *file = gcor_os_fopen(path, "rb");
    if (!file) return cannot(context, "read", path);
    gcor_status status = in_file(context, gcor_sink_load(sink, context, file), path);
    fclose(file);
    return status;
}

static void copy_flags(SEXP flags, SEXP to) {
    if (Rf_xlength(flags) != Rf_xlength(to)) Rf_error("the parts of a run are of another one");
    if (Rf_xlength(to) > 0) memcpy(RAW(to), RAW(flags), (size_t)Rf_xlength(to));
}

static gcor_status load(r_job *q, gcor_sink *sink) {
    gcor_context *context = &q->call.context;
    SEXP path = r_element(q->part.parts, "path");
    gcor_status status = GCOR_OK;
    context->monitor->pairs = Rf_xlength(path);
    context->monitor->pairs_done = 0;
    for (R_xlen_t k = 0; !status && k < Rf_xlength(path); k++, context->monitor->pairs_done++) {
        const char *own = CHAR(STRING_ELT(path, k));
        status = is_for_index(sink, Rf_xlength(path)) ? gcor_store_attach((gcor_store *)sink, context, own, 0, NULL)
                                                      : load_file(context, sink, own);
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

/* FNV-1a of 64 bits: for accidents, not against forgery. */
SEXP r_checksum(SEXP bytes) {
    uint64_t sum = 0xcbf29ce484222325u;
    char text[17];
    for (R_xlen_t k = 0; k < Rf_xlength(bytes); k++) sum = (sum ^ RAW(bytes)[k]) * 0x100000001b3u;
    snprintf(text, sizeof text, "%016" PRIx64, sum);
    return Rf_mkString(text);
}

SEXP r_count_shards(SEXP n_row, SEXP n_col, SEXP is_full) {
    gcor_grid grid = gcor_grid_of(Rf_asLogical(is_full) ? GCOR_FULL : GCOR_LOWER, (int64_t)Rf_asReal(n_row),
                                  (int64_t)Rf_asReal(n_col));
    return Rf_ScalarReal((double)gcor_count_shards(&grid));
}

SEXP r_needs(SEXP x, SEXP y, SEXP method, SEXP settings) {
    r_job q;
    gcor_session *session;
    gcor_needs needs;
    r_job_parse(&q, x, y, method, Rf_ScalarInteger(0), Rf_ScalarLogical(0), settings);
    gcor_status status = r_session(&q.call.context, q.backend, q.devices, q.n_devices, &session);
    if (!status) status = gcor_needs_of(session, &q.call.context, &q.job, &needs);
    if (status) return r_failure(&q.call.context.error);
    SEXP result = Rf_allocVector(REALSXP, 2);
    REAL(result)[0] = (double)needs.columns;
    REAL(result)[1] = (double)needs.bytes;
    return result;
}
