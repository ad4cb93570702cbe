/* Declarations shared by the files of the CPU back end. Columns, and the blocks of a tile, are divided among threads.
 *
 * - prepare.c makes an operand of columns.
 * - product.c computes a tile: packs its variables in micro-panels, computes its blocks, delivers them to the sink.
 * - real.c and sign.c have the products of real numbers, of signs and of bins.
 * - sparse.c and sparse_signs.c have columns and products of the entries of a sparse matrix.
 * - kendall.c computes a tile of signs pair by pair, if that is faster: by contingency tables, or by sorting
 *   (knight.c).
 * - pairwise.c computes a tile of pairwise-complete pairs, except for signs; bicor.c those of biweights, distance.c
 *   those of distances.
 * - overlap.c has the product of adjacencies (measure/overlap.h).
 * - kernels.h has the inner loops; base/isa.c finds those of an instruction set. Each set has a file isa_*.c, which
 *   defines its vectors (vectors.h) and includes the loops: kernels_of_isa.h, kernel_sign.h,
 *   kernel_pairs.h, and those of folders below; float_sums.h is for machines without fused multiply-add. */
#pragma once

#include "../gpucor.h"
#include "../measure/measure.h"
#include "../measure/pearson.h"
#include "../source/source.h"
#include "kernels.h"

/* ---- Kendall's tau-b pair by pair --------------------------------------------------------------- */

/* Cheaper than comparing all pairs of observations if there are few pairs of long columns, or columns with few levels.
 * The numerators are the same integers. */

/* The parts of tau-b: concordant minus discordant pairs of observations; pairs untied in x, and in y; number of
 * observations. */
typedef struct {
    int64_t numerator, untied_x, untied_y, n_obs;
} cpu_kendall;

/* ---- knight.c: by sorting, for any columns ------------------------------------------- */

/* A column with n_obs scores, and the indices of its observations in ascending order of score, without missing ones
 * (NaN). */
typedef struct {
    const float *score;
    int32_t *rows;
    int64_t n_present;
} cpu_sorted;

/* Bytes of scratch (`work`) for cpu_sort_column() and cpu_knight(). */
int64_t cpu_knight_bytes(int64_t n_obs);
/* Sorts a column by its scores, which are those of gcor_scores() (measure/measure.h). sorted->rows: the caller's,
 * n_obs. Any thread. */
void cpu_sort_column(const float *score, int64_t n_obs, void *work, cpu_sorted *sorted);
/* Tau-b's parts over the pairwise-complete observations. Any thread. */
cpu_kendall cpu_knight(const cpu_sorted *x, const float *y, void *work);

/* ---- kendall.c: by contingency tables, for columns with few levels ---------------------- */

enum { CPU_LEVELS = 16 }; /* max number of levels */

/* Level bitsets of a column, one bit per observation: those present, those above the lowest level, above the next,
 * ... */
typedef struct {
    const uint64_t *sets;
    int levels; /* 0: many */
} cpu_levels;

struct cpu_kernels;
/* Words of a bitset, padded to whole vectors. */
int64_t cpu_set_words(int64_t n_obs);
/* Writes the bitsets of a column with that many levels, one after the other. Any thread. */
void cpu_open_levels(const struct cpu_kernels *kernels, const float *score, int64_t n_obs, int levels, uint64_t *sets);
/* Tau-b's parts over the pairwise-complete observations. Any thread. */
cpu_kendall cpu_table(const struct cpu_kernels *kernels, const cpu_levels *x, const cpu_levels *y, int64_t n_obs);

/* ---- distances (distance.c) --------------------------------------------------------------------- */

/* Squared distance correlations of pairs, bias-corrected (measure/distance.c), without the distances of all pairs of
 * observations. */

/* Doubles of gcor_ordered.sums. */
static inline int64_t cpu_distance_sums(int64_t n_obs) {
    return 2 * n_obs + 2;
}

/* Coefficient of the pairwise-complete observations, or a value above 1 that says why there is none, as
 * gcor_coefficient(). work: gcor_distance_bytes(). Any thread. */
double cpu_distance_pair(const cpu_kernels *kernels, const gcor_ordered *x, const gcor_ordered *y, int64_t n_obs,
                         void *work);

