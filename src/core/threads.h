/* OpenMP, or one thread where the compiler has none. */
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

#endif
