/* Glue between R and the engine: the only folder that includes R's headers.
 * A function named r_* is a .Call entry point or helps one. SEXPs are parsed, and R's memory
 * is allocated, before the engine acquires anything; R is told of an error after everything is
 * freed, so no jump can leak. */
#ifndef GPUCOR_R_H
#define GPUCOR_R_H

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>
#include <R_ext/Rdynload.h>

#include "../sink/combination.h"
#include "../measure/compact.h"
#include "../measure/design.h"
#include "../base/pool.h"
#include "../source/raw_file.h"
#include "../source/missing.h"
#include "../measure/overlap.h"
#include "../mask/pairs.h"
#include "../engine/session.h"
#include "../source/source.h"
#include "../stats/test.h"
#include "../sink/dense.h"

/* ---- .Call entry points -------------------------------------------------------- */

/* Everywhere: x, y: numeric, integer or logical matrix, dgCMatrix, or what R/outside.R reads, or many
 * subjects' (R/subjects.R), y possibly NULL;
 * `by_row`: the variables are x's rows. method: a measure's number, from 0. settings: list(backend, threads, memory,
 * progress: seconds between reports, 0: none, keep, pass, devices, pairs: see r_pairs_parse(), design: NULL or as in
 * r_design_parse(), and of a part of a run share, save, parts: see r_part; overlap: see r_overlap_parse()). The result
 * is list(n_obs, x_flags, y_flags,
 * ...), with an attribute "lost" that says why devices were, or after an error list(status, message).
 */

/* All pairs: ... values, zero_sd: pairs with a constant column, flags: of all columns, or-ed together. settings has
 * `distance`, too. attributes: a named list, for the values; what n_obs and diagonal are in it is found here. */
SEXP r_cor(SEXP x, SEXP y, SEXP method, SEXP use, SEXP layout, SEXP by_row, SEXP attributes, SEXP settings);
/* Bytes of host memory that this takes: of the values, and beside them at least. Nothing is computed. */
SEXP r_cor_bytes(SEXP x, SEXP y, SEXP method, SEXP use, SEXP layout, SEXP by_row, SEXP settings);

/* list(n_obs: how many observations count by the rule of `use`, common: each pair has its own, observed: the first
 * n_obs are those that count, NULL: all do). It is `counted` below. */
SEXP r_observations(SEXP x, SEXP y, SEXP method, SEXP use, SEXP settings);

/* Edges: ... store, a pointer that owns them. rule: list(side, least, ceiling, spool, wanted),
 * see gcor_edge_rule; spool: NULL, or list(folder, bytes), see gcor_store_spool(); wanted: 0, or see gcor_store_want().
 * most: with more edges it is an error. */
SEXP r_edges(SEXP x, SEXP y, SEXP method, SEXP use, SEXP rule, SEXP max, SEXP settings);
/* The same for the k strongest neighbours of each variable; of several k, descending, `store` is a list of them. */
SEXP r_neighbours(SEXP x, SEXP y, SEXP method, SEXP use, SEXP rule, SEXP k, SEXP mutual, SEXP max, SEXP settings);
/* One number: how many pairs have a weight of at least `least`; the k-th largest weight, Inf if it is
 * above the rule's ceiling, 0 if there is none. */
SEXP r_store_count(SEXP store, SEXP min, SEXP settings);
SEXP r_store_rank(SEXP store, SEXP k, SEXP settings);
/* list(degree, strength) of each variable, by edges of weight >= least. */
SEXP r_store_degrees(SEXP store, SEXP min, SEXP settings);
/* list(p, i, x): compressed rows of the edges of weight >= least, which ends the store. */
SEXP r_store_rows(SEXP store, SEXP min, SEXP n_row, SEXP settings);
/* How many edges of weight >= least each variable of x has, in both halves of a symmetric network; and the first rows
 * from `first` on, from 0, that have at most `most` (up to 2^31 - 1) together, or one: list(n: how many rows, i, x).
 * entries: those of the same least. */
