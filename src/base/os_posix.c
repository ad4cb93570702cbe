/* os.h for Linux, macOS and other POSIX systems. */
#define _GNU_SOURCE
#include "os.h"

#ifndef _WIN32

#include "triangle.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

/* ---- memory ---------------------------------------------------------------------- */

void *gcor_os_alloc(size_t bytes) {
    return aligned_alloc(64, bytes);
}

void gcor_os_free(void *memory) {
    free(memory);
}

/* Unmaps what precedes and follows the aligned part. No memory is reserved for the pages: callers map more than they
 * will use. */
void *gcor_os_map(size_t bytes, size_t alignment) {
    char *from = mmap(NULL, bytes + alignment, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                      0);
    if (from == MAP_FAILED) return NULL;
    size_t before = (alignment - (uintptr_t)from % alignment) % alignment;
    if (before > 0) gcor_os_unmap(from, before);
    if (before < alignment) gcor_os_unmap(from + before + bytes, alignment - before);
    return from + before;
}

void gcor_os_unmap(void *at, size_t bytes) {
    (void)munmap(at, bytes);
}

void gcor_os_discard(void *at, size_t bytes) {
#ifdef MADV_FREE
    (void)madvise(at, bytes, MADV_FREE);
#endif
}

void gcor_os_huge_pages(void *at, size_t bytes) {
#ifdef MADV_HUGEPAGE
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = ((uintptr_t)at + page - 1) / page * page;
    uintptr_t end = ((uintptr_t)at + bytes) / page * page;
    if (end > begin) (void)madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#endif
}

/* ---- numbers in files ---------------------------------------------------------------- */

