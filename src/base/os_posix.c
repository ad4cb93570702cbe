/* os.h for Linux, macOS and other POSIX systems. */
#define _GNU_SOURCE
#include "os.h"

#ifndef _WIN32

#include "triangle.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
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

/* ---- available memory -------------------------------------------------------------- */

/* Version 1 of control groups reports no limit as the largest number of pages. */
static const int64_t NO_LIMIT = INT64_MAX / 2;

/* The number that follows a name at the beginning of a line; -1 if there is none. */
static int64_t number_in(const char *path, const char *name) {
    char line[256];
    int64_t value = -1;
    FILE *file = fopen(path, "r");
    while (file && value < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0 && sscanf(line + strlen(name), "%" SCNd64, &value) != 1) value = -1;
    if (file) fclose(file);
    return value;
}

/* Bytes left below a group's limit; pages of the file cache that are not in use count as free. The names of its
 * files differ between the two versions of control groups. */
static int64_t left_of_group(const char *folder, const char *limit, const char *current) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, limit);
    int64_t max = number_in(path, ""); /* "max" is not a number */
    if (max < 0 || max > NO_LIMIT) return INT64_MAX;
    snprintf(path, sizeof path, "%s/%s", folder, current);
    int64_t used = number_in(path, "");
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    int64_t idle = number_in(path, "inactive_file ");
    if (used < 0) return INT64_MAX;
    used -= idle > 0 ? idle : 0;
    return max > used ? max - used : 0;
}

/* Minimum over a group and its parents up to the root, which may be the only one visible in a container. */
static int64_t left_of_groups(const char *root, const char *group, const char *limit, const char *current) {
    char folder[512];
    int64_t left = INT64_MAX;
    if (snprintf(folder, sizeof folder, "%s%s", root, group) >= (int)sizeof folder) return left;
    while (strlen(folder) >= strlen(root)) {
        left = gcor_min(left, left_of_group(folder, limit, current));
        char *last = strrchr(folder, '/');
        if (!last) break;
        *last = 0;
    }
    return left;
}

/* Parses a line of /proc/self/cgroup: "0::/group", or in version 1 "7:memory:/group". */
static int64_t left_of_line(char *line) {
    char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;
    line[strcspn(line, "\n")] = 0;
    if (!group) return INT64_MAX;
    if (names + 1 == group) return left_of_groups("/sys/fs/cgroup", group + 1, "memory.max", "memory.current");
    if (!strstr(names, "memory")) return INT64_MAX;
    return left_of_groups("/sys/fs/cgroup/memory", group + 1, "memory.limit_in_bytes", "memory.usage_in_bytes");
}

/* Bytes left of the address space under `ulimit -v`, which batch systems set. */
static int64_t left_of_address_space(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return INT64_MAX;
    int64_t pages = number_in("/proc/self/statm", ""), max = (int64_t)limit.rlim_cur;
    return pages < 0 ? max : gcor_max(0, max - pages * (int64_t)sysconf(_SC_PAGESIZE));
}

int64_t gcor_available_memory(void) {
    char line[512];
    int64_t kilobytes = number_in("/proc/meminfo", "MemAvailable:");
    int64_t left = gcor_min(kilobytes >= 0 ? 1024 * kilobytes : INT64_MAX, left_of_address_space());
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file && fgets(line, sizeof line, file)) left = gcor_min(left, left_of_line(line));
    if (file) fclose(file);
    return left;
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

int gcor_os_processors(void) {
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
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
