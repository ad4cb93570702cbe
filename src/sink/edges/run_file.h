/* Files with chunks of edges: a temporary one that grows, or a saved one that is only read. Several stores and their
 * chunks use a file, which is closed when the last one leaves it. */
#ifndef GPUCOR_RUN_FILE_H
#define GPUCOR_RUN_FILE_H

#include "../../gpucor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gcor_run_file gcor_run_file;

/* Create a file in a folder, without a name: the system removes it when the process ends, however that ends. *file
 * counts the caller as its user, who ends with gcor_run_file_leave(); NULL after an error, which is GCOR_BAD_FILE. */
gcor_status gcor_run_file_new(gcor_context *context, const char *folder, gcor_run_file **file);
/* Open a file for reading; *file as above. */
gcor_status gcor_run_file_open(gcor_context *context, const char *path, gcor_run_file **file);

/* One user more, and one less; NULL is allowed. Any thread. */
gcor_run_file *gcor_run_file_join(gcor_run_file *file);
void gcor_run_file_leave(gcor_run_file *file);

/* Append `bytes` bytes to a created file; they begin at *offset. Any thread, several at once. A full disk is
 * GCOR_BAD_FILE. */
gcor_status gcor_run_file_append(gcor_run_file *file, gcor_context *context, const void *data, int64_t bytes,
                                 int64_t *offset);
/* Read `bytes` bytes from `offset` on. Any thread, several at once. A file that is too short is GCOR_BAD_FILE. */
gcor_status gcor_run_file_read(const gcor_run_file *file, gcor_context *context, int64_t offset, void *data,
                               int64_t bytes);
/* The same file as a stream from `offset` on, the caller's to fclose(); NULL after an error. */
gcor_status gcor_run_file_stream(const gcor_run_file *file, gcor_context *context, int64_t offset, FILE **stream);

/* Add `change` to the bytes of edges that the file's users have in memory; returns their sum. Any thread. */
int64_t gcor_run_file_held(gcor_run_file *file, int64_t change);

#ifdef __cplusplus
}
#endif
#endif
