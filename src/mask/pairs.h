/* Which pairs count, by what is known of their variables: labels, and places. Variables are put in an order in which
 * those that are alike are next to one another, so that most tiles have all of their pairs or none. */
#ifndef GPUCOR_PAIRS_H
#define GPUCOR_PAIRS_H

#include "../source/source.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    GCOR_WITHIN,  /* of the same label */
    GCOR_BETWEEN, /* of different labels */
    GCOR_NEARER,  /* of the same label, and at most so far from one another */
    GCOR_FARTHER  /* of different labels, or farther from one another */
} gcor_relation;

enum { GCOR_MAX_DIMS = 3 };

/* As many variables, from a multiple on, are looked at together: smaller parts of a tile are not told apart. */
enum { GCOR_PAIR_BLOCK = 64 };

/* What is known of one side's variables. Borrowed. */
typedef struct {
    const int32_t *label;   /* n_var; below 0: in no pair. NULL: all have the same */
    const double *position; /* n_var x dims, a variable's one after the other, NaN: in no pair. NULL: dims is 0 */
} gcor_traits;

struct gcor_pair_rule {
    gcor_relation relation;
    int dims; /* 0 to GCOR_MAX_DIMS */
    double distance;
    gcor_traits x, y; /* y: not looked at where there is none */
};

/* How many pairs of a tile count. */
typedef enum { GCOR_NO_PAIR, GCOR_SOME_PAIRS, GCOR_ALL_PAIRS } gcor_extent;

/* Of n_row variables of y, or again of x, and n_col of x. reorder_rows, reorder_cols: whether variables may be put in
 * another order; with GCOR_FULL only the two may differ. *pairs is the caller's, to end with gcor_pairs_free(); NULL
 * after an error. The rule is not needed any more. */
gcor_status gcor_pairs_new(gcor_context *context, const gcor_pair_rule *rule, gcor_shape shape, int64_t n_row,
                           int64_t n_col, int reorder_rows, int reorder_cols, gcor_pairs **pairs);
void gcor_pairs_free(gcor_pairs *pairs); /* NULL is allowed */

/* The variable that stands at each place of the order; NULL: they stand as they were. */
const int32_t *gcor_pairs_rows(const gcor_pairs *pairs);
const int32_t *gcor_pairs_cols(const gcor_pairs *pairs);

/* What follows has places in that order. Any thread. */

/* ALL and NO are certain, SOME may be either. Of the tile's pairs by the shape. */
gcor_extent gcor_pairs_of_tile(const gcor_pairs *pairs, const gcor_tile *tile);
/* The least part of the tile, cut at multiples of GCOR_PAIR_BLOCK, that has all of its pairs that count. It may be
 * empty, and it may have no pair by the shape. */
gcor_tile gcor_pairs_shrink(const gcor_pairs *pairs, const gcor_tile *tile);
/* Of pairs (row, col) .. (row, col+n-1): counts[k] 1 or 0. Returns how many count. */
int64_t gcor_pairs_of_row(const gcor_pairs *pairs, int64_t row, int64_t col, int64_t n, unsigned char *counts);
/* How many there are in all. Uses context->threads threads. */
int64_t gcor_pairs_count(const gcor_pairs *pairs, gcor_context *context);

/* pair_order.c: an order of variables in which those of one label, and within it those near one another, are neighbors.
 * *number: the variable at each position, the caller's, to free with gcor_free(); NULL if the variables keep their
 * order, and after an error. The same on every machine. */
gcor_status gcor_order_of(gcor_context *context, const gcor_traits *traits, int dims, int64_t n_var, int32_t **number);

#ifdef __cplusplus
}
#endif
#endif
