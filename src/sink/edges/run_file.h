/* Files that edges are in instead of memory: a temporary one that grows, or one that was saved and is only read.
 * Several stores and threads have parts of a file; it is closed when the last one leaves it. */
#ifndef GPUCOR_RUN_FILE_H
#define GPUCOR_RUN_FILE_H

#include "../../gpucor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gcor_run_file gcor_run_file;

/* A new one in a folder, where it has no name: the system removes it with whoever has it open, however that ends. *file
 * is the caller's part, to end with gcor_run_file_leave(); NULL after an error, which is GCOR_BAD_FILE. */
gcor_status gcor_run_file_new(gcor_context *context, const char *folder, gcor_run_file **file);
/* One that is there, to be read, or to be written to; the same. */
gcor_status gcor_run_file_open(gcor_context *context, const char *path, int writable, gcor_run_file **file);

/* One part more, and one less; NULL is allowed. Any thread. */
gcor_run_file *gcor_run_file_join(gcor_run_file *file);
void gcor_run_file_leave(gcor_run_file *file);

/* `bytes` bytes to the end of a new one, from *offset on. Any thread, several at once. A disk that is full is
 * GCOR_BAD_FILE. */
gcor_status gcor_run_file_append(gcor_run_file *file, gcor_context *context, const void *data, int64_t bytes,
                                 int64_t *offset);
/* `bytes` bytes from `offset` on. Any thread, several at once. A file that ends before is GCOR_BAD_FILE. */
gcor_status gcor_run_file_read(const gcor_run_file *file, gcor_context *context, int64_t offset, void *data,
                               int64_t bytes);
/* `bytes` bytes to where they belong. Any thread, several at once. A disk that is full is GCOR_BAD_FILE. */
gcor_status gcor_run_file_write(const gcor_run_file *file, gcor_context *context, int64_t offset, const void *data,
                                int64_t bytes);
/* The same file as a stream from `offset` on, the caller's to fclose(); NULL after an error. */
gcor_status gcor_run_file_stream(const gcor_run_file *file, gcor_context *context, int64_t offset, FILE **stream);

/* How many bytes those who write to it have in memory, after a change. Any thread. */
int64_t gcor_run_file_held(gcor_run_file *file, int64_t change);

#ifdef __cplusplus
}
#endif
#endif
