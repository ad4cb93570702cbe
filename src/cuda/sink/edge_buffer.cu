/* Device edge buffers. Kernels that read only coefficients read them chunk by chunk, as a chunk's are one array;
 * kernels that need rows and columns work run by run. */
#include "edge_output.cuh"
#include "device_edges.cuh"
#include "../backend/state.cuh"

#include <algorithm>
#include <unistd.h>

static const char *const WHAT = "edges of the network";

EdgeBuffer::EdgeBuffer(int number, gcor_side side, int64_t bytes) : device(number), owner((int)getpid()), max(bytes) {
    head.side = side;
}

void EdgeBuffer::wait() {
    step.record(stream);
    wait_for(context, step);
}

/* ---- adding edges ----------------------------------------------------------------------------- */

enum { MIN_CHUNK = 1 << 22, MAX_CHUNK = 1 << 26, EDGE_BYTES = 12 };

/* A new chunk doubles the capacity, within limits, so that there are few chunks. */
static int64_t chunk_size(int64_t n, int64_t held) {
    int64_t size = std::min<int64_t>(std::max<int64_t>(held / EDGE_BYTES, MIN_CHUNK), MAX_CHUNK);
    return std::max(n, size);
}

/* Makes chunks[filling] a chunk with capacity for n more edges. False if there is too little memory. */
bool EdgeBuffer::find_capacity(int64_t n) {
    while (filling < chunks.size() && chunks[filling]->r.capacity - chunks[filling]->used < n) filling++;
    if (filling < chunks.size()) return true;
    int64_t size = chunk_size(n, held);
    if (held + size * EDGE_BYTES > max) return false;
    std::unique_ptr<EdgeChunk> chunk(new EdgeChunk);
    try {
        chunk->r.reserve(size, WHAT);
        chunk->positions.reserve(chunk->r.capacity, WHAT);
    } catch (const Failure &failure) {
        if (failure.status != GCOR_NO_DEVICE_MEMORY) throw;
        return false;
    }
    held += chunk->r.capacity * EDGE_BYTES;
    chunks.push_back(std::move(chunk));
    return true;
}

/* Returns the next n elements of chunks[filling], which has capacity for them. */
EdgeRun EdgeBuffer::next_run(const gcor_tile &tile, int64_t n) {
    EdgeChunk &chunk = *chunks[filling];
    EdgeRun run = {tile, n, chunk.positions.data + chunk.used, chunk.r.data + chunk.used};
    chunk.used += n;
    return run;
}

EdgeRun *EdgeBuffer::add_run(const gcor_tile &tile, int64_t n) {
    if (!find_capacity(n)) return nullptr;
    runs.push_back(next_run(tile, n));
    return &runs.back();
}

/* ---- count and rank --------------------------------------------------------------- */

enum { DIGIT_BITS = 12, DIGITS = 1 << DIGIT_BITS, COUNT_THREADS = 512, MAX_BLOCKS = 1024 };

static __global__ void count_weights(const double *r, int64_t n, gcor_side side, double min,
                                     unsigned long long *count) {
    int kept = 0;
    for (int64_t e = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; e < n; e += gridDim.x * (int64_t)blockDim.x)
        kept += gcor_raw_weight(side, r[e]) >= min;
    kept = __reduce_add_sync(ALL_LANES, kept);
    if (threadIdx.x % 32 == 0 && kept > 0) atomicAdd(count, (unsigned long long)kept);
}

/* Adds to counts[d] how many numbers lie in [base + (d << shift), base + (d + 1 << shift)). A number is a weight's
 * gcor_short_of_one(). */
static __global__ void count_digits(const double *r, int64_t n, gcor_side side, unsigned long long base, int shift,
                                    unsigned long long *counts) {
    __shared__ unsigned found[DIGITS];
    for (int d = threadIdx.x; d < DIGITS; d += blockDim.x) found[d] = 0;
    __syncthreads();
    for (int64_t e = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; e < n; e += gridDim.x * (int64_t)blockDim.x) {
        unsigned long long digit = (gcor_short_of_one(gcor_raw_weight(side, r[e])) - base) >> shift;
        if (digit < DIGITS) atomicAdd(&found[digit], 1);
    }
    __syncthreads();
    for (int d = threadIdx.x; d < DIGITS; d += blockDim.x)
        if (found[d] > 0) atomicAdd(&counts[d], (unsigned long long)found[d]);
}

