/* gcor_design_pick() picks a design's observations once for a run, gcor_design_column() applies it to a column. */
#include "design.h"

#include "../base/alloc.h"
#include "../base/dots.h"
#include "coefficient.h"

#include <math.h>
#include <string.h>

/* ---- the observations in use ----------------------------------------------------------------------- */

static int64_t position(const int32_t *observed, int64_t k) {
    return observed ? observed[k] : k;
}

/* True if the positive weights differ. */
static int has_weights(const gcor_design *design) {
    double first = 0;
    for (int64_t k = 0; design->weight && k < design->n_rows; k++) {
        if (!(design->weight[k] > 0)) continue;
        if (first == 0) first = design->weight[k];
        if (design->weight[k] != first) return 1;
    }
    return 0;
}

int gcor_is_mapped(const gcor_design *design) {
    return design && design->n_map > 0;
}

int64_t gcor_blocks_of(const gcor_design *design) {
    return design && design->blocks > 1 ? design->blocks : 1;
}

int64_t gcor_basis_values(const gcor_design *design) {
    return design->n_first ? design->n_basis / design->n_first * design->span : design->n_basis * design->n_rows;
}

int gcor_is_designed(const gcor_design *design) {
    return design && (design->n_basis > 0 || gcor_is_mapped(design) || design->root || has_weights(design));
}

static void pick_columns(const double *columns, int64_t n, int64_t n_rows, const int32_t *observed, int64_t n_obs,
                         double *out) {
    for (int64_t q = 0; q < n; q++)
        for (int64_t k = 0; k < n_obs; k++) out[q * n_obs + k] = columns[q * n_rows + position(observed, k)];
}

/* The struct and all arrays are one allocation. */
gcor_status gcor_design_pick(gcor_context *context, const gcor_design *design, const int32_t *observed, int64_t n_obs,
                             gcor_design **picked) {
    *picked = NULL;
    if (!design || n_obs == 0) return GCOR_OK;
    int weighted = has_weights(design);
    const int64_t basis_values = design->n_first ? gcor_basis_values(design) : design->n_basis * n_obs;
    int64_t values = n_obs * (2 * weighted + design->n_raw + design->n_map) + 2 * basis_values;
    gcor_design *own = gcor_alloc(context, (int64_t)sizeof *own + values * (int64_t)sizeof(double), 1,
                                  "weights of observations and covariates");
    if (!own) return GCOR_NO_MEMORY;
    double *weight = (double *)(own + 1), *root = weight + weighted * n_obs, *basis = root + weighted * n_obs;
    double *removed = basis + basis_values, *raw = removed + basis_values;
    double *map = raw + design->n_raw * n_obs;
    for (int64_t k = 0; weighted && k < n_obs; k++) {
        weight[k] = design->weight[position(observed, k)];
        root[k] = sqrt(weight[k]);
    }
    if (design->n_first)
        memcpy(basis, design->basis, (size_t)basis_values * sizeof *basis);
    else
        pick_columns(design->basis, design->n_basis, design->n_rows, observed, n_obs, basis);
    if (design->removed) pick_columns(design->removed, design->n_basis, design->n_rows, observed, n_obs, removed);
    pick_columns(design->raw, design->n_raw, design->n_rows, observed, n_obs, raw);
    pick_columns(design->map, design->n_map, design->n_rows, observed, n_obs, map);
    *own = (gcor_design){.weight = weighted ? weight : NULL,
                         .root = weighted ? root : NULL,
                         .basis = basis,
                         .n_basis = design->n_basis,
                         .n_first = design->n_first,
                         .span = design->span,
                         .first = design->first,
                         .removed = design->removed ? removed : NULL,
                         .n_rows = n_obs,
                         .keeps = design->keeps,
                         .raw = design->raw ? raw : NULL,
                         .n_raw = design->n_raw,
                         .n_ranked = design->n_ranked,
                         .map = map,
                         .n_map = design->n_map,
                         .option = design->option};
    *picked = own;
    return GCOR_OK;
}