SEXP r_store_entries(SEXP store, SEXP min, SEXP settings);
SEXP r_store_band(SEXP store, SEXP min, SEXP entries, SEXP first, SEXP max, SEXP settings);
/* All of them to a file that has room for them; places: list(path, r, col), bytes from its beginning. */
SEXP r_store_write(SEXP store, SEXP min, SEXP entries, SEXP max, SEXP positions, SEXP settings);
/* Ends a store before R finds that nobody has it. */
SEXP r_store_free(SEXP store);
/* For C: R's owner of a store, there before the store is: its address is to be set. */
SEXP r_store_owner(void);
/* ... counts in GCOR_BINS bins, error: of what was counted. */
SEXP r_histogram(SEXP x, SEXP y, SEXP method, SEXP use, SEXP settings);
/* ... degree, strength, soft, counts, maps, of x's variables with one another or with y's; rule: list(side, least,
 * similarity, steps, histogram, levels, maps), see gcor_sums_rule. */
SEXP r_connectivity(SEXP x, SEXP y, SEXP method, SEXP use, SEXP rule, SEXP settings);

/* windows.c: the same for windows of consecutive observations of x, a matrix in memory: list(n_obs: of each window,
 * notes: for each of missing, infinite, constant, few, fell_back list(of_variable: in how many windows each variable
 * has this flag, of_window: whether any has it in each window), ...). windows: list(width, step, n, taper: width
 * weights or NULL). Of network rules: list(criterion: 0 threshold, 1 density, 2 k; value: that, or for a density how
 * many edges, side, mutual). attributes: a named list, for each vector of values; what n_obs is in it is found here:
 * one number for all windows, or one each.
 * ... values: pairs x windows, each column as r_cor() has it by rows. */
SEXP r_windows(SEXP x, SEXP method, SEXP use, SEXP windows, SEXP attributes, SEXP settings);
/* ... stores: a pointer each, least: from which weight on their edges count. */
SEXP r_window_networks(SEXP x, SEXP method, SEXP use, SEXP windows, SEXP rule, SEXP settings);
/* ... degree, strength: variables x windows; least: the threshold of each. */
SEXP r_window_degrees(SEXP x, SEXP method, SEXP use, SEXP windows, SEXP rule, SEXP settings);
/* Over all windows: ... mean, sd, min, max: of each pair, as above; count: how many windows it has a value in; or with
 * a rule store, least: a network of half the standard deviations. */
SEXP r_window_moments(SEXP x, SEXP method, SEXP use, SEXP windows, SEXP rule, SEXP attributes, SEXP settings);

/* A `dist`'s values to the n x n matrix, whose diagonal may be NULL for ones; an interrupt as in r_cor(). */
SEXP r_unfold(SEXP values, SEXP n, SEXP diagonal, SEXP threads);

/* A gpuCorFile's pointer to its open file, nil to begin with. Open the file, or check that its size is as it was. Some
 * columns, by their numbers from 1, as a matrix. */
SEXP r_new_pointer(void);
SEXP r_file_open(SEXP x);
SEXP r_file_columns(SEXP x, SEXP columns);

/* Positions and pairs, from 1; order 0: by rows, 1: by columns. */
SEXP r_triangle_index(SEXP k, SEXP n, SEXP order);
SEXP r_triangle_position(SEXP i, SEXP j, SEXP n, SEXP order);

/* The table of measures: list(name, title, ranked, common, distribution, df_taken, centred, options,
 * takes_covariates, refusal), a value each; and
 * the numbers that R and the engine must agree about, by name. */
SEXP r_measures(void);
SEXP r_constants(void);

/* Whether what was written to a file, or what a folder has in it, is on the disk. How many shares there can be at most.
 * What the settings' share would read and hold (needs.h): columns, bytes. */
SEXP r_sync(SEXP path);
/* Which of these integers are numbers of processes of this machine; NA is none. `bytes` random bytes. */
SEXP r_are_running(SEXP processes);
SEXP r_random(SEXP bytes);
SEXP r_checksum(SEXP bytes); /* of a raw vector, as 16 hexadecimal digits */
SEXP r_count_shards(SEXP n_row, SEXP n_col, SEXP is_full);
SEXP r_needs(SEXP x, SEXP y, SEXP method, SEXP settings);

