/* Stores whose chunks are in files, spooled or attached: counts, ranks and rows equal those of a store in memory. Bands
 * of rows equal the rows taken at once. */
#include "check.h"
#include "device.h"
#include "results.h"
#include "system.h"

#include "../../src/base/alloc.h"
#include "../../src/sink/edges/store.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#if UNIT_HAS_FORK
#include <signal.h>
#include <sys/resource.h>
#endif

enum { N_OBS = 30, N_X = 110, N_Y = 70, SHARDS = 3, MAX = 5000 };

typedef struct {
    unit_problem problem;
    unit_data x, y;
    unit_call call;
} fixture;

static fixture *new_fixture(int threads) {
    fixture *f = malloc(sizeof *f);
    unit_seed(21);
    f->x = unit_data_new(N_OBS, N_X, UNIT_SPOILT);
    f->y = unit_data_new(N_OBS, N_Y, UNIT_SPOILT);
    unit_devices_reset();
    unit_call_begin(&f->call, threads);
    return f;
}

static void set_problem(fixture *f, gcor_shape shape) {
    unit_problem_of(&f->problem, &f->x.matrix.source, shape == GCOR_FULL ? &f->y.matrix.source : NULL);
    f->problem.backend = &unit_device;
    f->problem.measure = unit_measure("kendall"); /* has few distinct values, so that many tie */
    f->problem.use = GCOR_PAIRWISE;
    f->problem.threads = f->call.context.threads;
}

static void free_fixture(fixture *f) {
    unit_data_free(&f->x);
    unit_data_free(&f->y);
    free(f);
    CHECK_INT(gcor_live(GCOR_HOST_MEMORY), 0);
}

/* ---- stores of the same edges ------------------------------------------------------------------ */

static gcor_store *empty_store(fixture *f, gcor_shape shape, double min) {
    gcor_edge_rule rule = {.side = GCOR_ABSOLUTE, .min = min, .ceiling = 2};
    gcor_store *store;
    CHECK_INT(gcor_store_new(&f->call.context, shape, shape == GCOR_FULL ? N_Y : N_X, N_X, rule, INT64_MAX / 2, &store),
              GCOR_OK);
    return store;
}

/* budget: bytes in memory; below 0: no limit. */
static gcor_store *found_store(fixture *f, gcor_shape shape, double min, int64_t budget, gcor_shard shard) {
    gcor_store *store = empty_store(f, shape, min);
    if (budget >= 0) CHECK_INT(gcor_store_spool(store, &f->call.context, unit_folder(), budget), GCOR_OK);
    f->problem.shard = shard;
    CHECK_INT(unit_run(&f->problem, &store->edges.sink), GCOR_OK);
    return store;
}

/* Saves a shard's store, `offset` bytes after the beginning of the file. */
static void save_shard(fixture *f, gcor_shape shape, double min, gcor_shard shard, int64_t offset, const char *path) {
    gcor_store *store = found_store(f, shape, min, shard.index % 2 ? 1 : -1, shard);
    FILE *file = fopen(path, "wb");
    for (int64_t k = 0; k < offset; k++) fputc('x', file);
    CHECK_INT(gcor_sink_save(&store->edges.sink, &f->call.context, &shard, file), GCOR_OK);
    fclose(file);
    gcor_sink_free(&store->edges.sink);
}

static void name_file(char *path, size_t size) {
    snprintf(path, size, "%s/gpucor-unit-XXXXXX", unit_folder());
    close(mkstemp(path));
}

/* The files are unlinked once they are attached. */
static gcor_store *attached_store(fixture *f, gcor_shape shape, double min) {
    gcor_store *store = empty_store(f, shape, min);
    for (int k = 0; k < SHARDS; k++) {
        char path[FILENAME_MAX];
        int64_t end = 0;
        name_file(path, sizeof path);
        save_shard(f, shape, min, (gcor_shard){k, SHARDS}, 5 * k, path);
        CHECK_INT(gcor_store_attach(store, &f->call.context, path, 5 * k, &end), GCOR_OK);
        FILE *file = fopen(path, "rb");
        CHECK_INT(fseek(file, 0, SEEK_END), 0);
        CHECK_INT(ftell(file), end);
        fclose(file);
        (void)unlink(path);
    }
    return store;
}

/* ---- bands against all rows ------------------------------------------------------------------ */

/* All stored edges as rows. */
typedef struct {
    int64_t n_row, n_col;
    int32_t *start, *col;
    double *r;
    double *values; /* n_row x n_col, row by row; NaN where there is none */
} all_rows;

