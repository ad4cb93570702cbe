/* Raw files: columns of values, one after the other, observation by observation. Columns are read on demand by
 * pread(): a file that is truncated meanwhile causes an error, whereas a mapped file would crash the process. */
#ifndef GPUCOR_RAW_FILE_H
#define GPUCOR_RAW_FILE_H

#include "source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Little-endian. Missing values: INT_MIN for integers, any NaN for the others. */
typedef enum { GCOR_FILE_DOUBLE, GCOR_FILE_FLOAT, GCOR_FILE_INTEGER } gcor_file_type;

/* The expected layout: `offset` ignored bytes, then n_obs x n_var values up to the end of the file. */
typedef struct {
    int64_t offset, n_obs, n_var;
    gcor_file_type type;
} gcor_file_shape;

typedef struct gcor_raw_file gcor_raw_file;

/* Opens a file for reading. *file is the caller's, to close with gcor_raw_close(); NULL after an error. A path that
 * is no regular file, cannot be read or has another size is GCOR_BAD_FILE. */
gcor_status gcor_raw_open(gcor_context *context, const char *path, const gcor_file_shape *shape, gcor_raw_file **file);
/* GCOR_BAD_FILE if the file's size has changed. */
gcor_status gcor_raw_check(gcor_context *context, const gcor_raw_file *file);
void gcor_raw_close(gcor_raw_file *file); /* NULL is allowed */

const gcor_file_shape *gcor_raw_shape(const gcor_raw_file *file);
/* Reads columns first .. first+n-1 in the file's type, n_obs values each. Any thread. GCOR_BAD_FILE if the file was
 * truncated or cannot be read. */
gcor_status gcor_raw_columns(gcor_context *context, const gcor_raw_file *file, int64_t first, int64_t n, void *out);

/* The source of a file; the file stays the caller's. Any thread may read. */
typedef struct {
    gcor_source source; /* must be first */
    const gcor_raw_file *file;
} gcor_raw_source;
gcor_raw_source gcor_raw_source_of(const gcor_raw_file *file);

#ifdef __cplusplus
}
#endif
#endif
