/* Loops, also in children of fork() and under a system limit, which children get. */
#include "check.h"
#include "device.h"
#include "results.h"
#include "system.h"

#include "../../src/base/os.h"
#include "../../src/base/threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#if UNIT_HAS_FORK
#include <sys/resource.h>
#include <sys/wait.h>
#endif

/* ---- loops ---------------------------------------------------------------------------------------- */

enum { STEPS = 1000, TEAM = 4 };

typedef struct {
    int done[STEPS], in_use[TEAM], met, is_wrong;
} steps;

/* Two threads are in a step at the same time before the first steps end. */
static void note_step(void *argument, int thread, int64_t k) {
    steps *s = argument;
    if (thread < 0 || thread >= TEAM || __atomic_fetch_add(&s->in_use[thread], 1, __ATOMIC_RELAXED) != 0)
        s->is_wrong = 1;
    __atomic_fetch_add(&s->done[k], 1, __ATOMIC_RELAXED);
    if (k < 2) {
        __atomic_fetch_add(&s->met, 1, __ATOMIC_RELAXED);
        while (__atomic_load_n(&s->met, __ATOMIC_RELAXED) < 2) usleep(100);
    }
    __atomic_fetch_sub(&s->in_use[thread], 1, __ATOMIC_RELAXED);
}

static void every_step_once(void) {
    static steps s;
    for (int64_t n = 2; n <= STEPS; n += STEPS - 2) {
        s = (steps){0};
        gcor_for_each(TEAM, n, note_step, &s);
        for (int64_t k = 0; k < n; k++) CHECK_INT(s.done[k], 1);
        CHECK_INT(s.met, 2);
        CHECK(!s.is_wrong);
    }
    s = (steps){.met = 2};
    gcor_for_each(TEAM, 0, note_step, &s);
    gcor_for_each(1, 5, note_step, &s);
    CHECK_INT(s.met, 4);
    CHECK(s.done[4] == 1 && s.done[5] == 0 && !s.is_wrong);
}

/* argument: the number of calls of each step. */
static void note_only(void *argument, int thread, int64_t k) {
    __atomic_fetch_add((int *)argument + k, 1, __ATOMIC_RELAXED);
}

static int all_are(const int *done, int times) {
    int ok = 1;
    for (int k = 0; k < STEPS; k++) ok &= done[k] == times;
    return ok;
}

static void nest(void *argument, int thread, int64_t k) {
    gcor_for_each(TEAM, STEPS, note_only, argument);
}

static void nested_loops(void) {
    static int done[STEPS];
    gcor_for_each(TEAM, 8, nest, done);
    CHECK(all_are(done, 8));
}

static void *run_loops(void *argument) {
    for (int k = 0; k < 200; k++) gcor_for_each(TEAM, STEPS, note_only, argument);
    return NULL;
}

static void loops_of_several_callers(void) {
    enum { CALLERS = 3 };
    static int done[CALLERS][STEPS];
    pthread_t callers[CALLERS];
    for (int c = 0; c < CALLERS; c++) CHECK_INT(pthread_create(&callers[c], NULL, run_loops, done[c]), 0);
    for (int c = 0; c < CALLERS; c++) pthread_join(callers[c], NULL);
    for (int c = 0; c < CALLERS; c++) CHECK(all_are(done[c], 200));
}

static void loops_after_the_end(void) {
    for (int k = 0; k < 3; k++) {
        every_step_once();
        gcor_end_threads();
        gcor_end_threads();
    }
}

static void some_processors(void) {
    CHECK(gcor_os_processors() >= 1);
#if UNIT_HAS_FORK
    CHECK(gcor_os_processors() <= sysconf(_SC_NPROCESSORS_ONLN));
#endif
}

#define LOOP_TESTS \
    {"every step of a loop is done once, by several threads at a time", every_step_once}, \
        {"a step can have a loop", nested_loops}, \
        {"several threads can have loops at a time", loops_of_several_callers}, \
        {"the threads can be ended", loops_after_the_end}, { \
        "there are processors", some_processors \
    }

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/* A sanitizer needs all addresses itself. */
const unit_test threads_tests[] = {LOOP_TESTS, {NULL, NULL}};
#else

