/* The number of threads that a call may use. The hops of R's setting `threads`:
 *   r_run() (job.c) or another entry -> r_call_parse() (call.c), which stores the result of r_threads() in
 * context->threads -> gcor_run() -> gcor_distribute() (engine/devices.c), which divides the threads
 * among workers if there are several devices -> start() (there): the worker's context -> the back
 * end's begin() -> gcor_for_each() (base/threads.h).
 *
 * Children of fork() may use one: parallel::mclapply() forks R. */
#include "call.h"

#include "../base/os.h"
#include "../base/triangle.h"

static int is_forked = 0;

static void note_fork(void) {
    is_forked = 1;
}

void r_watch_forks(void) {
    gcor_os_at_fork(NULL, NULL, note_fork);
}

/* Fewer threads than wanted where the process may take little more memory (ulimit -v), as each takes some, for its
 * stack and for what it works on. Asked again only for more threads. */
static int affordable_threads(int wanted) {
    const int64_t thread_bytes = 16 << 20;
    static int known = 1;
    if (wanted <= known) return wanted;
    known = (int)gcor_clamp(1 + gcor_available_memory() / thread_bytes, known, wanted);
    return known;
}

int r_threads(SEXP threads) {
    return is_forked ? 1 : affordable_threads(Rf_asInteger(threads));
}

int r_own_threads(int threads) {
    return is_forked ? 1 : threads;
}

int r_cores(void) {
    return is_forked ? 1 : gcor_os_processors();
}
