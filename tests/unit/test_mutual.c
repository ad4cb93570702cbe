/* Mutual information: the kernels of each instruction set count the contingency tables that a plain loop counts, and
 * coefficients follow from the definition. */
#include "check.h"
#include "fixture.h"

#include "../../src/base/isa.h"
#include "../../src/base/os.h"
#include "../../src/cpu/kernels.h"
#include "../../src/measure/mutual.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = CPU_MICRO_PANEL_BYTES / 8, MAX_OBS = 2200, LEVELS = 9 };

/* ---- kernels ----------------------------------------------------------------------------------------- */

/* A micro-panel's variables, each with its own number of levels, as codes and as bits. */
typedef struct {
    unsigned char codes[WIDTH][MAX_OBS];
    uint64_t *words;
} panel;

static void fill(panel *p, const cpu_bins *bins, int64_t n) {
    memset(p->words, 0, (size_t)((bins->levels + bins->is_common) * bins->words + 1) * CPU_MICRO_PANEL_BYTES);
    for (int v = 0; v < WIDTH; v++) {
        int64_t levels = 1 + unit_random(LEVELS);
        for (int64_t k = 0; k < n; k++) {
            int missing = bins->is_common && unit_random(5) == 0, code = (int)unit_random(levels);
            uint64_t bit = (uint64_t)1 << k % 64, *word = p->words + k / 64 * WIDTH + v;
            p->codes[v][k] = (unsigned char)(missing ? GCOR_NO_BIN : code);
            if (missing) continue;
            word[code * bins->words * WIDTH] |= bit;
            if (bins->is_common) word[bins->levels * bins->words * WIDTH] |= bit;
        }
        p->words[(bins->levels + bins->is_common) * bins->words * WIDTH + v] = (uint64_t)levels;
    }
}

static int64_t sum_of_table(const unsigned char *x, const unsigned char *y, int64_t n, const cpu_bins *bins,
                            int64_t *common) {
    int64_t cells[LEVELS][LEVELS] = {{0}}, a[LEVELS] = {0}, b[LEVELS] = {0}, sum = 0;
    *common = 0;
    for (int64_t k = 0; k < n; k++) {
        if (x[k] == GCOR_NO_BIN || y[k] == GCOR_NO_BIN) continue;
        cells[x[k]][y[k]]++, a[x[k]]++, b[y[k]]++, ++*common;
    }
    for (int i = 0; i < LEVELS; i++)
        for (int j = 0; j < LEVELS; j++) sum += bins->terms[cells[i][j]];
    for (int i = 0; bins->is_common && i < LEVELS; i++) sum -= bins->terms[a[i]] + bins->terms[b[i]];
    return sum + (bins->is_common ? bins->terms[*common] : 0);
}

static void check_kernel(const cpu_kernels *kernels, const panel *rows, const panel *cols, const cpu_bins *bins,
                         int64_t n, int64_t *sums) {
    int64_t common;
    kernels->mutual(rows->words, cols->words, bins, sums);
    for (int r = 0; r < CPU_KERNEL_ROWS; r++)
        for (int c = 0; c < WIDTH; c++) {
            const int64_t *sum = sums + r * CPU_BLOCK_COLS + c;
            CHECK_INT(*sum, sum_of_table(rows->codes[r], cols->codes[c], n, bins, &common));
            if (bins->is_common) CHECK_INT(sum[CPU_BLOCK_PAIRS], common);
        }
}

static void tables_of_kernels(void) {
    const int64_t sizes[] = {1, 63, 64, 65, 500, 1984, 1985, 2200};
    size_t words = (size_t)(LEVELS + 1) * (MAX_OBS / 64 + 1) + 1;
    int64_t terms[MAX_OBS + 1] = {0}, *sums = gcor_os_alloc(2 * CPU_BLOCK_PAIRS * sizeof *sums);
    panel *rows = malloc(sizeof *rows), *cols = malloc(sizeof *cols);
    rows->words = gcor_os_alloc(words * CPU_MICRO_PANEL_BYTES);
    cols->words = gcor_os_alloc(words * CPU_MICRO_PANEL_BYTES);
    unit_seed(61);
    for (int64_t c = 1; c <= MAX_OBS; c++) terms[c] = unit_random((int64_t)1 << 50);
    for (int s = 0; s < 16; s++) {
        int64_t n = sizes[s / 2];
        const cpu_bins bins = {LEVELS, s % 2, (n + 63) / 64, terms};
        fill(rows, &bins, n);
        fill(cols, &bins, n);
        for (int set = 0; gcor_loops_at(set); set++) {
            unit_about("%s, %d observations, common %d", gcor_loops_at(set)->name, (int)n, bins.is_common);
            check_kernel(gcor_loops_at(set)->kernels, rows, cols, &bins, n, sums);
        }
    }
    gcor_os_free(rows->words);
    gcor_os_free(cols->words);
    gcor_os_free(sums);
    free(rows);
    free(cols);
}

