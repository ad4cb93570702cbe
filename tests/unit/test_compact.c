/* Compact coefficients: the position of every value, numerators and doubles to the last bit, and the buffer cache. */
#include "check.h"
#include "fixture.h"

#include "../../src/measure/coefficient.h"
#include "../../src/base/alloc.h"
#include "../../src/sink/dense.h"

#include <stdlib.h>
#include <string.h>

static gcor_compact compact_new(gcor_form form, gcor_shape shape, int64_t n_var) {
    int64_t n = gcor_triangular(n_var - 1);
    return (gcor_compact){.form = form,
                          .shape = shape,
                          .n_var = n_var,
                          .n = n,
                          .values = malloc((size_t)(n + 1) * GCOR_COMPACT_BYTES),
                          .norm = malloc((size_t)n_var * sizeof(double)),
                          .missing = -7};
}

static void compact_free(gcor_compact *compact) {
    free(compact->values);
    free(compact->norm);
}

/* ---- tiles --------------------------------------------------------------------------------------- */

static int64_t position_of(gcor_shape shape, int64_t row, int64_t col, int64_t n) {
    return shape == GCOR_LOWER ? gcor_column_position(col, row) : gcor_row_position(row, col, n);
}

/* A tile whose values are their positions. */
static void take_positions(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    int32_t *values = malloc((size_t)(tile->n_row * tile->n_col + 1) * sizeof *values);
    int64_t at = 0;
    for (int64_t row = tile->row; row < tile->row + tile->n_row; row++) {
        int64_t col, n;
        gcor_tile_segment(tile, sink->shape, row, &col, &n);
        for (int64_t k = 0; k < n; k++) values[at++] = (int32_t)position_of(sink->shape, row, col + k, sink->n_col);
    }
    gcor_compact_take_tile(sink, context, tile, values);
    free(values);
}

/* Tiles of n_row x n_col, in any order. */
static void tile_positions(const gcor_compact *to, int64_t n_row, int64_t n_col) {
    unit_call call;
    gcor_sink *sink;
    unit_call_begin(&call, 3);
    CHECK_INT(gcor_compact_sink_new(&call.context, to, &sink), GCOR_OK);
    memset(to->values, 0xff, (size_t)to->n * GCOR_COMPACT_BYTES);
    int64_t rows = (to->n_var + n_row - 1) / n_row, cols = (to->n_var + n_col - 1) / n_col;
    int *order = unit_permutation((int)(rows * cols));
    for (int64_t k = 0; k < rows * cols; k++) {
        int64_t row = order[k] / cols * n_row, col = order[k] % cols * n_col;
        gcor_tile tile = {row, gcor_clamp(to->n_var - row, 0, n_row), col, gcor_clamp(to->n_var - col, 0, n_col)};
        take_positions(sink, &call.context, &tile);
    }
    for (int64_t k = 0; k < to->n; k++) CHECK_INT(((const int32_t *)to->values)[k], k);
    free(order);
    gcor_sink_free(sink);
}

static void tiles_go_where_they_belong(void) {
    const int64_t sizes[] = {2, 5, 64, 65, 300, 1500}, sides[] = {1, 16, 64, 128, 4096};
    for (int s = 0; s < 6; s++)
        for (gcor_shape shape = GCOR_UPPER; shape <= GCOR_LOWER; shape++)
            for (int touched = 0; touched < 2; touched++) {
                gcor_compact to = compact_new(GCOR_AS_COUNTS, shape, sizes[s]);
                to.is_prefaulted = touched;
                for (int r = sizes[s] > 1000 ? 2 : sizes[s] > 100; r < 5; r++) /* skip tiny tiles of large problems */
                    for (int c = r; c < 5; c++) {
                        unit_about("%d variables, shape %d, tiles %d x %d", (int)sizes[s], (int)shape, (int)sides[r],
                                   (int)sides[c]);
                        tile_positions(&to, sides[r], sides[c]);
                    }
                compact_free(&to);
            }
}

/* ---- values ------------------------------------------------------------------------------------------ */

