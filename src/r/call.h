/* What every call from R needs: its name, its place, its context, its end. Only src/r/ includes R's headers. Calls
 * go down:
 *
 *     the entries, of which r_run() (job.c) parses a run, calls its computation and ends it
 *     the computations: cor.c, network.c, test.c, windows.c, ...
 *     the run: r_job_run() (job.c), with shard.c
 *     its arguments: rules.c, source.c          its results: vector.c, system.c
 *     call.c
 *
 * A call parses SEXPs and allocates R's memory before the engine acquires anything, and reports an error to R after
 * everything is freed, so that no jump out of R leaks. */
#pragma once

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>

#include "../gpucor.h"

#include <string.h>

/* ---- entries and computations ------------------------------------------------------------------- */

/* The functions that R calls by .Call(), by file, with the number of their arguments. Each is documented where it is
 * defined. R/base-engine.R makes an R error of what r_failure() returns. */

/* The formatter would make columns of these lists. */
/* clang-format off */
#define R_ENTRIES(ENTRY) \
    /* job.c */ ENTRY(r_run, 3) ENTRY(r_stages, 0) ENTRY(r_set_shared_steps, 1) \
    /* cor.c */ ENTRY(r_unfold, 5) \
    /* network.c */ ENTRY(r_store, 4) \
    /* edges.c */ ENTRY(r_sorted_edges, 5) ENTRY(r_rates, 3) ENTRY(r_prune, 5) \
        ENTRY(r_count_edges, 5) ENTRY(r_sample_values, 7) \
        ENTRY(r_names_at, 2) \
    /* connectivity.c */ ENTRY(r_network_centrality, 4) ENTRY(r_preservation, 7) \
    /* overlap.c */ ENTRY(r_sparse_overlap, 7) ENTRY(r_combine_overlaps, 6) \
    /* maxima.c */ ENTRY(r_adjusted, 7) ENTRY(r_permute, 4) \
    /* test.c */ ENTRY(r_t_scores, 3) ENTRY(r_t_p, 3) ENTRY(r_distribution, 4) \
        ENTRY(r_isc_maxima, 4) \
    /* scores.c */ ENTRY(r_edge_scores, 7) ENTRY(r_count_scores, 3) \
        ENTRY(r_keep_scores, 7) \
    /* shard.c */ ENTRY(r_count_pairs, 5) ENTRY(r_least_rho, 1) ENTRY(r_triangle_index, 3) \
        ENTRY(r_triangle_position, 4) \
    /* source.c */ ENTRY(r_file_open, 1) ENTRY(r_file_columns, 2) ENTRY(r_ask_columns, 4) \
    /* vector.c */ ENTRY(r_is_compact, 1) ENTRY(r_distances, 2) \
    /* hclust.c */ ENTRY(r_hclust, 5) ENTRY(r_cut_tree, 6) \
    /* voxels.c */ ENTRY(r_zeros, 2) ENTRY(r_put_block, 4) ENTRY(r_add_variation, 3) \
    /* plain.c */ ENTRY(r_is_plain, 1) \
    /* residuals.c */ ENTRY(r_residuals, 4) \
    /* info.c */ ENTRY(r_info, 1) ENTRY(r_backends, 0) ENTRY(r_set_fault, 2) ENTRY(r_live, 0) \
        ENTRY(r_tables, 0) \
    /* system.c */ ENTRY(r_sync, 1) ENTRY(r_file_kind, 1) ENTRY(r_are_running, 1) ENTRY(r_random, 1) \
        ENTRY(r_checksum, 1) ENTRY(r_settings, 3) ENTRY(r_memory, 1) \
    /* given.c */ ENTRY(r_given, 3) ENTRY(r_summary, 4) \
    /* call.c */ ENTRY(r_free, 1) \
    /* init.c */ ENTRY(r_unload, 0)

/* Computations over pairs of columns, which R asks r_run() for by name: the number of arguments of their own, and the
 * names of the result's elements. */
