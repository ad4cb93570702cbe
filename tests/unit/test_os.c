#define _GNU_SOURCE
/* The operating system behind src/base/os.h: behavior is the same on all systems. */
#include "check.h"
#include "system.h"

#include "../../src/base/os.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __linux__
#include <sched.h>
#include <sys/syscall.h>
#endif
#ifndef _WIN32
#include <sys/stat.h>
#include <sys/wait.h>
#endif

enum { PAGE = 2 << 20, N = 1000 };

static unsigned char value_at(int64_t k) {
    return (unsigned char)(1 + k % 251);
}

/* Checks that pages k .. k+n-1 of mapped memory hold what was written. */
static void check_pages(const unsigned char *memory, int64_t k, int64_t n) {
    int64_t wrong = 0;
    for (int64_t b = k * PAGE; b < (k + n) * PAGE; b += 1000) wrong += memory[b] != value_at(b);
    CHECK_INT(wrong, 0);
}

static void parts_of_memory(void) {
    enum { PAGES = 4 };
    for (int last = 0; last < PAGES; last++) {
        unsigned char *memory = gcor_os_map(PAGES * (size_t)PAGE, PAGE);
        int64_t sum = 0;
        if (!CHECK(memory != NULL)) return;
        CHECK_INT((uintptr_t)memory % PAGE, 0);
        for (int64_t b = 0; b < PAGES * (int64_t)PAGE; b++) sum += memory[b];
        CHECK_INT(sum, 0);
        for (int64_t b = 0; b < PAGES * (int64_t)PAGE; b++) memory[b] = value_at(b);
        for (int k = 0; k < PAGES; k++)
            if (k != last) gcor_os_unmap(memory + k * (int64_t)PAGE, PAGE);
        check_pages(memory, last, 1);
        gcor_os_discard(memory + last * (int64_t)PAGE, PAGE);
        for (int64_t b = last * (int64_t)PAGE; b < (last + 1) * (int64_t)PAGE; b++) memory[b] = value_at(b);
        check_pages(memory, last, 1);
        gcor_os_unmap(memory + last * (int64_t)PAGE, PAGE);
    }
    CHECK(gcor_os_map((size_t)1 << 60, PAGE) == NULL);
    CHECK(gcor_available_memory() > PAGE);
}

/* The bytes include those that text mode would change: carriage return, line feed, and DOS's end of file. */
static void positions_in_files(void) {
    unsigned char bytes[N], found[N];
    for (int k = 0; k < N; k++) bytes[k] = value_at(k);
    int file = gcor_os_temporary(unit_folder()), other = gcor_os_temporary(unit_folder());
    if (!CHECK(file >= 0 && other >= 0 && file != other)) return;
    CHECK_INT(gcor_os_write(file, bytes + 500, N - 500, 500), 0);
    CHECK_INT(gcor_os_write(file, bytes, 500, 0), 0);
    CHECK_INT(gcor_os_size(file), N);
    CHECK_INT(gcor_os_size(other), 0);
    CHECK_INT(gcor_os_read(file, found, N, 0), N);
    CHECK_INT(memcmp(found, bytes, N), 0);
    CHECK_INT(gcor_os_read(file, found, N, N - 10), 10);
    CHECK_INT(memcmp(found, bytes + N - 10, 10), 0);
    CHECK_INT(gcor_os_read(file, found, N, N), 0);
    CHECK_INT(gcor_os_read(file, found, N, ((int64_t)1 << 32) + 3), 0);
    FILE *stream = gcor_os_stream(file, 7);
    if (CHECK(stream != NULL)) {
        CHECK_INT(fread(found, 1, N, stream), N - 7);
        CHECK_INT(memcmp(found, bytes + 7, N - 7), 0);
        CHECK_INT(gcor_os_tell(stream), N);
        fclose(stream);
    }
    CHECK_INT(gcor_os_read(file, found, N, 0), N);
    gcor_os_close(other);
    gcor_os_close(file);
    CHECK_INT(gcor_os_temporary("/nowhere/at/all"), -1);
    CHECK_INT(errno, ENOENT);
}

/* A file is removed while it is open, as may happen on a shared disk. */
static void names_of_files(void) {
    char path[FILENAME_MAX];
    unsigned char byte = 0;
    snprintf(path, sizeof path, "%s/gpucor-\u00e9\u4e2d-%d", unit_folder(), (int)getpid());
    FILE *stream = gcor_os_fopen(path, "wb");
    if (!CHECK(stream != NULL)) return;
    fputc('\n', stream);
    fclose(stream);
    CHECK_INT(gcor_os_sync(path), 0);
    CHECK_INT(gcor_os_kind_of(path), GCOR_OS_FILE);
    int file = gcor_os_open(path, GCOR_OS_READ_FORWARD), writable = gcor_os_open(path, GCOR_OS_WRITE);
    if (!CHECK(file >= 0 && writable >= 0)) return;
    CHECK_INT(gcor_os_size(file), 1);
    CHECK_INT(gcor_os_write(writable, "x", 1, 0), 0);
    CHECK_INT(gcor_os_write(file, "y", 1, 0), -1);
    gcor_os_close(writable);
    CHECK_INT(unit_remove(path), 0);
    CHECK_INT(gcor_os_read(file, &byte, 1, 0), 1);
    CHECK_INT(byte, 'x');
    gcor_os_close(file);
    CHECK_INT(gcor_os_kind_of(path), GCOR_OS_ABSENT);
    CHECK_INT(errno, ENOENT);
    CHECK_INT(gcor_os_open(path, GCOR_OS_READ), -1);
    CHECK_INT(errno, ENOENT);
    CHECK_INT(gcor_os_kind_of(unit_folder()), GCOR_OS_FOLDER);
}

