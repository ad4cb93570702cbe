/* Functions of the operating system that tests need beyond src/base/os.h. */
#ifndef GPUCOR_UNIT_SYSTEM_H
#define GPUCOR_UNIT_SYSTEM_H

#include <stdint.h>
#include <stdio.h>

#ifdef _WIN32
#define UNIT_HAS_FORK 0 /* no limits of a process's resources and no /dev/full either */
#else
#define UNIT_HAS_FORK 1
#endif

/* Returns a stream to write to, whose bytes unit_end_writing() returns in *bytes, the caller's to free(), and *n. */
FILE *unit_begin_writing(char **bytes, size_t *n);
void unit_end_writing(FILE *stream, char **bytes, size_t *n);
/* Returns a stream that reads n bytes; the caller closes it with fclose(). The bytes must remain until then. */
FILE *unit_begin_reading(const char *bytes, size_t n);

/* Returns the folder for temporary files. */
const char *unit_folder(void);

/* Removes a file, whose path is in UTF-8. Returns 0; -1: error. */
int unit_remove(const char *path);

/* Sets an environment variable; NULL: removes it. */
void unit_set_variable(const char *name, const char *value);

/* Returns the number of 4 KB pages of mapped memory that are in RAM. */
int64_t unit_count_present(void *memory, int64_t bytes);

/* Where the system can, prints the test's name and ends the process after that many seconds of its processor time, or
 * ten times as many of any time, which pass on a busy machine and where threads wait for one another; 0: no longer. */
void unit_limit_seconds(const char *file, const char *test, double seconds);

#endif