/* Numerators that are delivered as doubles, up to the largest possible. */
static void numerators_come_back(void) {
    enum { N_VAR = 400 };
    gcor_compact to = compact_new(GCOR_AS_COUNTS, GCOR_UPPER, N_VAR);
    unit_call call;
    gcor_sink *sink;
    unit_call_begin(&call, 1);
    unit_seed(3);
    CHECK_INT(gcor_compact_sink_new(&call.context, &to, &sink), GCOR_OK);
    int64_t max = gcor_obs_pairs(GCOR_COMPACT_OBS);
    for (int j = 0; j < N_VAR; j++) to.norm[j] = (double)(j % 3 ? max - unit_random(1000) : 1 + unit_random(max));
    to.norm[5] = 0, to.norm[6] = -1, to.norm[7] = NAN;
    for (int64_t row = 0; row < N_VAR - 1; row++) {
        double r[N_VAR];
        int32_t product[N_VAR];
        gcor_segment segment = {.row = row, .col = row + 1, .n = N_VAR - 1 - row, .doubles = r};
        for (int64_t k = 0; k < segment.n; k++) {
            double bound = floor(sqrt(fmax(0, to.norm[row] * to.norm[row + 1 + k])));
            int64_t p = bound >= 1 ? (int64_t)bound - unit_random(k % 2 ? 3 : 2 * (int64_t)bound + 1) : 0;
            product[k] = (int32_t)p;
            r[k] = gcor_coefficient((double)p, to.norm[row], to.norm[row + 1 + k]);
        }
        CHECK_INT(sink->type->take(sink, &call.context, 0, &segment), GCOR_OK);
        for (int64_t k = 0; k < segment.n; k++) {
            int64_t at = gcor_row_position(row, row + 1 + k, N_VAR);
            double read = gcor_compact_at(&to, at), expected = r[k] > 1 ? to.missing : r[k];
            if (r[k] <= 1) CHECK_INT(((const int32_t *)to.values)[at], product[k]);
            CHECK(memcmp(&read, &expected, sizeof read) == 0 || (read != read && expected != expected));
        }
    }
    gcor_sink_free(sink);
    compact_free(&to);
}

/* Compares a run's values as doubles and in compact form. */
static void check_run(unit_problem *problem, gcor_shape shape, gcor_form form) {
    int64_t n_var = problem->x->n_var;
    gcor_compact to = compact_new(form, shape, n_var);
    gcor_layout layout = shape == GCOR_UPPER ? GCOR_TRIANGLE_ROWS : GCOR_TRIANGLE_COLUMNS;
    double *plain = malloc((size_t)to.n * sizeof *plain), *read = malloc((size_t)to.n * sizeof *read);
    unit_call call;
    gcor_dense *dense;
    gcor_sink *sink;
    unit_call_begin(&call, 2);
    CHECK_INT(gcor_dense_new(&call.context, layout, n_var, n_var, plain, to.n, to.missing, &dense), GCOR_OK);
    dense->sink.form = form == GCOR_AS_FLOATS ? form : GCOR_AS_DOUBLES;
    problem->x_norm = NULL;
    CHECK_INT(unit_run(problem, &dense->sink), GCOR_OK);
    CHECK_INT(gcor_compact_sink_new(&call.context, &to, &sink), GCOR_OK);
    problem->x_norm = to.norm;
    CHECK_INT(unit_run(problem, sink), GCOR_OK);
    gcor_compact_widen(&to, 3, read);
    CHECK(memcmp(plain, read, (size_t)to.n * sizeof *read) == 0);
    CHECK_INT(gcor_compact_zero_sd(&to), dense->zero_sd);
    for (int64_t first = 0; first < to.n; first += 1 + unit_random(200)) {
        int64_t n = 1 + unit_random(to.n - first < 300 ? to.n - first : 300);
        gcor_compact_read(&to, first, n, read);
        CHECK(memcmp(plain + first, read, (size_t)n * sizeof *read) == 0);
    }
    gcor_sink_free(sink);
    gcor_sink_free(&dense->sink);
    free(plain);
    free(read);
    compact_free(&to);
}

