/* Kinds of runs behind gcor_run(), which is in masked_run.c. */
#pragma once

#include "../gpucor.h"

/* run.c: true if the job's pairs are products of the entries of sparse columns (GCOR_REAL_SPARSE,
 * GCOR_SIGN_SPARSE), provided that no observation is left out. Only a back end that is_host has such products. The last
 * bits of REAL_SPARSE differ from those of dense columns: callers use it whether or not there is a GPU. */
int gcor_is_sparse(const gcor_job *job);
/* run.c: gcor_run() of all pairs of the job, or of those that its sink's mask selects. */
gcor_status gcor_run_all(gcor_session *session, gcor_context *context, gcor_job *job);

/* ---- what a run will need (needs.c) ------------------------------------------------------------- */

/* A prediction of what a shard reads and holds in memory, without computing it. */

typedef struct {
    int64_t columns; /* columns read; a column read twice counts twice */
    int64_t bytes;   /* max bytes of prepared columns at any time */
} gcor_needs;

/* Counts for the shard on the session's first device. Uses x, y, measure, in_double and shard of the job. Nothing is
 * read, so pairs are assumed to have the same observations. A triangle is walked as for sinks of edges (GCOR_LOWER),
 * but without the bytes that coarse sinks need in addition, on the processor a quarter. */
gcor_status gcor_needs_of(gcor_session *session, gcor_context *context, const gcor_job *job, gcor_needs *needs);
