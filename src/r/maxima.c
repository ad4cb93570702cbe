/* The largest coefficients of permuted observations, for p values that are adjusted for all pairs; and tests over
 * several subjects. */
#include "job.h"
#include "vector.h"

#include "../base/alloc.h"
#include "../base/elementary.h"
#include "../base/os.h"
#include "../base/threads.h"
#include "../source/source.h"
#include "../sink/histogram.h"
#include "../sink/maximum.h"
#include "../base/triangle.h"
#include "../sink/groups/permuted_tests.h"
#include "../sink/groups/tfce.h"

/* seed: two integers below 2^32, of R's generator. */
static uint64_t parse_seed(SEXP seed) {
    return (uint64_t)REAL(seed)[0] << 32 | (uint64_t)REAL(seed)[1];
}

typedef struct request request;

struct request {
    r_job *job;
    gcor_side side;
    SEXP result;
    double *counts; /* NULL, or GCOR_BINS counts of all pairs' coefficients, which replace the largest ones */
    double min;     /* of the size of counted ones; others may count as 0, or not */
    void (*permute)(request *q, int64_t number); /* makes permutation `number` the job's data */
    gcor_shuffle shuffle;                        /* r_maxima() */
    /* r_row_maxima() */
    gcor_matrix rows, seeds;          /* of all groups, of x and, if there is a y, of y */
    const int *orders;                /* numbers of rows: first those of the first group, once for each permutation */
    gcor_slice *slices, *seed_slices; /* of each group */
    gcor_subject *groups;
};

static void add_bins(gcor_bins *bins, double *counts) {
    gcor_bins_sum(bins);
    for (int b = 0; b < GCOR_BINS; b++) counts[b] += (double)bins->counts[b];
}

/* Makes the result's element 4: GCOR_BINS counts, 0. */
static double *new_counts(SEXP result) {
    double *counts = r_new_doubles(result, 4, GCOR_BINS);
    for (int b = 0; b < GCOR_BINS; b++) counts[b] = 0;
    return counts;
}

static gcor_status find_largest(r_job *q, gcor_side side, SEXP result, double *largest) {
    const gcor_job *job = &q->job;
    gcor_maximum *maximum;
    gcor_status status = gcor_maximum_new(&q->call.context, r_shape(q), r_n_row(q), job->x->n_var, side, &maximum);
    if (!status) status = r_job_run(q, &maximum->sink, result);
    if (!status) *largest = gcor_maximum_of(maximum);
    gcor_sink_free(maximum ? &maximum->sink : NULL);
    return status;
}

/* Adds the counts of the data as they are. They are those of exact coefficients, the same on every back end. */
static gcor_status add_counts(r_job *q, double min, SEXP result, double *counts) {
    gcor_histogram *histogram;
    gcor_status status = gcor_histogram_new(&q->call.context, r_shape(q), r_n_row(q), q->job.x->n_var, 1, &histogram);
    if (!status) {
        histogram->min = min;
        status = r_job_run(q, &histogram->sink, result);
    }
    if (!status) add_bins(&histogram->bins, counts);
    gcor_sink_free(histogram ? &histogram->sink : NULL);
    return status;
}

static void permute_columns(request *q, int64_t number) {
    q->shuffle.number = (uint64_t)number;
}

static void permute_rows(request *q, int64_t number) {
    const int *order = q->orders + number * q->rows.source.n_obs;
    for (int g = 0; g < q->job->combination.n; g++) {
        int64_t n_obs = q->groups[g].x->n_obs;
        q->slices[g] = gcor_slice_source(&q->rows, 0, q->rows.source.n_var, 0, n_obs, order);
        q->groups[g].x = &q->slices[g].source;
        if (q->groups[g].y) {
            q->seed_slices[g] = gcor_slice_source(&q->seeds, 0, q->seeds.source.n_var, 0, n_obs, order);
            q->groups[g].y = &q->seed_slices[g].source;
        }
        order += n_obs;
    }
}

/* Writes the largest weight (gcor_weight) of all pairs after each of n permutations to the result's element 3, or adds
 * up counts. */