static all_rows rows_of(fixture *f, gcor_store *store, double min) {
    all_rows rows = {.n_row = store->edges.sink.n_row, .n_col = store->edges.sink.n_col};
    gcor_context *context = &f->call.context;
    rows.start = calloc((size_t)rows.n_row + 1, sizeof *rows.start);
    CHECK_INT(gcor_store_starts(store, context, min, rows.n_row, rows.start), GCOR_OK);
    rows.col = calloc((size_t)rows.start[rows.n_row] + 1, sizeof *rows.col);
    rows.r = calloc((size_t)rows.start[rows.n_row] + 1, sizeof *rows.r);
    CHECK_INT(gcor_store_rows(store, context, min, rows.n_row, rows.start, rows.col, rows.r), GCOR_OK);
    rows.values = malloc((size_t)(rows.n_row * rows.n_col) * sizeof *rows.values);
    for (int64_t k = 0; k < rows.n_row * rows.n_col; k++) rows.values[k] = NAN;
    for (int64_t row = 0; row < rows.n_row; row++)
        for (int32_t e = rows.start[row]; e < rows.start[row + 1]; e++)
            rows.values[row * rows.n_col + rows.col[e]] = rows.r[e];
    gcor_sink_free(&store->edges.sink);
    return rows;
}

static void free_rows(all_rows *rows) {
    free(rows->start);
    free(rows->col);
    free(rows->r);
    free(rows->values);
}

static void check_same_rows(const all_rows *a, const all_rows *b) {
    CHECK(memcmp(a->start, b->start, ((size_t)a->n_row + 1) * sizeof *a->start) == 0);
    CHECK(memcmp(a->col, b->col, (size_t)a->start[a->n_row] * sizeof *a->col) == 0);
    CHECK(memcmp(a->r, b->r, (size_t)a->start[a->n_row] * sizeof *a->r) == 0);
}

/* Returns the value of a view at (row, col). */
static double expected(const all_rows *rows, gcor_view view, int64_t row, int64_t col) {
    int swapped = view == GCOR_COLUMNS || (view == GCOR_BOTH_HALVES && col > row);
    return swapped ? rows->values[col * rows->n_col + row] : rows->values[row * rows->n_col + col];
}

static void check_row(const all_rows *rows, gcor_view view, double min, int64_t row, int32_t n, const int32_t *col,
                      const double *r) {
    int32_t at = 0;
    for (int64_t c = 0; c < (view == GCOR_COLUMNS ? rows->n_row : rows->n_col); c++) {
        double value = expected(rows, view, row, c);
        if (!(fabs(value) >= min)) continue;
        if (!CHECK(at < n)) return;
        CHECK_INT(col[at], c);
        CHECK(r[at] == value);
        at++;
    }
    CHECK_INT(at, n);
}

static void check_bands(fixture *f, gcor_store *store, const all_rows *rows, gcor_view view, double min, int64_t max) {
    int64_t n_row = view == GCOR_COLUMNS ? rows->n_col : rows->n_row, n = 0;
    int32_t *entries = calloc((size_t)n_row + 1, sizeof *entries);
    CHECK_INT(gcor_store_entries(store, &f->call.context, min, view, entries), GCOR_OK);
    for (int64_t first = 0; first < n_row; first += n) {
        int64_t total = 0, at = 0;
        n = gcor_band_rows(store, view, entries, first, max);
        if (!CHECK(n > 0 && first + n <= n_row)) break;
        for (int64_t row = first; row < first + n; row++) total += entries[row];
        CHECK(total <= max || n == 1);
        int32_t *col = calloc((size_t)total + 1, sizeof *col);
        double *r = calloc((size_t)total + 1, sizeof *r);
        CHECK_INT(gcor_store_band(store, &f->call.context, min, view, entries, first, n, col, r), GCOR_OK);
        for (int64_t row = first; row < first + n; at += entries[row++])
            check_row(rows, view, min, row, entries[row], col + at, r + at);
        free(col);
        free(r);
    }
    free(entries);
}

static void check_views(fixture *f, gcor_store *store, const all_rows *rows, double min) {
    const int64_t maxima[] = {20, INT32_MAX};
    for (int k = 0; k < 2; k++) {
        unit_about("shape %d, least %g, at most %d", (int)store->edges.sink.shape, min, (int)maxima[k]);
        check_bands(f, store, rows, GCOR_ROWS, min, maxima[k]);
        check_bands(f, store, rows, GCOR_COLUMNS, min, maxima[k]);
        if (store->edges.sink.shape != GCOR_FULL) check_bands(f, store, rows, GCOR_BOTH_HALVES, min, maxima[k]);
    }
}

