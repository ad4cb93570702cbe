/* OpenMP, or one thread where the compiler has none. A team may be smaller than what was asked for: whoever counts its
 * threads asks inside the region. */
#ifndef GPUCOR_THREADS_H
#define GPUCOR_THREADS_H

#ifdef _OPENMP
#include <omp.h>
#else
static inline int omp_get_thread_num(void) {
    return 0;
}
static inline int omp_get_num_threads(void) {
    return 1;
}
static inline int omp_get_num_procs(void) {
    return 1;
}
#endif

/* How many of so many threads the system allows: OpenMP ends the process where it cannot have one. Asks by having
 * them, once for each number that is larger than those before. */
int gcor_usable_threads(int wanted);
/* How many more than there are now: workers have teams of their own, which OpenMP keeps for each. */
int gcor_spare_threads(int wanted);

#endif
