/* Threads. gcor_for_each() is the only parallel loop; threads.c says how it works. */
#pragma once

#include "../gpucor.h"

GCOR_BEGIN_C

/* Calls body(argument, thread, k) for k = 0 .. n - 1, in any order, on at most `threads` threads. `thread` is from 0
 * (the caller's) to threads - 1; calls with the same `thread` do not overlap. Returns when all calls have returned.
 * Threads that are late, or that the system does not allow, are not waited for: any one thread may make all calls. A
 * call should take a microsecond or more. Any thread may call, also from within a body. */
void gcor_for_each(int threads, int64_t n, void (*body)(void *argument, int thread, int64_t k), void *argument);

/* The same for blocks of `size` of n elements, of which the last may have fewer: calls body() for elements
 * from .. end - 1 of each. gcor_blocks(): their number. */
void gcor_for_blocks(int threads, int64_t n, int64_t size,
                     void (*body)(void *argument, int thread, int64_t from, int64_t end), void *argument);
static inline int64_t gcor_blocks(int64_t n, int64_t size) {
    return (n + size - 1) / size;
}

/* Ends all threads of loops, none of which may be running; the next loop starts new ones. */
void gcor_end_threads(void);

GCOR_END_C
