#include "measure.h"

#include "coefficient.h"

#include <math.h>

/* ---- memory layout ---------------------------------------------------------------------------------- */

enum { COLUMNS = 2, PREPARED = 2, WEIGHTS = 2 };

/* Number of columns that a pair's basis is made from. */
static int64_t regressors_of(const gcor_design *design) {
    return design->raw ? design->n_raw : design->n_basis;
}

static int64_t length_of(const gcor_measure *measure, int64_t n_obs) {
    return gcor_operand_length(measure, GCOR_DOUBLE, n_obs);
}

static size_t double_count(const gcor_measure *measure, const gcor_design *design, int64_t n_obs) {
    int64_t columns = COLUMNS + (design ? WEIGHTS + regressors_of(design) : 0);
    return (size_t)(columns * n_obs + PREPARED * length_of(measure, n_obs));
}

size_t gcor_pair_bytes(const gcor_measure *measure, const gcor_design *design, int64_t n_obs) {
    size_t ranks = (gcor_ranks_bytes(n_obs) + 7) / 8 * 8, rows = ((size_t)n_obs + 1) / 2 * 2 * sizeof(int32_t);
    return double_count(measure, design, n_obs) * sizeof(double) + ranks + rows;
}

gcor_pair gcor_pair_at(void *memory, const gcor_measure *measure, const gcor_design *design, int64_t n_obs) {
    gcor_pair pair = {.measure = measure, .design = design, .n_obs = n_obs, .x = memory};
    double *next = pair.x + double_count(measure, design, n_obs);
    pair.y = pair.x + n_obs;
    pair.own_x = pair.y + n_obs;
    pair.own_y = pair.own_x + length_of(measure, n_obs);
    pair.weight = pair.own_y + length_of(measure, n_obs);
    pair.root = pair.weight + n_obs;
    pair.basis = pair.root + n_obs;
    pair.ranks = gcor_ranks_at(next, n_obs);
    pair.rows = (int32_t *)(void *)((char *)next + (gcor_ranks_bytes(n_obs) + 7) / 8 * 8);
    return pair;
}

/* ---- the design of a pair --------------------------------------------------------------------------------- */

/* A column of which the others leave less than this fraction is considered to be in their span, as in R's qr(). */
static const double SAME_SPAN = 1e-7;

static double product(const double *x, const double *y, int64_t n) {
    double sum = 0;
    for (int64_t k = 0; k < n; k++) sum += x[k] * y[k];
    return sum;
}

static void take_off(const double *q, double factor, double *x, int64_t n) {
    for (int64_t k = 0; k < n; k++) x[k] -= factor * q[k];
}

/* Subtracts from column x its projections on the root of the weights (NULL: all 1), whose sum of squares is given
 * (0: not centred), and on n_basis columns. */
static void free_of(const double *root, double squares, const double *basis, int64_t n_basis, double *x, int64_t n) {
    double along = 0;
    for (int64_t k = 0; squares > 0 && k < n; k++) along += root ? root[k] * x[k] : x[k];
    for (int64_t k = 0; squares > 0 && k < n; k++) x[k] -= along / squares * (root ? root[k] : 1);
    for (int64_t q = 0; q < n_basis; q++) take_off(basis + q * n, product(basis + q * n, x, n), x, n);
}

/* Orthonormalizes by Gram-Schmidt, each column twice. Returns the number of columns left. */
static int64_t make_orthonormal(const double *root, int is_centred, double *basis, int64_t n_basis, int64_t n) {
    double squares = is_centred ? root ? product(root, root, n) : (double)n : 0;
    int64_t kept = 0;
    for (int64_t q = 0; q < n_basis; q++) {
        double *own = basis + kept * n;
        for (int64_t k = 0; own != basis + q * n && k < n; k++) own[k] = basis[q * n + k];
        double before = product(own, own, n);
        free_of(root, squares, basis, kept, own, n);
        free_of(root, squares, basis, kept, own, n);
        double left = product(own, own, n);
        if (!(left > SAME_SPAN * SAME_SPAN * before)) continue;
        for (int64_t k = 0; k < n; k++) own[k] /= sqrt(left);
        kept++;
    }
    return kept;
}

/* Prepares a column of `raw` for a basis: ranks it if is_ranked, then weights it. */
static void weigh_regressor(const gcor_pair *pair, const gcor_design *own, int is_ranked, double *column, int64_t n) {
    int64_t tied;
    if (is_ranked) (void)gcor_scores(&pair->ranks, n, gcor_rank(column, n, &pair->ranks, &tied), column);
    if (is_ranked && own->weight) gcor_weighted_scores(&pair->ranks, own->weight, n, column);
    for (int64_t k = 0; own->root && k < n; k++) column[k] *= own->root[k];
}

