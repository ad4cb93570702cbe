/* Memory that is touched in the background: what is in it stays, and it is there for who takes it. */
#include "check.h"
#include "fixture.h"
#include "system.h"

#include "../../src/base/os.h"
#include "../../src/base/landing.h"
#include "../../src/base/touch.h"

#include <string.h>
#include <unistd.h>

#if UNIT_HAS_FORK
#include <sys/wait.h>
#endif

enum { PAGE = 4096, BYTES = 24 << 20, UNIT = 1 << 20, ENTRIES = 3 << 19 };

static unsigned char value_at(int64_t k) {
    return (unsigned char)(k % 251);
}

/* One thread writes what others touch: the first byte of a page is 0 at some, and more at others. */
static void keeps_contents(void) {
    unsigned char *memory = gcor_os_map(BYTES, PAGE);
    gcor_fresh fresh = {memory, BYTES - 100, UNIT};
    gcor_toucher *toucher = gcor_toucher_new(3, &fresh, 1);
    int64_t wrong = 0;
    CHECK(toucher != NULL);
    for (int64_t units = 1; units <= BYTES / UNIT; units++) {
        gcor_toucher_want(toucher, units);
        for (int64_t k = (units - 1) * UNIT; k < units * UNIT; k++) memory[k] = value_at(k);
    }
    gcor_toucher_want(toucher, 1); /* is not heard */
    gcor_toucher_free(toucher);
    for (int64_t k = 0; k < BYTES; k++) wrong += memory[k] != value_at(k);
    CHECK_INT(wrong, 0);
    gcor_os_unmap(memory, BYTES);
    CHECK(gcor_toucher_new(0, &fresh, 1) == NULL);
    gcor_toucher_free(NULL);
}

/* All of it is there then; one who stops gets none. */
static void touches_at_once(void) {
    unsigned char *memory = gcor_os_map(BYTES, PAGE);
    int64_t wrong = 0;
    gcor_monitor monitor = gcor_watch(NULL, NULL);
    gcor_context context = {.threads = 3, .monitor = &monitor};
    gcor_fresh fresh = {memory, BYTES - 100, UNIT};
    monitor.stopped = 1;
    gcor_touch(&context, &fresh);
    CHECK_INT(unit_count_present(memory, BYTES), 0);
    monitor.stopped = 0;
    context.error.status = GCOR_OK;
    memory[4096] = 7;
    gcor_touch(&context, &fresh);
    for (int64_t k = 0; k < BYTES; k++) wrong += memory[k] != (k == 4096 ? 7 : 0);
    CHECK_INT(unit_count_present(memory, BYTES), BYTES / PAGE);
    CHECK_INT(wrong, 0);
    gcor_os_unmap(memory, BYTES);
}

static void lands(void) {
    gcor_context context = {.threads = 3};
    gcor_block col = {0}, r = {0};
    gcor_landing *landing = gcor_landing_new(&context, 1 << 30);
    CHECK(landing != NULL);
    gcor_landing_expect(landing, ENTRIES);
    CHECK_INT(gcor_landing_take(landing, ((int64_t)1 << 30) + 1, &col, &r), 0);
    CHECK_INT(gcor_landing_take(landing, 0, &col, &r), 0);
    CHECK_INT(gcor_landing_take(landing, ENTRIES, &col, &r), 1);
    gcor_landing_free(landing);
    memset(col.at, 1, ENTRIES * sizeof(int32_t));
    memset(r.at, 1, ENTRIES * sizeof(double));
    CHECK(col.capacity < ENTRIES * sizeof(int32_t) + (4 << 20) && r.capacity < ENTRIES * sizeof(double) + (4 << 20));
    CHECK_INT(gcor_pool_used(), (int64_t)(col.capacity + r.capacity));
    gcor_pool_return(&col);
    gcor_pool_return(&r);
    CHECK_INT(gcor_pool_used(), 0);
    context.threads = 1; /* that others touch memory was not asked for */
    CHECK(gcor_landing_new(&context, 1000) == NULL);
}

/* A forked process has the memory and not the threads. */
static void survives_fork(void) {
#if UNIT_HAS_FORK
    gcor_context context = {.threads = 3};
    gcor_landing *landing = gcor_landing_new(&context, ENTRIES);
    CHECK(landing != NULL);
    gcor_landing_expect(landing, ENTRIES);
    pid_t child = fork();
    if (child == 0) {
        gcor_landing_free(landing);
        _exit(7);
    }
    int status = 0;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 7);
    gcor_landing_free(landing);
    CHECK_INT(gcor_pool_used(), 0);
#else
    unit_skip("Windows has no fork()");
#endif
}

const unit_test touch_tests[] = {
    {"what is touched keeps its contents", keeps_contents},
    {"memory is touched by all threads at once", touches_at_once},
    {"entries land in as much memory as they need", lands},
    {"a forked process is not hung up", survives_fork},
    {0},
};
