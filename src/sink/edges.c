/* The sink that keeps the pairs of large weight. */
#include "sinks.h"

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

enum { SOME = 32 };

/* Whether any of SOME elements from k on may be an edge; that most are not is found without a branch. */
static int any_edge(const gcor_edge_rule *rule, const gcor_segment *segment, double own, int64_t k) {
    const double size = rule->side == GCOR_ABSOLUTE, error = segment->error; /* weight: size |r| + sign r */
    const double sign = rule->side == GCOR_POSITIVE ? 1 : rule->side == GCOR_NEGATIVE ? -1 : 0;
    int any = 0;
    if (rule->row_least) {
        const double *other = rule->col_least + segment->col;
#pragma omp simd reduction(| : any)
        for (int64_t l = k; l < k + SOME; l++) {
            double value = segment->floats ? segment->floats[l] : segment->doubles[l];
            any |= size * fabs(value) + sign * value >= (other[l] < own ? other[l] : own) - error;
        }
    } else if (segment->floats) {
        const float *value = segment->floats, absolute = (float)size, own_sign = (float)sign;
        const float low = nextafterf((float)(rule->least - error), -INFINITY);
#pragma omp simd reduction(| : any)
        for (int64_t l = k; l < k + SOME; l++) any |= absolute * fabsf(value[l]) + own_sign * value[l] >= low;
    } else {
        const double *value = segment->doubles, low = rule->least - error;
#pragma omp simd reduction(| : any)
        for (int64_t l = k; l < k + SOME; l++) any |= size * fabs(value[l]) + sign * value[l] >= low;
    }
    return any;
}

/* The first element from k on that may be an edge. */
static int64_t find_next(const gcor_edge_rule *rule, const gcor_segment *segment, double own, int64_t k) {
    while (k < segment->n) {
        int64_t end = k + SOME < segment->n ? k + SOME : segment->n;
        if (end == k + SOME && !any_edge(rule, segment, own, k)) k = end;
        for (; k < end; k++)
            if (gcor_raw_weight(rule->side, gcor_value(segment, k)) >= low_of(rule, segment, own, k)) return k;
    }
    return k;
}

/* Whether a cheap value is so far above the ceiling that the exact one is, too. */
static int surely_above(const gcor_edge_rule *rule, const gcor_segment *segment, int64_t k) {
    if (!segment->exact || rule->ceiling > 1) return 0;
    return gcor_raw_weight(rule->side, gcor_value(segment, k)) >= rule->ceiling + segment->error;
}

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    gcor_edges *edges = (gcor_edges *)sink;
    const gcor_edge_rule *rule = &edges->rule;
    gcor_edge_list *loose = gcor_edges_room(edges, context, thread, segment->n);
    if (!loose) return GCOR_NO_MEMORY;
    int64_t above = 0;
    double own = rule->row_least ? row_least(rule, segment) : 0;
    for (int64_t k = -1; (k = find_next(rule, segment, own, k + 1)) < segment->n;) {
        if (surely_above(rule, segment, k)) {
            above++;
            continue;
        }
        int64_t col = segment->col + k;
        double r = exact_value(segment, k), weight = gcor_weight(rule->side, r);
        if (weight >= rule->ceiling)
            above++;
        else if (weight >= gcor_least(rule, segment->row, col))
            loose->list[loose->n++] = (gcor_edge){(int32_t)segment->row, (int32_t)col, r};
    }
    if (above > 0) __atomic_fetch_add(&edges->above, above, __ATOMIC_RELAXED);
    return GCOR_OK;
}

gcor_edges gcor_edges_sink(gcor_shape shape, gcor_edge_rule rule) {
    gcor_sink sink = {.kind = GCOR_EDGES, .shape = shape, .approximate = 1, .take = take,
                      .begin_tile = gcor_edges_begin, .end_tile = gcor_edges_end};
    return (gcor_edges){.sink = sink, .rule = rule};
}
