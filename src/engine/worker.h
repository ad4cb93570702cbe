/* A worker multiplies all pairs of the rectangles that it is given, on its device, for its sink. It loops over panels
 * and tiles, and caches the most recently used panels. Its product prepares panels and multiplies two of them:
 * coefficients.c for columns of data, overlap.c for slabs of adjacencies. */
#ifndef GPUCOR_WORKER_H
#define GPUCOR_WORKER_H

#include "worker_pool.h"

/* A range of variables of one data set, identified by its first variable. */
typedef struct {
    int64_t set;     /* the data set, an index into work->data */
    int is_row_side; /* of y, where y is another source than x */
    int64_t first;
} gcor_panel;

/* The functions of a product, all required. `product` is the product's state. */
typedef struct {
    /* *operand: variables panel->first .. panel->first+n_var-1, prepared; NULL after an error. */
    gcor_status (*prepare)(void *product, const gcor_panel *panel, int64_t n_var, gcor_operand **operand);
    /* Called after finish(), and before close(). */
    void (*release)(void *product, gcor_operand *operand);
    /* Multiply a tile within both operands, now or later; at the latest in finish(). */
    gcor_status (*multiply)(void *product, const gcor_operand *rows, const gcor_operand *cols, const gcor_tile *tile);
    gcor_status (*finish)(void *product);
    void (*close)(void *product);
} gcor_product_type;

/* Sizes that a product requests. */
typedef struct {
    int64_t tile_rows, tile_cols; /* max sides of a tile */
    int64_t panel;                /* variables in a panel, a multiple of both */
    int64_t n_panels;             /* max number of panels that are kept prepared, at least 2 */
    int64_t min_side;             /* of a square that keeps the device busy */
} gcor_tiling;

/* *worker is the caller's, to end with gcor_worker_close(), which closes the product; NULL after an error, and the
 * product is then still the caller's. shape: of the sink. */
gcor_status gcor_worker_new(gcor_context *context, gcor_work *work, gcor_shape shape, const gcor_product_type *type,
                            void *product, const gcor_tiling *tiling, gcor_worker **worker);

/* coefficients.c: the product of columns that the back end prepares. */
typedef struct {
    const gcor_backend *backend;
    gcor_context *context;
    gcor_work *work;
    gcor_state *state;
    gcor_sink *sink;
    int owns_sink;                /* close() frees it */
    int64_t tile_rows, tile_cols; /* what the back end asks for; the caller may reduce it before the start */
} gcor_coefficients;

/* Begin a run of the device into `sink`. *product is the caller's until gcor_coefficients_start() has returned GCOR_OK;
 * NULL after an error. */
gcor_status gcor_coefficients_begin(gcor_context *context, gcor_work *work, gcor_state *state, gcor_sink *sink,
                                    gcor_coefficients **product);
/* Hand the product over to a worker; after an error it is closed. */
gcor_status gcor_coefficients_start(gcor_coefficients *product, gcor_worker **worker);
/* Returns non-zero if two panels of `side` variables of every data set fit in the memory for operands. */
int gcor_coefficients_fit(const gcor_coefficients *product, int64_t side);
int64_t gcor_coefficients_memory(const gcor_coefficients *product); /* bytes for operands */

#endif
