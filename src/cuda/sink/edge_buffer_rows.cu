/* Compressed rows in host memory from a device edge buffer. The GPU makes a band of rows at a time and copies it to
 * pinned memory, from which all threads copy it to the result: most of the time is spent in page faults of the result.
 */
#include "edge_output.cuh"
#include "device_edges.cuh"

#include "../../base/threads.h"

enum { ROW_WARPS = 8, BAND_ENTRIES = 1 << 22, ROW_BANDS = 2 };

/* ---- a run's rows ------------------------------------------------------------------------------------ */

/* Returns the index of the run's first edge in row i of its tile, or in a later row. */
static __device__ int64_t first_of_row(const EdgeRun &run, int64_t i) {
    unsigned long long position = (unsigned long long)i << POSITION_COL_BITS;
    int64_t first = 0;
    GCOR_SEARCH(first, run.n, k, run.positions[k] >= position);
    return first;
}

/* A warp calls edge(e, r, kept) for the edges of row i of the tile, 32 at a time. All lanes call
 * it, those without an edge with kept = false. */
template <class Edge>
static __device__ inline void for_row(const EdgeRun &run, int64_t i, gcor_side side, double min, Edge edge) {
    int lane = threadIdx.x % 32;
    int64_t end = first_of_row(run, i + lane % 2), begin = __shfl_sync(ALL_LANES, end, 0);
    end = __shfl_sync(ALL_LANES, end, 1);
    for (int64_t first = begin; first < end; first += 32) {
        int64_t e = first + lane;
        double r = e < end ? run.r[e] : 0;
        edge(e, r, e < end && gcor_raw_weight(side, r) >= min);
    }
}

/* Adds to `length` the number of edges in each of n rows from `row` on. Each warp takes a row. */
static __global__ void count_rows(EdgeRun run, gcor_side side, double min, int64_t row, int64_t n, int *length) {
    int64_t i = row + blockIdx.x * (int64_t)ROW_WARPS + threadIdx.x / 32;
    if (i >= row + n) return;
    int found = 0;
    for_row(run, i - run.tile.row, side, min,
            [&](int64_t, double, bool kept) { found += __popc(__ballot_sync(ALL_LANES, kept)); });
    if (threadIdx.x % 32 == 0) length[i] += found;
}

/* Writes the edges of those rows to col and r, which begin at entry `base` of all rows, and advances next[i]. */
static __global__ void put_rows(EdgeRun run, gcor_side side, double min, int64_t row, int64_t n, int *next, int base,
                                int *col, double *r) {
    int64_t i = row + blockIdx.x * (int64_t)ROW_WARPS + threadIdx.x / 32;
    if (i >= row + n) return;
    int at = next[i] - base, lane = threadIdx.x % 32;
    for_row(run, i - run.tile.row, side, min, [&](int64_t e, double value, bool kept) {
        unsigned lanes = __ballot_sync(ALL_LANES, kept);
        int to = at + __popc(lanes & ((1u << lane) - 1));
        if (kept) {
            col[to] = (int)(run.tile.col + position_col(run.positions[e]));
            r[to] = value;
        }
        at += __popc(lanes);
    });
    if (lane == 0) next[i] = at + base;
}

/* A row's entries are written in the order of the runs. Two runs with a row in common differ in their columns, so this
 * order sorts a row's entries by column. */
std::vector<const EdgeRun *> EdgeBuffer::by_column() const {
    std::vector<const EdgeRun *> sorted;
    for (const EdgeRun &run : runs) sorted.push_back(&run);
    std::sort(sorted.begin(), sorted.end(),
              [](const EdgeRun *a, const EdgeRun *b) { return a->tile.col < b->tile.col; });
    return sorted;
}

/* ---- lengths of rows ----------------------------------------------------------------------------------- */

void EdgeBuffer::lengths(double min, int64_t n_row, int32_t *length) {
    DeviceArray<int> found;
    found.reserve(n_row, "the network's rows");
    clear(found.data, n_row, stream, "clearing counts");
    for (const EdgeRun &run : runs) {
        count_rows<<<blocks_for(run.tile.n_row, ROW_WARPS), ROW_WARPS * 32, 0, stream.handle>>>(
            run, head.side, min, run.tile.row, run.tile.n_row, found.data);
        check_launch("counting edges");
    }
    wait();
    check(cudaMemcpy(length, found.data, (size_t)n_row * sizeof *length, cudaMemcpyDeviceToHost), "copying counts");
}

/* ---- bands ------------------------------------------------------------------------------------------------- */

/* Consecutive rows with at most BAND_ENTRIES entries together, or one row. */
struct Band {
    DeviceArray<int> col;
    DeviceArray<double> r;
    PinnedArray<int> host_col;
    PinnedArray<double> host_r;
    Event ready, copied;
    int64_t row = 0, n_row = 0;
    int first = 0, n = 0; /* index of the first entry; number of entries, 0: the band is empty */

