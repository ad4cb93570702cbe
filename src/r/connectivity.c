/* What becomes of variables and modules: sums over each variable's pairs (gpuConnectivity), eigenvector centrality,
 * preservation. */
#include "job.h"
#include "vector.h"

#include "../sink/connectivity.h"
#include "../cpu/preservation.h"
#include "../stats/centrality.h"

#include <math.h>

/* rule: list(side, min_weight, similarity, steps, histogram, levels, maps), see gcor_sums_rule. */
static gcor_sums_rule parse_sums(SEXP rule) {
    SEXP steps = r_element(rule, "steps");
    gcor_sums_rule sums = {.side = (gcor_side)Rf_asInteger(r_element(rule, "side")),
                           .min = Rf_asReal(r_element(rule, "min_weight")),
                           .similarity = (gcor_similarity)Rf_asInteger(r_element(rule, "similarity")),
                           .n_power = (int)Rf_xlength(steps),
                           .histogram = Rf_asLogical(r_element(rule, "histogram"))};
    SEXP levels = r_element(rule, "levels");
    sums.n_level = (int)Rf_xlength(levels);
    sums.maps = Rf_asInteger(r_element(rule, "maps"));
    if (sums.n_power > GCOR_MAX_POWERS)
        r_error("there must be at most %d powers, not %d", GCOR_MAX_POWERS, sums.n_power);
    if (sums.n_level > GCOR_MAX_LEVELS)
        r_error("there must be at most %d thresholds, not %d", GCOR_MAX_LEVELS, sums.n_level);
    for (int l = 0; l < sums.n_level; l++) sums.levels[l] = REAL(levels)[l];
    for (int p = 0; p < sums.n_power; p++) sums.steps[p] = REAL(steps)[p];
    return sums;
}

/* Writes n_sum sums of each of the first n variables; the first one is c->sums[first]. */
static void write_values(const gcor_connectivity *c, int64_t n, int64_t first, int64_t n_sum, double *out) {
    for (int64_t s = 0; s < n_sum; s++)
        for (int64_t j = 0; j < n; j++) out[s * n + j] = gcor_fixed_value(c->sums[first + s * c->n_var + j]);
}

/* Each edge was counted at the highest level that it reaches: adds the levels above to each level. */
static void add_levels(gcor_connectivity *c) {
    for (int64_t k = (gcor_count_levels_of(&c->rule) - 1) * c->n_var - 1; k >= 0; k--) {
        c->degree[k] += c->degree[k + c->n_var];
        c->sums[k] += c->sums[k + c->n_var];
    }
}

static void write_sums(gcor_connectivity *c, SEXP result) {
    int64_t n = c->edges.sink.n_col, levels = gcor_count_levels_of(&c->rule), n_var = c->n_var;
    double *degree = REAL(VECTOR_ELT(result, 3));
    add_levels(c);
    for (int64_t l = 0; l < levels; l++)
        for (int64_t j = 0; j < n; j++) degree[l * n + j] = (double)c->degree[l * n_var + j];
    write_values(c, n, 0, levels, REAL(VECTOR_ELT(result, 4)));
    write_values(c, n, levels * n_var, c->rule.n_power, REAL(VECTOR_ELT(result, 5)));
    write_values(c, n_var, (levels + c->rule.n_power) * n_var, gcor_count_maps(&c->rule), REAL(VECTOR_ELT(result, 7)));
    if (!c->rule.histogram) return;
    gcor_bins_sum(&c->bins);
    for (int b = 0; b < GCOR_BINS; b++) REAL(VECTOR_ELT(result, 6))[b] = (double)c->bins.counts[b];
}

/* arguments: rule (parse_sums()). Returns list(n_obs, x_flags, y_flags, degree, strength, soft, counts, maps) of x's
 * variables with one another, or with y's; maps also has the rows of y's variables, after x's. */
