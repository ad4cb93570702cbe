/* Threads: OpenMP's, or POSIX threads where the compiler has no OpenMP. The loops that take most of the time are
 * written for gcor_for_each(), which works with both. Loops with a pragma have one thread without OpenMP. A team of
 * OpenMP may be smaller than what was asked for: whoever counts its threads asks inside the region. */
#ifndef GPUCOR_THREADS_H
#define GPUCOR_THREADS_H

#include <stdint.h>

#ifdef _OPENMP
#include <omp.h>
#else
/* In the loops with a pragma. */
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

/* Call body(argument, thread, k) for k = 0 .. n - 1, in any order, by at most `threads` threads at once. `thread` is
 * from 0, the caller's, to threads - 1; calls with the same `thread` do not overlap. Returns when all calls
 * have returned. Fewer threads do the work where the system allows no more. Calls may be nested if the inner one has
 * one thread. */
void gcor_for_each(int threads, int64_t n, void (*body)(void *argument, int thread, int64_t k), void *argument);

/* The number of processors that this process may run on. */
int gcor_processors(void);

/* How many of so many threads the system allows: OpenMP ends the process where it cannot have one. Asks by having
 * them, once for each number that is larger than those before. */
int gcor_usable_threads(int wanted);
/* How many more than there are now: workers have teams of their own, which OpenMP keeps for each. */
int gcor_spare_threads(int wanted);

#ifdef __cplusplus
}
#endif

#endif
