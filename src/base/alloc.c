#include "alloc.h"

#include "os.h"

#include <stdatomic.h>
#include <string.h>

static atomic_llong live[GCOR_DEVICE_CALL + 1];
static atomic_llong countdown[GCOR_DEVICE_CALL + 1];

int gcor_fault(gcor_resource resource) {
    if (atomic_load(&countdown[resource]) <= 0) return 0;
    return atomic_fetch_sub(&countdown[resource], 1) == 1;
}

void gcor_count_live(gcor_resource resource, int change) {
    atomic_fetch_add(&live[resource], change);
}

int64_t gcor_live(gcor_resource resource) {
    return atomic_load(&live[resource]);
}

void gcor_set_fault(gcor_resource resource, int64_t k) {
    atomic_store(&countdown[resource], k);
}

void *gcor_alloc(gcor_context *context, int64_t count, size_t size, const char *what) {
    double bytes = (double)count * (double)size;
    void *memory = NULL;
    int fits = count >= 0 && bytes < 0x1p62;
    size_t padded = fits ? ((size_t)count * size + 63) / 64 * 64 : 0;
    if (fits && !gcor_fault(GCOR_HOST_MEMORY)) memory = gcor_os_alloc(padded ? padded : 64);
    if (memory)
        gcor_count_live(GCOR_HOST_MEMORY, 1);
    else
        gcor_fail(context, GCOR_NO_MEMORY,
                  "cannot allocate %.1f MB of memory for %s; close other programs, or use fewer threads (threads =) "
                  "or smaller rounds (memory =)",
                  bytes / 1e6, what);
    return memory;
}

gcor_status gcor_grow(gcor_context *context, void **list, int64_t used, int64_t *capacity, int64_t wanted, size_t size,
                      const char *what) {
    enum { MIN = 64 };
    if (wanted <= *capacity) return GCOR_OK;
    int64_t larger = wanted > MIN ? wanted : MIN;
    if (larger < 2 * *capacity) larger = 2 * *capacity;
    void *fresh = gcor_alloc(context, larger, size, what);
    if (!fresh) return GCOR_NO_MEMORY;
    gcor_huge_pages(fresh, (size_t)larger * size);
    if (used > 0) memcpy(fresh, *list, (size_t)used * size);
    gcor_free(*list);
    *list = fresh;
    *capacity = larger;
    return GCOR_OK;
}

void gcor_free(void *memory) {
    if (!memory) return;
    gcor_count_live(GCOR_HOST_MEMORY, -1);
    gcor_os_free(memory);
}

static atomic_llong device_bytes, device_peak;

void gcor_count_device_bytes(int64_t change) {
    long long now = atomic_fetch_add(&device_bytes, change) + change, peak = atomic_load(&device_peak);
    while (now > peak && !atomic_compare_exchange_weak(&device_peak, &peak, now)) {}
}

int64_t gcor_device_peak(int reset) {
    int64_t peak = atomic_load(&device_peak);
    if (reset) atomic_store(&device_peak, atomic_load(&device_bytes));
    return peak;
}

void gcor_huge_pages(void *memory, size_t bytes) {
    if (bytes >= (size_t)4 << 20) gcor_os_huge_pages(memory, bytes);
}
