#include "os.h"
#include "alloc.h"
#include "threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

/* More threads are no faster. A unit is what a thread touches at a time: for entries, a large page of columns and two
 * of coefficients. */
enum { MAX_THREADS = 8, SMALL_PAGE = 4096, PAGE = 2 << 20, UNIT = 1 << 19, AVAILABLE_DIVISOR = 2 };
enum { COL_BYTES = sizeof(int32_t), R_BYTES = sizeof(double) };

/* Writes to each page without a change of its contents, whatever others write. */
static void touch(void *at, int64_t from, int64_t end) {
    for (int64_t k = from; k < end; k += SMALL_PAGE) {
        char zero = 0;
        (void)__atomic_compare_exchange_n((char *)at + k, &zero, 0, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
}

typedef struct {
    gcor_context *context;
    void *at;
    int64_t bytes, *begun;
} region;

static void touch_page(void *argument, int thread, int64_t k) {
    const region *r = argument;
    if (gcor_stop(r->context)) return;
    const int64_t from = PAGE * __atomic_fetch_add(r->begun, 1, __ATOMIC_RELAXED);
    touch(r->at, from, from + PAGE < r->bytes ? from + PAGE : r->bytes);
}

void gcor_prefault(gcor_context *context, void *at, int64_t bytes, int64_t *begun) {
    region all = {context, at, bytes, begun};
    const int64_t left = gcor_blocks(bytes, PAGE) - __atomic_load_n(begun, __ATOMIC_RELAXED);
    if (left > 0) gcor_for_each(context->threads, left, touch_page, &all);
}

/* ---- entries of a network, in the background ------------------------------------------------- */

struct gcor_prefaulted {
    gcor_buffer col, r;
    int64_t max_entries, entries; /* limit; how many are expected */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int64_t next, expected; /* units: the next one to touch; the number to touch */
    int is_over, n_threads;
    pid_t owner;
    pthread_t threads[MAX_THREADS];
};

static void *touch_units(void *argument) {
    gcor_prefaulted *prefaulted = argument;
    pthread_mutex_lock(&prefaulted->mutex);
    while (!prefaulted->is_over) {
        if (prefaulted->next >= prefaulted->expected) {
            pthread_cond_wait(&prefaulted->changed, &prefaulted->mutex);
            continue;
        }
        int64_t from = prefaulted->next++ * UNIT, end = from + UNIT;
        pthread_mutex_unlock(&prefaulted->mutex);
        touch(prefaulted->col.at, from * COL_BYTES, end * COL_BYTES);
        touch(prefaulted->r.at, from * R_BYTES, end * R_BYTES);
        pthread_mutex_lock(&prefaulted->mutex);
    }
    pthread_mutex_unlock(&prefaulted->mutex);
    return NULL;
}

static void start_threads(gcor_prefaulted *prefaulted, int threads) {
    while (prefaulted->n_threads < threads && prefaulted->n_threads < MAX_THREADS &&
           gcor_os_thread(&prefaulted->threads[prefaulted->n_threads], touch_units, prefaulted) == 0)
        prefaulted->n_threads++;
}

static void end_threads(gcor_prefaulted *prefaulted) {
    if (prefaulted->owner != getpid()) return;
    pthread_mutex_lock(&prefaulted->mutex);
    prefaulted->is_over = 1;
    pthread_cond_broadcast(&prefaulted->changed);
    pthread_mutex_unlock(&prefaulted->mutex);
    for (int t = 0; t < prefaulted->n_threads; t++) pthread_join(prefaulted->threads[t], NULL);
    prefaulted->n_threads = 0;
}

gcor_prefaulted *gcor_prefaulted_new(const gcor_context *context, int64_t max_entries) {
    int64_t available = gcor_available_memory() / AVAILABLE_DIVISOR / (COL_BYTES + R_BYTES);
    gcor_prefaulted *prefaulted = context->threads > 1 ? calloc(1, sizeof *prefaulted) : NULL;
    if (!prefaulted) return NULL;
    prefaulted->max_entries = max_entries < available ? max_entries : available;
    prefaulted->col = gcor_buffer_reserve(prefaulted->max_entries * COL_BYTES);
    prefaulted->r = gcor_buffer_reserve(prefaulted->max_entries * R_BYTES);
    prefaulted->owner = getpid();
    pthread_mutex_init(&prefaulted->mutex, NULL);
    pthread_cond_init(&prefaulted->changed, NULL);
    if (prefaulted->col.at && prefaulted->r.at) start_threads(prefaulted, context->threads - 1);
    if (prefaulted->n_threads > 0) return prefaulted;
    gcor_prefaulted_free(prefaulted);
    return NULL;
}

/* Only whole units are touched, which are within the memory. */
void gcor_prefaulted_expect(gcor_prefaulted *prefaulted, int64_t n) {
    pthread_mutex_lock(&prefaulted->mutex);
    prefaulted->entries += n;
    int64_t entries = prefaulted->entries,
            units = (entries < prefaulted->max_entries ? entries : prefaulted->max_entries) / UNIT;
    if (units > prefaulted->expected) {
        prefaulted->expected = units;
        pthread_cond_broadcast(&prefaulted->changed);
    }
    pthread_mutex_unlock(&prefaulted->mutex);
}

int gcor_prefaulted_take(gcor_prefaulted *prefaulted, int64_t n, gcor_buffer *col, gcor_buffer *r) {
    if (n < 1 || n > prefaulted->max_entries) return 0;
    end_threads(prefaulted);
    *col = prefaulted->col;
    *r = prefaulted->r;
    prefaulted->col = prefaulted->r = (gcor_buffer){0};
    prefaulted->max_entries = 0;
    gcor_buffer_trim(col, n * COL_BYTES);
    gcor_buffer_trim(r, n * R_BYTES);
    return 1;
}

void gcor_prefaulted_free(gcor_prefaulted *prefaulted) {
    if (!prefaulted) return;
    end_threads(prefaulted);
    if (prefaulted->owner == getpid()) {
        pthread_cond_destroy(&prefaulted->changed);
        pthread_mutex_destroy(&prefaulted->mutex);
    }
    gcor_buffer_trim(&prefaulted->col, 0);
    gcor_buffer_trim(&prefaulted->r, 0);
    free(prefaulted);
}
