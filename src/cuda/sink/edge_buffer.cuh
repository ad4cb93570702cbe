/* Edges that stay on the GPU until it is known which are wanted (edge_store.h): in runs of a tile's edges, in order,
 * which lie in chunks of memory one after another.
 *
 *   edge_buffer.cu       edges come, are counted, ranked, summed, thinned out, and land
 *   edge_buffer_rows.cu  those that are wanted, as finished rows of the host's memory
 */
#ifndef GPUCOR_CUDA_EDGE_BUFFER_CUH
#define GPUCOR_CUDA_EDGE_BUFFER_CUH

#include "../backend/state.cuh"
#include "../../sink/edges/store.h"

#include <memory>
#include <vector>

/* A tile's edges: places as position_of() makes them, ascending. */
struct EdgeRun {
    gcor_tile tile;
    int64_t n;
    unsigned *positions;
    double *r;
};

/* Runs lie in it from its beginning. */
struct EdgeChunk {
    DeviceArray<unsigned> positions;
    DeviceArray<double> r;
    int64_t used = 0;
};

/* Work on a stream is over before what is declared ahead of this goes, whatever happens. */
struct SyncOnExit {
    cudaStream_t stream;
    ~SyncOnExit() { (void)cudaStreamSynchronize(stream); }
};

/* Has a stream and memory of its own, and outlives the session that made it; used by one host thread at a time. */
class EdgeBuffer {
  public:
    gcor_edge_buffer head; /* first */

    /* The GPU must be the calling thread's. most: bytes that it may have. */
    EdgeBuffer(int number, gcor_side side, int64_t max);

    /* Room for a tile's edges, which are to be written on `stream` before anything else is; NULL: there is none, and
     * the run is not the buffer's. */
    EdgeRun *add_run(const gcor_tile &tile, int64_t n);

    int64_t count(double min);
    double rank(double min, int64_t k);
    int64_t prune(double min);
    void to_host(gcor_edges *edges);
    void lengths(double min, int64_t n_row, int32_t *length);
    void rows(double min, int64_t n_row, const int32_t *start, int32_t *col, double *r);
    void degrees(double min, int64_t n_var, int64_t *degree, gcor_int128 *strength);

    /* Of the call at hand. */
    gcor_context *context = nullptr;
    const int device, owner; /* owner: the process, as a forked one cannot use it */
    Stream stream{true};

  private:
    std::vector<std::unique_ptr<EdgeChunk>> chunks;
    std::vector<EdgeRun> runs;
    size_t filling = 0; /* the chunk to which edges come */
    int64_t max, held = 0;
    DeviceArray<unsigned long long> counts;
    PinnedArray<unsigned long long> host_counts;
    Event step;

    bool find_capacity(int64_t n);
    EdgeRun next_run(const gcor_tile &tile, int64_t n);
    const unsigned long long *fetch_counts(int n);
    void wait();
    std::vector<const EdgeRun *> by_column() const;
};

/* A fresh one, the caller's as a gcor_edge_buffer. Throws. */
EdgeBuffer *make_edge_buffer(int device, gcor_side side, int64_t max);

/* edge_ring.cu: sorted edges of a tile as the host has them. */
void unpack_edges(const unsigned *positions, const double *r, int64_t n, const gcor_tile &tile, gcor_edge *edges,
                  const Stream &stream);

#endif
