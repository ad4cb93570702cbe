#include "test.h"

#include "../base/alloc.h"
#include "../measure/measure.h"
#include "../source/source.h"
#include "../measure/coefficient.h"

#include <string.h>

typedef struct {
    gcor_context *context;
    gcor_observed *observed;
    char *ranks; /* ranks_bytes per thread */
    size_t ranks_bytes;
} observer;

/* Allocates the list of runs of ties; NULL if there are none, or after an error. */
static int32_t *allocate_runs(gcor_context *context, const gcor_ranks *ranks, int64_t n) {
    int64_t capacity = 0;
    for (int64_t at = 0, end; at < n; at = end) {
        end = ranks->end[ranks->order[at]];
        if (end - at > 1) capacity += 1 + end - at;
    }
    return capacity ? gcor_alloc(context, capacity + 1, sizeof(int32_t), "observations that tie") : NULL;
}

static void list_runs(const gcor_ranks *ranks, int64_t n, int32_t *to) {
    for (int64_t at = 0, end; at < n; at = end) {
        end = ranks->end[ranks->order[at]];
        if (end - at == 1) continue;
        *to++ = (int32_t)(end - at);
        memcpy(to, ranks->order + at, (size_t)(end - at) * sizeof *to);
        to += end - at;
    }
    *to = 0;
}

static void observe_ties(const observer *o, int thread, int64_t j, const double *x) {
    gcor_observed *observed = o->observed;
    const gcor_ranks ranks = gcor_ranks_at(o->ranks + thread * o->ranks_bytes, observed->n_obs);
    int64_t tied, n = gcor_rank(x, observed->n_obs, &ranks, &tied);
    gcor_tie_sums sums = gcor_no_ties;
    for (int64_t at = 0, end; at < n; at = end) {
        end = ranks.end[ranks.order[at]];
        gcor_add_ties(&sums, end - at);
    }
    observed->quotient[j] = gcor_tie_quotient((double)n, sums);
    observed->orders[j] = sums.same_orders;
    if (!observed->tied) return;
    observed->tied[j] = allocate_runs(o->context, &ranks, n);
    if (observed->tied[j]) list_runs(&ranks, n, observed->tied[j]);
}

static void observe(void *user, int thread, int64_t j, double *x, int flags) {
    const observer *o = user;
    gcor_observed *observed = o->observed;
    int64_t n = observed->n_obs;
    observed->n_present[j] = n;
    if (flags & GCOR_MISSING)
        for (int64_t k = 0; k < n; k++) observed->n_present[j] -= x[k] != x[k];
    uint64_t *present = observed->present ? observed->present + j * observed->words : NULL;
    for (int64_t k = 0; present && k < n; k++) present[k / 64] |= (uint64_t)(x[k] == x[k]) << k % 64;
    if (observed->quotient) observe_ties(o, thread, j, x);
}

static void *allocate_cleared(gcor_context *context, int64_t count, size_t size, const char *what) {
    void *memory = gcor_alloc(context, count, size, what);
    if (memory) memset(memory, 0, (size_t)count * size);
    return memory;
}

static gcor_status allocate(gcor_context *context, gcor_observed *o, int common, int ties) {
    o->words = (o->n_obs + 63) / 64;
    o->n_present = allocate_cleared(context, o->n_var, sizeof *o->n_present, "numbers of observations");
    if (!o->n_present) return GCOR_NO_MEMORY;
    if (ties) {
        o->quotient = allocate_cleared(context, o->n_var, sizeof *o->quotient, "sums of ties");
        o->orders = allocate_cleared(context, o->n_var, sizeof *o->orders, "sums of ties");
        if (!o->quotient || !o->orders) return GCOR_NO_MEMORY;
    }
    if (common) {
        o->present = allocate_cleared(context, o->n_var * o->words, sizeof *o->present, "bits of observations");
        if (!o->present) return GCOR_NO_MEMORY;
    }
    if (common && ties) {
        o->tied = allocate_cleared(context, o->n_var, sizeof *o->tied, "runs of ties");
        if (!o->tied) return GCOR_NO_MEMORY;
    }
    return GCOR_OK;
}

static gcor_status look(gcor_context *context, const gcor_columns *columns, gcor_observed *observed) {
    observer o = {context, observed, NULL, (gcor_ranks_bytes(observed->n_obs) + 63) / 64 * 64};
    if (observed->quotient) {
        o.ranks = gcor_alloc(context, context->threads, o.ranks_bytes, "ranks");
        if (!o.ranks) return GCOR_NO_MEMORY;
    }
    gcor_status status = gcor_for_columns(context, columns, 0, observed->n_var, observe, &o);
    gcor_free(o.ranks);
    return status ? status : context->error.status;
}

gcor_observed *gcor_observed_new(gcor_context *context, const gcor_columns *columns, int common, int ties) {
    gcor_observed *observed = gcor_alloc(context, 1, sizeof *observed, "what is known of observations");
    if (!observed) return NULL;
    *observed = (gcor_observed){.n_var = columns->source->n_var, .n_obs = columns->n_obs};
    if (!allocate(context, observed, common, ties) && !look(context, columns, observed)) return observed;
    gcor_observed_free(observed);
    return NULL;
}

void gcor_observed_free(gcor_observed *observed) {
    if (!observed) return;
    for (int64_t j = 0; observed->tied && j < observed->n_var; j++) gcor_free(observed->tied[j]);
    gcor_free(observed->tied);
    gcor_free(observed->present);
    gcor_free(observed->quotient);
    gcor_free(observed->orders);
    gcor_free(observed->n_present);
    gcor_free(observed);
}

int64_t gcor_common_count(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j) {
    if (!a->present) return a->n_obs;
    const uint64_t *own = a->present + i * a->words, *other = b->present + j * b->words;
    int64_t count = 0;
    for (int64_t w = 0; w < a->words; w++) count += __builtin_popcountll(own[w] & other[w]);
    return count;
}

gcor_weight_sums gcor_common_weights(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j,
                                     const double *weight) {
    gcor_weight_sums sums = {0, 0};
    const uint64_t *own = a->present ? a->present + i * a->words : NULL;
    const uint64_t *other = a->present ? b->present + j * b->words : NULL;
    for (int64_t k = 0; k < a->n_obs; k++) {
        if (own && !((own[k / 64] & other[k / 64]) >> k % 64 & 1)) continue;
        sums.sum += weight ? weight[k] : 1;
        sums.squares += weight ? weight[k] * weight[k] : 1;
    }
    return sums;
}

/* Tie sums of variable i of a over its pairwise-complete observations with variable j of b. */
static gcor_tie_sums common_ties(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j) {
    const uint64_t *other = b->present + j * b->words;
    gcor_tie_sums sums = gcor_no_ties;
    const int32_t *run = a->tied[i];
    for (; run && *run > 0; run += 1 + *run) {
        int64_t both = 0;
        for (int32_t k = 1; k <= *run; k++) both += other[run[k] / 64] >> run[k] % 64 & 1;
        gcor_add_ties(&sums, both);
    }
    return sums;
}

double gcor_common_quotient(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j, int64_t n) {
    if (!a->tied || n == a->n_present[i]) return a->quotient[i];
    return gcor_tie_quotient((double)n, common_ties(a, i, b, j));
}

double gcor_common_orders(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j, int64_t n) {
    return !a->tied || n == a->n_present[i] ? a->orders[i] : common_ties(a, i, b, j).same_orders;
}
