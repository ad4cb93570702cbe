/* Host memory of the engine. Allocations are counted, and tests can make them fail. */
#pragma once

#include "../gpucor.h"

GCOR_BEGIN_C

/* Resources that tests can make fail. */
typedef enum { GCOR_HOST_MEMORY, GCOR_DEVICE_MEMORY, GCOR_DEVICE_CALL } gcor_resource;

/* Allocates count * size bytes, aligned to 64 bytes, not cleared. NULL after an error, which is recorded in context;
 * `what` names the memory in the message. The caller frees it with gcor_free(). */
void *gcor_alloc(gcor_context *context, int64_t count, size_t size, const char *what);
void gcor_free(void *memory);

/* Grows *list, which has capacity *capacity and holds `used` elements, to at least `wanted` elements, at least doubling
 * it; elements move. Start with NULL and 0. The list is the caller's; after an error it is unchanged. */
gcor_status gcor_grow(gcor_context *context, void **list, int64_t used, int64_t *capacity, int64_t wanted, size_t size,
                      const char *what);

/* Asks the system for huge pages, before the memory is touched: page faults on 4 KB pages cost more than filling the
 * memory. For large arrays from any allocator; no effect below 4 MB. */
void gcor_huge_pages(void *memory, size_t bytes);

/* For resources acquired elsewhere (device and pinned memory). gcor_fault() is called before an acquisition and
 * returns non-zero if a test makes this one fail; gcor_count_live() counts acquisitions and releases; gcor_live()
 * returns the number alive. Any thread. */
int gcor_fault(gcor_resource resource);
void gcor_count_live(gcor_resource resource, int change);
int64_t gcor_live(gcor_resource resource);

/* Bytes of device memory in use, and their max since the last reset; for benchmarks. */
void gcor_count_device_bytes(int64_t change);
int64_t gcor_device_peak(int reset);

/* Makes the k-th use of a resource from now on fail, k from 1; 0: none. */
void gcor_set_fault(gcor_resource resource, int64_t k);

/* ---- large results ------------------------------------------------------------------------------ */

/* Memory of large results, in large pages. The buffer cache keeps what is given back, because the system takes longer
 * to supply pages than we take to fill them; the system may reclaim cached pages when memory is short. For the same
 * reason memory is prefaulted: threads touch its pages before they are filled. Any thread may call. */

typedef struct {
    void *at;        /* NULL: no buffer */
    size_t bytes;    /* its capacity */
    int is_mapped;   /* in pages of its own, otherwise from the C library */
    int is_cached;   /* goes to the cache when it is given back */
    int is_recycled; /* came from the cache: its pages exist */
} gcor_buffer;

/* ---- the cache --------------------------------------------------------------------- */

/* Returns a buffer of at least `bytes` bytes with undefined contents, aligned to 64 bytes, or to a large page if it is
 * large; the caller's, to end with gcor_buffer_give(). After an error `at` is NULL. A large buffer that exceeds the
 * available memory is an error: the system would hand out the addresses and kill the process when it writes to them.
 * `what` names the buffer in the message. */
gcor_buffer gcor_buffer_take(gcor_context *context, int64_t bytes, const char *what);
/* Gives a buffer back, to the cache or to the system, and clears *buffer. */
void gcor_buffer_give(gcor_buffer *buffer);

/* Gives all cached buffers back to the system. */
void gcor_buffers_drop(void);
/* Sets how many bytes the cache may hold from now on, and drops what exceeds that. -1: a quarter of the available
 * memory. */
void gcor_buffers_limit(int64_t bytes);

int64_t gcor_buffers_used(void);     /* returns the bytes that were taken and not given back */
int64_t gcor_buffers_cached(void);   /* returns the bytes in the cache */
int gcor_buffers_has(int64_t bytes); /* returns whether one cached buffer has that many bytes */

/* ---- prefaulting --------------------------------------------------------------------- */

/* Touches all pages of `bytes` bytes with context->threads threads, unless the context is to stop. Contents stay as
 * they are, even if others write to them meanwhile. *begun is 0 before the first call: callers that share it share the
 * pages, too, and INT64_MAX leaves none. */
void gcor_prefault(gcor_context *context, void *at, int64_t bytes, int64_t *begun);

/* Memory for a network's entries, whose number is known only at the end. Addresses for the maximum are reserved, and
 * threads in the background touch as much of it as there will be entries at least. */
typedef struct gcor_prefaulted gcor_prefaulted;

/* Reserves memory for at most max_entries entries, or as many as half of the available memory holds; context->threads
 * - 1 threads, at most 8, touch it. Returns NULL if there is one thread only or the system refuses, which is no
 * error. */
gcor_prefaulted *gcor_prefaulted_new(const gcor_context *context, int64_t max_entries);
/* Announces that there will be n more entries. */
void gcor_prefaulted_expect(gcor_prefaulted *prefaulted, int64_t n);
/* Ends the threads and moves the memory of n entries, columns and coefficients, to the caller, who ends both with
 * gcor_buffer_give(). Untouched pages come as they are written to. Returns 0, and changes nothing, if n is 0 or more
 * than was reserved. */
int gcor_prefaulted_take(gcor_prefaulted *prefaulted, int64_t n, gcor_buffer *col, gcor_buffer *r);
/* NULL is allowed, and so is a forked process, which has the memory but not the threads. */
void gcor_prefaulted_free(gcor_prefaulted *prefaulted);

/* For prefault.c: addresses for at most `bytes` bytes, whose pages come when they are touched, and that are not cached;
 * `at` is NULL if the system refuses. gcor_buffer_trim() cuts them to the bytes in use, 0: none, and must be called. */
gcor_buffer gcor_buffer_reserve(int64_t bytes);
void gcor_buffer_trim(gcor_buffer *buffer, int64_t bytes);

GCOR_END_C
