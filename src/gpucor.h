/* The contract of gpucor: what the engine, the sources, the measures, the back ends and the sinks require of one
 * another. Read this first.
 *
 *   source -> prepare -> tiles of a shard -> multiply -> sink -> R object
 *
 * Vocabulary
 *   n_obs, n_var  numbers of observations (rows of x) and of variables (columns of x)
 *   source        provides columns (source/source.h)
 *   measure       defines a coefficient: a row of a table (measure/row.h, measure/measure.c)
 *   operand       columns prepared by a back end, so that a coefficient is one product
 *   tile          a rectangle of pairs: rows row .. row+n_row-1, columns col .. col+n_col-1, which are
 *                 0-based indices of variables; its values are stored row by row
 *   shard         a set of tiles, the same on every machine (base/shard.h)
 *   sink          consumes each coefficient as soon as it is computed, and keeps a result
 *   back end      prepares and multiplies: the CPU, CUDA
 *   session       open devices, and what they keep between runs (engine/session.h)
 *   run           one call of gcor_run(): all pairs of a shard, into a sink
 *
 * Rules for everything declared in these folders
 *   - no function calls R, prints, exits, or throws across this boundary;
 *   - a function that can fail returns a gcor_status, has written the reason to context->error,
 *     and has freed what it had acquired;
 *   - unless stated otherwise, a function is called by one thread at a time: the worker's, which
 *     owns the context;
 *   - a member of a table of functions is (required), or (optional) with what NULL means.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "measure/row.h"
#include "base/rounding.h"

/* Begin and end the declarations of a header that C++ (src/cuda) includes. */
#ifdef __cplusplus
#define GCOR_BEGIN_C extern "C" {
#define GCOR_END_C }
#else
#define GCOR_BEGIN_C
#define GCOR_END_C
#endif

GCOR_BEGIN_C

typedef enum {
    GCOR_OK = 0,
    GCOR_INTERRUPTED, /* the monitor asked to stop */
    GCOR_BAD_INPUT,   /* the data or a setting cannot be used; the message says why */
    GCOR_NO_MEMORY,   /* insufficient host memory */
    GCOR_NO_DEVICE_MEMORY,
    GCOR_NO_BACKEND,   /* the back end is not built in, or has no usable device */
    GCOR_DEVICE_ERROR, /* any other error of the device or its driver */
    GCOR_TOO_MANY,     /* more edges than a store may hold */
    GCOR_BAD_FILE      /* a file cannot be read or written, or is not what it should be; the message names it */
} gcor_status;

/* Treatment of missing values, with the names and numbers of stats::cor's argument `use`. */
typedef enum { GCOR_ALL_OBS = 1, GCOR_COMPLETE_OBS, GCOR_PAIRWISE, GCOR_EVERYTHING, GCOR_NA_OR_COMPLETE } gcor_use;

/* ---- errors, memory, interrupts ------------------------------------------------ */

typedef struct {
    gcor_status status;
    char message[512];
} gcor_error;

struct gcor_read_queue; /* source/source.h: requests for columns that only the owner's thread may read */

/* Interrupts and progress of one call, shared by its workers. Only the owner, the thread that called gcor_watch(),
 * calls check(), at most every 50 ms; all other threads read `stopped`. */
typedef struct {
    /* (optional; NULL: never stop) Returns non-zero to stop. fraction: of the pairs, those that are done. */
    int (*check)(void *user, double fraction);
    void *user;
    int64_t pairs, pairs_done;     /* of the current run; workers add to pairs_done atomically */
    double last_check;             /* time of the last check(), by gcor_seconds() */
    int stopped;                   /* set once, read by all threads */
    uintptr_t owner;               /* the thread that may call check() */
    struct gcor_read_queue *reads; /* NULL: the owner's thread is the only worker */
} gcor_monitor;

/* Returns a monitor owned by the calling thread. */
gcor_monitor gcor_watch(int (*check)(void *user, double fraction), void *user);

