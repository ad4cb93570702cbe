/* The CPU back end: what its files share. OpenMP over columns and over blocks of a tile.
 *
 *   prepare.c           columns -> operand
 *   product.c           a tile: its variables opened in slivers, its blocks multiplied and handed to the sink
 *     real.c sign.c       what that means for real numbers and for signs
 *     kernels.c           the inner loops (kernels.h), written in kernel_real.h, kernel_sign.h and isa.h for each
 *                         instruction set_*.h
 *   kendall.c           a tile of signs pair by pair, where that is cheaper
 *     knight.c levels.c   by sorting, and by a table of levels
 *   pairwise.c          a tile of pairs that have observations of their own, but for signs
 *   overlap.c           the product of adjacencies (engine/overlap.h) */
#ifndef GPUCOR_CPU_H
#define GPUCOR_CPU_H

#include "../gpucor.h"
#include "kernels.h"

/* n_obs values per variable, by kind; the rest are NULL. */
typedef struct {
    gcor_operand head;
    const gcor_measure *measure;
    const gcor_design *design; /* the run's, which is there as long */
    const cpu_kernels *kernels;
    float *columns;        /* REAL: scaled values or scores; SIGN, SIGN_COMMON: scores (NaN: missing) */
    int64_t stride;        /* from one of these to the next: n_obs; REAL: up to CPU_PADDING more, zeros */
    double *inverse;       /* REAL: one over a column's length; NaN where it has no coefficients */
    float *scale;          /* the same */
    double *values;        /* DOUBLE: scaled values or scores; REAL_COMMON, PAIR_COMMON: values, NaN: missing */
    int32_t *order;        /* RANK_COMMON: the rows of the values present, ascending by value */
    int32_t *begin, *end;  /* RANK_COMMON: the value's run of ties in that order, -1: missing */
    int64_t *n_present;    /* RANK_COMMON: per variable */
    unsigned char *levels; /* SIGN, SIGN_COMMON: how many distinct values, 0: more than CPU_LEVELS */
    char *packed;          /* all variables in slivers, opened by a product's ... */
    const void *packed_as; /* ... open(), for sinks to which operands come in turns; NULL: not yet */
} cpu_operand;

/* A whole sliver may go beyond the last variable; it then has that one again, and nobody asks for the sums. */
static inline int64_t cpu_at_most_last(const cpu_operand *o, int64_t var) {
    int64_t last = o->head.first + o->head.n_var - 1;
    return var < last ? var : last;
}

/* Memory kept between tiles. */
typedef struct {
    void *at;
    int64_t bytes;
} cpu_scratch;

/* Variables of an operand, opened in slivers from number `first` on. */
typedef struct {
    const cpu_operand *of; /* NULL: none */
    int64_t first, n_var;
    int planes;
    cpu_scratch memory;
} cpu_slivers;

struct gcor_state {
    gcor_context *context;
    gcor_sink *sink;
    const cpu_kernels *kernels;
    cpu_slivers rows, cols; /* of a tile */
    cpu_scratch sums, work;
    cpu_scratch row_levels, col_levels;
};

/* prepare.c */
gcor_status cpu_prepare(gcor_state *state, const gcor_columns *columns, const gcor_measure *measure, gcor_kind kind,
                        int64_t first, int64_t n_var, gcor_operand **operand);
void cpu_release(gcor_state *state, gcor_operand *operand);
int64_t cpu_column_bytes(const gcor_state *state, gcor_kind kind, int64_t n_obs);

/* block.c. Room for count things of `size` bytes, contents undefined; NULL after an error. */
void *cpu_reserve(gcor_context *context, cpu_scratch *scratch, int64_t count, size_t size);

/* Give the room back if it is more than that many bytes; 0: in any case. */
void cpu_trim(cpu_scratch *scratch, int64_t max);

/* The tile's block number b, from 0; cpu_blocks() of them, some without a pair that counts. */
int64_t cpu_blocks(const gcor_tile *tile);
gcor_tile cpu_block(const gcor_tile *tile, int64_t b);
/* Whether a part of a tile has none of the pairs that count. */
int cpu_is_outside(const gcor_state *state, const gcor_tile *part);

