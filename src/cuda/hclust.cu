/* The chains of nearest neighbours and the spanning tree of cpu/hclust.c, step by step in one kernel: the whole grid
 * searches a row of the matrix, agrees on its minimum, and, if two clusters are nearest to each other, computes the
 * distances of their union. A launch makes a limited number of steps, so that the host can report and stop. */
#include "backend/lanes.cuh"
#include "backend/state.cuh"
#include "../base/threads.h"
#include "../stats/hclust.h"

#include <cooperative_groups.h>

namespace {

const char *const WHAT = "clusters";

enum {
    THREADS = 256,
    STEPS = 8192,           /* of a launch: some 20 to 40 ms */
    STAGED_VALUES = 4 << 20 /* distances that are copied to the device at a time */
};

/* What one launch leaves to the next. */
struct Progress {
    int64_t merges, length; /* merges so far; length of the chain */
    int32_t first;          /* no cluster before this one is left */
    int32_t last;           /* single linkage: the leaf that joined last */
    int32_t failed;         /* no distance of a row is a number */
};

typedef unsigned long long Key; /* a distance's key, and below it the cluster's index */

/* All pointers are the device's. */
struct Clusters {
    gcor_linkage linkage;
    int64_t n;
    float *distance; /* n x n; NaN on the diagonal */
    int32_t *size;   /* n: of clusters; 0: part of another one */
    int32_t *chain;  /* n */
    float *near;     /* n: single linkage: distances to the leaves that have joined */
    gcor_merge *merges;
    Key *best; /* 3 */
    Progress *progress;