/* A worker's settings and state. */
typedef struct {
    int threads;           /* number of host threads, at least 1 */
    int64_t memory;        /* bytes for operands; 0: the back end decides */
    int64_t result_bytes;  /* of host memory that is allocated for the result, but not written to yet */
    gcor_monitor *monitor; /* shared by all workers */
    int64_t pairs_done;    /* this worker's part of the monitor's */
    int64_t tile_pairs;    /* pairs of the current tile, for the progress bar */
    double tile_fraction;  /* fraction of the current tile that is done, 0 to 1; a back end may set it */
    gcor_error error;      /* status GCOR_OK: none so far */
    double seconds_preparing, seconds_multiplying; /* of the run; the rest is opening, merging and closing */
} gcor_context;

/* Record an error, unless there is one already, and return its status. Any thread. */
gcor_status gcor_fail(gcor_context *context, gcor_status status, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Returns non-zero when the work should stop; context->error then says why. Any thread may call it; only the monitor's
 * owner calls check(). */
int gcor_stop(gcor_context *context);

double gcor_seconds(void); /* a monotonic clock, in seconds */

/* ---- columns ------------------------------------------------------------------- */

typedef struct gcor_source gcor_source; /* source.h */

typedef struct gcor_design gcor_design; /* design.h */

typedef struct gcor_shuffle gcor_shuffle; /* source.h */

/* Selected observations of a source. */
typedef struct {
    gcor_source *source;
    const int32_t *observed;   /* indices of the selected observations, ascending; NULL: all */
    int64_t n_obs;             /* the number of selected observations */
    const gcor_design *design; /* their weights and covariates; NULL: none */
    /* Permutes the selected observations; NULL: none. gcor_for_columns() permutes columns before they are prepared. If
     * gcor_shuffles_prepared() (measure.h), the back end permutes prepared columns instead. */
    const gcor_shuffle *shuffle;
} gcor_columns;

/* Flags of a variable, or-ed together. */
enum {
    GCOR_MISSING = 1,   /* has missing values */
    GCOR_INFINITE = 2,  /* has infinite values */
    GCOR_CONSTANT = 4,  /* has at least two values, and all are equal */
    GCOR_FEW = 8,       /* has fewer than two values, or than the measure's min_obs */
    GCOR_FELL_BACK = 16 /* the measure does not apply; another one was used instead */
};

/* ---- operands and tiles -------------------------------------------------------- */

/* The first member of every operand. The back end owns the operand, and frees it in release(). */
typedef struct {
    gcor_kind kind;
    int64_t first, n_var; /* variables first .. first+n_var-1 */
    int64_t n_obs;        /* values of a column: one for each observation, or gcor_column_length() */
    double *norm;         /* n_var, in host memory. 0: constant; -1: missing or too few values; NaN: coefficients
                           * are not defined, as some values are infinite */
    unsigned char *flags; /* n_var, in host memory: GCOR_MISSING ... */
} gcor_operand;

typedef struct {
    int64_t row, n_row, col, n_col;
} gcor_tile;

/* Which pairs (row, col) of a tile count. */
typedef enum {
    GCOR_UPPER, /* col > row: the triangle row by row, the order of `dist` */
    GCOR_LOWER, /* col < row: the triangle column by column */
    GCOR_FULL   /* all: variables of y (rows) against those of x (columns) */
} gcor_shape;

/* Shard `index`, from 0, of `of` shards (base/shard.h). {0, 1}: all tiles. */
typedef struct {
    int64_t index, of;
} gcor_shard;

/* ---- sinks ---------------------------------------------------------------------- */

typedef struct gcor_sink gcor_sink;
typedef struct gcor_pairs gcor_pairs; /* pairs.h */

/* Values that stand for a missing coefficient. A pair has a coefficient if its value is at most 1 (in an approximate
 * segment, at most 1 plus the segment's error). NaN stands for an infinite value in an exact segment, and for any of
 * the reasons in an approximate one. */
#define GCOR_NO_VALUE 2.0 /* a missing value, or too few pairwise-complete observations */
#define GCOR_ZERO_SD 3.0  /* one of the two variables is constant */

#define GCOR_EXACT_ERROR 1e-6  /* max error of a segment that is not approximate */
#define GCOR_COARSE_ERROR 0.03 /* max error of an approximate segment for a coarse sink */

/* Consecutive coefficients of one row: (row, col) .. (row, col+n-1), all of them pairs that count. Each is in [-1, 1],
 * or GCOR_NO_VALUE, GCOR_ZERO_SD or NaN. One of doubles, floats and counts is set; the others are NULL. Values are
 * within `error` of the exact coefficients. An approximate segment has an error above GCOR_EXACT_ERROR; it goes only to
 * sinks that accept it, and its values may exceed 1 by the error. */
typedef struct gcor_segment {
    int64_t row, col, n;
    const double *doubles;
    const float *floats;
    const int32_t *counts; /* numerators, for a sink of form GCOR_AS_COUNTS */
    double error;
    /* Write the exact coefficients of elements k[0 .. n-1] to r: the same numbers on every back end, of a sink of form
     * GCOR_AS_FLOATS in single precision. One call for many elements is cheaper than many calls. Any thread.
     * (optional; NULL: the values are as exact as they can be) */
    void (*refine)(const struct gcor_segment *segment, const int32_t *k, int64_t n, double *r);
    const void *rows, *cols; /* for refine(); from a back end with pairs(), the gcor_operand of each side */
    int64_t stride; /* of GCOR_EACH (combine.h): subject s has its values at doubles + s * stride; otherwise 0 */
} gcor_segment;

/* Value k as it was delivered. Any thread. */
static inline double gcor_value(const gcor_segment *segment, int64_t k) {
    return segment->floats ? segment->floats[k] : segment->doubles[k];
}

/* Returns values k .. k+n-1 as doubles, where they are, or converted to doubles in scratch[n]. Any thread. */
static inline const double *gcor_segment_values(const gcor_segment *segment, int64_t k, int64_t n, double *scratch) {
    if (segment->doubles) return segment->doubles + k;
    for (int64_t l = 0; l < n; l++) scratch[l] = segment->floats[k + l];
    return scratch;
}

/* Value k, exact if the segment has refine(). Any thread. */
static inline double gcor_exact_value(const gcor_segment *segment, int64_t k) {
    const int32_t element = (int32_t)k;
    double r = 0;
    if (!segment->refine) return gcor_value(segment, k);
    segment->refine(segment, &element, 1, &r);
    return r;
}

/* The format that a sink prefers. A back end may deliver doubles or floats instead. */
typedef enum {
    GCOR_AS_DOUBLES,
    GCOR_AS_FLOATS, /* of REAL columns, rounded to single precision, which is their accuracy, in half of the bytes */
    GCOR_AS_COUNTS  /* of SIGN columns: the product, an integer; the coefficient follows from the norms */
} gcor_form;

/* Kinds of sinks that others know. A back end may have a device half for such a kind, or for one that passes values on
 * to such a kind; every other sink gets its values through take(). */
typedef enum {
    GCOR_OTHER_ROLE,
    GCOR_STORE,
    GCOR_NEIGHBOURS,
    GCOR_DEGREES,
    GCOR_HISTOGRAM,
    GCOR_CONNECTIVITY,
    GCOR_MAXIMUM,
    GCOR_COMBINE,
    GCOR_MOMENTS,
    GCOR_COMPACT,
    GCOR_ADJACENCIES,
    GCOR_INFORMATION,
    GCOR_AGREEMENT
} gcor_role;

/* The functions of a kind of sink. Merging gives the same bytes however the tiles of a shard were distributed, in
 * whichever order. */
typedef struct {
    const char *name; /* (required) also the mark in a saved file */
    size_t size;      /* (required) bytes of the sink's struct, for gcor_sink_new() */
    gcor_role role;   /* (optional; 0: GCOR_OTHER_ROLE) tells others what the sink's struct is */
    /* (optional; 0: no) Non-zero if every value is kept: writing them then bounds the run, unless products are long. */
    int keeps_all;
    /* (required) Consume a segment. Called by several threads at once, each with its own index `thread` below
     * context->threads and its own pairs; segments come in any order. */
    gcor_status (*take)(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment);
    /* (optional; NULL: nothing to do) Called before the first and after the last segment of a tile. */
    gcor_status (*begin_tile)(gcor_sink *sink, gcor_context *context, const gcor_tile *tile);
    gcor_status (*end_tile)(gcor_sink *sink, gcor_context *context, const gcor_tile *tile);
    /* (optional; NULL: all coefficients are needed) Returns the size below which a coefficient is not needed; it may
     * rise from tile to tile. */
    double (*min)(const gcor_sink *sink);
    /* (optional; NULL: nothing to do) Make a copy of a sink an empty one with the same settings, for a worker with that
     * context: set all results, and every pointer to them, also before an error. */
    gcor_status (*allocate)(gcor_sink *sink, gcor_context *context);
    /* (optional; NULL: one worker does the run, unless the sink only passes on values) Move what `other`, a fork that
     * saw other tiles, has found into `sink`. `other` is empty then, and still the caller's. */
    gcor_status (*merge)(gcor_sink *sink, gcor_context *context, gcor_sink *other);
    /* (optional; NULL: no shards on files) Write what was found in a shard; read into an empty sink what a sink with
     * the same settings has written. The file is the caller's. A truncated file, or one that cannot have been written
     * by save(), is GCOR_BAD_FILE; the sink can then only be freed. */
    gcor_status (*save)(gcor_sink *sink, gcor_context *context, const gcor_shard *shard, FILE *file);
    gcor_status (*load)(gcor_sink *sink, gcor_context *context, FILE *file);
    /* (optional; NULL: the result does not depend on the order of variables) Undo a permutation after a run: the
     * variable at position k is number rows[k], or cols[k] on the columns' side; NULL: not permuted. The sink of a
     * triangle is given the same array twice. */
    gcor_status (*unpermute)(gcor_sink *sink, gcor_context *context, const int32_t *rows, const int32_t *cols);
    /* (optional; NULL: there is nothing but the struct) Free what the sink owns, but not the struct. */
    void (*release)(gcor_sink *sink);
} gcor_sink_type;

/* The first member of every sink. */
struct gcor_sink {
    const gcor_sink_type *type;
    gcor_shape shape;
    int64_t n_row, n_col; /* variables on the rows' side (y) and on the columns' side (x) */
    int approximate;      /* non-zero: take() accepts approximate segments, and calls refine() where it needs to */
    int coarse; /* non-zero, if approximate: errors may be up to GCOR_COARSE_ERROR, if a back end then computes
                 * faster, though refine() is called for more pairs: for few if min() exceeds such errors */
    gcor_form form;
    const gcor_pairs *pairs; /* set for a run with a pair mask: only these pairs need be delivered. NULL: all of them */
    /* Another sink of the same shape that take() passes values on to, as well or instead; it begins and ends each tile
     * with this one, and is forked, merged, saved and freed with it. NULL: none. */
    gcor_sink *of;
};

/* Returns a new, empty sink with the settings of `like`, a struct of the sink's kind; NULL after an error. The caller
 * frees it with gcor_sink_free(). */
void *gcor_sink_new(gcor_context *context, const void *like);
/* The same for a worker with that context: *other is the caller's, to merge or to free. */
gcor_status gcor_sink_fork(const gcor_sink *sink, gcor_context *context, gcor_sink **other);

/* Call the functions of the sink's type, and those of `of`; functions that are NULL do nothing. gcor_sink_free() allows
 * NULL. */
gcor_status gcor_begin_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile);
gcor_status gcor_end_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile);
gcor_status gcor_sink_merge(gcor_sink *sink, gcor_context *context, gcor_sink *other);
gcor_status gcor_sink_unpermute(gcor_sink *sink, gcor_context *context, const int32_t *rows, const int32_t *cols);
void gcor_sink_free(gcor_sink *sink);
/* Returns whether several workers may do the run: the sink, or `of`, has merge(). */
int gcor_sink_merges(const gcor_sink *sink);

