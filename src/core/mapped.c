/* The source in a raw file. */
#define _DEFAULT_SOURCE /* madvise() */
#include "mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The file is left in windows, of which a run has a few in memory at a time. */
enum { WINDOW_BYTES = 16 << 20, PIECE = 1024 };

struct gcor_mapping {
    gcor_file_shape shape;
    int file;
    char *path, *bytes; /* bytes: of the whole file; NULL if it is empty */
    int64_t size;
    int64_t window, window_before; /* that were read last */
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
    return gcor_fail(context, GCOR_BAD_INPUT,
                     "the file \"%s\" has %.0f bytes, but %.0f x %.0f %s from byte %.0f on make %.0f; give the 'dim', "
                     "'type' and 'offset' that it was written with, or write it again",
                     path, (double)size, (double)s->n_obs, (double)s->n_var, types[s->type].name, (double)s->offset,
                     wanted);
}

/* Before it is opened: opening a pipe would wait for who writes to it. */
static gcor_status check_regular(gcor_context *context, const char *path) {
    struct stat found;
    if (stat(path, &found) != 0)
        return gcor_fail(context, GCOR_BAD_INPUT, "the file \"%s\" cannot be read: %s", path, strerror(errno));
    if (S_ISDIR(found.st_mode))
        return gcor_fail(context, GCOR_BAD_INPUT, "\"%s\" is a folder; give the name of a file in it", path);
    if (!S_ISREG(found.st_mode))
        return gcor_fail(context, GCOR_BAD_INPUT, "\"%s\" is no regular file; write its values to one", path);
    return GCOR_OK;
}

static gcor_status map_bytes(gcor_context *context, gcor_mapping *m) {
    struct stat found;
    m->file = open(m->path, O_RDONLY | O_CLOEXEC);
    if (m->file < 0 || fstat(m->file, &found) != 0)
        return gcor_fail(context, GCOR_BAD_INPUT, "the file \"%s\" cannot be read: %s", m->path, strerror(errno));
    m->size = found.st_size;
    gcor_status status = check_size(context, m->path, &m->shape, m->size);
    if (status || m->size == 0) return status;
    void *bytes = mmap(NULL, (size_t)m->size, PROT_READ, MAP_SHARED, m->file, 0);
    if (bytes == MAP_FAILED)
        return gcor_fail(context, GCOR_BAD_INPUT, "the file \"%s\" cannot be mapped: %s", m->path, strerror(errno));
    m->bytes = bytes;
    (void)madvise(bytes, (size_t)m->size, MADV_SEQUENTIAL);
    return GCOR_OK;
}

gcor_status gcor_map(gcor_context *context, const char *path, const gcor_file_shape *shape, gcor_mapping **mapping) {
    *mapping = NULL;
    gcor_status status = check_regular(context, path);
    if (status) return status;
    gcor_mapping *m = calloc(1, sizeof *m);
    if (m) *m = (gcor_mapping){.shape = *shape, .file = -1, .path = strdup(path)};
    if (!m || !m->path)
        status = gcor_fail(context, GCOR_NO_MEMORY, "no memory for the name of a file; close other programs");
    else
        status = map_bytes(context, m);
    if (status)
        gcor_unmap(m);
    else
        *mapping = m;
    return status;
}

gcor_status gcor_map_check(gcor_context *context, const gcor_mapping *m) {
    struct stat found;
    if (fstat(m->file, &found) != 0)
        return gcor_fail(context, GCOR_BAD_INPUT, "the file \"%s\" cannot be read any more: %s", m->path,
                         strerror(errno));
    return check_size(context, m->path, &m->shape, found.st_size);
}

void gcor_unmap(gcor_mapping *m) {
    if (!m) return;
    if (m->bytes) munmap(m->bytes, (size_t)m->size);
    if (m->file >= 0) close(m->file);
    free(m->path);
    free(m);
}

const gcor_file_shape *gcor_map_shape(const gcor_mapping *m) {
    return &m->shape;
}

/* ---- columns ------------------------------------------------------------------------ */

/* Pages that were read count as the process's memory until it gives them up; the system keeps them for as long as it
 * has no other use for them. Reading goes from window to window, by several threads not exactly in step, so the last
 * two stay. Giving up one that is still read costs time, nothing else. */
static void enter_window(gcor_mapping *m, int64_t at) {
    int64_t window = at / WINDOW_BYTES;
    if (window == __atomic_load_n(&m->window, __ATOMIC_RELAXED)) return;
    int64_t last = __atomic_exchange_n(&m->window, window, __ATOMIC_RELAXED);
    int64_t done = __atomic_exchange_n(&m->window_before, last, __ATOMIC_RELAXED);
    if (done == window || done == last) return;
    int64_t from = done * WINDOW_BYTES, end = from + WINDOW_BYTES < m->size ? from + WINDOW_BYTES : m->size;
    (void)madvise(m->bytes + from, (size_t)(end - from), MADV_DONTNEED);
}

/* n values from number k of column j on. */
static void copy_bytes(gcor_mapping *m, int64_t j, int64_t k, int64_t n, void *out) {
    int64_t bytes = types[m->shape.type].bytes, at = m->shape.offset + (j * m->shape.n_obs + k) * bytes;
    n *= bytes;
    for (char *to = out; n > 0;) {
        int64_t piece = WINDOW_BYTES - at % WINDOW_BYTES < n ? WINDOW_BYTES - at % WINDOW_BYTES : n;
        enter_window(m, at);
        memcpy(to, m->bytes + at, (size_t)piece);
        to += piece, at += piece, n -= piece;
    }
}

void gcor_map_column(gcor_mapping *m, int64_t j, void *out) {
    copy_bytes(m, j, 0, m->shape.n_obs, out);
}

static void read_floats(gcor_mapping *m, int64_t j, int64_t k, int64_t n, double *out) {
    float piece[PIECE];
    copy_bytes(m, j, k, n, piece);
    for (int64_t e = 0; e < n; e++) out[e] = (double)piece[e];
}

static void read_integers(gcor_mapping *m, int64_t j, int64_t k, int64_t n, double *out) {
    int32_t piece[PIECE];
    copy_bytes(m, j, k, n, piece);
    for (int64_t e = 0; e < n; e++) out[e] = piece[e] == INT_MIN ? (double)NAN : (double)piece[e];
}

static void read_column(gcor_mapping *m, int64_t j, double *out) {
    int64_t n_obs = m->shape.n_obs;
    if (m->shape.type == GCOR_FILE_DOUBLE) {
        gcor_map_column(m, j, out);
        return;
    }
    for (int64_t k = 0; k < n_obs; k += PIECE) {
        int64_t n = n_obs - k < PIECE ? n_obs - k : PIECE;
        if (m->shape.type == GCOR_FILE_FLOAT)
            read_floats(m, j, k, n, out + k);
        else
            read_integers(m, j, k, n, out + k);
    }
}

static gcor_status read_columns(gcor_source *source, gcor_context *context, int64_t first, int64_t n, double *out) {
    (void)context;
    for (int64_t j = first; j < first + n; j++, out += source->n_obs)
        read_column(((gcor_mapped *)source)->mapping, j, out);
    return GCOR_OK;
}

gcor_mapped gcor_mapped_source(gcor_mapping *m) {
    return (gcor_mapped){
        .source = {.n_obs = m->shape.n_obs, .n_var = m->shape.n_var, .any_thread = 1, .read = read_columns},
        .mapping = m};
}
