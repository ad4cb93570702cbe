#include "edge_output.cuh"
#include "../../sink/weight.h"

static const char *const WHAT = "sums over edges";

/* EDGES_EACH: consecutive edges of a thread, which often have the same row. */
enum { DEGREE_THREADS = 256, EDGES_EACH = 8 };

/* Adds to a number in memory, the two words separately: all carries have reached the upper word when the kernel ends.
 */
static __device__ inline void add_fixed(gcor_int128 *sum, gcor_int128 term) {
    unsigned long long *words = (unsigned long long *)sum, low = (unsigned long long)term,
                       before = atomicAdd(words, low);
    atomicAdd(words + 1, (unsigned long long)(term >> 64) + (before + low < before));
}

/* A variable's degree and strength, summed over some of its edges. */
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

void DeviceDegrees::clear(int64_t n_var, const Stream &stream) {
    degree.reserve(n_var, WHAT);
    strength.reserve(n_var, WHAT);
    ::clear(degree.data, n_var, stream, WHAT);
    ::clear(strength.data, n_var, stream, WHAT);
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
