/* What p values of Kendall's tau-b need to know of a column's ties. */
#ifndef GPUCOR_QUOTIENT_H
#define GPUCOR_QUOTIENT_H

#include "gpucor.h"

/* Of each of the source's columns to quotient, n_var, the caller's: the sum of squares of its doubled, centred ranks,
 * over twice the number of pairs of observations that are not tied, less 1; NaN where a value is missing or all are the
 * same. */
gcor_status gcor_tie_quotients(gcor_context *context, const gcor_columns *columns, double *quotient);

#endif