static gcor_status find_maxima(request *q, R_xlen_t n) {
    double *maxima = q->counts ? NULL : r_new_doubles(q->result, 3, n);
    gcor_context *context = &q->job->call.context;
    gcor_status status = GCOR_OK;
    for (R_xlen_t k = 0; k < n && !status; k++) {
        q->job->call.progress.before = (double)k / (double)n;
        q->job->call.progress.part = 1 / (double)n;
        q->permute(q, k);
        status = q->counts ? add_counts(q->job, q->min, q->result, q->counts)
                           : find_largest(q->job, q->side, q->result, maxima + k);
        if (!status && gcor_stop(context)) status = context->error.status;
    }
    return status;
}

/* Each column of x is permuted by itself, or, if there is a y, the rows of y. arguments: counted, side, n, seed, min as
 * in r_row_maxima(). Returns list(n_obs, x_flags, y_flags, maxima, counts), one of the last two NULL. */
gcor_status r_maxima(r_job *job, const SEXP *arguments, SEXP result) {
    static uint64_t series; /* R has one thread */
    request q = {.job = job,
                 .side = (gcor_side)Rf_asInteger(arguments[1]),
                 .permute = permute_columns,
                 .result = result,
                 .counts = Rf_isNull(arguments[4]) ? NULL : new_counts(result),
                 .min = Rf_isNull(arguments[4]) ? 0 : Rf_asReal(arguments[4]),
                 .shuffle = {.series = ++series, .seed = parse_seed(arguments[3]), .jointly = job->job.y != NULL}};
    job->job.shuffle = &q.shuffle;
    if (!r_counted(arguments[0]).observed)
        job->job.use = GCOR_EVERYTHING; /* nothing is missing: the runs need not look for it again */
    return find_maxima(&q, (R_xlen_t)Rf_asReal(arguments[2]));
}

/* x: subjects, the groups, whose sizes, weights and designs count. arguments: side; rows: a matrix of doubles without
 * missing values, the rows of all groups; seeds: the same of y, or NULL; orders: an integer matrix, a permutation of
 * the rows' numbers from 0 in each column, those of the first group first; min: NULL, or the min size of coefficients
 * that are counted. Returns list(n_obs, x_flags, y_flags, maxima, counts: of combined coefficients in bins, the sum
 * over all permutations; one of both is NULL). */
gcor_status r_row_maxima(r_job *job, const SEXP *arguments, SEXP result) {
    request q = {.job = job,
                 .side = (gcor_side)Rf_asInteger(arguments[0]),
                 .permute = permute_rows,
                 .result = result,
                 .rows = r_matrix(arguments[1]),
                 .orders = INTEGER(arguments[3]),
                 .counts = Rf_isNull(arguments[4]) ? NULL : new_counts(result),
                 .min = Rf_isNull(arguments[4]) ? 0 : Rf_asReal(arguments[4])};
    const int n = (int)job->combination.n;
    q.slices = (gcor_slice *)R_alloc((size_t)n, sizeof *q.slices);
    q.seed_slices = (gcor_slice *)R_alloc((size_t)n, sizeof *q.seed_slices);
    q.groups = (gcor_subject *)R_alloc((size_t)n, sizeof *q.groups);
    if (!Rf_isNull(arguments[2])) q.seeds = r_matrix(arguments[2]);
    for (int g = 0; g < n; g++) q.groups[g] = job->combination.subjects[g];
    job->combination.subjects = q.groups;
    job->job.use = GCOR_EVERYTHING; /* nothing is missing: the runs need not look for it again */
    return find_maxima(&q, Rf_xlength(arguments[3]) / (R_xlen_t)q.rows.source.n_obs);
}

/* arguments: side, min as in r_row_maxima(). Returns list(n_obs, x_flags, y_flags, maximum, counts), one of the last
 * two NULL, of the data as they are. x may be several subjects, whose coefficients are combined. */
gcor_status r_maximum(r_job *q, const SEXP *arguments, SEXP result) {
    if (!Rf_isNull(arguments[1])) return add_counts(q, Rf_asReal(arguments[1]), result, new_counts(result));
    return find_largest(q, (gcor_side)Rf_asInteger(arguments[0]), result, r_new_doubles(result, 3, 1));
}

