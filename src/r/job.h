/* A run of the engine, from its arguments in R to its result. */
#pragma once

#include "call.h"

#include "../sink/groups/combine.h"
#include "../sink/information.h"
#include "../measure/design.h"
#include "../source/source.h"
#include "../measure/overlap.h"
#include "../mask/pairs.h"
#include "../engine/session.h"
#include "../stats/test.h"

/* ---- sources (source.c) ---------------------------------------------- */

/* A source that asks R for columns, on R's thread alone. An error of R's becomes GCOR_BAD_INPUT with its message, or
 * GCOR_BAD_FILE for a gpuCorFile; values of another shape or type, too. An interrupt becomes GCOR_INTERRUPTED. */
typedef struct {
    gcor_source source; /* first */
    SEXP x;             /* the caller's */
    const char *class;  /* x's, for messages */
} r_asked;
/* An R error if x cannot be read at all. */
r_asked r_asked_source(SEXP x);

/* Returns the open file of a gpuCorFile, which R owns; an R error if it cannot be opened or its size has changed. */
const gcor_raw_file *r_raw_file(SEXP x);

/* Describes an R matrix, whose data stay R's. */
gcor_matrix r_matrix(SEXP x);

typedef union {
    gcor_source source; /* each of them begins with it */
    gcor_matrix matrix;
    gcor_raw_source raw;
    r_asked asked;
} r_source;
/* x: a numeric, integer or logical matrix, a dgCMatrix, a gpuCorFile, or what R/data-outside.R reads. */
r_source r_source_of(SEXP x);

/* ---- the job (job.c) --------------------------------------------------------------------- */

/* One part of a run. save: the file that the sink is written to; the call's result then has no coefficients. parts: the
 * run computes nothing and reads list(path, n_obs, x_flags, y_flags), all parts' files and what was known when they
 * were written. */
typedef struct {
    gcor_shard shard; /* {0, 1}: all pairs */
    const char *save; /* R's; NULL: none */
    SEXP parts;       /* NULL: run */
} r_part;

/* Must not move: its members point to one another. */
typedef struct {
    r_source x, y;                /* those of the first subject, if there are several */
    gcor_combination combination; /* of several subjects */
    gcor_pair_rule pairs;
    gcor_overlap_rule overlap;
    gcor_job job;
    gcor_design design;
    gcor_df_rule df;
    int has_information; /* the run's sink gets information or context likelihoods instead of coefficients: */
    gcor_information information;
    r_part part;
    const gcor_backend *backend;
    int n_devices, devices[GCOR_MAX_DEVICES];
    int is_distance; /* 1 - r is wanted */
    SEXP data;       /* R's: x, or the subjects */
    r_place place;
    r_call call;
} r_job;

/* Sets the back end and its devices; hclust.c needs no more of a job. */
void r_devices_parse(r_job *q, r_place place);
/* The processor takes over if only it has the kind of operand for up to n_obs observations, or for a subject's. To be
 * called before a session is opened. */
void r_job_observations(r_job *q, int64_t n_obs);
/* Runs the job into the sink, and writes n_obs to the result. */
gcor_status r_job_run(r_job *q, gcor_sink *sink, SEXP result);

/* Returns the measure of that name, or raises an R error. */
const gcor_measure *r_measure(SEXP method);
/* Ends the call, when the engine holds nothing. Returns the result, with an attribute "lost" if devices were lost, or
 * after an error r_failure()'s list. */
SEXP r_job_end(r_job *q, gcor_status status, SEXP result);

/* Returns the variables of the rows' side: y's, or x's if there is no y. */
static inline int64_t r_n_row(const r_job *q) {
    return (q->job.y ? q->job.y : q->job.x)->n_var;
}

/* Returns the shape of a job whose pairs are kept in no particular order. */
static inline gcor_shape r_shape(const r_job *q) {
    return q->job.y ? GCOR_FULL : GCOR_LOWER;
}

/* Returns what r_observations() found; the observations stay R's. */
gcor_observations r_counted(SEXP observations);

/* ---- computations over pairs of columns (job.c) -------------------------------------------- */

/* Fills in the result and returns the status of the job's context. Allocates R's memory before the engine acquires
 * anything. */
typedef gcor_status r_computation(r_job *q, const SEXP *arguments, SEXP result);
#define R_DECLARE_COMPUTATION(name, ...) r_computation r_##name;
R_COMPUTATIONS(R_DECLARE_COMPUTATION)

/* ---- elements of a run that are rules (rules.c) ----------------------------------------------------- */

/* Return the rule, or NULL if `pairs` or `overlap` is NULL. */
const gcor_pair_rule *r_pairs_parse(gcor_pair_rule *rule, SEXP pairs, int64_t n_row, int64_t n_col, int is_full);
const gcor_overlap_rule *r_overlap_parse(gcor_overlap_rule *rule, SEXP overlap);
int r_information_parse(gcor_information *information, SEXP rule);
gcor_design r_design_parse(SEXP design, int64_t n_obs);
gcor_df_rule r_df_parse(SEXP design);
gcor_test_rule r_test_rule(const r_job *q, SEXP rule);

/* ---- several subjects (rules.c) --------------------------------------------------------- */

int r_is_subjects(SEXP x);
/* Sets the job's x, y and combination. */
void r_subjects_parse(r_job *q, SEXP x, SEXP y);
/* Sets how much memory the subjects' columns may take, if the call does not say. */
void r_subjects_memory(r_job *q);

/* ---- parts of a run (shard.c) ---------------------------------------------------------------- */

r_part r_part_parse(r_place place);
gcor_status r_part_run(r_job *q, gcor_session *session, gcor_sink *sink);
void r_part_flags(const r_job *q, SEXP result);

/* ---- networks (network.c) --------------------------------------------------------------------- */

/* Returns an external pointer without an address that owns a gcor_store: set the address when the store exists. */
SEXP r_store_owner(void);

/* ---- sessions (job.c) ------------------------------------------------------------------- */

/* Finds or opens the process's session of a back end with these devices, which stays open from call to call. Every call
 * ends with r_session_end(), which closes the session after a device error. */
gcor_status r_session(gcor_context *context, const gcor_backend *backend, const int *devices, int n_devices,
                      gcor_session **session);
void r_session_end(const gcor_backend *backend, gcor_status status);
void r_close_sessions(void);