/* Compares with sums over both halves of the rows, which round once per edge. */
static void check_degrees(fixture *f, gcor_store *store, const all_rows *rows, double min) {
    int64_t degree[N_X];
    gcor_int128 strength[N_X];
    if (store->edges.sink.shape == GCOR_FULL) return;
    CHECK_INT(gcor_store_degrees(store, &f->call.context, min, degree, strength), GCOR_OK);
    for (int64_t j = 0; j < rows->n_col; j++) {
        int64_t found = 0;
        double sum = 0;
        for (int64_t i = 0; i < rows->n_row; i++) {
            double weight = fabs(expected(rows, GCOR_BOTH_HALVES, j, i));
            if (!(weight >= min)) continue;
            found++;
            sum += weight;
        }
        CHECK_INT(degree[j], found);
        CHECK_NEAR(gcor_fixed_value(strength[j]), sum, 1e-14 * sum);
    }
}

/* Compares all functions of a store with those of a store in memory. */
static void check_store(fixture *f, gcor_store *store, double min) {
    gcor_shape shape = store->edges.sink.shape;
    gcor_store *memory = found_store(f, shape, min, -1, (gcor_shard){0, 1});
    double a = 0, b = 0, tie = 0;
    int64_t m = 0, n = 0;
    CHECK_INT(store->count, memory->count);
    for (int64_t k = 1; k < 100000; k = 3 * k + 1) {
        CHECK_INT(gcor_store_rank(memory, &f->call.context, k, &a), GCOR_OK);
        CHECK_INT(gcor_store_rank(store, &f->call.context, k, &b), GCOR_OK);
        CHECK(a == b);
        CHECK_INT(gcor_store_count(memory, &f->call.context, a, &m), GCOR_OK);
        CHECK_INT(gcor_store_count(store, &f->call.context, a, &n), GCOR_OK);
        CHECK_INT(n, m);
        if (a > 0 && isfinite(a)) tie = a;
    }
    all_rows rows = rows_of(f, memory, 0);
    check_views(f, store, &rows, 0);
    check_views(f, store, &rows, tie);
    check_degrees(f, store, &rows, 0);
    check_degrees(f, store, &rows, tie);
    check_views(f, store, &rows, 3);
    all_rows again = rows_of(f, store, 0);
    check_same_rows(&rows, &again);
    free_rows(&rows);
    free_rows(&again);
}

static void check_stores(int threads, double min) {
    const gcor_shape shapes[] = {GCOR_LOWER, GCOR_FULL};
    const gcor_shard all = {0, 1};
    fixture *f = new_fixture(threads);
    for (int s = 0; s < 2; s++) {
        set_problem(f, shapes[s]);
        check_store(f, found_store(f, shapes[s], min, -1, all), min);
        check_store(f, found_store(f, shapes[s], min, 0, all), min);
        check_store(f, found_store(f, shapes[s], min, 20000, all), min);
        f->problem.devices = 3;
        check_store(f, found_store(f, shapes[s], min, 5000, all), min);
        f->problem.devices = 1;
        check_store(f, attached_store(f, shapes[s], min), min);
    }
    free_fixture(f);
}

static void chunks_in_files(void) {
    check_stores(1, 0.2);
    check_stores(3, 0);
    check_stores(2, 1.5); /* no edges */
}

/* The chunks in memory are within the budget. */
static void within_the_budget(void) {
    fixture *f = new_fixture(2);
    set_problem(f, GCOR_LOWER);
    for (int64_t budget = 0; budget < 40000; budget += 13000) {
        gcor_store *store = found_store(f, GCOR_LOWER, 0, budget, (gcor_shard){0, 1});
        int64_t bytes = 0, in_files = 0;
        for (int64_t k = 0; k < store->n_chunks; k++) {
            if (store->chunks[k].r) bytes += 12 * store->chunks[k].n;
            in_files += store->chunks[k].file != NULL;
        }
        CHECK(bytes <= budget);
        CHECK(in_files > 0);
        CHECK(budget == 0 || bytes > 0);
        gcor_sink_free(&store->edges.sink);
    }
    free_fixture(f);
}