const unsigned long long *EdgeBuffer::fetch_counts(int n) {
    host_counts.reserve(n, "counts of edges");
    copy_to_host(host_counts.data, counts.data, n, stream, "copying counts");
    wait();
    return host_counts.data;
}

/* Sets n counts to 0 and calls launch(r, n, blocks) for each chunk with edges. */
template <class Launch>
static void for_each_chunk(const std::vector<std::unique_ptr<EdgeChunk>> &chunks,
                           DeviceArray<unsigned long long> &counts, int n, const Stream &stream, Launch launch) {
    counts.reserve(n, "counts of edges");
    clear(counts.data, n, stream, "clearing counts");
    for (const auto &chunk : chunks) {
        if (chunk->used == 0) continue;
        unsigned blocks = std::min(blocks_for(chunk->used, COUNT_THREADS), (unsigned)MAX_BLOCKS);
        launch(chunk->r.data, chunk->used, blocks);
        check_launch("counting edges");
    }
}

void EdgeBuffer::count(double min, int64_t *count) {
    for_each_chunk(chunks, counts, 1, stream, [&](const double *r, int64_t n, unsigned blocks) {
        count_weights<<<blocks, COUNT_THREADS, 0, stream.handle>>>(r, n, head.side, min, counts.data);
    });
    *count = (int64_t)*fetch_counts(1);
}

/* A radix select over gcor_short_of_one(), which is smallest for the largest weight. */
void EdgeBuffer::rank(double min, int64_t k, double *weight) {
    unsigned long long base = 0;
    int shift = 64;
    while (shift > 0 && gcor_short_of_one(min) >> (shift - 1) == 0) shift--;
    while (shift > 0) {
        shift = std::max(shift - DIGIT_BITS, 0);
        for_each_chunk(chunks, counts, DIGITS, stream, [&](const double *r, int64_t n, unsigned blocks) {
            count_digits<<<blocks, COUNT_THREADS, 0, stream.handle>>>(r, n, head.side, base, shift, counts.data);
        });
        const unsigned long long *found = fetch_counts(DIGITS);
        int digit = 0;
        while (digit < DIGITS - 1 && (int64_t)found[digit] < k) k -= (int64_t)found[digit++];
        base += (unsigned long long)digit << shift;
    }
    *weight = gcor_weight_short_of_one(base);
}

void EdgeBuffer::degrees(double min, int64_t n_var, int64_t *degree, gcor_int128 *strength) {
    DeviceDegrees sums;
    SyncOnExit sync{stream.handle};
    sums.clear(n_var, stream);
    for (const EdgeRun &run : runs) sums.add(run.positions, run.r, run.n, run.tile, 0, head.side, min, stream);
    wait();
    sums.fetch(n_var, degree, strength);
}

/* ---- pruning ------------------------------------------------------------------------------- */

/* The remaining edges of a run are copied to scratch memory and back to the first chunk with capacity. No run before
 * has grown, so a run moves towards the beginning and overwrites only edges that were read. */
void EdgeBuffer::prune(double min, int64_t *left) {
    DeviceArray<unsigned> positions;
    DeviceArray<double> r;
    DeviceArray<char> work;
    SyncOnExit sync{stream.handle};
    std::vector<EdgeRun> all;
    int64_t sum = 0;
    runs.swap(all);
    for (const auto &chunk : chunks) chunk->used = 0;
    filling = 0;
    counts.reserve(1, "counts of edges");
    for (const EdgeRun &run : all) {
        positions.reserve(run.n, WHAT);
        r.reserve(run.n, WHAT);
        select_edges(stream, work, run.positions, positions.data, run.r, r.data, run.n, head.side, min, counts.data);
        int64_t n = (int64_t)*fetch_counts(1);
        if (n == 0) continue;
        if (!find_capacity(n)) fail_impossible("edges that were there before");
        runs.push_back(next_run(run.tile, n));
        check(cudaMemcpyAsync(runs.back().positions, positions.data, (size_t)n * sizeof *positions.data,
                              cudaMemcpyDeviceToDevice, stream.handle),
              WHAT);
        check(
            cudaMemcpyAsync(runs.back().r, r.data, (size_t)n * sizeof *r.data, cudaMemcpyDeviceToDevice, stream.handle),
            WHAT);
        sum += n;
    }
    *left = sum;
}

