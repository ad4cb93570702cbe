#include "upper.h"

#include "../base/alloc.h"
#include "../base/elementary.h"
#include "../base/threads.h"

#include <math.h>
#include <string.h>

/* All neighbours of each variable: variable i has those at begin[i] .. begin[i+1]-1, with the entry of the edge and
 * its weight. */
typedef struct {
    gcor_context *context;
    const gcor_upper *network;
    double tolerance;
    int64_t *begin;
    int32_t *neighbour, *entry;
    double *weight;
    double *own; /* threads x n: weights of one variable's edges by neighbour, 0 elsewhere */
    int *is_kept;
} pruning;

/* ---- neighbours --------------------------------------------------------------------------------- */

static void count_neighbours(const pruning *p) {
    const gcor_upper *net = p->network;
    memset(p->begin, 0, (size_t)(net->n + 1) * sizeof *p->begin);
    for (int64_t j = 0; j < net->n; j++)
        for (int64_t e = net->start[j]; e < net->start[j + 1]; e++)
            if (net->row[e] != j) p->begin[net->row[e] + 1]++, p->begin[j + 1]++;
    for (int64_t j = 0; j < net->n; j++) p->begin[j + 1] += p->begin[j];
}

static void add_neighbour(const pruning *p, int64_t at, int64_t neighbour, int64_t e, double weight) {
    p->neighbour[at] = (int32_t)neighbour;
    p->entry[at] = (int32_t)e;
    p->weight[at] = weight;
}

/* Uses begin[i] as the next position of variable i, and moves it back at the end. Without tolerance |r| decides, which
 * has the order of the information and no rounding error. */
static void list_neighbours(const pruning *p) {
    const gcor_upper *net = p->network;
    for (int64_t j = 0; j < net->n; j++)
        for (int64_t e = net->start[j]; e < net->start[j + 1]; e++) {
            int64_t i = net->row[e];
            double r = net->r[e], weight = p->tolerance > 0 ? -0.5 * gcor_log1p(-r * r) : fabs(r);
            p->is_kept[e] = 1;
            if (i == j) continue;
            add_neighbour(p, p->begin[i]++, j, e, weight);
            add_neighbour(p, p->begin[j]++, i, e, weight);
        }
    memmove(p->begin + 1, p->begin, (size_t)net->n * sizeof *p->begin);
    p->begin[0] = 0;
}

/* ---- triangles ---------------------------------------------------------------------------------- */

/* Returns 1 if an edge to variable j is too weak in a triangle. own: the weights of the other variable's edges. */
static int is_too_weak(const pruning *p, const double *own, int64_t j, double weight) {
    const double fraction = 1 - p->tolerance;
    for (int64_t k = p->begin[j]; k < p->begin[j + 1]; k++) {
        double one = p->weight[k], other = own[p->neighbour[k]];
        if (weight < fraction * (one < other ? one : other)) return 1;
    }
    return 0;
}

/* An edge belongs to its variable with more neighbours, so that the shorter list is searched. */
static void prune_variable(void *argument, int thread, int64_t i) {
    const pruning *p = argument;
    double *own = p->own + thread * p->network->n;
    if (gcor_stop(p->context)) return;
    for (int64_t k = p->begin[i]; k < p->begin[i + 1]; k++) own[p->neighbour[k]] = p->weight[k];
    for (int64_t k = p->begin[i]; k < p->begin[i + 1]; k++) {
        const int64_t j = p->neighbour[k], more = p->begin[i + 1] - p->begin[i] - (p->begin[j + 1] - p->begin[j]);
        if ((more != 0 ? more > 0 : i < j) && is_too_weak(p, own, j, p->weight[k])) p->is_kept[p->entry[k]] = 0;
    }
    for (int64_t k = p->begin[i]; k < p->begin[i + 1]; k++) own[p->neighbour[k]] = 0;
}

gcor_status gcor_prune(gcor_context *context, const gcor_upper *network, double tolerance, int *is_kept) {
    const char *what = "the neighbours of a network";
    int64_t n = network->n, entries = 2 * (int64_t)network->start[n];
    pruning p = {.context = context,
                 .network = network,
                 .tolerance = tolerance,
                 .begin = gcor_alloc(context, n + 1, sizeof *p.begin, what),
                 .neighbour = gcor_alloc(context, entries, sizeof *p.neighbour, what),
                 .entry = gcor_alloc(context, entries, sizeof *p.entry, what),
                 .weight = gcor_alloc(context, entries, sizeof *p.weight, what),
                 .own = gcor_alloc(context, context->threads * n, sizeof *p.own, what),
                 .is_kept = is_kept};
    if (p.begin && p.neighbour && p.entry && p.weight && p.own) {
        count_neighbours(&p);
        list_neighbours(&p);
        memset(p.own, 0, (size_t)(context->threads * n) * sizeof *p.own);
        gcor_for_each(context->threads, n, prune_variable, &p);
    }
    gcor_free(p.begin);
    gcor_free(p.neighbour);
    gcor_free(p.entry);
    gcor_free(p.weight);
    gcor_free(p.own);
    return context->error.status;
}
