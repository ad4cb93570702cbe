/* A correlation measure: one row of the table in measure.c. */
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a column is prepared to, so that the coefficient of two columns is one product, divided by the root of their
 * norms. The _COMMON kinds use the pairwise-complete observations of a pair. */
typedef enum {
    GCOR_NO_KIND,
    GCOR_REAL,          /* float32 columns: dot / sqrt(norm norm') */
    GCOR_SIGN,          /* signs of all differences within a column: sum / sqrt(norm norm') */
    GCOR_REAL_COMMON,   /* moments over the pairwise-complete observations, in double: Pearson's correlation, or the
                         * cosine if the measure's angle is GCOR_AS_IS */
    GCOR_RANK_COMMON,   /* ranks among the pairwise-complete observations, then as Pearson, in integers */
    GCOR_SIGN_COMMON,   /* signs of the differences between pairwise-complete observations */
    GCOR_DOUBLE,        /* float64 columns, replacing GCOR_REAL in double precision */
    GCOR_PAIR_COMMON,   /* both columns of a pair prepared again on their pairwise-complete observations, in double; for
                         * any GCOR_REAL measure with a prepare_double(). On a GPU only of "bicor" without covariates */
    GCOR_BINNED,        /* a bin for each observation: the mutual information of the contingency table */
    GCOR_BINNED_COMMON, /* the same over pairwise-complete observations, on the CPU; the bins are those of the whole
                         * column */
    GCOR_REAL_SPARSE,   /* entries of a sparse matrix, in double, replacing GCOR_REAL and GCOR_DOUBLE; on the CPU */
    GCOR_SIGN_SPARSE,   /* the same, replacing GCOR_SIGN */
    GCOR_DISTANCE,      /* values and their order, replacing GCOR_REAL and GCOR_DOUBLE of distances between many
                         * observations; on the CPU */
    GCOR_DISTANCE_COMMON, /* the same over pairwise-complete observations; on a GPU up to GCOR_MAX_DISTANCES of them */
    GCOR_ADJACENCY,       /* a slab of the adjacency matrix, for topological overlap; no measure has it */
    GCOR_GIVEN /* columns of a symmetric matrix of coefficients, NaN: none; the coefficient of two variables is
                * looked up; on the CPU */
} gcor_kind;

/* The effect of an infinite value on a column of complete observations. */
typedef enum {
    GCOR_INFINITE_IS_NAN,   /* all of its coefficients are NaN */
    GCOR_INFINITE_IS_RANKED /* none: it is larger, or smaller, than all others */
} gcor_infinite;

/* The distribution of the coefficient of independent variables. */
typedef enum {
    GCOR_STUDENT_T, /* r sqrt(df / (1 - r^2)) has Student's t distribution with n - df_taken degrees of freedom */
    GCOR_NORMAL_WITH_TIES, /* tau-b divided by its standard deviation given both columns' ties is normal */
    GCOR_CHI_SQUARED, /* n r + 1 has about the upper tail of a chi-squared variable with 1 degree of freedom; the test
                       * has one side, on which r is large */
    GCOR_NO_DISTRIBUTION /* unknown: there are no p values except by permutation */
} gcor_distribution;

/* The geometry of a coefficient, which determines the meaning of weights and covariates. */
typedef enum {
    GCOR_OWN_WAY, /* defined by prepare(), which gets centred residuals if there are covariates */
    GCOR_CENTRED, /* the cosine of the angle between centred columns (or ranks); with weights, means and products are
                     weighted, and prepare() is not called. prepare() does not depend on the order of observations */
    GCOR_AS_IS    /* the same of columns that are not centred; covariates have no intercept */
} gcor_angle;

/* What becomes of a correlation or cosine. */
typedef enum {
    GCOR_AS_PRODUCT, /* nothing */
    GCOR_COMPLEX, /* columns are complex numbers, products of the values with a basis that R makes (measure/design.h);
                   * the coefficient is the size of their product */
    GCOR_CONCORDANCE /* it is multiplied by 2 s s' / (s^2 + s'^2 + (m - m')^2), from standard deviations s of the
                      * columns and, unless the option says otherwise, their means m */
} gcor_last_step;

/* Optional inputs that a measure accepts; or-ed together. */
enum { GCOR_TAKES_WEIGHTS = 1, GCOR_TAKES_COVARIATES = 2 };

/* An option of a measure, which R passes as an argument of that name. */
typedef struct {
    const char *name; /* NULL: the end of the list */
    double value;     /* the default */
    double min, max;
    const char *const *choices; /* NULL: the value is a number; otherwise strings, terminated by NULL, and the value is
                                   the index of one, from 0 */
    int is_whole;               /* 1: the value must be an integer */
} gcor_option;

enum { GCOR_MAX_OPTIONS = 8 }; /* of a measure */

/* Additional input and output of prepare(). */
typedef struct {
    const double *option; /* values of the measure's options, in their order */
    double *scratch;      /* scratch of 4 n doubles if the measure has `needs_scratch`; contents undefined */
    int fell_back;        /* set to 1 if the column had to be treated differently, which causes a warning */
} gcor_preparing;

typedef struct {
    const char *name;  /* the value of R's argument 'method' */
    const char *title; /* shown by print() */
    gcor_kind kind;    /* GCOR_REAL, GCOR_SIGN, GCOR_BINNED or GCOR_GIVEN */
    gcor_kind common;  /* the kind for pairwise-complete pairs; GCOR_NO_KIND: such data are an error */
    int ranked;        /* 1: prepare() gets ranks (doubled and centred: values below minus values above) */
    gcor_infinite infinite;
    gcor_distribution distribution;
    int df_taken;
    gcor_angle angle;
    int takes;                  /* GCOR_TAKES_...; every measure accepts weights of 0 and 1 */
    const char *refusal;        /* for the error: why it does not, and what to use instead; NULL: a general hint */
    const gcor_option *options; /* NULL: none */
    int needs_scratch;
    int min_obs; /* min number of observations of a coefficient; 0: 2 */
    /* Returns the length of a prepared column of n_obs observations, at least n_obs. Only with `angle` GCOR_OWN_WAY,
     * and GCOR_PAIR_COMMON or GCOR_NO_KIND as `common`. Any thread. NULL: n_obs. */
    int64_t (*length)(int64_t n_obs);
    /* For GCOR_REAL: prepares a column. x: n >= min_obs values, none missing, and none infinite unless they are
     * ranked; may be overwritten. out: length(n) floats to write, a column of unit length. Returns the sum of squares
     * of `out` as gcor_unit() does, or 0 if the column has no coefficients because all of its values are equal. Any
     * thread. NULL allowed if `ranked`: ranks are used unchanged. */
    double (*prepare)(double *x, int64_t n, gcor_preparing *with, float *out);
    /* The same in double precision; out may have any length. Returns gcor_double_dot() of out with itself. NULL
     * while prepare() is not NULL: double precision is an error. */
    double (*prepare_double)(double *x, int64_t n, gcor_preparing *with, double *out);
    gcor_last_step last_step;
} gcor_measure;

/* Writes x[0 .. n-1], whose sum of squares is given, as floats of unit length to out; zeros if that is 0. Returns
 * the norm of what was written: the sum of its squares, added in the order of every back end. */
double gcor_unit(const double *x, double squares, int64_t n, float *out);
/* The same in double precision. */
double gcor_double_unit(const double *x, double squares, int64_t n, double *out);
/* Dot product of two columns of doubles, with the same bits on every back end. */
double gcor_double_dot(const double *x, const double *y, int64_t n);

#ifdef __cplusplus
}
#endif
