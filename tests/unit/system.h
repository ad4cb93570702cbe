/* What tests ask of the operating system beyond src/base/os.h. */
#ifndef GPUCOR_UNIT_SYSTEM_H
#define GPUCOR_UNIT_SYSTEM_H

#include <stdint.h>
#include <stdio.h>

#ifdef _WIN32
#define UNIT_HAS_FORK 0 /* nor limits of a process's resources, nor /dev/full */
#else
#define UNIT_HAS_FORK 1
#endif

/* Returns a stream to write to, whose bytes unit_end_writing() returns in *bytes, the caller's to free(), and *n. */
FILE *unit_begin_writing(char **bytes, size_t *n);
void unit_end_writing(FILE *stream, char **bytes, size_t *n);
/* Returns a stream that reads n bytes, the caller's to fclose(). The bytes stay there as long. */
FILE *unit_begin_reading(const char *bytes, size_t n);

/* Returns the folder for temporary files. */
const char *unit_folder(void);

/* Removes a file, whose path is in UTF-8. Returns 0; -1: error. */
int unit_remove(const char *path);

/* Sets an environment variable; value NULL: removes it. */
void unit_set_variable(const char *name, const char *value);

/* Returns how many 4 KB pages of mapped memory are in RAM. */
int64_t unit_count_present(void *memory, int64_t bytes);

/* Ends the process after so many seconds, where the system can; 0: no longer. */
void unit_limit_seconds(unsigned seconds);

#endif
