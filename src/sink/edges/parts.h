/* Parts of a store's runs, in memory or in files, for whoever goes through its edges row by row. */
#ifndef GPUCOR_EDGE_PARTS_H
#define GPUCOR_EDGE_PARTS_H

#include "run.h"

/* Some rows of a run, to be read at once. mirrored: whoever asked has them as columns (edge_bands.c). */
typedef struct {
    const gcor_edge_run *run;
    int64_t row, n_row;
    int mirrored;
} gcor_edge_part;

/* How many of a run's rows are a part: about so many edges, which do not have to be many in memory. */
int64_t gcor_rows_of_part(const gcor_edge_run *run);

/* Memory of one thread to read to; cleared, and NULL until there is something to read. */
typedef struct {
    void *start, *col, *r;
    int64_t start_capacity, col_capacity, r_capacity;
} gcor_edge_reader;

void gcor_free_reader(gcor_edge_reader *own);

/* Edges of a part's row i: start[i] - base .. start[i+1] - base - 1 of col and r. */
typedef struct {
    const int32_t *start, *col;
    const double *r;
    int64_t base;
} gcor_edges_view;

/* values: whether r is wanted, too. What is seen is the store's, or the reader's until it reads again. Any thread, with
 * a reader of its own. */
gcor_status gcor_read_part(const gcor_edge_part *part, gcor_context *context, gcor_edge_reader *own, int values,
                           gcor_edges_view *seen);

#endif
