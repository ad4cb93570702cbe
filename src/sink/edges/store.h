/* Edges in runs, one of 12 bytes an edge for each tile, in memory or in files; or with a keeper, on a device. */
#ifndef GPUCOR_EDGE_STORE_H
#define GPUCOR_EDGE_STORE_H

#include "../../base/buffer.h"
#include "keeper.h"
#include "sums.h"
#include "run_file.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The edges of a tile, or of some of its rows: those of row `row` + i are at start[i] .. start[i+1]-1,
 * by column. One piece of memory, which begins at r; or the same bytes in a file, and r is NULL. */
typedef struct {
    gcor_tile tile;
    int64_t row, n_row; /* from the first to the last row that has any */
    int64_t n;
    double *r;
    int32_t *col, *start;
    gcor_run_file *file; /* the run's own part of it; NULL: in memory */
    int64_t offset;
    int left; /* edge_rows.c: how many blocks of rows are still to be copied */
} gcor_edge_run;

/* Whether edges may stay on the device that finds them, until they are counted and ranked, or taken as rows. */
typedef enum { GCOR_LEAVE, GCOR_STAY, GCOR_STAY_FOR_ROWS } gcor_stay;

typedef struct {
    gcor_edges edges; /* first: a store is its sink */
    int64_t max, count;
    double min;            /* what the rule's was: with `wanted` edges to find it rises */
    int64_t wanted, limit; /* at so many edges the weaker ones go; 0: they stay */
    gcor_edge_run *runs;   /* in no order: whoever wants one sorts them */
    int64_t n_runs, capacity;
    gcor_run_file *spool; /* where runs go once those in memory are `budget` bytes; NULL: nowhere. Forks share both */
    int64_t budget;
    gcor_stay stay;           /* of who runs into the store itself, not into a fork */
    gcor_keeper *keeper;      /* owned; then there are no runs, and `count` is of its edges. NULL: there is none */
    gcor_prefaulted *landing; /* owned: where rows of the keeper's edges may go. NULL: there is none */
} gcor_store;

extern const gcor_sink_type gcor_store_type;

/* With more than `most` edges a run fails with GCOR_TOO_MANY. n_row: variables of y, or again of x. *store is the
 * caller's, to end with gcor_sink_free(); NULL after an error. */
gcor_status gcor_store_new(gcor_context *context, gcor_shape shape, int64_t n_row, int64_t n_col, gcor_edge_rule rule,
                           int64_t max, gcor_store **store);

/* From now on further runs of the store, and of its forks, go to a temporary file in `folder` once those in memory are
 * `budget` bytes. Their index stays in memory. The file cannot be made, or later grow, as the disk is full:
 * GCOR_BAD_FILE. */
gcor_status gcor_store_spool(gcor_store *store, gcor_context *context, const char *folder, int64_t budget);

/* Only the k strongest edges are wanted, and what is tied with the last of them, k from 1 on: the rule's least weight
 * rises with the edges that come, and weaker ones make room. It is never above the k-th largest weight of all pairs, as
 * it is the k-th largest of some; each fork has its own. For a rule whose ceiling is above 1; of gcor_store_rank() and
 * gcor_store_count() only what is from the k-th largest weight on is true then. */
void gcor_store_want(gcor_store *store, int64_t k);

/* For back ends: n edges more are with the keeper; it is a GCOR_TOO_MANY if they are too many. Those that are not
 * wanted may be dropped, and the rule's least weight may rise. */
gcor_status gcor_store_kept(gcor_store *store, gcor_context *context, int64_t n);

/* What the keeper has, to runs; none may come to it any more. Nothing to do if there is no keeper. */
gcor_status gcor_store_land(gcor_store *store, gcor_context *context);

/* As gcor_sink_load() of the file from `offset` on, but that the edges stay there, where they are checked and counted
 * now and read when they are needed: the file must stay as it is. Any number of files. *end, which may be NULL: where
 * what belongs to the store ends. After an error, which is GCOR_BAD_FILE for a file that is cut off, damaged or of
 * another kind or settings, the store is as it was. */
gcor_status gcor_store_attach(gcor_store *store, gcor_context *context, const char *path, int64_t offset, int64_t *end);

/* What follows uses context->threads threads and can be interrupted. Runs in files are read piece by piece, edges on a
 * device are looked at there or land; the result is the same. */

