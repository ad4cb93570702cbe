/* Host memory of the engine. Allocations are counted, and tests can make them fail. */
#ifndef GPUCOR_ALLOC_H
#define GPUCOR_ALLOC_H

#include "../gpucor.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif
#endif