#define R_FOUND "n_obs", "x_flags", "y_flags" /* r_job_run() sets these elements */
#define R_COMPUTATIONS(ROW) \
    /* cor.c */ ROW(cor, 2, R_FOUND, "values", "zero_sd", "flags") ROW(cor_bytes, 1, "bytes") \
        ROW(partial_sums, 1, "products", "fourth", "n_var") \
    /* network.c */ ROW(edges, 2, R_FOUND, "store") ROW(neighbours, 4, R_FOUND, "store") \
        ROW(histogram, 0, R_FOUND, "counts", "error") ROW(counted_edges, 3, R_FOUND, "counts", "error", "store") \
    /* connectivity.c */ ROW(connectivity, 1, R_FOUND, "degree", "strength", "soft", "counts", "maps") \
        ROW(centrality, 0, R_FOUND, "eigenvector", "error") \
    /* maxima.c */ ROW(maxima, 5, R_FOUND, "maxima", "counts") ROW(row_maxima, 5, R_FOUND, "maxima", "counts") \
        ROW(maximum, 2, R_FOUND, "maximum", "counts") \
        ROW(label_maxima, 4, R_FOUND, "maxima", "counts") \
        ROW(components, 2, R_FOUND, "maxima", "size", "first") ROW(tfce, 2, R_FOUND, "maxima", "score") \
        ROW(group_tests, 1, R_FOUND, "difference", "error", "df") \
    /* test.c */ ROW(test, 4, "n", "statistic", "p.value", "df", "conf.low", "conf.high", "tied", "few") \
    /* scores.c */ ROW(tie_quotients, 1, "x", "y") ROW(pair_scores, 2, "scores", "few", "n_obs") ROW(near, 2, "at", "r") \
    /* windows.c */ ROW(windows, 2, "n_obs", "notes", "values") \
    /* window_networks.c */ ROW(window_networks, 2, "n_obs", "notes", "stores", "min_weight") \
        ROW(window_degrees, 2, "n_obs", "notes", "degree", "strength", "min_weight") \
    /* window_moments.c */ ROW(window_moments, 2, "n_obs", "notes", "mean", "sd", "min", "max", "count") \
        ROW(moment_network, 2, "n_obs", "notes", "store", "min_weight") \
    /* job.c */ ROW(observations, 0, "n_obs", "common", "observed") ROW(needs, 0, "columns", "memory")
/* clang-format on */

#define R_ARGUMENTS_0 void
#define R_ARGUMENTS_1 SEXP
#define R_ARGUMENTS_2 SEXP, SEXP
#define R_ARGUMENTS_3 SEXP, SEXP, SEXP
#define R_ARGUMENTS_4 R_ARGUMENTS_2, R_ARGUMENTS_2
#define R_ARGUMENTS_5 R_ARGUMENTS_3, R_ARGUMENTS_2
#define R_ARGUMENTS_6 R_ARGUMENTS_3, R_ARGUMENTS_3
#define R_ARGUMENTS_7 R_ARGUMENTS_4, R_ARGUMENTS_3
#define R_DECLARE(function, arguments) SEXP function(R_ARGUMENTS_##arguments);

R_ENTRIES(R_DECLARE)

/* Returns whether the package was installed again since this library was loaded: the R functions are then new ones,
 * and the library is not. */
int r_is_replaced(void); /* init.c */

/* ---- lists and pointers (call.c) ----------------------------------------------------- */

/* Returns the element of that name; an R error if the list has none. */
SEXP r_element(SEXP list, const char *name);

/* What the engine reads of a run (R/data-run.R says what each is) and of its place (R/run-settings.R). All stay R's. */
/* clang-format off */
#define R_RUN_ELEMENTS(ELEMENT) \
    ELEMENT(x) ELEMENT(y) ELEMENT(mask) ELEMENT(design) ELEMENT(method) ELEMENT(use) ELEMENT(in_double) ELEMENT(min_obs) \
        ELEMENT(information) ELEMENT(overlap) ELEMENT(distance) ELEMENT(place)
