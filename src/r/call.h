/* What every call from R needs: its settings, its context, its end. Only src/r/ includes R's headers. Calls go down:
 *
 *     the entries (entries.h), of which r_run() (job.c) parses a run, calls its computation and ends it
 *     the computations (entries.h): cor.c, network.c, test.c, windows.c, ...
 *     the run: r_job_run() (job.c), with shard.c and subjects.c
 *     its arguments: rules.c, source.c (file.c, asked.c)          its results: vector.c, memory.c
 *     call.c, progress.c, threads.c
 *
 * A call parses SEXPs and allocates R's memory before the engine acquires anything, and reports an error to R after
 * everything is freed, so that no jump out of R leaks. */
#ifndef GPUCOR_CALL_H
#define GPUCOR_CALL_H

#include "entries.h"

#include <R.h>

#include "../gpucor.h"

#include <string.h>

/* ---- lists and pointers (call.c) ----------------------------------------------------- */

/* Returns the element of that name; an R error if the list has none. */
SEXP r_element(SEXP list, const char *name);
/* Makes element k of a list a vector of doubles in large pages and returns its data, which are undefined. */
double *r_new_doubles(SEXP list, int k, R_xlen_t length);

/* Copies the elements of a list to `own`; an R error unless there are n. */
enum { R_MAX_ARGUMENTS = 4 };
void r_arguments(SEXP list, int n, SEXP *own);

/* Checks the compressed columns (or rows) of a sparse matrix, whose slots users may change: an R error unless p are
 * starts from 0, ascending, up to the number of entries, i are indices from 0 to n - 1, and x are doubles (NULL: there
 * are none). */
void r_check_compressed(SEXP p, SEXP i, SEXP x, int64_t n);

/* Sets the attributes that a named list has, in place, because R would copy the values. n_obs, diagonal: the values of
 * the attributes of these names; NULL: those of the list. */
void r_set_attributes(SEXP values, SEXP attributes, SEXP n_obs, SEXP diagonal);

/* Returns an external pointer without an address. When R collects it, or r_free() is called, release() frees the
 * address that it has then; `at_exit`: also when R ends. */
SEXP r_new_owner(void (*release)(void *), Rboolean at_exit);

/* ---- calls of R, and errors (call.c) ------------------------------------------------- */

/* Evaluates a call of one of the package's functions. */
SEXP r_eval(SEXP call);

/* Returns list(status, message), which tells R of an error of the engine. */
SEXP r_failure(const gcor_error *error);

/* Raise an R error of class gpucor_error, as R/base-check.R has them. They jump: nothing may be held. */
_Noreturn void r_raise(const gcor_error *error);
_Noreturn void r_error(const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 1, 2)))
#endif
    ;

/* ---- threads (threads.c) -------------------------------------------------------------- */

/* Returns the number of threads to use: at most `threads`, as many as there is memory for, or one in a child of fork(),
 * of which parallel::mclapply() makes as many as there are processors. */
int r_threads(SEXP threads);
int r_own_threads(int threads); /* the same for a number that r_threads() returned before a fork */
int r_cores(void);              /* processors that this process may use; 1 in a child of fork() */
void r_watch_forks(void);       /* once, before any fork */

/* ---- interrupts and progress (progress.c) --------------------------------------------- */

typedef struct {
    SEXP settings; /* the call's, which report_progress() of R takes; NULL: no reports */
    const gcor_monitor *monitor;
    double interval, reported; /* seconds between reports; time of the last one */
    double before, part;       /* fraction completed by earlier runs of this call; fraction that this run contributes */
    int jumps;                 /* a handler of R's wants to jump; r_progress_end() lets it */
} r_progress;

/* settings: NULL for no reports. Neither object may move afterwards. */
void r_monitor(gcor_monitor *monitor, r_progress *progress, SEXP settings, double interval);
/* Called when everything is freed; does not return if R wants to jump. */
void r_progress_end(r_progress *progress);

/* ---- a call (progress.c) ---------------------------------------------------------------- */

/* A context and what it points to. Must not move. */
typedef struct {
    gcor_context context;
    gcor_monitor monitor;
    r_progress progress;
} r_call;

/* settings: list(threads, memory, progress: seconds between reports or 0, ...). */
void r_call_parse(r_call *call, SEXP settings);
void r_quiet_call_parse(r_call *call, SEXP settings); /* without reports: for what follows a run */
void r_plain_call_parse(r_call *call, SEXP threads);  /* of an entry that takes threads alone */

#endif
