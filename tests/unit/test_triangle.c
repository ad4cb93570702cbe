/* Indices of pairs in a triangle, and pairs of tiles. */
#include "check.h"
#include "fixture.h"

#include "../../src/base/triangle.h"

/* Pairs in sequence have consecutive indices. */
static void positions_count_up(void) {
    for (int64_t n = 2; n < 60; n++) {
        int64_t row = 0, column = 0, i, j;
        unit_about("n = %d", (int)n);
        for (int64_t a = 0; a < n; a++)
            for (int64_t b = a + 1; b < n; b++, row++) {
                CHECK_INT(gcor_row_position(a, b, n), row);
                gcor_row_pair(row, n, &i, &j);
                CHECK(i == a && j == b);
            }
        for (int64_t b = 1; b < n; b++)
            for (int64_t a = 0; a < b; a++, column++) {
                CHECK_INT(gcor_column_position(a, b), column);
                gcor_column_pair(column, &i, &j);
                CHECK(i == a && j == b);
            }
        CHECK_INT(row, gcor_triangular(n - 1));
        CHECK_INT(column, gcor_triangular(n - 1));
    }
}

static void check_pair(int64_t i, int64_t j, int64_t n) {
    int64_t back_i, back_j;
    unit_about("pair (%lld, %lld) of %lld", (long long)i, (long long)j, (long long)n);
    gcor_row_pair(gcor_row_position(i, j, n), n, &back_i, &back_j);
    CHECK(back_i == i && back_j == j);
    gcor_column_pair(gcor_column_position(i, j), &back_i, &back_j);
    CHECK(back_i == i && back_j == j);
}

static void check_position(int64_t position, int64_t n) {
    int64_t i, j;
    unit_about("position %lld of %lld variables", (long long)position, (long long)n);
    gcor_row_pair(position, n, &i, &j);
    CHECK(0 <= i && i < j && j < n);
    CHECK_INT(gcor_row_position(i, j, n), position);
    gcor_column_pair(position, &i, &j);
    CHECK(0 <= i && i < j && j < n);
    CHECK_INT(gcor_column_position(i, j), position);
}

/* For these sizes, a square root in double is off. */
static void positions_of_the_largest(void) {
    const int64_t sizes[] = {(int64_t)1 << 31, ((int64_t)1 << 31) - 1, 1561152, 94906267, 65537, 65536};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int64_t n = sizes[s], last = gcor_triangular(n - 1) - 1;
        CHECK_INT(gcor_row_position(n - 2, n - 1, n), last);
        CHECK_INT(gcor_column_position(n - 2, n - 1), last);
        check_pair(0, 1, n);
        check_pair(0, n - 1, n);
        check_pair(n - 2, n - 1, n);
        for (int k = 0; k < 20000; k++) {
            int64_t j = 1 + unit_random(n - 1), i = unit_random(j);
            if (k % 4 == 0) j = n - 1 - unit_random(50), i = j - 1 - unit_random(50); /* the shortest rows */
            check_pair(i, j, n);
            check_position(unit_random(last + 1), n);
            check_position(k % 2 ? k : last - k, n);
        }
    }
}

/* The first pair of a column and the last one of the previous column, where indices exceed the precision of a
 * double. */
static void positions_at_the_ends_of_columns(void) {
    const int64_t n = (int64_t)1 << 31;
    for (int k = 0; k < 20000; k++) {
        int64_t t = k % 2 ? n - 2 - k / 2 : 94906265 - 5000 + k / 2; /* from here on indices have more than 53 bits */
        check_position(gcor_triangular(t), n);
        check_position(gcor_triangular(t) - 1, n);
    }
}

static void check_tile(const gcor_tile *tile, gcor_shape shape) {
    int64_t offset = 0;
    unit_about("shape %d, rows %lld + %lld, columns %lld + %lld", (int)shape, (long long)tile->row,
               (long long)tile->n_row, (long long)tile->col, (long long)tile->n_col);
    for (int64_t row = tile->row; row < tile->row + tile->n_row; row++) {
        int64_t col, n, count = 0, first = -1;
        for (int64_t c = tile->col; c < tile->col + tile->n_col; c++) {
            int counts = shape == GCOR_FULL || (shape == GCOR_UPPER ? c > row : c < row);
            if (counts && first < 0) first = c;
            count += counts;
        }
        CHECK_INT(gcor_tile_offset(tile, shape, row), offset);
        gcor_tile_segment(tile, shape, row, &col, &n);
        CHECK_INT(n, count);
        if (n > 0) CHECK_INT(col, first);
        offset += count;
    }
    CHECK_INT(gcor_tile_pairs(tile, shape), offset);
}

static void tiles_against_counting(void) {
    const gcor_shape shapes[] = {GCOR_UPPER, GCOR_LOWER, GCOR_FULL};
    for (int k = 0; k < 20000; k++) {
        int64_t far = k % 5 == 0 ? ((int64_t)1 << 31) - 100 : 0;
        gcor_tile tile = {far + unit_random(50), unit_random(40), far + unit_random(50), unit_random(40)};
        check_tile(&tile, shapes[k % 3]);
    }
}

const unit_test triangle_tests[] = {
    {"positions count up", positions_count_up},
    {"positions of the largest triangles are exact", positions_of_the_largest},
    {"positions at the ends of columns are exact", positions_at_the_ends_of_columns},
    {"the pairs of a tile are those that one counts", tiles_against_counting},
    {NULL, NULL},
};