/* How many pairs have a weight of at least `least`, those above the ceiling among them. */
gcor_status gcor_store_count(const gcor_store *store, gcor_context *context, double min, int64_t *count);

/* The k-th largest weight, k from 1: Inf if it is above the ceiling, 0 if there are fewer than k. */
gcor_status gcor_store_rank(const gcor_store *store, gcor_context *context, int64_t k, double *weight);

/* Compressed rows of all edges with a weight of at least `least`: row i's columns, ascending, at
 * start[i] .. start[i+1]-1. First the starts (n_row + 1), then col and r (start[n_row] each); all are the
 * caller's. More than INT32_MAX are GCOR_TOO_MANY. gcor_store_rows() frees the store's runs as it goes: after it, only
 * gcor_sink_free() may follow. */
gcor_status gcor_store_starts(gcor_store *store, gcor_context *context, double min, int64_t n_row, int32_t *start);
gcor_status gcor_store_rows(gcor_store *store, gcor_context *context, double min, int64_t n_row, const int32_t *start,
                            int32_t *col, double *r);

/* Of a triangle: how many edges of a weight of at least `least` each variable has, and the sums of their weights
 * (fixed.h). Both have n_col entries, the caller's. */
gcor_status gcor_store_degrees(gcor_store *store, gcor_context *context, double min, int64_t *degree,
                               gcor_int128 *strength);

/* ---- bands: some rows at a time ---------------------------------------------------------- */

/* What the rows of a band are: the store's rows, as they are stored; its columns; or, of a symmetric network, variables
 * with all that they have edges with. */
typedef enum { GCOR_ROWS, GCOR_COLUMNS, GCOR_BOTH_HALVES } gcor_view;

/* How many edges of a weight of at least `least` each row has; entries: one for each of the rows of that view, the
 * caller's. */
gcor_status gcor_store_entries(gcor_store *store, gcor_context *context, double min, gcor_view view, int32_t *entries);

/* How many rows from `first` on have at most `most` entries together, or 1; fewer if that spares reading tiles twice.
 */
int64_t gcor_band_rows(const gcor_store *store, gcor_view view, const int32_t *entries, int64_t first, int64_t max);

/* The entries of rows first .. first+n_row-1, which have at most INT32_MAX together, row by row, by column: col and r,
 * the caller's. entries: from gcor_store_entries() for the same edges. Of files it
 * reads the runs that have these rows or columns, or what of them is in these rows. In memory it has up to 32 bytes for
 * each entry, and 4 for each row and thread. */
gcor_status gcor_store_band(const gcor_store *store, gcor_context *context, double min, gcor_view view,
                            const int32_t *entries, int64_t first, int64_t n_row, int32_t *col, double *r);

/* Where in a file, which has room for them, the rows' coefficients go, in single precision, and their columns, of 64
 * bits, as the machine has them. */
typedef struct {
    const char *path;
    int64_t r, col; /* bytes from its beginning */
} gcor_positions;

/* All rows, by bands of at most that many entries, or one row. A disk that is full is GCOR_BAD_FILE. */
gcor_status gcor_store_write(const gcor_store *store, gcor_context *context, double min, gcor_view view,
                             const int32_t *entries, int64_t max, const gcor_positions *positions);

/* ---- pieces of a store's coefficients ------------------------------------------------------ */

enum { GCOR_PIECE = 1 << 13 }; /* at most; 64 KB, which a near cache holds */

/* Some of a store's coefficients, for one thread at a time. */
typedef struct {
    const double *r; /* NULL: in the file of `run`, from edge `first` on */
    int64_t n, first;
    const gcor_edge_run *run;
} gcor_piece;

/* All of a store's coefficients; the caller's, to free with gcor_free(); NULL after an error. buffers: GCOR_PIECE
 * doubles for each thread, the same; only one where nothing is in a file. */
gcor_status gcor_store_pieces(const gcor_store *store, gcor_context *context, gcor_piece **pieces, int64_t *n,
                              double **buffers);

/* A piece's coefficients, read to the thread's buffer if they are in a file; NULL after an error. Any thread, by
 * OpenMP's numbers. */
const double *gcor_piece_values(const gcor_piece *piece, gcor_context *context, double *buffers);

#ifdef __cplusplus
}
#endif
#endif
