/* From a segment of coefficients to the edges among them, in a list of the thread's. */
#include "edges.h"

/* Element k, as exact as it can be had. */
static double exact_value(const gcor_segment *segment, int64_t k) {
    return segment->exact ? segment->exact(segment, k) : gcor_value(segment, k);
}

/* The least weight of the segment's row. Where none is known yet, the k-th largest weight in the
 * segment, to within a bin, is one: or all of a variable's first pairs would be edges. */
static double row_least(const gcor_edge_rule *rule, const gcor_segment *segment) {
    enum { BINS = 256 };
    int bins[BINS] = {0};
    double known = rule->row_least[segment->row];
    if (known > 0 || segment->n < rule->k) return known;
    for (int64_t k = 0; k < segment->n; k++) {
        double weight = gcor_raw_weight(rule->side, gcor_value(segment, k)) - segment->error;
        if (weight > 0 && weight <= 1) bins[weight < 1 ? (int)(weight * BINS) : BINS - 1]++;
    }
    int64_t found = 0;
    for (int b = BINS - 1; b > 0; b--)
        if ((found += bins[b]) >= rule->k) return b / (double)BINS;
    return 0;
}

/* The least weight, by the cheap value, that element k may be an edge with. own: the row's, where variables have
 * their own. */
static inline double low_of(const gcor_edge_rule *rule, const gcor_segment *segment, double own, int64_t k) {
    if (!rule->row_least) return rule->least - segment->error;
    double other = rule->col_least[segment->col + k];
    return (other < own ? other : own) - segment->error;
}

enum { STRIP = 32 };

/* Whether any of STRIP elements from k on may be an edge; that most are not is found without a branch. */
static int any_edge(const gcor_edge_rule *rule, const gcor_segment *segment, double own, int64_t k) {
    const gcor_weighing w = gcor_weigh(rule->side);
    const double error = segment->error;
    if (!rule->row_least) return gcor_largest_weight(rule->side, segment, k, STRIP) >= rule->least - error;
    const double *other = rule->col_least + segment->col;
    int any = 0;
#pragma omp simd reduction(| : any)
    for (int64_t l = k; l < k + STRIP; l++) {
        double value = segment->floats ? segment->floats[l] : segment->doubles[l];
        any |= w.size * fabs(value) + w.sign * value >= (other[l] < own ? other[l] : own) - error;
    }
    return any;
}

/* The first element from k on that may be an edge. */
static int64_t find_next(const gcor_edge_rule *rule, const gcor_segment *segment, double own, int64_t k) {
    while (k < segment->n) {
        int64_t end = k + STRIP < segment->n ? k + STRIP : segment->n;
        if (end == k + STRIP && !any_edge(rule, segment, own, k)) k = end;
        for (; k < end; k++)
            if (gcor_raw_weight(rule->side, gcor_value(segment, k)) >= low_of(rule, segment, own, k)) return k;
    }
    return k;
}

/* Of element k: by its exact coefficient *r, where the cheap value is not already far above the ceiling. */
static gcor_verdict judge(const gcor_edge_rule *rule, const gcor_segment *segment, int64_t k, double *r) {
    int64_t row = segment->row, col = segment->col + k;
    if (segment->exact && rule->ceiling <= 1 &&
        gcor_judge_cheap(rule, row, col, gcor_value(segment, k), segment->error) == GCOR_ABOVE)
        return GCOR_ABOVE;
    *r = exact_value(segment, k);
    return gcor_judge(rule, row, col, *r);
}

int gcor_next_edge(const gcor_edge_rule *rule, const gcor_segment *segment, int64_t *k, double *r) {
    for (; (*k = find_next(rule, segment, 0, *k)) < segment->n; (*k)++)
        if (judge(rule, segment, *k, r) == GCOR_KEPT) return 1;
    return 0;
}

gcor_status gcor_edges_take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    gcor_edges *edges = (gcor_edges *)sink;
    const gcor_edge_rule *rule = &edges->rule;
    gcor_edge_list *loose;
    gcor_status status = gcor_edges_room(edges, context, thread, segment->n, &loose);
    if (status) return status;
    int64_t above = 0;
    double own = rule->row_least ? row_least(rule, segment) : 0, r = 0;
    for (int64_t k = -1; (k = find_next(rule, segment, own, k + 1)) < segment->n;) {
        gcor_verdict verdict = judge(rule, segment, k, &r);
        above += verdict == GCOR_ABOVE;
        if (verdict == GCOR_KEPT)
            loose->list[loose->n++] = (gcor_edge){(int32_t)segment->row, (int32_t)(segment->col + k), r};
    }
    if (above > 0) __atomic_fetch_add(&edges->above, above, __ATOMIC_RELAXED);
    return GCOR_OK;
}
