/* The work of a run: the data, the squares of pairs to compute, and the workers that compute them, one per device. */
#pragma once

#include "../sink/groups/combine.h"
#include "../stats/test.h"
#include "../measure/overlap.h"
#include "../base/shard.h"
#include "between.h"
#include "session.h"

/* ---- a run ---------------------------------------------------------------------------------------------------- */

/* What a run needs of one data set: of the only one, or of a subject; of complex columns, twice for each block of their
 * basis, with other columns of x. */
typedef struct {
    gcor_columns rows, cols; /* of y, or again of x; of x */
    gcor_kind kind;
    int64_t length;   /* n_obs of its operands */
    int64_t rows_set; /* the data set, at most this one, whose operands are those of the rows' side */
} gcor_data;

typedef struct gcor_worker gcor_worker; /* worker.c */
typedef struct gcor_work gcor_work;

/* How a worker is made for a device: *worker is the caller's, to end with gcor_worker_close(); NULL after an error. */
typedef gcor_status (*gcor_worker_opener)(gcor_context *context, gcor_work *work, gcor_state *state, gcor_sink *sink,
                                          gcor_worker **worker);

/* What all workers of a run have in common. */
struct gcor_work {
    gcor_session *session;
    gcor_job *job;
    gcor_worker_opener open;
    const gcor_data
        *data; /* n_data: one, or one for each subject of job->combination; of complex columns two for each block */
    int64_t n_data;
    gcor_spreads *spreads;                /* of each data set, for measures that compare them; else NULL */
    gcor_presence *presence;              /* of each data set, if pairs may have fewer than min_obs; else NULL */
    unsigned char *row_flags, *col_flags; /* the job's */
    double *col_norm;                     /* the job's, or NULL */
    gcor_grid grid;
    gcor_queue queue;
    int64_t pair_weight; /* how much a pair counts for in the progress */
};

/* The workers of the two kinds of runs: coefficients.c, of one data set or several; overlap.c. */
gcor_status gcor_open_coefficients(gcor_context *context, gcor_work *work, gcor_state *state, gcor_sink *sink,
                                   gcor_worker **worker);
gcor_status gcor_open_overlaps(gcor_context *context, gcor_work *work, gcor_state *state, gcor_sink *sink,
                               gcor_worker **worker);
/* How many coefficients an overlap counts as in the progress; 1 without overlaps. */
int64_t gcor_overlap_weight(const gcor_job *job, int64_t n_obs);

/* Multiply all pairs of a rectangle of the grid; they are delivered by the end of the next finish(). */
gcor_status gcor_worker_multiply(gcor_worker *worker, const gcor_tile *tile);
/* Multiply all squares of the queue, where there is no other worker, and finish. */
gcor_status gcor_worker_drain(gcor_worker *worker);
gcor_status gcor_worker_finish(gcor_worker *worker);
/* Free the worker and its operands; also after an error. NULL is allowed. */
void gcor_worker_close(gcor_worker *worker);
/* Min side of a square that keeps the worker's device busy. */
int64_t gcor_worker_min_side(const gcor_worker *worker);

/* devices.c: do the whole queue on `workers` of the session's devices. If that is one, the next device replaces it
 * when it fails. job->devices_lost counts the devices that failed. After an error all have failed, or the error is not
 * a device's. */
gcor_status gcor_distribute(gcor_work *work, gcor_context *context, int workers);

/* ---- a worker (worker.c) ------------------------------------------------------------------------ */

/* A worker multiplies all pairs of the rectangles that it is given, on its device, for its sink. It loops over panels
 * and tiles, and caches the most recently used panels. A panel is an operand of the back end: columns of data
 * (coefficients.c), or a slab of adjacencies (overlap.c). */

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
