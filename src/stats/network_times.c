#include "network_times.h"

#include "../base/alloc.h"
#include "../base/threads.h"
#include "../base/triangle.h"

#include <math.h>
#include <string.h>

/* An entry adds to the sums of its row and of its column. So columns are divided into parts of about equally many
 * entries, each with sums of its own, which are added in order. A part has some entries for each of the n sums. */
enum { MAX_PARTS = 16, ENTRIES_PER_SUM = 8 };

typedef struct {
    const gcor_upper *network;
    const double *v;
    double *sums; /* parts x n */
    int parts;
    int64_t first[MAX_PARTS + 1]; /* columns */
} product;

static product divide(const gcor_upper *a, const double *v) {
    int64_t entries = a->start[a->n], j = 0;
    product p = {.network = a, .v = v};
    p.parts = (int)gcor_clamp(entries / ENTRIES_PER_SUM / gcor_max(a->n, 1), 1, MAX_PARTS);
    for (int part = 0; part < p.parts; part++) {
        while (j < a->n && a->start[j] < entries * part / p.parts) j++;
        p.first[part] = j;
    }
    p.first[p.parts] = a->n;
    return p;
}

static void multiply_part(void *argument, int thread, int64_t part) {
    const product *p = argument;
    const gcor_upper *a = p->network;
    const int32_t *row = a->row;
    const double *r = a->r, *v = p->v;
    double *restrict sums = p->sums + part * a->n;
    (void)thread;
    memset(sums, 0, (size_t)a->n * sizeof *sums);
    for (int64_t j = p->first[part]; j < p->first[part + 1]; j++) {
        double of_column = 0, own = v[j];
        for (int64_t e = a->start[j]; e < a->start[j + 1]; e++) {
            double weight = fabs(r[e]);
            of_column += weight * v[row[e]];
            sums[row[e]] += weight * own;
        }
        sums[j] += of_column;
    }
}

gcor_status gcor_network_times(gcor_context *context, const gcor_upper *network, const double *v, double *out) {
    product p = divide(network, v);
    p.sums = gcor_alloc(context, p.parts * network->n, sizeof *p.sums, "sums over a network's edges");
    if (!p.sums) return GCOR_NO_MEMORY;
    gcor_huge_pages(p.sums, (size_t)(p.parts * network->n) * sizeof *p.sums);
    gcor_for_each(context->threads, p.parts, multiply_part, &p);
#pragma omp parallel for num_threads(context->threads) schedule(static)
    for (int64_t j = 0; j < network->n; j++) {
        double sum = 0;
        for (int part = 0; part < p.parts; part++) sum += p.sums[part * network->n + j];
        out[j] = sum;
    }
    gcor_free(p.sums);
    return gcor_stop(context) ? context->error.status : GCOR_OK;
}
