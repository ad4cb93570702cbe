/* Hierarchical clustering on the CPU: chains of nearest neighbours, and for single linkage Prim's minimum spanning tree
 * (Muellner 2013). Each distance is stored once, as a float, with the clusters before it: a merged cluster has its
 * largest leaf's index, so that most of its distances are contiguous. */
#include "cpu.h"

#include "../base/alloc.h"
#include "../base/threads.h"
#include "../stats/hclust.h"

#include <math.h>
#include <string.h>

/* BLOCK: rows that a thread stores at a time. CACHED: rows at hand. LOADERS: max number of threads that load. AHEAD:
 * how many distances later one is asked for that is on a cache line of its own; more are then on their way. */
enum { NONE = -1, BLOCK = 64, CACHED = 64, LOADERS = 8, AHEAD = 64 };

typedef struct {
    const gcor_hclust *job;
    gcor_context *context;
    int64_t n;
    float *distance;       /* of all pairs, by gcor_column_position(); undefined where a cluster has become a part */
    float *rows;           /* CACHED n: all distances of the clusters used last; for load(), BLOCK n for each thread */
    int32_t owner[CACHED]; /* of a row, or NONE */
    int64_t used[CACHED], clock;
    int32_t *size; /* n: of clusters; 0: part of another one */
    int32_t *live; /* the clusters that are not, ascending */
    int64_t n_live;
} clusters;

/* Returns the distances of a cluster from those before it. */
static float *distances_before(const clusters *c, int64_t cluster) {
    return c->distance + gcor_triangular(cluster - 1);
}

/* ---- distances ------------------------------------------------------------------------------- */

static void load_block(void *argument, int thread, int64_t from, int64_t end) {
    const clusters *c = argument;
    float *block = c->rows + thread * BLOCK * c->n;
    if (gcor_stop(c->context)) return;
    for (int64_t i = from; i < end; i++)
        (void)gcor_hclust_row(c->job, c->context, i, block + (i - from) * c->n + i + 1);
    for (int64_t j = from + 1; j < c->n; j++) {
        float *to = distances_before(c, j);
        for (int64_t i = from; i < end && i < j; i++) to[i] = block[(i - from) * c->n + j];
    }
}

static int loaders(const gcor_context *context) {
    return (int)gcor_min(context->threads, LOADERS);
}

static gcor_status load(clusters *c, const gcor_buffer *triangle) {
    const int64_t bytes = gcor_triangular(c->n - 1) * (int64_t)sizeof(float);
    int64_t begun = triangle->is_recycled ? INT64_MAX : 0;
    gcor_prefault(c->context, triangle->at, bytes, &begun);
    gcor_for_blocks(loaders(c->context), c->n, BLOCK, load_block, c);
    for (int r = 0; r < CACHED; r++) c->owner[r] = NONE;
    return c->context->error.status;
}

/* Returns the number of live clusters up to this one. */
static int64_t count_live(const clusters *c, int64_t cluster) {
    int64_t from = 0, end = c->n_live;
    while (from < end) {
        const int64_t middle = (from + end) / 2;
        if (c->live[middle] <= cluster)
            from = middle + 1;
        else
            end = middle;
    }
    return from;
}

static void drop_live(clusters *c, int64_t cluster) {
    const int64_t end = count_live(c, cluster);
    memmove(c->live + end - 1, c->live + end, (size_t)(c->n_live - end) * sizeof *c->live);
    c->n_live--;
    c->size[cluster] = 0;
}

/* Writes the distances of a cluster from live ones, and NaN for itself. */
static void read_row(const clusters *c, int64_t cluster, float *row) {
    memcpy(row, distances_before(c, cluster), (size_t)cluster * sizeof *row);
    row[cluster] = NAN;
    for (int64_t l = count_live(c, cluster); l < c->n_live; l++) {
        __builtin_prefetch(distances_before(c, c->live[gcor_min(l + AHEAD, c->n_live - 1)]) + cluster, 0, 2);
        row[c->live[l]] = distances_before(c, c->live[l])[cluster];
    }
}