void gcor_design_free(gcor_design *design) {
    gcor_free(design);
}

/* ---- a column ----------------------------------------------------------------------------------------- */

/* Sums run in lanes, which compilers vectorize. GROUP columns of a basis are subtracted at a time, so that x is read
 * less often. */
enum { LANES = 4, GROUP = GCOR_DOTS };

static double squares_of(const double *x, int64_t n) {
    double lane[LANES] = {0};
    int64_t k = 0;
    for (; k + LANES <= n; k += LANES)
        for (int l = 0; l < LANES; l++) lane[l] += x[k + l] * x[k + l];
    for (int l = 0; k + l < n; l++) lane[l] += x[k + l] * x[k + l];
    return (lane[0] + lane[2]) + (lane[1] + lane[3]);
}

static void take_off(const double *const *basis, const double *product, double *x, int64_t n) {
    const double *a = basis[0], *b = basis[1], *c = basis[2], *d = basis[3];
    const double pa = product[0], pb = product[1], pc = product[2], pd = product[3];
    for (int64_t k = 0; k < n; k++) x[k] -= (a[k] * pa + b[k] * pb) + (c[k] * pc + d[k] * pd);
}

/* Sets group to columns from .. from+GROUP-1 of n_columns; an incomplete group repeats its last column. */
static void set_group(const double *columns, int64_t n_columns, int64_t from, int64_t n, const double **group) {
    for (int64_t g = 0; g < GROUP; g++) group[g] = columns + (from + g < n_columns ? from + g : n_columns - 1) * n;
}

/* An incomplete group's last column has the factor 0 when it is repeated. */
GCOR_BODY void project_body(const gcor_design *design, double *x, int64_t n) {
    for (int64_t from = 0; from < design->n_basis; from += GROUP) {
        const double *basis[GROUP];
        double product[GROUP];
        set_group(design->basis, design->n_basis, from, n, basis);
        gcor_dots(basis, x, n, product);
        for (int64_t g = design->n_basis - from; g < GROUP; g++) product[g] = 0;
        if (design->removed) set_group(design->removed, design->n_basis, from, n, basis);
        take_off(basis, product, x, n);
    }
}
GCOR_WIDE(project, (const gcor_design *design, double *x, int64_t n), (design, x, n))

/* Writes the products of `count` columns x, which are `stride` apart, with n_columns others; those of two columns x are
 * `apart`. With skips_zeros, column q of the others begins with q zeros or more. A group of the others is multiplied
 * with all x while it is in the cache. */
GCOR_BODY void multiply_body(const double *others, int64_t n_columns, int skips_zeros, const double *x, int64_t stride,
                             int64_t count, int64_t n, double *product, int64_t apart) {
    for (int64_t from = 0; from < n_columns; from += GROUP) {
        const int64_t zeros = skips_zeros ? from : 0;
        const double *columns[GROUP];
        double dots[GROUP];
        set_group(others + zeros, n_columns, from, n, columns);
        for (int64_t c = 0; c < count; c++) {
            gcor_dots(columns, x + c * stride + zeros, n - zeros, dots);
            for (int64_t g = 0; g < GROUP && from + g < n_columns; g++) product[c * apart + from + g] = dots[g];
        }
    }
}
GCOR_WIDE(multiply,
          (const double *others, int64_t n_columns, int skips_zeros, const double *x, int64_t stride, int64_t count,
           int64_t n, double *product, int64_t apart),
          (others, n_columns, skips_zeros, x, stride, count, n, product, apart))

/* The residuals are rounding errors if their norm is below this fraction of the centred column's norm, or below a
 * few roundings of the values, whose mean may be large. */
static const double NOTHING_LEFT = 1e-10, ROUNDING = 0x1p-50;

