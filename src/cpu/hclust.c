/* Hierarchical clustering on the CPU: chains of nearest neighbours, and for single linkage Prim's minimum spanning tree
 * (Muellner 2013). The distances are a square matrix of floats, so that a cluster's are contiguous. */
#include "cpu.h"

#include "../base/alloc.h"
#include "../base/buffer.h"
#include "../base/threads.h"
#include "../stats/hclust.h"

#include <math.h>
#include <string.h>

typedef struct {
    const gcor_hclust *job;
    gcor_context *context;
    int64_t n;
    float *distance; /* n x n; NaN on the diagonal, undefined where a cluster has become a part of another one */
    int32_t *size;   /* n: of clusters; 0: part of another one */
} clusters;

static float *row_of(const clusters *c, int64_t cluster) {
    return c->distance + cluster * c->n;
}

/* ---- distances ------------------------------------------------------------------------------- */

enum { BLOCK = 64 }; /* rows that are read and mirrored at a time */

static void mirror_block(const clusters *c, int64_t begin, int64_t end) {
    for (int64_t first = begin; first < c->n; first += BLOCK)
        for (int64_t j = first; j < c->n && j < first + BLOCK; j++)
            for (int64_t i = begin; i < end && i < j; i++) row_of(c, j)[i] = row_of(c, i)[j];
}

static void load_block(void *argument, int thread, int64_t k) {
    const clusters *c = argument;
    const gcor_range rows = gcor_block(c->n, BLOCK, k);
    (void)thread;
    if (gcor_stop(c->context)) return;
    for (int64_t i = rows.from; i < rows.end; i++) {
        row_of(c, i)[i] = NAN;
        (void)gcor_hclust_row(c->job, c->context, i, row_of(c, i) + i + 1);
    }
    mirror_block(c, rows.from, rows.end);
}

/* Memory is prefaulted because the first block's columns are on all pages. */
static gcor_status load(clusters *c, const gcor_buffer *square) {
    if (!square->is_recycled) gcor_prefault(c->context, square->at, c->n * c->n * (int64_t)sizeof(float));
    gcor_for_each(c->context->threads, gcor_blocks(c->n, BLOCK), load_block, c);
    return c->context->error.status;
}

/* ---- nearest neighbours ------------------------------------------------------------------------ */

typedef float floats __attribute__((vector_size(16), may_alias));
typedef int32_t integers __attribute__((vector_size(16), may_alias));

/* Replaces elements of low by smaller distances to clusters, not to parts of them. */
static inline floats smaller(floats low, const float *distance, const int32_t *size) {
    floats d;
    integers n;
    memcpy(&d, distance, sizeof d);
    memcpy(&n, size, sizeof n);
    integers take = (n > 0) & (d < low);
    return (floats)(((integers)d & take) | ((integers)low & ~take));
}

/* Returns the smallest of n distances to clusters of those sizes, or infinity. The loop runs at the memory's speed only
 * with several vectors of minima, which compilers do not make of a plain loop. */
static float smallest(const float *distance, const int32_t *size, int64_t n) {
    enum { LANES = 4, STEP = 4 * LANES };
    const floats none = {INFINITY, INFINITY, INFINITY, INFINITY};
    floats low[] = {none, none, none, none};
    int64_t k = 0;
    for (; k + STEP <= n; k += STEP) {
        const float *d = distance + k;
        const int32_t *s = size + k;
        low[0] = smaller(low[0], d, s);
        low[1] = smaller(low[1], d + LANES, s + LANES);
        low[2] = smaller(low[2], d + 2 * LANES, s + 2 * LANES);
        low[3] = smaller(low[3], d + 3 * LANES, s + 3 * LANES);
    }
    float least = INFINITY;
    for (int l = 0; l < STEP; l++) least = fminf(least, low[l / LANES][l % LANES]);
    for (; k < n; k++)
        if (size[k] > 0 && distance[k] < least) least = distance[k];
    return least;
}

