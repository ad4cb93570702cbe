/* Sums of products by the kernels of each instruction set of the machine equal their definitions to the last bit. */
#include "check.h"
#include "fixture.h"

#include "../../src/base/os.h"
#include "../../src/measure/bicor.h"
#include "../../src/measure/coefficient.h"
#include "../../src/measure/measure.h"
#include "../../src/base/isa.h"
#include "../../src/cpu/kernels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Values of either sign that cause rounding, and some zeros. */
static double any_value(void) {
    return unit_random(9) ? (unit_uniform() - 0.5) * ldexp(1, (int)unit_random(20)) : 0;
}

enum { MAX_OBS = 300, N_COLS = 23 };

static void dots_of_columns(void) {
    float *x = gcor_os_alloc((MAX_OBS + 4) * sizeof *x), *y = gcor_os_alloc(N_COLS * (MAX_OBS + 4) * sizeof *y);
    int32_t which[N_COLS];
    double out[N_COLS];
    unit_seed(31);
    for (int64_t n = 0; n <= MAX_OBS; n = n < 70 ? n + 1 : n + 23) {
        int64_t stride = (n + CPU_PADDING - 1) / CPU_PADDING * CPU_PADDING, count = unit_random(N_COLS + 1);
        for (int64_t k = 0; k < stride; k++) x[k] = k < n ? (float)any_value() : 0;
        for (int64_t k = 0; k < N_COLS * stride; k++) y[k] = k % stride < n ? (float)any_value() : 0;
        for (int64_t c = 0; c < count; c++) which[c] = (int32_t)unit_random(N_COLS);
        for (int set = 0; gcor_loops_at(set); set++) {
            unit_about("%s, %d observations, %d columns", gcor_loops_at(set)->name, (int)n, (int)count);
            gcor_loops_at(set)->kernels->dots(x, y, stride, which, count, stride, out);
            for (int64_t c = 0; c < count; c++) CHECK(out[c] == gcor_dot(x, y + which[c] * stride, n));
        }
    }
    gcor_os_free(x);
    gcor_os_free(y);
}

/* Multiplies in runs, as for a tile. */
static void sums_in_double(void) {
    enum { WIDTH = CPU_MICRO_PANEL_BYTES / sizeof(double) };
    double *rows = gcor_os_alloc(WIDTH * MAX_OBS * sizeof *rows), *cols = gcor_os_alloc(WIDTH * MAX_OBS * sizeof *cols);
    double *sums = gcor_os_alloc(CPU_KERNEL_ROWS * CPU_BLOCK_COLS * sizeof *sums), x[MAX_OBS], y[MAX_OBS];
    const int64_t sizes[] = {1, 2, 127, 128, 129, 256, 299};
    unit_seed(32);
    for (int s = 0; s < 7; s++)
        for (int set = 0; gcor_loops_at(set); set++) {
            int64_t n = sizes[s];
            unit_about("%s, %d observations", gcor_loops_at(set)->name, (int)n);
            for (int64_t k = 0; k < WIDTH * n; k++) rows[k] = any_value(), cols[k] = any_value();
            for (int64_t k = 0; k < n; k += GCOR_OBS_RUN)
                gcor_loops_at(set)->kernels->fused(rows + k * WIDTH, cols + k * WIDTH,
                                                   gcor_clamp(GCOR_OBS_RUN, 0, n - k), k > 0, sums);
            for (int r = 0; r < CPU_KERNEL_ROWS; r++)
                for (int c = 0; c < WIDTH; c++) {
                    for (int64_t k = 0; k < n; k++) x[k] = rows[k * WIDTH + r], y[k] = cols[k * WIDTH + c];
                    CHECK(sums[r * CPU_BLOCK_COLS + c] == gcor_double_dot(x, y, n));
                }
        }
    gcor_os_free(rows);
    gcor_os_free(cols);
    gcor_os_free(sums);
}

/* ---- sums in single precision ------------------------------------------------------------------- */

#ifndef _WIN32 /* whose fmaf() rounds more than once */

/* Values of a kind: of all digits, of few, tiny, or such that sums often are in the middle of two floats, or nearly. */
static float value_of(int kind) {
    static const float hard[] = {0,          1,       1 + 0x1p-23f, 1 - 0x1p-24f, 0x1p-12f, 0x1p-24f, 3 * 0x1p-25f,
                                 0x1.8p-30f, 0x1p-40f};
    float sign = unit_random(2) ? 1 : -1;
    switch (kind) {
    case 0: return (float)any_value();
    case 1: return sign * (float)unit_random(1000);
    case 2: return sign * (float)unit_uniform() * ldexpf(1, -(int)unit_random(140));
    case 3: return sign * hard[unit_random(sizeof hard / sizeof *hard)] * (float)(1 + unit_random(4));
    default: return value_of((int)unit_random(4));
    }
}

