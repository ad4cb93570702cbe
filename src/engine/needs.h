/* Predicts what a shard of a run will read and hold in memory, without computing it. */
#ifndef GPUCOR_NEEDS_H
#define GPUCOR_NEEDS_H

#include "../gpucor.h"

typedef struct {
    int64_t columns; /* columns read; a column read twice counts twice */
    int64_t bytes;   /* max bytes of prepared columns at any time */
} gcor_needs;

/* Counts for the shard on the session's first device. Uses x, y, measure, in_double and shard of the job. Nothing is
 * read, so pairs are assumed to have the same observations. A triangle is walked as for sinks of edges (GCOR_LOWER). */
gcor_status gcor_needs_of(gcor_session *session, gcor_context *context, const gcor_job *job, gcor_needs *needs);

#endif