/* A tile as wide as a GPU's, delivered in two halves; each `every`-th pair is an edge. */
enum { WIDE_ROWS = 40, WIDE_COLS = 20000 };

static gcor_store *wide_store(unit_call *call, int every, int64_t budget) {
    gcor_edge_rule rule = {.side = GCOR_ABSOLUTE, .min = 0, .ceiling = 2};
    gcor_context *context = &call->context;
    gcor_store *store;
    gcor_edge *list = malloc(WIDE_ROWS * (WIDE_COLS / every + 1) * sizeof *list);
    CHECK_INT(gcor_store_new(context, GCOR_FULL, WIDE_ROWS, WIDE_COLS, rule, INT64_MAX / 2, &store), GCOR_OK);
    if (budget >= 0) CHECK_INT(gcor_store_spool(store, context, unit_folder(), budget), GCOR_OK);
    for (int64_t half = 0; half < 2; half++) {
        gcor_tile tile = {half * WIDE_ROWS / 2, WIDE_ROWS / 2, 0, WIDE_COLS};
        int64_t n = 0, end = (half + 1) * WIDE_COLS * WIDE_ROWS / 2;
        for (int64_t k = half * WIDE_COLS * WIDE_ROWS / 2; k < end; k++)
            if (k * 7919 % every == 0)
                list[n++] = (gcor_edge){(int32_t)(k / WIDE_COLS), (int32_t)(k % WIDE_COLS), (double)k / 1e9 + 0.1};
        CHECK_INT(store->edges.keep_tile(&store->edges, context, &tile, list, n), GCOR_OK);
    }
    free(list);
    return store;
}

static void wide_tiles(void) {
    for (int threads = 1; threads <= 3; threads += 2)
        for (int every = 7; every < 2000; every *= 13) {
            fixture *f = new_fixture(threads);
            unit_about("one pair in %d, %d threads", every, threads);
            gcor_store *whole = wide_store(&f->call, every, -1), *in_memory = wide_store(&f->call, every, 1 << 30);
            gcor_store *in_file = wide_store(&f->call, every, 0);
            CHECK_INT(whole->n_chunks, 2);
            CHECK_INT(in_file->n_chunks,
                      every < 10 ? 10 : 2); /* five blocks of columns, or one if there are few edges */
            CHECK_INT(in_memory->n_chunks, in_file->n_chunks);
            all_rows rows = rows_of(f, whole, 0);
            check_bands(f, in_file, &rows, GCOR_COLUMNS, 0, 1000);
            check_bands(f, in_memory, &rows, GCOR_COLUMNS, 0.1003, INT32_MAX);
            check_bands(f, in_file, &rows, GCOR_ROWS, 0, 1000);
            all_rows again = rows_of(f, in_memory, 0), read = rows_of(f, in_file, 0);
            check_same_rows(&rows, &again);
            check_same_rows(&rows, &read);
            free_rows(&rows);
            free_rows(&again);
            free_rows(&read);
            free_fixture(f);
        }
}

/* Edges of a matrix with more pairs than the positions of one chunk can distinguish, one edge per row, before and after
 * unpermuting. */
static void far_apart(void) {
    enum { SIDE = 100000, N = 3000, STEP = 33 };
    const gcor_edge_rule rule = {.side = GCOR_ABSOLUTE, .min = 0, .ceiling = 2};
    const gcor_tile all = {0, SIDE, 0, SIDE};
    unit_call call;
    gcor_store *store;
    gcor_edge *list = malloc(N * sizeof *list);
    int32_t *names = malloc(SIDE * sizeof *names), *start = malloc((SIDE + 1) * sizeof *start), *col = malloc(4 * N);
    double *r = malloc(N * sizeof *r);
    for (int64_t k = 0; k < N; k++)
        list[k] = (gcor_edge){(int32_t)((N - 1 - k) * STEP), (int32_t)(k * 7919 % SIDE), (double)k / N};
    for (int32_t j = 0; j < SIDE; j++) names[j] = SIDE - 1 - j;
    unit_call_begin(&call, 3);
    CHECK_INT(gcor_store_new(&call.context, GCOR_FULL, SIDE, SIDE, rule, INT32_MAX, &store), GCOR_OK);
    CHECK_INT(store->edges.keep_tile(&store->edges, &call.context, &all, list, N), GCOR_OK);
    CHECK_INT(store->n_chunks, 4); /* 17 bits for a column leave 15 for a row */
    CHECK_INT(store->edges.sink.type->unpermute(&store->edges.sink, &call.context, names, NULL), GCOR_OK);
    CHECK_INT(gcor_store_starts(store, &call.context, 0, SIDE, start), GCOR_OK);
    CHECK_INT(start[SIDE], N);
    CHECK_INT(gcor_store_rows(store, &call.context, 0, SIDE, start, col, r), GCOR_OK);
    for (int64_t k = 0; k < N; k++) {
        int32_t at = start[names[list[k].row]];
        CHECK_INT(start[names[list[k].row] + 1] - at, 1);
        CHECK_INT(col[at], list[k].col);
        CHECK(r[at] == list[k].r);
    }
    gcor_sink_free(&store->edges.sink);
    CHECK_INT(gcor_live(GCOR_HOST_MEMORY), 0);
    free(list);
    free(names);
    free(start);
    free(col);
    free(r);
}