/* Sums of slices: added in double, or in runs of CPU_OVERLAP_RUN in single precision and then in double. */
static double sum_of_slices(const float *x, int64_t x_step, const float *y, int64_t y_step, int64_t n, int64_t slice,
                            int64_t run) {
    double sum = 0;
    for (int64_t from = 0; from < n; from += run) {
        float in_run = 0;
        for (int64_t k = from; k < n && k < from + run;) {
            float in_slice = 0;
            for (int64_t end = gcor_min(gcor_min(k + slice, n), from + run); k < end; k++)
                in_slice = fmaf(x[k * x_step], y[k * y_step], in_slice);
            in_run += in_slice;
        }
        sum += (double)in_run;
    }
    return sum;
}

enum { FLOATS = CPU_MICRO_PANEL_BYTES / sizeof(float) };

static void check_sums(const cpu_kernels *kernels, const float *rows, const float *packed, const float *cols, int64_t n,
                       double *sums) {
    kernels->slices(rows, cols, n, 0, sums);
    for (int64_t p = 0; p < CPU_KERNEL_ROWS * FLOATS; p++) {
        int64_t r = p / FLOATS, c = p % FLOATS;
        CHECK(sums[r * CPU_BLOCK_COLS + c] ==
              sum_of_slices(rows + r, FLOATS, cols + c, FLOATS, n, GCOR_OBS_SLICE, GCOR_OBS_SLICE));
    }
    kernels->overlaps(packed, cols, n, 0, sums);
    for (int64_t p = 0; p < CPU_KERNEL_ROWS * FLOATS; p++) {
        int64_t r = p / FLOATS, c = p % FLOATS;
        CHECK(sums[r * CPU_BLOCK_COLS + c] ==
              sum_of_slices(packed + r, CPU_KERNEL_ROWS, cols + c, FLOATS, n, CPU_OVERLAP_SLICE, CPU_OVERLAP_RUN));
    }
}

static void sums_in_single(void) {
    float *rows = gcor_os_alloc(FLOATS * MAX_OBS * sizeof *rows),
          *cols = gcor_os_alloc(FLOATS * MAX_OBS * sizeof *cols);
    float *packed = gcor_os_alloc(CPU_KERNEL_ROWS * MAX_OBS * sizeof *packed);
    double *sums = gcor_os_alloc(CPU_KERNEL_ROWS * CPU_BLOCK_COLS * sizeof *sums);
    const int64_t sizes[] = {1, 2, 11, 12, 13, 16, 17, 132, 256, 299};
    unit_seed(33);
    for (int kind = 0; kind < 5; kind++)
        for (int s = 0; s < 10; s++) {
            int64_t n = sizes[s];
            for (int64_t k = 0; k < FLOATS * n; k++) rows[k] = value_of(kind), cols[k] = value_of(kind);
            for (int64_t k = 0; k < n; k++)
                memcpy(packed + k * CPU_KERNEL_ROWS, rows + k * FLOATS, CPU_KERNEL_ROWS * sizeof *packed);
            for (int set = 0; gcor_loops_at(set); set++) {
                unit_about("%s, values of kind %d, %d observations", gcor_loops_at(set)->name, kind, (int)n);
                check_sums(gcor_loops_at(set)->kernels, rows, packed, cols, n, sums);
            }
        }
    gcor_os_free(rows);
    gcor_os_free(cols);
    gcor_os_free(packed);
    gcor_os_free(sums);
}
#endif

/* A score among the values that are not left out: the sign of the difference from each is subtracted. */
static int64_t score_without(int16_t score, const int16_t *left_out, int64_t n) {
    int64_t own = score;
    for (int64_t e = 0; e < n; e++) own -= (score > left_out[e]) - (score < left_out[e]);
    return own;
}

static int16_t any_score(int64_t n) {
    return (int16_t)(unit_random(8) ? unit_random((int)(2 * n - 1)) - (n - 1) : unit_random(2) ? n - 1 : 1 - n);
}

