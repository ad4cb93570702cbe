/* An order of variables in which those of one label, and of them those of one place, are next to one another. */
#ifndef GPUCOR_PAIR_ORDER_H
#define GPUCOR_PAIR_ORDER_H

#include "pairs.h"

/* *number: the variable at each place, the caller's, to free with gcor_free(); NULL where the variables are in order as
 * they are, and after an error. The same on every machine. */
gcor_status gcor_order_of(gcor_context *context, const gcor_traits *traits, int dims, int64_t n_var, int32_t **number);

#endif
