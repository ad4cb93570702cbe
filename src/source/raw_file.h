/* A raw file: columns of values, one after the other, observation by observation. Columns are read when they are asked
 * for, by pread(): a file that becomes shorter meanwhile is an error, where a mapped one would end the process. */
#ifndef GPUCOR_RAW_FILE_H
#define GPUCOR_RAW_FILE_H

#include "source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Little-endian. Integers: INT_MIN is missing; the others: any NaN is. */
typedef enum { GCOR_FILE_DOUBLE, GCOR_FILE_FLOAT, GCOR_FILE_INTEGER } gcor_file_type;

/* What the file has to be: `offset` bytes that do not count, n_obs x n_var values, and its end. */
typedef struct {
    int64_t offset, n_obs, n_var;
    gcor_file_type type;
} gcor_file_shape;

typedef struct gcor_raw_file gcor_raw_file;

/* Open a file for reading; *file is the caller's, who ends it by gcor_raw_close(), and NULL after an error: a path that
 * is no regular file, cannot be read or has another size is GCOR_BAD_INPUT. */
gcor_status gcor_raw_open(gcor_context *context, const char *path, const gcor_file_shape *shape, gcor_raw_file **file);
/* GCOR_BAD_INPUT if the file has another size by now. */
gcor_status gcor_raw_check(gcor_context *context, const gcor_raw_file *file);
void gcor_raw_close(gcor_raw_file *file); /* NULL is allowed */

const gcor_file_shape *gcor_raw_shape(const gcor_raw_file *file);
/* Read columns first .. first+n-1 as they are in the file: n_obs values each, of its type. Any thread. GCOR_BAD_INPUT
 * if the file has become shorter or cannot be read. */
gcor_status gcor_raw_columns(gcor_context *context, const gcor_raw_file *file, int64_t first, int64_t n, void *out);

/* The source of a file, which stays the caller's. Any thread may read. */
typedef struct {
    gcor_source source; /* first */
    const gcor_raw_file *file;
} gcor_raw_source;
gcor_raw_source gcor_raw_source_of(const gcor_raw_file *file);

#ifdef __cplusplus
}
#endif
#endif
