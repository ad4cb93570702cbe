/* Counts discordant pairs of observations by a merge sort, in n log n steps (Knight 1966). */
#include "cpu.h"

#include "../base/triangle.h"

#include <string.h>

enum { SHORT = 8 }; /* length of a run sorted by exchanges */

int64_t cpu_knight_bytes(int64_t n_obs) {
    return 3 * n_obs * (int64_t)sizeof(int64_t) + 64;
}

/* ---- a column ---------------------------------------------------------------------------- */

/* A value's score is the sum of the first and the last index of its ties in sorted order, minus n - 1; the number of
 * ties is the length of that range. So scores can be sorted by counting. */
void cpu_sort_column(const float *score, int64_t n_obs, void *work, cpu_sorted *sorted) {
    int32_t *next = work;
    int64_t n = 0;
    for (int64_t k = 0; k < n_obs; k++) n += score[k] == score[k];
    memset(next, 0, (size_t)(2 * n) * sizeof *next);
    for (int64_t k = 0; k < n_obs; k++)
        if (score[k] == score[k]) next[(int64_t)score[k] + n]++;
    for (int64_t sum = 0; sum < 2 * n; sum++) next[sum] = (int32_t)((sum - next[sum]) / 2);
    for (int64_t k = 0; k < n_obs; k++)
        if (score[k] == score[k]) sorted->rows[next[(int64_t)score[k] + n]++] = (int32_t)k;
    sorted->score = score;
    sorted->n_present = n;
}

/* ---- a pair --------------------------------------------------------------------------------- */

/* Sorts y and returns the number of pairs out of order; equal values are not counted. Branch-free, as comparisons
 * are unpredictable. */
static int64_t sort_short(int32_t *y, int64_t n) {
    int64_t moves = 0;
    for (int64_t end = n - 1; end > 0; end--)
        for (int64_t k = 0; k < end; k++) {
            int32_t low = y[k] < y[k + 1] ? y[k] : y[k + 1], high = y[k] < y[k + 1] ? y[k + 1] : y[k];
            moves += y[k] > y[k + 1];
            y[k] = low;
            y[k + 1] = high;
        }
    return moves;
}

static int64_t merge(const int32_t *from, int64_t half, int64_t n, int32_t *to) {
    const int32_t *a = from, *b = from + half, *a_end = b, *b_end = from + n;
    int64_t wrong = 0;
    while (a < a_end && b < b_end) {
        int32_t own = *a, other = *b;
        int64_t second = other < own;
        *to++ = second ? other : own;
        wrong += (a_end - a) & -second;
        b += second;
        a += 1 - second;
    }
    memcpy(to, a, (size_t)(a_end - a) * sizeof *to);
    memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof *to);
    return wrong;
}

/* Merges two runs of the same length from both ends at once: neither end can exhaust a run early, and the two
 * dependency chains overlap. */
static int64_t merge_equal(const int32_t *from, int64_t half, int32_t *to) {
    const int32_t *middle = from + half, *a = from, *b = middle, *last_a = middle - 1, *last_b = middle + half - 1;
    int32_t *end = to + 2 * half - 1;
    int64_t wrong = 0, wrong_behind = 0;
    for (int64_t k = 0; k < half; k++) {
        int32_t own = *a, other = *b, last_own = *last_a, last_other = *last_b;
        int64_t second = other<own, first = last_own> last_other;
        *to++ = second ? other : own;
        *end-- = first ? last_own : last_other;
        wrong += (middle - a) & -second;
        wrong_behind += (middle - 1 - last_a) & (first - 1);
        b += second;
        a += 1 - second;
        last_a -= first;
        last_b -= 1 - first;
    }
    return wrong + wrong_behind;
}

/* Sorts y and returns the number of pairs out of order; *sorted is y or `other`. */
static int64_t sort(int32_t *y, int64_t n, int32_t *other, int32_t **sorted) {
    int64_t wrong = 0;
    for (int64_t at = 0; at < n; at += SHORT) wrong += sort_short(y + at, n - at < SHORT ? n - at : SHORT);
    for (int64_t half = SHORT; half < n; half *= 2) {
        for (int64_t at = 0; at < n; at += 2 * half) {
            int64_t both = n - at < 2 * half ? n - at : 2 * half;
            wrong += both == 2 * half ? merge_equal(y + at, half, other + at)
                                      : merge(y + at, half < both ? half : both, both, other + at);
        }
        int32_t *swap = y;
        y = other;
        other = swap;
    }
    *sorted = y;
    return wrong;
}

/* Number of tied pairs in a sorted run. */
static int64_t count_ties(const int32_t *y, int64_t n) {
    int64_t ties = 0;
    for (int64_t from = 0, to; from < n; from = to) {
        for (to = from + 1; to < n && y[to] == y[from];) to++;
        ties += gcor_triangular(to - from - 1);
    }
    return ties;
}

/* Gathers y's integer scores in the order of x, and x's own; returns the number of pairwise-complete observations. */
static int64_t gather(const cpu_sorted *x, const float *y, int32_t *own, int32_t *other) {
    int64_t n = 0;
    for (int64_t k = 0; k < x->n_present; k++) {
        float score = y[x->rows[k]];
        int there = score == score;
        own[n] = (int32_t)x->score[x->rows[k]];
        other[n] = there ? (int32_t)score : 0;
        n += there;
    }
    return n;
}

/* Returns the tied pairs of x; *in_both: those also tied in y. Sorts y among tied values of x. */
static int64_t count_runs(const int32_t *x, int32_t *y, int64_t n, int32_t *work, int64_t *in_both) {
    int64_t ties = 0;
    *in_both = 0;
    for (int64_t from = 0, to; from < n; from = to) {
        int32_t *sorted;
        for (to = from + 1; to < n && x[to] == x[from];) to++;
        if (to - from < 2) continue;
        ties += gcor_triangular(to - from - 1);
        (void)sort(y + from, to - from, work, &sorted);
        *in_both += count_ties(sorted, to - from);
        if (sorted != y + from) memcpy(y + from, sorted, (size_t)(to - from) * sizeof *y);
    }
    return ties;
}

cpu_kendall cpu_knight(const cpu_sorted *x, const float *y, void *work) {
    int32_t *own = work, *other = own + x->n_present, *scratch = other + x->n_present, *sorted;
    int64_t n = gather(x, y, own, other), all = n > 0 ? gcor_triangular(n - 1) : 0, in_both;
    int64_t ties_x = count_runs(own, other, n, scratch, &in_both);
    int64_t discordant = sort(other, n, scratch, &sorted), ties_y = count_ties(sorted, n);
    return (cpu_kendall){all - ties_x - ties_y + in_both - 2 * discordant, all - ties_x, all - ties_y, n};
}