/* ---- edges of another device ------------------------------------------------------------------------------ */

static void copy_run(const EdgeRun &to, int device, const EdgeRun &from, int other, const Stream &stream) {
    const char *what = "copying edges between GPUs";
    check(cudaMemcpyPeerAsync(to.positions, device, from.positions, other, (size_t)from.n * sizeof *to.positions,
                              stream.handle),
          what);
    check(cudaMemcpyPeerAsync(to.r, device, from.r, other, (size_t)from.n * sizeof *to.r, stream.handle), what);
}

/* Runs move from the other's end on. Without access of one GPU to the other the copy goes through the host's memory. */
void EdgeBuffer::absorb(gcor_edge_buffer *head_of_other, int64_t *left) {
    EdgeBuffer *other = (EdgeBuffer *)head_of_other;
    SyncOnExit sync{stream.handle};
    *left = 0;
    for (const EdgeRun &run : other->runs) *left += run.n;
    if (other->device != device) (void)cudaDeviceEnablePeerAccess(other->device, 0);
    (void)cudaGetLastError();
    check(cudaStreamSynchronize(other->stream.handle), "copying edges between GPUs");
    while (!other->runs.empty()) {
        const EdgeRun from = other->runs.back(), *run = add_run(from.tile, from.n);
        if (!run) break;
        copy_run(*run, device, from, other->device, stream);
        *left -= from.n;
        other->runs.pop_back();
    }
    wait();
}

/* ---- copy to host ----------------------------------------------------------------------------------------- */

void EdgeBuffer::to_host(gcor_edges *edges) {
    DeviceArray<gcor_edge> list;
    PinnedArray<gcor_edge> host;
    SyncOnExit sync{stream.handle};
    for (const EdgeRun &run : runs) {
        list.reserve(run.n, WHAT);
        host.reserve(run.n, WHAT);
        unpack_edges(run.positions, run.r, run.n, run.tile, list.data, stream);
        copy_to_host(host.data, list.data, run.n, stream, "copying edges");
        wait();
        gcor_status status = edges->keep_tile(edges, context, &run.tile, host.data, run.n);
        if (status) throw Stopped{status};
    }
}

/* ---- the table of functions --------------------------------------------------------------------- */

/* head is the first member. */
static EdgeBuffer *buffer_of(gcor_edge_buffer *head) {
    return reinterpret_cast<EdgeBuffer *>(head);
}

/* An entry of the table: calls `function` on the buffer's GPU, and makes an exception a status. */
template <auto function, class... Arguments>
static gcor_status call(gcor_edge_buffer *head, gcor_context *context, Arguments... arguments) {
    EdgeBuffer *buffer = buffer_of(head);
    return guarded(context, [&] {
        if (buffer->owner != (int)getpid())
            throw Failure(GCOR_DEVICE_ERROR, "these edges are on a GPU in use by the process that this one was forked "
                                             "from; take them to memory before parallel::mclapply() and the like");
        check(cudaSetDevice(buffer->device), "choosing the GPU");
        buffer->context = context;
        (buffer->*function)(arguments...);
    });
}

/* A forked process cannot free the parent's GPU memory, and does nothing. */
static void buffer_free(gcor_edge_buffer *head) {
    EdgeBuffer *buffer = buffer_of(head);
    if (buffer->owner != (int)getpid()) return;
    (void)cudaSetDevice(buffer->device);
    (void)cudaStreamSynchronize(buffer->stream.handle);
    delete buffer;
    gcor_count_live(GCOR_HOST_MEMORY, -1);
}

static const gcor_edge_buffer_type TYPE = {
    call<&EdgeBuffer::count>,   call<&EdgeBuffer::rank>,    call<&EdgeBuffer::prune>,
    call<&EdgeBuffer::lengths>, call<&EdgeBuffer::rows>,    call<&EdgeBuffer::degrees>,
    call<&EdgeBuffer::absorb>,  call<&EdgeBuffer::to_host>, buffer_free,
};

EdgeBuffer *make_edge_buffer(int device, gcor_side side, int64_t max) {
    EdgeBuffer *buffer = new EdgeBuffer(device, side, max);
    gcor_count_live(GCOR_HOST_MEMORY, 1);
    buffer->head.type = &TYPE;
    return buffer;
}
