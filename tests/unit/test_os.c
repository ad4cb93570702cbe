/* The operating system behind src/base/os.h: behavior is the same on all systems. */
#include "check.h"
#include "system.h"

#include "../../src/base/os.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

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

const unit_test os_tests[] = {
    {"mapped memory goes back in parts", parts_of_memory},
    {"files are binary, and are read and written at places of 64 bits", positions_in_files},
    {"names are in UTF-8, and open files may be removed", names_of_files},
    {"processes and random numbers", processes_and_random_numbers},
    {NULL, NULL},
};
