/* The contract of gpucor: what the tile loop, the back ends and the sinks ask of
 * one another. Read this first.
 *
 *   R matrix -> prepare -> tile loop -> multiply -> sink -> R object
 *
 * Vocabulary
 *   n_obs, n_var  observations (rows of x) and variables (columns of x)
 *   operand       columns made ready by a back end, so that a coefficient is one product
 *   tile          a rectangle of pairs: rows row .. row+n_row-1, columns col .. col+n_col-1,
 *                 0-based numbers of variables; its values lie row by row
 *   sink          what is done with a coefficient the moment it exists
 *
 * Rules for everything declared under core/, cpu/ and cuda/
 *   - no function calls R, prints, exits or throws across this boundary;
 *   - a function that can fail returns a gcor_status and has written the reason to
 *     context->error; what it had acquired itself is freed again;
 *   - unless said otherwise a function is called by the thread that called gcor_run().
 */
#ifndef GPUCOR_H
#define GPUCOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    GCOR_OK = 0,
    GCOR_INTERRUPTED,      /* the monitor asked to stop */
    GCOR_BAD_INPUT,        /* the data or a setting cannot be used; the message says why */
    GCOR_NO_MEMORY,        /* host memory */
    GCOR_NO_DEVICE_MEMORY,
    GCOR_NO_BACKEND,       /* back end not built in, or no usable device */
    GCOR_DEVICE_ERROR,     /* any other error of the device or its driver */
    GCOR_TOO_MANY          /* more edges than a store may hold */
} gcor_status;

typedef enum { GCOR_PEARSON, GCOR_KENDALL, GCOR_SPEARMAN } gcor_method;

/* Missing values, as in stats::cor; the numbers are those that stats::cor uses. */
typedef enum {
    GCOR_ALL_OBS = 1,
    GCOR_COMPLETE_OBS,
    GCOR_PAIRWISE,
    GCOR_EVERYTHING,
    GCOR_NA_OR_COMPLETE
} gcor_use;

/* What kind of operand a method becomes; one product per kind.
 * The _COMMON kinds look at the rows that both columns of a pair have. */
typedef enum {
    GCOR_REAL,        /* float32 columns: dot / sqrt(norm norm') */
    GCOR_SIGN,        /* signs of all differences within a column: sum / sqrt(norm norm') */
    GCOR_REAL_COMMON, /* Pearson's moments over the common rows, in double */
    GCOR_RANK_COMMON, /* ranks among the common rows, then as Pearson, in integers */
    GCOR_SIGN_COMMON  /* signs of the differences between common rows */
} gcor_kind;

/* ---- errors, memory, interrupts ------------------------------------------------ */

typedef struct {
    gcor_status status;
    char message[512];
} gcor_error;

/* Asked now and then whether to go on. check() is called from the thread that called
 * gcor_run() only, at most every 50 ms; share is the part of the pairs that is done. */
typedef struct {
    int (*check)(void *user, double share); /* non-zero: stop; NULL: never stop */
    void *user;
    double pairs_done, pairs;
    double tile_pairs, tile_share; /* of the tile in work; a back end may set the share, 0 to 1 */
    double last_check; /* seconds, gcor_seconds() */
    int stopped;       /* set once, read by all threads */
} gcor_monitor;

/* One run's settings and state; owned by gcor_run(), lent to the back end until close(). */
typedef struct {
    int threads;    /* host threads to use, >= 1 */
    int64_t memory; /* bytes for operands; 0: the back end decides */
    int device;     /* which GPU, from 0 */
    gcor_monitor monitor;
    gcor_error error;
    double seconds_preparing, seconds_multiplying; /* of what gcor_run() took; the rest is opening and closing */
} gcor_context;

/* Record an error (the first one wins) and return its status. */
gcor_status gcor_fail(gcor_context *context, gcor_status status, const char *format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 3, 4)))
#endif
    ;

/* Non-zero when the run should stop. Any thread may ask; `thread` is its number, and only
 * thread 0, the one that called gcor_run(), passes the question on to check(). */
int gcor_stop(gcor_context *context, int thread);

double gcor_seconds(void); /* a monotonic clock */

/* ---- input --------------------------------------------------------------------- */

typedef enum { GCOR_DOUBLES, GCOR_INTEGERS, GCOR_SPARSE } gcor_storage;