/* ---- limits --------------------------------------------------------------------------------------- */

enum { WANTED = 64, STACK_BYTES = 8 << 20, GUARD_BYTES = 4096 };

#if UNIT_HAS_FORK
static int64_t bytes_in_use(void) {
    long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lld", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

/* Limits the address space to that many stacks with guard pages, plus other bytes. */
static void limit_threads(int threads, int64_t others) {
    rlim_t stacks = (rlim_t)threads * (STACK_BYTES + GUARD_BYTES);
    struct rlimit all = {(rlim_t)bytes_in_use() + stacks + (rlim_t)others, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &all);
}

/* In a child: tests if the system enforces address limits; an emulator may ignore them. */
static void be_child_without_room(int max) {
    limit_threads(max, 0);
    void *scratch = malloc((size_t)1 << 30);
    _exit(scratch == NULL);
}

/* In a child: a loop is done, on however many threads. */
static void be_child(int max) {
    static int done[STEPS];
    limit_threads(max, 65536);
    gcor_for_each(WANTED, STEPS, note_only, done);
    _exit(!all_are(done, 1));
}

/* The exit status of a child with the limit. */
static int status_of_child(void (*be)(int max), int max) {
    int status = 0;
    unit_about("room for %d threads", max);
    pid_t child = fork();
    if (child == 0) be(max);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int has_limits(void) {
    static int known = -1;
    if (known < 0) known = status_of_child(be_child_without_room, 1);
    if (!known) puts("not run: this system ignores RLIMIT_AS");
    return known;
}

static void fewer_where_there_is_a_limit(void) {
    if (!has_limits()) return;
    for (int max = 0; max < 12; max++) CHECK_INT(status_of_child(be_child, max), 0);
}

/* In a child of a process that has threads, and while another one has a loop: several threads again. */
static void be_child_with_loops(int max) {
    static steps s;
    alarm(60);
    gcor_for_each(TEAM, 2, note_step, &s);
    _exit(s.is_wrong || s.done[0] != 1 || s.done[1] != 1);
}

static void children_have_threads(void) {
    static int done[STEPS];
    pthread_t caller;
    every_step_once();
    CHECK_INT(pthread_create(&caller, NULL, run_loops, done), 0);
    for (int k = 0; k < 50; k++) CHECK_INT(status_of_child(be_child_with_loops, 0), 0);
    pthread_join(caller, NULL);
    CHECK(all_are(done, 200));
}

/* In a child: workers with threads of their own. The exit status is 0, or 1 if there was no memory for the rest, or 2
 * if a result is wrong. */
static void be_child_with_workers(int max) {
    static unit_problem p;
    gcor_status status;
    unit_data x = unit_data_new(100, 200, UNIT_COMPLETE);
    limit_threads(max, (int64_t)8 << 20);
    unit_problem_of(&p, &x.matrix.source, NULL);
    p.backend = &unit_device;
    p.threads = 8;
    unit_found alone = unit_find(&p, unit_kind_named("square"), &status);
    p.devices = 3;
    if (status) _exit(status == GCOR_NO_MEMORY ? 1 : 2);
    unit_found all = unit_find(&p, unit_kind_named("square"), &status);
    _exit(status == GCOR_NO_MEMORY ? 1 : status || !CHECK_SAME(&alone, all) ? 2 : 0);
}

static void fewer_for_workers(void) {
    unit_seed(14);
    if (!has_limits()) return;
    for (int max = 0; max < 32; max++) CHECK(status_of_child(be_child_with_workers, max) <= (max < 24));
}

#else
static void fewer_where_there_is_a_limit(void) {
    unit_skip("Windows has no limit of a process's address space");
}

static void children_have_threads(void) {
    unit_skip("Windows has no fork()");
}

static void fewer_for_workers(void) {
    unit_skip("Windows has no limit of a process's address space");
}
#endif

const unit_test threads_tests[] = {
    {"where the system allows fewer threads there are fewer, and no end of the process", fewer_where_there_is_a_limit},
    {"children of fork() have threads of their own", children_have_threads},
    {"workers have fewer threads, too", fewer_for_workers},
    LOOP_TESTS,
    {NULL, NULL},
};
#endif