/* Deliver a whole tile to a sink, from begin_tile() to end_tile(), by context->threads threads. The values, doubles or
 * floats, the other being NULL, are those of the pairs that count, row by row without gaps (triangle.h:
 * gcor_tile_offset()). */
gcor_status gcor_take_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile, const double *doubles,
                           const float *floats);

/* save() and load() with a mark of the kind of sink in front; another sink's file is GCOR_BAD_FILE. What is loaded is
 * added to what the sink has; after an error the sink is unchanged, except that a dense sink's memory may have been
 * written to. */
gcor_status gcor_sink_save(gcor_sink *sink, gcor_context *context, const gcor_shard *shard, FILE *file);
gcor_status gcor_sink_load(gcor_sink *sink, gcor_context *context, FILE *file);

/* ---- back ends ------------------------------------------------------------------ */

typedef struct gcor_adjacency gcor_adjacency; /* sink/adjacency.h */

/* How a device does a run of topological overlaps (overlap.h). */
typedef struct {
    int64_t n_row, n_col; /* max sides of a tile */
    int64_t bytes;        /* of the adjacencies of one variable with all others */
    int64_t memory;       /* bytes for adjacencies */
    int64_t operands;     /* bytes for operands of the run of coefficients */
} gcor_overlap_plan;

