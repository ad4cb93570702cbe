#include "adjacency.h"

#include "../base/alloc.h"
#include "../base/elementary.h"
#include "../base/threads.h"

#include <string.h>

enum { WIDTH = GCOR_ADJACENCY_WIDTH, SOME = 256 };

/* gcor_power() of n values, vectorized for powers that are multiplied out. */
static void prune_all(double power, int64_t n, const double *base, double *out) {
    if (!gcor_is_multiplied(power)) {
        for (int64_t k = 0; k < n; k++) out[k] = gcor_pow(base[k], power);
        return;
    }
    const int is_whole = power == (double)(int)power;
    for (int64_t k = 0; k < n; k++) out[k] = is_whole ? 1 : sqrt(base[k]);
    for (int p = (int)power; p > 0; p--) {
        for (int64_t k = 0; k < n; k++) out[k] *= base[k];
    }
}

/* gcor_base() of coefficients, and 0 of other values; returns the number of these. */
static int64_t find_bases(gcor_similarity similarity, const double *r, int64_t n, double *base) {
    int64_t missing = 0;
    for (int64_t k = 0; k < n; k++) {
        double own = similarity == GCOR_UNSIGNED ? fabs(r[k]) : similarity == GCOR_SIGNED ? (1 + r[k]) / 2 : r[k];
        int64_t is_none = !(r[k] <= 1);
        missing += is_none;
        base[k] = is_none || own < 0 ? 0 : own;
    }
    return missing;
}

/* gcor_adjacency_of() of at most SOME values; returns how many are no coefficients. */
static int64_t find_adjacencies(const gcor_overlap_rule *rule, const double *r, int64_t n, float *out) {
    double base[SOME], a[SOME];
    const double min = gcor_min_adjacency(rule);
    int64_t missing = find_bases(rule->keeps_sign ? GCOR_UNSIGNED : rule->similarity, r, n, base);
    prune_all(rule->power, n, base, a);
    if (rule->keeps_sign) {
        for (int64_t k = 0; k < n; k++) a[k] = copysign(a[k], r[k]);
    }
    for (int64_t k = 0; k < n; k++) out[k] = (float)(fabs(a[k]) < min ? 0 : a[k]);
    return missing;
}

/* Store the adjacencies of variable `row` with n of the slab's variables from index `col` on. */
static void put(gcor_adjacency *to, int64_t row, int64_t col, int64_t n, const float *a) {
    for (int64_t k = 0; k < n;) {
        int64_t from = (col + k) % WIDTH, some = WIDTH - from < n - k ? WIDTH - from : n - k;
        float *out = to->values + ((col + k) / WIDTH * to->sink.n_col + row) * WIDTH + from;
        memcpy(out, a + k, (size_t)some * sizeof *out);
        k += some;
    }
}

/* Count each pair once, in one of its two orders, and no variable with itself. */
static int64_t count_missing(int64_t row, int64_t col, int64_t n, const double *r) {
    int64_t missing = 0;
    for (int64_t k = 0; k < n; k++) missing += col + k > row && !(r[k] <= 1);
    return missing;
}

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    gcor_adjacency *to = (gcor_adjacency *)sink;
    double scratch[SOME];
    float a[SOME];
    int64_t missing = 0;
    for (int64_t from = 0; from < segment->n; from += SOME) {
        int64_t n = segment->n - from < SOME ? segment->n - from : SOME;
        const double *r = gcor_segment_values(segment, from, n, scratch);
        int64_t of_all = find_adjacencies(&to->rule, r, n, a);
        missing += sink->shape == GCOR_FULL ? count_missing(segment->row, segment->col + from, n, r) : of_all;
        put(to, segment->row, segment->col + from - to->head.first, n, a);
    }
    if (missing > 0) __atomic_fetch_add(&to->missing, missing, __ATOMIC_RELAXED);
    return GCOR_OK;
}

/* Copy the pairs of micro-panels r and c to their other position in the matrix. */
static void mirror(gcor_adjacency *of, int64_t r, int64_t c) {
    const int64_t n = of->sink.n_col, n_row = n - r * WIDTH < WIDTH ? n - r * WIDTH : WIDTH;
    const int64_t n_col = n - c * WIDTH < WIDTH ? n - c * WIDTH : WIDTH;
    const int is_upper = of->sink.shape == GCOR_UPPER;
    const float *from = of->values + (c * n + r * WIDTH) * WIDTH;
    float *to = of->values + (r * n + c * WIDTH) * WIDTH;
    for (int64_t j = 0; j < n_col; j++)
        for (int64_t i = 0; i < n_row; i++)
            if (r != c || (is_upper ? i < j : i > j)) to[j * WIDTH + i] = from[i * WIDTH + j];
}