static void processes_and_random_numbers(void) {
    unsigned char first[16], second[16];
    CHECK(gcor_os_is_running((int)getpid()));
    CHECK(!gcor_os_is_running(0) && !gcor_os_is_running(-1) && !gcor_os_is_running(INT32_MAX));
    CHECK_INT(gcor_os_random(first, sizeof first), 0);
    CHECK_INT(gcor_os_random(second, sizeof second), 0);
    CHECK(memcmp(first, second, sizeof first) != 0);
}

/* ---- control groups -------------------------------------------------------------------------------- */

#ifndef _WIN32

enum { MAX_MADE = 64 };

/* Files in a folder that stands for the root of the system. */
static struct {
    char root[200], *paths[MAX_MADE]; /* what was made, in this order */
    int n;
} made;

static const char *path_of(const char *name) {
    static char path[FILENAME_MAX];
    snprintf(path, sizeof path, "%s%s", made.root, name);
    return path;
}

static void begin_system(void) {
    snprintf(made.root, sizeof made.root, "%s/gpucor-groups-%d", unit_folder(), (int)getpid());
    made.n = 0;
    CHECK_INT(mkdir(made.root, 0700), 0);
}

static void end_system(void) {
    while (made.n > 0) {
        CHECK_INT(remove(made.paths[--made.n]), 0);
        free(made.paths[made.n]);
    }
    CHECK_INT(remove(made.root), 0);
}

static void note_made(const char *name) {
    if (CHECK(made.n < MAX_MADE)) made.paths[made.n++] = strdup(path_of(name));
}

/* Writes a file and makes the folders above it. */
static void put(const char *name, const char *text) {
    char part[200];
    for (const char *slash = strchr(name + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - name), name);
        if (mkdir(path_of(part), 0700) == 0) note_made(part);
    }
    const int is_new = access(path_of(name), F_OK) != 0;
    FILE *file = fopen(path_of(name), "w");
    if (!CHECK(file != NULL)) return;
    fputs(text, file);
    fclose(file);
    if (is_new) note_made(name);
}

/* A quota holds for a group and those below it; part of a processor counts as one. */
static void quotas_of_groups(void) {
    begin_system();
    CHECK_INT(gcor_os_group_processors(made.root), INT64_MAX); /* there is nothing */
    put("/proc/self/cgroup", "0::/user/job\n");
    put("/sys/fs/cgroup/user/job/cpu.max", "max 100000\n");
    CHECK_INT(gcor_os_group_processors(made.root), INT64_MAX);
    put("/sys/fs/cgroup/cpu.max", "800000 100000\n");
    CHECK_INT(gcor_os_group_processors(made.root), 8);
    put("/sys/fs/cgroup/user/cpu.max", "250000 100000\n");
    CHECK_INT(gcor_os_group_processors(made.root), 3);
    put("/sys/fs/cgroup/user/job/cpu.max", "1000 50000\n");
    CHECK_INT(gcor_os_group_processors(made.root), 1);
    put("/proc/self/cgroup", "0::/../of/a/host\n"); /* a container sees the root alone */
    CHECK_INT(gcor_os_group_processors(made.root), 8);
    end_system();
}

static void quotas_of_version_1(void) {
    begin_system();
    put("/proc/self/cgroup", "9:cpuset:/sets\n5:cpuacct,cpu:/jobs/one\n3:memory:/memory\n0::/\n");
    put("/sys/fs/cgroup/cpu/sets/cpu.cfs_quota_us", "50000\n"); /* another controller's group */
    put("/sys/fs/cgroup/cpu/sets/cpu.cfs_period_us", "50000\n");
    put("/sys/fs/cgroup/cpu/jobs/one/cpu.cfs_quota_us", "-1\n");
    put("/sys/fs/cgroup/cpu/jobs/one/cpu.cfs_period_us", "100000\n");
    CHECK_INT(gcor_os_group_processors(made.root), INT64_MAX);
    put("/sys/fs/cgroup/cpu/jobs/cpu.cfs_quota_us", "200000\n");
    put("/sys/fs/cgroup/cpu/jobs/cpu.cfs_period_us", "50000\n");
    CHECK_INT(gcor_os_group_processors(made.root), 4);
    put("/sys/fs/cgroup/cpu/jobs/one/cpu.cfs_quota_us", "100001\n");
    CHECK_INT(gcor_os_group_processors(made.root), 2);
    end_system();
}

