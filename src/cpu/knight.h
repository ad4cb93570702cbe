/* Kendall's tau-b pair by pair: where there are few pairs of long columns, or columns have few levels, that is cheaper
 * than to compare all pairs of observations. The numerators are the same integers. */
#ifndef GPUCOR_CPU_KNIGHT_H
#define GPUCOR_CPU_KNIGHT_H

#include <stdint.h>

/* What tau-b is made of: concordant less discordant pairs of observations, and how many are untied in either. */
typedef struct {
    int64_t numerator, untied_x, untied_y, n_obs;
} cpu_kendall;

/* ---- knight.c: by sorting, for any columns ------------------------------------------- */

/* n_obs scores and as many rows; `rows` ascend by score, those without one (NaN) are not among them. */
typedef struct {
    const float *score;
    int32_t *rows;
    int64_t n_present;
} cpu_sorted;

/* Bytes that either function needs to work in. */
int64_t cpu_knight_bytes(int64_t n_obs);
/* Sort a column by its scores, which are those of gcor_scores() (measure/measure.h); rows: room for n_obs. Any thread.
 */
void cpu_sort_column(const float *score, int64_t n_obs, void *work, cpu_sorted *sorted);
/* Of the observations that both have. Any thread. */
cpu_kendall cpu_knight(const cpu_sorted *x, const float *y, void *work);

/* ---- levels.c: by a table of levels, for columns that have few ------------------------- */

enum { CPU_LEVELS = 16 }; /* at most */

/* Sets of observations, a bit each: of those that are there, of those above the lowest level, above the next, ... */
typedef struct {
    const uint64_t *sets;
    int levels; /* 0: many */
} cpu_levels;

struct cpu_kernels;
/* Words of a set, padded to whole vectors. */
int64_t cpu_set_words(int64_t n_obs);
/* Write the sets of a column with so many levels, one after the other. Any thread. */
void cpu_open_levels(const struct cpu_kernels *kernels, const float *score, int64_t n_obs, int levels, uint64_t *sets);
/* Of the observations that both have; all: there are no others. Any thread. */
cpu_kendall cpu_table(const struct cpu_kernels *kernels, const cpu_levels *x, const cpu_levels *y, int64_t n_obs);

#endif