/* ---- the back end -------------------------------------------------------------------------------- */

/* An operand: head.n_obs values per variable. The kind determines which arrays are used; the others are NULL. */
typedef struct {
    gcor_operand head;
    const gcor_measure *measure;
    const gcor_design *design; /* the run's, which outlives the operand */
    const cpu_kernels *kernels;
    float *columns;       /* REAL: scaled values or scores; SIGN, SIGN_COMMON: scores (NaN: missing) */
    int64_t stride;       /* elements between columns: n_obs; REAL: up to CPU_PADDING more, zeros; `scores`: up to
                           * CPU_RANK_PADDING more, missing */
    double *inverse;      /* REAL: one over a column's length; NaN where it has no coefficients */
    float *scale;         /* `inverse` as float */
    unsigned char *bytes; /* REAL, for a coarse sink: values in units of the column's step, plus 128; as `columns`;
                           * NULL: there are none */
    float *step, *lost;   /* with bytes: the step in units of the column's length, NaN without coefficients; the
                           * length of what rounding to steps loses, in the same units */
    double max_lost;      /* of all columns */
    double max_length;    /* with bytes: gcor_max_length() */
    double *values;       /* DOUBLE: scaled values or scores; GIVEN: coefficients; REAL_COMMON, PAIR_COMMON, DISTANCE,
                           * DISTANCE_COMMON: values, NaN: missing; REAL_SPARSE: the values of entries, less the
                           * column's value at all other observations */
    gcor_common_sums *common; /* REAL_COMMON: per variable */
    int64_t *start;           /* SPARSE: n_var + 1 starts of columns among the entries; REAL_COMMON: among `order` */
    double *mean; /* REAL_SPARSE: the sum of a column's entries over the root of n_obs; 0 if not centered; SIGN_SPARSE:
                   * the sum of their signs */
    int16_t *scores; /* RANK_COMMON: for cpu_kernels.ranks(); NULL: too many observations */
    int32_t *order; /* RANK_COMMON, PAIR_COMMON, DISTANCE, DISTANCE_COMMON: the rows of the values present, ascending by
                     * value; RANK_COMMON: then those of missing values; SPARSE: the observation of each entry,
                     * ascending within a column; REAL_COMMON: the same of missing values */
    int32_t *begin, *end;  /* RANK_COMMON: the value's run of ties in that order, -1: missing; SIGN_SPARSE: of each
                            * entry its level, counted from zero, and the column's entries below less those above */
    int64_t *n_present;    /* RANK_COMMON, PAIR_COMMON, DISTANCE, DISTANCE_COMMON: per variable; SIGN_SPARSE: the
                            * entries that are not zero, which come first */
    double *sums;          /* DISTANCE: cpu_distance_sums() per variable */
    unsigned char *levels; /* SIGN, SIGN_COMMON: how many distinct values, 0: more than CPU_LEVELS; BINNED,
                            * BINNED_COMMON: one above the last bin; SIGN_SPARSE: how many of them above zero, 0: too
                            * many, or some below */
    unsigned char *codes;  /* BINNED, BINNED_COMMON: the bin of each observation, GCOR_NO_BIN: missing */
    int n_bins;            /* BINNED, BINNED_COMMON: max of `levels` */
    int64_t *terms;        /* BINNED, BINNED_COMMON: n_obs + 1 terms of information, multiples of `unit` */
    int64_t *margin;       /* BINNED: per variable, the sum of the terms of its bins */
    double unit;           /* BINNED, BINNED_COMMON */
} cpu_operand;

/* Clamps a variable to the operand's last one. A micro-panel may extend beyond it; it then repeats that variable, whose
 * extra sums are not used. */
static inline int64_t cpu_at_most_last(const cpu_operand *o, int64_t var) {
    int64_t last = o->head.first + o->head.n_var - 1;
    return var < last ? var : last;
}

/* True for kinds of operands that cpu_distance_pair() takes; column j of one, from 0. */
static inline int cpu_is_ordered(gcor_kind kind) {
    return kind == GCOR_DISTANCE || kind == GCOR_DISTANCE_COMMON;
}
static inline gcor_ordered cpu_ordered_of(const cpu_operand *o, int64_t j) {
    const int64_t n = o->head.n_obs;
    return (gcor_ordered){o->values + j * n, o->order + j * n, o->n_present[j],
                          o->sums ? o->sums + j * cpu_distance_sums(n) : NULL};
}

