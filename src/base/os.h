/* The operating system: os_posix.c and os_windows.c implement these functions, and every other file of the engine
 * compiles unchanged on both. pthread.h stays in use outside this header: on Windows winpthreads, which belongs to R's
 * toolchain there, has everything that the engine needs (threads, mutexes, conditions with CLOCK_REALTIME).
 *
 * Paths are in R's native encoding, which is UTF-8 on Windows. A function that fails sets errno. Any thread may call.
 */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- memory ---------------------------------------------------------------------- */

/* Returns `bytes` bytes, a multiple of 64, aligned to 64 bytes and not cleared, which gcor_os_free() frees; NULL: no
 * memory. */
void *gcor_os_alloc(size_t bytes);
void gcor_os_free(void *memory); /* NULL is allowed */

/* Returns `bytes` bytes of zeros, aligned to `alignment`, a power of two; NULL: no memory. Pages are allocated when
 * they are first written to. Both numbers are multiples of the page size. */
void *gcor_os_map(size_t bytes, size_t alignment);
/* Gives back any part of what gcor_os_map() returned, in whole pages. */
void gcor_os_unmap(void *at, size_t bytes);
/* The system may drop the contents of mapped pages until they are written to again. */
void gcor_os_discard(void *at, size_t bytes);
/* Asks for large pages, in any memory; a system without them ignores it. */
void gcor_os_huge_pages(void *at, size_t bytes);

/* Returns the bytes that the process may still take: the min of what the system has without swapping, what the
 * process's control groups leave, and what its address space has room for. Pages that the system may drop are
 * available, and so are those of cached buffers (base/alloc.h), on Linux. INT64_MAX: unknown. */
int64_t gcor_available_memory(void);

/* ---- files: all are binary, and a child process does not inherit them -------------- */

typedef enum { GCOR_OS_READ, GCOR_OS_READ_FORWARD, GCOR_OS_WRITE } gcor_os_mode; /* FORWARD: from begin to end */

/* Opens an existing file and returns its descriptor, which gcor_os_close() closes; -1: error. Others may rename,
 * replace and remove the file meanwhile. */
int gcor_os_open(const char *path, gcor_os_mode mode);
/* The same for a new file in a folder, to read and to write, that has no name or is removed when it is closed, or when
 * the process ends for whatever reason. */
int gcor_os_temporary(const char *folder);
void gcor_os_close(int file);

/* Returns the number of bytes read from byte `at` on, fewer than asked for only where the file ends; -1: error. */
int64_t gcor_os_read(int file, void *to, int64_t bytes, int64_t at);
/* Writes all bytes from byte `at` on. Returns 0; -1: error, ENOSPC where the disk is full. */
int gcor_os_write(int file, const void *from, int64_t bytes, int64_t at);
/* Returns the size in bytes; -1: error. */
int64_t gcor_os_size(int file);

/* Returns a stream that reads the file from byte `at` on, the caller's to fclose(); NULL: error. The descriptor stays
 * open. */
FILE *gcor_os_stream(int file, int64_t at);
/* fopen() with a path as above. */
FILE *gcor_os_fopen(const char *path, const char *mode);
/* Returns the position in a stream, in bytes; -1: error. */
int64_t gcor_os_tell(FILE *stream);

typedef enum { GCOR_OS_ABSENT, GCOR_OS_FILE, GCOR_OS_FOLDER, GCOR_OS_OTHER } gcor_os_kind;

/* Returns what a path is, without opening it; GCOR_OS_ABSENT: errno says why. */
gcor_os_kind gcor_os_kind_of(const char *path);

/* Waits until a file, or the names in a folder, are on the disk. Returns 0; -1: error, or no way to do this, as for
 * folders on Windows. */
int gcor_os_sync(const char *path);

/* ---- threads, processes, random numbers --------------------------------------------- */

/* pthread_create() of a thread that handles no signals, which are for the thread that R runs in, with 8 MB of stack:
 * what Linux gives, for compilers in drivers of GPUs, and more than some systems do. The only way to start a thread. */
int gcor_os_thread(pthread_t *thread, void *(*run)(void *), void *argument);

/* Returns whether there is a process of that number, of whatever user. */
int gcor_os_is_running(int process);

/* Returns the number of processors that this process may run on, or fewer if its control groups have a quota of their
 * time: rounded up to whole processors, and read at most once a second. */
int gcor_os_processors(void);

#ifndef _WIN32
/* Return what the process's control groups and their parents leave: bytes of memory, and processors; INT64_MAX: no
 * limit. system: "", or for tests a folder in whose proc/self/cgroup and sys/fs/cgroup the groups are. */
int64_t gcor_os_group_memory(const char *system);
int64_t gcor_os_group_processors(const char *system);
#endif

/* Calls these functions, or not those that are NULL, at each fork() from now on: before it, and after it in the process
 * itself and in the child. A system without fork() never does. */
void gcor_os_at_fork(void (*before)(void), void (*after)(void), void (*in_child)(void));

/* Holds the library that this function is in, so that it stays in memory when others close it; 0: no longer. Returns
 * 0; -1: error. On systems that do not forget the functions of gcor_os_at_fork() with the library, it is always held.
 */
int gcor_os_hold_library(int holds);

/* Returns a number of the file at the path that the library was loaded from: another one once that is another file;
 * 0: unknown. */
int64_t gcor_os_library_file(void);

/* Fills `bytes` bytes with the system's random numbers. Returns 0; -1: error. */
int gcor_os_random(void *to, size_t bytes);