/* ---- failures ------------------------------------------------------------------------------------ */

static void write_bytes(const char *path, const char *bytes, size_t n) {
    FILE *file = fopen(path, "wb");
    CHECK_INT(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

static size_t read_bytes(const char *path, char **bytes) {
    FILE *file = fopen(path, "rb");
    fseek(file, 0, SEEK_END);
    size_t n = (size_t)ftell(file);
    rewind(file);
    *bytes = malloc(n);
    CHECK_INT(fread(*bytes, 1, n, file), n);
    fclose(file);
    return n;
}

static gcor_status attach(gcor_store *store, const char *path, gcor_error *error) {
    unit_call call;
    unit_call_begin(&call, 2);
    gcor_status status = gcor_store_attach(store, &call.context, path, 0, NULL);
    CHECK_INT(call.context.error.status, status);
    *error = call.context.error;
    return status;
}

static void damaged_files(void) {
    fixture *f = new_fixture(2);
    gcor_error error;
    char path[64], *bytes;
    set_problem(f, GCOR_LOWER);
    name_file(path, sizeof path);
    save_shard(f, GCOR_LOWER, 0.3, (gcor_shard){0, 1}, 0, path);
    size_t size = read_bytes(path, &bytes);
    gcor_store *store = empty_store(f, GCOR_LOWER, 0.3);
    for (size_t n = 0; n < size; n += n < 300 ? 1 : 1 + (size_t)unit_random((int64_t)size / 50)) {
        unit_about("%lld of %lld bytes", (long long)n, (long long)size);
        write_bytes(path, bytes, n);
        CHECK_INT(attach(store, path, &error), GCOR_BAD_FILE);
        CHECK_TEXT(error.message, "cut off");
        CHECK_INT(store->n_chunks, 0);
        char bits = (char)(1 + unit_random(255));
        bytes[n] ^= bits;
        write_bytes(path, bytes, size);
        bytes[n] ^= bits;
        gcor_store *other = empty_store(f, GCOR_LOWER, 0.3);
        gcor_status status = attach(other, path, &error);
        CHECK(status == GCOR_OK || status == GCOR_BAD_FILE);
        int64_t degree[N_X];
        gcor_int128 strength[N_X];
        status = gcor_store_degrees(other, &f->call.context, 0, degree, strength);
        CHECK(status == GCOR_OK || status == GCOR_BAD_FILE);
        f->call.context.error.status = GCOR_OK;
        all_rows rows = rows_of(f, other, 0);
        free_rows(&rows);
    }
    write_bytes(path, bytes, size);
    CHECK_INT(attach(store, "/nowhere/at/all", &error), GCOR_BAD_FILE);
    CHECK_TEXT(error.message, "No such file");
    CHECK_INT(attach(store, path, &error), GCOR_OK);
    CHECK_INT(truncate(path, (off_t)size - 100), 0); /* as if by another process */
    int32_t entries[N_X];
    unit_call call;
    unit_call_begin(&call, 2);
    CHECK_INT(gcor_store_entries(store, &call.context, 0, GCOR_BOTH_HALVES, entries), GCOR_BAD_FILE);
    CHECK_TEXT(call.context.error.message, "cut off");
    int64_t degree[N_X];
    gcor_int128 strength[N_X];
    unit_call_begin(&call, 2);
    CHECK_INT(gcor_store_degrees(store, &call.context, 0, degree, strength), GCOR_BAD_FILE);
    gcor_sink_free(&store->edges.sink);
    free(bytes);
    (void)unlink(path);
    free_fixture(f);
}

static void folders_that_are_absent(void) {
    fixture *f = new_fixture(2);
    set_problem(f, GCOR_LOWER);
    gcor_store *store = empty_store(f, GCOR_LOWER, 0);
    CHECK_INT(gcor_store_spool(store, &f->call.context, "/nowhere/at/all", 0), GCOR_BAD_FILE);
    CHECK_TEXT(f->call.context.error.message, "temporary file in \"/nowhere/at/all\"");
    gcor_sink_free(&store->edges.sink);
    free_fixture(f);
}

static void full_disks(void) {
#if UNIT_HAS_FORK
    fixture *f = new_fixture(2);
    struct rlimit old, low;
    set_problem(f, GCOR_LOWER);
    gcor_store *store = empty_store(f, GCOR_LOWER, 0);
    CHECK_INT(gcor_store_spool(store, &f->call.context, unit_folder(), 1000), GCOR_OK);
    (void)signal(SIGXFSZ, SIG_IGN);
    CHECK_INT(getrlimit(RLIMIT_FSIZE, &old), 0);
    low = old;
    low.rlim_cur = 10000;
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &low), 0);
    gcor_status status = unit_run(&f->problem, &store->edges.sink);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &old), 0);
    CHECK_INT(status, GCOR_BAD_FILE);
    CHECK_TEXT(f->problem.error.message, "MB of edges to a temporary file");
    CHECK_TEXT(f->problem.error.message, "choose another disk");
    gcor_sink_free(&store->edges.sink);
    free_fixture(f);
