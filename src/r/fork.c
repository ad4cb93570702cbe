/* parallel::mclapply() and friends fork R; the engine must work in the child, too. */
#include "r.h"

#include "../base/os.h"
#include "../base/threads.h"

static int forked = 0;

static void note_fork(void) {
    forked = 1;
}

void r_watch_forks(void) {
    gcor_os_after_fork(note_fork);
}

int r_threads(SEXP threads) {
    return forked ? 1 : gcor_usable_threads(Rf_asInteger(threads));
}

int r_own_threads(int threads) {
    return forked ? 1 : threads;
}

SEXP r_cores(void) {
    return Rf_ScalarInteger(forked ? 1 : gcor_processors());
}