struct gcor_hclust; /* stats/hclust.h */

typedef struct gcor_state gcor_state; /* a back end's own: an open device of a session */

/* A back end. One that is not part of the build has a name and count() only, which returns 0 and says why. */
typedef struct {
    const char *name; /* (required) R's argument `backend` */

    /* (required) Returns the number of devices, which have indices from 0, without opening any. If it is 0, the reason
     * is in reason[size]. */
    int (*count)(char *reason, size_t size);
    /* (required) Open a device for a session. *state: the caller's, to end with close(); NULL after an error. */
    gcor_status (*open)(gcor_context *context, int device, gcor_state **state);
    /* (required) Free everything. NULL is allowed. */
    void (*close)(gcor_state *state);

    /* (required) Begin a run into `sink` (NULL: columns are only prepared), by the worker that owns the context. kind:
     * of the operands, of the first data set if there are several. After an error there is no end(). */
    gcor_status (*begin)(gcor_state *state, gcor_context *context, gcor_sink *sink, gcor_kind kind);
    /* (required) End the run, also after an error: nothing is in flight when it returns. Buffers that a later run can
     * use are kept, up to a limit. */
    void (*end)(gcor_state *state);

    /* (required) Returns the bytes that all operands together may take. */
    int64_t (*memory)(const gcor_state *state);
    /* (required) Returns the bytes of an operand per variable. n_obs: as in gcor_operand. */
    int64_t (*column_bytes)(const gcor_state *state, gcor_kind kind, int64_t n_obs);
    /* (required) Max sides of a tile for multiply(): powers of two, and *n_row divides *n_col. No result may depend on
     * them. */
    void (*tile_size)(const gcor_state *state, gcor_kind kind, int64_t n_obs, int64_t *n_row, int64_t *n_col);

    /* (required) Prepare variables first .. first+n_var-1 as `kind`, one of the measure's two. *operand: the back
     * end's, freed by release() before end(); NULL after an error. */
    gcor_status (*prepare)(gcor_state *state, const gcor_columns *columns, const gcor_measure *measure, gcor_kind kind,
                           int64_t first, int64_t n_var, gcor_operand **operand);
    void (*release)(gcor_state *state, gcor_operand *operand); /* (required) */
    /* Write column j, from 0, of a REAL or DOUBLE operand to column[n_obs]. Any thread. (optional; NULL: columns are in
     * the device's memory) */
    void (*column)(const gcor_operand *operand, int64_t j, double *column);

    /* (required) Multiply a tile, which lies within both operands, and deliver its values to the run's sink, now or
     * later. The operands stay until finish(). Operands of kind GCOR_ADJACENCY are parts of a gcor_adjacency, in host
     * memory or where a run on this device has left them (keeps_adjacency); their values are floats, and the tile is
     * one that plan_overlap() asks for. */
    gcor_status (*multiply)(gcor_state *state, const gcor_operand *rows, const gcor_operand *cols,
                            const gcor_tile *tile);
    /* (required) Deliver the values of every multiply() so far. */
    gcor_status (*finish)(gcor_state *state);

    /* Coefficients of (row, col + k[0 .. n-1]) in each of `sets` pairs of REAL operands, n for each set, in single
     * precision as a sink of form GCOR_AS_FLOATS gets them: the numbers that an approximate segment stands for. r NULL:
     * only prefetch the columns. Any thread. (optional; NULL: multiply() delivers no approximate segments of combined
     * coefficients, even if their sink accepts them) */
    void (*pairs)(const gcor_operand *const *rows, const gcor_operand *const *cols, int64_t sets, int64_t row,
                  int64_t col, const int32_t *k, int64_t n, double *r);

    /* (required) Returns the side of squares of overlaps that may be computed apart with the same result, a power of
     * two and at least 32. */
    int64_t (*overlap_side)(int64_t n_var);
    /* (required) Plan a run of overlaps of n_var variables by the memory that is free. */
    gcor_status (*plan_overlap)(gcor_state *state, gcor_context *context, int64_t n_var, gcor_overlap_plan *plan);
    /* (optional; NULL: a negligible amount) Returns the min bytes of host memory for such a run beside its result. */
    int64_t (*overlap_memory)(int64_t n_var);
    /* (required) Merge clusters until one is left (stats/hclust.h), outside of a run. The merges do not depend on the
     * back end, nor on its devices. */
    gcor_status (*cluster)(gcor_state *state, gcor_context *context, const struct gcor_hclust *job);
    /* Returns non-zero if it prepares GCOR_PAIR_COMMON, GCOR_BINNED_COMMON and GCOR_DISTANCE_COMMON columns of such a
     * measure and design (optional; NULL: all of them). */
    int (*has_single_pairs)(const gcor_measure *measure, const gcor_design *design);

    /* Properties (optional; 0: no). */
    int keeps_adjacency; /* adjacencies stay on the device that made them */
    int is_host;         /* computes by the context's threads in host memory: sessions may run side by side, by a thread
                          * each, and small tiles are no slower than large ones */
} gcor_backend;

