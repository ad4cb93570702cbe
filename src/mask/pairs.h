/* The pair mask: which pairs to compute, by labels and coordinates of the variables. Variables are reordered so that
 * similar ones are adjacent; then most tiles have all of their pairs in the mask, or none. */
#pragma once

#include "../source/source.h"

typedef enum {
    GCOR_WITHIN,  /* same label */
    GCOR_BETWEEN, /* different labels */
    GCOR_NEARER,  /* same label, and distance at most `distance` */
    GCOR_FARTHER  /* different labels, or distance above `distance` */
} gcor_relation;

enum { GCOR_MAX_DIMS = 3 };

/* The mask is decided for blocks of this many variables, beginning at multiples of it; smaller parts of a tile are
 * not distinguished. */
enum { GCOR_PAIR_BLOCK = 64 };

/* Labels and coordinates of one side's variables. Borrowed. */
typedef struct {
    const int32_t *label; /* n_var; negative: the variable is in no pair. NULL: all have the same label */
    const double
        *position; /* n_var x dims, one variable after the other; NaN: the variable is in no pair. NULL if dims is 0 */
} gcor_traits;

struct gcor_pair_rule {
    gcor_relation relation;
    int dims; /* 0 to GCOR_MAX_DIMS */
    double distance;
    gcor_traits x, y; /* y is unused if there is no second matrix */
};

/* How many of a tile's pairs are in the mask. */
typedef enum { GCOR_NO_PAIR, GCOR_SOME_PAIRS, GCOR_ALL_PAIRS } gcor_extent;

/* Creates the mask for n_row variables of y (or of x again) and n_col variables of x. reorder_rows, reorder_cols:
 * whether variables may be reordered; they may differ only with GCOR_FULL. *pairs is the caller's, to free with
 * gcor_pairs_free(); NULL after an error. The rule is not used afterwards. */
gcor_status gcor_pairs_new(gcor_context *context, const gcor_pair_rule *rule, gcor_shape shape, int64_t n_row,
                           int64_t n_col, int reorder_rows, int reorder_cols, gcor_pairs **pairs);
void gcor_pairs_free(gcor_pairs *pairs); /* NULL is allowed */

/* Element k is the variable at position k of the order; NULL: the order is unchanged. Owned by the mask. */
const int32_t *gcor_pairs_rows(const gcor_pairs *pairs);
const int32_t *gcor_pairs_cols(const gcor_pairs *pairs);

/* The functions below take positions in that order. Any thread may call them. */

/* Classifies a tile's pairs of the shape. GCOR_ALL_PAIRS and GCOR_NO_PAIR are certain, GCOR_SOME_PAIRS may be
 * either. */
gcor_extent gcor_pairs_of_tile(const gcor_pairs *pairs, const gcor_tile *tile);
/* Returns the smallest part of the tile, cut at multiples of GCOR_PAIR_BLOCK, that contains all of its pairs in the
 * mask. It may be empty or have no pair of the shape. */
gcor_tile gcor_pairs_shrink(const gcor_pairs *pairs, const gcor_tile *tile);
/* Sets counts[k] to 1 if pair (row, col+k) is in the mask, otherwise to 0, for k < n. Returns the number of ones. */
int64_t gcor_pairs_of_row(const gcor_pairs *pairs, int64_t row, int64_t col, int64_t n, unsigned char *counts);
/* Number of pairs in the mask. Uses context->threads threads. */
int64_t gcor_pairs_count(const gcor_pairs *pairs, gcor_context *context);

/* pair_order.c: an order of variables in which those of one label, and within it those near one another, are neighbors.
 * *number: the variable at each position, the caller's, to free with gcor_free(); NULL if the variables keep their
 * order, and after an error. The same on every machine. */
gcor_status gcor_order_of(gcor_context *context, const gcor_traits *traits, int dims, int64_t n_var, int32_t **number);

/* ---- filter.c ---------------------------------------------------------------------------------------------- */

/* A sink between a back end and another sink that applies the pair mask: values of pairs outside of the mask are
 * replaced by NaN, which is no coefficient. */
typedef struct {
    gcor_sink sink;     /* must be first; its `pairs` is the mask */
    gcor_extent extent; /* of the current tile */
} gcor_filter;

/* Both are borrowed and must outlive the filter, which is not freed; forks own their sink. */
gcor_filter gcor_filter_of(gcor_sink *of, const gcor_pairs *pairs);
