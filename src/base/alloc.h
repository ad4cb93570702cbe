/* Host memory of the engine: counted, and made to fail on request by tests. */
#ifndef GPUCOR_ALLOC_H
#define GPUCOR_ALLOC_H

#include "../gpucor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What tests can make fail. */
typedef enum { GCOR_HOST_MEMORY, GCOR_DEVICE_MEMORY, GCOR_DEVICE_CALL } gcor_resource;

/* count * size bytes, 64-byte aligned, not cleared; NULL and an error in context when there
 * are none. `what` names them in the message. The caller frees with gcor_free(). */
void *gcor_alloc(gcor_context *context, int64_t count, size_t size, const char *what);
void gcor_free(void *memory);

/* Room for at least `wanted` things in *list, which has room for *room and holds `used`, at least doubling it; they
 * move. NULL and 0 to begin with. The list is the caller's; after an error it is as it was. */
gcor_status gcor_grow(gcor_context *context, void **list, int64_t used, int64_t *capacity, int64_t wanted, size_t size,
                      const char *what);

/* Fresh memory is handed out by the page, and at 4 KB a page that costs more than filling it: ask the
 * system for large ones. For big arrays of any owner, before they are touched; small ones stay as they are. */
void gcor_huge_pages(void *memory, size_t bytes);

/* Bookkeeping for what is acquired elsewhere (device and pinned memory). gcor_fault() is asked
 * before, and answers non-zero when a test wants this one to fail. Any thread. */
int gcor_fault(gcor_resource resource);
void gcor_count_live(gcor_resource resource, int change);
int64_t gcor_live(gcor_resource resource);

/* Bytes of device memory in use, and the most that were since the peak was last reset; for benchmarks. */
void gcor_count_device_bytes(int64_t change);
int64_t gcor_device_peak(int reset);

/* Let the k-th use of a resource from now on fail, k from 1; 0: none. */
void gcor_set_fault(gcor_resource resource, int64_t k);

#ifdef __cplusplus
}
#endif
#endif
