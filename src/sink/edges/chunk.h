/* Chunks of edges, in memory or in files. */
#pragma once

#include "../../gpucor.h"

GCOR_BEGIN_C

/* ---- files of edges ----------------------------------------------------------------------------- */

/* A temporary file that grows, or a saved file that is only read. Several stores and chunks
 * can use a file; it is closed when the last user leaves. */

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

/* Edges of a tile, in any order: n coefficients followed by n positions, in one allocation that begins at r, or as the
 * same bytes in a file. A position is the row within the tile, shifted left by gcor_position_bits(), or-ed with the
 * column within the tile. */
typedef struct {
    gcor_tile tile;
    int64_t n;             /* 1 to GCOR_CHUNK */
    double *r;             /* owned; NULL: in the file */
    uint32_t *position;    /* part of r's allocation */
    gcor_spool_file *file; /* the chunk is one of its users; NULL: in memory */
    int64_t offset;        /* bytes from the beginning of the file */
} gcor_chunk;

/* GCOR_CHUNK: max number of edges in a chunk, 6 MB. A store that spools cuts tiles into blocks of GCOR_BLOCK x
 * GCOR_BLOCK pairs, so that a band of rows reads few edges of other rows. */
enum { GCOR_CHUNK = 1 << 19, GCOR_BLOCK_BITS = 12, GCOR_BLOCK = 1 << GCOR_BLOCK_BITS };

static inline int gcor_position_bits(const gcor_tile *tile) {
    int bits = 0;
    while ((tile->n_col - 1) >> bits > 0) bits++;
    return bits;
}

static inline int64_t gcor_chunk_bytes(const gcor_chunk *chunk) {
    return chunk->n * (int64_t)(sizeof *chunk->r + sizeof *chunk->position);
}

/* A chunk's edges in memory. r or position is NULL if it was not requested. */
typedef struct {
    const double *r;
    const uint32_t *position;
    int64_t n, row, col; /* number of edges; the tile's first row and column */
    int bits;
    uint32_t mask;
} gcor_chunk_view;

static inline gcor_chunk_view gcor_view_of(const gcor_chunk *chunk) {
    const gcor_tile *tile = &chunk->tile;
    const int bits = gcor_position_bits(tile);
    return (gcor_chunk_view){chunk->r, chunk->position,          chunk->n, tile->row, tile->col,
                             bits,     ((uint32_t)1 << bits) - 1};
}

static inline int64_t gcor_row_at(const gcor_chunk_view *view, int64_t e) {
    return view->row + ((int64_t)view->position[e] >> view->bits);
}

static inline int64_t gcor_col_at(const gcor_chunk_view *view, int64_t e) {
    return view->col + (view->position[e] & view->mask);
}

/* Allocates memory for chunk->n edges; after GCOR_NO_MEMORY, r is NULL. */
gcor_status gcor_chunk_allocate(gcor_context *context, gcor_chunk *chunk);

/* Buffers, one per thread, to read chunks from files; empty if no chunk is in a file. The caller frees them, also after
 * an error. */
typedef struct {
    double *memory;
    int64_t n; /* edges per thread */
} gcor_chunk_buffers;

gcor_status gcor_chunk_buffers_new(gcor_context *context, const gcor_chunk *chunks, int64_t n_chunks,
                                   gcor_chunk_buffers *buffers);
void gcor_chunk_buffers_free(gcor_chunk_buffers *buffers);

/* Returns coefficients first .. first+n-1 of a chunk, in the chunk or read into the thread's buffer; NULL after an
 * error. */
const double *gcor_chunk_values(const gcor_chunk *chunk, gcor_context *context, const gcor_chunk_buffers *buffers,
                                int thread, int64_t first, int64_t n);

/* Parts of the edges to read, or-ed together. */
enum { GCOR_VALUES = 1, GCOR_POSITIONS = 2 };

/* Sets *view to a chunk's edges. Reads a chunk that is in a file, and checks that every position is within the tile. */
gcor_status gcor_chunk_open(const gcor_chunk *chunk, gcor_context *context, const gcor_chunk_buffers *buffers,
                            int thread, int what, gcor_chunk_view *view);

/* A callback for each chunk. */
typedef struct {
    int what;
    int (*wants)(const void *user, const gcor_chunk *chunk); /* (optional; NULL: all chunks) */
    /* (required) Any thread, several at once; an error is in the context. */
    void (*look)(void *user, gcor_context *context, const gcor_chunk *chunk, const gcor_chunk_view *view);
    void *user;
} gcor_walk;

/* Opens chunks in parallel, in any order, and calls look() for each. */
gcor_status gcor_chunk_walk(gcor_context *context, const gcor_chunk *chunks, int64_t n_chunks, const gcor_walk *walk);

GCOR_END_C
