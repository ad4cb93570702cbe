/* The source for raw files. */
#include "source.h"

#include "../base/os.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 8192 }; /* values read at a time for conversion to doubles */

struct gcor_raw_file {
    gcor_file_shape shape;
    int descriptor;
    char *path;
};

static const struct {
    const char *name;
    int64_t bytes;
} types[] = {
    [GCOR_FILE_DOUBLE] = {"doubles", 8}, [GCOR_FILE_FLOAT] = {"floats", 4}, [GCOR_FILE_INTEGER] = {"integers", 4}};

/* ---- open and close --------------------------------------------------------------- */

static gcor_status check_size(gcor_context *context, const char *path, const gcor_file_shape *s, int64_t size) {
    double wanted = (double)s->offset + (double)s->n_obs * (double)s->n_var * (double)types[s->type].bytes;
    int64_t bytes;
    if (!__builtin_mul_overflow(s->n_obs * s->n_var, types[s->type].bytes, &bytes) &&
        !__builtin_add_overflow(bytes, s->offset, &bytes) && bytes == size)
        return GCOR_OK;
    return gcor_fail(context, GCOR_BAD_FILE,
                     "the file \"%s\" has %.0f bytes, but %.0f x %.0f %s from byte %.0f on make %.0f; give the 'dim', "
                     "'storage' and 'offset' that it was written with, or write it again",
                     path, (double)size, (double)s->n_obs, (double)s->n_var, types[s->type].name, (double)s->offset,
                     wanted);
}

static gcor_status fail_reading(gcor_context *context, const char *path) {
    return gcor_fail(context, GCOR_BAD_FILE, "the file \"%s\" cannot be read: %s", path, strerror(errno));
}

/* Checked before opening: opening a pipe would wait for a writer. */
static gcor_status check_regular(gcor_context *context, const char *path) {
    gcor_os_kind kind = gcor_os_kind_of(path);
    if (kind == GCOR_OS_ABSENT) return fail_reading(context, path);
    if (kind == GCOR_OS_FOLDER)
        return gcor_fail(context, GCOR_BAD_FILE, "\"%s\" is a folder; give the name of a file in it", path);
    if (kind == GCOR_OS_OTHER)
        return gcor_fail(context, GCOR_BAD_FILE, "\"%s\" is no regular file; write its values to one", path);
    return GCOR_OK;
}

gcor_status gcor_raw_open(gcor_context *context, const char *path, const gcor_file_shape *shape, gcor_raw_file **file) {
    *file = NULL;
    gcor_status status = check_regular(context, path);
    if (status) return status;
    gcor_raw_file *fresh = calloc(1, sizeof *fresh);
    if (fresh) *fresh = (gcor_raw_file){.shape = *shape, .descriptor = -1, .path = strdup(path)};
    if (!fresh || !fresh->path)
        status = gcor_fail(context, GCOR_NO_MEMORY, "no memory for the name of a file; close other programs");
    else if ((fresh->descriptor = gcor_os_open(path, GCOR_OS_READ_FORWARD)) < 0)
        status = fail_reading(context, path);
    else
        status = gcor_raw_check(context, fresh);
    if (status)
        gcor_raw_close(fresh);
    else
        *file = fresh;
    return status;
}

gcor_status gcor_raw_check(gcor_context *context, const gcor_raw_file *file) {
    int64_t size = gcor_os_size(file->descriptor);
    if (size < 0) return fail_reading(context, file->path);
    return check_size(context, file->path, &file->shape, size);
}

void gcor_raw_close(gcor_raw_file *file) {
    if (!file) return;
    if (file->descriptor >= 0) gcor_os_close(file->descriptor);
    free(file->path);
    free(file);
}

const gcor_file_shape *gcor_raw_shape(const gcor_raw_file *file) {
    return &file->shape;
}

/* ---- columns ------------------------------------------------------------------------ */

/* Reports that the file ended before the last byte requested. */
static gcor_status fail_short(gcor_context *context, const gcor_raw_file *file) {
    gcor_status status = gcor_raw_check(context, file);
    if (status) return status;
    return gcor_fail(context, GCOR_BAD_FILE, "the file \"%s\" was written to while it was read; start again",
                     file->path);
}

/* Reads n values from value k of column j on, continuing in the next columns. */
static gcor_status read_values(gcor_context *context, const gcor_raw_file *file, int64_t j, int64_t k, int64_t n,
                               void *out) {
    int64_t bytes = types[file->shape.type].bytes, at = file->shape.offset + (j * file->shape.n_obs + k) * bytes;
    int64_t got = gcor_os_read(file->descriptor, out, n * bytes, at);
    if (got < 0) return fail_reading(context, file->path);
    return got < n * bytes ? fail_short(context, file) : GCOR_OK;
}

gcor_status gcor_raw_columns(gcor_context *context, const gcor_raw_file *file, int64_t first, int64_t n, void *out) {
    return read_values(context, file, first, 0, n * file->shape.n_obs, out);
}

static gcor_status read_columns(gcor_source *source, gcor_context *context, int64_t first, int64_t n, double *out) {
    const gcor_raw_file *file = ((gcor_raw_source *)source)->file;
    const int64_t all = n * source->n_obs;
    const int are_floats = file->shape.type == GCOR_FILE_FLOAT;
    union {
        float real[PIECE];
        int32_t integer[PIECE];
    } piece;
    gcor_status status = GCOR_OK;
    if (file->shape.type == GCOR_FILE_DOUBLE) return gcor_raw_columns(context, file, first, n, out);
    for (int64_t k = 0; !status && k < all; k += PIECE) {
        int64_t some = all - k < PIECE ? all - k : PIECE;
        status = read_values(context, file, first, k, some, &piece);
        for (int64_t e = 0; !status && are_floats && e < some; e++) out[k + e] = (double)piece.real[e];
        for (int64_t e = 0; !status && !are_floats && e < some; e++)
            out[k + e] = piece.integer[e] == INT_MIN ? (double)NAN : (double)piece.integer[e];
    }
    return status;
}

gcor_raw_source gcor_raw_source_of(const gcor_raw_file *file) {
    const gcor_file_shape *shape = &file->shape;
    return (gcor_raw_source){
        .source = {.n_obs = shape->n_obs, .n_var = shape->n_var, .any_thread = 1, .read = read_columns}, .file = file};
}