/* Returns the row of a cluster, which is valid until CACHED - 1 others are asked for. */
static float *row_of(clusters *c, int64_t cluster) {
    int oldest = 0, r = 0;
    for (; r < CACHED && c->owner[r] != cluster; r++)
        if (c->used[r] < c->used[oldest]) oldest = r;
    if (r == CACHED) {
        r = oldest;
        c->owner[r] = (int32_t)cluster;
        read_row(c, cluster, c->rows + r * c->n);
    }
    c->used[r] = ++c->clock;
    return c->rows + r * c->n;
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

/* Cluster a becomes a part of b, which comes after it. */
static void merge(clusters *c, int64_t a, int64_t b) {
    const float *row_a = row_of(c, a);
    float *row_b = row_of(c, b), *before = distances_before(c, b);
    const gcor_parts parts = gcor_parts_of(c->job->linkage, c->size[a], c->size[b], row_a[b]);
    c->size[b] += c->size[a];
    drop_live(c, a);
    for (int64_t l = 0; l < c->n_live; l++) {
        const int64_t k = c->live[l], ahead = c->live[gcor_min(l + AHEAD, c->n_live - 1)];
        if (ahead > b) __builtin_prefetch(distances_before(c, ahead) + b, 1, 2);
        if (k == b) continue;
        row_b[k] = gcor_merged_distance(&parts, row_a[k], row_b[k], c->size[k]);
        *(k < b ? before + k : distances_before(c, k) + b) = row_b[k];
    }
    for (int r = 0; r < CACHED; r++) {
        if (c->owner[r] == a) c->owner[r] = NONE;
        if (c->owner[r] != NONE && c->owner[r] != b) c->rows[r * c->n + b] = row_b[c->owner[r]];
    }
}

static void add_merge(const clusters *c, int64_t k, int64_t a, int64_t b, float height) {
    c->job->merges[k] = (gcor_merge){(int32_t)a, (int32_t)b, height};
    c->context->monitor->pairs_done++;
}

/* A chain of clusters each of which is nearest to the one before, until two are nearest to each other. Of equally near
 * clusters the one before comes first, so that distances along the chain fall. */
static gcor_status merge_chains(clusters *c, int32_t *chain) {
    int64_t length = 0;
    for (int64_t k = 0; k < c->n - 1; k++) {
        int64_t a, b;
        float low;
        if (length == 0) chain[length++] = c->live[0];
        for (;;) {
            if (gcor_stop(c->context)) return c->context->error.status;
            a = chain[length - 1];
            const float *row = row_of(c, a);
            b = nearest(c, row, &low);
            if (b < 0) return gcor_hclust_overflow(c->context);
            if (length > 1 && row[chain[length - 2]] == low) break;
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
static gcor_status merge_single(clusters *c) {
    float *row = c->rows, *near = c->rows + c->n;
    int64_t last = 0;
    for (int64_t k = 0; k < c->n; k++) near[k] = INFINITY;
    for (int64_t k = 0; k < c->n - 1; k++) {
        float low;
        if (gcor_stop(c->context)) return c->context->error.status;
        read_row(c, last, row);
        drop_live(c, last);
        for (int64_t l = 0; l < c->n; l++) near[l] = row[l] < near[l] ? row[l] : near[l];
        int64_t next = nearest(c, near, &low);
        add_merge(c, k, last, next, low);
        last = next;
    }
    return GCOR_OK;
}

gcor_status cpu_cluster(gcor_state *state, gcor_context *context, const gcor_hclust *job) {
    const char *what = "the distances of clusters";
    const int64_t n = job->n;
    gcor_buffer triangle = gcor_buffer_take(context, gcor_triangular(n - 1) * (int64_t)sizeof(float), what);
    float *rows = gcor_alloc(context, loaders(context) * BLOCK * n, sizeof *rows, what);
    int32_t *lists = gcor_alloc(context, 3 * n, sizeof *lists, what);
    gcor_status status = context->error.status;
    clusters c = {
        .job = job, .context = context, .n = n, .distance = triangle.at, .rows = rows, .size = lists, .n_live = n};
    if (!status) {
        c.live = lists + n;
        for (int64_t k = 0; k < n; k++) {
            c.size[k] = 1;
            c.live[k] = (int32_t)k;
        }
        status = load(&c, &triangle);
    }
    if (!status) status = job->linkage == GCOR_LINK_SINGLE ? merge_single(&c) : merge_chains(&c, lists + 2 * n);
    gcor_free(lists);
    gcor_free(rows);
    gcor_buffer_give(&triangle);
    return status;
}
