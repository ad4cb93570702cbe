/* os.h for Windows 10 and later, 64 bits. */
#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0A00
#endif
#define WIN32_LEAN_AND_MEAN
#define _CRT_RAND_S
#include "os.h"

#ifdef _WIN32

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <windows.h>

/* ---- memory ---------------------------------------------------------------------- */

void *gcor_os_alloc(size_t bytes) {
    return _aligned_malloc(bytes, 64);
}

void gcor_os_free(void *memory) {
    _aligned_free(memory);
}

/* The addresses before and behind the aligned part stay reserved, which takes no memory. */
void *gcor_os_map(size_t bytes, size_t alignment) {
    char *from = VirtualAlloc(NULL, bytes + alignment, MEM_RESERVE, PAGE_NOACCESS);
    if (!from) return NULL;
    char *at = from + (alignment - (uintptr_t)from % alignment) % alignment;
    if (VirtualAlloc(at, bytes, MEM_COMMIT, PAGE_READWRITE)) return at;
    (void)VirtualFree(from, 0, MEM_RELEASE);
    return NULL;
}

/* True if no part of the range reserved at `base` is in use. */
static int is_unused(void *base) {
    MEMORY_BASIC_INFORMATION part;
    for (char *at = base; VirtualQuery(at, &part, sizeof part) && part.AllocationBase == base; at += part.RegionSize)
        if (part.State == MEM_COMMIT) return 0;
    return 1;
}

/* Releases the pages of a part at once, and the addresses with the last part: Windows can only release whole ranges. */
void gcor_os_unmap(void *at, size_t bytes) {
    static SRWLOCK lock = SRWLOCK_INIT; /* two threads must not both release */
    MEMORY_BASIC_INFORMATION part;
    AcquireSRWLockExclusive(&lock);
    if (VirtualQuery(at, &part, sizeof part) && VirtualFree(at, bytes, MEM_DECOMMIT) && is_unused(part.AllocationBase))
        (void)VirtualFree(part.AllocationBase, 0, MEM_RELEASE);
    ReleaseSRWLockExclusive(&lock);
}

void gcor_os_discard(void *at, size_t bytes) {
    (void)VirtualAlloc(at, bytes, MEM_RESET, PAGE_READWRITE);
}

/* Large pages require a privilege that users do not have. */
void gcor_os_huge_pages(void *at, size_t bytes) {}

/* Memory is limited by RAM and page files together. */
int64_t gcor_available_memory(void) {
    MEMORYSTATUSEX now = {.dwLength = sizeof now};
    if (!GlobalMemoryStatusEx(&now)) return INT64_MAX;
    DWORDLONG left = now.ullAvailPhys < now.ullAvailPageFile ? now.ullAvailPhys : now.ullAvailPageFile;
    return (int64_t)(left < now.ullAvailVirtual ? left : now.ullAvailVirtual);
}

/* ---- files --------------------------------------------------------------------------- */

/* Sets errno to what the C library would report for the last error. Returns -1. */
static int fail(void) {
    static const struct {
        DWORD code;
        int number;
    } known[] = {{ERROR_FILE_NOT_FOUND, ENOENT},
                 {ERROR_PATH_NOT_FOUND, ENOENT},
                 {ERROR_INVALID_NAME, ENOENT},
                 {ERROR_BAD_NETPATH, ENOENT},
                 {ERROR_ACCESS_DENIED, EACCES},
                 {ERROR_SHARING_VIOLATION, EACCES},
                 {ERROR_LOCK_VIOLATION, EACCES},
                 {ERROR_WRITE_PROTECT, EROFS},
                 {ERROR_DISK_FULL, ENOSPC},
                 {ERROR_HANDLE_DISK_FULL, ENOSPC},
                 {ERROR_FILE_EXISTS, EEXIST},
                 {ERROR_ALREADY_EXISTS, EEXIST},
                 {ERROR_TOO_MANY_OPEN_FILES, EMFILE},
                 {ERROR_INVALID_HANDLE, EBADF},
                 {ERROR_NOT_ENOUGH_MEMORY, ENOMEM},
                 {ERROR_FILENAME_EXCED_RANGE, ENAMETOOLONG},
                 {ERROR_NO_UNICODE_TRANSLATION, EILSEQ}};
    DWORD code = GetLastError();
    errno = EIO;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (known[k].code == code) errno = known[k].number;
    return -1;
}

