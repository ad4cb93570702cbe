#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* for sched_getaffinity() */
#endif
#include "threads.h"

#include <pthread.h>
#include <stdlib.h>
#if !defined(_OPENMP) && defined(__linux__)
#include <sched.h>
#endif
#ifndef _WIN32
#include <unistd.h>
#endif

/* ---- loops ---------------------------------------------------------------------------------------- */

/* The threads of one call. Each takes the next k until none is left. */
typedef struct {
    int64_t n, next;
    void (*body)(void *argument, int thread, int64_t k);
    void *argument;
} loop;

typedef struct {
    loop *of;
    int number;
    pthread_t thread;
} loop_member;

static void *take_steps(void *argument) {
    const loop_member *m = argument;
    loop *of = m->of;
    for (int64_t k; (k = __atomic_fetch_add(&of->next, 1, __ATOMIC_RELAXED)) < of->n;)
        of->body(of->argument, m->number, k);
    return NULL;
}

/* Starting a thread takes about 20 us, little compared to a tile. No threads are kept between calls, so that a child
 * of fork() misses none. */
void gcor_for_each_pthread(int threads, int64_t n, void (*body)(void *, int, int64_t), void *argument) {
    loop all = {n, 0, body, argument};
    loop_member own = {.of = &all}, *others = NULL;
    int wanted = threads < n ? threads - 1 : (int)n - 1, started = 0;
    if (wanted > 0) others = malloc((size_t)wanted * sizeof *others);
    for (; others && started < wanted; started++) {
        others[started] = (loop_member){.of = &all, .number = started + 1};
        if (pthread_create(&others[started].thread, NULL, take_steps, &others[started]) != 0) break;
    }
    take_steps(&own);
    for (int k = 0; k < started; k++) pthread_join(others[k].thread, NULL);
    free(others);
}

#ifdef _OPENMP

void gcor_for_each(int threads, int64_t n, void (*body)(void *, int, int64_t), void *argument) {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t k = 0; k < n; k++) body(argument, omp_get_thread_num(), k);
}

int gcor_processors(void) {
    return omp_get_num_procs();
}

#else

void gcor_for_each(int threads, int64_t n, void (*body)(void *, int, int64_t), void *argument) {
    gcor_for_each_pthread(threads, n, body, argument);
}

int gcor_processors(void) {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

#endif

/* ---- limits of the system ------------------------------------------------------------------------- */

typedef struct {
    pthread_mutex_t mutex;
    pthread_cond_t over;
    int is_over;
} gathering;

/* Waits until all threads that can be created exist. */
static void *attend(void *argument) {
    gathering *g = argument;
    pthread_mutex_lock(&g->mutex);
    while (!g->is_over) pthread_cond_wait(&g->over, &g->mutex);
    pthread_mutex_unlock(&g->mutex);
    return NULL;
}

/* Number of further threads that can exist at a time. */
static int count_creatable(int max) {
    gathering g = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    pthread_t *threads = malloc((size_t)max * sizeof *threads);
    int n = 0;
    if (!threads) return 0;
    while (n < max && pthread_create(&threads[n], NULL, attend, &g) == 0) n++;
    pthread_mutex_lock(&g.mutex);
    g.is_over = 1;
    pthread_cond_broadcast(&g.over);
    pthread_mutex_unlock(&g.mutex);
    for (int k = 0; k < n; k++) pthread_join(threads[k], NULL);
    free(threads);
    return n;
}

/* If there is a limit, one thread is left for others. */
int gcor_spare_threads(int wanted) {
    int can = count_creatable(wanted);
    return can < wanted && can > 0 ? can - 1 : can;
}

int gcor_usable_threads(int wanted) {
    static int known = 1; /* OpenMP keeps its threads, so a number that was possible once remains possible */
    if (wanted <= known) return wanted;
    int can = 1 + gcor_spare_threads(wanted - 1);
    if (can > known) known = can;
    return can;
}
