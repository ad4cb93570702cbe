/* Glue between R and the engine: the only folder that includes R's headers.
 * A function named r_* is a .Call entry point or helps one. SEXPs are parsed, and R's memory
 * is allocated, before the engine acquires anything; R is told of an error after everything is
 * freed, so no jump can leak. */
#ifndef GPUCOR_R_H
#define GPUCOR_R_H

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>

#include "../core/gpucor.h"

/* ---- .Call entry points -------------------------------------------------------- */

/* All pairs. x, y: numeric, integer or logical matrix or dgCMatrix, y possibly NULL; `by_row`:
 * the variables are x's rows. settings: list(backend, threads, memory, progress, device,
 * distance). attributes: a named list, for the values.
 * Returns list(values, n_obs, x_flags, y_flags, zero_sd: pairs with a constant column) or, after an error, list(status, message). */
SEXP r_cor(SEXP x, SEXP y, SEXP method, SEXP use, SEXP layout, SEXP by_row, SEXP settings, SEXP attributes);

/* A `dist`'s values to the n x n matrix with unit diagonal; an interrupt as in r_cor(). */
SEXP r_unfold(SEXP values, SEXP n, SEXP threads);

/* Positions and pairs, from 1; order 0: by rows, 1: by columns. */
SEXP r_triangle_index(SEXP k, SEXP n, SEXP order);
SEXP r_triangle_position(SEXP i, SEXP j, SEXP n, SEXP order);

/* What this build and this machine have. */
SEXP r_info(SEXP device);
SEXP r_cuda_state(void); /* number of GPUs, reason why there is none */
SEXP r_cores(void);      /* processors that this process may use; 1 in a forked child */

/* For tests: let the k-th use of a resource fail; how many
 * allocations are in use. */
SEXP r_set_fault(SEXP resource, SEXP k);
SEXP r_live(void);

/* ---- helpers -------------------------------------------------------------------- */

/* Describe an R matrix; the data stay R's. */
gcor_matrix r_matrix(SEXP x, int by_row);

/* Ctrl-C and the progress line. */
typedef struct {
    int show;
    double started, printed;
} r_progress;
gcor_monitor r_monitor(r_progress *progress, int show);
void r_progress_end(r_progress *progress);

/* How many threads to use where `threads` are wanted: in a child of fork() one, as OpenMP's are
 * gone and starting new ones hangs. */
int r_threads(SEXP threads);
void r_watch_forks(void);

/* An element of a named list; an error names the one that is not there. */
SEXP r_element(SEXP list, const char *name);

#endif
