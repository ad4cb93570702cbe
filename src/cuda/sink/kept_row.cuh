/* The edges of one row of a run, by a warp. */
#ifndef GPUCOR_CUDA_KEPT_ROW_CUH
#define GPUCOR_CUDA_KEPT_ROW_CUH

#include "edge_output.cuh"
#include "keeper.cuh"

enum { ROW_WARPS = 8 }; /* rows of a block */

/* The first of the run's edges from row i of its tile on. */
static __device__ int64_t first_of_row(const KeptRun &run, int64_t i) {
    unsigned long long place = (unsigned long long)i << PLACE_COL_BITS;
    int64_t low = 0, high = run.n;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (run.places[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Calls edge(e, is_wanted) for the edges of row i of the tile by a warp, 32 at a time; all lanes call. */
template <class Edge>
static __device__ inline void for_row(const KeptRun &run, int64_t i, gcor_side side, double least, Edge edge) {
    int lane = threadIdx.x % 32;
    int64_t end = first_of_row(run, i + lane % 2), begin = __shfl_sync(ALL_LANES, end, 0);
    end = __shfl_sync(ALL_LANES, end, 1);
    for (int64_t first = begin; first < end; first += 32) {
        int64_t e = first + lane;
        double r = e < end ? run.r[e] : 0;
        edge(e, r, e < end && gcor_raw_weight(side, r) >= least);
    }
}

#endif
