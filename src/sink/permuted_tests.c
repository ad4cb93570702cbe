#include "permuted_tests.h"

enum { BLOCK = GCOR_GROUP_BLOCK };

/* Scratch: the values of a permutation; totals of z, and of its squares; z; and y, if the model transforms z. */
enum { VALUES = 0, TOTALS = BLOCK, SQUARES = 2 * BLOCK, Z = 3 * BLOCK };

int gcor_permuted_is_t(const gcor_permutations *permutations) {
    return permutations->is_t || permutations->model;
}

int64_t gcor_permuted_scratch(const gcor_permutations *permutations) {
    return Z + BLOCK * (permutations->n_subjects + gcor_linear_scratch(permutations->model));
}

/* Subtracts the first subject's z, so that sums of squares do not cancel. */
static void shift_z(double *z, int64_t subjects, int64_t n) {
    for (int64_t s = subjects - 1; s >= 0; s--)
        for (int64_t k = 0; k < n; k++) z[s * BLOCK + k] -= z[k];
}

static void find_totals(const double *z, int64_t subjects, int64_t n, double *totals, double *squares) {
    for (int64_t k = 0; k < n; k++) totals[k] = squares[k] = 0;
    for (int64_t s = 0; s < subjects; s++, z += BLOCK)
        for (int64_t k = 0; k < n; k++) {
            totals[k] += z[k];
            squares[k] += z[k] * z[k];
        }
}

void gcor_permuted_begin(const gcor_permutations *permutations, const gcor_combine_loops *loops, const double *r,
                         int64_t stride, int64_t n, double *scratch) {
    const gcor_linear_model *model = permutations->model;
    const int64_t subjects = permutations->n_subjects;
    double *z = scratch + Z;
    gcor_subject_z(loops, r, stride, subjects, n, z);
    if (model) {
        const double *y = gcor_linear_values(model, loops, subjects, z, n);
        find_totals(y, model->n_values, n, scratch + TOTALS, scratch + SQUARES);
    } else if (permutations->is_t) {
        shift_z(z, subjects, n);
        find_totals(z, subjects, n, scratch + TOTALS, scratch + SQUARES);
    }
}

const double *gcor_permuted_values(const gcor_permutations *permutations, const gcor_combine_loops *loops, int64_t k,
                                   int64_t n, double *scratch) {
    const gcor_linear_model *model = permutations->model;
    const int64_t subjects = permutations->n_subjects;
    const double *w = permutations->weight + k * permutations->n_weights, *z = scratch + Z;
    double *values = scratch + VALUES;
    if (model)
        loops->linear_t(model->basis ? z + subjects * BLOCK : z, scratch + SQUARES, w,
                        permutations->n_weights / model->n_values, model->n_values, model->df, n, values);
    else if (permutations->is_t)
        loops->welch(z, scratch + TOTALS, w, subjects, n, values);
    else
        loops->weighted_sums(z, w, subjects, n, values);
    return values;
}
