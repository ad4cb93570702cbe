/* What a share of a run will read and hold in memory, without computing it. */
#ifndef GPUCOR_NEEDS_H
#define GPUCOR_NEEDS_H

#include "../gpucor.h"

typedef struct {
    int64_t columns; /* to read; one that is read again counts again */
    int64_t bytes;   /* of prepared columns, the most at any time */
} gcor_needs;

/* Of the share by the session's first device. Of the job x, y, measure and share are looked at. As nothing is read,
 * pairs are taken to have the same observations. A triangle is taken by columns, as sinks of edges have it. */
gcor_status gcor_needs_of(gcor_session *session, gcor_context *context, const gcor_job *job, gcor_needs *needs);

#endif