/* Pages of files that are not in use are free. */
static void memory_of_groups(void) {
    begin_system();
    CHECK_INT(gcor_os_group_memory(made.root), INT64_MAX);
    put("/proc/self/cgroup", "4:memory:/job\n0::/user\n");
    put("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n"); /* none */
    put("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "100\n");
    put("/sys/fs/cgroup/user/memory.max", "max\n");
    put("/sys/fs/cgroup/user/memory.current", "100\n");
    CHECK_INT(gcor_os_group_memory(made.root), INT64_MAX);
    put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "5000000000\n");
    put("/sys/fs/cgroup/memory/memory.usage_in_bytes", "3000000000\n");
    put("/sys/fs/cgroup/memory/memory.stat", "cache 7\ninactive_file 500000000\n");
    CHECK_INT(gcor_os_group_memory(made.root), 2500000000);
    put("/sys/fs/cgroup/user/memory.max", "1000\n");
    CHECK_INT(gcor_os_group_memory(made.root), 900);
    put("/sys/fs/cgroup/user/memory.current", "2000\n");
    CHECK_INT(gcor_os_group_memory(made.root), 0);
    end_system();
}

#else

static void quotas_of_groups(void) {
    unit_skip("the system has no control groups");
}

static void quotas_of_version_1(void) {
    unit_skip("the system has no control groups");
}

static void memory_of_groups(void) {
    unit_skip("the system has no control groups");
}

#endif

/* ---- processors ------------------------------------------------------------------------------------ */

#ifdef __linux__

static int machine_processors; /* 0: the system's */

/* In the place of the C library's: a machine with that many processors, of which the process may use all but one. */
int sched_getaffinity(pid_t pid, size_t bytes, cpu_set_t *set) {
    memset(set, 0, bytes);
    if (machine_processors == 0) return syscall(SYS_sched_getaffinity, pid, bytes, set) < 0 ? -1 : 0;
    if (8 * bytes < (size_t)machine_processors) {
        errno = EINVAL;
        return -1;
    }
    for (int k = 1; k < machine_processors; k++) CPU_SET_S(k, bytes, set);
    return 0;
}

static void many_processors(void) {
    if (gcor_os_group_processors("") < 9999) {
        unit_skip("the test has a quota");
        return;
    }
    for (machine_processors = 2; machine_processors < 9999; machine_processors = 3 * machine_processors + 1)
        CHECK_INT(gcor_os_processors(), machine_processors - 1);
    machine_processors = INT_MAX; /* a set that is always refused */
    CHECK_INT(gcor_os_processors(), sysconf(_SC_NPROCESSORS_ONLN));
    machine_processors = 0;
}

#else

static void many_processors(void) {
    unit_skip("the system has no sets of processors");
}

#endif

/* ---- limits of tests -------------------------------------------------------------------------------- */

#if UNIT_HAS_FORK

/* Runs a test of at most `seconds` of processor time in a child, and returns how the child ends. */
static int status_of_child(void (*test)(void), double seconds, char *output, size_t size) {
    int ends[2], status = -1;
    if (!CHECK_INT(pipe(ends), 0)) return status;
    const pid_t child = fork();
    if (child == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        unit_limit_seconds("a file", "a test", seconds);
        test();
        _exit(0);
    }
    close(ends[1]);
    const ssize_t n = read(ends[0], output, size - 1);
    output[n > 0 ? n : 0] = 0;
    close(ends[0]);
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

static void spin(void) {
    (void)alarm(0); /* no limit of wall clock, which may end first on a busy machine */
    for (volatile int k = 0;; k = 1 - k) {}
}

static void wait_long(void) {
    usleep(60 * 1000 * 1000);
}

static void wait_briefly(void) {
    usleep(150 * 1000);
}

/* Time in which others use the processor does not count. */
static void late_tests(void) {
    char output[500];
    int status = status_of_child(spin, 0.03, output, sizeof output);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 124);
    CHECK_TEXT(output, "failed: a file, a test: not at its end after 0.03 seconds of processor time\n");
    status = status_of_child(wait_long, 0.01, output, sizeof output);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 124);
    CHECK_TEXT(output, "failed: a file, a test: not at its end after 0.1 seconds\n");
    CHECK_INT(status_of_child(wait_briefly, 0.1, output, sizeof output), 0);
}

#else

static void late_tests(void) {
    unit_skip("the system has no timers of processor time");
}

#endif

const unit_test os_tests[] = {
    {"mapped memory goes back in parts", parts_of_memory},
    {"files are binary, and are read and written at places of 64 bits", positions_in_files},
    {"names are in UTF-8, and open files may be removed", names_of_files},
    {"processes and random numbers", processes_and_random_numbers},
    {"a test that takes too long is named, and waiting is no time", late_tests},
    {"quotas of control groups limit processors", quotas_of_groups},
    {"quotas of version 1 of control groups", quotas_of_version_1},
    {"memory of control groups", memory_of_groups},
    {"more processors than a set of the C library has", many_processors},
    {NULL, NULL},
};