/* Returns UTF-8 as UTF-16, the caller's to free(); NULL: error. */
static wchar_t *widen(const char *text) {
    int n = MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, NULL, 0);
    wchar_t *wide = n > 0 ? malloc((size_t)n * sizeof *wide) : NULL;
    if (wide) (void)MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, wide, n);
    if (n == 0) (void)fail();
    return wide;
}

/* CreateFile() for files that others may read, write, rename and remove at the same time. */
static HANDLE open_handle(const char *path, DWORD access, DWORD creation, DWORD flags) {
    wchar_t *wide = widen(path);
    if (!wide) return INVALID_HANDLE_VALUE;
    HANDLE handle = CreateFileW(wide, access, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, creation,
                                flags, NULL);
    if (handle == INVALID_HANDLE_VALUE) (void)fail();
    free(wide);
    return handle;
}

/* Returns a descriptor, which owns the handle; -1: error. */
static int descriptor_of(HANDLE handle, int flags) {
    if (handle == INVALID_HANDLE_VALUE) return -1;
    int file = _open_osfhandle((intptr_t)handle, flags | _O_BINARY | _O_NOINHERIT);
    if (file < 0) (void)CloseHandle(handle);
    return file;
}

int gcor_os_open(const char *path, gcor_os_mode mode) {
    DWORD flags = mode == GCOR_OS_READ_FORWARD ? FILE_FLAG_SEQUENTIAL_SCAN : FILE_ATTRIBUTE_NORMAL;
    if (mode == GCOR_OS_WRITE) return descriptor_of(open_handle(path, GENERIC_WRITE, OPEN_EXISTING, flags), 0);
    return descriptor_of(open_handle(path, GENERIC_READ, OPEN_EXISTING, flags), _O_RDONLY);
}

/* Windows has no files without names, but it removes a file with its last handle, also when the process is killed. */
int gcor_os_temporary(const char *folder) {
    static LONG number;
    const DWORD flags = FILE_ATTRIBUTE_TEMPORARY | FILE_ATTRIBUTE_HIDDEN | FILE_FLAG_DELETE_ON_CLOSE;
    size_t size = strlen(folder) + 64;
    char *path = malloc(size);
    if (!path) return -1;
    HANDLE handle;
    do {
        snprintf(path, size, "%s/.gpucor-%lu-%lu", folder, GetCurrentProcessId(),
                 (unsigned long)InterlockedIncrement(&number));
        handle = open_handle(path, GENERIC_READ | GENERIC_WRITE | DELETE, CREATE_NEW, flags);
    } while (handle == INVALID_HANDLE_VALUE && errno == EEXIST);
    int error = errno;
    free(path);
    errno = error;
    return descriptor_of(handle, _O_RDWR);
}

void gcor_os_close(int file) {
    (void)_close(file);
}

static HANDLE handle_of(int file) {
    return (HANDLE)_get_osfhandle(file);
}

/* The start of an operation: not the handle's position, which threads share. */
static OVERLAPPED position(int64_t at) {
    return (OVERLAPPED){.Offset = (DWORD)at, .OffsetHigh = (DWORD)((uint64_t)at >> 32)};
}

static DWORD at_a_time(int64_t bytes) {
    enum { MAX_AT_A_TIME = 1 << 30 };
    return (DWORD)(bytes < MAX_AT_A_TIME ? bytes : MAX_AT_A_TIME);
}

int64_t gcor_os_read(int file, void *to, int64_t bytes, int64_t at) {
    int64_t done = 0;
    while (done < bytes) {
        OVERLAPPED from = position(at + done);
        DWORD n = 0;
        BOOL is_read = ReadFile(handle_of(file), (char *)to + done, at_a_time(bytes - done), &n, &from);
        if (!is_read && GetLastError() != ERROR_HANDLE_EOF) return fail();
        if (n == 0) break;
        done += n;
    }
    return done;
}

