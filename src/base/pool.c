#include "pool.h"

#include "os.h"
#include "alloc.h"

#include <pthread.h>

/* Below LEAST the C library's memory is as good. Blocks that stay are few, and a quarter of the available memory is
 * left to nobody else. */
enum { PAGE = 2 << 20, MIN = 4 << 20, MAX_KEPT = 16, KEPT_PART = 4 };

enum { CHECKED = 64 << 20 }; /* bytes of a block from which on what is available is asked for */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static gcor_block kept[MAX_KEPT];                         /* the one that came last first */
static int n_kept;
static int64_t used_bytes, kept_bytes, keep_at_most = -1;

static void unmap(gcor_block *block) {
    gcor_os_unmap(block->at, block->capacity);
    *block = (gcor_block){0};
}

static void drop(int k) {
    kept_bytes -= (int64_t)kept[k].capacity;
    unmap(&kept[k]);
    for (n_kept--; k < n_kept; k++) kept[k] = kept[k + 1];
}

/* The oldest go until no more than so many bytes stay. */
static void drop_beyond(int64_t bytes) {
    while (n_kept > 0 && kept_bytes > bytes) drop(n_kept - 1);
}

/* The smallest one that is large enough; -1: none. */
static int find_kept(size_t bytes) {
    int found = -1;
    for (int k = 0; k < n_kept; k++)
        if (kept[k].capacity >= bytes && (found < 0 || kept[k].capacity < kept[found].capacity)) found = k;
    return found;
}

int gcor_pool_has(int64_t bytes) {
    pthread_mutex_lock(&mutex);
    int k = find_kept((size_t)bytes);
    pthread_mutex_unlock(&mutex);
    return k >= 0;
}

static size_t whole_pages(int64_t bytes) {
    return ((size_t)bytes + PAGE - 1) / PAGE * PAGE;
}

/* What is too long is cut off and stays. */
static gcor_block reuse(int k, size_t capacity) {
    gcor_block block = kept[k];
    block.is_touched = 1;
    size_t rest = block.capacity - capacity;
    block.capacity = capacity;
    kept_bytes -= (int64_t)capacity;
    if (rest >= MIN) {
        kept[k].at = (char *)block.at + capacity;
        kept[k].capacity = rest;
        return block;
    }
    block.capacity += rest;
    kept_bytes -= (int64_t)rest;
    for (n_kept--; k < n_kept; k++) kept[k] = kept[k + 1];
    return block;
}

/* Aligned to a large page. */
static gcor_block map(size_t capacity) {
    void *at = gcor_os_map(capacity, PAGE);
    if (!at) return (gcor_block){0};
    gcor_huge_pages(at, capacity);
    return (gcor_block){at, capacity, 1, 0};
}

static gcor_block take_pages(int64_t bytes) {
    size_t capacity = whole_pages(bytes);
    int k = find_kept(capacity);
    if (k >= 0) return reuse(k, capacity);
    if (bytes >= CHECKED || kept_bytes > 0) {
        int64_t available = gcor_available_memory();
        if (bytes > available - kept_bytes) drop_beyond(0);
        if (bytes >= CHECKED && bytes > available) return (gcor_block){0};
    }
    gcor_block block = map(capacity);
    if (block.at || n_kept == 0) return block;
    drop_beyond(0);
    return map(capacity);
}

gcor_block gcor_pool_take(gcor_context *context, int64_t bytes, const char *what) {
    gcor_block block = {0};
    pthread_mutex_lock(&mutex);
    if (!gcor_fault(GCOR_HOST_MEMORY)) {
        if (bytes >= MIN)
            block = take_pages(bytes);
        else
            block = (gcor_block){gcor_os_alloc(((size_t)bytes + 64) / 64 * 64), (size_t)bytes, 0, 0};
    }
    used_bytes += block.at ? (int64_t)block.capacity : 0;
    pthread_mutex_unlock(&mutex);
    if (!block.at)
        (void)gcor_fail(context, GCOR_NO_MEMORY,
                        "cannot allocate %.1f MB of memory for %s; %.1f MB are free: close other programs",
                        (double)bytes / 1e6, what, (double)gcor_available_memory() / 1e6);
    return block;
}

/* Bytes that are in use from now on, or no longer are. */
static void count(int64_t bytes) {
    pthread_mutex_lock(&mutex);
    used_bytes += bytes;
    pthread_mutex_unlock(&mutex);
}

gcor_block gcor_pool_open(int64_t max) {
    return gcor_fault(GCOR_HOST_MEMORY) ? (gcor_block){0} : map(whole_pages(max));
}

void gcor_pool_cut(gcor_block *block, int64_t bytes) {
    size_t capacity = whole_pages(bytes);
    if (!block->at) return;
    if (capacity < block->capacity) gcor_os_unmap((char *)block->at + capacity, block->capacity - capacity);
    block->capacity = capacity;
    count((int64_t)capacity);
    if (capacity == 0) *block = (gcor_block){0};
}

static int64_t max_to_keep(void) {
    if (keep_at_most >= 0) return keep_at_most;
    int64_t available = gcor_available_memory();
    return available / KEPT_PART;
}

/* From now on the system may have the pages, should it want them, until they are written to again. */
static void keep(const gcor_block *block) {
    if (n_kept == MAX_KEPT) drop(MAX_KEPT - 1);
    for (int k = n_kept++; k > 0; k--) kept[k] = kept[k - 1];
    kept[0] = *block;
    kept_bytes += (int64_t)block->capacity;
    gcor_os_discard(block->at, block->capacity);
}

void gcor_pool_give(gcor_block *block) {
    if (!block->at) return;
    pthread_mutex_lock(&mutex);
    used_bytes -= (int64_t)block->capacity;
    int64_t max = block->is_mapped ? max_to_keep() : 0;
    if (!block->is_mapped) {
        gcor_os_free(block->at);
    } else if ((int64_t)block->capacity > max) {
        unmap(block);
    } else {
        drop_beyond(max - (int64_t)block->capacity);
        keep(block);
    }
    pthread_mutex_unlock(&mutex);
    *block = (gcor_block){0};
}

void gcor_pool_return(gcor_block *block) {
    if (!block->at) return;
    count(-(int64_t)block->capacity);
    unmap(block);
}

void gcor_pool_drop(void) {
    pthread_mutex_lock(&mutex);
    drop_beyond(0);
    pthread_mutex_unlock(&mutex);
}

void gcor_pool_keep(int64_t bytes) {
    pthread_mutex_lock(&mutex);
    keep_at_most = bytes;
    if (bytes >= 0) drop_beyond(bytes);
    pthread_mutex_unlock(&mutex);
}

static int64_t read_bytes(const int64_t *bytes) {
    pthread_mutex_lock(&mutex);
    int64_t now = *bytes;
    pthread_mutex_unlock(&mutex);
    return now;
}

int64_t gcor_pool_used(void) {
    return read_bytes(&used_bytes);
}

int64_t gcor_pool_kept(void) {
    return read_bytes(&kept_bytes);
}