/* test.c: list(n, statistic, p.value, tied, df) of coefficients r that gpuCor() has computed of x (and y), with the
 * attributes that are listed; tied: how many pairs have no exact p value for their ties; df: if they are
 * estimated, those of each. rule: list(alternative, log,
 * exact: up to how many observations, triangle: r are a triangle by rows). */
SEXP r_test(SEXP r, SEXP x, SEXP y, SEXP method, SEXP use, SEXP counted, SEXP rule, SEXP attributes, SEXP settings);
/* t of coefficients, degrees of freedom one for all or one each; NA where these are not positive. */
SEXP r_t_scores(SEXP coefficients, SEXP degrees);
/* Two-sided p values of coefficients whose t scores have df degrees of freedom; a failure instead if memory lacks. */
SEXP r_t_p(SEXP coefficients, SEXP df, SEXP threads);

/* maxima.c: list(..., maxima: the largest weight (gcor_weight) by that side of all pairs, after each of n permutations
 * of the observations: of each column of x by itself, or of the rows of y). seed: two whole numbers below 2^32. */
SEXP r_maxima(SEXP x, SEXP y, SEXP method, SEXP use, SEXP counted, SEXP side, SEXP n, SEXP seed, SEXP settings);
/* list(..., maximum: the same of x (and y) as they are; x may be many subjects, whose coefficients are combined). */
SEXP r_maximum(SEXP x, SEXP y, SEXP method, SEXP use, SEXP side, SEXP settings);
/* p values adjusted by them, ascending, in the shape of p: the share of all permutations and the data whose largest
 * weight is at least that of coefficient r, less the margin. NA where p is. is_log: their logarithms. */
SEXP r_adjusted(SEXP p, SEXP r, SEXP maxima, SEXP side, SEXP margin, SEXP is_log, SEXP threads);

/* compact.c: how many bytes of memory are available (base/os.h). Give back what garbage and kept blocks hold. */
SEXP r_available(void);
SEXP r_reclaim(void);

/* subjects.c: list(..., maxima: the largest weight of all pairs for each column of weights, a row for each subject; see
 * gcor_label_maxima_of()). */
SEXP r_label_maxima(SEXP x, SEXP method, SEXP use, SEXP side, SEXP weights, SEXP is_t, SEXP settings);
/* Student's t of subjects' Fisher z (sink/group_tests.h): list(..., difference, error, df), NA without a test. rows:
 * NULL for all pairs, in the order of a dist or of a matrix, or compressed rows p, i of pairs. */
SEXP r_group_tests(SEXP x, SEXP y, SEXP method, SEXP use, SEXP rows, SEXP settings);

/* constant.c: n times the same number, without the memory for it. */
SEXP r_constant_vector(double value, R_xlen_t n);
void r_define_constant_vectors(DllInfo *dll);

/* owned.c: n whole numbers or doubles in memory of the pool's: the block, empty to begin with, is to be set by whoever
 * made the vector, before anybody looks into it. It is the vector's. stays: its pages may be the next one's. */
SEXP r_owned_new(SEXPTYPE type, R_xlen_t n, int stays);
gcor_block *r_owned_block(SEXP x);
void r_define_owned(DllInfo *dll);

/* compact.c: before so many bytes are taken outside of R's memory: R looks for what nobody has any more, if that is
 * worth it. */
void r_collect_garbage(int64_t bytes);

/* compact.c: a vector of doubles for all pairs of n_var variables, in that form and without values to begin with.
 * Error: in the context, and an empty vector. It may have R collect garbage. */
