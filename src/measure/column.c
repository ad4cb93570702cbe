/* What becomes of a column before it meets others: ranks, the design (weights, covariates, a map), the measure's own
 * step, unit length. The back ends call this for each column (cpu/prepare.c, cuda/prepare/prepare.cu). */
#include "measure.h"

#include "coefficient.h"

#include <math.h>
#include <string.h>

/* True if no coefficients can be computed from a column. */
static int is_unusable(const gcor_measure *measure, int64_t n, int flags) {
    int unusable = measure->infinite == GCOR_INFINITE_IS_NAN ? GCOR_MISSING | GCOR_INFINITE : GCOR_MISSING;
    return n == 0 || n < measure->min_obs || flags & unusable;
}

int gcor_needs_scratch(const gcor_measure *measure, const gcor_design *design) {
    return measure->ranked || measure->needs_scratch || (design && design->keeps) || gcor_is_mapped(design);
}

/* Replaces values by ranks. Returns the sum of their squares. */
static double rank_values(const gcor_design *design, double *x, int64_t n, const gcor_ranks *ranks) {
    int64_t tied, present = gcor_rank(x, n, ranks, &tied);
    double squares = gcor_scores(ranks, n, present, x);
    if (design && design->weight) gcor_weighted_scores(ranks, design->weight, n, x);
    return squares;
}

/* Scratch of n doubles: the ranks' entries, which are unused once there are scores. */
static double *scratch_of(const gcor_ranks *ranks) {
    return ranks ? (double *)(void *)ranks->entries : NULL;
}

/* What prepare() gets beside the column. */
static gcor_preparing prepared_with(const gcor_measure *measure, const gcor_design *design, double *option,
                                    const gcor_ranks *ranks) {
    for (int k = 0; measure->options && measure->options[k].name; k++) option[k] = gcor_option_of(measure, design, k);
    return (gcor_preparing){option, scratch_of(ranks), 0};
}

static void note(const gcor_preparing *with, int *flags) {
    if (with->fell_back) *flags |= GCOR_FELL_BACK;
}

/* Applies the design. Returns 0 if the column is constant after that. Sets *squares to the sum of squares, or to -1
 * if prepare() still has to be called. */
static int is_left(const gcor_measure *measure, const gcor_design *design, const gcor_ranks *ranks, double *x,
                   int64_t n, double *squares) {
    if (gcor_is_designed(design)) {
        *squares = gcor_design_column(design, measure->angle != GCOR_AS_IS, x, n, scratch_of(ranks));
        if (!(*squares > 0)) return 0;
        if (measure->angle != GCOR_OWN_WAY) return 1;
    }
    if (measure->prepare) *squares = -1;
    return *squares != 0;
}

/* Ranks the column and applies the design. Returns the sum of squares, -1 if prepare() still has to be called, or 0 if
 * the column has no coefficients. */
static double begin_column(const gcor_measure *measure, const gcor_design *design, double *x, int64_t n, int flags,
                           const gcor_ranks *ranks) {
    double squares = 1;
    if (is_unusable(measure, n, flags)) return 0;
    if (measure->ranked) squares = rank_values(design, x, n, ranks);
    return squares > 0 && is_left(measure, design, ranks, x, n, &squares) ? squares : 0;
}

double gcor_prepare_double(const gcor_measure *measure, const gcor_design *design, double *x, int64_t n, int *flags,
                           const gcor_ranks *ranks, double *out) {
    double squares = begin_column(measure, design, x, n, *flags, ranks), option[GCOR_MAX_OPTIONS];
    memset(out, 0, (size_t)gcor_operand_length(measure, GCOR_DOUBLE, n) * sizeof *out);
    if (squares == 0) return 0;
    if (squares < 0) {
        gcor_preparing with = prepared_with(measure, design, option, ranks);
        double norm = measure->prepare_double(x, n, &with, out);
        note(&with, flags);
        return norm;
    }
    if (gcor_is_mapped(design)) {
        double norm = gcor_design_map(design, squares, x, n, scratch_of(ranks));
        memcpy(out, x, (size_t)n * sizeof *out);
        return norm;
    }
    if (gcor_is_designed(design)) return gcor_double_unit(x, squares, n, out);
    memcpy(out, x, (size_t)n * sizeof *out); /* scores are integers, exact without scaling */
    return gcor_double_dot(out, out, n);
}

