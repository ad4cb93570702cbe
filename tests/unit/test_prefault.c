/* Prefaulting keeps the contents of memory, and buffers can be taken from prefaulted memory. */
#include "check.h"
#include "fixture.h"
#include "system.h"

#include "../../src/base/os.h"
#include "../../src/base/alloc.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#if UNIT_HAS_FORK
#include <sys/wait.h>
#endif

enum { PAGE = 4096, BYTES = 24 << 20, ENTRIES = 3 << 19 };

static unsigned char value_at(int64_t k) {
    return (unsigned char)(k % 251);
}

static void *prefault_all(void *memory) {
    gcor_monitor monitor = gcor_watch(NULL, NULL);
    gcor_context context = {.threads = 3, .monitor = &monitor};
    for (int round = 0; round < 20; round++) {
        int64_t begun = 0;
        gcor_prefault(&context, memory, BYTES - 100, &begun);
    }
    return NULL;
}

/* One thread writes to pages while others prefault them; some pages begin with 0, others do not. */
static void keeps_contents(void) {
    unsigned char *memory = gcor_os_map(BYTES, PAGE);
    pthread_t thread;
    int64_t wrong = 0;
    CHECK_INT(gcor_os_thread(&thread, prefault_all, memory), 0);
    for (int64_t k = 0; k < BYTES; k++) memory[k] = value_at(k);
    pthread_join(thread, NULL);
    for (int64_t k = 0; k < BYTES; k++) wrong += memory[k] != value_at(k);
    CHECK_INT(wrong, 0);
    gcor_os_unmap(memory, BYTES);
}

/* gcor_prefault() makes all pages present; with a stopped context it touches none. */
static void touches_at_once(void) {
    unsigned char *memory = gcor_os_map(BYTES, PAGE);
    int64_t wrong = 0, begun = 0;
    gcor_monitor monitor = gcor_watch(NULL, NULL);
    gcor_context context = {.threads = 3, .monitor = &monitor};
    monitor.stopped = 1;
    gcor_prefault(&context, memory, BYTES - 100, &begun);
    CHECK_INT(unit_count_present(memory, BYTES), 0);
    monitor.stopped = 0;
    context.error.status = GCOR_OK;
    memory[4096] = 7;
    gcor_prefault(&context, memory, BYTES - 100, &begun);
    for (int64_t k = 0; k < BYTES; k++) wrong += memory[k] != (k == 4096 ? 7 : 0);
    CHECK_INT(unit_count_present(memory, BYTES), BYTES / PAGE);
    CHECK_INT(wrong, 0);
    gcor_os_unmap(memory, BYTES);
}

static void entries_take_their_memory(void) {
    gcor_context context = {.threads = 3};
    gcor_buffer col = {0}, r = {0};
    gcor_prefaulted *prefaulted = gcor_prefaulted_new(&context, 1 << 30);
    CHECK(prefaulted != NULL);
    gcor_prefaulted_expect(prefaulted, ENTRIES / 2);
    gcor_prefaulted_expect(prefaulted, ENTRIES - ENTRIES / 2);
    CHECK_INT(gcor_prefaulted_take(prefaulted, ((int64_t)1 << 30) + 1, &col, &r), 0);
    CHECK_INT(gcor_prefaulted_take(prefaulted, 0, &col, &r), 0);
    CHECK_INT(gcor_prefaulted_take(prefaulted, ENTRIES, &col, &r), 1);
    gcor_prefaulted_free(prefaulted);
    memset(col.at, 1, ENTRIES * sizeof(int32_t));
    memset(r.at, 1, ENTRIES * sizeof(double));
    CHECK(col.bytes < ENTRIES * sizeof(int32_t) + (4 << 20) && r.bytes < ENTRIES * sizeof(double) + (4 << 20));
    CHECK_INT(gcor_buffers_used(), (int64_t)(col.bytes + r.bytes));
    gcor_buffer_give(&col);
    gcor_buffer_give(&r);
    CHECK_INT(gcor_buffers_used(), 0);
    CHECK_INT(gcor_buffers_cached(), 0);
    context.threads = 1; /* no thread is left to prefault */
    CHECK(gcor_prefaulted_new(&context, 1000) == NULL);
    gcor_prefaulted_free(NULL);
}

/* A forked process has the memory but not the threads. */
static void survives_fork(void) {
#if UNIT_HAS_FORK
    gcor_context context = {.threads = 3};
    gcor_prefaulted *prefaulted = gcor_prefaulted_new(&context, ENTRIES);
    CHECK(prefaulted != NULL);
    gcor_prefaulted_expect(prefaulted, ENTRIES);
    pid_t child = fork();
    if (child == 0) {
        gcor_prefaulted_free(prefaulted);
        _exit(7);
    }
    int status = 0;
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK_INT(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 7);
    gcor_prefaulted_free(prefaulted);
    CHECK_INT(gcor_buffers_used(), 0);
#else
    unit_skip("Windows has no fork()");
#endif
}

const unit_test prefault_tests[] = {
    {"prefaulted memory keeps its contents", keeps_contents},
    {"all threads prefault memory at once", touches_at_once},
    {"entries take as much memory as they need", entries_take_their_memory},
    {"a forked process is not hung up", survives_fork},
    {0},
};