#else
    unit_skip("Windows has no limit of a file's size");
#endif
}

/* Calls all functions of a store in a file, with the k-th allocation failing. Returns non-zero if none failed. */
static int work_short_of_memory(fixture *f, const char *path, int k) {
    const gcor_edge_rule rule = {.side = GCOR_ABSOLUTE, .min = 0.3, .ceiling = 2};
    int32_t entries[N_X], col[N_X * N_X];
    double r[N_X * N_X], weight;
    int64_t count, degree[N_X];
    gcor_int128 strength[N_X];
    gcor_store *store;
    unit_call_begin(&f->call, 3);
    gcor_context *context = &f->call.context;
    gcor_set_fault(GCOR_HOST_MEMORY, k);
    gcor_status status = gcor_store_new(context, GCOR_LOWER, N_X, N_X, rule, INT32_MAX, &store);
    if (!status) status = gcor_store_spool(store, context, unit_folder(), 1);
    if (!status) status = gcor_store_attach(store, context, path, 0, NULL);
    if (!status) status = gcor_store_count(store, context, 0.4, &count);
    if (!status) status = gcor_store_rank(store, context, 100, &weight);
    if (!status) status = gcor_store_degrees(store, context, 0.4, degree, strength);
    if (!status) status = gcor_store_entries(store, context, 0.4, GCOR_BOTH_HALVES, entries);
    if (!status) status = gcor_store_band(store, context, 0.4, GCOR_BOTH_HALVES, entries, 0, N_X, col, r);
    gcor_set_fault(GCOR_HOST_MEMORY, 0);
    gcor_sink_free(store ? &store->edges.sink : NULL);
    CHECK_INT(gcor_live(GCOR_HOST_MEMORY), 0);
    if (status) CHECK_INT(status, GCOR_NO_MEMORY);
    if (status) CHECK_TEXT(context->error.message, "cannot allocate");
    return !status;
}

static void no_memory(void) {
    fixture *f = new_fixture(3);
    char path[FILENAME_MAX];
    int k = 0;
    set_problem(f, GCOR_LOWER);
    name_file(path, sizeof path);
    save_shard(f, GCOR_LOWER, 0.3, (gcor_shard){0, 1}, 0, path);
    do {
        unit_about("allocation %d", ++k);
    } while (!work_short_of_memory(f, path, k) && k < MAX);
    CHECK(k > 20 && k < MAX);
    (void)unlink(path);
    free_fixture(f);
}

const unit_test bands_tests[] = {
    {"counts, ranks, rows and bands are the same from memory and from files", chunks_in_files},
    {"what is in memory is within the budget", within_the_budget},
    {"a wide tile is kept in blocks", wide_tiles},
    {"edges far apart are kept in several chunks", far_apart},
    {"files that are cut off or damaged are refused, and do no harm", damaged_files},
    {"a folder that is not there is an error", folders_that_are_absent},
    {"a disk that cannot be written to is an error", full_disks},
    {"what is done with files fails cleanly without memory", no_memory},
    {NULL, NULL},
};
