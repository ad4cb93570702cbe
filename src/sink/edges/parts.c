#include "parts.h"

#include "../../base/alloc.h"
#include "../file.h"

int64_t gcor_rows_of_part(const gcor_edge_run *run) {
    enum { EDGES = 1 << 16 };
    int64_t rows = (int64_t)((double)run->n_row * EDGES / (double)run->n);
    return rows < 1 ? 1 : rows;
}

void gcor_free_reader(gcor_edge_reader *own) {
    gcor_free(own->start);
    gcor_free(own->col);
    gcor_free(own->r);
}

static gcor_status fetch(const gcor_edge_run *run, gcor_context *context, int64_t position, void **memory,
                         int64_t *capacity, int64_t n, size_t size) {
    gcor_status status = gcor_grow(context, memory, 0, capacity, n, size, "the network's rows");
    return status ? status : gcor_run_file_read(run->file, context, run->offset + position, *memory, n * (int64_t)size);
}

/* Not more than was counted when the run was written or attached, whatever has become of the file. */
static int are_starts(const int32_t *start, int64_t n_row, int64_t n) {
    int sound = start[0] >= 0 && start[n_row] <= n;
    for (int64_t i = 0; i < n_row; i++) sound &= start[i] <= start[i + 1];
    return sound;
}

gcor_status gcor_read_part(const gcor_edge_part *part, gcor_context *context, gcor_edge_reader *own, int values,
                           gcor_edges_view *seen) {
    const gcor_edge_run *run = part->run;
    int64_t row = part->row - run->row;
    if (!run->file) {
        *seen = (gcor_edges_view){run->start + row, run->col, run->r, 0};
        return GCOR_OK;
    }
    gcor_status status = fetch(run, context, 12 * run->n + 4 * row, &own->start, &own->start_capacity, part->n_row + 1,
                               4);
    if (status) return status;
    const int32_t *start = own->start;
    if (!are_starts(start, part->n_row, run->n)) return gcor_damaged(context);
    int64_t base = start[0], n = start[part->n_row] - base;
    status = fetch(run, context, 8 * run->n + 4 * base, &own->col, &own->col_capacity, n, 4);
    if (!status && values) status = fetch(run, context, 8 * base, &own->r, &own->r_capacity, n, 8);
    *seen = (gcor_edges_view){start, own->col, own->r, base};
    return status;
}