/* Reads two numbers that follow a name at the beginning of a line, and returns how many there are. */
static int numbers_in(const char *path, const char *name, int64_t *first, int64_t *second) {
    char line[256];
    int n = 0;
    FILE *file = fopen(path, "r");
    while (file && n == 0 && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            n = sscanf(line + strlen(name), "%" SCNd64 "%" SCNd64, first, second);
    if (file) fclose(file);
    return n > 0 ? n : 0;
}

/* The number that follows a name; -1 if there is none. */
static int64_t number_in(const char *path, const char *name) {
    int64_t value, second;
    return numbers_in(path, name, &value, &second) > 0 ? value : -1;
}

/* ---- control groups ---------------------------------------------------------------- */

/* A resource whose use groups of processes limit. The names of a group's files differ between the two versions of
 * control groups. */
typedef struct {
    const char *controller; /* version 1 has a tree of groups for each */
    int64_t (*left)(const char *folder, int version);
} group_limit;

enum { MAX_PATH_BYTES = 600 };

static int64_t number_of_group(const char *folder, const char *file, const char *name) {
    char path[MAX_PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return number_in(path, name);
}

/* Bytes left below a group's limit; pages of the file cache that are not in use count as free. */
static int64_t memory_of_group(const char *folder, int version) {
    const int64_t no_limit = INT64_MAX / 2; /* version 1 reports the largest number of pages */
    int64_t max = number_of_group(folder, version == 1 ? "memory.limit_in_bytes" : "memory.max", "");
    if (max < 0 || max > no_limit) return INT64_MAX; /* "max" is not a number */
    int64_t used = number_of_group(folder, version == 1 ? "memory.usage_in_bytes" : "memory.current", "");
    int64_t idle = number_of_group(folder, "memory.stat", "inactive_file ");
    if (used < 0) return INT64_MAX;
    used -= idle > 0 ? idle : 0;
    return max > used ? max - used : 0;
}

/* Processors that a group may use at a time, on average: its time in each period. */
static int64_t processors_of_group(const char *folder, int version) {
    char path[MAX_PATH_BYTES];
    int64_t quota = -1, period = -1;
    if (version == 1) {
        quota = number_of_group(folder, "cpu.cfs_quota_us", "");
        period = number_of_group(folder, "cpu.cfs_period_us", "");
    } else {
        snprintf(path, sizeof path, "%s/cpu.max", folder);
        if (numbers_in(path, "", &quota, &period) < 2) return INT64_MAX;
    }
    return quota > 0 && period > 0 ? (quota - 1) / period + 1 : INT64_MAX;
}

static const group_limit memory_limit = {"memory", memory_of_group}, processor_limit = {"cpu", processors_of_group};

/* Minimum over a group and its parents up to the root, which may be the only one visible in a container. */
static int64_t left_of_groups(const group_limit *limit, const char *root, const char *group, int version) {
    char folder[MAX_PATH_BYTES - 100];
    int64_t left = INT64_MAX;
    if (snprintf(folder, sizeof folder, "%s%s", root, group) >= (int)sizeof folder) return left;
    while (strlen(folder) >= strlen(root)) {
        left = gcor_min(left, limit->left(folder, version));
        char *last = strrchr(folder, '/');
        if (!last) break;
        *last = 0;
    }
    return left;
}

/* True if a list of names, separated by commas, has the name. */
static int is_listed(const char *names, const char *end, const char *name) {
    const size_t size = strlen(name);
    for (const char *at = names; at < end; at += strcspn(at, ",:") + 1)
        if (strcspn(at, ",:") == size && strncmp(at, name, size) == 0) return 1;
    return 0;
}

/* Parses a line of /proc/self/cgroup: "0::/group", or in version 1 "7:cpu,cpuacct:/group". */
static int64_t left_of_line(const group_limit *limit, const char *system, char *line) {
    char root[MAX_PATH_BYTES / 2], *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;
    line[strcspn(line, "\n")] = 0;
    if (!group) return INT64_MAX;
    const int version = ++names == group ? 2 : 1;
    if (version == 1 && !is_listed(names, group, limit->controller)) return INT64_MAX;
    snprintf(root, sizeof root, "%s/sys/fs/cgroup%s%s", system, version == 1 ? "/" : "",
             version == 1 ? limit->controller : "");
    return left_of_groups(limit, root, group + 1, version);
}

static int64_t left_of_all(const group_limit *limit, const char *system) {
    char path[MAX_PATH_BYTES], line[512];
    int64_t left = INT64_MAX;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", system);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) left = gcor_min(left, left_of_line(limit, system, line));
    if (file) fclose(file);
    return left;
}

int64_t gcor_os_group_memory(const char *system) {
    return left_of_all(&memory_limit, system);
}

int64_t gcor_os_group_processors(const char *system) {
    return left_of_all(&processor_limit, system);
}

/* ---- available memory -------------------------------------------------------------- */

/* Bytes left of the address space under `ulimit -v`, which batch systems set. */
static int64_t left_of_address_space(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return INT64_MAX;
    int64_t pages = number_in("/proc/self/statm", ""), max = (int64_t)limit.rlim_cur;
    return pages < 0 ? max : gcor_max(0, max - pages * (int64_t)sysconf(_SC_PAGESIZE));
}

int64_t gcor_available_memory(void) {
    int64_t kilobytes = number_in("/proc/meminfo", "MemAvailable:");
    int64_t left = gcor_min(kilobytes >= 0 ? 1024 * kilobytes : INT64_MAX, left_of_address_space());
    return gcor_min(left, gcor_os_group_memory(""));
}

/* ---- files --------------------------------------------------------------------------- */

int gcor_os_open(const char *path, gcor_os_mode mode) {
    int file = open(path, (mode == GCOR_OS_WRITE ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
#ifdef POSIX_FADV_SEQUENTIAL
    if (file >= 0 && mode == GCOR_OS_READ_FORWARD) (void)posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL);
#endif
    return file;
}

/* Creates a file and removes its name at once. */
static int open_and_unlink(const char *folder) {
    static const char pattern[] = "/.gpucor-XXXXXX";
    char *path = malloc(strlen(folder) + sizeof pattern);
    if (!path) return -1;
    strcat(strcpy(path, folder), pattern);
    int file = mkostemp(path, O_CLOEXEC), error = errno;
    if (file >= 0) (void)unlink(path);
    free(path);
    errno = error;
    return file;
}

int gcor_os_temporary(const char *folder) {
#ifdef O_TMPFILE
    int file = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    int is_unsupported = errno == EOPNOTSUPP || errno == EISDIR || errno == ENOENT || errno == EINVAL;
    if (file >= 0 || !is_unsupported) return file;
#endif
    return open_and_unlink(folder);
}

void gcor_os_close(int file) {
    (void)close(file);
}

int64_t gcor_os_read(int file, void *to, int64_t bytes, int64_t at) {
    enum { MAX_AT_A_TIME = 1 << 30 }; /* systems read less than 2 GB at a time */
    int64_t done = 0;
    while (done < bytes) {
        int64_t rest = bytes - done;
        ssize_t n = pread(file, (char *)to + done, (size_t)(rest < MAX_AT_A_TIME ? rest : MAX_AT_A_TIME), at + done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return -1;
        if (n == 0) break;
        done += n;
    }
    return done;
}

int gcor_os_write(int file, const void *from, int64_t bytes, int64_t at) {
    for (int64_t done = 0; done < bytes;) {
        ssize_t n = pwrite(file, (const char *)from + done, (size_t)(bytes - done), at + done);
        if (n < 0 && errno == EINTR) continue;
        if (n == 0) errno = ENOSPC;
        if (n <= 0) return -1;
        done += n;
    }
    return 0;
}

int64_t gcor_os_size(int file) {
    struct stat found;
    return fstat(file, &found) == 0 ? (int64_t)found.st_size : -1;
}

FILE *gcor_os_stream(int file, int64_t at) {
    int copy = fcntl(file, F_DUPFD_CLOEXEC, 0);
    FILE *stream = copy < 0 ? NULL : fdopen(copy, "r");
    if (stream && fseeko(stream, at, SEEK_SET) == 0) return stream;
    int error = errno;
    if (stream)
        (void)fclose(stream);
    else if (copy >= 0)
        (void)close(copy);
    errno = error;
    return NULL;
}

FILE *gcor_os_fopen(const char *path, const char *mode) {
    return fopen(path, mode);
}

int64_t gcor_os_tell(FILE *stream) {
    return ftello(stream);
}

gcor_os_kind gcor_os_kind_of(const char *path) {
    struct stat found;
    if (stat(path, &found) != 0) return GCOR_OS_ABSENT;
    return S_ISREG(found.st_mode) ? GCOR_OS_FILE : S_ISDIR(found.st_mode) ? GCOR_OS_FOLDER : GCOR_OS_OTHER;
}

int gcor_os_sync(const char *path) {
    int file = gcor_os_open(path, GCOR_OS_READ);
    int status = file >= 0 ? fsync(file) : -1;
    if (file >= 0) gcor_os_close(file);
    return status;
}

/* ---- threads, processes, random numbers ----------------------------------------------- */

enum { STACK_BYTES = 8 << 20 };

int gcor_os_thread(pthread_t *thread, void *(*run)(void *), void *argument) {
    sigset_t all, before;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int status = pthread_create(thread, &attributes, run, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return status;
}

/* The signal to a process of another user is refused, but the process exists. */
int gcor_os_is_running(int process) {
    return process > 0 && (kill(process, 0) == 0 || errno == EPERM);
}

#ifdef __linux__

/* The system refuses a set that is smaller than its own. */
static int count_affinity(void) {
    enum { MIN = 1024, MAX = 1 << 20 };
    for (int n = MIN, refused = 1; refused && n <= MAX; n *= 2) {
        const size_t bytes = CPU_ALLOC_SIZE(n);
        cpu_set_t *set = CPU_ALLOC(n);
        if (!set) return 0;
        const int status = sched_getaffinity(0, bytes, set), count = status == 0 ? CPU_COUNT_S(bytes, set) : 0;
        refused = status != 0 && errno == EINVAL;
        CPU_FREE(set);
        if (!refused) return count;
    }
    return 0;
}

#endif

/* Reading files takes as long as a small run, so a new limit counts after a second. */
static int64_t group_processors(void) {
    static int64_t known, until;
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) return gcor_os_group_processors("");
    if (now.tv_sec >= __atomic_load_n(&until, __ATOMIC_ACQUIRE)) {
        __atomic_store_n(&known, gcor_os_group_processors(""), __ATOMIC_RELAXED);
        __atomic_store_n(&until, (int64_t)now.tv_sec + 1, __ATOMIC_RELEASE);
    }
    return __atomic_load_n(&known, __ATOMIC_RELAXED);
}

int gcor_os_processors(void) {
    int64_t n = 0;
#ifdef __linux__
    n = count_affinity();
#endif
    if (n < 1) n = sysconf(_SC_NPROCESSORS_ONLN);
    return (int)gcor_clamp(gcor_min(n, group_processors()), 1, INT_MAX);
}

void gcor_os_at_fork(void (*before)(void), void (*after)(void), void (*in_child)(void)) {
    pthread_atfork(before, after, in_child);
}

/* The path of the library. */
static const char *library_path(void) {
    Dl_info found;
    return dladdr((const void *)(uintptr_t)library_path, &found) ? found.dli_fname : NULL;
}

int gcor_os_hold_library(int holds) {
    static void *held;
#ifndef __GLIBC__
    holds = 1;
#endif
    if (holds && !held && library_path()) held = dlopen(library_path(), RTLD_LAZY | RTLD_NOLOAD);
    if (holds) return held ? 0 : -1;
    if (held) (void)dlclose(held);
    held = NULL;
    return 0;
}

int64_t gcor_os_library_file(void) {
    struct stat found;
    const char *path = library_path();
    return path && stat(path, &found) == 0 ? (int64_t)found.st_ino : 0;
}

int gcor_os_random(void *to, size_t bytes) {
    int file = gcor_os_open("/dev/urandom", GCOR_OS_READ);
    if (file < 0) return -1;
    ssize_t n = read(file, to, bytes);
    gcor_os_close(file);
    return n == (ssize_t)bytes ? 0 : -1;
}

#endif