    void reserve(int64_t entries);
};

void Band::reserve(int64_t entries) {
    const char *what = "rows of the network";
    col.reserve(entries, what);
    r.reserve(entries, what);
    host_col.reserve(entries, what);
    host_r.reserve(entries, what);
}

/* Copies all rows to the host; a band is made on the GPU while the band before it is copied. */
struct RowTransport {
    gcor_context *context;
    const Stream &stream;
    gcor_side side;
    double min;
    std::vector<const EdgeRun *> runs; /* by column */
    const int32_t *start;
    int32_t *col;
    double *r;
    Stream copy{true};
    Band bands[ROW_BANDS]{};
    DeviceArray<int> next{}; /* index of each row's next entry */
    SyncOnExit filled{stream.handle}, copied{copy.handle};

    void choose(Band &band, int64_t row, int64_t n_row);
    void fill(const Band &band);
    void send(Band &band);
    void take(Band &band);
    void run(int64_t n_row);
};

void RowTransport::choose(Band &band, int64_t row, int64_t n_row) {
    int64_t n = 1;
    while (row + n < n_row && start[row + n + 1] - start[row] <= BAND_ENTRIES) n++;
    band.row = row;
    band.n_row = n;
    band.first = start[row];
    band.n = start[row + n] - start[row];
}

/* Writes the band's entries on the GPU, run by run. */
void RowTransport::fill(const Band &band) {
    for (const EdgeRun *run : runs) {
        int64_t begin = std::max(band.row, run->tile.row),
                end = std::min(band.row + band.n_row, run->tile.row + run->tile.n_row);
        if (begin >= end) continue;
        put_rows<<<blocks_for(end - begin, ROW_WARPS), ROW_WARPS * 32, 0, stream.handle>>>(
            *run, side, min, begin, end - begin, next.data, band.first, band.col.data, band.r.data);
        check_launch("putting edges in rows");
    }
}

void RowTransport::send(Band &band) {
    const char *what = "copying rows";
    band.ready.record(stream);
    check(cudaStreamWaitEvent(copy.handle, band.ready.handle, 0), "ordering streams");
    copy_to_host(band.host_col.data, band.col.data, band.n, copy, what);
    copy_to_host(band.host_r.data, band.r.data, band.n, copy, what);
    band.copied.record(copy);
}

/* A copy to untouched memory, cut at the boundaries of its large pages: two threads that touch a page for the first
 * time wait for each other. */
struct Bytes {
    char *to;
    const char *from;
    int64_t n;

    int64_t parts() const { return n > 0 ? ((uintptr_t)to + n - 1) / PAGE - (uintptr_t)to / PAGE + 1 : 0; }
    void copy(int64_t part) const {
        int64_t first = (int64_t)(((uintptr_t)to / PAGE + part) * PAGE - (uintptr_t)to),
                begin = std::max<int64_t>(first, 0), end = std::min(first + (int64_t)PAGE, n);
        memcpy(to + begin, from + begin, (size_t)(end - begin));
    }
};

/* argument: two copies, whose parts are numbered one after the other. */
static void copy_part(void *argument, int, int64_t part) {
    const Bytes *both = (const Bytes *)argument;
    int64_t first = both[0].parts();
    if (part < first)
        both[0].copy(part);
    else
        both[1].copy(part - first);
}

void RowTransport::take(Band &band) {
    if (band.n == 0) return;
    wait_for(context, band.copied);
    Bytes cols = {(char *)(col + band.first), (const char *)band.host_col.data, band.n * (int64_t)sizeof *col},
          values = {(char *)(r + band.first), (const char *)band.host_r.data, band.n * (int64_t)sizeof *r};
    const Bytes both[] = {values, cols};
    gcor_for_each(context->threads, values.parts() + cols.parts(), copy_part, (void *)both);
    band.n = 0;
}

void RowTransport::run(int64_t n_row) {
    int at = 0;
    next.reserve(n_row, "the network's rows");
    copy_to_device(next.data, start, n_row, stream, "copying rows");
    for (int64_t row = 0; row < n_row; row += bands[at].n_row, at = (at + 1) % ROW_BANDS) {
        Band &band = bands[at];
        take(band);
        choose(band, row, n_row);
        if (band.n == 0) continue;
        band.reserve(std::max<int64_t>(band.n, std::min<int64_t>(start[n_row], BAND_ENTRIES)));
        fill(band);
        send(band);
    }
    for (int k = 0; k < ROW_BANDS; k++) take(bands[(at + k) % ROW_BANDS]);
}

void EdgeBuffer::rows(double min, int64_t n_row, const int32_t *start, int32_t *col, double *r) {
    RowTransport transport{context, stream, head.side, min, by_column(), start, col, r};
    transport.run(n_row);
}