    __device__ float *row(int64_t cluster) const { return distance + cluster * n; }
};

const Key NONE = ~(Key)0;

/* ---- distances --------------------------------------------------------------------------- */

/* Fills both halves of the matrix with rows first, first + 1, ... of the triangle, a block each. staged: their values,
 * without gaps. */
__global__ void __launch_bounds__(THREADS) unfold(Clusters c, int64_t first, const float *staged) {
    int64_t i = first + blockIdx.x;
    const float *values = staged + (gcor_row_position(i, i + 1, c.n) - gcor_row_position(first, first + 1, c.n));
    for (int64_t j = i + 1 + threadIdx.x; j < c.n; j += THREADS) {
        float distance = values[j - i - 1];
        c.row(i)[j] = distance;
        c.row(j)[i] = distance;
    }
    if (threadIdx.x > 0) return;
    c.row(i)[i] = nanf("");
    c.near[i] = INFINITY;
    c.size[i] = 1;
}

/* ---- steps of the whole grid --------------------------------------------------------------- */

static __device__ inline int64_t thread_of_grid() {
    return blockIdx.x * (int64_t)THREADS + threadIdx.x;
}

static __device__ inline int64_t threads_of_grid() {
    return gridDim.x * (int64_t)THREADS;
}

static __device__ inline bool is_first_thread() {
    return blockIdx.x == 0 && threadIdx.x == 0;
}

static __device__ inline Key key_of(float distance, int64_t cluster) {
    return distance == distance ? (Key)gcor_distance_key(distance) << 32 | (Key)cluster : NONE;
}

/* Returns the minimum of the keys of all threads. Three minima take turns: the next step's is cleared while the one of
 * the step before may still be read. */
static __device__ inline Key agree(const Clusters &c, int64_t step, Key own) {
    Key *best = c.best + step % 3;
    own = reduce_block<THREADS>(own, Smaller());
    if (threadIdx.x == 0 && own != NONE) atomicMin(best, own);
    if (is_first_thread()) c.best[(step + 1) % 3] = NONE;
    cooperative_groups::this_grid().sync();
    return *(volatile Key *)best;
}

static __device__ inline Key nearest(const Clusters &c, int64_t step, int64_t cluster) {
    const float *row = c.row(cluster);
    Key own = NONE;
    for (int64_t k = thread_of_grid(); k < c.n; k += threads_of_grid())
        if (c.size[k] > 0) own = min(own, key_of(row[k], k));
    return agree(c, step, own);
}

static __device__ inline void merge(const Clusters &c, int64_t a, int64_t b, int32_t size_a, int32_t size_b) {
    float *row_a = c.row(a), *row_b = c.row(b);
    const gcor_parts parts = gcor_parts_of(c.linkage, size_a, size_b, row_a[b]);
    for (int64_t k = thread_of_grid(); k < c.n; k += threads_of_grid()) {
        if (k == a || k == b || c.size[k] == 0) continue;
        float distance = gcor_merged_distance(&parts, row_a[k], row_b[k], c.size[k]);
        row_b[k] = distance;
        c.row(k)[b] = distance;
    }
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* All threads follow the chain; the first one writes it down. Sizes are read before the grid agrees, and written by the
 * first thread after that, when no other thread reads those of the two clusters. */
__global__ void __launch_bounds__(THREADS) merge_chains(Clusters c) {
    Progress at = *c.progress;
    int64_t a = at.length > 0 ? c.chain[at.length - 1] : -1, before = at.length > 1 ? c.chain[at.length - 2] : -1;
    for (int64_t step = 0; step < STEPS && at.merges < c.n - 1; step++) {
        if (a < 0) {
            while (c.size[at.first] == 0) at.first++;
            a = at.first;
            at.length = 1;
            if (is_first_thread()) c.chain[0] = (int32_t)a;
        }
        int32_t size_a = c.size[a], size_before = before >= 0 ? c.size[before] : 0;
        Key found = nearest(c, step, a);
        if (found == NONE) {
            at.failed = 1;
            break;
        }
        float low = before >= 0 ? c.row(a)[before] : 0;
        if (before < 0 || key_of(low, 0) >> 32 != found >> 32) {
            before = a;
            a = (int64_t)(found & UINT32_MAX);
            if (is_first_thread()) c.chain[at.length] = (int32_t)a;
            at.length++;
            continue;
        }
        merge(c, min(a, before), max(a, before), a < before ? size_a : size_before, a < before ? size_before : size_a);
        if (is_first_thread()) {
            c.merges[at.merges] = {(int32_t)a, (int32_t)before, low};
            c.size[min(a, before)] = 0;
            c.size[max(a, before)] = size_a + size_before;
        }
        cooperative_groups::this_grid().sync();
        at.merges++;
        at.length -= 2;
        a = at.length > 0 ? c.chain[at.length - 1] : -1;
        before = at.length > 1 ? c.chain[at.length - 2] : -1;
    }
    if (is_first_thread()) *c.progress = at;
}

/* Each thread alone reads and writes the sizes and near distances of its leaves. */
__global__ void __launch_bounds__(THREADS) merge_single(Clusters c) {
    Progress at = *c.progress;
    for (int64_t step = 0; step < STEPS && at.merges < c.n - 1; step++, at.merges++) {
        const float *row = c.row(at.last);
        Key own = NONE;
        for (int64_t k = thread_of_grid(); k < c.n; k += threads_of_grid()) {
            if (k == at.last) c.size[k] = 0;
            if (c.size[k] == 0) continue;
            if (row[k] < c.near[k]) c.near[k] = row[k];
            own = min(own, key_of(c.near[k], k));
        }
        int32_t next = (int32_t)(agree(c, step, own) & UINT32_MAX);
        if (is_first_thread()) c.merges[at.merges] = {at.last, next, c.near[next]};
        at.last = next;
    }
    if (is_first_thread()) *c.progress = at;
}

/* ---- the host -------------------------------------------------------------------------------- */

class Clustering {
  public:
    Clustering(gcor_state *of, const gcor_hclust &given) : state(of), context(of->context), job(given) {}
    ~Clustering() { (void)cudaStreamSynchronize(state->compute.handle); } /* before memory in use is freed */
    void run();

  private:
    gcor_state *const state;
    gcor_context *const context;
    const gcor_hclust &job;
    DeviceArray<float> distance, near, staged;
    DeviceArray<int32_t> size, chain;
    DeviceArray<gcor_merge> merges;
    DeviceArray<Key> best;
    DeviceArray<Progress> progress;
    PinnedArray<float> buffers[2];
    PinnedArray<Progress> seen;
    Clusters clusters{};

    void reserve();
    void load();
    int64_t fill(PinnedArray<float> &buffer, int64_t first);
    int64_t offset(int64_t first, int64_t row) const {
        return gcor_row_position(row, row + 1, job.n) - gcor_row_position(first, first + 1, job.n);
    }
    void launch(const void *kernel);
};

void Clustering::reserve() {
    int64_t n = job.n, each = std::max<int64_t>(n, STAGED_VALUES);
    distance.reserve(n * n, "the distances of clusters");
    near.reserve(n, WHAT);
    staged.reserve(each, WHAT);
    size.reserve(n, WHAT);
    chain.reserve(n, WHAT);
    merges.reserve(n, WHAT);
    best.reserve(3, WHAT);
    progress.reserve(1, WHAT);
    seen.reserve(1, WHAT);
    for (PinnedArray<float> &buffer : buffers) buffer.reserve(each, WHAT);
    clusters = {job.linkage, n, distance.data, size.data, chain.data, near.data, merges.data, best.data, progress.data};
}

struct Filling {
    const gcor_hclust *job;
    gcor_context *context;
    int64_t first;
    float *to;
};

void fill_row(void *argument, int, int64_t k) {
    const Filling &filling = *(const Filling *)argument;
    int64_t first = filling.first, row = first + k, n = filling.job->n;
    if (gcor_stop(filling.context)) return;
    (void)gcor_hclust_row(filling.job, filling.context, row,
                          filling.to + (gcor_row_position(row, row + 1, n) - gcor_row_position(first, first + 1, n)));
}

/* Reads as many rows of the triangle, from `first` on, as the buffer holds, and returns their number. */
int64_t Clustering::fill(PinnedArray<float> &buffer, int64_t first) {
    int64_t rows = 1;
    while (first + rows < job.n && offset(first, first + rows) + job.n - 1 - first - rows <= buffer.capacity) rows++;
    Filling filling{&job, context, first, buffer.data};
    gcor_for_each(context->threads, rows, fill_row, &filling);
    if (gcor_stop(context)) throw Stopped{context->error.status};
    return rows;
}

/* One buffer is filled while the other one is copied. */
void Clustering::load() {
    Event copied[2];
    int64_t rows = 0;
    for (int64_t first = 0, piece = 0; first < job.n; first += rows, piece++) {
        PinnedArray<float> &buffer = buffers[piece % 2];
        if (piece >= 2) wait_for(state, copied[piece % 2]);
        rows = fill(buffer, first);
        copy_to_device(staged.data, buffer.data, offset(first, first + rows), state->compute, WHAT);
        copied[piece % 2].record(state->compute);
        unfold<<<(unsigned)rows, THREADS, 0, state->compute.handle>>>(clusters, first, staged.data);
        check_launch(WHAT);
    }
}

void Clustering::launch(const void *kernel) {
    unsigned blocks = std::min<unsigned>(blocks_for(job.n, THREADS), (unsigned)state->processors);
    void *arguments[] = {&clusters};
    clear(best.data, 3, state->compute, WHAT, 0xff);
    check(cudaLaunchCooperativeKernel(kernel, blocks, THREADS, arguments, 0, state->compute.handle), WHAT);
    copy_to_host(seen.data, progress.data, 1, state->compute, WHAT);
    wait_for_compute(state);
    if (seen.data->failed) throw Stopped{gcor_hclust_overflow(context)};
    context->monitor->pairs_done = seen.data->merges;
}

void Clustering::run() {
    const void *kernel = job.linkage == GCOR_LINK_SINGLE ? (const void *)merge_single : (const void *)merge_chains;
    reserve();
    load();
    clear(progress.data, 1, state->compute, WHAT);
    do launch(kernel);
    while (seen.data->merges < job.n - 1);
    copy_to_host(job.merges, merges.data, job.n - 1, state->compute, WHAT);
    wait_for_compute(state);
}

} // namespace

void cuda_cluster(gcor_state *state, const gcor_hclust &job) {
    Clustering(state, job).run();
}
