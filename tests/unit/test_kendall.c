/* Kendall's numerator by merge sort and by contingency tables, against enumeration of pairs of observations; ranks
 * of few levels. */
#include "check.h"
#include "fixture.h"

#include "../../src/base/os.h"
#include "../../src/measure/measure.h"
#include "../../src/base/isa.h"
#include "../../src/cpu/kernels.h"
#include "../../src/cpu/cpu.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_OBS = 700 };

/* Fills scores of values with that many levels, some missing: the number of smaller values minus the number of
 * larger ones. */
static void fill(float *score, int n_obs, int levels, int missing) {
    float value[MAX_OBS];
    for (int k = 0; k < n_obs; k++) value[k] = missing && unit_random(10) == 0 ? NAN : (float)unit_random(levels);
    for (int k = 0; k < n_obs; k++) {
        score[k] = isnan(value[k]) ? NAN : 0;
        for (int q = 0; q < n_obs; q++) score[k] += (float)((value[q] < value[k]) - (value[q] > value[k]));
    }
}

static int sign_of(float a, float b) {
    return (a > b) - (a < b);
}

static cpu_kendall brute_force(const float *x, const float *y, int n_obs) {
    cpu_kendall all = {0, 0, 0, 0};
    for (int k = 0; k < n_obs; k++) {
        all.n_obs += x[k] == x[k] && y[k] == y[k];
        for (int q = 0; q < k; q++) {
            if (isnan(x[k]) || isnan(x[q]) || isnan(y[k]) || isnan(y[q])) continue;
            all.numerator += sign_of(x[k], x[q]) * sign_of(y[k], y[q]);
            all.untied_x += x[k] != x[q];
            all.untied_y += y[k] != y[q];
        }
    }
    return all;
}

static void check_same(cpu_kendall found, cpu_kendall expected) {
    CHECK_INT(found.numerator, expected.numerator);
    CHECK_INT(found.untied_x, expected.untied_x);
    CHECK_INT(found.untied_y, expected.untied_y);
    CHECK_INT(found.n_obs, expected.n_obs);
}

static const int sizes[] = {0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 63, 64, 65, 127, 128, 129, 255, 300, MAX_OBS};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void sorting_counts_all_pairs(void) {
    float x[MAX_OBS], y[MAX_OBS];
    int32_t rows[MAX_OBS];
    void *work = malloc((size_t)cpu_knight_bytes(MAX_OBS));
    unit_seed(21);
    for (int s = 0; s < SIZES; s++)
        for (int levels = 1; levels < 4000; levels *= 3)
            for (int missing = 0; missing < 2; missing++) {
                cpu_sorted sorted = {.rows = rows};
                unit_about("%d observations, %d levels, missing %d", sizes[s], levels, missing);
                fill(x, sizes[s], levels, missing);
                fill(y, sizes[s], 1 + (int)unit_random(2 * levels), missing);
                cpu_sort_column(x, sizes[s], work, &sorted);
                check_same(cpu_knight(&sorted, y, work), brute_force(x, y, sizes[s]));
            }
    free(work);
}

/* Counts the levels and makes the column's level bitsets. */
static cpu_levels open_levels(const cpu_kernels *kernels, const float *score, int n_obs) {
    int levels = 0;
    for (int k = 0; k < n_obs; k++) {
        int before = score[k] != score[k];
        for (int q = 0; q < k; q++) before |= score[q] == score[k];
        levels += !before;
    }
    uint64_t *sets = gcor_os_alloc((size_t)cpu_set_words(MAX_OBS) * (CPU_LEVELS + 1) * sizeof *sets);
    cpu_open_levels(kernels, score, n_obs, levels, sets);
    return (cpu_levels){sets, levels};
}

static void tables_count_all_pairs(void) {
    float x[MAX_OBS], y[MAX_OBS];
    unit_seed(22);
    for (int set = 0; gcor_loops_at(set); set++)
        for (int s = 2; s < SIZES; s++)
            for (int levels = 1; levels <= CPU_LEVELS; levels++) {
                const cpu_kernels *kernels = gcor_loops_at(set)->kernels;
                unit_about("%s, %d observations, %d levels", gcor_loops_at(set)->name, sizes[s], levels);
                fill(x, sizes[s], levels, levels % 2);
                fill(y, sizes[s], 1 + (int)unit_random(CPU_LEVELS), levels % 3 == 0);
                cpu_levels a = open_levels(kernels, x, sizes[s]), b = open_levels(kernels, y, sizes[s]);
                if (a.levels > 0 && b.levels > 0)
                    check_same(cpu_table(kernels, &a, &b, sizes[s]), brute_force(x, y, sizes[s]));
                gcor_os_free((void *)a.sets);
                gcor_os_free((void *)b.sets);
            }
}

/* Ranks of few levels are found without sorting: they are the counts of values below, and up to, each value. */
static void ranks_are_counts(void) {
    double x[MAX_OBS];
    void *memory = malloc(gcor_ranks_bytes(MAX_OBS));
    unit_seed(23);
    for (int s = 0; s < SIZES; s++)
        for (int levels = 1; levels < 40; levels++) {
            int n_obs = sizes[s], present = 0;
            int64_t tied, ties = 0;
            gcor_ranks ranks = gcor_ranks_at(memory, n_obs);
            unit_about("%d observations, %d levels", n_obs, levels);
            for (int k = 0; k < n_obs; k++) x[k] = unit_random(9) ? (double)unit_random(levels) / 3 : NAN;
            for (int k = 0; k < n_obs; k++) {
                present += x[k] == x[k];
                for (int q = 0; q < k; q++) ties += x[k] == x[q];
            }
            CHECK_INT(gcor_rank(x, n_obs, &ranks, &tied), present);
            CHECK_INT(tied, ties);
            for (int k = 0; k < n_obs; k++) {
                int below = 0, same = 0;
                for (int q = 0; q < n_obs; q++) below += x[q] < x[k], same += x[q] == x[k];
                CHECK_INT(ranks.begin[k], x[k] == x[k] ? below : -1);
                CHECK_INT(ranks.end[k], x[k] == x[k] ? below + same : -1);
            }
            for (int p = 1; p < present; p++) {
                int32_t one = ranks.order[p - 1], next = ranks.order[p];
                CHECK(x[one] < x[next] || (x[one] == x[next] && one < next));
            }
        }
    free(memory);
}

const unit_test kendall_tests[] = {
    {"by sorting", sorting_counts_all_pairs},
    {"by tables of levels, on every instruction set", tables_count_all_pairs},
    {"ranks of few levels", ranks_are_counts},
    {NULL, NULL},
};
