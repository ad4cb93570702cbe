/* The workers of a run: a thread for each device, which draw squares of the share from a queue until none is left. */
#ifndef GPUCOR_WORKERS_H
#define GPUCOR_WORKERS_H

#include "combine.h"
#include "overlap.h"
#include "shard.h"
#include "../source/source.h"

/* What a run needs of a subject's data. */
typedef struct {
    gcor_columns rows, cols; /* of y, or again x; of x */
    gcor_kind kind;
} gcor_data;

/* What all workers of a run have in common. */
typedef struct {
    gcor_session *session;
    gcor_job *job;
    gcor_columns rows, cols;              /* of y, or again x; of x; of several subjects, those of the first */
    const gcor_data *subjects;            /* of all of them, where there is a job->combination; NULL: one */
    unsigned char *row_flags, *col_flags; /* the job's */
    double *col_norm;                     /* the job's, or NULL */
    gcor_kind kind;
    gcor_grid grid;
    gcor_queue queue;
    int of_overlaps; /* squares are of the second product (overlap.h) */
} gcor_work;

/* worker.c: one of them, with its device's state and its own sink, and the panels of variables that are ready. */
typedef struct gcor_worker gcor_worker;
gcor_status gcor_worker_open(gcor_context *context, gcor_work *work, gcor_state *state, gcor_sink *sink,
                             gcor_worker **worker);
/* All pairs of a square; they are delivered by the end of the next finish(). */
gcor_status gcor_worker_multiply(gcor_worker *worker, const gcor_square *square);
/* Likewise of a rectangle of the grid. */
gcor_status gcor_worker_multiply_tile(gcor_worker *worker, const gcor_tile *tile);
/* All squares of the queue, where there is no other worker. */
gcor_status gcor_worker_multiply_all(gcor_worker *worker);
gcor_status gcor_worker_finish(gcor_worker *worker);
/* Release what it has; after an error, too. NULL is allowed. */
void gcor_worker_close(gcor_worker *worker);
/* Before and after a tile of so many pairs, which count for each subject. An error: there was an interrupt. */
gcor_status gcor_begin_pairs(gcor_context *context, int64_t pairs);
void gcor_end_pairs(gcor_context *context);
/* How long a square's side should be at least, for the worker's device to be busy. */
int64_t gcor_worker_min_side(const gcor_worker *worker);

/* slabs.c: what a worker has where the work is of overlaps. Of its device the adjacencies of some variables, made when
 * they are wanted; *slabs is the caller's, to end with gcor_slabs_close(), NULL after an error. */
typedef struct gcor_slabs gcor_slabs;
gcor_status gcor_slabs_open(gcor_context *context, gcor_work *work, gcor_state *state, gcor_sink *sink,
                            gcor_slabs **slabs);
/* The overlaps of a rectangle of the grid; they are delivered by the end of the next finish(). */
gcor_status gcor_slabs_multiply(gcor_slabs *slabs, const gcor_tile *tile);
gcor_status gcor_slabs_finish(gcor_slabs *slabs);
/* Where there is no pair, what is known of the variables is still asked for. */
gcor_status gcor_slabs_prepare(gcor_slabs *slabs);
/* NULL is allowed. */
void gcor_slabs_close(gcor_slabs *slabs);
/* How long a square's side should be at least. */
int64_t gcor_slabs_min_side(const gcor_slabs *slabs);
/* How many pairs of the first product one of the second counts as, for the progress bar. */
int64_t gcor_overlap_weight(const gcor_work *work);

/* devices.c: do all of work->queue, on so many of the session's devices; where that is one, the next ones stand in
 * for it should it fail. job->devices_lost counts those that failed. An error: all did, or something else went wrong.
 */
gcor_status gcor_distribute(gcor_work *work, gcor_context *context, int workers);
/* Whether it is the device that failed, so that another one may do what it had to do. */
int gcor_is_of_device(gcor_status status);

/* workers.c: by the first n of the session's devices, each with so many threads. The sink can be forked and merged. */
gcor_status gcor_use_devices(gcor_work *work, gcor_context *context, int n, int threads);

#endif
