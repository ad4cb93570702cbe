#include "touch.h"

#include "os.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* More threads are no faster. */
enum { MAX_THREADS = 8, SMALL_PAGE = 4096 };

struct gcor_toucher {
    gcor_fresh memory[GCOR_MAX_FRESH];
    int n;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int64_t next, wanted; /* units: the one to be touched next; how many are wanted */
    int is_over, n_threads;
    pid_t owner;
    pthread_t threads[MAX_THREADS];
};

/* A write that changes nothing, whatever others write. */
static void touch_unit(const gcor_fresh *memory, int64_t unit) {
    int64_t from = unit * memory->unit, end = from + memory->unit < memory->bytes ? from + memory->unit : memory->bytes;
    for (int64_t k = from; k < end; k += SMALL_PAGE) {
        char *at = (char *)memory->at + k, zero = 0;
        (void)__atomic_compare_exchange_n(at, &zero, 0, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
}

void gcor_touch(gcor_context *context, const gcor_fresh *memory) {
    int64_t units = (memory->bytes + memory->unit - 1) / memory->unit;
#pragma omp parallel for num_threads(context->threads) schedule(dynamic)
    for (int64_t unit = 0; unit < units; unit++)
        if (!gcor_stop(context)) touch_unit(memory, unit);
}

static void *touch_units(void *argument) {
    gcor_toucher *toucher = argument;
    pthread_mutex_lock(&toucher->mutex);
    while (!toucher->is_over) {
        if (toucher->next >= toucher->wanted) {
            pthread_cond_wait(&toucher->changed, &toucher->mutex);
            continue;
        }
        int64_t unit = toucher->next++;
        pthread_mutex_unlock(&toucher->mutex);
        for (int k = 0; k < toucher->n; k++) touch_unit(&toucher->memory[k], unit);
        pthread_mutex_lock(&toucher->mutex);
    }
    pthread_mutex_unlock(&toucher->mutex);
    return NULL;
}

static void start(gcor_toucher *toucher, int threads) {
    while (toucher->n_threads < threads && toucher->n_threads < MAX_THREADS &&
           gcor_os_thread(&toucher->threads[toucher->n_threads], touch_units, toucher) == 0)
        toucher->n_threads++;
}

gcor_toucher *gcor_toucher_new(int threads, const gcor_fresh *memory, int n) {
    gcor_toucher *toucher = threads > 0 ? calloc(1, sizeof *toucher) : NULL;
    if (!toucher) return NULL;
    *toucher = (gcor_toucher){.n = n, .owner = getpid()};
    for (int k = 0; k < n; k++) toucher->memory[k] = memory[k];
    pthread_mutex_init(&toucher->mutex, NULL);
    pthread_cond_init(&toucher->changed, NULL);
    start(toucher, threads);
    if (toucher->n_threads > 0) return toucher;
    gcor_toucher_free(toucher);
    return NULL;
}

void gcor_toucher_want(gcor_toucher *toucher, int64_t units) {
    pthread_mutex_lock(&toucher->mutex);
    if (units > toucher->wanted) {
        toucher->wanted = units;
        pthread_cond_broadcast(&toucher->changed);
    }
    pthread_mutex_unlock(&toucher->mutex);
}

void gcor_toucher_free(gcor_toucher *toucher) {
    if (!toucher) return;
    if (toucher->owner == getpid()) {
        pthread_mutex_lock(&toucher->mutex);
        toucher->is_over = 1;
        pthread_cond_broadcast(&toucher->changed);
        pthread_mutex_unlock(&toucher->mutex);
        for (int t = 0; t < toucher->n_threads; t++) pthread_join(toucher->threads[t], NULL);
        pthread_cond_destroy(&toucher->changed);
        pthread_mutex_destroy(&toucher->mutex);
    }
    free(toucher);
}
