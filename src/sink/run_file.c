/* Files that edges are in, read and written at places, so that threads need no order among them. */
#define _GNU_SOURCE
#include "run_file.h"

#include "../core/alloc.h"
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct gcor_run_file {
    int descriptor, users;
    int64_t end, held;
    char name[256]; /* for messages: its folder, or its own; what is longer is cut off */
};

static gcor_status new_file(gcor_context *context, const char *name, gcor_run_file **file) {
    *file = gcor_alloc(context, 1, sizeof **file, "a file of edges");
    if (!*file) return GCOR_NO_MEMORY;
    **file = (gcor_run_file){.descriptor = -1, .users = 1};
    strncpy((*file)->name, name, sizeof(*file)->name - 1);
    return GCOR_OK;
}

static void give_up(gcor_run_file **file) {
    gcor_free(*file);
    *file = NULL;
}

/* Where the file system has no files without names, it has one for a moment. */
static int open_nameless(gcor_context *context, const char *folder) {
#ifdef O_TMPFILE
    int descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT && errno != EINVAL))
        return descriptor;
#else
    int descriptor;
#endif
    static const char pattern[] = "/.gpucor-XXXXXX";
    char *path = gcor_alloc(context, (int64_t)(strlen(folder) + sizeof pattern), 1, "the name of a file");
    if (!path) return -1;
    strcat(strcpy(path, folder), pattern);
    descriptor = mkostemp(path, O_CLOEXEC);
    if (descriptor >= 0) (void)unlink(path);
    int error = errno;
    gcor_free(path);
    errno = error;
    return descriptor;
}

gcor_status gcor_run_file_new(gcor_context *context, const char *folder, gcor_run_file **file) {
    gcor_status status = new_file(context, folder, file);
    if (status) return status;
    (*file)->descriptor = open_nameless(context, folder);
    if ((*file)->descriptor >= 0) return GCOR_OK;
    (void)gcor_fail(context, GCOR_BAD_FILE, "cannot create a temporary file in \"%s\": %s", (*file)->name,
                    strerror(errno));
    give_up(file);
    return context->error.status;
}

gcor_status gcor_run_file_open(gcor_context *context, const char *path, int writable, gcor_run_file **file) {
    gcor_status status = new_file(context, path, file);
    if (status) return status;
    (*file)->descriptor = open(path, (writable ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
    if ((*file)->descriptor >= 0) return GCOR_OK;
    status = gcor_fail(context, GCOR_BAD_FILE, "cannot open \"%s\": %s", (*file)->name, strerror(errno));
    give_up(file);
    return status;
}

gcor_run_file *gcor_run_file_join(gcor_run_file *file) {
    if (file) __atomic_add_fetch(&file->users, 1, __ATOMIC_RELAXED);
    return file;
}

void gcor_run_file_leave(gcor_run_file *file) {
    if (!file || __atomic_sub_fetch(&file->users, 1, __ATOMIC_ACQ_REL) > 0) return;
    (void)close(file->descriptor);
    gcor_free(file);
}

/* 0, or the error's number. */
static int write_all(int descriptor, const char *from, int64_t bytes, int64_t at) {
    while (bytes > 0) {
        ssize_t n = pwrite(descriptor, from, (size_t)bytes, at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? errno : ENOSPC;
        from += n;
        at += n;
        bytes -= n;
    }
    return 0;
}

gcor_status gcor_run_file_append(gcor_run_file *file, gcor_context *context, const void *data, int64_t bytes,
                                 int64_t *offset) {
    *offset = __atomic_fetch_add(&file->end, bytes, __ATOMIC_RELAXED);
    int error = write_all(file->descriptor, data, bytes, *offset);
    if (!error) return GCOR_OK;
    return gcor_fail(context, GCOR_BAD_FILE,
                     "cannot write %.1f MB of edges to a temporary file in \"%s\": %s; make room there, or choose "
                     "another disk for file =",
                     (double)bytes / 1e6, file->name, strerror(error));
}

gcor_status gcor_run_file_write(const gcor_run_file *file, gcor_context *context, int64_t offset, const void *data,
                                int64_t bytes) {
    int error = write_all(file->descriptor, data, bytes, offset);
    if (!error) return GCOR_OK;
    return gcor_fail(context, GCOR_BAD_FILE,
                     "cannot write \"%s\": %s; make room there, or choose another disk for file =", file->name,
                     strerror(error));
}

gcor_status gcor_run_file_read(const gcor_run_file *file, gcor_context *context, int64_t offset, void *data,
                               int64_t bytes) {
    for (char *to = data; bytes > 0;) {
        ssize_t n = pread(file->descriptor, to, (size_t)bytes, offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0)
            return gcor_fail(context, GCOR_BAD_FILE, "cannot read edges in \"%s\": %s", file->name,
                             n < 0 ? strerror(errno) : "the file is cut off");
        to += n;
        offset += n;
        bytes -= n;
    }
    return GCOR_OK;
}

gcor_status gcor_run_file_stream(const gcor_run_file *file, gcor_context *context, int64_t offset, FILE **stream) {
    int descriptor = fcntl(file->descriptor, F_DUPFD_CLOEXEC, 0);
    *stream = descriptor < 0 ? NULL : fdopen(descriptor, "r");
    if (*stream && fseeko(*stream, offset, SEEK_SET) == 0) return GCOR_OK;
    (void)gcor_fail(context, GCOR_BAD_FILE, "cannot read \"%s\": %s", file->name, strerror(errno));
    if (*stream)
        (void)fclose(*stream);
    else if (descriptor >= 0)
        (void)close(descriptor);
    *stream = NULL;
    return context->error.status;
}

int64_t gcor_run_file_held(gcor_run_file *file, int64_t change) {
    return __atomic_add_fetch(&file->held, change, __ATOMIC_RELAXED);
}