gcor_status r_connectivity(r_job *q, const SEXP *arguments, SEXP result) {
    gcor_sums_rule sums = parse_sums(arguments[0]);
    int n = (int)q->job.x->n_var, n_var = n + (q->job.y ? (int)q->job.y->n_var : 0);
    int levels = gcor_count_levels_of(&sums);
    SET_VECTOR_ELT(result, 3, Rf_allocMatrix(REALSXP, n, levels));
    SET_VECTOR_ELT(result, 4, Rf_allocMatrix(REALSXP, n, levels));
    SET_VECTOR_ELT(result, 5, Rf_allocMatrix(REALSXP, n, sums.n_power));
    SET_VECTOR_ELT(result, 6, Rf_allocVector(REALSXP, sums.histogram ? GCOR_BINS : 0));
    SET_VECTOR_ELT(result, 7, Rf_allocMatrix(REALSXP, n_var, gcor_count_maps(&sums)));
    gcor_connectivity *c;
    gcor_status status = gcor_connectivity_new(&q->call.context, sums, r_shape(q), r_n_row(q), n, &c);
    if (!status) status = r_job_run(q, &c->edges.sink, result);
    if (!status) write_sums(c, result);
    gcor_sink_free(c ? &c->edges.sink : NULL);
    return status;
}

/* ---- eigenvector centrality --------------------------------------------------------------------- */

/* Returns list(n_obs, x_flags, y_flags, eigenvector, error): the centrality of x's columns, NA without coefficients. */
gcor_status r_centrality(r_job *q, const SEXP *arguments, SEXP result) {
    double *vector = r_new_doubles(result, 3, q->job.x->n_var), *error = r_new_doubles(result, 4, 1);
    gcor_status status = gcor_pair_centrality(&q->call.context, &gcor_cpu, &q->job, vector, error);
    REAL(VECTOR_ELT(result, 0))[0] = (double)q->job.n_obs_used;
    for (int64_t j = 0; !status && j < q->job.x->n_var; j++)
        if (isnan(vector[j])) vector[j] = NA_REAL;
    return status;
}

/* Returns list(eigenvector, error) of the network with the compressed columns p, i, x (an upper triangle). */
SEXP r_network_centrality(SEXP p, SEXP i, SEXP x, SEXP place) {
    const char *names[] = {"eigenvector", "error", ""};
    r_check_compressed(p, i, x, Rf_xlength(p) - 1);
    const gcor_upper network = {.n = Rf_xlength(p) - 1, .start = INTEGER(p), .row = INTEGER(i), .r = REAL(x)};
    r_call call;
    r_quiet_call_parse(&call, place);
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    double *vector = r_new_doubles(result, 0, network.n), *error = r_new_doubles(result, 1, 1);
    gcor_status status = gcor_network_centrality(&call.context, &network, vector, error);
    UNPROTECT(1);
    return status ? r_failure(&call.context.error) : result;
}

/* ---- preservation of a reference's modules in a test set ---------------------------------------- */

/* set: list(columns: matrix, each column of mean 0 and length 1; overlaps: a dist, or NULL). */
static gcor_preserved_set set_of(SEXP set) {
    SEXP columns = r_element(set, "columns"), overlaps = r_element(set, "overlaps");
    gcor_preserved_set own = {.columns = REAL(columns), .n_obs = Rf_nrows(columns)};
    if (!Rf_isNull(overlaps)) own.overlaps = r_values(overlaps);
    return own;
}

/* Returns the statistics of cpu/preservation.h: statistic x module x draw. reference, test: see set_of(). start:
 * integers, where the modules begin among the members, and the number of members. member: integers, variables from 0.
 * drawn: an integer matrix, member x draw. rule: list(similarity, power). */
SEXP r_preservation(SEXP reference, SEXP test, SEXP start, SEXP member, SEXP drawn, SEXP rule, SEXP place) {
    r_call call;
    r_call_parse(&call, place);
    gcor_preservation job = {.reference = set_of(reference),
                             .test = set_of(test),
                             .n_var = Rf_ncols(r_element(test, "columns")),
                             .n_module = Rf_xlength(start) - 1,
                             .n_draw = Rf_ncols(drawn),
                             .start = INTEGER(start),
                             .member = INTEGER(member),
                             .drawn = INTEGER(drawn),
                             .similarity = (gcor_similarity)Rf_asInteger(r_element(rule, "similarity")),
                             .power = Rf_asReal(r_element(rule, "power"))};
    SEXP result = PROTECT(Rf_alloc3DArray(REALSXP, GCOR_N_PRESERVATIONS, (int)job.n_module, (int)job.n_draw));
    job.statistics = REAL(result);
    gcor_status status = cpu_preservation(&call.context, &job);
    r_progress_end(&call.progress);
    UNPROTECT(1);
    return status ? r_failure(&call.context.error) : result;
}
