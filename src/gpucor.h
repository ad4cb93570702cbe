/* The contract of gpucor: what the tile loop, the sources, the measures, the back ends and the sinks ask of one
 * another. Read this first.
 *
 *   source -> prepare -> share of the tiles -> multiply -> sink -> R object
 *
 * Vocabulary
 *   n_obs, n_var  observations (rows of x) and variables (columns of x)
 *   source        where columns come from (source.h)
 *   measure       what a coefficient is: a row of a table (gpucor/measure.h, measure.c)
 *   operand       columns made ready by a back end, so that a coefficient is one product
 *   tile          a rectangle of pairs: rows row .. row+n_row-1, columns col .. col+n_col-1,
 *                 0-based numbers of variables; its values lie row by row
 *   share         a set of the tiles, the same on every machine (shard.h)
 *   sink          what is done with a coefficient the moment it exists
 *   session       devices and what they keep between runs (session.h)
 *
 * Rules for everything declared in these folders but r/
 *   - no function calls R, prints, exits or throws across this boundary;
 *   - a function that can fail returns a gcor_status and has written the reason to
 *     context->error; what it had acquired itself is freed again;
 *   - unless said otherwise a function is called by one thread at a time: the worker's, to whom
 *     the context belongs.
 */
#ifndef GPUCOR_H
#define GPUCOR_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "../inst/include/gpucor/measure.h"
#include "base/rounding.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    GCOR_OK = 0,
    GCOR_INTERRUPTED, /* the monitor asked to stop */
    GCOR_BAD_INPUT,   /* the data or a setting cannot be used; the message says why */
    GCOR_NO_MEMORY,   /* host memory */
    GCOR_NO_DEVICE_MEMORY,
    GCOR_NO_BACKEND,   /* back end not built in, or no usable device */
    GCOR_DEVICE_ERROR, /* any other error of the device or its driver */
    GCOR_TOO_MANY,     /* more edges than a store may hold */
    GCOR_BAD_FILE      /* a saved sink cannot be written, or what is read is none */
} gcor_status;

/* Missing values, as in stats::cor; the numbers are those that stats::cor uses. */
typedef enum { GCOR_ALL_OBS = 1, GCOR_COMPLETE_OBS, GCOR_PAIRWISE, GCOR_EVERYTHING, GCOR_NA_OR_COMPLETE } gcor_use;

/* ---- errors, memory, interrupts ------------------------------------------------ */

typedef struct {
    gcor_status status;
    char message[512];
} gcor_error;

/* Asked now and then whether to go on. There is one for a call, and its workers share it. check() is called only
 * from the thread that made it with gcor_watch(), at most every 50 ms; share is the part of the pairs that is
 * done. Everybody else looks at `stopped`. */
struct gcor_read_queue; /* source/read_queue.h */
typedef struct {
    int (*check)(void *user, double fraction); /* non-zero: stop; NULL: never stop */
    void *user;
    int64_t pairs, pairs_done;     /* pairs_done: added to by all workers */
    double before, part;           /* of what is asked for as one, what runs before this one were, and what it is */
    double last_check;             /* seconds, gcor_seconds() */
    int stopped;                   /* set once, read by all threads */
    uintptr_t owner;               /* the thread that may call check() */
    struct gcor_read_queue *reads; /* NULL: the owner is the only thread that reads */
} gcor_monitor;

/* A monitor that belongs to the thread at hand. */
gcor_monitor gcor_watch(int (*check)(void *user, double fraction), void *user);

/* A worker's settings and state. */
typedef struct {
    int threads;          /* host threads to use, >= 1 */
    int64_t memory;       /* bytes for operands; 0: the back end decides */
    int64_t result_bytes; /* of the result in host memory, which is allocated and not yet written to */
    gcor_monitor *monitor;
    int64_t pairs_done; /* of the monitor's, those that this worker has done */
    int64_t tile_pairs; /* of the tile in work; a back end may set the share, 0 to 1, for the progress bar */
    double tile_fraction;
    gcor_error error;
    double seconds_preparing, seconds_multiplying; /* of the run; the rest is opening, merging and closing */
} gcor_context;

