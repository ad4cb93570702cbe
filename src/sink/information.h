/* A sink between a back end and another sink that replaces every coefficient r by the information that it stands for, I
 * = -log(1 - r^2) / 2 nats, or by its context likelihood: how far I is above what both variables have with all others
 * (Faith and others 2007). Missing coefficients are passed on. */
#pragma once

#include "../base/elementary.h"
#include "../gpucor.h"

GCOR_BEGIN_C

/* I of the largest r below 1; coefficients of size 1 have this information, too. */
#define GCOR_MAX_INFORMATION 18.368

/* The information of coefficient r, in units of GCOR_MAX_INFORMATION; r itself if it is missing. Compilers vectorize
 * loops over it, as it has no branch. */
GCOR_INLINE double gcor_information_in(double r) {
    double nats = -gcor_log_of_rest(r * r < 1 ? r * r : 0) / 2;
    double fraction = nats < GCOR_MAX_INFORMATION ? nats / GCOR_MAX_INFORMATION : 1;
    fraction = r * r < 1 ? fraction : 1;
    return r <= 1 ? fraction : r;
}

/* mean, unit: of each variable, the mean of its information and one over the standard deviation, in units of
 * GCOR_MAX_INFORMATION; x's variables come first, y's follow, and row_mean and row_unit are those of the rows. With z
 * the larger of 0 and (I - mean) * unit for each of both variables, and Z the root of the sum of both squares, the
 * value is Z / (1 + Z). NULL: the value is I / GCOR_MAX_INFORMATION. */
typedef struct {
    gcor_sink sink; /* must be first */
    const double *mean, *unit, *row_mean, *row_unit;
} gcor_information;

/* Coefficients of a run in single precision are rounded as in a dense result, which gives the same information on every
 * back end. `of`, mean and unit are borrowed and must outlive the result; forks own their sink and are freed like any
 * sink. */
gcor_information gcor_information_of(gcor_sink *of, int in_double, const double *mean, const double *unit);

GCOR_END_C
