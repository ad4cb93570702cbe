/* Sources over another source. */
#include "derived.h"

#include <limits.h>
#include <math.h>

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

static int64_t index_of(const gcor_slice *slice, int64_t var, int64_t k) {
    int64_t obs = slice->observed ? slice->observed[k] : slice->first_obs + k;
    return obs * slice->of->obs_stride + (slice->first_var + var) * slice->of->var_stride;
}

static void read_doubles(const gcor_slice *slice, int64_t var, double *out) {
    const double *value = slice->of->values;
    for (int64_t k = 0; k < slice->source.n_obs; k++) out[k] = value[index_of(slice, var, k)];
}

static void read_integers(const gcor_slice *slice, int64_t var, double *out) {
    const int32_t *value = slice->of->values;
    for (int64_t k = 0; k < slice->source.n_obs; k++) {
        int32_t v = value[index_of(slice, var, k)];
        out[k] = v == INT_MIN ? (double)NAN : (double)v;
    }
}

static gcor_status read_slice(gcor_source *source, gcor_context *context, int64_t first, int64_t n, double *out) {
    const gcor_slice *slice = (const gcor_slice *)source;
    for (int64_t j = first; j < first + n; j++, out += source->n_obs) {
        switch (slice->of->storage) {
        case GCOR_DOUBLES: read_doubles(slice, j, out); break;
        case GCOR_INTEGERS: read_integers(slice, j, out); break;
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
