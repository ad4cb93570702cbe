#include "interval.h"

#include "../base/elementary.h"
#include "../measure/measure.h"

/* Infinite for r of 1 or -1. gcor_artanh() would replace coefficients near 1 by the next ones in single precision. */
static double z_of(double r) {
    double size = fabs(r), z = size < 1 ? 0.5 * (gcor_log1p(size) - gcor_log1p(-size)) : INFINITY;
    return r < 0 ? -z : z;
}

/* Kendall: Fieller, Hartley and Pearson (1957). Spearman: Bonett and Wright (2000). Otherwise: Fisher (1921). Not
 * positive, or infinite, if df is too small. */
static double variance_of(const gcor_measure *measure, double df, double r) {
    if (measure->distribution == GCOR_NORMAL_WITH_TIES) return 0.437 / (df - 4);
    return (measure->ranked ? 1 + r * r / 2 : 1) / (df - 1);
}

gcor_interval gcor_interval_of(const gcor_measure *measure, gcor_alternative alternative, double quantile, double df,
                               double r, double missing) {
    double variance = variance_of(measure, df, r), z = z_of(r), width = quantile * sqrt(variance);
    if (!(variance > 0 && variance < INFINITY)) return (gcor_interval){missing, missing};
    return (gcor_interval){alternative == GCOR_LESS ? -1 : gcor_tanh(z - width),
                           alternative == GCOR_GREATER ? 1 : gcor_tanh(z + width)};
}
