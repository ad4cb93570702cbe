/* Edges whose p values depend on more than their coefficients: scores that rise as p falls, the number of those that
 * are large enough, and their network. Vectors have an element for each entry of compressed rows p, i, x, whose columns
 * are variables of x and whose rows are those of y, or of x. */
#include "job.h"
#include "vector.h"

#include "../base/alloc.h"
#include "../base/threads.h"
#include "../measure/measure.h"

static void set_quotients(const gcor_observed *observed, double *quotient) {
    for (int64_t j = 0; j < observed->n_var; j++) {
        double q = observed->quotient[j];
        quotient[j] = observed->n_present[j] == observed->n_obs && q == q ? q : NA_REAL;
    }
}

static gcor_status find_quotients(gcor_context *context, gcor_source *source, const gcor_observations *counted,
                                  double *quotient) {
    gcor_columns columns = {.source = source, .observed = counted->observed, .n_obs = counted->n_obs};
    gcor_observed *observed = gcor_observed_new(context, &columns, 0, 1);
    if (observed) set_quotients(observed, quotient);
    gcor_observed_free(observed);
    return context->error.status;
}

/* arguments: counted (r_observations()). Returns list(x, y) of tie quotients, NA where a variable has no
 * coefficient. */
gcor_status r_tie_quotients(r_job *q, const SEXP *arguments, SEXP result) {
    const gcor_observations counted = r_counted(arguments[0]);
    const gcor_job *job = &q->job;
    double *x = r_new_doubles(result, 0, job->x->n_var), *y = r_new_doubles(result, 1, job->y ? job->y->n_var : 0);
    gcor_status status = find_quotients(&q->call.context, job->x, &counted, x);
    if (!status && job->y) status = find_quotients(&q->call.context, job->y, &counted, y);
    if (!status && !job->y) SET_VECTOR_ELT(result, 1, VECTOR_ELT(result, 0));
    return status;
}

enum { ROWS = 64, BLOCK = 1 << 14 }; /* rows, or scores, of a thread at a time */

typedef struct {
    const int *start, *col;
    const double *r, *of_col, *of_row;
    double n;
    double *score;
} edge_scores;

static void score_rows_of_block(void *argument, int thread, int64_t from, int64_t end) {
    const edge_scores *s = argument;
    for (int64_t row = from; row < end; row++)
        for (int e = s->start[row]; e < s->start[row + 1]; e++)
            s->score[e] = fabs(s->r[e]) / gcor_kendall_deviation(s->n, s->of_col[s->col[e]], s->of_row[row]);
}

/* Returns |x| over tau-b's standard deviation under independence. q_col, q_row: the tie quotients of the columns' and
 * the rows' variables. */
SEXP r_edge_scores(SEXP p, SEXP i, SEXP x, SEXP q_col, SEXP q_row, SEXP n_obs, SEXP threads) {
    r_call call;
    r_plain_call_parse(&call, threads);
    r_collect_garbage((int64_t)sizeof(double) * Rf_xlength(x));
    SEXP result = PROTECT(r_new_vector(&call.context, REALSXP, Rf_xlength(x)));
    if (call.context.error.status) {
        UNPROTECT(1);
        return r_failure(&call.context.error);
    }
    edge_scores s = {.start = INTEGER(p),
                     .col = INTEGER(i),
                     .r = REAL(x),
                     .of_col = REAL(q_col),
                     .of_row = REAL(q_row),
                     .n = Rf_asReal(n_obs),
                     .score = REAL(result)};
    gcor_for_blocks(call.context.threads, Rf_xlength(p) - 1, ROWS, score_rows_of_block, &s);
    UNPROTECT(1);
    return result;
}

/* ---- pairs whose observations differ ------------------------------------------------------------------------- */

/* Lists the entries near 1 (gcor_is_near()); `at` is an entry's index. *near is the caller's; NULL if there are none.
 */