/* Scratch memory that is kept between tiles. */
typedef struct {
    void *at;
    int64_t bytes;
} cpu_scratch;

/* Variables first .. first+n_var-1 of an operand, packed in micro-panels. */
typedef struct {
    const cpu_operand *of; /* NULL: none */
    int64_t first, n_var;
    int planes, is_bytes;
    cpu_scratch memory;
} cpu_packed;

struct gcor_state {
    gcor_context *context;
    gcor_sink *sink;
    const cpu_kernels *kernels;
    cpu_packed rows, cols; /* of the last tile */
    cpu_scratch sums, work;
    cpu_scratch row_levels, col_levels;
};

/* backend.c: the kernels for this processor; NULL after an error. Any thread. */
const cpu_kernels *cpu_find_kernels(gcor_context *context);

/* product.c: gcor_backend's memory(); NULL: outside of a run. */
int64_t cpu_memory(const gcor_state *state);

/* prepare.c */
gcor_status cpu_prepare(gcor_state *state, const gcor_columns *columns, const gcor_measure *measure, gcor_kind kind,
                        int64_t first, int64_t n_var, gcor_operand **operand);
void cpu_release(gcor_state *state, gcor_operand *operand);
int64_t cpu_column_bytes(const gcor_state *state, gcor_kind kind, int64_t n_obs);

/* product.c. Returns scratch for `count` items of `size` bytes, contents undefined; NULL after an error. */
void *cpu_reserve(gcor_context *context, cpu_scratch *scratch, int64_t count, size_t size);

/* Free the scratch if it is larger than `max` bytes; 0: in any case. */
void cpu_trim(cpu_scratch *scratch, int64_t max);

/* A tile has cpu_blocks() blocks; cpu_block() returns block b, from 0. Some blocks have no pair that counts. */
int64_t cpu_blocks(const gcor_tile *tile);
gcor_tile cpu_block(const gcor_tile *tile, int64_t b);
/* True if a part of a tile has no pair that counts. */
int cpu_is_outside(const gcor_state *state, const gcor_tile *part);

/* Deliver a segment to the run's sink; an error is in the context. */
void cpu_deliver(gcor_state *state, int thread, gcor_segment segment);

/* A product of variables that have `length` elements each. Micro-panels are packed one slice of elements at a time, to
 * bound memory. A micro-panel has `planes` consecutive planes per slice, in the layout of kernels.h. */
typedef struct cpu_product cpu_product;
struct cpu_product {
    int64_t length, slice;
    int64_t element, sum_bytes; /* bytes of an element; of a sum, 0: the same */
    int64_t chunk;              /* elements multiplied at a time, which stay in the cache; 0: the default */
    int planes, sums;           /* planes of a variable; sums of a pair, CPU_BLOCK_PAIRS apart */
    int is_bytes;               /* REAL: four bytes are an element */
    cpu_sign_mode mode;
    cpu_bins bins;
    int64_t work_bytes; /* scratch of pack(), for each thread */

    /* Pack elements first .. first+n-1 of the variables from `var` on into one micro-panel. Any thread. */
    void (*pack)(const gcor_state *state, const cpu_product *product, const cpu_operand *operand, int64_t var,
                 int64_t first, int64_t n, char *micro_panel, void *work);
    /* Dot products over n elements of CPU_KERNEL_ROWS variables, from `rows` on, with those of the micro-panel at
     * `cols`: set, or with `add` added to the sums. Any thread. */
    void (*dot)(const gcor_state *state, const cpu_product *product, char *rows, char *cols, int64_t n, int add,
                void *sums);
    /* Deliver a block's sums, which it may overwrite, to the sink. Any thread. */
    void (*deliver)(gcor_state *state, const cpu_product *product, int thread, const cpu_operand *rows,
                    const cpu_operand *cols, const gcor_tile *block, void *sums);
};

/* real.c, sign.c: the products of REAL, DOUBLE and REAL_COMMON operands, of the signs of a tile, and of bins.
 */
