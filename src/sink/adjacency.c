#include "adjacency.h"

#include "../core/alloc.h"

#include <string.h>

enum { WIDTH = GCOR_ADJACENCY_WIDTH, SOME = 256 };

/* As gcor_raise(), in whole vectors where it is multiplied out. */
static void raise_all(double power, int64_t n, const double *base, double *out) {
    if (!gcor_is_multiplied(power)) {
        for (int64_t k = 0; k < n; k++) out[k] = pow(base[k], power);
        return;
    }
    for (int64_t k = 0; k < n; k++) out[k] = power == (double)(int)power ? 1 : sqrt(base[k]);
    for (int p = (int)power; p > 0; p--)
        for (int64_t k = 0; k < n; k++) out[k] *= base[k];
}

/* gcor_adjacency_of() of SOME values at most; returns how many are no coefficients. */
static int64_t find_adjacencies(const gcor_overlap_rule *rule, const double *r, int64_t n, float *out) {
    double base[SOME], a[SOME], least = gcor_least_adjacency(rule);
    gcor_similarity similarity = rule->keeps_sign ? GCOR_UNSIGNED : rule->similarity;
    int64_t missing = 0;
    for (int64_t k = 0; k < n; k++) {
        int is_there = r[k] <= 1;
        missing += !is_there;
        base[k] = is_there ? gcor_base(similarity, r[k]) : 0;
    }
    raise_all(rule->power, n, base, a);
    for (int64_t k = 0; k < n; k++) {
        double size = a[k] < least ? 0 : a[k];
        out[k] = (float)(rule->keeps_sign && r[k] < 0 ? -size : size);
    }
    return missing;
}

/* Those of a variable with n others from number `col` on, to both places of each. */
static void put(gcor_adjacency *to, int64_t row, int64_t col, int64_t n, const float *a) {
    const int64_t stride = to->sink.n_col * WIDTH;
    float *own = to->values + row / WIDTH * stride + row % WIDTH, *others = to->values + row * WIDTH;
    for (int64_t k = 0; k < n; k++) own[(col + k) * WIDTH] = a[k];
    for (int64_t k = 0; k < n; k++) others[(col + k) / WIDTH * stride + (col + k) % WIDTH] = a[k];
}

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    gcor_adjacency *to = (gcor_adjacency *)sink;
    double r[SOME];
    float a[SOME];
    int64_t missing = 0;
    (void)context, (void)thread;
    for (int64_t from = 0; from < segment->n; from += SOME) {
        int64_t n = segment->n - from < SOME ? segment->n - from : SOME;
        for (int64_t k = 0; k < n; k++) r[k] = gcor_value(segment, from + k);
        missing += find_adjacencies(&to->rule, r, n, a);
        put(to, segment->row, segment->col + from, n, a);
    }
    if (missing > 0) __atomic_fetch_add(&to->missing, missing, __ATOMIC_RELAXED);
    return GCOR_OK;
}

void gcor_adjacency_complete(gcor_adjacency *adjacency) {
    const int64_t n = adjacency->sink.n_col, slivers = (n + WIDTH - 1) / WIDTH, beyond = slivers * WIDTH - n;
    for (int64_t i = 0; i < n; i++) {
        float *last = adjacency->values + ((slivers - 1) * n + i) * WIDTH;
        memset(last + WIDTH - beyond, 0, (size_t)beyond * sizeof *last);
        adjacency->values[(i / WIDTH * n + i) * WIDTH + i % WIDTH] = 0;
    }
}

/* ---- forks --------------------------------------------------------------------------------------- */

static gcor_status fork_sink(gcor_sink *sink, gcor_context *context, gcor_sink **other) {
    gcor_adjacency *fresh = gcor_alloc(context, 1, sizeof *fresh, "a worker's adjacencies");
    *other = NULL;
    if (!fresh) return GCOR_NO_MEMORY;
    *fresh = *(const gcor_adjacency *)sink;
    fresh->missing = 0;
    fresh->memory = (gcor_block){0};
    *other = &fresh->sink;
    return GCOR_OK;
}

/* The adjacencies are where they belong: forks write to the same memory, each its own pairs. */
static gcor_status merge(gcor_sink *sink, gcor_context *context, gcor_sink *other) {
    (void)context;
    ((gcor_adjacency *)sink)->missing += ((gcor_adjacency *)other)->missing;
    ((gcor_adjacency *)other)->missing = 0;
    return GCOR_OK;
}

static void release(gcor_sink *sink) {
    gcor_adjacency *adjacency = (gcor_adjacency *)sink;
    if (adjacency->device) adjacency->free_device(adjacency->device);
    gcor_pool_give(&adjacency->memory);
    gcor_free(adjacency);
}

const gcor_sink_type gcor_adjacency_type = {
    .name = "adjacency",
    .take = take,
    .fork = fork_sink,
    .merge = merge,
    .free = release,
};

gcor_status gcor_adjacency_new(gcor_context *context, const gcor_overlap_rule *rule, gcor_shape shape, int64_t n_var,
                               int in_memory, gcor_adjacency **adjacency) {
    int64_t slivers = (n_var + WIDTH - 1) / WIDTH, bytes = slivers * WIDTH * n_var * (int64_t)sizeof(float);
    gcor_adjacency *own = *adjacency = gcor_alloc(context, 1, sizeof *own, "the adjacencies");
    if (!own) return GCOR_NO_MEMORY;
    *own = (gcor_adjacency){.sink = {.type = &gcor_adjacency_type, .shape = shape, .n_row = n_var, .n_col = n_var},
                            .rule = *rule};
    if (!in_memory) return GCOR_OK;
    own->memory = gcor_pool_take(context, bytes, "the adjacencies of all pairs");
    own->values = own->memory.at;
    if (own->values) return GCOR_OK;
    release(&own->sink);
    *adjacency = NULL;
    return GCOR_NO_MEMORY;
}
