#define _GNU_SOURCE
#include "system.h"

#include <stdlib.h>
#include <string.h>

#ifdef _WIN32

#define WIN32_LEAN_AND_MEAN
#define PSAPI_VERSION 2
#include <windows.h>
/* after windows.h */
#include <psapi.h>

/* Windows has no streams in memory. */
FILE *unit_begin_writing(char **bytes, size_t *n) {
    return tmpfile();
}

void unit_end_writing(FILE *stream, char **bytes, size_t *n) {
    *n = (size_t)ftell(stream);
    *bytes = malloc(*n + 1);
    rewind(stream);
    *n = fread(*bytes, 1, *n, stream);
    fclose(stream);
}

FILE *unit_begin_reading(const char *bytes, size_t n) {
    FILE *stream = tmpfile();
    if (fwrite(bytes, 1, n, stream) != n) abort();
    rewind(stream);
    return stream;
}

const char *unit_folder(void) {
    static char folder[MAX_PATH + 1];
    DWORD n = GetTempPathA(sizeof folder, folder);
    if (n > 0) folder[n - 1] = 0; /* a backslash */
    return folder;
}

int unit_remove(const char *path) {
    wchar_t wide[MAX_PATH];
    return MultiByteToWideChar(CP_UTF8, 0, path, -1, wide, MAX_PATH) > 0 && DeleteFileW(wide) ? 0 : -1;
}

void unit_set_variable(const char *name, const char *value) {
    (void)_putenv_s(name, value ? value : "");
}

int64_t unit_count_present(void *memory, int64_t bytes) {
    enum { PAGE = 4096 };
    int64_t present = 0;
    for (int64_t k = 0; k < bytes; k += PAGE) {
        PSAPI_WORKING_SET_EX_INFORMATION page = {.VirtualAddress = (char *)memory + k};
        if (QueryWorkingSetEx(GetCurrentProcess(), &page, sizeof page)) present += page.VirtualAttributes.Valid;
    }
    return present;
}

void unit_limit_seconds(const char *file, const char *test, double seconds) {}

#else

#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

FILE *unit_begin_writing(char **bytes, size_t *n) {
    return open_memstream(bytes, n);
}

void unit_end_writing(FILE *stream, char **bytes, size_t *n) {
    fclose(stream);
}

FILE *unit_begin_reading(const char *bytes, size_t n) {
    return fmemopen((void *)(uintptr_t)bytes, n, "r");
}

const char *unit_folder(void) {
    return P_tmpdir;
}

int unit_remove(const char *path) {
    return unlink(path);
}

void unit_set_variable(const char *name, const char *value) {
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

int64_t unit_count_present(void *memory, int64_t bytes) {
    int64_t page = sysconf(_SC_PAGESIZE), n = (bytes + page - 1) / page, present = 0;
    unsigned char *there = calloc((size_t)n, 1);
    (void)mincore(memory, (size_t)bytes, there);
    for (int64_t k = 0; k < n; k++) present += there[k] & 1;
    free(there);
    return present * (page / 4096);
}

static char of_processor[400], of_any[400];

static void end_late(int signal) {
    const char *text = signal == SIGPROF ? of_processor : of_any;
    const ssize_t n = write(STDOUT_FILENO, text, strlen(text));
    _exit(n < 0 ? 125 : 124);
}

static void set_timer(int which, int signal, double seconds) {
    const long whole = (long)seconds;
    const struct itimerval timer = {.it_value = {whole, (long)(1e6 * (seconds - (double)whole))}};
    struct sigaction action = {.sa_handler = end_late};
    if (sigaction(signal, &action, NULL) != 0 || setitimer(which, &timer, NULL) != 0) abort();
}

void unit_limit_seconds(const char *file, const char *test, double seconds) {
    const char *format = "failed: %s, %s: not at its end after %g seconds%s\n";
    snprintf(of_processor, sizeof of_processor, format, file, test, seconds, " of processor time");
    snprintf(of_any, sizeof of_any, format, file, test, 10 * seconds, "");
    set_timer(ITIMER_PROF, SIGPROF, seconds);
    set_timer(ITIMER_REAL, SIGALRM, 10 * seconds);
}

#endif
