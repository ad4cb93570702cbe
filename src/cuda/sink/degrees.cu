#include "device_degrees.cuh"
#include "edge_output.cuh"
#include "../../sink/fixed.h"

static const char *const WHAT = "sums over edges";

/* Edges of a thread, which are often of the same row. */
enum { DEGREE_THREADS = 256, EDGES_EACH = 8 };

/* To a number in memory, word by word: what the lower one carries goes to the upper one, sooner or later. */
static __device__ inline void add_fixed(gcor_int128 *sum, gcor_int128 term) {
    unsigned long long *words = (unsigned long long *)sum, low = (unsigned long long)term,
                       before = atomicAdd(words, low);
    atomicAdd(words + 1, (unsigned long long)(term >> 64) + (before + low < before));
}

/* A variable's edges so far. */
struct EdgeSum {
    int64_t var = -1;
    unsigned long long degree = 0;
    gcor_int128 strength = 0;

    __device__ void add_to(unsigned long long *degrees, gcor_int128 *strengths) const {
        if (degree == 0) return;
        atomicAdd(&degrees[var], degree);
        add_fixed(&strengths[var], strength);
    }
};

static __global__ void add_edges(const unsigned *positions, const double *r, int64_t n, gcor_tile tile, gcor_side side,
                                 double min_weight, unsigned long long *degrees, gcor_int128 *strengths) {
    int64_t first = (blockIdx.x * (int64_t)DEGREE_THREADS + threadIdx.x) * EDGES_EACH;
    EdgeSum of_row;
    for (int64_t e = first; e < min(first + EDGES_EACH, n); e++) {
        double weight = gcor_raw_weight(side, r[e]), high = gcor_high_part(weight);
        if (!(weight >= min_weight)) continue;
        gcor_int128 term = gcor_fixed(high, gcor_low_part(weight, high));
        int64_t row = tile.row + position_row(positions[e]), col = tile.col + position_col(positions[e]);
        if (row != of_row.var) {
            of_row.add_to(degrees, strengths);
            of_row = EdgeSum{row};
        }
        of_row.degree++;
        of_row.strength += term;
        EdgeSum{col, 1, term}.add_to(degrees, strengths);
    }
    of_row.add_to(degrees, strengths);
}

template <class Number>
static void clear_sums(DeviceArray<Number> &sums, int64_t n, const Stream &stream) {
    sums.reserve(n, WHAT);
    check(cudaMemsetAsync(sums.data, 0, (size_t)n * sizeof(Number), stream.handle), WHAT);
}

void DeviceDegrees::clear(int64_t n_var, const Stream &stream) {
    clear_sums(degree, n_var, stream);
    clear_sums(strength, n_var, stream);
}

void DeviceDegrees::add(const unsigned *positions, const double *r, int64_t n, const gcor_tile &tile, int64_t first_row,
                        gcor_side side, double min, const Stream &stream) {
    gcor_tile numbered = tile;
    numbered.row += first_row;
    if (n == 0) return;
    add_edges<<<blocks_for(n, DEGREE_THREADS * EDGES_EACH), DEGREE_THREADS, 0, stream.handle>>>(
        positions, r, n, numbered, side, min, degree.data, strength.data);
    check_launch(WHAT);
}

void DeviceDegrees::fetch(int64_t n_var, int64_t *to_degree, gcor_int128 *to_strength) const {
    size_t n = (size_t)n_var;
    check(cudaMemcpy(to_degree, degree.data, n * sizeof *to_degree, cudaMemcpyDeviceToHost), WHAT);
    check(cudaMemcpy(to_strength, strength.data, n * sizeof *to_strength, cudaMemcpyDeviceToHost), WHAT);
}

void DeviceDegrees::trim() {
    degree.trim();
    strength.trim();
}
