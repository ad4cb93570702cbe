#include "chunk.h"

#include "../../base/alloc.h"
#include "../../base/threads.h"
#include "../../base/os.h"
#include "../file.h"

#include <errno.h>
#include <string.h>

gcor_status gcor_chunk_allocate(gcor_context *context, gcor_chunk *chunk) {
    int64_t bytes = gcor_chunk_bytes(chunk);
    chunk->file = NULL;
    chunk->r = gcor_alloc(context, bytes, 1, "edges of the network");
    if (!chunk->r) return GCOR_NO_MEMORY;
    gcor_huge_pages(chunk->r, (size_t)bytes);
    chunk->position = (uint32_t *)(chunk->r + chunk->n);
    return GCOR_OK;
}

/* ---- reading ------------------------------------------------------------------------------------ */

gcor_status gcor_chunk_buffers_new(gcor_context *context, const gcor_chunk *chunks, int64_t n_chunks,
                                   gcor_chunk_buffers *buffers) {
    gcor_chunk all = {.n = 0};
    *buffers = (gcor_chunk_buffers){NULL, 0};
    for (int64_t k = 0; k < n_chunks; k++)
        if (chunks[k].file && chunks[k].n > buffers->n) buffers->n = chunks[k].n;
    buffers->n += buffers->n % 2; /* as coefficients of the next thread follow */
    all.n = context->threads * buffers->n;
    if (all.n == 0) return GCOR_OK;
    buffers->memory = gcor_alloc(context, gcor_chunk_bytes(&all), 1, "edges of the network");
    return buffers->memory ? GCOR_OK : GCOR_NO_MEMORY;
}

void gcor_chunk_buffers_free(gcor_chunk_buffers *buffers) {
    gcor_free(buffers->memory);
    *buffers = (gcor_chunk_buffers){NULL, 0};
}

/* A thread's coefficients; its positions follow. */
static double *values_of(const gcor_chunk_buffers *buffers, int thread) {
    return buffers->memory + thread * (buffers->n + buffers->n / 2);
}

const double *gcor_chunk_values(const gcor_chunk *chunk, gcor_context *context, const gcor_chunk_buffers *buffers,
                                int thread, int64_t first, int64_t n) {
    const int64_t size = sizeof *chunk->r;
    if (!chunk->file) return chunk->r + first;
    double *own = values_of(buffers, thread);
    return gcor_spool_file_read(chunk->file, context, chunk->offset + first * size, own, n * size) ? NULL : own;
}

/* False if a position is outside of the tile: the file was modified after it was attached. */
static int is_inside(const gcor_tile *tile, const gcor_chunk_view *view) {
    int inside = 1;
    for (int64_t e = 0; e < view->n; e++)
        inside &= gcor_row_at(view, e) < tile->row + tile->n_row && gcor_col_at(view, e) < tile->col + tile->n_col;
    return inside;
}

static gcor_status read_positions(const gcor_chunk *chunk, gcor_context *context, const gcor_chunk_buffers *buffers,
                                  int thread, gcor_chunk_view *view) {
    uint32_t *own = (uint32_t *)(values_of(buffers, thread) + buffers->n);
    int64_t offset = chunk->offset + chunk->n * (int64_t)sizeof *chunk->r;
    gcor_status status = gcor_spool_file_read(chunk->file, context, offset, own, chunk->n * (int64_t)sizeof *own);
    view->position = own;
    return status || is_inside(&chunk->tile, view) ? status : gcor_damaged(context);
}

gcor_status gcor_chunk_open(const gcor_chunk *chunk, gcor_context *context, const gcor_chunk_buffers *buffers,
                            int thread, int what, gcor_chunk_view *view) {
    *view = gcor_view_of(chunk);
    if (!chunk->file) return GCOR_OK;
    if (what & GCOR_VALUES) view->r = gcor_chunk_values(chunk, context, buffers, thread, 0, chunk->n);
    if ((what & GCOR_VALUES) && !view->r) return context->error.status;
    return what & GCOR_POSITIONS ? read_positions(chunk, context, buffers, thread, view) : GCOR_OK;
}

typedef struct {
    gcor_context *context;
    const gcor_walk *walk;
    const gcor_chunk *chunks;
    gcor_chunk_buffers buffers;
} walking;

static void look_at_chunk(void *argument, int thread, int64_t k) {
    const walking *w = argument;
    const gcor_walk *walk = w->walk;
    const gcor_chunk *chunk = &w->chunks[k];
    gcor_chunk_view view;
    if (gcor_stop(w->context) || (walk->wants && !walk->wants(walk->user, chunk))) return;
    if (!gcor_chunk_open(chunk, w->context, &w->buffers, thread, walk->what, &view))
        walk->look(walk->user, w->context, chunk, &view);
}

gcor_status gcor_chunk_walk(gcor_context *context, const gcor_chunk *chunks, int64_t n_chunks, const gcor_walk *walk) {
    walking w = {.context = context, .walk = walk, .chunks = chunks};
    gcor_status status = gcor_chunk_buffers_new(context, chunks, n_chunks, &w.buffers);
    if (status) return status;
    gcor_for_each(context->threads, n_chunks, look_at_chunk, &w);
    gcor_chunk_buffers_free(&w.buffers);
    return context->error.status;
}

/* ---- files of edges ----------------------------------------------------------------------------- */

/* Reads and writes pass an offset, so that threads need no common file position. */

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
