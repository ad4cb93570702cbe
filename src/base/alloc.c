#include "alloc.h"

#include "os.h"

#include <pthread.h>
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

/* ---- large results: the cache ------------------------------------------------------------------- */

/* Below MIN_MAPPED the C library's memory is as good. The cache holds few buffers, and by default leaves three quarters
 * of the available memory to others. */
enum { PAGE = 2 << 20, MIN_MAPPED = 4 << 20, MAX_CACHED = 16, CACHE_DIVISOR = 4 };

enum { MIN_CHECKED = 64 << 20 }; /* bytes of a buffer from which on the available memory is checked */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* guards all variables below */
static gcor_buffer cached[MAX_CACHED];                    /* most recently given back first */
static int n_cached;
static int64_t used_bytes, cached_bytes, limit = -1;

static size_t round_to_pages(int64_t bytes) {
    return ((size_t)bytes + PAGE - 1) / PAGE * PAGE;
}

static gcor_buffer map(size_t bytes) {
    void *at = gcor_os_map(bytes, PAGE);
    if (!at) return (gcor_buffer){0};
    gcor_huge_pages(at, bytes);
    return (gcor_buffer){.at = at, .bytes = bytes, .is_mapped = 1};
}

static void unmap(gcor_buffer *buffer) {
    gcor_os_unmap(buffer->at, buffer->bytes);
    *buffer = (gcor_buffer){0};
}

/* ---- the cache: the caller holds the mutex --------------------------------------------- */

static void remove_cached(int k) {
    n_cached--;
    memmove(cached + k, cached + k + 1, (size_t)(n_cached - k) * sizeof *cached);
}

static void evict(int k) {
    cached_bytes -= (int64_t)cached[k].bytes;
    unmap(&cached[k]);
    remove_cached(k);
}

/* Evicts the least recently used until at most `bytes` bytes are cached. */
static void evict_beyond(int64_t bytes) {
    while (n_cached > 0 && cached_bytes > bytes) evict(n_cached - 1);
}

/* Returns the smallest cached buffer that is large enough; -1: none. */
static int find_cached(size_t bytes) {
    int found = -1;
    for (int k = 0; k < n_cached; k++)
        if (cached[k].bytes >= bytes && (found < 0 || cached[k].bytes < cached[found].bytes)) found = k;
    return found;
}

/* The part that is not needed stays cached if it is large. */
static gcor_buffer recycle(int k, size_t bytes) {
    gcor_buffer buffer = cached[k];
    size_t rest = buffer.bytes - bytes;
    buffer.is_recycled = 1;
    if (rest >= MIN_MAPPED) {
        buffer.bytes = bytes;
        cached[k].at = (char *)buffer.at + bytes;
        cached[k].bytes = rest;
    } else {
        remove_cached(k);
    }
    cached_bytes -= (int64_t)buffer.bytes;
    return buffer;
}

static gcor_buffer take_pages(int64_t bytes) {
    size_t size = round_to_pages(bytes);
    int k = find_cached(size);
    if (k >= 0) return recycle(k, size);
    if (bytes >= MIN_CHECKED || cached_bytes > 0) {
        int64_t available = gcor_available_memory();
        if (bytes > available - cached_bytes) evict_beyond(0);
        if (bytes >= MIN_CHECKED && bytes > available) return (gcor_buffer){0};
    }
    gcor_buffer buffer = map(size);
    if (!buffer.at && n_cached > 0) {
        evict_beyond(0);
        buffer = map(size);
    }
    buffer.is_cached = 1;
    return buffer;
}

/* Puts the buffer first. The system may reclaim its pages until they are written to again. */
static void cache(const gcor_buffer *buffer) {
    if (n_cached == MAX_CACHED) evict(MAX_CACHED - 1);
    for (int k = n_cached++; k > 0; k--) cached[k] = cached[k - 1];
    cached[0] = *buffer;
    cached_bytes += (int64_t)buffer->bytes;
    gcor_os_discard(buffer->at, buffer->bytes);
}

/* Caches or unmaps a mapped buffer. */
static void give_pages(gcor_buffer *buffer) {
    int64_t max = !buffer->is_cached ? 0 : limit >= 0 ? limit : gcor_available_memory() / CACHE_DIVISOR;
    if ((int64_t)buffer->bytes > max) {
        unmap(buffer);
    } else {
        evict_beyond(max - (int64_t)buffer->bytes);
        cache(buffer);
    }
}

/* ------------------------------------------------------------------------------------------ */

gcor_buffer gcor_buffer_take(gcor_context *context, int64_t bytes, const char *what) {
    gcor_buffer buffer = {0};
    pthread_mutex_lock(&mutex);
    if (!gcor_fault(GCOR_HOST_MEMORY)) {
        if (bytes >= MIN_MAPPED)
            buffer = take_pages(bytes);
        else
            buffer = (gcor_buffer){.at = gcor_os_alloc(((size_t)bytes + 64) / 64 * 64), .bytes = (size_t)bytes};
    }
    used_bytes += buffer.at ? (int64_t)buffer.bytes : 0;
    pthread_mutex_unlock(&mutex);
    if (!buffer.at)
        (void)gcor_fail(context, GCOR_NO_MEMORY,
                        "cannot allocate %.1f MB of memory for %s; %.1f MB are free: close other programs",
                        (double)bytes / 1e6, what, (double)gcor_available_memory() / 1e6);
    return buffer;
}

void gcor_buffer_give(gcor_buffer *buffer) {
    if (!buffer->at) return;
    pthread_mutex_lock(&mutex);
    used_bytes -= (int64_t)buffer->bytes;
    if (buffer->is_mapped)
        give_pages(buffer);
    else
        gcor_os_free(buffer->at);
    pthread_mutex_unlock(&mutex);
    *buffer = (gcor_buffer){0};
}

gcor_buffer gcor_buffer_reserve(int64_t bytes) {
    return gcor_fault(GCOR_HOST_MEMORY) ? (gcor_buffer){0} : map(round_to_pages(bytes));
}

void gcor_buffer_trim(gcor_buffer *buffer, int64_t bytes) {
    size_t size = round_to_pages(bytes);
    if (!buffer->at) return;
    if (size < buffer->bytes) gcor_os_unmap((char *)buffer->at + size, buffer->bytes - size);
    buffer->bytes = size;
    pthread_mutex_lock(&mutex);
    used_bytes += (int64_t)size;
    pthread_mutex_unlock(&mutex);
    if (size == 0) *buffer = (gcor_buffer){0};
}

void gcor_buffers_drop(void) {
    pthread_mutex_lock(&mutex);
    evict_beyond(0);
    pthread_mutex_unlock(&mutex);
}

void gcor_buffers_limit(int64_t bytes) {
    pthread_mutex_lock(&mutex);
    limit = bytes;
    if (bytes >= 0) evict_beyond(bytes);
    pthread_mutex_unlock(&mutex);
}

static int64_t read_bytes(const int64_t *bytes) {
    pthread_mutex_lock(&mutex);
    int64_t now = *bytes;
    pthread_mutex_unlock(&mutex);
    return now;
}

int64_t gcor_buffers_used(void) {
    return read_bytes(&used_bytes);
}

int64_t gcor_buffers_cached(void) {
    return read_bytes(&cached_bytes);
}

int gcor_buffers_has(int64_t bytes) {
    pthread_mutex_lock(&mutex);
    int found = find_cached((size_t)bytes);
    pthread_mutex_unlock(&mutex);
    return found >= 0;
}
