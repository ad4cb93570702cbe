/* The host part of zhao-network.cu: blocks, the threshold from the histogram, the network, and its check. */
#ifndef GPUCOR_ZHAO_NETWORK_H
#define GPUCOR_ZHAO_NETWORK_H

#include "harness.h"

#define BINS 1000000 /* of coefficients from 0 to 1: the paper's value */

/* Compressed rows of the upper triangle: row i has its columns j > i, ascending. */
typedef struct {
    int64_t n, capacity; /* capacity in edges */
    int64_t *row;        /* n + 1 */
    int32_t *column;
    float *value;
    float threshold; /* edges are above it */
    const problem *p;
    measure what;
    double edge_error; /* the largest error among the edges checked */
} network;

/* ---- blocks ------------------------------------------------------------------------------------------ */

/* Columns from, from + 1, ..., from + size - 1 of the data. */
typedef struct {
    int64_t from;
    int size;
} span;

/* Block b of m, all of nearly the same size. */
static span block_of(int64_t b, int64_t m, int64_t n) {
    int64_t from = b * n / m;
    return (span){from, (int)((b + 1) * n / m - from)};
}

/* Number of blocks of at most `largest` columns each. */
static int64_t count_blocks(int64_t n, int64_t largest) {
    return (n + largest - 1) / largest;
}

/* ---- algorithm 2, line 9 and 10: the threshold -------------------------------------------------------- */

#ifdef __CUDACC__
#define ON_BOTH static inline __host__ __device__
#else
#define ON_BOTH static inline
#endif

/* Lower edge of bin k; also called on the GPU. */
ON_BOTH float bin_edge(int64_t k) {
    return (float)((double)k / BINS);
}

/* The middle of the bin of the wanted-th largest coefficient; *at_most: number of coefficients in that bin and
 * above. */
static float threshold_of(const unsigned long long *histogram, int64_t wanted, int64_t *at_most) {
    int64_t bin = BINS;
    for (*at_most = 0; bin > 0 && *at_most < wanted;) *at_most += (int64_t)histogram[--bin];
    return (float)(((double)bin + 0.5) / BINS);
}

/* ---- algorithm 1, line 9: the network ----------------------------------------------------------------- */

/* The edges of a block, in compressed rows of their own; column indices refer to the data. */
typedef struct {
    int64_t *row; /* number of rows + 1 */
    int32_t *column;
    float *value;
    int64_t rows, capacity, max_rows;
} piece;

static void *enlarge(void *memory, int64_t count, size_t size) {
    free(memory);
    return allocate(count, size);
}

/* Allocates memory for that many rows and edges. It is kept for later blocks. */
static void evict(piece *to, int64_t rows, int64_t edges) {
    to->rows = rows;
    if (rows > to->max_rows || !to->row) {
        to->row = (int64_t *)enlarge(to->row, rows + 1, sizeof *to->row);
        to->max_rows = rows;
    }
    if (edges <= to->capacity) return;
    to->capacity = edges + edges / 4;
    to->column = (int32_t *)enlarge(to->column, to->capacity, sizeof *to->column);
    to->value = (float *)enlarge(to->value, to->capacity, sizeof *to->value);
}

static void free_pieces(piece *pieces, int64_t count) {
    for (int64_t k = 0; k < count; k++) {
        free(pieces[k].row);
        free(pieces[k].column);
        free(pieces[k].value);
    }
    free(pieces);
}

static network new_network(const problem *p, measure what, float threshold, int64_t at_most) {
    network net = {p->n_var, at_most, NULL, NULL, NULL, threshold, p, what, 0};
    net.row = (int64_t *)allocate(p->n_var + 1, sizeof *net.row);
    net.column = (int32_t *)allocate(at_most, sizeof *net.column);
    net.value = (float *)allocate(at_most, sizeof *net.value);
    net.row[0] = 0;
    return net;
}

static void free_network(network *net) {
    free(net->row);
    free(net->column);
    free(net->value);
}