static void doubles_follow_to_the_last_bit(void) {
    const char *measures[] = {"pearson", "kendall", "spearman"};
    unit_problem *problem = malloc(sizeof *problem);
    for (int m = 0; m < 3; m++)
        for (int64_t n_obs = 3; n_obs < 600; n_obs = 3 * n_obs + 1)
            for (gcor_shape shape = GCOR_UPPER; shape <= GCOR_LOWER; shape++) {
                unit_about("%s, %d observations, shape %d", measures[m], (int)n_obs, (int)shape);
                unit_data x = unit_data_new(n_obs, 150, m == 1 ? UNIT_COMPLETE : UNIT_SPOILT);
                unit_problem_of(problem, &x.matrix.source, NULL);
                problem->measure = unit_measure(measures[m]);
                problem->use = GCOR_EVERYTHING;
                problem->threads = 2;
                check_run(problem, shape, m == 1 ? GCOR_AS_COUNTS : GCOR_AS_FLOATS);
                unit_data_free(&x);
            }
    free(problem);
}

static void extremes_are_the_first_of_equals(void) {
    gcor_compact to = compact_new(GCOR_AS_FLOATS, GCOR_UPPER, 1700);
    float *value = to.values;
    for (int64_t k = 0; k < to.n; k++) value[k] = 0.5f;
    value[to.n / 2] = 0.0f, value[to.n - 1] = -0.0f;
    CHECK(gcor_compact_extreme(&to, 0, 3) == 0 && !signbit(gcor_compact_extreme(&to, 0, 3)));
    CHECK(gcor_compact_extreme(&to, 1, 3) == 0.5);
    to.is_distance = 1;
    CHECK(gcor_compact_extreme(&to, 1, 3) == 1);
    value[9] = NAN;
    CHECK(isnan(gcor_compact_extreme(&to, 1, 3)) && isnan(gcor_compact_extreme(&to, 0, 1)));
    compact_free(&to);
}

/* ---- memory --------------------------------------------------------------------------------------------- */

static void memory_stays_for_the_next(void) {
    const int64_t megabyte = 1 << 20;
    unit_call call;
    unit_call_begin(&call, 1);
    gcor_buffers_limit(64 * megabyte);
    gcor_buffer a = gcor_buffer_take(&call.context, 20 * megabyte, "a"), b = gcor_buffer_take(&call.context, 100, "b");
    CHECK(a.at && b.at && a.is_mapped && !b.is_mapped && !a.is_recycled);
    CHECK_INT((uintptr_t)a.at % (2 * megabyte), 0);
    memset(a.at, 1, (size_t)(20 * megabyte));
    void *position = a.at;
    gcor_buffer_give(&a);
    gcor_buffer_give(&b);
    CHECK(!a.at && !b.at && gcor_buffers_used() == 0);
    CHECK_INT(gcor_buffers_cached(), 20 * megabyte);
    CHECK(gcor_buffers_has(20 * megabyte) && !gcor_buffers_has(20 * megabyte + 1));
    a = gcor_buffer_take(&call.context, 10 * megabyte, "a smaller one");
    CHECK(a.at == position && a.is_recycled);
    memset(a.at, 2, (size_t)(10 * megabyte));
    CHECK_INT(gcor_buffers_cached(), 10 * megabyte);
    b = gcor_buffer_take(&call.context, 11 * megabyte, "a larger one");
    CHECK(b.at && !b.is_recycled);
    gcor_buffer_give(&a);
    gcor_buffer_give(&b);
    CHECK_INT(gcor_buffers_cached(), 32 * megabyte);
    gcor_buffers_limit(12 * megabyte); /* the most recent one is kept */
    CHECK_INT(gcor_buffers_cached(), 12 * megabyte);
    a = gcor_buffer_take(&call.context, 13 * megabyte, "more than may stay");
    gcor_buffer_give(&a);
    CHECK_INT(gcor_buffers_cached(), 12 * megabyte);
    gcor_buffers_limit(0);
    CHECK_INT(gcor_buffers_cached(), 0);
    a = gcor_buffer_take(&call.context, (int64_t)1 << 55, "too much");
    CHECK(!a.at);
    CHECK_INT(call.context.error.status, GCOR_NO_MEMORY);
    CHECK_TEXT(call.context.error.message, "cannot allocate");
    gcor_buffers_limit(-1);
}

const unit_test compact_tests[] = {
    {"tiles go where they belong", tiles_go_where_they_belong},
    {"numerators come back", numerators_come_back},
    {"doubles follow to the last bit", doubles_follow_to_the_last_bit},
    {"extremes are the first of equals", extremes_are_the_first_of_equals},
    {"memory stays for the next", memory_stays_for_the_next},
    {NULL, NULL},
};
