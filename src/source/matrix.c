/* The source for matrices in memory: columns of an R matrix as doubles; and sources over another source. */
#include "source.h"

#include <limits.h>
#include <math.h>

static void read_doubles(const gcor_matrix *matrix, int64_t j, double *out) {
    const double *value = (const double *)matrix->values + j * matrix->var_stride;
    for (int64_t k = 0; k < matrix->source.n_obs; k++) out[k] = value[k * matrix->obs_stride];
}

static void read_integers(const gcor_matrix *matrix, int64_t j, double *out) {
    const int32_t *value = (const int32_t *)matrix->values + j * matrix->var_stride;
    for (int64_t k = 0; k < matrix->source.n_obs; k++) {
        int32_t v = value[k * matrix->obs_stride];
        out[k] = v == INT_MIN
                     ? (double)NAN
                     : (double)v; /* NAN is a float: without the cast, the conditional would convert v to float */
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
        case GCOR_DOUBLES: read_doubles(matrix, j, out); break;
        case GCOR_INTEGERS: read_integers(matrix, j, out); break;
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

static int64_t slice_index(const gcor_slice *slice, int64_t var, int64_t k) {
    int64_t obs = slice->observed ? slice->observed[k] : slice->first_obs + k;
    return obs * slice->of->obs_stride + (slice->first_var + var) * slice->of->var_stride;
}

static void slice_doubles(const gcor_slice *slice, int64_t var, double *out) {
    const double *value = slice->of->values;
    for (int64_t k = 0; k < slice->source.n_obs; k++) out[k] = value[slice_index(slice, var, k)];
}

static void slice_integers(const gcor_slice *slice, int64_t var, double *out) {
    const int32_t *value = slice->of->values;
    for (int64_t k = 0; k < slice->source.n_obs; k++) {
        int32_t v = value[slice_index(slice, var, k)];
        out[k] = v == INT_MIN ? (double)NAN : (double)v;
    }
}

static gcor_status read_slice(gcor_source *source, gcor_context *context, int64_t first, int64_t n, double *out) {
    const gcor_slice *slice = (const gcor_slice *)source;
    for (int64_t j = first; j < first + n; j++, out += source->n_obs) {
        switch (slice->of->storage) {
        case GCOR_DOUBLES: slice_doubles(slice, j, out); break;
        case GCOR_INTEGERS: slice_integers(slice, j, out); break;
        default:
            return gcor_fail(context, GCOR_BAD_INPUT, "a slice of a matrix of storage %d", (int)slice->of->storage);
        }
    }
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
