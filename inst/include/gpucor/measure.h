/* What a measure of correlation is: one row of a table. The package's own rows stand in src/measure/measure.c; another
 * package, or a test, adds a row with
 *
 *   int (*add)(const gcor_measure *) = (int (*)(const gcor_measure *))R_GetCCallable("gpucor", "gcor_add_measure");
 *
 * and has it in all functions from then on, by its name. */
#ifndef GPUCOR_MEASURE_H
#define GPUCOR_MEASURE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a column becomes, so that the coefficient of two is one product, divided by the root of their norms.
 * The _COMMON kinds look at the observations that both columns of a pair have. */
typedef enum {
    GCOR_NO_KIND,
    GCOR_REAL,        /* float32 columns: dot / sqrt(norm norm') */
    GCOR_SIGN,        /* signs of all differences within a column: sum / sqrt(norm norm') */
    GCOR_REAL_COMMON, /* Pearson's moments over the common observations, in double */
    GCOR_RANK_COMMON, /* ranks among the common observations, then as Pearson, in integers */
    GCOR_SIGN_COMMON, /* signs of the differences between common observations */
    GCOR_DOUBLE,      /* float64 columns, in the place of GCOR_REAL where double precision is asked for */
    GCOR_PAIR_COMMON  /* both columns of a pair made ready anew from their common observations, in double: any measure's
                       * of GCOR_REAL with a prepare_double(), on the processor */
} gcor_kind;

/* What an infinite value does to a column of complete observations. */
typedef enum {
    GCOR_INFINITE_IS_NAN,   /* all of its coefficients are NaN */
    GCOR_INFINITE_IS_RANKED /* nothing: it is larger, or smaller, than all others */
} gcor_infinite;

/* What the coefficient of independent variables is distributed as. */
typedef enum {
    GCOR_STUDENT_T,       /* r sqrt(df / (1 - r^2)): Student's t with n - df_taken degrees of freedom */
    GCOR_NORMAL_WITH_TIES /* tau-b over the deviation that the two columns' ties give: normal */
} gcor_distribution;

/* What a coefficient is, which says what weights and covariates mean to it. */
typedef enum {
    GCOR_OWN_WAY, /* whatever prepare() makes of columns: it sees residuals about their mean where there are covariates */
    GCOR_CENTRED, /* the cosine of the angle between columns (or their ranks) about their means: with weights these are
                   * weighted means, and products; prepare() is then not asked */
    GCOR_AS_IS    /* the same of columns as they are: covariates have no intercept */
} gcor_angle;

/* What a measure can be asked for; or-ed together. */
enum { GCOR_TAKES_WEIGHTS = 1, GCOR_TAKES_COVARIATES = 2 };

/* A setting of a measure's own, an argument of R's by its name. */
typedef struct {
    const char *name; /* NULL: the end of the list */
    double value;     /* unless it is given */
    double min, max;
    const char *const *choices; /* NULL: a number; otherwise texts up to a NULL, and the number is which, from 0 */
} gcor_option;

/* What prepare() has beside the column. */
typedef struct {
    const double *option; /* values, in the order of the measure's options */
    double *scratch;         /* 4 n doubles, if the measure `needs_scratch`: contents undefined */
    int fell_back;        /* to be set to 1 where the column had to be treated in another way, which a warning tells */
} gcor_preparing;

enum { GCOR_MEASURE_VERSION = 3, GCOR_MAX_OPTIONS = 8 };

typedef struct {
    int version;       /* GCOR_MEASURE_VERSION */
    const char *name;  /* as R's argument 'method' has it */
    const char *title; /* as print() has it */
    gcor_kind kind;    /* GCOR_REAL or GCOR_SIGN */
    gcor_kind common;  /* the kind for pairs with observations of their own; GCOR_NO_KIND: such data are an error */
    int ranked;        /* whether prepare() sees ranks (doubled and centred: values below less values above) */
    gcor_infinite infinite;
    gcor_distribution distribution;
    int df_taken;
    gcor_angle angle;
    int takes;                  /* GCOR_TAKES_...; weights of 0 and 1 every measure takes */
    const char *refusal;        /* why it does not, and what instead, for the error; NULL: nothing to say */
    const gcor_option *options; /* up to GCOR_MAX_OPTIONS; NULL: none */
    int needs_scratch;
    /* Of GCOR_REAL: make a column ready. x: n >= 1 values, none missing, and none infinite unless they are ranked;
     * may be changed. out: n floats to be written, x centred or whatever the measure does, of length one. Returns
     * the sum of squares of `out` as gcor_unit() does, and 0 if the column has no coefficients, as all of its
     * values are the same. Any thread. NULL, where `ranked`: the ranks as they are. */
    double (*prepare)(double *x, int64_t n, gcor_preparing *with, float *out);
    /* The same in double: out is x centred or whatever, of any length. Returns gcor_double_dot() of it with itself. NULL
     * with a prepare(): double precision is an error. */
    double (*prepare_double)(double *x, int64_t n, gcor_preparing *with, double *out);
} gcor_measure;

/* x[0 .. n-1], whose sum of squares is given, as floats of unit length, zeros if that is 0. Returns the norm of what
 * was written: the sum of its squares, added up as every back end does. Another package gets it by
 * R_GetCCallable("gpucor", "gcor_unit"). */
double gcor_unit(const double *x, double squares, int64_t n, float *out);
/* The same in doubles. */
double gcor_double_unit(const double *x, double squares, int64_t n, double *out);
/* The product of two columns of doubles, to the same bits on every back end; the same way. */
double gcor_double_dot(const double *x, const double *y, int64_t n);

#ifdef __cplusplus
}
#endif
#endif