#define R_PLACE_ELEMENTS(ELEMENT) \
    ELEMENT(backend) ELEMENT(devices) ELEMENT(threads) ELEMENT(memory) ELEMENT(progress) ELEMENT(keep) \
        ELEMENT(shard) ELEMENT(save) ELEMENT(parts)
/* clang-format on */
#define R_DECLARE_ELEMENT(name) SEXP name;
typedef struct {
    R_RUN_ELEMENTS(R_DECLARE_ELEMENT)
} r_run_elements;
typedef struct {
    R_PLACE_ELEMENTS(R_DECLARE_ELEMENT)
} r_place;
r_run_elements r_run_of(SEXP run);
r_place r_place_of(SEXP place);

/* Makes element k of a list a vector of doubles in large pages and returns its data, which are undefined. */
double *r_new_doubles(SEXP list, int k, R_xlen_t length);

/* Returns the elements of a list, which stay R's; an R error unless there are n. */
const SEXP *r_arguments(SEXP list, int n);

/* Checks the compressed columns (or rows) of a sparse matrix, whose slots users may change: an R error unless p are
 * starts from 0, ascending, up to the number of entries, i are indices from 0 to n - 1, and x are doubles (NULL: there
 * are none). */
void r_check_compressed(SEXP p, SEXP i, SEXP x, int64_t n);

/* Sets the attributes that a named list has, in place, because R would copy the values. n_obs, diagonal: the values of
 * the attributes of these names; NULL: those of the list. */
void r_set_attributes(SEXP values, SEXP attributes, SEXP n_obs, SEXP diagonal);

/* Makes an external pointer an owner: when R collects it, or r_free() is called, release() frees the address that it
 * has then, if any; `at_exit`: also when R ends. The library stays in memory as long as there are owners, so every R
 * object that needs its code has one. */
void r_own(SEXP pointer, void (*release)(void *), Rboolean at_exit);
SEXP r_new_owner(void (*release)(void *), Rboolean at_exit); /* a new pointer, without an address */
int r_has_owners(void);                                      /* whether there are any that R has not collected */

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

/* ---- threads (call.c) -------------------------------------------------------------- */

/* Returns the number of threads to use: at most `threads`, as many as there is memory for, or one in a child of fork(),
 * of which parallel::mclapply() makes as many as there are processors. */
int r_threads(SEXP threads);
int r_own_threads(int threads); /* the same for a number that r_threads() returned before a fork */
int r_cores(void);              /* processors that this process may use; 1 in a child of fork() */
void r_watch_forks(void);       /* once, before any fork */
int r_is_child(void);           /* whether this process is a child of fork() since then */

/* ---- interrupts and progress (call.c) --------------------------------------------- */

typedef struct {
    SEXP place; /* the call's, which report_progress() of R takes; NULL: no reports */
    const gcor_monitor *monitor;
    double interval, reported; /* seconds between reports; time of the last one */
    double before, part;       /* fraction completed by earlier runs of this call; fraction that this run contributes */
    int jumps;                 /* a handler of R's wants to jump; r_progress_end() lets it */
} r_progress;

/* place: NULL for no reports. Neither object may move afterwards. */
void r_monitor(gcor_monitor *monitor, r_progress *progress, SEXP place, double interval);
/* Called when everything is freed; does not return if R wants to jump. */
void r_progress_end(r_progress *progress);

/* ---- a call (call.c) -------------------------------------------------------------------- */

/* A context and what it points to. Must not move. */
typedef struct {
    gcor_context context;
    gcor_monitor monitor;
    r_progress progress;
} r_call;

void r_call_parse(r_call *call, SEXP place);
void r_quiet_call_parse(r_call *call, SEXP place);   /* without reports: for what follows a run */
void r_plain_call_parse(r_call *call, SEXP threads); /* of an entry that takes threads alone */
