/* Files of edges. Reads and writes pass an offset, so that threads need no common file position. */
#include "spool_file.h"

#include "../../base/os.h"
#include "../../base/alloc.h"
#include "../file.h"

#include <errno.h>
#include <string.h>

struct gcor_spool_file {
    int descriptor, users;
    int64_t end, held;
    char name[256]; /* for messages: the folder of a temporary file, or the path; cut off if longer */
};

static gcor_status new_file(gcor_context *context, const char *name, gcor_spool_file **file) {
    *file = gcor_alloc(context, 1, sizeof **file, "a file of edges");
    if (!*file) return GCOR_NO_MEMORY;
    **file = (gcor_spool_file){.descriptor = -1, .users = 1};
    strncpy((*file)->name, name, sizeof(*file)->name - 1);
    return GCOR_OK;
}

static void give_up(gcor_spool_file **file) {
    gcor_free(*file);
    *file = NULL;
}

gcor_status gcor_spool_file_new(gcor_context *context, const char *folder, gcor_spool_file **file) {
    gcor_status status = new_file(context, folder, file);
    if (status) return status;
    (*file)->descriptor = gcor_os_temporary(folder);
    if ((*file)->descriptor >= 0) return GCOR_OK;
    (void)gcor_fail(context, GCOR_BAD_FILE, "cannot create a temporary file in \"%s\": %s", (*file)->name,
                    strerror(errno));
    give_up(file);
    return context->error.status;
}

gcor_status gcor_spool_file_open(gcor_context *context, const char *path, gcor_spool_file **file) {
    gcor_status status = new_file(context, path, file);
    if (status) return status;
    (*file)->descriptor = gcor_os_open(path, GCOR_OS_READ);
    if ((*file)->descriptor >= 0) return GCOR_OK;
    status = gcor_fail(context, GCOR_BAD_FILE, "cannot open \"%s\": %s", (*file)->name, strerror(errno));
    give_up(file);
    return status;
}

gcor_spool_file *gcor_spool_file_join(gcor_spool_file *file) {
    if (file) __atomic_add_fetch(&file->users, 1, __ATOMIC_RELAXED);
    return file;
}

void gcor_spool_file_leave(gcor_spool_file *file) {
    if (!file || __atomic_sub_fetch(&file->users, 1, __ATOMIC_ACQ_REL) > 0) return;
    gcor_os_close(file->descriptor);
    gcor_free(file);
}

gcor_status gcor_spool_file_append(gcor_spool_file *file, gcor_context *context, const void *data, int64_t bytes,
                                   int64_t *offset) {
    *offset = __atomic_fetch_add(&file->end, bytes, __ATOMIC_RELAXED);
    if (gcor_os_write(file->descriptor, data, bytes, *offset) == 0) return GCOR_OK;
    return gcor_fail(context, GCOR_BAD_FILE,
                     "cannot write %.1f MB of edges to a temporary file in \"%s\": %s; make room there, or choose "
                     "another disk for file =",
                     (double)bytes / 1e6, file->name, strerror(errno));
}

gcor_status gcor_spool_file_read(const gcor_spool_file *file, gcor_context *context, int64_t offset, void *data,
                                 int64_t bytes) {
    int64_t n = gcor_os_read(file->descriptor, data, bytes, offset);
    if (n == bytes) return GCOR_OK;
    return gcor_fail(context, GCOR_BAD_FILE, "cannot read edges in \"%s\": %s", file->name,
                     n < 0 ? strerror(errno) : "the file is cut off");
}

gcor_status gcor_spool_file_stream(const gcor_spool_file *file, gcor_context *context, int64_t offset, FILE **stream) {
    *stream = gcor_os_stream(file->descriptor, offset);
    if (*stream) return GCOR_OK;
    return gcor_fail(context, GCOR_BAD_FILE, "cannot read \"%s\": %s", file->name, strerror(errno));
}

int64_t gcor_spool_file_held(gcor_spool_file *file, int64_t change) {
    return __atomic_add_fetch(&file->held, change, __ATOMIC_RELAXED);
}