/* Record an error (the first one wins) and return its status. Any thread. */
gcor_status gcor_fail(gcor_context *context, gcor_status status, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Non-zero when the work should stop; context->error then says why. Any thread may ask; only the monitor's owner
 * passes the question on to check(). */
int gcor_stop(gcor_context *context);

double gcor_seconds(void); /* a monotonic clock */

/* ---- columns ------------------------------------------------------------------- */

typedef struct gcor_source gcor_source; /* source.h */

typedef struct gcor_design gcor_design; /* design.h */

/* A source of which only some observations count. */
typedef struct {
    gcor_source *source;
    const int32_t *observed;   /* the observations that count, ascending; NULL: all */
    int64_t n_obs;             /* how many those are */
    const gcor_design *design; /* of these observations, for whoever prepares the columns; NULL: none */
} gcor_columns;

/* What is known of a variable; or-ed together. */
enum {
    GCOR_MISSING = 1,   /* has missing values */
    GCOR_INFINITE = 2,  /* has infinite values */
    GCOR_CONSTANT = 4,  /* at least two values, all the same */
    GCOR_FEW = 8,       /* fewer than two values */
    GCOR_FELL_BACK = 16 /* treated in another way than its measure's, as that does not do for it */
};

/* ---- operands and tiles -------------------------------------------------------- */

/* What every back end's operand begins with. Owned by the back end, freed by release(). */
typedef struct {
    gcor_kind kind;
    int64_t first, n_var, n_obs; /* variables first .. first+n_var-1 */
    double *norm;                /* n_var, on the host. 0: constant; -1: missing or too few values;
                                  * NaN: not a number, as some are infinite */
    unsigned char *flags;        /* n_var, on the host: GCOR_MISSING ... */
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

/* One of `of` parts of all tiles, from 0; see shard.h. {0, 1}: all of them. */
typedef struct {
    int64_t index, of;
} gcor_shard;

/* ---- sinks ---------------------------------------------------------------------- */

typedef struct gcor_sink gcor_sink;
typedef struct gcor_pairs gcor_pairs; /* pairs.h */

/* Instead of a coefficient, above any. A pair has a coefficient if its value is at most 1 (in a cheap segment, 1
 * and the segment's error): these two are not, nor is NaN, which stands for an infinite value in an exact segment
 * and for any of the reasons in a cheap one. */
#define GCOR_NO_VALUE 2.0 /* a missing value, or fewer than two common observations */
#define GCOR_ZERO_SD 3.0  /* one of the two is constant */

/* A run of coefficients of one row: (row, col) .. (row, col+n-1), all of them pairs that
 * count. Each is in [-1, 1], or GCOR_NO_VALUE, GCOR_ZERO_SD, or NaN (an infinite value).
 * All pointers but one are NULL. They are within `error` of the exact coefficients, which exact() gives
 * for elements k[0 .. n-1], to r: the same numbers on every back end, and the cheaper the more are
 * asked for at once. exact NULL: they are exact, or cannot be had better. A cheap segment, for sinks
 * that take it (error above 1e-6), may be above 1 by its error. */
typedef struct gcor_segment {
    int64_t row, col, n;
    const double *doubles;
    const float *floats;
    const int32_t *counts; /* numerators instead, for a sink that wants them; the others are NULL */
    double error;
    void (*refine)(const struct gcor_segment *segment, const int32_t *k, int64_t n, double *r);
    const void *rows, *cols; /* exact()'s own */
    int64_t stride; /* of GCOR_EACH (combine.h): subject s has its values at doubles + s * stride; otherwise 0 */
} gcor_segment;

/* Element k as it was handed over. Any thread. */
static inline double gcor_value(const gcor_segment *segment, int64_t k) {
    return segment->floats ? segment->floats[k] : segment->doubles[k];
}

/* As exact as it can be had. Any thread. */
static inline double gcor_exact_value(const gcor_segment *segment, int64_t k) {
    const int32_t element = (int32_t)k;
    double r = 0;
    if (!segment->refine) return gcor_value(segment, k);
    segment->refine(segment, &element, 1, &r);
    return r;
}

/* How a sink would rather have coefficients; a back end that has them otherwise hands over doubles or floats. */
typedef enum {
    GCOR_AS_DOUBLES,
    GCOR_AS_FLOATS, /* of REAL columns, rounded to single precision: what is known of them, and half the bytes */
    GCOR_AS_COUNTS  /* of SIGN columns: the product, a whole number; the coefficient follows from the norms */
} gcor_form;

/* What a kind of sink can do. Only take() and free() must be there for a run on one worker; a sink that is to be
 * shared between workers has fork() and merge(), one that is to be stored save() and load(). Whatever saw the tiles
 * of a share, in whichever order, merging gives the same bytes.
 *
 * A back end that can do a sink's work on the device finds its way by the address of this table; every other sink
 * gets its values through take(). */
typedef struct {
    const char *name;
    int keeps_all; /* every value is kept: what bounds a run is then the memory that they go to, unless products are
                      long */
    /* Any thread, several at once, each with its own `thread` number below
     * context->threads and its own pairs; segments come in no order. */
    gcor_status (*take)(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment);
    /* Before the first and after the last segment of a tile; NULL: no need. */
    gcor_status (*begin_tile)(gcor_sink *sink, gcor_context *context, const gcor_tile *tile);
    gcor_status (*end_tile)(gcor_sink *sink, gcor_context *context, const gcor_tile *tile);
    /* Coefficients of a smaller size than this, which may rise from tile to tile, are of no use: none need be handed
     * over. NULL: all are. */
    double (*min)(const gcor_sink *sink);
    /* *other: an empty sink of the same settings, for a worker with that context; NULL after an error. The caller
     * merges it or frees it. */
    gcor_status (*fork)(gcor_sink *sink, gcor_context *context, gcor_sink **other);
    /* Take over what `other`, a fork that saw other tiles, has found; it is empty then, and still the caller's. */
    gcor_status (*merge)(gcor_sink *sink, gcor_context *context, gcor_sink *other);
    /* Write what was found in a share of the tiles; read into an empty sink what one of the same settings has written.
     * The file is the caller's. What is cut off, or could not have been written, is GCOR_BAD_FILE; the sink can then
     * only be freed. */
    gcor_status (*save)(gcor_sink *sink, gcor_context *context, const gcor_shard *shard, FILE *file);
    gcor_status (*load)(gcor_sink *sink, gcor_context *context, FILE *file);
    /* After a run that had variables in another order: what stood at place k is variable rows[k], or cols[k] of the
     * columns' side; NULL: they stood as they are. The sink of a triangle is given the same twice. NULL: its result
     * does not depend on that. */
    gcor_status (*unpermute)(gcor_sink *sink, gcor_context *context, const int32_t *rows, const int32_t *cols);
    void (*free)(gcor_sink *sink);
} gcor_sink_type;

struct gcor_sink {
    const gcor_sink_type *type;
    gcor_shape shape;
    int64_t n_row, n_col; /* variables of the rows' side (y) and of the columns' (x) */
    int approximate;      /* a cheap value with its error will do: take() asks for the exact ones */
    gcor_form form;
    const gcor_pairs *pairs; /* of a run: those that count, no others need be handed over. NULL: all do */
    int of_overlaps;         /* of a run: what comes is a second product (overlap.h), not coefficients */
};

/* The type's functions; begin and end do nothing where it has none. gcor_sink_free() may be given NULL. */
gcor_status gcor_begin_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile);
gcor_status gcor_end_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile);
void gcor_sink_free(gcor_sink *sink);

