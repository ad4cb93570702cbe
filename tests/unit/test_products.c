/* Sums of products by the kernels of each instruction set of the machine equal their definitions to the last bit. */
#include "check.h"
#include "fixture.h"

#include "../../src/base/os.h"
#include "../../src/measure/coefficient.h"
#include "../../src/base/isa.h"
#include "../../src/cpu/kernels.h"

#include <stdlib.h>

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
        for (int set = 0; gcor_isa_at(set); set++) {
            unit_about("%s, %d observations, %d columns", gcor_isa_at(set), (int)n, (int)count);
            cpu_kernels_of(gcor_isa_at(set))->dots(x, y, stride, which, count, stride, out);
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
        for (int set = 0; gcor_isa_at(set); set++) {
            int64_t n = sizes[s];
            unit_about("%s, %d observations", gcor_isa_at(set), (int)n);
            for (int64_t k = 0; k < WIDTH * n; k++) rows[k] = any_value(), cols[k] = any_value();
            for (int64_t k = 0; k < n; k += GCOR_OBS_RUN)
                cpu_kernels_of(gcor_isa_at(set))
                    ->fused(rows + k * WIDTH, cols + k * WIDTH, gcor_clamp(GCOR_OBS_RUN, 0, n - k), k > 0, sums);
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

const unit_test products_tests[] = {
    {"dot products of a column and several are those of one pair", dots_of_columns},
    {"sums of products in double are fused, in runs", sums_in_double},
    {NULL, NULL},
};