SEXP r_compact_new(gcor_context *context, gcor_form form, gcor_shape shape, int64_t n_var, int is_distance);
int64_t r_compact_bytes(int64_t n_var); /* of its memory */
SEXP r_is_compact(SEXP x);
/* What it is of: NULL of any other vector, and when it has become an ordinary one. It is the vector's. */
const gcor_compact *r_compact_of(SEXP x);
/* Its values are all there. */
void r_compact_complete(SEXP x);
/* It is not wanted: an empty vector, and its memory free. */
void r_compact_drop(SEXP x);
/* 1 - x with x's attributes where that takes no memory; NULL otherwise. */
SEXP r_distances(SEXP x);
/* Doubles of R's to be read where they are. */
gcor_values r_values(SEXP x);
void r_define_compact(DllInfo *dll);
/* For tests: list(used, kept), bytes that such vectors have, and that stay for the next ones. */
SEXP r_pool(void);

/* scores.c: the standard deviation of tau-b under independence of variables with the numbers q; these numbers, a vector
 * for x and one for y, NA where a variable has no coefficient (stats/observed.h). */
SEXP r_kendall_deviation(SEXP n, SEXP q, SEXP other);
SEXP r_tie_quotients(SEXP x, SEXP y, SEXP method, SEXP use, SEXP counted, SEXP settings);
/* Of the entries of compressed rows (p, i, x), whose columns are x's variables: |x| over that deviation, by q of the
 * columns' variables and of the rows'; the same for pairs with observations of their own: -log(p), of rows = list(p, i,
 * x); how many scores are at least so large; and list(p, i, x) of those whose x has the side's sign, or any for 0
 * (scores NULL: |x|). */
SEXP r_edge_scores(SEXP p, SEXP i, SEXP x, SEXP q_col, SEXP q_row, SEXP n_obs, SEXP threads);
SEXP r_pair_scores(SEXP rows, SEXP x, SEXP y, SEXP method, SEXP use, SEXP rule, SEXP settings);
SEXP r_near(SEXP rows, SEXP x, SEXP y, SEXP method, SEXP use, SEXP df, SEXP settings);
SEXP r_exact_p(SEXP method, SEXP n_obs);
SEXP r_rho_beta(SEXP n);
SEXP r_count_scores(SEXP scores, SEXP min, SEXP threads);
SEXP r_keep_scores(SEXP p, SEXP i, SEXP x, SEXP scores, SEXP min, SEXP side, SEXP threads);

/* strongest.c: places, from 1, of the largest |x|, the largest first and of equal ones the first, without NaN; fewer
 * than `most` where there are fewer. */
SEXP r_strongest(SEXP x, SEXP max, SEXP threads);
/* list(missing: how many are NaN; of the others the mean, quantiles of these shares, and strongest: such places). */
SEXP r_summary(SEXP x, SEXP fractions, SEXP max, SEXP threads);

/* edge_list.c: list(from, to, r) of the entries of compressed rows, from 1, as gcor_sort_edges() has them. */
SEXP r_sorted_edges(SEXP p, SEXP i, SEXP x, SEXP threads);
/* names.c: names[numbers], numbers from 1, which are kept and not to be changed any more. */
SEXP r_names_at(SEXP numbers, SEXP names);

/* settings.c: the value of each option, or where there is none (or the option's name is "") the text of the
 * environment's variable, the numbers of which are in attribute "variables"; NULL: neither. A list with these names. */
SEXP r_settings(SEXP options, SEXP variables, SEXP names);

/* What this build and this machine have. devices: those whose free memory is asked for. */
SEXP r_info(SEXP devices);
SEXP r_backends(void); /* name, number of devices, reason why there is none: each back end's */
SEXP r_cores(void);    /* processors that this process may use; 1 in a forked child */

/* For benchmarks: seconds that the last run took to prepare, to multiply and deliver, and in all; and bytes
 * of device memory at the most. */
SEXP r_stages(void);

/* pairs.c: how many of n_row x n_col pairs, or of the triangle's, count by the settings' `pairs`. */
SEXP r_count_pairs(SEXP n_row, SEXP n_col, SEXP is_full, SEXP settings);

/* overlap.c: of each edge of a symmetric network the topological overlap by that rule. edge_p, edge_i: compressed
 * columns of the edges above the diagonal; p, i, x: of all, with adjacencies. */