/* Returns how many of n ascending numbers are below x. Most x are below all. */
static R_xlen_t count_below(const double *sorted, R_xlen_t n, double x) {
    R_xlen_t low = 0;
    if (n == 0 || !(sorted[0] < x)) return 0;
    while (n > 0) {
        R_xlen_t half = n / 2;
        low += sorted[low + half] < x ? n - half : 0;
        n = half;
    }
    return low;
}

/* What adjusted p values are made of. */
typedef struct {
    gcor_values p, r;
    gcor_side side;
    double margin;
    const double *maxima, *of_count; /* n ascending ones; the p value for each number of maxima below a weight */
    R_xlen_t n;
    double *adjusted;
} adjustment;

enum { BLOCK = 512 }; /* pairs that a thread adjusts at a time */

static void adjust_block(void *argument, int thread, int64_t at, int64_t end) {
    const adjustment *a = argument;
    const int64_t n = end - at;
    double scratch[2][BLOCK];
    const double *p = gcor_read_values(&a->p, at, n, scratch[0]), *r = gcor_read_values(&a->r, at, n, scratch[1]);
    for (int64_t k = 0; k < n; k++) {
        R_xlen_t below = count_below(a->maxima, a->n, gcor_raw_weight(a->side, r[k]) - a->margin);
        a->adjusted[at + k] = p[k] != p[k] ? NA_REAL : a->of_count[below];
    }
}

/* Returns adjusted p values, with the attributes of p: for each coefficient r, the fraction of the permutations and the
 * data whose largest weight is at least that of r, less the margin; NA where p is. maxima: ascending. is_log: returns
 * logarithms. */
SEXP r_adjusted(SEXP p, SEXP r, SEXP maxima, SEXP side, SEXP margin, SEXP is_log, SEXP threads) {
    r_call call;
    r_plain_call_parse(&call, threads);
    const R_xlen_t length = Rf_xlength(p), n = Rf_xlength(maxima);
    if (Rf_xlength(r) != length)
        r_error("there must be a p value for each of %.0f coefficients, not %.0f", (double)Rf_xlength(r),
                (double)length);
    r_collect_garbage(length * (int64_t)sizeof(double));
    SEXP result = PROTECT(r_new_vector(&call.context, REALSXP, length)),
         by_count = PROTECT(Rf_allocVector(REALSXP, n + 1));
    double *of_count = REAL(by_count), *adjusted = call.context.error.status ? NULL : REAL(result);
    for (R_xlen_t below = 0; below <= n; below++) {
        of_count[below] = (double)(1 + n - below) / (double)(1 + n);
        if (Rf_asLogical(is_log)) of_count[below] = gcor_log(of_count[below]);
    }
    adjustment a = {.p = r_values(p),
                    .r = r_values(r),
                    .side = (gcor_side)Rf_asInteger(side),
                    .margin = Rf_asReal(margin),
                    .maxima = REAL(maxima),
                    .of_count = of_count,
                    .n = n,
                    .adjusted = adjusted};
    if (adjusted) gcor_for_blocks(call.context.threads, length, BLOCK, adjust_block, &a);
    SHALLOW_DUPLICATE_ATTRIB(result, p);
    UNPROTECT(2);
    return adjusted ? result : r_failure(&call.context.error);
}

/* For tests: returns the matrix x as permutation number `number`, from 0, of r_maxima() has it. */
SEXP r_permute(SEXP x, SEXP seed, SEXP number, SEXP jointly) {
    gcor_matrix matrix = r_matrix(x);
    gcor_shuffle shuffle = {
        .seed = parse_seed(seed), .number = (uint64_t)Rf_asReal(number), .jointly = Rf_asLogical(jointly)};
    gcor_context context = {.threads = 1};
    int64_t n_obs = matrix.source.n_obs, n_var = matrix.source.n_var;
    SEXP result = PROTECT(Rf_allocMatrix(REALSXP, (int)n_obs, (int)n_var));
    (void)matrix.source.read(&matrix.source, &context, 0, n_var, REAL(result));
    for (int64_t j = 0; j < n_var; j++) gcor_shuffle_values(&shuffle, j, REAL(result) + j * n_obs, NULL, n_obs, 1);
    UNPROTECT(1);
    return result;
}

/* ---- permutations ---------------------------------------------------------------------------------------- */

