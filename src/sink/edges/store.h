/* Stores of edges: in chunks of 12 bytes per edge, in memory or in files, or in a device edge buffer. */
#pragma once

#include "../../base/alloc.h"
#include "chunk.h"
#include "tile_edges.h"

GCOR_BEGIN_C

/* ---- edges on a device ----------------------------------------------------------------------- */

/* A device edge buffer holds edges on the device that found them until it is known which of them are needed. A store
 * has either a buffer or chunks. */
typedef struct gcor_edge_buffer gcor_edge_buffer;

/* All functions are required, may use context->threads threads and can be interrupted. No edge's weight is below the
 * store's min. */
typedef struct {
    /* *count: the number of edges with a weight of at least `min`. */
    gcor_status (*count)(gcor_edge_buffer *buffer, gcor_context *context, double min, int64_t *count);
    /* *weight: the k-th largest one, k from 1 to the number of edges; no weight is below `min`. */
    gcor_status (*rank)(gcor_edge_buffer *buffer, gcor_context *context, double min, int64_t k, double *weight);
    /* Prunes the edges with a weight below `min`. *left: the number of the others. */
    gcor_status (*prune)(gcor_edge_buffer *buffer, gcor_context *context, double min, int64_t *left);
    /* length[i]: the number of edges of row i with a weight of at least `min`; n_row elements, the caller's. */
    gcor_status (*lengths)(gcor_edge_buffer *buffer, gcor_context *context, double min, int64_t n_row, int32_t *length);
    /* See gcor_store_rows(); frees nothing. */
    gcor_status (*rows)(gcor_edge_buffer *buffer, gcor_context *context, double min, int64_t n_row,
                        const int32_t *start, int32_t *col, double *r);
    /* See gcor_store_degrees(). */
    gcor_status (*degrees)(gcor_edge_buffer *buffer, gcor_context *context, double min, int64_t n_var, int64_t *degree,
                           gcor_int128 *strength);
    /* Moves edges of `other`, on any device, to the buffer. *left: the number that it has no memory for. */
    gcor_status (*absorb)(gcor_edge_buffer *buffer, gcor_context *context, gcor_edge_buffer *other, int64_t *left);
    /* Copies all edges to the host, for edges->keep_tile(); frees nothing. */
    gcor_status (*to_host)(gcor_edge_buffer *buffer, gcor_context *context, gcor_edges *edges);
    void (*free)(gcor_edge_buffer *buffer);
} gcor_edge_buffer_type;

/* The first member of a back end's buffer. */
struct gcor_edge_buffer {
    const gcor_edge_buffer_type *type;
    gcor_side side;
};

/* Where a store's edges are: always on the host; on the device, if it has a buffer, to be counted and ranked there; or
 * on the device, to be read as compressed rows. R passes these numbers. */
typedef enum { GCOR_ON_HOST, GCOR_ON_DEVICE, GCOR_ON_DEVICE_FOR_ROWS } gcor_edge_location;

/* ---- the store --------------------------------------------------------------------------------- */

typedef struct {
    gcor_edges edges;      /* first: a store is its sink */
    int64_t max, count;    /* max number of edges; the number of edges */
    double min;            /* the rule's min weight at first; with `wanted` edges the rule's rises */
    int64_t wanted, limit; /* from `limit` edges on the store is pruned to the `wanted` strongest; 0: never */
    gcor_chunk *chunks;    /* in any order; gcor_store_entries() sorts them */
    int64_t n_chunks, capacity;
    /* Chunks go to the file `spool` once those in memory take `budget` bytes; NULL: never. Forks share both. */
    gcor_spool_file *spool;
    int64_t budget;
    gcor_edge_location location; /* of edges that a run adds to this store */
    gcor_edge_buffer *buffer;    /* owned; then there are no chunks, and `count` counts its edges. NULL: none */
    /* Memory for the rows of the buffer's edges, NULL: none. `prefaulted` is owned; `expecting` is the same or that of
     * the store that this one was forked from, and was told to expect `announced` edges of this store. */
    gcor_prefaulted *prefaulted, *expecting;
    int64_t announced;
} gcor_store;