/* The largest scores, all of the same sign, come close to the limits of sums in 32 bits. */
static void sums_of_ranks(void) {
    const int64_t sizes[] = {1, 2, 31, 64, 65, 128, 300, 2047, 2048, 2049, CPU_MAX_RANKED - 1, CPU_MAX_RANKED};
    int16_t *x = gcor_os_alloc(2 * CPU_MAX_RANKED * sizeof *x), *y = x + CPU_MAX_RANKED;
    unit_seed(34);
    for (int s = 0; s < 24; s++) {
        int64_t n = sizes[s / 2], sums[3], expected[3] = {0};
        cpu_left_out left_out = {.n_x = unit_random(CPU_MAX_LEFT_OUT + 1), .n_y = unit_random(4)};
        for (int64_t e = 0; e < CPU_MAX_LEFT_OUT; e++) left_out.x[e] = any_score(n), left_out.y[e] = any_score(n);
        if (s % 2) left_out.n_x = left_out.n_y = 0;
        for (int64_t k = 0; k < (n + CPU_RANK_PADDING - 1) / CPU_RANK_PADDING * CPU_RANK_PADDING; k++) {
            x[k] = y[k] = s % 2 ? (int16_t)(n - 1) : any_score(n);
            if (s % 2 == 0) y[k] = any_score(n);
            if (k >= n || (s % 2 == 0 && unit_random(9) == 0)) x[k] = CPU_NO_SCORE;
            if (k >= n || (s % 2 == 0 && unit_random(9) == 0)) y[k] = CPU_NO_SCORE;
        }
        for (int64_t k = 0; k < n; k++) {
            int64_t own = score_without(x[k], left_out.x, left_out.n_x);
            int64_t other = score_without(y[k], left_out.y, left_out.n_y);
            if (x[k] == CPU_NO_SCORE || y[k] == CPU_NO_SCORE) continue;
            expected[0] += own * own;
            expected[1] += other * other;
            expected[2] += own * other;
        }
        for (int set = 0; gcor_loops_at(set); set++) {
            unit_about("%s, %d observations", gcor_loops_at(set)->name, (int)n);
            gcor_loops_at(set)->kernels->ranks(x, y, n, &left_out, sums);
            for (int k = 0; k < 3; k++) CHECK_INT(sums[k], expected[k]);
        }
    }
    gcor_os_free(x);
}

/* Weighs values one by one, and scales them to unit length. */
static void weigh(double *x, int64_t n, const cpu_biweight *w) {
    double squares = 0;
    for (int64_t k = 0; k < n; k++) {
        x[k] = gcor_bicor_weighted(x[k] * w->scale - w->median, w->below, w->above);
        squares += x[k] * x[k];
    }
    (void)gcor_double_unit(x, squares, n, x);
}

static void biweights_of_pairs(void) {
    const int64_t sizes[] = {2, 3, 7, 8, 127, 128, 129, 256, 299};
    double x[MAX_OBS], y[MAX_OBS], own[MAX_OBS + 8], other[MAX_OBS + 8], sums[3];
    unit_seed(35);
    for (int s = 0; s < 9; s++)
        for (int set = 0; gcor_loops_at(set); set++) {
            int64_t n = sizes[s];
            const cpu_biweight of_x = {0x1p-18, unit_uniform() - 0.5, 0.3 + unit_uniform(), 0.01},
                               of_y = {0x1p-19, unit_uniform() - 0.5, 0.3, 0.1 + unit_uniform()};
            unit_about("%s, %d observations", gcor_loops_at(set)->name, (int)n);
            for (int64_t k = 0; k < n; k++) x[k] = own[k] = any_value(), y[k] = other[k] = any_value();
            for (int64_t k = n; k < n + 8; k++) own[k] = other[k] = 0;
            weigh(x, n, &of_x);
            weigh(y, n, &of_y);
            gcor_loops_at(set)->kernels->biweights(own, other, n, &of_x, &of_y, sums);
            CHECK(sums[0] == gcor_double_dot(x, x, n));
            CHECK(sums[1] == gcor_double_dot(y, y, n));
            CHECK(sums[2] == gcor_double_dot(x, y, n));
        }
}

const unit_test products_tests[] = {
    {"biweights by vectors are those of single values", biweights_of_pairs},
    {"ranks are corrected for the values that are left out", sums_of_ranks},
    {"dot products of a column and several are those of one pair", dots_of_columns},
    {"sums of products in double are fused, in runs", sums_in_double},
#ifndef _WIN32
    {"sums of products in single precision are fused, in slices", sums_in_single},
#endif
    {NULL, NULL},
};
