/* The workers of a run: one thread per device. They draw squares of the shard from a queue until it is empty. */
#ifndef GPUCOR_WORKERS_H
#define GPUCOR_WORKERS_H

#include "combine.h"
#include "overlap.h"
#include "shard.h"
#include "../source/source.h"

/* A subject's data in a run. */
typedef struct {
    gcor_columns rows, cols; /* rows: of y, or of x again; cols: of x */
    gcor_kind kind;
} gcor_data;

/* Shared by all workers of a run. */
typedef struct {
    gcor_session *session;
    gcor_job *job;
    gcor_columns rows, cols;   /* rows: of y, or of x again; cols: of x. With several subjects, those of the first */
    const gcor_data *subjects; /* data of all subjects if there is a job->combination, otherwise NULL */
    unsigned char *row_flags, *col_flags; /* the job's flags */
    double *col_norm;                     /* the job's norms, or NULL */
    gcor_kind kind;
    gcor_grid grid;
    gcor_queue queue;
    int of_overlaps; /* squares are of the second product (overlap.h) */
} gcor_work;

/* worker.c: a worker, with its device's state, its own sink, and panels of prepared variables. */
typedef struct gcor_worker gcor_worker;
gcor_status gcor_worker_open(gcor_context *context, gcor_work *work, gcor_state *state, gcor_sink *sink,
                             gcor_worker **worker);
/* Computes all pairs of a square; they are delivered by the end of the next finish(). */
gcor_status gcor_worker_multiply(gcor_worker *worker, const gcor_square *square);
/* Computes a rectangle of the grid; see gcor_worker_multiply(). */
gcor_status gcor_worker_multiply_tile(gcor_worker *worker, const gcor_tile *tile);
/* Computes all squares of the queue, if there is no other worker. */
gcor_status gcor_worker_multiply_all(gcor_worker *worker);
gcor_status gcor_worker_finish(gcor_worker *worker);
/* Frees the worker, also after an error. NULL is allowed. */
void gcor_worker_close(gcor_worker *worker);
/* Called before and after a tile of that many pairs, counted for each subject, for progress. An error is an
 * interrupt. */
gcor_status gcor_begin_pairs(gcor_context *context, int64_t pairs);
void gcor_end_pairs(gcor_context *context);
/* Min side of a square that keeps the worker's device busy. */
int64_t gcor_worker_min_side(const gcor_worker *worker);

/* slabs.c: replaces a worker's panels for overlaps. Holds adjacencies of some variables on its device, made on
 * demand. *slabs is the caller's, to free with gcor_slabs_close(); NULL after an error. */
typedef struct gcor_slabs gcor_slabs;
gcor_status gcor_slabs_open(gcor_context *context, gcor_work *work, gcor_state *state, gcor_sink *sink,
                            gcor_slabs **slabs);
/* Computes the overlaps of a rectangle of the grid; they are delivered by the end of the next finish(). */
gcor_status gcor_slabs_multiply(gcor_slabs *slabs, const gcor_tile *tile);
gcor_status gcor_slabs_finish(gcor_slabs *slabs);
/* Prepares all variables if there is no pair, as their flags are still needed. */
gcor_status gcor_slabs_prepare(gcor_slabs *slabs);
/* NULL is allowed. */
void gcor_slabs_close(gcor_slabs *slabs);
/* Min side of a square. */
int64_t gcor_slabs_min_side(const gcor_slabs *slabs);
/* Number of pairs of the first product that one pair of the second counts as, for the progress bar. */
int64_t gcor_overlap_weight(const gcor_work *work);

/* devices.c: computes all of work->queue on that many of the session's devices. If it is one, the next ones replace
 * it if it fails. job->devices_lost counts the devices that failed. An error: all devices failed, or another error
 * occurred. */
gcor_status gcor_distribute(gcor_work *work, gcor_context *context, int workers);
/* True if the status is a device's failure, so that another device may do the work. */
int gcor_is_of_device(gcor_status status);

/* workers.c: computes on the first n of the session's devices, each with that many threads. The sink must support
 * fork and merge. */
gcor_status gcor_use_devices(gcor_work *work, gcor_context *context, int n, int threads);

#endif
