/* To touch fresh memory: to have pages from the system takes longer than to fill them. All threads at once, which is
 * fastest where there is much to be copied; or some in the background, while what the pages are for is still computed
 * elsewhere. What is in the memory stays as it is, also where others write to it at the same time. */
#ifndef GPUCOR_TOUCH_H
#define GPUCOR_TOUCH_H

#include "../gpucor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gcor_toucher gcor_toucher;

/* Some memory, which is touched `unit` bytes at a time, from its beginning. */
typedef struct {
    void *at;
    int64_t bytes, unit;
} gcor_fresh;

enum { GCOR_MAX_FRESH = 2 };

/* All of it, by context->threads threads, unless the context is to stop. */
void gcor_touch(gcor_context *context, const gcor_fresh *memory);

/* By so many threads, or as many as are of use; they wait until something is wanted. n: how many pieces of memory there
 * are, which stay the caller's. NULL where there can be no threads, which is no error. */
gcor_toucher *gcor_toucher_new(int threads, const gcor_fresh *memory, int n);
/* The first so many units of each. Less than before is not heard. */
void gcor_toucher_want(gcor_toucher *toucher, int64_t units);
/* Nothing is touched any more. Also of NULL, and in a forked process, which does not have the threads. */
void gcor_toucher_free(gcor_toucher *toucher);

#ifdef __cplusplus
}
#endif
#endif