/* With more than `max` edges a run fails with GCOR_TOO_MANY. n_row: variables of y, or again of x. *store is the
 * caller's, to end with gcor_sink_free(); NULL after an error. */
gcor_status gcor_store_new(gcor_context *context, gcor_shape shape, int64_t n_row, int64_t n_col, gcor_edge_rule rule,
                           int64_t max, gcor_store **store);

/* From now on further chunks of the store, and of its forks, go to a temporary file in `folder` once those in memory
 * take `budget` bytes. The chunks' heads stay in memory. The file cannot be made, or later grow, as the disk is full:
 * GCOR_BAD_FILE. */
gcor_status gcor_store_spool(gcor_store *store, gcor_context *context, const char *folder, int64_t budget);

/* Only the k strongest edges are wanted, with ties of the last of them, k from 1: the rule's min weight rises as edges
 * come, and weaker edges are pruned. The min is never above the k-th largest weight of all pairs, as it is the k-th
 * largest of some; each fork has its own. For a rule whose ceiling is above 1. After it gcor_store_rank() and
 * gcor_store_count() hold for weights from the k-th largest on only. */
void gcor_store_want(gcor_store *store, int64_t k);

/* From now on the edges that a device finds are at `location`. */
void gcor_store_stay(gcor_store *store, const gcor_context *context, gcor_edge_location location);

/* Called by a back end that has added n edges to the store's buffer. Fails with GCOR_TOO_MANY. May prune the buffer and
 * raise the rule's min weight. */
gcor_status gcor_store_buffered(gcor_store *store, gcor_context *context, int64_t n);

/* Moves the edges of the store's buffer to chunks, if it has one, and frees the buffer. Later edges go to chunks. */
gcor_status gcor_store_to_host(gcor_store *store, gcor_context *context);

/* Moves the edges of a fork's buffer to that of the store, or of both to chunks. */
gcor_status gcor_store_join(gcor_store *store, gcor_context *context, gcor_store *fork);

/* As gcor_sink_load() of the file from `offset` on, but the edges stay in the file, where they are checked and counted
 * now and read when they are needed: the file must stay as it is. Any number of files. *end, which may be NULL: the
 * offset behind what belongs to the store. After an error, which is GCOR_BAD_FILE for a file that is cut off, damaged
 * or of another kind or settings, the store is as it was. */
gcor_status gcor_store_attach(gcor_store *store, gcor_context *context, const char *path, int64_t offset, int64_t *end);

/* The functions below use context->threads threads and can be interrupted. Their results do not depend on where the
 * edges are. */

/* The number of pairs with a weight of at least `min`, those above the ceiling among them. */
gcor_status gcor_store_count(const gcor_store *store, gcor_context *context, double min, int64_t *count);

/* The k-th largest weight, k from 1: Inf if it is above the ceiling, 0 if there are fewer than k. */
gcor_status gcor_store_rank(const gcor_store *store, gcor_context *context, int64_t k, double *weight);

/* Compressed rows of all edges with a weight of at least `min`: row i's columns, ascending, at
 * start[i] .. start[i+1]-1. First the starts (n_row + 1), then col and r (start[n_row] each); all are the
 * caller's. More than INT32_MAX edges are GCOR_TOO_MANY. gcor_store_rows() frees the store's chunks as it goes: after
 * it, only gcor_sink_free() may follow. */
gcor_status gcor_store_starts(gcor_store *store, gcor_context *context, double min, int64_t n_row, int32_t *start);
gcor_status gcor_store_rows(gcor_store *store, gcor_context *context, double min, int64_t n_row, const int32_t *start,
                            int32_t *col, double *r);

/* A triangle's degrees, the numbers of edges with a weight of at least `min` of each variable, and strengths, the sums
 * of their weights (weight.h). Both have n_col elements, the caller's. */