SEXP r_sparse_overlap(SEXP edge_p, SEXP edge_i, SEXP p, SEXP i, SEXP x, SEXP overlap, SEXP threads);
/* Overlaps of several data sets as one, pair by pair, after each is raised to its set's power (doubles): a quantile of
 * them, as R has it, NULL: the mean. size: of variables; attributes: a named list. */
SEXP r_combine_overlaps(SEXP overlaps, SEXP powers, SEXP fraction, SEXP size, SEXP attributes, SEXP threads);

/* gram.c: columns made ready for products of all their coefficients with a vector: ... gram, a pointer that owns them,
 * known: a logical for each column that has coefficients. The product of r + 1 of those, and 0 of the others, with a
 * vector. The pointer's end before R finds that nobody has it. */
SEXP r_gram_new(SEXP x, SEXP method, SEXP use, SEXP settings);
SEXP r_gram_times(SEXP gram, SEXP vector, SEXP settings);
SEXP r_gram_free(SEXP gram);

/* For tests: let the k-th use of a resource fail; how many allocations are in use when sessions are closed; how many
 * steps a run takes at least that several devices share, 0: as ever. */
SEXP r_set_fault(SEXP resource, SEXP k);
SEXP r_live(void);
SEXP r_set_shared_steps(SEXP steps);
/* The matrix x as permutation number `number`, from 0, of r_maxima() has it. */
SEXP r_permute(SEXP x, SEXP seed, SEXP number, SEXP jointly);

/* ---- helpers -------------------------------------------------------------------- */

/* Describe an R matrix; the data stay R's. */
gcor_matrix r_matrix(SEXP x, int by_row);

/* The open file of a gpuCorFile, which R owns; an error of R's if it cannot be opened or has changed its size. */
const gcor_raw_file *r_raw_file(SEXP x);

/* Columns that R/outside.R reads, on R's thread alone. An error of R's is GCOR_BAD_INPUT with its message, an interrupt
 * GCOR_INTERRUPTED, and what comes in another shape or type an error that says so. x is the caller's. */
typedef struct {
    gcor_source source; /* first */
    SEXP x;
    const char *class; /* x's own, for messages */
} r_asked;
/* An error of R's where it cannot be read at all. */
r_asked r_asked_source(SEXP x);

/* Whatever x or y may be. */
typedef union {
    gcor_source source; /* what each of them begins with */
    gcor_matrix matrix;
    gcor_raw_source raw;
    r_asked asked;
} r_source;
r_source r_source_of(SEXP x, int by_row);

/* Ctrl-C, and how far the work is. Of work that one call does in several runs those before make up the share `before`,
 * this one `width`. */
typedef struct {
    SEXP settings; /* of the call, for R's report_progress(); NULL: nobody is told */
    const gcor_monitor *monitor;
    double interval, told, before, width; /* seconds between reports, and of the last one */
    int jumps;                            /* a jump out of R waits for the engine's end */
} r_progress;
/* Neither must move. settings: the call's, or NULL. */
void r_monitor(gcor_monitor *monitor, r_progress *progress, SEXP settings);
/* When all is freed: does not return where R wanted to jump. */
void r_progress_end(r_progress *progress);

/* A context with what it points to. Must not move. */
typedef struct {
    gcor_context context;
    gcor_monitor monitor;
    r_progress progress;
} r_call;
void r_call_parse(r_call *call, SEXP settings);
void r_quiet_call_parse(r_call *call, SEXP settings); /* no progress line: for what follows a run */

/* Which part of the pairs, of all of them {0, 1}. save: the file that the sink goes to; what the call returns has
 * then no coefficients. parts: nothing is computed, but read from list(path, n_obs, x_flags, y_flags), the files of all
 * parts, and what was known when they were saved. */
typedef struct {
    gcor_shard shard;
    const char *save; /* R's; NULL: nowhere */
    SEXP parts;       /* NULL: run */
} r_part;
void r_part_parse(r_part *part, SEXP settings);

