/* What the entry points for windows have in common. */
#ifndef GPUCOR_R_WINDOWS_H
#define GPUCOR_R_WINDOWS_H

#include "r.h"

#include "../engine/windows.h"
#include "../sink/weight.h"

/* Which pairs of a window are edges. */
typedef enum { R_BY_THRESHOLD, R_BY_DENSITY, R_BY_K } r_criterion;

typedef struct {
    r_criterion criterion;
    double value; /* the threshold; how many edges, or neighbours */
    gcor_side side;
    int mutual;
} r_window_rule;
r_window_rule r_window_rule_of(SEXP rule);

/* A request from its arguments; the data stay R's. Must not move. */
typedef struct {
    r_job job;
    gcor_windows windows;
    gcor_session *session; /* from r_windows_begin() on */
    gcor_observations complete;
    SEXP result; /* protected by the caller */
} r_windows_job;
/* A list of these names, of which the first two are n_obs and notes. */
SEXP r_windows_parse(r_windows_job *q, SEXP x, SEXP method, SEXP use, SEXP windows, SEXP settings, const char **names);

/* The session, and what is missing; after an error, too, r_windows_end() follows, which is the call's end: the result,
 * or the reason why there is none. */
gcor_status r_windows_begin(r_windows_job *q);
SEXP r_windows_end(r_windows_job *q, gcor_status status);

/* After a run that ended well. Set in place, as R would copy the values; "n_obs" becomes what was used: one number
 * where all windows have the same. */
void r_windows_attributes(const r_windows_job *q, SEXP values, SEXP attributes);

/* The work for all windows and all pairs, each once. */
gcor_status r_windows_run(r_windows_job *q, gcor_window_work work, void *user);

#endif
