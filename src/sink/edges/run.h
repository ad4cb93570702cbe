/* What the files of a store's own (edge_*.c) have in common. */
#ifndef GPUCOR_EDGE_RUN_H
#define GPUCOR_EDGE_RUN_H

#include "store.h"

/* Of its coefficients, columns and starts, in this order, in memory and in files. */
int64_t gcor_run_bytes(const gcor_edge_run *run);
/* Memory for them; the run's row, n_row and n are known. The run is counted in with gcor_store_add_run() only. */
gcor_status gcor_run_allocate(gcor_context *context, gcor_edge_run *run);

/* A place for one more run, which is not one of the store's yet; NULL after an error. */
gcor_edge_run *gcor_store_open_run(gcor_store *store, gcor_context *context);
/* The run at that place is the store's, with its memory or its part of a file. */
void gcor_store_add_run(gcor_store *store);
/* edge_raise.c: the store has edges enough to do without the weaker ones. */
gcor_status gcor_store_prune(gcor_store *store, gcor_context *context);

/* Those who spool to the same file count what they have in memory together: the run's bytes come, 1, or go, -1. */
void gcor_store_note_held(const gcor_store *store, const gcor_edge_run *run, int sign);
/* Its memory or its part of a file are given back. */
void gcor_store_drop_run(gcor_store *store, gcor_edge_run *run);

/* Fail with GCOR_TOO_MANY. */
gcor_status gcor_too_many_edges(gcor_context *context, int64_t max);
/* That if n more edges are more than the store may have. */
gcor_status gcor_store_check(const gcor_store *store, gcor_context *context, int64_t n);

/* Whether any run is in a file. */
int gcor_store_has_files(const gcor_store *store);

/* edge_split.c: the least width of a block, and how wide blocks of columns should be for n edges of a tile; at least
 * n_col: it is one block. */
enum { GCOR_SPLIT_WIDTH = 4096 };
int64_t gcor_split_width(const gcor_tile *tile, int64_t n);
/* The same edges block by block, each block's in the order of the list; end[b]: where block b ends. Both are the
 * caller's, to free with gcor_free(), also after an error. */
gcor_status gcor_split_edges(gcor_context *context, const gcor_edge *list, int64_t n, const gcor_tile *tile,
                             int64_t width, gcor_edge **split, int64_t **end);

/* edge_unpermute.c, edge_files.c: the type's. */
gcor_status gcor_store_unpermute(gcor_sink *sink, gcor_context *context, const int32_t *rows, const int32_t *cols);
gcor_status gcor_store_save(gcor_sink *sink, gcor_context *context, const gcor_shard *shard, FILE *file);
gcor_status gcor_store_load(gcor_sink *sink, gcor_context *context, FILE *file);

#endif
