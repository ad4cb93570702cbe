/* The number of threads under a system limit. Forked children get the limit, before this process has a parallel
 * region: after that, OpenMP has no threads in a child. */
#include "check.h"
#include "device.h"
#include "results.h"
#include "system.h"

#include "../../src/base/threads.h"

#include <stdlib.h>
#include <unistd.h>

#if UNIT_HAS_FORK
#include <pthread.h>
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

static void add_inner_step(void *argument, int thread, int64_t k) {
    int64_t *sum = argument;
    CHECK_INT(thread, 0);
    *sum += k;
}

static void nest(void *argument, int thread, int64_t k) {
    int64_t *sums = argument;
    (void)thread;
    gcor_for_each(1, 10, add_inner_step, sums + k);
}

static void nested_loops(void) {
    int64_t sums[8] = {0};
    gcor_for_each(TEAM, 8, nest, sums);
    for (int k = 0; k < 8; k++) CHECK_INT(sums[k], 45);
}

static void some_processors(void) {
    CHECK(gcor_processors() >= 1);
#if UNIT_HAS_FORK
    CHECK(gcor_processors() <= sysconf(_SC_NPROCESSORS_ONLN));
#endif
}

#define LOOP_TESTS \
    {"every step of a loop is done once, by several threads at a time", every_step_once}, \
        {"a step can have a loop of one thread", nested_loops}, { \
        "there are processors", some_processors \
    }

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/* A sanitizer needs all addresses itself. */
const unit_test threads_tests[] = {LOOP_TESTS, {NULL, NULL}};
#else

/* ---- limits --------------------------------------------------------------------------------------- */

enum { WANTED = 64 };

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
    pthread_attr_t usual;
    size_t stack = 0, guard = 0;
    pthread_attr_init(&usual);
    pthread_attr_getstacksize(&usual, &stack);
    pthread_attr_getguardsize(&usual, &guard);
    pthread_attr_destroy(&usual);
    rlim_t stacks = (rlim_t)threads * (stack + guard);
    struct rlimit all = {(rlim_t)bytes_in_use() + stacks + (rlim_t)others, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &all);
}

/* Without OpenMP there is no team to count. */
static int count_team(int threads) {
#ifdef _OPENMP
    int n = 0;
#pragma omp parallel num_threads(threads)
#pragma omp atomic
    n++;
    return n;
#else
    return threads;
#endif
}

/* In a child: tests if the system enforces address limits; an emulator may ignore them. */
static void be_child_without_room(int max) {
    limit_threads(max, 0);
    void *scratch = malloc((size_t)1 << 30);
    _exit(scratch == NULL);
}

/* In a child: the promised threads exist. The exit status is their number, or 255. */
static void be_child(int max) {
    int n;
    limit_threads(max, 65536);
    n = gcor_usable_threads(WANTED);
    if (n < 1 || gcor_usable_threads(n) != n || gcor_usable_threads(1) != 1) _exit(255);
    _exit(count_team(n) == n ? n : 255);
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
    for (int max = 0; max < 12; max++) {
        int n = status_of_child(be_child, max);
        CHECK(n >= 1 && n <= max + 1);
        if (max > 4) CHECK(n > 1);
    }
}

/* In a child: workers with teams of their own, after the process has had one. */
static void be_child_with_workers(int max) {
    static unit_problem p;
    gcor_status status;
    unit_data x = unit_data_new(100, 200, UNIT_COMPLETE);
    limit_threads(max, (int64_t)32 << 20);
    unit_problem_of(&p, &x.matrix.source, NULL);
    p.backend = &unit_device;
    p.threads = gcor_usable_threads(8);
    (void)count_team(p.threads);
    unit_found alone = unit_find(&p, unit_kind_named("square"), &status);
    p.devices = 3;
    _exit(!status && CHECK_SAME(&alone, unit_find(&p, unit_kind_named("square"), &status)) && !status);
}

static void fewer_for_workers(void) {
    unit_seed(14);
    if (!has_limits()) return;
    for (int max = 0; max < 16; max++) CHECK_INT(status_of_child(be_child_with_workers, max), 1);
}

#else
static void fewer_where_there_is_a_limit(void) {
    unit_skip("Windows has no limit of a process's address space");
}

static void fewer_for_workers(void) {
    unit_skip("Windows has no limit of a process's address space");
}
#endif

static void all_where_there_is_none(void) {
    CHECK_INT(gcor_usable_threads(1), 1);
    CHECK_INT(gcor_usable_threads(7), 7);
    CHECK_INT(gcor_usable_threads(3), 3);
    CHECK_INT(gcor_usable_threads(WANTED), WANTED);
}

const unit_test threads_tests[] = {
    {"where the system allows fewer threads there are fewer, and no end of the process", fewer_where_there_is_a_limit},
    {"workers have fewer threads, too", fewer_for_workers},
    {"without a limit there are as many as are asked for", all_where_there_is_none},
    LOOP_TESTS,
    {NULL, NULL},
};
#endif
