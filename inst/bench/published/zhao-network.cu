/* Networks as by Zhao, Du and Wang, "A GPU-accelerated Framework for Fast Mapping of Dense Functional Connectomes".
 *
 *   zhao-network N n_obs steps measure density      such as: zhao-network 1000000 128 0 pearson 0.001
 *
 * Every column becomes a vector, so that the coefficient of two columns is the product of their vectors, and a block
 * of the matrix one product of matrices in float32 (equations 5 to 7):
 *   pearson    the column, centred and of length one
 *   spearman   the same of its ranks, which are found by counting (equation 8)
 *   kendall    the signs of the differences of all pairs of observations, over the root of the number of those that
 *              are not tied: with ties this is tau-b
 * Algorithm 2 computes all blocks of the upper triangle for a histogram of the coefficients, by sorting each block and
 * searching the bins in it, and takes from it the threshold for the density. Algorithm 1 computes them again: what is
 * above the threshold is compressed to rows on the GPU, copied, and joined on the host.
 *
 * Where the paper is silent: edges are the pairs of the upper triangle, and density is their share of all of them;
 * blocks are square, at most 32,768 columns; the vectors of Kendall's measure, too many for memory, are made anew
 * for each block. The data is copied as doubles, as its ties and ranks would not survive float32. */
#include "blas.cuh"
#include "zhao-network.cuh"

#include <cub/device/device_radix_sort.cuh>

typedef struct {
    const problem *p;
    measure what;
    int64_t blocks, length;   /* of the vectors */
    double *data;             /* kendall: the columns */
    float *vectors;           /* the others: those of all columns */
    float *row_vectors, *own; /* kendall: those of a block's rows, and of its columns */
    float *block, *other;     /* a block, and as much scratch: to sort, or for the edges */
    void *sorting;            /* further scratch of the sort */
    size_t sorting_bytes;
    unsigned long long *histogram; /* BINS */
    int *counts;                   /* edges of each row of a block */
    int64_t *positions;            /* where they begin */
    cublasHandle_t blas;
} gpu;

/* ---- vectors -------------------------------------------------------------------------------------------- */

/* Copies the data to the GPU and computes there what all blocks share. */
static void load_data(gpu *g) {
    int64_t n = g->p->n_var, n_obs = g->p->n_obs, values = n * n_obs;
    g->data = device_allocate<double>(values);
    CHECK(cudaMemcpy(g->data, g->p->x, (size_t)values * sizeof *g->data, cudaMemcpyHostToDevice));
    if (g->what == KENDALL) return;
    if (g->what == SPEARMAN) {
        double *ranks = device_allocate<double>(values);
        rank_by_counting<<<(unsigned)n, THREADS>>>(g->data, (int)n_obs, ranks);
        CHECK(cudaGetLastError());
        CHECK(cudaFree(g->data));
        g->data = ranks;
    }
    g->vectors = device_allocate<float>(values);
    int per_block = THREADS / WARP;
    normalise<<<(unsigned)((n + per_block - 1) / per_block), THREADS>>>(g->data, n, (int)n_obs, g->vectors);
    CHECK(cudaGetLastError());
    CHECK(cudaFree(g->data));
    g->data = nullptr;
}

/* Returns the vectors of some columns. Those of Kendall's measure are computed into the given memory. */
static const float *vectors_of(const gpu *g, span columns, float *memory) {
    if (g->what != KENDALL) return g->vectors + columns.from * g->length;
    int n_obs = (int)g->p->n_obs;
    sign_vectors<<<columns.size, THREADS>>>(g->data + columns.from * n_obs, n_obs, g->length, memory);
    CHECK(cudaGetLastError());
    return memory;
}

/* ---- a block ----------------------------------------------------------------------------------------------- */

static void multiply(const gpu *g, const float *row_vectors, span rows, span columns) {
    const float *own = rows.from == columns.from ? row_vectors : vectors_of(g, columns, g->own);
    multiply_columns(g->blas, own, columns.size, row_vectors, rows.size, g->length, g->block);
    if (rows.from != columns.from) return;
    clear_lower<<<rows.size, THREADS>>>(g->block, rows.size);
    CHECK(cudaGetLastError());
}

