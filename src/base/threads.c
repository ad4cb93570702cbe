/* Threads that run the steps of loops.
 *
 * Ownership: this file owns the threads. A loop starts those that it misses; they stay, asleep, until
 * gcor_end_threads() or the end of the process. A loop is on its caller's stack.
 *
 * Sleep: a caller lists its loop, wakes threads, and runs steps itself. A thread that wakes up joins a listed loop that
 * has steps left, wakes further ones, runs steps until none is left, and sleeps again. A thread that comes late finds
 * nothing and is not waited for, so that a busy machine delays no loop by more than a step: the caller waits only for
 * threads that are at a step. Waking up takes some ten microseconds, and more on virtual machines, so threads look for
 * the next loop, and callers for the end of theirs, for POLL_SECONDS before they sleep.
 *
 * Forks: a child of fork() has no threads, and its first loop starts some.
 *
 * Errors: none. With fewer threads than wanted, the others run more steps; without any the caller runs them all. */
#include "threads.h"

#include "os.h"

#include <sched.h>

enum { MAX_THREADS = 1024, WAKES = 2, LOCK_TRIES = 200 };
static const double POLL_SECONDS = 2e-3;

typedef struct loop loop;
struct loop {
    void (*body)(void *argument, int thread, int64_t k);
    void *argument;
    int64_t n, next;     /* number of steps; the next one, which threads take atomically */
    int threads;         /* max number, with the caller */
    int joined, running; /* threads that have joined, with the caller; those that have not left, without it, atomic */
    loop *other;         /* listed before this one */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards all variables below, and loops except `next` */
static pthread_cond_t listed = PTHREAD_COND_INITIALIZER;  /* signaled when a loop is listed, and at the end */
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;    /* signaled when the last thread has left a loop */
static loop *loops;
static pthread_t threads[MAX_THREADS];
static int n_threads, n_busy;   /* threads that exist; those that have joined a loop */
static int n_polling, n_wanted; /* threads that look for the next loop; those that the last one had places for */
static int n_listed;            /* loops that were ever listed, modulo 2^32, atomic */
static int is_over;

/* ---- forks -------------------------------------------------------------------------------------- */

/* Threads that find the same loop lock at once, and none for long: trying again is faster than sleeping. */
static void lock(void) {
    for (int k = 0; k < LOCK_TRIES; k++)
        if (pthread_mutex_trylock(&mutex) == 0) return;
    pthread_mutex_lock(&mutex);
}

static void unlock(void) {
    pthread_mutex_unlock(&mutex);
}

static void begin_child(void) {
    pthread_mutex_init(&mutex, NULL);
    pthread_cond_init(&listed, NULL);
    pthread_cond_init(&left, NULL);
    loops = NULL;
    n_threads = n_busy = n_polling = is_over = 0;
}

static void watch_forks(void) {
    gcor_os_at_fork(lock, unlock, begin_child);
}

/* ---- threads; callers hold the lock ------------------------------------------------------------- */

static void run_steps(loop *l, int thread) {
    for (int64_t k; (k = __atomic_fetch_add(&l->next, 1, __ATOMIC_RELAXED)) < l->n;) l->body(l->argument, thread, k);
}

/* Number of threads that could still join a loop, and all loops. */
static int count_places(const loop *l) {
    int64_t steps = l->n - __atomic_load_n(&l->next, __ATOMIC_RELAXED), places = l->threads - l->joined;
    return steps <= 0 ? 0 : (int)(steps < places ? steps : places);
}

static int count_all_places(void) {
    int places = 0;
    for (const loop *l = loops; l; l = l->other) places += count_places(l);
    return places;
}

/* Each thread wakes others: one alone would take longer to wake them all. */
static void wake(void) {
    int asleep = n_threads - n_busy, places = count_all_places();
    for (int k = 0; k < WAKES && k < places && k < asleep; k++) pthread_cond_signal(&listed);
}

/* Waits without the lock until a number is no longer what it was, but not for long. Returns whether it has changed. */
static int poll_briefly(const int *number) {
    const int before = __atomic_load_n(number, __ATOMIC_RELAXED);
    const double end = gcor_seconds() + POLL_SECONDS;
    unlock();
    while (__atomic_load_n(number, __ATOMIC_RELAXED) == before && gcor_seconds() < end) sched_yield();
    lock();
    return __atomic_load_n(number, __ATOMIC_RELAXED) != before;
}

/* Only as many threads look as the last loop had places for: the next one is mostly like it. */
static int look_for_loops(void) {
    if (n_polling >= n_wanted) return 0;
    n_polling++;
    const int has_changed = poll_briefly(&n_listed);
    n_polling--;
    return has_changed;
}

static void join(loop *l) {
    int thread = l->joined++;
    __atomic_fetch_add(&l->running, 1, __ATOMIC_RELAXED);
    n_busy++;
    wake();
    unlock();
    run_steps(l, thread);
    lock();
    n_busy--;
    if (__atomic_sub_fetch(&l->running, 1, __ATOMIC_RELAXED) == 0) pthread_cond_broadcast(&left);
}

static loop *find_loop(void) {
    loop *l = loops;
    while (l && count_places(l) == 0) l = l->other;
    return l;
}

static void *join_loops(void *unused) {
    lock();
    while (!is_over) {
        loop *l = find_loop();
        if (l)
            join(l);
        else if (!look_for_loops() && !find_loop() && !is_over)
            pthread_cond_wait(&listed, &mutex);
    }
    unlock();
    return NULL;
}

static void start_threads(void) {
    int places = count_all_places();
    while (n_threads - n_busy < places && n_threads < MAX_THREADS &&
           gcor_os_thread(&threads[n_threads], join_loops, NULL) == 0)
        n_threads++;
}

/* ---- loops -------------------------------------------------------------------------------------- */

static void list(loop *l) {
    l->other = loops;
    loops = l;
    n_wanted = count_places(l);
    start_threads();
    wake();
}

void gcor_for_each(int max, int64_t n, void (*body)(void *, int, int64_t), void *argument) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    loop own = {.body = body, .argument = argument, .n = n, .threads = max, .joined = 1};
    if (max < 2 || n < 2) {
        run_steps(&own, 0);
        return;
    }
    pthread_once(&once, watch_forks);
    lock();
    list(&own);
    unlock();
    __atomic_fetch_add(&n_listed, 1, __ATOMIC_RELAXED); /* not before, as threads that see it lock */
    run_steps(&own, 0);
    lock();
    loop **at = &loops;
    while (*at != &own) at = &(*at)->other;
    *at = own.other;
    while (own.running > 0)
        if (!poll_briefly(&own.running)) pthread_cond_wait(&left, &mutex);
    unlock();
}

typedef struct {
    void (*body)(void *argument, int thread, int64_t from, int64_t end);
    void *argument;
    int64_t n, size;
} blocks;

static void run_block(void *argument, int thread, int64_t k) {
    const blocks *b = argument;
    const int64_t from = k * b->size, end = from + b->size;
    b->body(b->argument, thread, from, end < b->n ? end : b->n);
}

void gcor_for_blocks(int max, int64_t n, int64_t size, void (*body)(void *, int, int64_t, int64_t), void *argument) {
    blocks b = {body, argument, n, size};
    gcor_for_each(max, gcor_blocks(n, size), run_block, &b);
}

void gcor_end_threads(void) {
    lock();
    int n = n_threads;
    is_over = 1;
    pthread_cond_broadcast(&listed);
    unlock();
    for (int k = 0; k < n; k++) pthread_join(threads[k], NULL);
    lock();
    n_threads = is_over = 0;
    unlock();
}
