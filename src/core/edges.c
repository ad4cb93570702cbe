/* The sink that keeps the pairs of large weight. */
#include "network.h"

enum { BATCH = 512 }; /* edges handed on at a time */

/* Element k of a segment, as exact as it can be had. */
static double exact_value(const gcor_segment *segment, int64_t k) {
    if (segment->exact) return segment->exact(segment, k);
    return segment->floats ? segment->floats[k] : segment->doubles[k];
}

/* The weight that a value would have, whether it is a coefficient or not. A cheap one may be a
 * little above 1, and NaN is larger than nothing. */
static double raw_weight(gcor_side side, double value) {
    return side == GCOR_ABSOLUTE ? fabs(value) : side == GCOR_POSITIVE ? value : -value;
}

/* The first element from k on that may be an edge; nearly all pairs end here. */
static int64_t find_next(const gcor_edge_rule *rule, const gcor_segment *segment, int64_t k) {
    gcor_side side = rule->side;
    double low = rule->least - segment->error;
    if (rule->row_least) {
        for (; k < segment->n; k++) {
            double value = segment->floats ? segment->floats[k] : segment->doubles[k];
            low = gcor_least(rule, segment->row, segment->col + k) - segment->error;
            if (raw_weight(side, value) >= low) break;
        }
    } else if (segment->floats) {
        while (k < segment->n && !(raw_weight(side, segment->floats[k]) >= low)) k++;
    } else {
        while (k < segment->n && !(raw_weight(side, segment->doubles[k]) >= low)) k++;
    }
    return k;
}

/* Whether a cheap value is so far above the ceiling that the exact one is, too. */
static int surely_above(const gcor_edge_rule *rule, const gcor_segment *segment, int64_t k) {
    if (!segment->exact || rule->ceiling > 1) return 0;
    double value = segment->floats ? segment->floats[k] : segment->doubles[k];
    return raw_weight(rule->side, value) >= rule->ceiling + segment->error;
}

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    gcor_edges *edges = (gcor_edges *)sink;
    const gcor_edge_rule *rule = &edges->rule;
    gcor_edge batch[BATCH];
    int64_t n = 0, above = 0;
    gcor_status status = GCOR_OK;
    for (int64_t k = find_next(rule, segment, 0); k < segment->n && !status; k = find_next(rule, segment, k + 1)) {
        if (surely_above(rule, segment, k)) {
            above++;
            continue;
        }
        int64_t col = segment->col + k;
        double r = exact_value(segment, k), weight = gcor_weight(rule->side, r);
        if (weight >= rule->ceiling) {
            above++;
        } else if (weight >= gcor_least(rule, segment->row, col)) {
            batch[n++] = (gcor_edge){(int32_t)segment->row, (int32_t)col, r};
            if (n == BATCH) status = edges->keep(edges, context, thread, batch, n), n = 0;
        }
    }
    if (n > 0 && !status) status = edges->keep(edges, context, thread, batch, n);
    if (above > 0) __atomic_fetch_add(&edges->above, above, __ATOMIC_RELAXED);
    return status;
}

gcor_edges gcor_edges_sink(gcor_shape shape, gcor_edge_rule rule) {
    return (gcor_edges){.sink = {.kind = GCOR_EDGES, .shape = shape, .approximate = 1, .take = take}, .rule = rule};
}