/* Hand over a whole tile's values, its begin and end included: the pairs that count, row by row
 * without gaps (triangle.h: gcor_tile_offset), as floats or as doubles. Uses context->threads
 * threads. */
gcor_status gcor_take_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile, const double *doubles,
                           const float *floats);

/* To a file and back, with a mark that says which sink it is (save(), load() above). What is loaded is added to what
 * the sink has; after an error nothing is, but that a dense one's memory may have been written to. Another sink's file
 * is GCOR_BAD_FILE. */
gcor_status gcor_sink_save(gcor_sink *sink, gcor_context *context, const gcor_shard *shard, FILE *file);
gcor_status gcor_sink_load(gcor_sink *sink, gcor_context *context, FILE *file);

/* ---- back ends ------------------------------------------------------------------ */

typedef struct gcor_adjacency gcor_adjacency; /* sink/adjacency.h */

/* Of a second product. */
typedef struct {
    int64_t n_row, n_col; /* of a tile, at most */
    int64_t bytes;        /* of the adjacencies of a variable with all others */
    int64_t memory;       /* for adjacencies */
    int64_t operands;     /* for operands of the first product */
} gcor_overlap_plan;

typedef struct gcor_state gcor_state; /* a back end's own: one for each device of a session */

typedef struct {
    const char *name;

    /* How many devices there are to open, numbered from 0; none: why not, in reason[size]. Opens nothing. */
    int (*count)(char *reason, size_t size);
    /* Open a device for a session: streams, and what runs have in common. *state is NULL after an error. */
    gcor_status (*open)(gcor_context *context, int device, gcor_state **state);
    /* Free everything. NULL is allowed. */
    void (*close)(gcor_state *state);

    /* A run that ends in `sink`, by the worker with that context, until end(). Should it fail, there is no end(). */
    gcor_status (*begin)(gcor_state *state, gcor_context *context, gcor_sink *sink);
    /* Nothing is in flight after it, whatever happened before. What a later run can use is kept, within bounds. */
    void (*end)(gcor_state *state);

    /* Bytes that all operands together may take. */
    int64_t (*memory)(const gcor_state *state);
    /* Bytes of an operand, per variable. */
    int64_t (*column_bytes)(const gcor_state *state, gcor_kind kind, int64_t n_obs);
    /* How large pieces of the tiles multiply() wants to have, n_row divides n_col, both powers of two. No
     * result may depend on it. */
    void (*tile_size)(const gcor_state *state, gcor_kind kind, int64_t n_obs, int64_t *n_row, int64_t *n_col);

    /* Make variables first .. first+n_var-1 ready, as `kind`, which is one of the measure's two; *operand is the
     * back end's, NULL after an error, freed by release() before end(). */
    gcor_status (*prepare)(gcor_state *state, const gcor_columns *columns, const gcor_measure *measure, gcor_kind kind,
                           int64_t first, int64_t n_var, gcor_operand **operand);
    void (*release)(gcor_state *state, gcor_operand *operand);

    /* Compute a tile of rows x cols and hand it to begin()'s sink, now or later. The operands stay
     * until finish(); `tile` lies within them. */
    gcor_status (*multiply)(gcor_state *state, const gcor_operand *rows, const gcor_operand *cols,
                            const gcor_tile *tile);
    /* After it returns, every coefficient of every multiply() has been delivered. */
    gcor_status (*finish)(gcor_state *state);

    /* Coefficients of (row, col + k[0 .. n-1]) in each of `sets` REAL operands, n after n of them, to single precision
     * as a sink gets them that asks for floats: what a cheap value stands for, where a sink that adds cheap values up
     * wants to know. r NULL: their columns are prefetched into the cache. Any thread. NULL: this back end has no cheap
     * values for take(). */
    void (*pairs)(const gcor_operand *const *rows, const gcor_operand *const *cols, int64_t sets, int64_t row,
                  int64_t col, const int32_t *k, int64_t n, double *r);

    /* The side of squares of pairs that may be done apart without another result, a power of two of 32 at least. */
    int64_t (*overlap_side)(int64_t n_var);
    /* How such a run of n_var variables goes about it, by what is free. */
    gcor_status (*plan_overlap)(gcor_state *state, gcor_context *context, int64_t n_var, gcor_overlap_plan *plan);
    /* Min bytes of host memory that such a run takes beside its result (optional; NULL: next to none). */
    int64_t (*overlap_memory)(int64_t n_var);
    int keeps_adjacency;
    int is_host;
    int has_single_pairs;
} gcor_backend;

