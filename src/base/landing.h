/* Memory for a network's entries, of which it is known in the end only how many there are. Address space is there for
 * the most there can be, and as edges are found threads in the background touch as much of it as they will need at
 * least: to have pages takes longer than to fill them. */
#ifndef GPUCOR_LANDING_H
#define GPUCOR_LANDING_H

#include "pool.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gcor_landing gcor_landing;

/* Room for so many entries at most, or as many as memory is available for, touched by context->threads - 1 threads, or
 * some of them. The caller's; NULL where that is no use or the system does not allow it, which is no error. */
gcor_landing *gcor_landing_new(const gcor_context *context, int64_t max);
/* There will be at least n entries. */
void gcor_landing_expect(gcor_landing *landing, int64_t n);
/* The memory of n entries, columns and coefficients, is the caller's, to be given back with gcor_pool_return(), and
 * nobody touches it any more; what of it was not touched yet comes as it is written. 0: there is no room for as many.
 */
int gcor_landing_take(gcor_landing *landing, int64_t n, gcor_block *col, gcor_block *r);
/* Also of NULL, and in a forked process, which does not have the threads. */
void gcor_landing_free(gcor_landing *landing);

#ifdef __cplusplus
}
#endif
#endif
