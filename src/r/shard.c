/* A part of a run: one process computes it and writes a file, another reads the files of all parts. */
#include "job.h"

#include "../base/os.h"
#include "../engine/run.h"
#include "../base/shard.h"
#include "../sink/edges/store.h"

#include <errno.h>
#include <stdio.h>

enum { MAX_OPEN = 512 }; /* files that are open at once: a process may have 1,024 */

/* settings: list(shard: c(index, of), save: a path or none, parts: NULL or a list, ...). */
r_part r_part_parse(SEXP settings) {
    const double *shard = REAL(r_element(settings, "shard"));
    SEXP save = r_element(settings, "save"), parts = r_element(settings, "parts");
    return (r_part){.shard = {(int64_t)shard[0], (int64_t)shard[1]},
                    .save = Rf_xlength(save) == 1 ? CHAR(STRING_ELT(save, 0)) : NULL,
                    .parts = Rf_isNull(parts) ? NULL : parts};
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

/* Returns whether reading an index is enough: the edges need not be in memory. */
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
    if (Rf_xlength(flags) != Rf_xlength(to)) r_error("these parts belong to another run");
    if (Rf_xlength(to) > 0) memcpy(RAW(to), RAW(flags), (size_t)Rf_xlength(to));
}

static gcor_status load(r_job *q, gcor_sink *sink) {
    gcor_context *context = &q->call.context;
    SEXP path = r_element(q->part.parts, "path");
    gcor_status status = GCOR_OK;
    context->monitor->pairs = Rf_xlength(path);
    context->monitor->pairs_done = 0;
    for (R_xlen_t k = 0; !status && k < Rf_xlength(path); k++, context->monitor->pairs_done++) {
        const char *file = CHAR(STRING_ELT(path, k));
        status = is_for_index(sink, Rf_xlength(path)) ? gcor_store_attach((gcor_store *)sink, context, file, 0, NULL)
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