/* Called for block (row, column) once it is computed. */
typedef void (*block_task)(gpu *g, span rows, span columns, int64_t number, void *context);
typedef void (*row_task)(span rows, int64_t blocks, void *context);

/* Visits the blocks of the upper triangle row by row; `number` counts those of a row. */
static void for_blocks(gpu *g, block_task task, row_task row_done, void *context) {
    for (int64_t row = 0; row < g->blocks; row++) {
        span rows = block_of(row, g->blocks, g->p->n_var);
        const float *row_vectors = vectors_of(g, rows, g->row_vectors);
        for (int64_t column = row; column < g->blocks; column++) {
            span columns = block_of(column, g->blocks, g->p->n_var);
            multiply(g, row_vectors, rows, columns);
            task(g, rows, columns, column - row, context);
        }
        if (row_done) row_done(rows, g->blocks - row, context);
    }
}

/* ---- algorithm 2: the histogram ------------------------------------------------------------------------------ */

static void count_block(gpu *g, span rows, span columns, int64_t, void *) {
    int64_t entries = (int64_t)rows.size * columns.size;
    cub::DoubleBuffer<float> keys(g->block, g->other);
    CHECK(cub::DeviceRadixSort::SortKeys(g->sorting, g->sorting_bytes, keys, entries));
    search_bins<<<(BINS + THREADS - 1) / THREADS, THREADS>>>(keys.Current(), entries, g->histogram);
    CHECK(cudaGetLastError());
}

static float find_threshold(gpu *g, int64_t wanted, int64_t *at_most) {
    const size_t bytes = BINS * sizeof *g->histogram;
    unsigned long long *histogram = (unsigned long long *)allocate(BINS, sizeof *histogram);
    CHECK(cudaMemset(g->histogram, 0, bytes));
    for_blocks(g, count_block, nullptr, nullptr);
    CHECK(cudaMemcpy(histogram, g->histogram, bytes, cudaMemcpyDeviceToHost));
    float threshold = threshold_of(histogram, wanted, at_most);
    free(histogram);
    return threshold;
}

/* ---- algorithm 1: the network ---------------------------------------------------------------------------------- */

typedef struct {
    network *net;
    piece *pieces; /* of the blocks of a row */
    int *counts;   /* on the host */
} assembly;

/* Computes where each row begins, on the host and on the GPU; returns the number of edges. */
static int64_t position_rows(const gpu *g, span rows, assembly *a, piece *to) {
    CHECK(cudaMemcpy(a->counts, g->counts, (size_t)rows.size * sizeof *a->counts, cudaMemcpyDeviceToHost));
    int64_t edges = 0;
    for (int i = 0; i < rows.size; i++) edges += a->counts[i];
    evict(to, rows.size, edges);
    to->row[0] = 0;
    for (int i = 0; i < rows.size; i++) to->row[i + 1] = to->row[i] + a->counts[i];
    CHECK(cudaMemcpy(g->positions, to->row, (size_t)rows.size * sizeof *to->row, cudaMemcpyHostToDevice));
    return edges;
}

static void compress_block(gpu *g, span rows, span columns, int64_t number, void *context) {
    assembly *a = (assembly *)context;
    piece *to = &a->pieces[number];
    float threshold = a->net->threshold;
    unsigned grid = (unsigned)((rows.size + THREADS / WARP - 1) / (THREADS / WARP));
    count_edges<<<grid, THREADS>>>(g->block, rows.size, columns.size, threshold, g->counts);
    CHECK(cudaGetLastError());
    int64_t edges = position_rows(g, rows, a, to), capacity = (int64_t)rows.size * columns.size / 2;
    if (edges == 0) return;
    if (edges > capacity) {
        fprintf(stderr, "more than half of a block are edges: a lower density is needed\n");
        exit(2);
    }
    int32_t *column = (int32_t *)g->other;
    float *value = g->other + edges;
    compress_rows<<<grid, THREADS>>>(g->block, rows.size, columns.size, (int)columns.from, threshold, g->positions,
                                     column, value);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(to->column, column, (size_t)edges * sizeof *column, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(to->value, value, (size_t)edges * sizeof *value, cudaMemcpyDeviceToHost));
}

