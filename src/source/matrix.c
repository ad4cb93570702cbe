/* The source for matrices in memory: columns of an R matrix as doubles; and sources over another source. */
#include "source.h"

#include <limits.h>
#include <math.h>

/* Reads n observations of a variable: those of these indices, or (NULL) consecutive ones from `first` on. */
static void read_doubles(const gcor_matrix *matrix, int64_t var, int64_t first, const int32_t *observed, int64_t n,
                         double *out) {
    const double *value = (const double *)matrix->values + var * matrix->source.n_obs;
    for (int64_t k = 0; k < n; k++) out[k] = value[observed ? observed[k] : first + k];
}

/* NAN is a float: without the cast, the conditional would convert v to float. */
static void read_integers(const gcor_matrix *matrix, int64_t var, int64_t first, const int32_t *observed, int64_t n,
                          double *out) {
    const int32_t *value = (const int32_t *)matrix->values + var * matrix->source.n_obs;
    for (int64_t k = 0; k < n; k++) {
        int32_t v = value[observed ? observed[k] : first + k];
        out[k] = v == INT_MIN ? (double)NAN : (double)v;
    }
}

static void read_sparse(const gcor_matrix *matrix, int64_t j, double *out) {
    const double *value = matrix->values;
    for (int64_t k = 0; k < matrix->source.n_obs; k++) out[k] = 0;
    for (int64_t e = matrix->sparse_start[j]; e < matrix->sparse_start[j + 1]; e++)
        out[matrix->sparse_row[e]] = value[e];
}

static gcor_status read_columns(gcor_source *source, gcor_context *context, int64_t first, int64_t n, double *out) {
    const gcor_matrix *matrix = (const gcor_matrix *)source;
    for (int64_t j = first; j < first + n; j++, out += source->n_obs) {
        switch (matrix->storage) {
        case GCOR_DOUBLES: read_doubles(matrix, j, 0, NULL, source->n_obs, out); break;
        case GCOR_INTEGERS: read_integers(matrix, j, 0, NULL, source->n_obs, out); break;
        case GCOR_SPARSE: read_sparse(matrix, j, out); break;
        default: return gcor_fail(context, GCOR_BAD_INPUT, "a matrix of storage %d", (int)matrix->storage);
        }
    }
    return GCOR_OK;
}

const gcor_matrix *gcor_sparse_of(const gcor_source *source, double max) {
    const gcor_matrix *matrix = (const gcor_matrix *)source;
    if (source->read != read_columns || matrix->storage != GCOR_SPARSE) return NULL;
    double stored = matrix->sparse_start[source->n_var];
    return stored <= max * (double)source->n_obs * (double)source->n_var ? matrix : NULL;
}

gcor_source gcor_matrix_source(int64_t n_obs, int64_t n_var) {
    return (gcor_source){.n_obs = n_obs, .n_var = n_var, .any_thread = 1, .read = read_columns};
}

/* ---- columns in another order ------------------------------------------------------------------ */

static gcor_status read_picked(gcor_source *source, gcor_context *context, int64_t first, int64_t n, double *out) {
    gcor_picked *p = (gcor_picked *)source;
    gcor_status status = GCOR_OK;
    if (!p->number) return p->of->read(p->of, context, first, n, out);
    for (int64_t j = first; !status && j < first + n; j++, out += source->n_obs)
        status = p->of->read(p->of, context, p->number[j], 1, out);
    return status;
}

gcor_picked gcor_picked_source(gcor_source *of, const int32_t *number) {
    gcor_picked p = {.source = *of, .of = of, .number = number};
    p.source.read = read_picked;
    return p;
}

/* ---- some variables and some observations of a matrix --------------------------------------------- */

static gcor_status read_slice(gcor_source *source, gcor_context *context, int64_t first, int64_t n, double *out) {
    const gcor_slice *slice = (const gcor_slice *)source;
    const gcor_storage storage = slice->of->storage;
    if (storage != GCOR_DOUBLES && storage != GCOR_INTEGERS)
        return gcor_fail(context, GCOR_BAD_INPUT, "a slice of a matrix of storage %d", (int)storage);
    for (int64_t j = slice->first_var + first; n > 0; n--, j++, out += source->n_obs)
        (storage == GCOR_DOUBLES ? read_doubles : read_integers)(slice->of, j, slice->first_obs, slice->observed,
                                                                 source->n_obs, out);
    return GCOR_OK;
}

gcor_slice gcor_slice_source(const gcor_matrix *of, int64_t first_var, int64_t n_var, int64_t first_obs, int64_t n_obs,
                             const int32_t *observed) {
    gcor_slice slice = {.source = gcor_matrix_source(n_obs, n_var),
                        .of = of,
                        .first_var = first_var,
                        .first_obs = first_obs,
                        .observed = observed};
    slice.source.read = read_slice;
    return slice;
}
