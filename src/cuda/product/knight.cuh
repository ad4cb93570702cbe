/* What pairs of very long columns are sorted with (knight.cu). */
#ifndef GPUCOR_CUDA_KNIGHT_CUH
#define GPUCOR_CUDA_KNIGHT_CUH

#include "../prepare/prepare.cuh"

/* The observations in the order of one column, by the scores of another. */
struct SortJob {
    const int *order;
    const float *score;
    int pair; /* whose count */
};

/* A pair of the tile: its variables, where its coefficient goes, whether it is in the order of its row, and whether
 * what was counted is half of what is out of order. */
struct SortPair {
    int row, col;
    int64_t out;
    bool x_is_row, counts_twice;
};

struct KnightBuffers {
    DeviceArray<float> keys, sorted_keys, runs[2];
    DeviceArray<int> obs, up, down; /* orders of columns; down: what is equal the other way round */
    DeviceArray<SortJob> jobs;
    DeviceArray<SortPair> pairs;
    DeviceArray<unsigned long long> counts;
    SortBuffers sort;
    void trim();
};

#endif