/* A matrix read in place: value of observation k of variable j at
 * values[k * obs_stride + j * var_stride]; a sparse one in compressed columns, row numbers
 * ascending. Borrowed: the caller keeps it alive and unchanged. Integers: INT_MIN is missing;
 * doubles: any NaN is. */
typedef struct {
    gcor_storage storage;
    const void *values; /* double or int32_t; sparse: the doubles of the non-zero entries */
    int64_t n_obs, n_var;
    int64_t obs_stride, var_stride;
    const int32_t *sparse_row;   /* row of each entry */
    const int32_t *sparse_start; /* n_var + 1 starts of columns */
} gcor_matrix;

/* A matrix of which only some observations count. */
typedef struct {
    const gcor_matrix *matrix;
    const int32_t *rows; /* the observations that count, ascending; NULL: all */
    int64_t n_obs;       /* how many those are */
} gcor_columns;

/* What is known of a variable; or-ed together. */
enum {
    GCOR_MISSING = 1,  /* has missing values */
    GCOR_INFINITE = 2, /* has infinite values */
    GCOR_CONSTANT = 4, /* at least two values, all the same */
    GCOR_FEW = 8       /* fewer than two values */
};

/* Column j as doubles into out[0 .. columns->n_obs-1]: missing as one quiet NaN, -0 as +0.
 * Returns GCOR_MISSING and GCOR_INFINITE as found. Any thread. */
int gcor_gather(const gcor_columns *columns, int64_t j, double *out);

/* x[0 .. n-1], whose sum of squares is given, as floats of unit length, zeros if that is 0. Returns
 * the norm of what was written: the sum of its squares. Any thread. */
double gcor_unit(const double *x, double squares, int64_t n, float *out);
/* The same for a gathered column and its flags, after centring, which changes x; zeros where
 * values are missing or infinite. */
double gcor_unit_column(double *x, int64_t n, int flags, float *out);

/* What the numbers found while preparing a column say: complete the flags, and make its norm -1
 * (missing) or NaN (infinite) where it has no coefficient. present: how many values are not
 * missing; *norm 0: they are all the same. Any thread. */
void gcor_describe_column(gcor_kind kind, gcor_method method, int64_t present, double *norm, int *flags);

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

/* ---- sinks ---------------------------------------------------------------------- */

typedef struct gcor_sink gcor_sink;

/* Instead of a coefficient, above any: */
#define GCOR_NO_VALUE 2.0 /* a missing value, or fewer than two common rows */
#define GCOR_ZERO_SD 3.0  /* one of the two is constant */

/* A run of coefficients of one row: (row, col) .. (row, col+n-1), all of them pairs that
 * count. Each is in [-1, 1], or GCOR_NO_VALUE, GCOR_ZERO_SD, or NaN (an infinite value).
 * Either pointer is NULL. They are within `error` of the exact coefficient, which exact() gives
 * for element k: the same number on every back end. exact NULL: they are exact, or cannot be had
 * better. A cheap run, for sinks that take it (error above 1e-6), has NaN where there is no
 * coefficient, and may be above 1 by its error. */
typedef struct gcor_segment {
    int64_t row, col, n;
    const double *doubles;
    const float *floats;
    double error;
    double (*exact)(const struct gcor_segment *segment, int64_t k);
    const void *rows, *cols; /* exact()'s own */
} gcor_segment;

/* Element k as it was handed over. Any thread. */
static inline double gcor_value(const gcor_segment *segment, int64_t k) {
    return segment->floats ? segment->floats[k] : segment->doubles[k];
}

typedef enum { GCOR_DENSE, GCOR_EDGES, GCOR_HISTOGRAM, GCOR_CONNECTIVITY } gcor_sink_kind;

/* A back end that can do a sink's work on the device looks at `kind` (sinks.h); every other
 * way goes through take(). */
struct gcor_sink {
    gcor_sink_kind kind;
    gcor_shape shape;
    int approximate; /* a cheap value with its error will do: take() asks for the exact ones */
    /* Any thread, several at once, each with its own `thread` number below
     * context->threads and its own pairs; segments come in no order. */
    gcor_status (*take)(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment);
    /* Before the first and after the last segment of a tile; NULL: no need. */
    gcor_status (*begin_tile)(gcor_sink *sink, gcor_context *context, const gcor_tile *tile);
    gcor_status (*end_tile)(gcor_sink *sink, gcor_context *context, const gcor_tile *tile);
};