cpu_product cpu_real_product(const gcor_state *state, const cpu_operand *rows, const cpu_operand *cols);
cpu_product cpu_mutual_product(const cpu_operand *rows);
cpu_product cpu_sign_product(const cpu_operand *rows, const cpu_operand *cols, const gcor_tile *tile);

/* pairwise.c: deliver() of the products of REAL_COMMON columns. */
void cpu_deliver_common(gcor_state *state, const cpu_product *product, int thread, const cpu_operand *rows,
                        const cpu_operand *cols, const gcor_tile *block, void *sums);

/* bicor.c: true if cpu_bicor_pair() computes pairs of PAIR_COMMON columns of such a measure and design; bytes of its
 * scratch. */
int cpu_has_biweights(const gcor_measure *measure, const gcor_design *design);
int64_t cpu_bicor_bytes(int64_t n_obs);
/* bicor.c: sets *r to a coefficient. Returns false if it must be computed as that of any measure: few values, infinite
 * ones, or no deviation. work: cpu_bicor_bytes(). */
int cpu_bicor_pair(const cpu_operand *rows, int64_t i, const cpu_operand *cols, int64_t j, void *work, double *r);

/* product.c: compute a tile, slice by slice. */
gcor_status cpu_sum_slices(gcor_state *state, const cpu_product *product, const cpu_operand *rows,
                           const cpu_operand *cols, const gcor_tile *tile);

/* real.c: gcor_backend's pairs(). */
void cpu_pairs(const gcor_operand *const *rows, const gcor_operand *const *cols, int64_t sets, int64_t row, int64_t col,
               const int32_t *k, int64_t n, double *r);

/* overlap.c: gcor_backend's functions of these names. */
int64_t cpu_overlap_side(int64_t n_var);
int64_t cpu_overlap_memory(int64_t n_var);
gcor_status cpu_plan_overlap(gcor_state *state, gcor_context *context, int64_t n_var, gcor_overlap_plan *plan);

/* hclust.c */
gcor_status cpu_cluster(gcor_state *state, gcor_context *context, const struct gcor_hclust *job);

/* What preparing a column of a sparse matrix needs; of its own for each thread: n_obs + 1 values, and ranks_bytes for
 * the ranks of as many. */
typedef struct {
    gcor_context *context;
    const gcor_matrix *matrix;
    cpu_operand *operand;
    double *values;
    char *ranks;
    size_t ranks_bytes;
} cpu_sparse_preparation;

/* sparse.c sparse_signs.c: allocate and fill a REAL_SPARSE or a SIGN_SPARSE operand; after an error the caller frees
 * what there is. */
gcor_status cpu_prepare_sparse(gcor_context *context, const gcor_columns *columns, cpu_operand *o);
gcor_status cpu_prepare_sparse_signs(gcor_context *context, const gcor_columns *columns, cpu_operand *o);
/* sparse.c: calls prepare_column() with a cpu_sparse_preparation for each column of the operand. */
gcor_status cpu_prepare_entries(gcor_context *context, const gcor_matrix *matrix, cpu_operand *o,
                                void (*prepare_column)(void *preparation, int thread, int64_t j));
/* Bytes of an entry. */
enum { CPU_ENTRY_BYTES = sizeof(double) + sizeof(int32_t) };

/* kendall.c: true if cpu_kendall_tile() is faster for a tile of signs than planes of that mode. */
int cpu_is_cheaper_by_pairs(const gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                            const gcor_tile *tile, cpu_sign_mode mode);

/* Compute a tile whose pairs are no products of micro-panels: kendall.c, sparse.c, sparse_signs.c, pairwise.c,
 * overlap.c. */
gcor_status cpu_kendall_tile(gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                             const gcor_tile *tile);
gcor_status cpu_sparse_tile(gcor_state *state, const cpu_operand *rows, const cpu_operand *cols, const gcor_tile *tile);
gcor_status cpu_sparse_signs_tile(gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                                  const gcor_tile *tile);
gcor_status cpu_pairwise_tile(gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                              const gcor_tile *tile);
gcor_status cpu_overlap_tile(gcor_state *state, const gcor_adjacency *rows, const gcor_adjacency *cols,
                             const gcor_tile *tile);