gcor_status gcor_store_degrees(gcor_store *store, gcor_context *context, double min, int64_t *degree,
                               gcor_int128 *strength);

/* ---- bands: some rows at a time ---------------------------------------------------------- */

/* The rows of a band: the store's rows; its columns; or, of a symmetric network, variables with both halves of their
 * edges. */
typedef enum { GCOR_ROWS, GCOR_COLUMNS, GCOR_BOTH_HALVES } gcor_view;

/* How many edges of a weight of at least `min` each row of that view has; the entries are the caller's. */
gcor_status gcor_store_entries(gcor_store *store, gcor_context *context, double min, gcor_view view, int32_t *entries);

/* How many rows from `first` on have at most `max` entries together, or 1; fewer if that spares reading chunks twice.
 */
int64_t gcor_band_rows(const gcor_store *store, gcor_view view, const int32_t *entries, int64_t first, int64_t max);

/* The entries of rows first .. first+n_row-1, which have at most INT32_MAX together, row by row, by column: col and r,
 * the caller's. entries: from gcor_store_entries() for the same edges. Reads the chunks of files that have these rows
 * or columns. */
gcor_status gcor_store_band(const gcor_store *store, gcor_context *context, double min, gcor_view view,
                            const int32_t *entries, int64_t first, int64_t n_row, int32_t *col, double *r);

/* ---- for the files of this folder ----------------------------------------------------------- */

/* Returns memory for the head of one more chunk, which is not the store's yet; NULL after an error. */
gcor_chunk *gcor_store_open_chunk(gcor_store *store, gcor_context *context);
/* Makes that chunk the store's, with its memory or its use of a file. */
void gcor_store_add_chunk(gcor_store *store);
/* Stores that spool to the same file count their bytes in memory together: the chunk's come, 1, or go, -1. */
void gcor_store_note_held(const gcor_store *store, const gcor_chunk *chunk, int sign);
/* Frees the chunk's memory or leaves its file. */
void gcor_store_drop_chunk(const gcor_store *store, gcor_chunk *chunk);

/* Fails with GCOR_TOO_MANY. */
gcor_status gcor_too_many_edges(gcor_context *context, int64_t max);
/* Fails with GCOR_TOO_MANY if the store may not have n more edges. */
gcor_status gcor_store_check(const gcor_store *store, gcor_context *context, int64_t n);

/* prune.c: prunes the weaker edges of a store that has enough. */
gcor_status gcor_store_prune(gcor_store *store, gcor_context *context);

/* unpermute.c, save.c: functions of the type. */
gcor_status gcor_store_unpermute(gcor_sink *sink, gcor_context *context, const int32_t *rows, const int32_t *cols);
gcor_status gcor_store_save(gcor_sink *sink, gcor_context *context, const gcor_shard *shard, FILE *file);
gcor_status gcor_store_load(gcor_sink *sink, gcor_context *context, FILE *file);

/* ---- radix sorts (sort.c) ------------------------------------------------------------------------------------- */

/* Lists the edges of compressed rows. Row i has entries col[e] and r[e], start[i] <= e < start[i+1], by ascending col.
 * Writes `from` (col + 1), `to` (i + 1) and `value` (r), start[n_row] elements of each, the caller's: by descending |r|
 * with NaN last, then by `from`, then by `to`, or with rows_first by `to`, then by `from`. Uses context->threads
 * threads. Needs little memory, except 32 bytes per edge if many edges have nearly equal weights. Can be interrupted.
 */
gcor_status gcor_sort_edges(gcor_context *context, int64_t n_row, const int32_t *start, const int32_t *col,
                            const double *r, int rows_first, int32_t *from, int32_t *to, double *value);

/* Sorts a list by column. Edges of the same column are sorted by row in a short list, and stay in their order in a long
 * one. work: scratch for n edges. */
void gcor_sort_columns(gcor_edge *list, int64_t n, gcor_edge *work);

GCOR_END_C
