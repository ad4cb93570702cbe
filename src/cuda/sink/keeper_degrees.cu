/* Degrees and strengths of edges on the GPU: a warp adds up a row's, and each edge goes to its column. Strengths are
 * fixed-point numbers (fixed.h), so the order in which they come does not show. */
#include "kept_row.cuh"

#include "../../sink/fixed.h"

/* To a number in memory, word by word: what the lower one carries goes to the upper one, sooner or later. */
static __device__ inline void add_fixed(gcor_int128 *sum, gcor_int128 term) {
    unsigned long long *words = (unsigned long long *)sum, low = (unsigned long long)term,
                       before = atomicAdd(words, low);
    atomicAdd(words + 1, (unsigned long long)(term >> 64) + (before + low < before));
}

static __device__ inline gcor_int128 sum_of_lanes(gcor_int128 term) {
    for (int step = 16; step > 0; step /= 2) {
        unsigned long long low = __shfl_xor_sync(ALL_LANES, (unsigned long long)term, step);
        long long high = __shfl_xor_sync(ALL_LANES, (long long)(term >> 64), step);
        term += (gcor_int128)high << 64 | low;
    }
    return term;
}

/* A warp for each row of the run; degree, strength: of all variables. */
static __global__ void add_rows(KeptRun run, gcor_side side, double least, unsigned long long *degree,
                                gcor_int128 *strength) {
    int64_t i = blockIdx.x * (int64_t)ROW_WARPS + threadIdx.x / 32;
    if (i >= run.tile.n_row) return;
    unsigned long long found = 0;
    gcor_int128 sum = 0;
    for_row(run, i, side, least, [&](int64_t e, double r, bool wanted) {
        found += __popc(__ballot_sync(ALL_LANES, wanted));
        if (!wanted) return;
        double weight = gcor_raw_weight(side, r), high = gcor_high_part(weight);
        gcor_int128 term = gcor_fixed(high, gcor_low_part(weight, high));
        int64_t col = run.tile.col + place_col(run.places[e]);
        atomicAdd(&degree[col], 1);
        add_fixed(&strength[col], term);
        sum += term;
    });
    sum = sum_of_lanes(sum);
    if (threadIdx.x % 32 != 0 || found == 0) return;
    atomicAdd(&degree[run.tile.row + i], found);
    add_fixed(&strength[run.tile.row + i], sum);
}

/* n cleared numbers. */
template <class Number>
static void reserve_sums(DeviceArray<Number> &sums, int64_t n, const Stream &stream) {
    sums.reserve(n, "degrees");
    check(cudaMemsetAsync(sums.data, 0, (size_t)n * sizeof(Number), stream.handle), "clearing sums");
}

template <class Number>
static void fetch_sums(const DeviceArray<Number> &sums, int64_t n, void *to) {
    check(cudaMemcpy(to, sums.data, (size_t)n * sizeof(Number), cudaMemcpyDeviceToHost), "copying sums");
}

void Keeper::degrees(double least, int64_t n_var, int64_t *degree, gcor_int128 *strength) {
    DeviceArray<unsigned long long> degrees;
    DeviceArray<gcor_int128> strengths;
    Settled settled{stream.handle};
    reserve_sums(degrees, n_var, stream);
    reserve_sums(strengths, n_var, stream);
    for (const KeptRun &run : runs) {
        add_rows<<<blocks_for(run.tile.n_row, ROW_WARPS), ROW_WARPS * 32, 0, stream.handle>>>(
            run, head.side, least, degrees.data, strengths.data);
        check_launch("summing over edges");
    }
    wait();
    fetch_sums(degrees, n_var, degree);
    fetch_sums(strengths, n_var, strength);
}
