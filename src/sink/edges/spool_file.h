/* Files with chunks of edges: a temporary file that grows, or a saved file that is only read. Several stores and chunks
 * can use a file; it is closed when the last user leaves. */
#ifndef GPUCOR_SPOOL_FILE_H
#define GPUCOR_SPOOL_FILE_H

#include "../../gpucor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gcor_spool_file gcor_spool_file;

/* Create an unlinked temporary file in a folder, which the system removes when the process ends, even after a crash.
 * The caller is a user of *file, until gcor_spool_file_leave(). *file is NULL after an error, which is GCOR_BAD_FILE.
 */
gcor_status gcor_spool_file_new(gcor_context *context, const char *folder, gcor_spool_file **file);
/* Open a file for reading; *file as above. */
gcor_status gcor_spool_file_open(gcor_context *context, const char *path, gcor_spool_file **file);

/* Add a user, and remove one; NULL is allowed. Any thread. */
gcor_spool_file *gcor_spool_file_join(gcor_spool_file *file);
void gcor_spool_file_leave(gcor_spool_file *file);

/* Append `bytes` bytes to a created file; they begin at *offset. Any thread, several at once. A full disk is
 * GCOR_BAD_FILE. */
gcor_status gcor_spool_file_append(gcor_spool_file *file, gcor_context *context, const void *data, int64_t bytes,
                                   int64_t *offset);
/* Read `bytes` bytes from `offset` on. Any thread, several at once. A file that is too short is GCOR_BAD_FILE. */
gcor_status gcor_spool_file_read(const gcor_spool_file *file, gcor_context *context, int64_t offset, void *data,
                                 int64_t bytes);
/* Open the same file as a stream from `offset` on. The caller closes it with fclose(); NULL after an error. */
gcor_status gcor_spool_file_stream(const gcor_spool_file *file, gcor_context *context, int64_t offset, FILE **stream);

/* Add `change` to the number of bytes of edges that the file's users have in memory; returns the new number. Any
 * thread. */
int64_t gcor_spool_file_held(gcor_spool_file *file, int64_t change);

#ifdef __cplusplus
}
#endif
#endif
