/* Kendall's tau-b pair by pair: cheaper than comparing all pairs of observations if there are few pairs of long
 * columns, or columns with few levels. The numerators are the same integers. */
#ifndef GPUCOR_KNIGHT_H
#define GPUCOR_KNIGHT_H

#include <stdint.h>

/* The parts of tau-b: concordant minus discordant pairs of observations; pairs untied in x, and in y; number of
 * observations. */
typedef struct {
    int64_t numerator, untied_x, untied_y, n_obs;
} cpu_kendall;

/* ---- knight.c: by sorting, for any columns ------------------------------------------- */

/* A column with n_obs scores, and the indices of its observations in ascending order of score, without missing ones
 * (NaN). */
typedef struct {
    const float *score;
    int32_t *rows;
    int64_t n_present;
} cpu_sorted;

/* Bytes of scratch (`work`) for cpu_sort_column() and cpu_knight(). */
int64_t cpu_knight_bytes(int64_t n_obs);
/* Sorts a column by its scores, which are those of gcor_scores() (measure/measure.h). sorted->rows: the caller's,
 * n_obs. Any thread. */
void cpu_sort_column(const float *score, int64_t n_obs, void *work, cpu_sorted *sorted);
/* Tau-b's parts over the pairwise-complete observations. Any thread. */
cpu_kendall cpu_knight(const cpu_sorted *x, const float *y, void *work);

/* ---- kendall.c: by contingency tables, for columns with few levels ---------------------- */

enum { CPU_LEVELS = 16 }; /* max number of levels */

/* Level bitsets of a column, one bit per observation: those present, those above the lowest level, above the next,
 * ... */
typedef struct {
    const uint64_t *sets;
    int levels; /* 0: many */
} cpu_levels;

struct cpu_kernels;
/* Words of a bitset, padded to whole vectors. */
int64_t cpu_set_words(int64_t n_obs);
/* Writes the bitsets of a column with that many levels, one after the other. Any thread. */
void cpu_open_levels(const struct cpu_kernels *kernels, const float *score, int64_t n_obs, int levels, uint64_t *sets);
/* Tau-b's parts over the pairwise-complete observations. Any thread. */
cpu_kendall cpu_table(const struct cpu_kernels *kernels, const cpu_levels *x, const cpu_levels *y, int64_t n_obs);

#endif