/* Gathers the regressors of the pair's observations; ranks are computed again. */
static void gather_regressors(const gcor_pair *pair, const gcor_design *own, int64_t n) {
    const gcor_design *all = pair->design;
    const double *from = all->raw ? all->raw : all->basis;
    for (int64_t q = 0; q < regressors_of(all); q++, from += all->n_rows) {
        double *column = pair->basis + q * n;
        for (int64_t k = 0; k < n; k++) column[k] = from[pair->rows[k]];
        if (all->raw) weigh_regressor(pair, own, q < all->n_ranked, column, n);
    }
}

/* The design of n pairwise-complete observations; the original design if these are all. */
static gcor_design design_of(const gcor_pair *pair, int64_t n) {
    const gcor_design *all = pair->design;
    if (n == pair->n_obs) return *all;
    gcor_design own = {.n_rows = n, .basis = pair->basis, .option = all->option};
    for (int64_t k = 0; all->root && k < n; k++) {
        pair->weight[k] = all->weight[pair->rows[k]];
        pair->root[k] = all->root[pair->rows[k]];
    }
    if (all->root) own.weight = pair->weight, own.root = pair->root;
    gather_regressors(pair, &own, n);
    own.n_basis = make_orthonormal(own.root, pair->measure->angle != GCOR_AS_IS, pair->basis, regressors_of(all), n);
    return own;
}

/* ---- a pair --------------------------------------------------------------------------------------------- */

/* Gathers the pairwise-complete observations, and flags infinite values among them. */
static int64_t gather_common(const gcor_pair *pair, const double *x, const double *y, int *x_flags, int *y_flags) {
    int64_t n = 0;
    for (int64_t k = 0; k < pair->n_obs; k++) {
        if (x[k] != x[k] || y[k] != y[k]) continue;
        if (isinf(x[k])) *x_flags |= GCOR_INFINITE;
        if (isinf(y[k])) *y_flags |= GCOR_INFINITE;
        pair->x[n] = x[k];
        pair->y[n] = y[k];
        pair->rows[n++] = (int32_t)k;
    }
    return n;
}

/* True if regression leaves more than one dimension: with one, every coefficient would be 1 or -1. */
static int has_capacity(const gcor_pair *pair, const gcor_design *design, int64_t n) {
    return !design || design->n_basis == 0 || n - design->n_basis - (pair->measure->angle != GCOR_AS_IS) > 1;
}

/* Prepares one side. Returns its norm, NaN if infinite values leave no coefficient. */
static double make_prepared(const gcor_pair *pair, const gcor_design *design, double *x, int64_t n, int *flags,
                            double *out) {
    double norm = gcor_prepare_double(pair->measure, design, x, n, flags, &pair->ranks, out);
    return *flags & GCOR_INFINITE && pair->measure->infinite == GCOR_INFINITE_IS_NAN ? (double)NAN : norm;
}

double gcor_pair_coefficient(const gcor_pair *pair, const double *x, const double *y) {
    int x_flags = 0, y_flags = 0;
    int64_t n = gather_common(pair, x, y, &x_flags, &y_flags);
    if (n < gcor_min_obs(pair->measure)) return GCOR_NO_VALUE;
    gcor_design own = {0};
    if (pair->design) own = design_of(pair, n);
    const gcor_design *design = pair->design ? &own : NULL;
    if (!has_capacity(pair, design, n)) return GCOR_NO_VALUE;
    double norm_x = make_prepared(pair, design, pair->x, n, &x_flags, pair->own_x);
    double norm_y = make_prepared(pair, design, pair->y, n, &y_flags, pair->own_y);
    double product = gcor_double_dot(pair->own_x, pair->own_y, length_of(pair->measure, n));
    return gcor_coefficient(product, norm_x, norm_y);
}

double gcor_pair_norm(const gcor_pair *pair, const double *x, int *flags) {
    int found = 0;
    int64_t n = gather_common(pair, x, x, &found, &found);
    if (n < gcor_min_obs(pair->measure)) return 0;
    if (pair->design && pair->design->keeps && n < pair->n_obs)
        return 0; /* its projection is only defined for all observations */
    gcor_design own = {0};
    if (pair->design) own = design_of(pair, n);
    double norm = make_prepared(pair, pair->design ? &own : NULL, pair->x, n, &found, pair->own_x);
    *flags |= found & GCOR_FELL_BACK;
    return norm;
}
