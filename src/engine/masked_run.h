/* A run of which some pairs count. */
#ifndef GPUCOR_CHOSEN_H
#define GPUCOR_CHOSEN_H

#include "../gpucor.h"

/* chosen.c: gcor_run() where the job says which pairs count; run.c: where all do, or the sink knows which. */
gcor_status gcor_run_chosen(gcor_session *session, gcor_context *context, gcor_job *job);
gcor_status gcor_run_all(gcor_session *session, gcor_context *context, gcor_job *job);

#endif
