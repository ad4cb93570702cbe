/* What a measure of correlation is: one row of a table. The package's own rows stand in src/core/measure.c; another
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
    GCOR_DOUBLE       /* float64 columns, in the place of GCOR_REAL where double precision is asked for */
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

enum { GCOR_MEASURE_VERSION = 2 };

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
    /* Of GCOR_REAL: make a column ready. x: n >= 1 values, none missing, and none infinite unless they are ranked;
     * may be changed. out: n floats to be written, x centred or whatever the measure does, of length one. Returns
     * the sum of squares of `out` as gcor_unit() does, and 0 if the column has no coefficients, as all of its
     * values are the same. Any thread. NULL, where `ranked`: the ranks as they are. */
    double (*prepare)(double *x, int64_t n, float *out);
    /* The same in double: out is x centred or whatever, of any length. Returns gcor_double_dot() of it with itself. NULL
     * with a prepare(): double precision is an error. */
    double (*prepare_double)(double *x, int64_t n, double *out);
} gcor_measure;

/* x[0 .. n-1], whose sum of squares is given, as floats of unit length, zeros if that is 0. Returns the norm of what
 * was written: the sum of its squares, added up as every back end does. Another package gets it by
 * R_GetCCallable("gpucor", "gcor_unit"). */
double gcor_unit(const double *x, double squares, int64_t n, float *out);
/* The product of two columns of doubles, to the same bits on every back end; the same way. */
double gcor_double_dot(const double *x, const double *y, int64_t n);

#ifdef __cplusplus
}
#endif
#endif