/* Subtracts the weighted mean. The first value is subtracted first, so that a constant column becomes exactly zero. */
static void centre(const gcor_design *design, double *x, int64_t n) {
    const double *weight = design->weight, first = x[0];
    double sum = 0, all = 0;
    for (int64_t k = 0; k < n; k++) {
        double w = weight ? weight[k] : 1;
        sum += w * (x[k] -= first);
        all += w;
    }
    for (int64_t k = 0; k < n; k++) x[k] -= sum / all;
}

double gcor_design_begin(const gcor_design *design, int is_centred, double *x, int64_t n, double *squares) {
    double scale = gcor_scale_of(x, n), of_largest = 0;
    for (int64_t k = 0; k < n; k++) {
        x[k] *= scale;
        of_largest += x[k] * x[k] * (design->weight ? design->weight[k] : 1);
    }
    if (is_centred) centre(design, x, n);
    for (int64_t k = 0; design->root && k < n; k++) x[k] *= design->root[k];
    *squares = squares_of(x, n);
    return NOTHING_LEFT * NOTHING_LEFT * *squares + ROUNDING * ROUNDING * of_largest;
}

/* Subtracts the basis a second time if much was removed, so that the residuals are orthogonal to it to all digits. */
double gcor_design_column(const gcor_design *design, int is_centred, double *x, int64_t n, double *scratch) {
    double before, none = gcor_design_begin(design, is_centred, x, n, &before);
    if (design->n_basis == 0) return before;
    if (design->keeps) memcpy(scratch, x, (size_t)n * sizeof *x);
    project(design, design->keeps ? scratch : x, n);
    if (!design->keeps && squares_of(x, n) < before / 2) project(design, x, n);
    for (int64_t k = 0; design->keeps && k < n; k++) x[k] -= scratch[k];
    double left = squares_of(x, n);
    return left > none ? left : 0;
}

void gcor_design_reduce(const gcor_design *design, const double *x, int64_t stride, int64_t count, double *products) {
    const int64_t n = design->n_basis;
    if (design->n_first == 0) {
        multiply(design->basis, n, 0, x, stride, count, design->n_rows, products, n);
        return;
    }
    const int64_t span = design->span, few = n / 2 / design->n_first; /* columns of a half */
    for (int64_t half = 0; half < 2; half++)
        for (int64_t s = 0; s < design->n_first; s++)
            multiply(design->basis + half * few * span, few, 0, x + (int64_t)design->first[s], stride, count, span,
                     products + half * (n / 2) + s * few, n);
}

/* A complex number whose square is at most this fraction of the column's squares is rounding errors. */
static const double NO_PHASE = 1e-24;

double gcor_design_left(const gcor_design *design, double *products, double none) {
    double left = squares_of(products, design->n_basis);
    if (!(left > none)) return 0;
    const int64_t half = design->n_basis / 2;
    for (int64_t k = 0; design->complex && k < half; k++) {
        double *re = products + k, *im = re + half, size = sqrt(*re * *re + *im * *im), a = *re;
        const double unit = size * size > NO_PHASE * left ? 1 / size : 0;
        if (design->complex & GCOR_PHASES) *re *= unit, *im *= unit, a = *re;
        if (design->complex & GCOR_TURNED) *re = -*im, *im = a;
    }
    return design->complex ? squares_of(products, design->n_basis) : left;
}

void gcor_design_unit(double squares, const double *x, int64_t n, double *unit) {
    const double inverse = squares > 0 ? 1 / sqrt(squares) : 0;
    for (int64_t k = 0; k < n; k++) unit[k] = x[k] * inverse;
}

double gcor_design_map(const gcor_design *design, double squares, double *x, int64_t n, double *scratch) {
    gcor_design_unit(squares, x, n, scratch);
    multiply(design->map, design->n_map, 1, scratch, n, 1, n, x, n);
    for (int64_t k = design->n_map; k < n; k++) x[k] = 0;
    return squares > 0 ? 1 - squares_of(x, n) : 0;
}