double gcor_prepare_unmapped(const gcor_measure *measure, const gcor_design *design, double *x, int64_t n, int *flags,
                             const gcor_ranks *ranks, double *out) {
    double squares = begin_column(measure, design, x, n, *flags, ranks);
    memset(out, 0, (size_t)n * sizeof *out);
    if (squares == 0) return 0;
    gcor_design_unit(squares, x, n, out);
    return 1;
}

double gcor_prepare_real(const gcor_measure *measure, const gcor_design *design, double *x, int64_t n, int *flags,
                         const gcor_ranks *ranks, float *out) {
    double squares = begin_column(measure, design, x, n, *flags, ranks), option[GCOR_MAX_OPTIONS];
    if (squares == 0) {
        memset(out, 0, (size_t)gcor_operand_length(measure, GCOR_REAL, n) * sizeof *out);
        return 0;
    }
    if (squares < 0) {
        gcor_preparing with = prepared_with(measure, design, option, ranks);
        double norm = measure->prepare(x, n, &with, out);
        note(&with, flags);
        return norm;
    }
    if (gcor_is_mapped(design)) {
        double norm = gcor_design_map(design, squares, x, n, scratch_of(ranks));
        for (int64_t k = 0; k < n; k++) out[k] = (float)x[k];
        return norm;
    }
    if (gcor_is_designed(design) || !gcor_exact_scores(n)) return gcor_unit(x, squares, n, out);
    for (int64_t k = 0; k < n; k++) out[k] = (float)x[k];
    return squares;
}

/* ---- columns that a basis makes shorter ----------------------------------------------------------------- */

int gcor_is_reduced(const gcor_measure *measure, const gcor_design *design, gcor_kind kind) {
    return (kind == GCOR_REAL || kind == GCOR_DOUBLE) && measure->angle != GCOR_OWN_WAY && design && design->keeps &&
           design->n_basis > 0 && !gcor_is_mapped(design);
}

int64_t gcor_column_length(const gcor_measure *measure, const gcor_design *design, gcor_kind kind, int64_t n_obs) {
    return gcor_is_reduced(measure, design, kind) ? design->n_basis : gcor_operand_length(measure, kind, n_obs);
}

double gcor_begin_reduced(const gcor_measure *measure, const gcor_design *design, double *x, int64_t n, int flags,
                          const gcor_ranks *ranks) {
    double squares;
    if (is_unusable(measure, n, flags) || (measure->ranked && !(rank_values(design, x, n, ranks) > 0))) return INFINITY;
    return gcor_design_begin(design, measure->angle != GCOR_AS_IS, x, n, &squares);
}

/* A column without coefficients may have products that are no numbers. */
double gcor_end_reduced_real(const gcor_design *design, double *products, double none, float *out) {
    double squares = gcor_design_left(design, products, none);
    if (squares > 0) return gcor_unit(products, squares, design->n_basis, out);
    memset(out, 0, (size_t)design->n_basis * sizeof *out);
    return 0;
}

double gcor_end_reduced_double(const gcor_design *design, double *products, double none, double *out) {
    double squares = gcor_design_left(design, products, none);
    if (squares > 0) return gcor_double_unit(products, squares, design->n_basis, out);
    memset(out, 0, (size_t)design->n_basis * sizeof *out);
    return 0;
}

/* ------------------------------------------------------------------------------------------------------------ */

int gcor_shuffles_prepared(const gcor_measure *measure, gcor_kind kind, const gcor_columns *columns) {
    return columns->shuffle && kind == GCOR_REAL && measure->angle != GCOR_OWN_WAY &&
           !gcor_is_designed(columns->design);
}

void gcor_describe_column(const gcor_measure *measure, gcor_kind kind, int64_t present, double *norm, int *flags) {
    int common = gcor_is_common(kind);
    if (present < gcor_min_obs(measure)) *flags |= GCOR_FEW;
    if (*flags & GCOR_FEW || (!common && *flags & GCOR_MISSING))
        *norm = -1;
    else if (!common && measure->infinite == GCOR_INFINITE_IS_NAN && *flags & GCOR_INFINITE)
        *norm = NAN;
    else if (*norm == 0)
        *flags |= GCOR_CONSTANT;
}

/* Mapped columns have the length sqrt(1 - norm) (design.h), all others sqrt(norm). */
double gcor_max_length(const gcor_design *design, const double *norm, int64_t n) {
    double squares = 0;
    for (int64_t j = 0; gcor_is_mapped(design) && j < n; j++)
        if (norm[j] > 0) squares = fmax(squares, (1 - norm[j]) / norm[j]);
    return squares > 0 ? sqrt(squares) : 1;
}