/* weights: a column for each permutation (sink/groups/permuted_tests.h). */
static gcor_permutations parse_permutations(const r_job *q, SEXP weights, int is_t) {
    const gcor_permutations permutations = {.weight = REAL(weights),
                                            .n_weights = Rf_nrows(weights),
                                            .n = Rf_ncols(weights),
                                            .groups = gcor_groups_of(&q->combination),
                                            .is_t = is_t};
    const gcor_linear_model *model = permutations.groups.model;
    if (!q->job.combination || permutations.n_weights != (model ? model->n_values * model->n_terms : q->combination.n))
        r_error("there must be subjects, and weights for each of them");
    return permutations;
}

/* arguments: side, weights, is_t, df. Returns list(n_obs, x_flags, y_flags, maxima: the largest weight of all pairs for
 * each column of weights, see gcor_label_maxima_of(); counts: with df, of all pairs in bins, see gcor_label_maxima).
 */
gcor_status r_label_maxima(r_job *q, const SEXP *arguments, SEXP result) {
    gcor_label_maxima *maxima;
    const gcor_permutations permutations = parse_permutations(q, arguments[1], Rf_asLogical(arguments[2]));
    double *largest = r_new_doubles(result, 3, permutations.n);
    q->combination.how = GCOR_EACH;
    gcor_status status = gcor_label_maxima_new(
        &q->call.context, r_shape(q), r_n_row(q), q->job.x->n_var, (gcor_side)Rf_asInteger(arguments[0]),
        Rf_isNull(arguments[3]) ? 0 : Rf_asReal(arguments[3]), &permutations, &maxima);
    if (!status) status = r_job_run(q, &maxima->sink, result);
    if (!status && maxima->df > 0) add_bins(&maxima->bins, new_counts(result));
    for (int64_t k = 0; !status && k < permutations.n; k++) largest[k] = gcor_label_maxima_of(maxima, k);
    gcor_sink_free(maxima ? &maxima->sink : NULL);
    return status;
}

/* arguments: rule: list(side, signs, min, sums_weights) of gcor_component_rule, weights. Returns list(n_obs, x_flags,
 * y_flags, maxima: the largest component's size for each column of weights; size, first: of each variable's component
 * for the first column, for each sign). */
gcor_status r_components(r_job *q, const SEXP *arguments, SEXP result) {
    const gcor_component_rule components = {
        (gcor_side)Rf_asInteger(r_element(arguments[0], "side")), Rf_asInteger(r_element(arguments[0], "signs")),
        Rf_asReal(r_element(arguments[0], "min")), Rf_asLogical(r_element(arguments[0], "sums_weights"))};
    const gcor_permutations permutations = parse_permutations(q, arguments[1], 1);
    const R_xlen_t n_var = (R_xlen_t)q->job.x->n_var;
    gcor_sink *sink;
    q->combination.how = GCOR_EACH;
    double *maxima = r_new_doubles(result, 3, permutations.n);
    double *size = r_new_doubles(result, 4, components.signs * n_var);
    SEXP first = Rf_allocVector(INTSXP, components.signs * n_var);
    SET_VECTOR_ELT(result, 5, first);
    gcor_status status = gcor_components_new(&q->call.context, n_var, &components, &permutations, &sink);
    if (!status) status = r_job_run(q, sink, result);
    for (int64_t k = permutations.n - 1; !status && k >= 0; k--)
        maxima[k] = gcor_components_of(sink, k, size, INTEGER(first)); /* the first permutation's sizes stay */
    gcor_sink_free(sink);
    return status;
}

/* Stores t of all pairs for the job's permutations. */
static gcor_status store_t(r_job *q, const gcor_permutations *permutations, float *t, SEXP result) {
    gcor_label_maxima *maxima;
    const int64_t n_var = q->job.x->n_var;
    gcor_status status = gcor_label_maxima_new(&q->call.context, GCOR_UPPER, n_var, n_var, GCOR_ABSOLUTE, 0,
                                               permutations, &maxima);
    if (maxima) maxima->t = t;
    if (!status) status = r_job_run(q, &maxima->sink, result);
    gcor_sink_free(maxima ? &maxima->sink : NULL);
    return status;
}

