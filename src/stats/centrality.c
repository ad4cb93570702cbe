#include "centrality.h"

#include "../base/alloc.h"
#include "../base/threads.h"
#include "../base/triangle.h"

#include <math.h>
#include <string.h>

/* The iteration starts from equal centralities: components of a network that have the same eigenvalue keep their
 * proportions. */
gcor_status gcor_centrality(gcor_context *context, int64_t n, gcor_times *times, const void *matrix, double *vector,
                            double *error) {
    const gcor_symmetric a = {n, times, matrix, context->threads, .tolerance = 1e-12, .check_every = 1};
    int64_t length = gcor_leading_scratch(n);
    double value = 0, sum = 0, max = 0;
    *error = 0;
    if (n == 0) return GCOR_OK;
    double *scratch = gcor_alloc(context, length, sizeof *scratch, "the iteration for an eigenvector");
    if (!scratch) return GCOR_NO_MEMORY;
    gcor_huge_pages(scratch, (size_t)length * sizeof *scratch);
    for (int64_t j = 0; j < n; j++) vector[j] = 1;
    gcor_status status = gcor_leading(context, &a, vector, scratch, &value, error);
    gcor_free(scratch);
    if (status) return status;
    for (int64_t j = 0; j < n; j++) {
        sum += vector[j];
        max = fmax(max, fabs(vector[j]));
    }
    double scale = value > 0 ? copysign(1 / max, sum) : 0;
    for (int64_t j = 0; j < n; j++) {
        double own = vector[j] * scale;
        vector[j] = own > 1e-14 ? own : 0; /* rounding errors of 0, as in other components of a network */
    }
    *error = value > 0 ? *error / value : 0;
    return GCOR_OK;
}

/* ---- networks --------------------------------------------------------------------------------------------------- */

/* An entry adds to the sums of its row and of its column. So columns are divided into parts of about equally many
 * entries, each with sums of its own, which are added in order. A part has some entries for each of the n sums, and is
 * worth a thread. */
enum { MAX_PARTS = 16, ENTRIES_PER_SUM = 8, MIN_ENTRIES = 1 << 16, BLOCK = 1 << 12 };

typedef struct {
    const gcor_upper *network;
    const double *v;
    double *out;
    double *sums; /* parts x n; a part uses those up to its last column */
    int parts;
    int64_t first[MAX_PARTS + 1]; /* columns */
} product;

static product divide(const gcor_upper *a) {
    int64_t entries = a->start[a->n], j = 0;
    product p = {.network = a};
    p.parts = (int)gcor_clamp(entries / gcor_max(ENTRIES_PER_SUM * a->n, MIN_ENTRIES), 1, MAX_PARTS);
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
    memset(sums, 0, (size_t)p->first[part + 1] * sizeof *sums);
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

static void add_block(void *argument, int thread, int64_t k) {
    const product *p = argument;
    const gcor_range block = gcor_block(p->network->n, BLOCK, k);
    (void)thread;
    for (int64_t j = block.from; j < block.end; j++) {
        double sum = 0;
        for (int part = p->parts; part > 0 && p->first[part] > j; part--)
            sum += p->sums[(part - 1) * p->network->n + j];
        p->out[j] = sum;
    }
}

static void times(const void *matrix, int threads, const double *v, double *out) {
    product p = *(const product *)matrix;
    p.v = v;
    p.out = out;
    threads = (int)gcor_min(threads, p.parts);
    gcor_for_each(threads, p.parts, multiply_part, &p);
    gcor_for_each(threads, gcor_blocks(p.network->n, BLOCK), add_block, &p);
}

gcor_status gcor_network_centrality(gcor_context *context, const gcor_upper *network, double *vector, double *error) {
    product p = divide(network);
    p.sums = gcor_alloc(context, p.parts * network->n, sizeof *p.sums, "sums over a network's edges");
    if (!p.sums) return GCOR_NO_MEMORY;
    gcor_huge_pages(p.sums, (size_t)(p.parts * network->n) * sizeof *p.sums);
    gcor_status status = gcor_centrality(context, network->n, times, &p, vector, error);
    gcor_free(p.sums);
    return status;
}
