/* Compressed rows from a store to a file that has room for them: a band of rows is put together, and all threads write
 * it in stretches. */
#include "run.h"

#include "../../base/alloc.h"
#include "../../base/threads.h"

/* Entries that a thread writes at a time: 768 KB. A file system lets one of them write to a file, while others make
 * their stretches ready; more would wait. */
enum { STRETCH = 1 << 16, WRITERS = 4 };

typedef struct {
    gcor_run_file *file;
    const gcor_positions *positions;
    int64_t done;  /* entries that are in the file */
    void *col, *r; /* a band's */
    int64_t col_capacity, r_capacity;
    float *values;    /* a stretch of each thread */
    int64_t *columns; /* likewise */
} writer;

static gcor_status write_stretch(const writer *w, gcor_context *context, int64_t first, int64_t n) {
    float *values = w->values + (int64_t)omp_get_thread_num() * STRETCH;
    int64_t *columns = w->columns + (int64_t)omp_get_thread_num() * STRETCH, at = w->done + first;
    const double *r = (const double *)w->r + first;
    const int32_t *col = (const int32_t *)w->col + first;
    for (int64_t e = 0; e < n; e++) {
        values[e] = (float)r[e];
        columns[e] = col[e];
    }
    const gcor_positions *positions = w->positions;
    gcor_status status = gcor_run_file_write(w->file, context, positions->r + at * (int64_t)sizeof *values, values,
                                             n * (int64_t)sizeof *values);
    if (status) return status;
    return gcor_run_file_write(w->file, context, positions->col + at * (int64_t)sizeof *columns, columns,
                               n * (int64_t)sizeof *columns);
}

static int writers_of(const gcor_context *context) {
    return context->threads < WRITERS ? context->threads : WRITERS;
}

static gcor_status write_band(writer *w, gcor_context *context, int64_t n) {
#pragma omp parallel for num_threads(writers_of(context)) schedule(dynamic)
    for (int64_t first = 0; first < n; first += STRETCH)
        if (!gcor_stop(context)) (void)write_stretch(w, context, first, n - first < STRETCH ? n - first : STRETCH);
    w->done += n;
    return context->error.status;
}

static gcor_status reserve(writer *w, gcor_context *context, int64_t n) {
    const char *what = "the network's rows";
    gcor_status status = gcor_grow(context, &w->col, 0, &w->col_capacity, n, sizeof(int32_t), what);
    return status ? status : gcor_grow(context, &w->r, 0, &w->r_capacity, n, sizeof(double), what);
}

static gcor_status open_writer(writer *w, gcor_context *context) {
    gcor_status status = gcor_run_file_open(context, w->positions->path, 1, &w->file);
    if (status) return status;
    int64_t n = (int64_t)writers_of(context) * STRETCH;
    w->values = gcor_alloc(context, n, sizeof *w->values, "the network's rows");
    if (!w->values) return GCOR_NO_MEMORY;
    w->columns = gcor_alloc(context, n, sizeof *w->columns, "the network's rows");
    return w->columns ? GCOR_OK : GCOR_NO_MEMORY;
}

static void close_writer(writer *w) {
    gcor_run_file_leave(w->file);
    gcor_free(w->values);
    gcor_free(w->columns);
    gcor_free(w->col);
    gcor_free(w->r);
}

gcor_status gcor_store_write(const gcor_store *store, gcor_context *context, double min, gcor_view view,
                             const int32_t *entries, int64_t max, const gcor_positions *positions) {
    const gcor_sink *sink = &store->edges.sink;
    int64_t n_row = view == GCOR_COLUMNS ? sink->n_col : sink->n_row;
    writer w = {.positions = positions};
    gcor_status status = open_writer(&w, context);
    for (int64_t row = 0, rows; !status && row < n_row; row += rows) {
        int64_t n = 0;
        rows = gcor_band_rows(store, view, entries, row, max);
        for (int64_t i = row; i < row + rows; i++) n += entries[i];
        status = reserve(&w, context, n);
        if (!status) status = gcor_store_band(store, context, min, view, entries, row, rows, w.col, w.r);
        if (!status) status = write_band(&w, context, n);
    }
    close_writer(&w);
    return status;
}