/* The sink's own begin_tile() and end_tile(), if it has them. */
gcor_status gcor_begin_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile);
gcor_status gcor_end_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile);

/* Hand over a whole tile's values, its begin and end included: the pairs that count, row by row
 * without gaps (triangle.h: gcor_tile_offset), as floats or as doubles. Uses context->threads
 * threads. */
gcor_status gcor_take_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile,
                           const double *doubles, const float *floats);

/* Every coefficient into memory that the caller owns. */
typedef enum {
    GCOR_TRIANGLE_ROWS,    /* n(n-1)/2 values, pairs 1-2, 1-3, ..., 2-3, ... */
    GCOR_TRIANGLE_COLUMNS, /* n(n-1)/2 values, pairs 1-2, 1-3, 2-3, 1-4, ... */
    GCOR_SQUARE,           /* n x n column by column, both halves; the diagonal is not written */
    GCOR_RECTANGLE         /* n_var(x) x n_var(y), column by column */
} gcor_layout;

typedef struct {
    gcor_sink sink;
    gcor_layout layout;
    double *out;    /* the caller's */
    int64_t n_col;  /* variables of x */
    double missing;  /* written where there is no coefficient, but for NaN, which stays */
    int64_t zero_sd; /* pairs of which one is constant */
} gcor_dense;

/* values: how many doubles `out` has room for; told to the system so that the first touch of
 * fresh memory is cheap. */
gcor_dense gcor_dense_sink(gcor_layout layout, int64_t n_var_x, double *out, int64_t values, double missing);

/* Copy the half of an n x n matrix below the diagonal onto the half above it. Can be interrupted. */
gcor_status gcor_mirror(gcor_context *context, double *matrix, int64_t n);

/* ---- back ends ------------------------------------------------------------------ */

typedef struct gcor_state gcor_state; /* a back end's own, one per run */

typedef struct {
    const char *name;

    /* Acquire what a run that ends in `sink` needs. *state is NULL after an error. */
    gcor_status (*open)(gcor_context *context, gcor_sink *sink, gcor_state **state);
    /* Free everything, operands excepted. NULL is allowed. */
    void (*close)(gcor_state *state);

    /* Bytes that all operands together may take. */
    int64_t (*memory)(const gcor_state *state);
    /* Bytes of an operand, per variable. */
    int64_t (*column_bytes)(const gcor_state *state, gcor_kind kind, int64_t n_obs);
    /* The tile's size, n_row divides n_col. Where a result depends on it, as sums in floating point do, it
     * is the same whatever the memory at hand. */
    void (*tile_size)(const gcor_state *state, gcor_kind kind, int64_t n_obs, int64_t *n_row, int64_t *n_col);

    /* Make variables first .. first+n_var-1 ready; *operand is the back end's, NULL after an
     * error, freed by release() before close(). */
    gcor_status (*prepare)(gcor_state *state, const gcor_columns *columns, gcor_method method, gcor_kind kind,
                           int64_t first, int64_t n_var, gcor_operand **operand);
    void (*release)(gcor_state *state, gcor_operand *operand);

    /* Compute a tile of rows x cols and hand it to open()'s sink, now or later. The operands stay
     * until finish(); `tile` lies within them. */
    gcor_status (*multiply)(gcor_state *state, const gcor_operand *rows, const gcor_operand *cols,
                            const gcor_tile *tile);
    /* After it returns, every coefficient of every multiply() has been delivered. */
    gcor_status (*finish)(gcor_state *state);
} gcor_backend;

extern const gcor_backend gcor_cpu;
#ifdef GPUCOR_CUDA
extern const gcor_backend gcor_cuda;
#endif

/* ---- the run -------------------------------------------------------------------- */

typedef struct {
    const gcor_matrix *x, *y; /* y NULL: x against itself */
    gcor_method method;
    gcor_use use;
    gcor_sink *sink;
    unsigned char *x_flags, *y_flags; /* n_var each, the caller's and cleared: what is known of every variable */
} gcor_job;

/* All pairs of the job, on a back end. Whatever it returns, nothing is left acquired.
 * With GCOR_NA_OR_COMPLETE and no complete row, and with n_obs = 0, it returns GCOR_OK and
 * there is no coefficient. n_obs_used: the observations that counted. */
gcor_status gcor_run(const gcor_backend *backend, gcor_context *context, const gcor_job *job,
                     int64_t *n_obs_used);

#ifdef __cplusplus
}
#endif
#endif
