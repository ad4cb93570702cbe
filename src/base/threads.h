/* Threads: OpenMP's, or POSIX threads if the compiler has no OpenMP. Loops that take most of the time use
 * gcor_for_each(), which works with both. Loops with a pragma have one thread without OpenMP. An OpenMP team may be
 * smaller than requested, so code that needs its size asks inside the region. */
#ifndef GPUCOR_THREADS_H
#define GPUCOR_THREADS_H

#include <stdint.h>

#ifdef _OPENMP
#include <omp.h>
#else
/* For loops with a pragma. */
static inline int omp_get_thread_num(void) {
    return 0;
}
static inline int omp_get_num_threads(void) {
    return 1;
}
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Calls body(argument, thread, k) for k = 0 .. n - 1, in any order, on at most `threads` threads. `thread` is from 0
 * (the caller's) to threads - 1; calls with the same `thread` do not overlap. Returns when all calls have returned.
 * Uses fewer threads if the system allows no more. Calls may be nested if the inner one has one thread. */
void gcor_for_each(int threads, int64_t n, void (*body)(void *argument, int thread, int64_t k), void *argument);

/* As gcor_for_each(), on POSIX threads, each of which may start an OpenMP team of its own. */
void gcor_for_each_pthread(int threads, int64_t n, void (*body)(void *argument, int thread, int64_t k), void *argument);

/* Number of processors that this process may run on. */
int gcor_processors(void);

/* Number of threads, at most `wanted`, that the system allows: OpenMP aborts the process if it cannot create one.
 * Tests it by creating threads, once for each new maximum. */
int gcor_usable_threads(int wanted);
/* Number of additional threads, at most `wanted`, that the system allows: workers have their own teams, which OpenMP
 * keeps. */
int gcor_spare_threads(int wanted);

#ifdef __cplusplus
}
#endif

#endif
