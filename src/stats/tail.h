/* How probable a statistic at least as extreme is, either sign counting: factor * exp(exponent), so that what is too
 * small for a double has a logarithm. No table of R's is asked: p values are the engine's, and any thread's. */
#ifndef GPUCOR_TAIL_H
#define GPUCOR_TAIL_H

#include "../gpucor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    double exponent, factor;
} gcor_tail;

/* Two-sided, of a standard normal variable. Any thread. */
gcor_tail gcor_normal_tail(double z);
/* Two-sided, of a coefficient r in [-1, 1] whose r sqrt(df / (1 - r^2)) is Student's t, df >= 1. Any thread. */
gcor_tail gcor_t_tail(double df, double r);

/* The same for many coefficients of one df, in a tenth of the time. gcor_free() frees it; NULL after an error. */
typedef struct gcor_t_table gcor_t_table;
gcor_t_table *gcor_t_table_new(gcor_context *context, double df);
gcor_tail gcor_t_table_tail(const gcor_t_table *table, double r);

typedef enum { GCOR_TWO_SIDED, GCOR_LESS, GCOR_GREATER } gcor_alternative;

/* p, or its natural logarithm, of a statistic of that sign, the distribution being symmetric. Any thread. */
double gcor_tail_p(gcor_tail tail, double statistic, gcor_alternative alternative, int is_log);
/* The logarithm of a two-sided p. Any thread. */
double gcor_tail_log(gcor_tail tail);

#ifdef __cplusplus
}
#endif
#endif
