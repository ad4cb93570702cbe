/* Hierarchical clustering of a dist, or of 1 - coefficients. */
#include "job.h"
#include "vector.h"

#include "../base/alloc.h"
#include "../base/triangle.h"
#include "../stats/hclust.h"

static gcor_status run(r_job *q, gcor_hclust *job, SEXP result) {
    gcor_context *context = &q->call.context;
    gcor_session *session;
    gcor_state *state;
    context->monitor->pairs = job->n - 1;
    job->merges = gcor_alloc(context, job->n - 1, sizeof *job->merges, "the tree");
    if (!job->merges) return GCOR_NO_MEMORY;
    gcor_status status = r_session(context, q->backend, q->devices, q->n_devices, &session);
    if (!status) status = gcor_session_any_state(session, context, &state);
    if (!status) status = q->backend->cluster(state, context, job);
    r_session_end(q->backend, status);
    if (!status)
        status = gcor_hclust_tree(job, context, INTEGER(VECTOR_ELT(result, 0)), REAL(VECTOR_ELT(result, 1)),
                                  INTEGER(VECTOR_ELT(result, 2)));
    gcor_free(job->merges);
    return status;
}

/* Returns list(merge, height, order) of an hclust object. x: n (n - 1) / 2 doubles in the order of `dist`, distances
 * or, with is_similarity, 1 - distances. linkage: a gcor_linkage. */
SEXP r_hclust(SEXP x, SEXP n_leaves, SEXP linkage, SEXP is_similarity, SEXP place) {
    const char *names[] = {"merge", "height", "order", ""};
    r_job q = {0};
    int n = Rf_asInteger(n_leaves);
    if (TYPEOF(x) != REALSXP || n < 2 || Rf_xlength(x) != gcor_triangular((int64_t)n - 1))
        r_error("%.0f values of type %s are not the distances of %d items", (double)Rf_xlength(x),
                Rf_type2char(TYPEOF(x)), n);
    r_devices_parse(&q, r_place_of(place));
    r_call_parse(&q.call, place);
    if (q.backend->is_host) r_collect_garbage(gcor_triangular(n - 1) * (int64_t)sizeof(float));
    gcor_hclust job = {.linkage = (gcor_linkage)Rf_asInteger(linkage),
                       .n = n,
                       .distances = r_values(x),
                       .is_similarity = Rf_asLogical(is_similarity)};
    int is_of_one = job.is_similarity || (job.distances.compact && job.distances.compact->is_distance);
    job.origin = is_of_one && job.linkage != GCOR_LINK_WARD_D2;
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(result, 0, Rf_allocMatrix(INTSXP, n - 1, 2));
    SET_VECTOR_ELT(result, 1, Rf_allocVector(REALSXP, n - 1));
    SET_VECTOR_ELT(result, 2, Rf_allocVector(INTSXP, n));
    result = r_job_end(&q, run(&q, &job, result), result);
    UNPROTECT(1);
    return result;
}

/* Returns the cluster of each leaf of a tree of an hclust object, see gcor_cut. x, is_similarity: as in r_hclust().
 * rules: those of cut_rules() (R/wgcna-cut.R). */
SEXP r_cut_tree(SEXP x, SEXP is_similarity, SEXP merge, SEXP height, SEXP rules, SEXP threads) {
    r_call call;
    const int64_t n = Rf_xlength(height) + 1;
    const double *rule = REAL(rules);
    r_plain_call_parse(&call, threads);
    SEXP result = PROTECT(Rf_allocVector(INTSXP, n));
    const gcor_cut cut = {.n = n,
                          .distances = r_values(x),
                          .is_similarity = Rf_asLogical(is_similarity),
                          .merge = INTEGER(merge),
                          .height = REAL(height),
                          .cut_height = rule[0],
                          .min_size = rule[1],
                          .max_core_scatter = rule[2],
                          .min_gap = rule[3],
                          .min_split_height = rule[4],
                          .max_pam_distance = rule[5],
                          .is_pam = rule[6] != 0,
                          .respects_tree = rule[7] != 0,
                          .respects_small = rule[8] != 0};
    if (gcor_cut_tree(&cut, &call.context, INTEGER(result))) result = r_failure(&call.context.error);
    UNPROTECT(1);
    return result;
}
