/* gpuCorWindows: what the functions for windows have in common (windows.c). */
#pragma once

#include "job.h"

#include "../engine/windows.h"
#include "../sink/weight.h"

/* Which pairs of a window are edges. */
typedef enum { R_BY_THRESHOLD, R_BY_DENSITY, R_BY_K } r_criterion;

/* From list(criterion, value, side, mutual). */
typedef struct {
    r_criterion criterion;
    double value; /* the threshold, the number of edges, or the number of neighbours */
    gcor_side side;
    int mutual;
} r_window_rule;
r_window_rule r_window_rule_of(SEXP rule);

/* Must not move. */
typedef struct {
    r_job *job;
    gcor_windows windows;
    gcor_session *session; /* set by r_windows_begin() */
    gcor_observations complete;
    SEXP result;
} r_windows_job;

/* job: of a matrix in memory. plan: list(width, step, n, taper: width weights or NULL). Allocates the result's first
 * elements, which must be n_obs (of each window) and notes (for each of missing, infinite, constant, few and fell_back
 * list(of_variable: in how many windows each variable has the flag, of_window: whether any variable has it in each
 * window)). */
void r_windows_parse(r_windows_job *q, r_job *job, SEXP plan, SEXP result);

/* Opens the session and finds the complete observations. Call r_windows_end(), which returns the status, also after an
 * error. */
gcor_status r_windows_begin(r_windows_job *q);
gcor_status r_windows_end(r_windows_job *q, gcor_status status);

/* Sets the attributes in place, because R would copy the values; after a successful run. "n_obs" becomes the number of
 * observations, one for each window, or one for all if they are equal. */
void r_windows_attributes(const r_windows_job *q, SEXP values, SEXP attributes);

/* Calls work() for each window, with all pairs. */
gcor_status r_windows_run(r_windows_job *q, gcor_window_work work, void *user);
