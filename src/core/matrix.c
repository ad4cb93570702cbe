/* Columns of an R matrix as plain doubles. */
#include "gpucor.h"

#include <limits.h>
#include <math.h>

static int64_t observation(const gcor_columns *columns, int64_t k) {
    return columns->rows ? columns->rows[k] : k;
}

static void gather_doubles(const gcor_columns *columns, int64_t j, double *out) {
    const gcor_matrix *matrix = columns->matrix;
    const double *value = (const double *)matrix->values + j * matrix->var_stride;
    for (int64_t k = 0; k < columns->n_obs; k++) out[k] = value[observation(columns, k) * matrix->obs_stride];
}

static void gather_integers(const gcor_columns *columns, int64_t j, double *out) {
    const gcor_matrix *matrix = columns->matrix;
    const int32_t *value = (const int32_t *)matrix->values + j * matrix->var_stride;
    for (int64_t k = 0; k < columns->n_obs; k++) {
        int32_t v = value[observation(columns, k) * matrix->obs_stride];
        out[k] = v == INT_MIN ? NAN : v;
    }
}

/* Entries and observations both ascend, so one walk along the two meets every entry that counts. */
static void gather_sparse(const gcor_columns *columns, int64_t j, double *out) {
    const gcor_matrix *matrix = columns->matrix;
    const double *value = matrix->values;
    int64_t k = 0;
    for (int64_t i = 0; i < columns->n_obs; i++) out[i] = 0;
    for (int64_t e = matrix->sparse_start[j]; e < matrix->sparse_start[j + 1]; e++) {
        int64_t row = matrix->sparse_row[e];
        if (!columns->rows) {
            out[row] = value[e];
            continue;
        }
        while (k < columns->n_obs && columns->rows[k] < row) k++;
        if (k < columns->n_obs && columns->rows[k] == row) out[k] = value[e];
    }
}

/* -0 and +0 must tie, and a NaN of either sign must sort last on the device. */
static int normalise(double *value, int64_t n) {
    int flags = 0;
    for (int64_t k = 0; k < n; k++) {
        if (isfinite(value[k])) {
            value[k] += 0.0;
        } else if (isnan(value[k])) {
            value[k] = NAN;
            flags |= GCOR_MISSING;
        } else {
            flags |= GCOR_INFINITE;
        }
    }
    return flags;
}

int gcor_gather(const gcor_columns *columns, int64_t j, double *out) {
    switch (columns->matrix->storage) {
    case GCOR_DOUBLES: gather_doubles(columns, j, out); break;
    case GCOR_INTEGERS: gather_integers(columns, j, out); break;
    case GCOR_SPARSE: gather_sparse(columns, j, out); break;
    }
    return normalise(out, columns->n_obs);
}

void gcor_describe_column(gcor_kind kind, gcor_method method, int64_t present, double *norm, int *flags) {
    int common = kind >= GCOR_REAL_COMMON;
    if (present < 2) *flags |= GCOR_FEW;
    if (*flags & GCOR_FEW || (!common && *flags & GCOR_MISSING))
        *norm = -1;
    else if (!common && method == GCOR_PEARSON && *flags & GCOR_INFINITE)
        *norm = NAN;
    else if (*norm == 0)
        *flags |= GCOR_CONSTANT;
}
