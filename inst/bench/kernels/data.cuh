/* Data to multiply: values, their bits on the GPU, and memory for the result. */
#pragma once

#include "stairs.cuh"

#include <memory>
#include <random>
#include <vector>

template <class T>
std::shared_ptr<T> on_device(size_t n) {
    T *data = nullptr;
    check(cudaMalloc(&data, n * sizeof(T)), "allocating");
    return std::shared_ptr<T>(data, cudaFree);
}

/* Values of one variable: noise plus one of seven factors with different weights, so that taus range from near -1 to
 * near 1. */
inline void make_values(int var, int n_obs, double *x) {
    std::mt19937_64 noise(100 + var), factor(var % 7);
    double weight = var % 5 * 1.5 - 3;
    for (int k = 0; k < n_obs; k++) x[k] = (weight * (factor() >> 11) + (noise() >> 11)) * 0x1p-53;
}

/* Packs the bits; returns how many are set. */
inline int make_bits(const double *x, int n_obs, unsigned *words) {
    int bit = 0, ones = 0;
    for (int k = 0; k < n_obs; k++)
        for (int q = k + 1; q < n_obs; q++, bit++) {
            unsigned greater = x[k] > x[q];
            words[bit / 32] |= greater << bit % 32;
            ones += greater;
        }
    return ones;
}

/* The data of variables first .. first+n-1. */
struct SideData {
    std::vector<double> x; /* (n, n_obs) */
    std::vector<int> ones; /* (n): |a| */
    std::shared_ptr<unsigned> words;

    SideData(int first, int n, int n_obs, int n_words) : x((size_t)n * n_obs), ones(n) {
        std::vector<unsigned> host((size_t)rounded_up(n, HELD_VARIABLES) * n_words);
        for (int v = 0; v < n; v++) {
            make_values(first + v, n_obs, &x[(size_t)v * n_obs]);
            ones[v] = make_bits(&x[(size_t)v * n_obs], n_obs, &host[(size_t)v * n_words]);
        }
        words = on_device<unsigned>(host.size());
        check(cudaMemcpy(words.get(), host.data(), host.size() * 4, cudaMemcpyHostToDevice), "copying bits");
    }
};

struct Size {
    int rows, cols, n_obs;
};

enum {
    POISON_BYTE = 0xA5,
    POISON = (int)0xA5A5A5A5,
    GUARD = 4096
}; /* GUARD: results beyond the last one, to detect overruns */

/* The second half of the rows' variables are the first of the columns': some pairs consist of a variable with
 * itself. */
struct Case {
    int n_obs, n_cols, bits, n_words;
    size_t pairs, common_bytes;
    double operations;
    SideData rows, cols;
    std::shared_ptr<int> common;
    Problem problem;

    explicit Case(const Size &s)
        : n_obs(s.n_obs), n_cols(s.cols), bits(n_obs * (n_obs - 1) / 2), n_words(rounded_up(bits, PIECE_BITS) / 32),
          pairs((size_t)s.rows * s.cols), common_bytes((pairs + GUARD) * sizeof(int)), operations(2.0 * pairs * bits),
          rows(0, s.rows, n_obs, n_words), cols(s.rows / 2, s.cols, n_obs, n_words),
          common(on_device<int>(pairs + GUARD)) {
        problem = {{s.rows, rows.words.get()}, {s.cols, cols.words.get()}, n_words, common.get()};
    }
    std::vector<int> result() const {
        std::vector<int> host(pairs + GUARD);
        check(cudaMemcpy(host.data(), common.get(), common_bytes, cudaMemcpyDeviceToHost), "copying sums");
        return host;
    }
    /* The numerator of tau of pair number `at`, by its definition and from the common bits. */
    long long defined(size_t at) const {
        return sign_product(&rows.x[at / n_cols * n_obs], &cols.x[at % n_cols * n_obs], n_obs);
    }
    long long numerator(int in_common, size_t at) const {
        return sum_of_signs(in_common, rows.ones[at / n_cols], cols.ones[at % n_cols], bits);
    }
};