/* Returns the nearest cluster, of equally near ones the first, and its distance; -1: there is none. */
static int64_t nearest(const clusters *c, const float *distance, float *low) {
    enum { PART = 1024 }; /* the part with the minimum is searched again */
    int64_t part = 0;
    *low = INFINITY;
    for (int64_t k = 0; k < c->n; k += PART) {
        float found = smallest(distance + k, c->size + k, gcor_min(PART, c->n - k));
        if (found < *low) {
            *low = found;
            part = k;
        }
    }
    for (int64_t k = part; k < c->n; k++)
        if (c->size[k] > 0 && distance[k] == *low) return k;
    return -1;
}

/* ---- merges ------------------------------------------------------------------------------------- */

static void merge(const clusters *c, int64_t a, int64_t b) {
    float *row_a = row_of(c, a), *row_b = row_of(c, b);
    const gcor_parts parts = gcor_parts_of(c->job->linkage, c->size[a], c->size[b], row_a[b]);
    c->size[b] += c->size[a];
    c->size[a] = 0;
    for (int64_t k = 0; k < c->n; k++) {
        if (c->size[k] == 0 || k == b) continue;
        row_b[k] = gcor_merged_distance(&parts, row_a[k], row_b[k], c->size[k]);
        row_of(c, k)[b] = row_b[k];
    }
}

static void add_merge(const clusters *c, int64_t k, int64_t a, int64_t b, float height) {
    c->job->merges[k] = (gcor_merge){(int32_t)a, (int32_t)b, height};
    c->context->monitor->pairs_done++;
}

/* A chain of clusters each of which is nearest to the one before, until two are nearest to each other. Of equally near
 * clusters the one before comes first, so that distances along the chain fall. */
static gcor_status merge_chains(const clusters *c, int32_t *chain) {
    int64_t length = 0, first = 0;
    for (int64_t k = 0; k < c->n - 1; k++) {
        int64_t a, b;
        float low;
        while (c->size[first] == 0) first++;
        if (length == 0) chain[length++] = (int32_t)first;
        for (;;) {
            if (gcor_stop(c->context)) return c->context->error.status;
            a = chain[length - 1];
            b = nearest(c, row_of(c, a), &low);
            if (b < 0) return gcor_hclust_overflow(c->context);
            if (length > 1 && row_of(c, a)[chain[length - 2]] == low) break;
            chain[length++] = (int32_t)b;
        }
        b = chain[length - 2];
        length -= 2;
        merge(c, gcor_min(a, b), gcor_max(a, b));
        add_merge(c, k, a, b, low);
    }
    return GCOR_OK;
}

/* Each leaf is joined to the leaf that joined before it: with single linkage the tree is the same as by the edge of the
 * spanning tree, which has the same length. near: the distances to the leaves that have joined. */
static gcor_status merge_single(const clusters *c, float *near) {
    int64_t last = 0;
    for (int64_t k = 0; k < c->n; k++) near[k] = INFINITY;
    for (int64_t k = 0; k < c->n - 1; k++) {
        const float *row = row_of(c, last);
        float low;
        if (gcor_stop(c->context)) return c->context->error.status;
        c->size[last] = 0;
        for (int64_t l = 0; l < c->n; l++) near[l] = row[l] < near[l] ? row[l] : near[l];
        int64_t next = nearest(c, near, &low);
        add_merge(c, k, last, next, low);
        last = next;
    }
    return GCOR_OK;
}

gcor_status cpu_cluster(gcor_state *state, gcor_context *context, const gcor_hclust *job) {
    const char *what = "the distances of clusters";
    (void)state;
    gcor_buffer square = gcor_buffer_take(context, job->n * job->n * (int64_t)sizeof(float), what);
    clusters c = {job, context, job->n, square.at, gcor_alloc(context, job->n, sizeof(int32_t), what)};
    void *scratch = gcor_alloc(context, job->n, sizeof(int32_t), what);
    gcor_status status = context->error.status;
    for (int64_t k = 0; c.size && k < c.n; k++) c.size[k] = 1;
    if (!status) status = load(&c, &square);
    if (!status) status = job->linkage == GCOR_LINK_SINGLE ? merge_single(&c, scratch) : merge_chains(&c, scratch);
    gcor_free(scratch);
    gcor_free(c.size);
    gcor_buffer_give(&square);
    return status;
}
