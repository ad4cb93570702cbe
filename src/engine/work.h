/* The work of a run: the data, the squares of pairs to compute, and the workers that compute them, one per device. */
#ifndef GPUCOR_WORK_H
#define GPUCOR_WORK_H

#include "../sink/combine.h"
#include "../measure/overlap.h"
#include "../base/shard.h"
#include "../source/source.h"

/* What a run needs of one data set: of the only one, or of a subject. */
typedef struct {
    gcor_columns rows, cols; /* of y, or again of x; of x */
    gcor_kind kind;
    int64_t length; /* n_obs of its operands */
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
    const gcor_data *data; /* n_data: one, or one for each subject of job->combination */
    int64_t n_data;
    unsigned char *row_flags, *col_flags; /* the job's */
    double *col_norm;                     /* the job's, or NULL */
    gcor_grid grid;
    gcor_queue queue;
    int64_t pair_weight; /* how much a pair counts for in the progress */
};

/* The workers of the three kinds of runs: coefficients.c, one data set or several; overlap.c. */
gcor_status gcor_open_coefficients(gcor_context *context, gcor_work *work, gcor_state *state, gcor_sink *sink,
                                   gcor_worker **worker);
gcor_status gcor_open_subjects(gcor_context *context, gcor_work *work, gcor_state *state, gcor_sink *sink,
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
#endif