/* Joins the pieces of the blocks of rows from `from` on, in the order of the columns. */
static void join_rows(network *net, int64_t from, const piece *pieces, int64_t count) {
    int64_t rows = pieces[0].rows;
    for (int64_t i = 0; i < rows; i++) {
        int64_t edges = 0;
        for (int64_t k = 0; k < count; k++) edges += pieces[k].row[i + 1] - pieces[k].row[i];
        net->row[from + i + 1] = net->row[from + i] + edges;
    }
    if (net->row[from + rows] > net->capacity) {
        fprintf(stderr, "more edges than the histogram has counted\n");
        exit(2);
    }
#pragma omp parallel for schedule(dynamic, 64)
    for (int64_t i = 0; i < rows; i++) {
        int64_t to = net->row[from + i];
        for (int64_t k = 0; k < count; k++) {
            int64_t first = pieces[k].row[i], edges = pieces[k].row[i + 1] - first;
            if (edges == 0) continue;
            memcpy(net->column + to, pieces[k].column + first, (size_t)edges * sizeof *net->column);
            memcpy(net->value + to, pieces[k].value + first, (size_t)edges * sizeof *net->value);
            to += edges;
        }
    }
}

/* ---- the check ------------------------------------------------------------------------------------------ */

/* Tolerance of a coefficient. Kendall's are float32 sums of n_obs (n_obs - 1) / 2 terms of equal magnitude, whose
 * roundings go the same way, which gives about 1e-5 at 128 observations; the limit is half of the smallest
 * difference between two taus. */
static double tolerance_of(const network *net) {
    return net->what == KENDALL ? 1 / (double)pairs_of(net->p->n_obs) : 2e-6;
}

/* Number of row i's edges before column j. */
static int64_t edges_before(const network *net, int64_t i, int64_t j) {
    int64_t low = net->row[i], high = net->row[i + 1];
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (net->column[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The value of an edge. For a pair that correctly is no edge, the right value plus the worst edge's error, so that
 * report() includes it; 2, which is wrong, for a pair that should be an edge. */
static double network_value(const void *result, int64_t i, int64_t j) {
    const network *net = (const network *)result;
    int64_t at = edges_before(net, i, j);
    if (at < net->row[i + 1] && net->column[at] == j) return (double)net->value[at];
    double truth = reference(net->p, net->what, i, j);
    if (truth >= (double)net->threshold + tolerance_of(net)) return 2;
    return truth + net->edge_error;
}

/* The row of edge number `at`. */
static int64_t row_of(const network *net, int64_t at) {
    int64_t low = 0, high = net->n;
    while (high - low > 1) {
        int64_t middle = (low + high) / 2;
        if (net->row[middle] <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The error of edge number `at`; infinite if it is not a pair of the upper triangle or not in order. */
static double error_of_edge(const network *net, int64_t at) {
    int64_t i = row_of(net, at), j = net->column[at];
    int ordered = j > i && j < net->n && (at == net->row[i] || net->column[at - 1] < j);
    if (!ordered || !(net->value[at] > net->threshold)) return INFINITY;
    return fabs((double)net->value[at] - reference(net->p, net->what, i, j));
}

/* As almost no pair that report() checks is an edge: checks 1,000 edges, including the first and the last. */
static double largest_edge_error(const network *net) {
    int64_t edges = net->row[net->n];
    double off = 0;
    for (int64_t s = 0; s < 1000 && edges > 0; s++) {
        int64_t at = s == 0 ? 0 : s == 1 ? edges - 1 : (int64_t)(uniform((uint64_t)(5000 + s)) * (double)edges);
        double error = error_of_edge(net, at);
        if (!(error <= off)) off = error == error ? error : INFINITY;
    }
    return off;
}

/* Ties may leave out some of the wanted edges, but never half of them. */
static int report_network(network *net, double seconds, int64_t wanted) {
    int64_t edges = net->row[net->n];
    fprintf(stderr, "threshold %.7f, %lld edges, %lld wanted\n", (double)net->threshold, (long long)edges,
            (long long)wanted);
    net->edge_error = largest_edge_error(net);
    double tolerance = tolerance_of(net);
    int wrong = report("zhao-network", net->p, net->what, seconds, network_value, net, tolerance);
    return wrong || net->edge_error > tolerance || edges < wanted / 2;
}

#endif
