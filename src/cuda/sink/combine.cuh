/* The largest difference of two subjects, as when the observations of two groups are permuted (largest_of_two.cu);
 * and how a pair's values are combined (combine.cu). */
#pragma once

#include "maximum.cuh"
#include "../../base/elementary.h"
#include "../../sink/groups/combine.h"

/* ---- a pair ------------------------------------------------------------------------------------------ */

/* Returns the sum with a subject's value added. */
static __device__ inline double added(gcor_combining how, double sum, double value, double w) {
    if (value <= 1) {
        if (how == GCOR_MIN) return value < sum ? value : sum;
        if (how == GCOR_SQUARES || how == GCOR_SIZE) return sum + w * (value * value);
        return sum + w * (how == GCOR_FISHER ? gcor_artanh(value) : value);
    }
    if (value != value) return value;
    double none = value == GCOR_ZERO_SD ? GCOR_SUM_ZERO_SD : GCOR_SUM_NO_VALUE;
    if (how == GCOR_MIN) return sum > -none ? -none : sum;
    return sum + none;
}

/* Returns the coefficient of the sum of all subjects. */
static __device__ inline double ended(gcor_combining how, double sum, double total) {
    double r = how == GCOR_MIN ? sum : sum / total, size = fabs(r) * (how == GCOR_MIN ? 1 : fabs(total));
    if (size > GCOR_SUM_NO_VALUE / 2) return size > GCOR_SUM_ZERO_SD / 2 ? GCOR_ZERO_SD : GCOR_NO_VALUE;
    if (how == GCOR_SQUARES) return r > 1 ? 1 : r;
    if (how == GCOR_SIZE) return sqrt(r > 1 ? 1 : r);
    return how == GCOR_FISHER ? gcor_tanh(r) : r;
}

/* ---- two subjects -------------------------------------------------------------------------------------- */

/* Approximate values of both subjects rule out most pairs, so that few exact ones are computed. */
class LargestOfTwo {
  public:
    /* True for the difference of the Fisher z of two subjects with short enough columns. */
    static bool can_combine(const gcor_combination &rule);
    /* Called for each tile with the columns of the first subject, and then with those of the second one. */
    void multiply(gcor_state *state, const gcor_combination &rule, int64_t subject, const Operand &rows,
                  const Operand &cols, const gcor_tile &tile, gcor_side side, Largest *largest);
    void trim() { values.trim(); }

  private:
    Product first{};           /* of the first subject */
    DeviceArray<uint2> values; /* its approximate coefficients of the tile, in half precision */
};