static void join_row(span rows, int64_t blocks, void *context) {
    assembly *a = (assembly *)context;
    join_rows(a->net, rows.from, a->pieces, blocks);
}

static void build_network(gpu *g, network *net) {
    assembly a = {net, (piece *)calloc((size_t)g->blocks, sizeof(piece)), nullptr};
    a.counts = (int *)allocate(net->n, sizeof *a.counts);
    for_blocks(g, compress_block, join_row, &a);
    free_pieces(a.pieces, g->blocks);
    free(a.counts);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static size_t sorting_bytes(int64_t entries) {
    size_t bytes = 0;
    cub::DoubleBuffer<float> keys;
    CHECK(cub::DeviceRadixSort::SortKeys(nullptr, bytes, keys, entries));
    return bytes;
}

/* Max columns of a block that use at most three quarters of the remaining memory; at most 32,768, beyond which
 * nothing is gained, or the value of ZHAO_BLOCK. */
static int64_t largest_block(const gpu *g) {
    const char *asked = getenv("ZHAO_BLOCK");
    int64_t max = asked ? atoll(asked) : 32768, memory = free_device_bytes() / 4 * 3;
    if (max > g->p->n_var) max = g->p->n_var;
    if (max < 1) max = 1;
    int64_t per_column = g->what == KENDALL ? 2 * g->length * (int64_t)sizeof(float) : 0;
    while (max > 1 &&
           2 * max * max * (int64_t)sizeof(float) + (int64_t)sorting_bytes(max * max) + max * per_column > memory)
        max -= max > 64 ? max / 64 : 1;
    return max;
}

static void allocate_block(gpu *g) {
    int64_t largest = largest_block(g), entries = largest * largest;
    g->blocks = count_blocks(g->p->n_var, largest);
    g->block = device_allocate<float>(entries);
    g->other = device_allocate<float>(entries);
    g->sorting_bytes = sorting_bytes(entries);
    CHECK(cudaMalloc(&g->sorting, g->sorting_bytes));
    g->histogram = device_allocate<unsigned long long>(BINS);
    g->counts = device_allocate<int>(largest);
    g->positions = device_allocate<int64_t>(largest);
    if (g->what != KENDALL) return;
    g->row_vectors = device_allocate<float>(largest * g->length);
    g->own = device_allocate<float>(largest * g->length);
}

static void free_gpu(const gpu *g) {
    void *const all[] = {g->data,  g->vectors, g->row_vectors, g->own,    g->block,
                         g->other, g->sorting, g->histogram,   g->counts, g->positions};
    for (void *memory : all) CHECK(cudaFree(memory));
    CHECK_BLAS(cublasDestroy(g->blas));
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

int main(int argc, char **argv) {
    problem p = read_problem(argc, argv);
    double density = argc > 5 ? atof(argv[5]) : 0;
    if (!(density > 0 && density < 1) || p.n_var > INT32_MAX || p.n_obs > 65536) {
        fprintf(stderr, "usage: %s N n_obs steps measure density\n", argv[0]);
        return 2;
    }
    gpu g = {};
    g.p = &p;
    g.what = read_measure(argc, argv, 1);
    g.length = g.what == KENDALL ? pairs_of(p.n_obs) : p.n_obs;
    int64_t wanted = (int64_t)(density * (double)pairs_of(p.n_var) + 0.5), at_most = 0;
    start_gpu();
    g.blas = start_blas();
    double start = seconds_now();
    load_data(&g);
    allocate_block(&g);
    float threshold = find_threshold(&g, wanted, &at_most);
    network net = new_network(&p, g.what, threshold, at_most);
    build_network(&g, &net);
    int wrong = report_network(&net, seconds_now() - start, wanted);
    free_network(&net);
    free_gpu(&g);
    free(p.x);
    return wrong;
}
