/* Columns with few levels: counting bits gives the number of observations above level i in one and above level k in
 * the other, n_obs bits per pair of levels; the contingency table determines the rest. */
#include "kernels.h"
#include "knight.h"

#include "../base/triangle.h"

#include <math.h>
#include <string.h>

enum { WORD = 64, VECTOR_WORDS = CPU_MICRO_PANEL_BYTES / 8 };

int64_t cpu_set_words(int64_t n_obs) {
    int64_t words = (n_obs + WORD - 1) / WORD;
    return (words + VECTOR_WORDS - 1) / VECTOR_WORDS * VECTOR_WORDS;
}

/* Finds the distinct scores, ascending. */
static void find_levels(const float *score, int64_t n_obs, int levels, float *level) {
    int found = 0;
    for (int64_t k = 0; k < n_obs && found < levels; k++) {
        int at = 0;
        while (at < found && level[at] < score[k]) at++;
        if (score[k] != score[k] || (at < found && level[at] == score[k])) continue;
        memmove(level + at + 1, level + at, (size_t)(found - at) * sizeof *level);
        level[at] = score[k];
        found++;
    }
}

/* Compares 64 scores at a time; the last ones are padded with NaN. */
static void write_set(uint64_t (*compare)(const float *, const float *), const float *score, int64_t n_obs,
                      const float *with, uint64_t *set) {
    float last[WORD];
    int64_t whole = n_obs / WORD, rest = n_obs - whole * WORD;
    for (int64_t w = 0; w < whole; w++) set[w] = compare(score + w * WORD, with ? with : score + w * WORD);
    memset(set + whole, 0, (size_t)(cpu_set_words(n_obs) - whole) * sizeof *set);
    if (rest == 0) return;
    for (int k = 0; k < WORD; k++) last[k] = k < rest ? score[whole * WORD + k] : NAN;
    set[whole] = compare(last, with ? with : last);
}

void cpu_open_levels(const cpu_kernels *kernels, const float *score, int64_t n_obs, int levels, uint64_t *sets) {
    float level[CPU_LEVELS + 1], with[WORD];
    int64_t words = cpu_set_words(n_obs);
    find_levels(score, n_obs, levels, level);
    write_set(kernels->are_present, score, n_obs, NULL, sets);
    for (int l = 1; l < levels; l++) {
        for (int k = 0; k < WORD; k++) with[k] = level[l - 1];
        write_set(kernels->are_greater, score, n_obs, with, sets + l * words);
    }
}

/* table[i][k]: observations at level i of x or above and at level k of y or above; zeros beyond the last levels. */
cpu_kendall cpu_table(const cpu_kernels *kernels, const cpu_levels *x, const cpu_levels *y, int64_t n_obs) {
    enum { STRIDE = CPU_LEVELS + 1 };
    int64_t table[STRIDE][STRIDE] = {{0}}, numerator = 0, ties_x = 0, ties_y = 0;
    kernels->levels(x->sets, x->levels, y->sets, y->levels, cpu_set_words(n_obs), &table[0][0], STRIDE);
    for (int i = 0; i < x->levels; i++) {
        int64_t at_x = table[i][0] - table[i + 1][0];
        ties_x += at_x > 0 ? gcor_triangular(at_x - 1) : 0;
        for (int k = 0; k < y->levels; k++) {
            int64_t here = table[i][k] - table[i + 1][k] - table[i][k + 1] + table[i + 1][k + 1];
            int64_t above = table[i + 1][k + 1], below = table[i + 1][0] - table[i + 1][k];
            numerator += here * (above - below);
        }
    }
    for (int k = 0; k < y->levels; k++) {
        int64_t at_y = table[0][k] - table[0][k + 1];
        ties_y += at_y > 0 ? gcor_triangular(at_y - 1) : 0;
    }
    int64_t n = table[0][0], all = n > 0 ? gcor_triangular(n - 1) : 0;
    return (cpu_kendall){numerator, all - ties_x, all - ties_y, n};
}