/* Number k of the back ends, from 0, and the one of a name (src/backends.c); NULL: there is none. */
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
    const gcor_design *design; /* weights of observations, what columns are freed of, the measure's options; NULL: none.
                                * Of several subjects each has its own */
    const struct gcor_combination *combination; /* combine.h: many subjects, of which x and y are the first one's;
                                                 * NULL: one */
    int in_double;                              /* columns and products of real numbers are */
    gcor_use use;
    const struct gcor_overlap_rule *overlap; /* overlap.h: what goes to the sink is the topological overlap of the
                                              * coefficients; y is NULL then. NULL: they do themselves */
    gcor_sink *sink;
    gcor_shard shard;
    const gcor_pair_rule *pairs; /* which pairs count, of all shares, for a sink that does not keep all; NULL: all */
    unsigned char *x_flags, *y_flags; /* n_var each, the caller's and cleared: what is known of every variable that
                                       * is in a pair of the share, in any subject */
    double *x_norm; /* NULL, or n_var, the caller's, where y is NULL: the norm of each such variable, as operands have
                     * it, there before a pair of it is delivered */
    /* Written by the run: */
    int64_t n_obs_used; /* the observations that counted, of all subjects */
    int devices_lost;   /* whose work others did; the reason of the last of them is in `lost` */
    gcor_error lost;
} gcor_job;

/* The share's pairs of the job, on the session's devices. Whatever it returns, nothing is left acquired but what the
 * session keeps. With GCOR_NA_OR_COMPLETE and no complete observation, and with n_obs = 0, it returns GCOR_OK and
 * there is no coefficient. */
gcor_status gcor_run(gcor_session *session, gcor_context *context, gcor_job *job);

#ifdef __cplusplus
}
#endif
#endif
