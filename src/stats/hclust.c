#include "hclust.h"

#include "../base/alloc.h"

#include <math.h>
#include <stdlib.h>

/* ---- distances -------------------------------------------------------------------------- */

gcor_status gcor_hclust_row(const gcor_hclust *job, gcor_context *context, int64_t i, float *row) {
    enum { PIECE = 1024 };
    double scratch[PIECE];
    int64_t n = job->n - 1 - i;
    int is_missing = 0;
    for (int64_t from = 0; from < n; from += PIECE) {
        int64_t count = gcor_min(PIECE, n - from);
        const double *value = gcor_read_values(&job->distances, gcor_row_position(i, i + 1 + from, job->n), count,
                                               scratch);
        for (int64_t k = 0; k < count; k++) {
            double distance = job->is_similarity ? 1 - value[k] : value[k];
            is_missing |= distance != distance;
            row[from + k] = (float)(job->linkage == GCOR_LINK_WARD_D2 ? distance * distance : distance - job->origin);
        }
    }
    if (!is_missing) return GCOR_OK;
    int64_t j = 0;
    while (row[j] == row[j]) j++;
    return gcor_fail(context, GCOR_BAD_INPUT,
                     "'d' has no distance between items %.0f and %.0f; leave out items with missing distances",
                     (double)i + 1, (double)(i + 2 + j));
}

gcor_status gcor_hclust_overflow(gcor_context *context) {
    return gcor_fail(context, GCOR_BAD_INPUT,
                     "Ward's method needs finite distances, of which sums of squares stay below 3e38; divide them by "
                     "their largest, or use method = \"average\"");
}

/* ---- the tree ---------------------------------------------------------------------------- */

/* The state of numbering merges in the order of heights. */
typedef struct {
    int64_t n;
    int32_t *parent;  /* n: of leaves, towards the leaf that stands for the cluster */
    int *label;       /* n: of that leaf: -(leaf + 1), or the number of the merge that made the cluster, from 1 */
    int *size;        /* n - 1: of merges */
    uint64_t *sorted; /* n - 1: heights and positions of merges, ascending */
} tree;

static int compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int32_t representative(const tree *t, int32_t leaf) {
    while (t->parent[leaf] != leaf) {
        t->parent[leaf] = t->parent[t->parent[leaf]];
        leaf = t->parent[leaf];
    }
    return leaf;
}

static int size_of(const tree *t, int label) {
    return label < 0 ? 1 : t->size[label - 1];
}

/* R puts leaves before clusters, leaves by their number and clusters by that of their merge. */
static void number_merges(const gcor_hclust *job, tree *t, int *merge, double *height) {
    int64_t n = job->n - 1;
    for (int32_t leaf = 0; leaf < job->n; leaf++) {
        t->parent[leaf] = leaf;
        t->label[leaf] = -(leaf + 1);
    }
    for (int64_t k = 0; k < n; k++) {
        const gcor_merge *m = &job->merges[t->sorted[k] & UINT32_MAX];
        int32_t a = representative(t, m->a), b = representative(t, m->b);
        int one = t->label[a], other = t->label[b], in_order = one < 0 && other < 0 ? one > other : one < other;
        merge[k] = in_order ? one : other;
        merge[n + k] = in_order ? other : one;
        height[k] = job->linkage == GCOR_LINK_WARD_D2 ? sqrt((double)m->height) : job->origin + m->height;
        t->size[k] = size_of(t, merge[k]) + size_of(t, merge[n + k]);
        t->parent[a] = b;
        t->label[b] = (int)k + 1;
    }
}

/* A merge's leaves are consecutive, those of its first part before those of its second one. t->label: the position of
 * the first leaf of each merge. */
static void order_leaves(const tree *t, const int *merge, int *order) {
    int64_t n = t->n - 1;
    int *begin = t->label;
    begin[n - 1] = 0;
    for (int64_t k = n - 1; k >= 0; k--) {
        int at = begin[k];
        for (int part = 0; part < 2; part++) {
            int label = merge[part * n + k];
            if (label < 0)
                order[at] = -label;
            else
                begin[label - 1] = at;
            at += size_of(t, label);
        }
    }
}

gcor_status gcor_hclust_tree(const gcor_hclust *job, gcor_context *context, int *merge, double *height, int *order) {
    const char *what = "the tree";
    tree t = {.n = job->n,
              .parent = gcor_alloc(context, job->n, sizeof *t.parent, what),
              .label = gcor_alloc(context, job->n, sizeof *t.label, what),
              .size = gcor_alloc(context, job->n, sizeof *t.size, what),
              .sorted = gcor_alloc(context, job->n, sizeof *t.sorted, what)};
    if (t.parent && t.label && t.size && t.sorted) {
        /* Positions make the keys unique, so that any sort is stable. */
        for (int64_t k = 0; k < job->n - 1; k++)
            t.sorted[k] = (uint64_t)gcor_distance_key(job->merges[k].height) << 32 | (uint64_t)k;
        qsort(t.sorted, (size_t)(job->n - 1), sizeof *t.sorted, compare);
        number_merges(job, &t, merge, height);
        order_leaves(&t, merge, order);
    }
    gcor_free(t.parent);
    gcor_free(t.label);
    gcor_free(t.size);
    gcor_free(t.sorted);
    return context->error.status;
}