int gcor_os_write(int file, const void *from, int64_t bytes, int64_t at) {
    for (int64_t done = 0; done < bytes;) {
        OVERLAPPED to = position(at + done);
        DWORD n = 0;
        if (!WriteFile(handle_of(file), (const char *)from + done, at_a_time(bytes - done), &n, &to)) return fail();
        if (n == 0) {
            errno = ENOSPC;
            return -1;
        }
        done += n;
    }
    return 0;
}

int64_t gcor_os_size(int file) {
    LARGE_INTEGER size;
    return GetFileSizeEx(handle_of(file), &size) ? size.QuadPart : fail();
}

FILE *gcor_os_stream(int file, int64_t at) {
    int copy = _dup(file);
    FILE *stream = copy < 0 ? NULL : _fdopen(copy, "rb");
    if (stream && _fseeki64(stream, at, SEEK_SET) == 0) return stream;
    int error = errno;
    if (stream)
        (void)fclose(stream);
    else if (copy >= 0)
        (void)_close(copy);
    errno = error;
    return NULL;
}

FILE *gcor_os_fopen(const char *path, const char *mode) {
    wchar_t *wide = widen(path), *how = widen(mode);
    FILE *stream = wide && how ? _wfopen(wide, how) : NULL;
    int error = errno;
    free(wide);
    free(how);
    errno = error;
    return stream;
}

int64_t gcor_os_tell(FILE *stream) {
    return _ftelli64(stream);
}

/* Opens without access rights, so that it needs no permission to read and does not block. Folders require a flag. */
gcor_os_kind gcor_os_kind_of(const char *path) {
    BY_HANDLE_FILE_INFORMATION about;
    HANDLE handle = open_handle(path, 0, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS);
    if (handle == INVALID_HANDLE_VALUE) return GCOR_OS_ABSENT;
    int is_disk = GetFileType(handle) == FILE_TYPE_DISK && GetFileInformationByHandle(handle, &about);
    (void)CloseHandle(handle);
    if (!is_disk) return GCOR_OS_OTHER;
    return about.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY ? GCOR_OS_FOLDER : GCOR_OS_FILE;
}

int gcor_os_sync(const char *path) {
    int file = gcor_os_open(path, GCOR_OS_WRITE);
    if (file < 0) return -1;
    int status = FlushFileBuffers(handle_of(file)) ? 0 : fail();
    gcor_os_close(file);
    return status;
}

/* ---- threads, processes, random numbers: neither signals of POSIX nor fork() ----------- */

int gcor_os_thread(pthread_t *thread, void *(*run)(void *), void *argument) {
    return pthread_create(thread, NULL, run, argument);
}

/* The number of an ended process stays valid while anyone has a handle. */
int gcor_os_is_running(int process) {
    DWORD code = 0;
    HANDLE handle = process > 0 ? OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, (DWORD)process) : NULL;
    if (!handle) return process > 0 && GetLastError() == ERROR_ACCESS_DENIED;
    int is_running = GetExitCodeProcess(handle, &code) && code == STILL_ACTIVE;
    (void)CloseHandle(handle);
    return is_running;
}

int gcor_os_processors(void) {
    DWORD_PTR own, all;
    return GetProcessAffinityMask(GetCurrentProcess(), &own, &all) && own ? __builtin_popcountll(own) : 1;
}

void gcor_os_at_fork(void (*before)(void), void (*after)(void), void (*in_child)(void)) {}

int gcor_os_hold_library(int holds) {
    static HMODULE held;
    const DWORD by_address = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS;
    if (holds && !held && !GetModuleHandleExW(by_address, (LPCWSTR)(void *)(uintptr_t)gcor_os_hold_library, &held))
        held = NULL;
    if (holds) return held ? 0 : -1;
    if (held) (void)FreeLibrary(held);
    held = NULL;
    return 0;
}

/* Windows does not let anybody replace the file of a library in use. */
int64_t gcor_os_library_file(void) {
    return 0;
}

int gcor_os_random(void *to, size_t bytes) {
    for (size_t k = 0; k < bytes; k++) {
        unsigned number;
        if (rand_s(&number) != 0) return -1;
        ((unsigned char *)to)[k] = (unsigned char)number;
    }
    return 0;
}

#endif