/* ---- terms and coefficients ------------------------------------------------------------------------------ */

/* Independent columns have no information, to the last bit, and copies of a column with two bins have log(2). */
static void coefficients_of_sums(void) {
    const int64_t sizes[] = {4, 36, 500, 4096, 100000};
    for (int s = 0; s < 5; s++) {
        int64_t n = sizes[s], *terms = malloc((size_t)(n + 1) * sizeof *terms);
        double unit = gcor_mutual_terms(n, terms);
        unit_about("%d observations", (int)n);
        CHECK_INT(terms[0], 0);
        CHECK_INT(terms[1], 0);
        CHECK(terms[n] < (int64_t)1 << 61 && terms[n] >= (int64_t)1 << 60);
        CHECK_NEAR((double)terms[n] * unit / (double)n, log((double)n), 1e-14);
        CHECK(gcor_mutual_coefficient(4 * terms[n / 4] - 4 * terms[n / 2] + terms[n], n, unit) == 0);
        CHECK_NEAR(gcor_mutual_coefficient(terms[n] - 2 * terms[n / 2], n, unit), sqrt(0.75), 1e-15);
        free(terms);
    }
}

/* ---- bins --------------------------------------------------------------------------------------------------- */

static int bin(const double *x, int64_t n, int bins, unsigned char *codes) {
    void *memory = malloc(gcor_ranks_bytes(n));
    gcor_ranks ranks = gcor_ranks_at(memory, n);
    int64_t tied, present = gcor_rank(x, n, &ranks, &tied);
    int found = gcor_bin_column(&ranks, n, present, bins, codes);
    free(memory);
    return found;
}

static void bins_of_columns(void) {
    const double few[] = {5, -1, 5, NAN, 3, 3}, ties[] = {1, 2, 2, 2, 2, 2, 9, 8}, one[] = {4, 4, NAN};
    const unsigned char few_codes[] = {2, 0, 2, GCOR_NO_BIN, 1, 1}, tied_codes[] = {0, 0, 0, 0, 0, 0, 1, 1};
    const double infinite[] = {0, -INFINITY, INFINITY, 1};
    const unsigned char infinite_codes[] = {0, 0, 1, 1}, one_codes[] = {0, 0, GCOR_NO_BIN};
    unsigned char codes[8];
    CHECK_INT(bin(few, 6, 3, codes), 3); /* own levels */
    CHECK(memcmp(codes, few_codes, 6) == 0);
    CHECK_INT(bin(ties, 8, 2, codes), 2);
    CHECK(memcmp(codes, tied_codes, 8) == 0);
    CHECK_INT(bin(infinite, 4, 2, codes), 2);
    CHECK(memcmp(codes, infinite_codes, 4) == 0);
    CHECK_INT(bin(one, 3, 2, codes), 1);
    CHECK(memcmp(codes, one_codes, 3) == 0);
    CHECK_INT(gcor_bin_count(NULL, 0), 2);
    CHECK_INT(gcor_bin_count(NULL, 15), 2); /* 2.47 */
    CHECK_INT(gcor_bin_count(NULL, 16), 3); /* 2.52 */
    CHECK_INT(gcor_bin_count(NULL, 500), 8);
    CHECK_INT(gcor_bin_count(NULL, 1000000), 16);
}

const unit_test mutual_tests[] = {
    {"contingency tables by bits are those of a plain loop", tables_of_kernels},
    {"coefficients of independent columns are 0, those of copies follow from entropy", coefficients_of_sums},
    {"ties share a bin, and few values have a bin each", bins_of_columns},
    {NULL, NULL},
};
