/* Buffers for sorting pairs of very long columns (knight.cu). */
#ifndef GPUCOR_CUDA_KNIGHT_CUH
#define GPUCOR_CUDA_KNIGHT_CUH

#include "../prepare/prepare.cuh"

/* One sort: the observations in the order of one column, keyed by the scores of another. */
struct SortJob {
    const int *order;
    const float *score;
    int pair; /* index of the pair that gets the count */
};

/* A pair of the tile: its variables, the index of its coefficient in the output, whether x is the row's column, and
 * whether the count is to be doubled because D' equals D. */
struct SortPair {
    int row, col;
    int64_t out;
    bool x_is_row, counts_twice;
};

struct KnightBuffers {
    DeviceArray<float> keys, sorted_keys, runs[2];
    DeviceArray<int> obs, up, down; /* sort orders of columns; down: ties in reverse order */
    DeviceArray<SortJob> jobs;
    DeviceArray<SortPair> pairs;
    DeviceArray<unsigned long long> counts;
    SortBuffers sort;
    void trim();
};

#endif