/* Hand over n consecutive coefficients of a row, from the segment's row and column on. */
void cpu_deliver(gcor_state *state, int thread, gcor_segment segment);

/* A product of variables of `length` elements: slivers of them are opened, a slice of elements at a time, so that
 * memory is bounded. A sliver of `planes` planes of a slice each, one after the other, is laid out as in kernels.h. */
typedef struct cpu_product cpu_product;
struct cpu_product {
    int64_t length, slice;
    int64_t element, sum_bytes; /* of an element; of a sum, 0: the same */
    int64_t chunk;              /* elements at a time that stay in the cache, 0: as many as is usual */
    int planes, sums;           /* of a variable; of a pair, CPU_BLOCK_PAIRS apart */
    int keeps;                  /* slivers of all variables are no larger than the operand: they may stay with it */
    int64_t turn;               /* of operands in turns, the one it is of */
    cpu_sign_mode mode;
    int64_t work_bytes; /* that open() wants, for each thread */

    /* Write elements first .. first+n-1 of variables `var` and following, one sliver of them. Any thread. */
    void (*open)(const gcor_state *state, const cpu_product *product, const cpu_operand *operand, int64_t var,
                 int64_t first, int64_t n, char *sliver, void *work);
    /* Multiply n elements of CPU_KERNEL_ROWS variables and of a sliver, which begin there. Any thread. */
    void (*multiply)(const gcor_state *state, const cpu_product *product, char *rows, char *cols, int64_t n, int add,
                     void *sums);
    /* Hand a block's sums, which it may overwrite, to the sink. Any thread. */
    void (*deliver)(gcor_state *state, const cpu_product *product, int thread, const cpu_operand *rows,
                    const cpu_operand *cols, const gcor_tile *block, void *sums);
};

/* Elements of a sliver that are opened at a time: REAL operands of more are not kept open. */
enum { CPU_SLICE = 2048 };

/* product.c */
gcor_status cpu_multiply_slivers(gcor_state *state, const cpu_product *product, const cpu_operand *rows,
                                 const cpu_operand *cols, const gcor_tile *tile);

/* Of n products that stay open, and operands of each, in turns: gcor_backend's multiply_in_turns(), but for the
 * beginning and the end of the tile. */
gcor_status cpu_multiply_slivers_in_turns(gcor_state *state, const cpu_product *products,
                                          const cpu_operand *const *rows, const cpu_operand *const *cols, int64_t n,
                                          const gcor_tile *tile);

/* real.c: gcor_backend's multiply_in_turns(), pairs() and fetch(). */
gcor_status cpu_multiply_in_turns(gcor_state *state, const gcor_operand *const *rows, const gcor_operand *const *cols,
                                  int64_t n, const gcor_tile *tile);
void cpu_pairs(const gcor_operand *const *rows, const gcor_operand *const *cols, int64_t sets, int64_t row, int64_t col,
               const int32_t *k, int64_t n, double *r);

void cpu_fetch(const gcor_operand *const *rows, const gcor_operand *const *cols, int64_t sets, int64_t row, int64_t col,
               const int32_t *k, int64_t n);

/* overlap.c: gcor_backend's functions of these names. */
gcor_status cpu_overlap(gcor_state *state, const gcor_adjacency *rows, const gcor_adjacency *cols,
                        const gcor_tile *tile);
int64_t cpu_overlap_side(int64_t n_var);
int64_t cpu_overlap_memory(int64_t n_var);
gcor_status cpu_plan_overlap(gcor_state *state, gcor_context *context, int64_t n_var, gcor_overlap_plan *plan);

/* kendall.c: whether a tile of signs is sooner done by cpu_multiply_by_pairs() than by planes of that mode. */
int cpu_is_cheaper_by_pairs(const gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                            const gcor_tile *tile, cpu_sign_mode mode);

/* One for each kind of operand; real.c, sign.c, kendall.c, pairwise.c. */
gcor_status cpu_multiply_real(gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                              const gcor_tile *tile);
gcor_status cpu_multiply_sign(gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                              const gcor_tile *tile);
gcor_status cpu_multiply_by_pairs(gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                                  const gcor_tile *tile);
gcor_status cpu_multiply_pairwise(gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                                  const gcor_tile *tile);

#endif
