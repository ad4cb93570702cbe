#include "shuffle.h"

void gcor_shuffle_doubles(const gcor_shuffle *shuffle, int64_t j, double *x, int64_t n) {
    uint64_t state = gcor_shuffle_state(shuffle, j);
    for (int64_t k = n - 1; k > 0; k--) {
        int64_t other = gcor_shuffle_step(&state, k);
        double value = x[k];
        x[k] = x[other];
        x[other] = value;
    }
}

void gcor_shuffle_floats(const gcor_shuffle *shuffle, int64_t j, float *x, int64_t n) {
    uint64_t state = gcor_shuffle_state(shuffle, j);
    for (int64_t k = n - 1; k > 0; k--) {
        int64_t other = gcor_shuffle_step(&state, k);
        float value = x[k];
        x[k] = x[other];
        x[other] = value;
    }
}