/* Which pairs count by the settings' `pairs`, which stays R's: the rule, or NULL where all do. */
const gcor_pair_rule *r_pairs_parse(gcor_pair_rule *rule, SEXP pairs);

/* The settings' `overlap`, list(similarity, power, keeps_sign, is_absolute, is_halved, is_mean, replaces_missing): the
 * rule, or NULL where coefficients are wanted. */
const gcor_overlap_rule *r_overlap_parse(gcor_overlap_rule *rule, SEXP overlap);

/* A job from its arguments; the data stay R's. Must not move: its parts point to one another. */
typedef struct {
    r_source x, y;                /* of many subjects, those of the first */
    gcor_combination combination; /* of many subjects */
    gcor_pair_rule pairs;
    gcor_overlap_rule overlap;
    gcor_job job;
    gcor_design design;
    gcor_df_rule df;
    r_part part;
    const gcor_backend *backend;
    int n_devices, devices[GCOR_MAX_DEVICES];
    r_call call;
} r_job;
void r_job_parse(r_job *q, SEXP x, SEXP y, SEXP method, SEXP use, SEXP by_row, SEXP settings);
/* list(weights: one for each observation, or NULL; basis: a matrix of a row for each, or NULL; keeps; raw: as basis;
 * ranked; option: numbers, or NULL), which stay R's: see gcor_design. */
gcor_design r_design_parse(SEXP design, int64_t n_obs);
/* The design's list has for p values: df: NULL, a number, or any text: estimated; lost; worth: 0 Kish's number, 1 the
 * number, 2 the sum of the weights times unit; calibration: list(n, sums, counts), or NULL: see gcor_calibration. */
gcor_df_rule r_df_parse(SEXP design);
/* test.c: makes an element of a list, a vector of doubles without values yet, and returns where they are. */
double *r_new_element(SEXP result, int element, R_xlen_t length);
/* test.c: the two-sided rule for p values that R's list(exact, min_obs) and the call say. */
gcor_test_rule r_test_rule(const r_job *q, SEXP rule);
/* subjects.c: whether x is many subjects' data; the job's x, y and combination from them; and how much memory their
 * columns may take, if the call does not say. */
int r_is_subjects(SEXP x);
void r_subjects_parse(r_job *q, SEXP x, SEXP y);
void r_subjects_memory(r_job *q);
/* A list of these names, of which the first three are n_obs, x_flags, y_flags. */
SEXP r_job_result(r_job *q, const char **names);
gcor_status r_job_run(r_job *q, gcor_sink *sink, SEXP result);
/* What r_job_run() and r_job_result() leave to part.c. */
gcor_status r_part_run(r_job *q, gcor_session *session, gcor_sink *sink);
void r_part_flags(const r_job *q, SEXP result);
/* The call's end: the result, or the reason why there is none. The engine has nothing any more. */
SEXP r_job_end(r_job *q, gcor_status status, SEXP result);
SEXP r_failure(const gcor_error *error);

/* The process's session of a back end with these devices: kept from call to call. A session that met an error of the
 * device is closed by r_session_end(), and the next call opens another. */
gcor_status r_session(gcor_context *context, const gcor_backend *backend, const int *devices, int n_devices,
                      gcor_session **session);
void r_session_end(const gcor_backend *backend, gcor_status status);
void r_close_sessions(void);

/* What r_observations() has found. The observations are R's: not to be freed, and there as long as the list. */
gcor_observations r_counted(SEXP observations);

/* How many threads to use where `threads` are wanted: in a child of fork() one, as OpenMP's are
 * gone and starting new ones hangs; otherwise as many as the system allows. */
int r_threads(SEXP threads);
int r_own_threads(int threads); /* of so many that were usable when somebody asked, those that are */
void r_watch_forks(void);

/* The class of what r_names_at() returns. */
void r_define_names(DllInfo *dll);

/* An element of a named list; an error names the one that is not there. */
SEXP r_element(SEXP list, const char *name);

#endif