/* arguments: rule: list(side, signs, extent, height) of gcor_tfce_rule, weights. Returns list(n_obs, x_flags, y_flags,
 * maxima: the largest score for each column of weights; score: of all pairs for the first one, NA without t). The t of
 * as many permutations as there is memory for come from one run. */
gcor_status r_tfce(r_job *q, const SEXP *arguments, SEXP result) {
    const gcor_tfce_rule rule = {
        (gcor_side)Rf_asInteger(r_element(arguments[0], "side")), Rf_asInteger(r_element(arguments[0], "signs")),
        Rf_asReal(r_element(arguments[0], "extent")), Rf_asReal(r_element(arguments[0], "height"))};
    const gcor_permutations permutations = parse_permutations(q, arguments[1], 1);
    const int64_t n_var = q->job.x->n_var, n_pairs = gcor_triangular(n_var - 1), n = permutations.n;
    gcor_context *context = &q->call.context;
    if (n_var > GCOR_TFCE_VARIABLES)
        r_error("components = \"tfce\" takes at most %d columns, not %.0f", GCOR_TFCE_VARIABLES, (double)n_var);
    q->combination.how = GCOR_EACH;
    double *maxima = r_new_doubles(result, 3, n), *score = r_new_doubles(result, 4, n_pairs);
    const int64_t bytes = context->memory > 0 ? context->memory : gcor_available_memory() / 4;
    const int64_t fit = bytes / (int64_t)sizeof(float) / gcor_max(1, n_pairs);
    const int64_t each = GCOR_TFCE_BYTES / sizeof(float); /* a thread needs as much as so many permutations */
    const int threads = (int)gcor_clamp(fit / 2 / each, 1, context->threads);
    const int64_t some = gcor_clamp(fit - threads * each, 1, n);
    float *t = gcor_alloc(context, some * n_pairs, sizeof *t, "t of permutations");
    for (int64_t k = 0; t && k < n && !context->error.status; k += some) {
        gcor_permutations now = permutations;
        now.weight += k * permutations.n_weights;
        now.n = gcor_min(some, n - k);
        q->call.progress.before = (double)k / (double)n;
        q->call.progress.part = (double)now.n / (double)n;
        if (!store_t(q, &now, t, result))
            (void)gcor_tfce(context, threads, n_var, &rule, t, now.n, maxima + k, k == 0 ? score : NULL);
    }
    gcor_free(t);
    for (int64_t p = 0; p < n_pairs; p++)
        if (score[p] != score[p]) score[p] = NA_REAL;
    return context->error.status;
}

/* ---- tests of groups ------------------------------------------------------------------------------------- */

/* Student's t of the subjects' Fisher z (groups/group_tests.h). arguments: rows: list(p, i), compressed rows of pairs;
 * NULL: all pairs, in the order of a dist or a matrix. Returns list(n_obs, x_flags, y_flags, difference, error, df), NA
 * without a test. */
gcor_status r_group_tests(r_job *q, const SEXP *arguments, SEXP result) {
    gcor_sink *sink;
    if (!q->job.combination) r_error("'x' must be several subjects; see ?subjects");
    const gcor_groups groups = gcor_groups_of(&q->combination);
    gcor_listed_pairs listed = {NULL, NULL};
    R_xlen_t length = q->job.y ? q->job.x->n_var * q->job.y->n_var : gcor_triangular(q->job.x->n_var - 1);
    if (!Rf_isNull(arguments[0])) {
        listed = (gcor_listed_pairs){INTEGER(r_element(arguments[0], "p")), INTEGER(r_element(arguments[0], "i"))};
        length = Rf_xlength(r_element(arguments[0], "i"));
    }
    const gcor_shape shape = q->job.y ? GCOR_FULL : listed.start ? GCOR_LOWER : GCOR_UPPER;
    q->combination.how = GCOR_EACH;
    gcor_group_results results = {.difference = r_new_doubles(result, 3, length), .missing = NA_REAL};
    results.error = r_new_doubles(result, 4, length);
    results.df = r_new_doubles(result, 5, length);
    gcor_status status = gcor_group_sink_new(&q->call.context, shape, r_n_row(q), q->job.x->n_var, &groups, &listed,
                                             &results, &sink);
    if (!status) status = r_job_run(q, sink, result);
    gcor_sink_free(sink);
    return status;
}
