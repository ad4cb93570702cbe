/* A worker multiplies all pairs of the rectangles that it is given, on its device, for its sink. It loops over panels
 * and tiles, and caches the most recently used panels. A panel is an operand of the back end: columns of data
 * (coefficients.c), or a slab of adjacencies (overlap.c). */
#ifndef GPUCOR_WORKER_H
#define GPUCOR_WORKER_H

#include "session.h"
#include "work.h"

/* A range of variables of one data set, identified by its first variable. */
typedef struct {
    int64_t set;     /* the data set, an index into work->data */
    int is_row_side; /* of y, where y is another source than x */
    int64_t first;
} gcor_panel;

typedef struct gcor_panel_maker gcor_panel_maker;

/* The functions of a maker of panels, all required. */
typedef struct {
    /* *operand: variables panel->first .. panel->first+n_var-1, prepared; NULL after an error. When it returns GCOR_OK,
     * the back end's run into the sink has begun. */
    gcor_status (*prepare)(gcor_panel_maker *maker, const gcor_panel *panel, int64_t n_var, gcor_operand **operand);
    /* Called after the back end's finish(), and before close(). */
    void (*release)(gcor_panel_maker *maker, gcor_operand *operand);
    /* End the back end's run, and free the maker. */
    void (*close)(gcor_panel_maker *maker);
} gcor_panel_type;

/* The first member of every maker: one device's part of a run. */
struct gcor_panel_maker {
    const gcor_panel_type *type;
    gcor_context *context;
    gcor_work *work;
    gcor_state *state;
    gcor_sink *sink;
};

static inline const gcor_backend *gcor_backend_of(const gcor_panel_maker *maker) {
    return maker->work->session->backend;
}

/* Sizes that a maker requests. */
typedef struct {
    int64_t tile_rows, tile_cols; /* max sides of a tile */
    int64_t panel;                /* variables in a panel, a multiple of both */
    int64_t n_panels;             /* max number of panels that are kept prepared, at least 2 */
    int64_t min_side;             /* of a square that keeps the device busy */
} gcor_tiling;

/* *worker is the caller's, to end with gcor_worker_close(), which closes the maker; NULL after an error, and the maker
 * is then still the caller's. */
gcor_status gcor_worker_new(gcor_panel_maker *maker, const gcor_tiling *tiling, gcor_worker **worker);

/* coefficients.c: panels of columns, which the back end prepares. */
typedef struct {
    gcor_panel_maker head;
    int owns_sink;                /* close() frees it */
    int64_t tile_rows, tile_cols; /* what the back end asks for; the caller may reduce it before the start */
} gcor_coefficients;

/* Begin a run of the device into `sink`. *maker is the caller's until gcor_coefficients_start() has returned GCOR_OK;
 * NULL after an error. */
gcor_status gcor_coefficients_begin(gcor_context *context, gcor_work *work, gcor_state *state, gcor_sink *sink,
                                    gcor_coefficients **maker);
/* Hand the maker over to a worker; after an error it is closed. */
gcor_status gcor_coefficients_start(gcor_coefficients *maker, gcor_worker **worker);
/* Returns non-zero if two panels of `side` variables of every data set fit in the memory for operands. */
int gcor_coefficients_fit(const gcor_coefficients *maker, int64_t side);
int64_t gcor_coefficients_memory(const gcor_coefficients *maker); /* bytes for operands */

#endif
