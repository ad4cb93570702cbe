/* Hierarchical clustering: the distances of a merged cluster (Lance and Williams), and the tree of all merges. A
 * cluster's index is that of its largest leaf, and the size of a cluster is its number of leaves.
 *
 * Distances are floats. They are averaged in double and rounded once, so that the new distance is not below both of
 * those it is made of: the chains of nearest neighbours of cpu/hclust.c and cuda/hclust.cu rely on it, and both give
 * the same bytes. Distances 1 - r are kept as differences from 1, which are -r to the last bit; every linkage but
 * ward.D2 gives the same tree of differences. */
#pragma once

#include "../base/triangle.h"
#include "../measure/compact.h"

#include <string.h>

GCOR_BEGIN_C

typedef enum {
    GCOR_LINK_AVERAGE,
    GCOR_LINK_COMPLETE,
    GCOR_LINK_SINGLE,
    GCOR_LINK_MCQUITTY,
    GCOR_LINK_WARD_D,
    GCOR_LINK_WARD_D2 /* ward.D of squared distances; heights are square roots */
} gcor_linkage;

/* Clusters a and b become cluster max(a, b). */
typedef struct {
    int32_t a, b;
    float height;
} gcor_merge;

typedef struct gcor_hclust {
    gcor_linkage linkage;
    int64_t n;             /* leaves, at least 2 */
    gcor_values distances; /* of all pairs, in the order of `dist` */
    int is_similarity;     /* the values are similarities: 1 - value is the distance */
    double origin;         /* differences from it are kept; 0 for ward.D2 */
    gcor_merge *merges;    /* n - 1, the caller's: written by the back end. A cluster's merge follows those of its
                            * parts, and its height is not below theirs */
} gcor_hclust;

/* Write the distances of leaf i to leaves i + 1 .. n - 1 as they are kept; those of ward.D2 are squared. A missing
 * distance is an error. Any thread. */
gcor_status gcor_hclust_row(const gcor_hclust *job, gcor_context *context, int64_t i, float *row);

/* Write the tree of the job's merges as R's hclust() does: merge: 2 (n - 1), by column; height: n - 1; order: n. Merges
 * of equal height stay in their order. */
gcor_status gcor_hclust_tree(const gcor_hclust *job, gcor_context *context, int *merge, double *height, int *order);

/* The error of a linkage whose arithmetic gave NaN. */
gcor_status gcor_hclust_overflow(gcor_context *context);

/* ---- clusters of a tree ----------------------------------------------------------------- */

/* What cuts a tree into clusters by the shape of its branches: "dynamic hybrid" (Langfelder, Zhang and Horvath 2008),
 * with the names of package dynamicTreeCut. stats/branches.c has the definition. */
typedef struct {
    int64_t n;             /* leaves, at least 2 */
    gcor_values distances; /* as in gcor_hclust; not NaN */
    int is_similarity;
    const int *merge; /* the tree, as R's hclust() has it, with ascending heights */
    const double *height;
    double cut_height; /* merges above it are not followed */
    double min_size;   /* of a cluster */
    double max_core_scatter, min_gap, min_split_height;
    int is_pam; /* leaves without a cluster go to the nearest one, if it is near enough: */
    double max_pam_distance;
    int respects_tree;  /* to one on their own branch */
    int respects_small; /* leaves of a branch that is only too small go together */
} gcor_cut;

/* Writes the cluster of each leaf, from 1, the largest, and 0: none. */
gcor_status gcor_cut_tree(const gcor_cut *cut, gcor_context *context, int *label);

/* ---- one merge ------------------------------------------------------------------------ */

/* What the distances to a merged cluster depend on. */
typedef struct {
    gcor_linkage linkage;
    double a, b;    /* average: fractions of the leaves; Ward: sizes */
    double between; /* distance between the two parts */
} gcor_parts;

GCOR_INLINE gcor_parts gcor_parts_of(gcor_linkage linkage, int32_t size_a, int32_t size_b, float between) {
    gcor_parts parts = {linkage, (double)size_a, (double)size_b, (double)between};
    if (linkage == GCOR_LINK_AVERAGE) {
        double both = parts.a + parts.b;
        parts.a /= both;
        parts.b /= both;
    }
    return parts;
}

/* Returns the distance between the merged cluster and one of `size` leaves that is a and b away from its parts. */
GCOR_INLINE float gcor_merged_distance(const gcor_parts *parts, float a, float b, int32_t size) {
    double s = (double)size;
    switch (parts->linkage) {
    case GCOR_LINK_COMPLETE: return a > b ? a : b;
    case GCOR_LINK_AVERAGE: return (float)(parts->a * a + parts->b * b);
    case GCOR_LINK_MCQUITTY: return (float)(0.5 * ((double)a + b));
    default: return (float)(((parts->a + s) * a + (parts->b + s) * b - s * parts->between) / (parts->a + parts->b + s));
    }
}

/* Returns an integer in the order of distances, which are not NaN; 0 and -0 are equal. */
GCOR_INLINE uint32_t gcor_distance_key(float distance) {
    uint32_t bits;
    distance += 0.0f;
    memcpy(&bits, &distance, sizeof bits);
    return bits >> 31 ? ~bits : bits | (uint32_t)1 << 31;
}

GCOR_END_C