/* Fill in the missing rows and the zeros of micro-panel c. */
static void complete(gcor_adjacency *of, int64_t c) {
    const int64_t n = of->sink.n_col, micro_panels = (of->head.n_var + WIDTH - 1) / WIDTH;
    const int64_t beyond = c + 1 == micro_panels ? micro_panels * WIDTH - of->head.n_var : 0;
    int64_t begin = of->sink.shape == GCOR_UPPER ? c : 0, end = of->sink.shape == GCOR_LOWER ? c + 1 : micro_panels;
    for (int64_t r = begin; of->sink.shape != GCOR_FULL && r < end; r++) mirror(of, c, r);
    for (int64_t k = 0; k < n && beyond > 0; k++)
        memset(of->values + (c * n + k + 1) * WIDTH - beyond, 0, (size_t)beyond * sizeof(float));
    for (int64_t v = c * WIDTH; v < of->head.n_var && v < (c + 1) * WIDTH; v++)
        of->values[(c * n + of->head.first + v) * WIDTH + v % WIDTH] = 0;
}

/* Sum absolute adjacencies in a fixed order. */
static void connect(gcor_adjacency *of, int64_t c) {
    const int64_t some = of->head.n_var - c * WIDTH < WIDTH ? of->head.n_var - c * WIDTH : WIDTH;
    double sum[WIDTH] = {0};
    for (int64_t k = 0; k < of->sink.n_col; k++) {
        const float *row = gcor_adjacency_row(of, k, c);
        for (int v = 0; v < WIDTH; v++) sum[v] += fabsf(row[v]);
    }
    for (int64_t v = 0; v < some; v++) of->connectivity[c * WIDTH + v] = sum[v];
}

typedef struct {
    gcor_adjacency *adjacency;
    gcor_context *context;
} completion;

static void complete_micro_panel(void *argument, int thread, int64_t c) {
    const completion *of = argument;
    if (!gcor_stop(of->context)) complete(of->adjacency, c);
}

static void connect_micro_panel(void *argument, int thread, int64_t c) {
    const completion *of = argument;
    if (!gcor_stop(of->context)) connect(of->adjacency, c);
}

gcor_status gcor_adjacency_complete(gcor_adjacency *adjacency, gcor_context *context) {
    const int64_t micro_panels = (adjacency->head.n_var + WIDTH - 1) / WIDTH;
    completion of = {adjacency, context};
    gcor_for_each(context->threads, micro_panels, complete_micro_panel, &of);
    gcor_for_each(context->threads, micro_panels, connect_micro_panel, &of);
    return context->error.status;
}

static void release(gcor_sink *sink) {
    gcor_adjacency *adjacency = (gcor_adjacency *)sink;
    if (adjacency->device) adjacency->free_device(adjacency->device);
    gcor_buffer_give(&adjacency->memory);
    gcor_free(adjacency->connectivity);
}

/* Not merged: it belongs to one worker. */
static const gcor_sink_type TYPE = {
    .name = "adjacency", .size = sizeof(gcor_adjacency), .role = GCOR_ADJACENCIES, .take = take, .release = release};

/* ---- memory --------------------------------------------------------------------------------------- */

int64_t gcor_adjacency_bytes(int64_t n_var) {
    return n_var * (int64_t)sizeof(float);
}

static gcor_status take_memory(gcor_adjacency *own, gcor_context *context) {
    const int64_t micro_panels = (own->head.n_var + WIDTH - 1) / WIDTH;
    own->connectivity = gcor_alloc(context, own->head.n_var, sizeof *own->connectivity, "connectivities");
    if (!own->connectivity) return GCOR_NO_MEMORY;
    own->memory = gcor_buffer_take(context, micro_panels * WIDTH * gcor_adjacency_bytes(own->sink.n_col),
                                   "the adjacencies of all pairs");
    own->values = own->memory.at;
    return own->values ? GCOR_OK : GCOR_NO_MEMORY;
}

gcor_status gcor_adjacency_new(gcor_context *context, const gcor_overlap_rule *rule, gcor_shape shape, int64_t n_var,
                               int64_t first, int64_t n, int in_memory, gcor_adjacency **adjacency) {
    const gcor_adjacency like = {.head = {.kind = GCOR_ADJACENCY, .first = first, .n_var = n, .n_obs = n_var},
                                 .sink = {.type = &TYPE, .shape = shape, .n_row = n_var, .n_col = n_var},
                                 .rule = *rule};
    gcor_adjacency *own = *adjacency = gcor_sink_new(context, &like);
    gcor_status status = !own ? GCOR_NO_MEMORY : in_memory ? take_memory(own, context) : GCOR_OK;
    if (own && status) {
        gcor_sink_free(&own->sink);
        *adjacency = NULL;
    }
    return status;
}
