#include "landing.h"

#include "alloc.h"
#include "available.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* Entries that are touched at a time: a large page of columns and two of coefficients. More threads than MOST_THREADS
 * are no faster. */
enum { UNIT = 1 << 19, MOST_THREADS = 8, SMALL_PAGE = 4096, AVAILABLE_PART = 2 };

struct gcor_landing {
    gcor_block col, r;
    int64_t most; /* entries */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    int64_t next, wanted; /* units: the one to be touched next; how many are wanted */
    int is_over, n_threads;
    pid_t owner;
    pthread_t threads[MOST_THREADS];
};

/* ---- in the background ----------------------------------------------------------------------- */

static void touch_bytes(const gcor_block *block, int64_t from, int64_t n) {
    volatile char *at = block->at;
    for (int64_t k = from; k < from + n && k < (int64_t)block->room; k += SMALL_PAGE) at[k] = 0;
}

static void *touch_units(void *argument) {
    gcor_landing *landing = argument;
    pthread_mutex_lock(&landing->mutex);
    while (!landing->is_over) {
        if (landing->next >= landing->wanted) {
            pthread_cond_wait(&landing->changed, &landing->mutex);
            continue;
        }
        int64_t unit = landing->next++;
        pthread_mutex_unlock(&landing->mutex);
        touch_bytes(&landing->col, unit * UNIT * 4, UNIT * 4);
        touch_bytes(&landing->r, unit * UNIT * 8, UNIT * 8);
        pthread_mutex_lock(&landing->mutex);
    }
    pthread_mutex_unlock(&landing->mutex);
    return NULL;
}

/* Signals are for the thread that R runs in. */
static void start(gcor_landing *landing, int threads) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (landing->n_threads < threads && landing->n_threads < MOST_THREADS &&
           pthread_create(&landing->threads[landing->n_threads], NULL, touch_units, landing) == 0)
        landing->n_threads++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void stop(gcor_landing *landing) {
    if (landing->owner != getpid()) return;
    pthread_mutex_lock(&landing->mutex);
    landing->is_over = 1;
    pthread_cond_broadcast(&landing->changed);
    pthread_mutex_unlock(&landing->mutex);
    for (int t = 0; t < landing->n_threads; t++) pthread_join(landing->threads[t], NULL);
    landing->n_threads = 0;
}

/* ---- in the thread at hand --------------------------------------------------------------------- */

gcor_landing *gcor_landing_new(const gcor_context *context, int64_t most) {
    int64_t available = gcor_available_memory() / AVAILABLE_PART / 12;
    gcor_landing *landing = context->threads > 1 ? calloc(1, sizeof *landing) : NULL;
    if (!landing) return NULL;
    *landing = (gcor_landing){.most = most < available ? most : available, .owner = getpid()};
    pthread_mutex_init(&landing->mutex, NULL);
    pthread_cond_init(&landing->changed, NULL);
    landing->col = gcor_pool_open(landing->most * 4);
    landing->r = gcor_pool_open(landing->most * 8);
    if (landing->col.at && landing->r.at) start(landing, context->threads - 1);
    if (landing->n_threads > 0) return landing;
    gcor_landing_free(landing);
    return NULL;
}

void gcor_landing_expect(gcor_landing *landing, int64_t n) {
    pthread_mutex_lock(&landing->mutex);
    if (n > landing->most) n = landing->most;
    if (n / UNIT > landing->wanted) {
        landing->wanted = n / UNIT;
        pthread_cond_broadcast(&landing->changed);
    }
    pthread_mutex_unlock(&landing->mutex);
}

int gcor_landing_take(gcor_landing *landing, int64_t n, gcor_block *col, gcor_block *r) {
    if (n < 1 || n > landing->most) return 0;
    stop(landing);
    *col = landing->col;
    *r = landing->r;
    landing->col = landing->r = (gcor_block){0};
    landing->most = 0;
    gcor_pool_cut(col, n * 4);
    gcor_pool_cut(r, n * 8);
    return 1;
}

void gcor_landing_free(gcor_landing *landing) {
    if (!landing) return;
    stop(landing);
    gcor_pool_cut(&landing->col, 0);
    gcor_pool_cut(&landing->r, 0);
    pthread_cond_destroy(&landing->changed);
    pthread_mutex_destroy(&landing->mutex);
    free(landing);
}