/* Back end number k, from 0, in order of preference, or by its name; NULL if there is none (r/job.c). */
const gcor_backend *gcor_backend_at(int k);
const gcor_backend *gcor_backend_named(const char *name);

extern const gcor_backend gcor_cpu;
#ifdef GPUCOR_CUDA
extern const gcor_backend gcor_cuda;
#endif

/* ---- the run -------------------------------------------------------------------- */

typedef struct gcor_session gcor_session;     /* session.h */
typedef struct gcor_pair_rule gcor_pair_rule; /* pairs.h */

typedef struct {
    gcor_source *x, *y; /* y NULL: x against itself */
    const gcor_measure *measure;
    const gcor_design *design;   /* weights, covariates and the measure's options; NULL: none. With a combination each
                                  * subject has its own */
    const gcor_shuffle *shuffle; /* permutes y's observations, or x's if y is NULL; NULL: none. Not with a
                                  * combination */
    const struct gcor_combination *combination; /* combine.h: several subjects; x and y are then the first one's. NULL:
                                                 * one data set */
    int in_double;                              /* non-zero: columns and products of REAL operands are doubles */
    gcor_use use;
    int64_t min_obs; /* pairs with fewer pairwise-complete observations have no coefficient; 0: the measure's own min */
    const struct gcor_overlap_rule *overlap; /* overlap.h: the sink gets topological overlaps; y is NULL. NULL: it gets
                                              * coefficients */
    gcor_sink *sink;
    gcor_shard shard;
    const gcor_pair_rule *pairs; /* pairs.h: a mask of pairs, for a run of all shards into a sink that does not keep all
                                  * values. NULL: all pairs */
    unsigned char *x_flags, *y_flags; /* n_var each, the caller's, cleared before the run: the flags of every variable
                                       * that is in a pair of the shard, in any subject */
    double *x_norm; /* n_var, the caller's, where y is NULL: the norm of each such variable, written before a pair of it
                     * is delivered. NULL: not needed */
    /* Written by the run: */
    int64_t n_obs_used; /* the number of observations that were used, of all subjects together */
    int devices_lost;   /* the number of devices that failed; others did their work */
    gcor_error lost;    /* the error of the last device that failed */
} gcor_job;

/* Compute all pairs of the job's shard on the session's devices. Nothing stays acquired but what the session keeps,
 * whatever it returns. With GCOR_NA_OR_COMPLETE and no complete observation, and with n_obs = 0, it returns GCOR_OK and
 * delivers nothing. */
gcor_status gcor_run(gcor_session *session, gcor_context *context, gcor_job *job);

GCOR_END_C