static gcor_status list_near(gcor_context *context, SEXP rows, int64_t n_row, double df, gcor_pair_value **near,
                             int64_t *n) {
    const int *start = INTEGER(r_element(rows, "p")), *col = INTEGER(r_element(rows, "i"));
    const double *r = REAL(r_element(rows, "x"));
    int64_t count = 0;
    *near = NULL;
    *n = 0;
    for (int e = 0; e < start[n_row]; e++) count += gcor_is_near(df, r[e]);
    if (count == 0) return GCOR_OK;
    *near = gcor_alloc(context, count, sizeof **near, "pairs near 1");
    if (!*near) return GCOR_NO_MEMORY;
    for (int64_t row = 0; row < n_row; row++)
        for (int e = start[row]; e < start[row + 1]; e++)
            if (gcor_is_near(df, r[e])) (*near)[(*n)++] = (gcor_pair_value){e, col[e], row, r[e]};
    return GCOR_OK;
}

typedef struct {
    gcor_context *context;
    const gcor_test *test;
    const int *start, *col;
    const double *r;
    double *score;
    int64_t few, min_obs, max_obs; /* min_obs, max_obs: of an entry */
} pair_scores;

/* Makes *min .. *max include from .. to. Any thread. */
static void widen(int64_t *min, int64_t *max, int64_t from, int64_t to) {
    int64_t before = __atomic_load_n(min, __ATOMIC_RELAXED);
    while (from < before && !__atomic_compare_exchange_n(min, &before, from, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    before = __atomic_load_n(max, __ATOMIC_RELAXED);
    while (to > before && !__atomic_compare_exchange_n(max, &before, to, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

static void score_pairs_of_block(void *argument, int thread, int64_t from, int64_t end) {
    pair_scores *s = argument;
    int64_t few = 0, min_obs = INT64_MAX, max_obs = 0;
    for (int64_t row = from; row < end && !gcor_stop(s->context); row++)
        for (int e = s->start[row]; e < s->start[row + 1]; e++) {
            gcor_tested pair = gcor_test_pair(s->test, s->col[e], row, s->r[e]);
            s->score[e] = -pair.p;
            few += pair.is_few;
            min_obs = gcor_min(min_obs, (int64_t)pair.n);
            max_obs = gcor_max(max_obs, (int64_t)pair.n);
        }
    __atomic_fetch_add(&s->few, few, __ATOMIC_RELAXED);
    widen(&s->min_obs, &s->max_obs, min_obs, max_obs);
}

/* Writes -log(p) of each entry; *few: the number of those that are 1 or -1 with very few observations; n_obs: min
 * and max number of observations of an entry. */
static void score_entries(gcor_context *context, const gcor_test *test, SEXP rows, double *score, double *few,
                          double n_obs[2]) {
    pair_scores s = {.context = context,
                     .test = test,
                     .start = INTEGER(r_element(rows, "p")),
                     .col = INTEGER(r_element(rows, "i")),
                     .r = REAL(r_element(rows, "x")),
                     .score = score,
                     .min_obs = INT64_MAX};
    gcor_for_blocks(context->threads, test->y->n_var, ROWS, score_pairs_of_block, &s);
    *few = (double)s.few;
    n_obs[0] = (double)s.min_obs;
    n_obs[1] = (double)s.max_obs;
}

static void score_near(gcor_context *context, const gcor_test *test, SEXP rows, double *score) {
    gcor_pair_value *near;
    int64_t n;
    if (!gcor_test_recomputes(test)) return;
    gcor_status status = list_near(context, rows, test->y->n_var, gcor_test_max_df(test), &near, &n);
    if (!status) status = gcor_recompute(context, test->rule.measure, &test->x_columns, &test->y_columns, n, near);
    for (int64_t k = 0; !status && k < n; k++)
        score[near[k].at] = -gcor_test_pair(test, near[k].i, near[k].j, near[k].r).p;
    gcor_free(near);
}

typedef struct {
    r_job *job;
    gcor_observations counted;
    gcor_columns x, y; /* y: x's if there is no y */
    gcor_design *design;
} entries;

/* After an error nothing is left to free. */
static gcor_status open_entries(entries *q, r_job *of) {
    gcor_context *context = &of->call.context;
    const gcor_job *job = &of->job;
    q->job = of;
    of->call.progress.place = NULL; /* they are few */
    if (gcor_observations_of(context, job, &q->counted)) return context->error.status;
    q->x = (gcor_columns){.source = job->x, .observed = q->counted.observed, .n_obs = q->counted.n_obs};
    if (gcor_design_pick(context, job->design, q->counted.observed, q->counted.n_obs, &q->design)) {
        gcor_free(q->counted.observed);
        return context->error.status;
    }
    q->x.design = q->design;
    q->y = q->x;
    if (job->y) q->y.source = job->y;
    return GCOR_OK;
}

static void close_entries(entries *q) {
    gcor_design_free(q->design);
    gcor_free(q->counted.observed);
}

/* The status is in the context. */
static void score_rows(entries *q, SEXP rows, SEXP rule, double *score, double *few, double n_obs[2]) {
    gcor_context *context = &q->job->call.context;
    gcor_test_rule test_rule = r_test_rule(q->job, rule);
    gcor_test test;
    test_rule.is_log = 1;
    if (gcor_test_open(context, &test_rule, &q->x, q->job->job.y ? &q->y : NULL, q->counted.common,
                       Rf_xlength(r_element(rows, "x")), &test))
        return;
    score_entries(context, &test, rows, score, few, n_obs);
    if (!context->error.status) score_near(context, &test, rows, score);
    gcor_test_close(&test);
}

/* arguments: rows: list(p, i, x), rule (r_test_rule()). Returns list(scores: -log(p) of each entry, few: the number of
 * those that are 1 or -1 with very few observations, n_obs: min and max number of observations of an entry). */
gcor_status r_pair_scores(r_job *job, const SEXP *arguments, SEXP result) {
    entries q;
    SEXP rows = arguments[0];
    double *scores = r_new_doubles(result, 0, Rf_xlength(r_element(rows, "x"))), *few = r_new_doubles(result, 1, 1);
    double *n_obs = r_new_doubles(result, 2, 2);
    if (open_entries(&q, job)) return job->call.context.error.status;
    *few = 0;
    score_rows(&q, rows, arguments[1], scores, few, n_obs);
    close_entries(&q);
    return job->call.context.error.status;
}

static void write_near(const gcor_pair_value *near, int64_t n, SEXP result) {
    SEXP at = Rf_allocVector(INTSXP, n);
    SET_VECTOR_ELT(result, 0, at);
    double *r = r_new_doubles(result, 1, n);
    for (int64_t k = 0; k < n; k++) {
        INTEGER(at)[k] = (int)near[k].at + 1;
        r[k] = near[k].r;
    }
}

/* arguments: rows: list(p, i, x), df. Returns list(at, r): the indices, from 1, of the entries near 1, and their
 * coefficients in double precision. */
gcor_status r_near(r_job *job, const SEXP *arguments, SEXP result) {
    entries q;
    gcor_pair_value *near = NULL;
    int64_t n = 0;
    gcor_context *context = &job->call.context;
    const gcor_measure *measure = job->job.measure;
    const int is_computed = !job->job.in_double && gcor_has_double(measure);
    gcor_status status = open_entries(&q, job);
    if (status) return status;
    if (is_computed) status = list_near(context, arguments[0], q.y.source->n_var, Rf_asReal(arguments[1]), &near, &n);
    if (!status) status = gcor_recompute(context, measure, &q.x, &q.y, n, near);
    close_entries(&q);
    if (!status) write_near(near, n, result);
    gcor_free(near);
    return status;
}

/* ---- entries by their scores ------------------------------------------------------------------------------------ */

typedef struct {
    const double *score;
    double min;
    int64_t found;
} score_count;

static void count_block(void *argument, int thread, int64_t from, int64_t end) {
    score_count *c = argument;
    int64_t found = 0;
    for (int64_t e = from; e < end; e++) found += c->score[e] >= c->min;
    __atomic_fetch_add(&c->found, found, __ATOMIC_RELAXED);
}

/* Returns the number of scores >= min. */
SEXP r_count_scores(SEXP scores, SEXP min, SEXP threads) {
    score_count c = {REAL(scores), Rf_asReal(min), 0};
    gcor_for_blocks(r_threads(threads), Rf_xlength(scores), BLOCK, count_block, &c);
    return Rf_ScalarReal((double)c.found);
}

typedef struct {
    int64_t n_row;
    const int *start, *col;
    const double *r, *score; /* score NULL: |r| are the scores */
    double min;
    int side; /* 0: either sign; 1 or -1: that sign, or 0 */
    int *first, *to_col;
    double *to_r, *to_score; /* to_score NULL: |r| are the scores */
} kept_scores;

static int is_kept(const kept_scores *s, int e) {
    return (s->score ? s->score[e] : fabs(s->r[e])) >= s->min && s->r[e] * s->side >= 0;
}

static void count_kept(void *argument, int thread, int64_t from, int64_t end) {
    const kept_scores *s = argument;
    for (int64_t row = from; row < end; row++) {
        s->first[row + 1] = 0;
        for (int e = s->start[row]; e < s->start[row + 1]; e++) s->first[row + 1] += is_kept(s, e);
    }
}

static void copy_kept(void *argument, int thread, int64_t from, int64_t end) {
    const kept_scores *s = argument;
    for (int64_t row = from; row < end; row++)
        for (int e = s->start[row], at = s->first[row]; e < s->start[row + 1]; e++)
            if (is_kept(s, e)) {
                s->to_col[at] = s->col[e];
                if (s->to_score) s->to_score[at] = s->score[e];
                s->to_r[at++] = s->r[e];
            }
}

/* Returns list(p, i, x, scores) of the entries whose score is >= min and whose x has that side's sign. scores NULL:
 * |x|, which is not returned. */
SEXP r_keep_scores(SEXP p, SEXP i, SEXP x, SEXP scores, SEXP min, SEXP side, SEXP threads) {
    const char *names[] = {"p", "i", "x", "scores", ""};
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names)), kept = Rf_allocVector(INTSXP, Rf_xlength(p));
    SET_VECTOR_ELT(result, 0, kept);
    r_call call;
    r_plain_call_parse(&call, threads);
    gcor_context *context = &call.context;
    kept_scores s = {.n_row = Rf_xlength(p) - 1,
                     .start = INTEGER(p),
                     .col = INTEGER(i),
                     .r = REAL(x),
                     .score = Rf_isNull(scores) ? NULL : REAL(scores),
                     .min = Rf_asReal(min),
                     .side = Rf_asInteger(side),
                     .first = INTEGER(kept)};
    s.first[0] = 0;
    gcor_for_blocks(context->threads, s.n_row, ROWS, count_kept, &s);
    for (int64_t row = 0; row < s.n_row; row++) s.first[row + 1] += s.first[row];
    const R_xlen_t n = s.first[s.n_row];
    r_collect_garbage((s.score ? 20 : 12) * n);
    for (int k = 1; k < (s.score ? 4 : 3); k++)
        SET_VECTOR_ELT(result, k, r_new_vector(context, k == 1 ? INTSXP : REALSXP, n));
    if (!context->error.status) {
        s.to_col = INTEGER(VECTOR_ELT(result, 1));
        s.to_r = REAL(VECTOR_ELT(result, 2));
        s.to_score = s.score ? REAL(VECTOR_ELT(result, 3)) : NULL;
        gcor_for_blocks(context->threads, s.n_row, ROWS, copy_kept, &s);
    }
    UNPROTECT(1);
    return context->error.status ? r_failure(&context->error) : result;
}
