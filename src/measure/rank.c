/* Ranks of a column, decided on the doubles. */
#include "../base/elementary.h"
#include "measure.h"

#include <math.h>
#include <string.h>

enum { SHORT = 8 };

static void insertion_sort(gcor_entry *entries, int64_t n) {
    for (int64_t k = 1; k < n; k++) {
        gcor_entry entry = entries[k];
        int64_t to = k;
        for (; to > 0 && entries[to - 1].value > entry.value; to--) entries[to] = entries[to - 1];
        entries[to] = entry;
    }
}

/* Merges two sorted runs at `from`: up to `half`, and from there to n. Branch-free, as comparisons are
 * unpredictable. */
static void merge(const gcor_entry *from, int64_t half, int64_t n, gcor_entry *to) {
    const gcor_entry *a = from, *b = from + half, *a_end = b, *b_end = from + n;
    while (a < a_end && b < b_end) {
        int second = b->value < a->value;
        const gcor_entry *next = second ? b : a;
        *to++ = *next;
        b += second;
        a += !second;
    }
    memcpy(to, a, (size_t)(a_end - a) * sizeof *to);
    memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof *to);
}

static void swap_lists(gcor_entry **a, gcor_entry **b) {
    gcor_entry *swap = *a;
    *a = *b;
    *b = swap;
}

/* Stable merge sort. Returns `entries` or `work`, whichever holds the result. */
static gcor_entry *merge_sort(gcor_entry *entries, int64_t n, gcor_entry *work) {
    for (int64_t at = 0; at < n; at += SHORT) insertion_sort(entries + at, n - at < SHORT ? n - at : SHORT);
    for (int64_t half = SHORT; half < n; half *= 2) {
        for (int64_t at = 0; at < n; at += 2 * half) {
            int64_t both = n - at < 2 * half ? n - at : 2 * half;
            merge(entries + at, half < both ? half : both, both, work + at);
        }
        swap_lists(&entries, &work);
    }
    return entries;
}

/* ---- radix sort ------------------------------------------------------------------------------- */

/* Long columns are sorted byte by byte, from the lowest byte on, in linear time. */
enum { DIGITS = 8, DIGIT_VALUES = 256, MIN_BY_DIGITS = 256 };

static gcor_entry *radix_sort(gcor_entry *entries, int64_t n, gcor_entry *work) {
    int64_t counts[DIGITS][DIGIT_VALUES] = {{0}};
    for (int64_t k = 0; k < n; k++) {
        uint64_t key = gcor_key(entries[k].value);
        for (int digit = 0; digit < DIGITS; digit++) counts[digit][key >> 8 * digit & 255]++;
    }
    for (int digit = 0; digit < DIGITS; digit++) {
        int64_t *count = counts[digit], before = 0;
        if (count[gcor_key(entries[0].value) >> 8 * digit & 255] == n) continue; /* all values have the same byte */
        for (int value = 0; value < DIGIT_VALUES; value++) {
            int64_t own = count[value];
            count[value] = before;
            before += own;
        }
        for (int64_t k = 0; k < n; k++) work[count[gcor_key(entries[k].value) >> 8 * digit & 255]++] = entries[k];
        swap_lists(&entries, &work);
    }
    return entries;
}

/* Sorts by value; ties stay in the order of rows. Returns `entries` or `work`, whichever holds the result. */
static gcor_entry *sort(gcor_entry *entries, int64_t n, gcor_entry *work) {
    return n < MIN_BY_DIGITS ? merge_sort(entries, n, work) : radix_sort(entries, n, work);
}

size_t gcor_ranks_bytes(int64_t n) {
    return (size_t)n * (2 * sizeof(gcor_entry) + 3 * sizeof(int32_t)) + sizeof(gcor_entry);
}

gcor_ranks gcor_ranks_at(void *memory, int64_t n) {
    gcor_ranks ranks = {.entries = memory};
    ranks.order = (int32_t *)(ranks.entries + 2 * n);
    ranks.begin = ranks.order + n;
    ranks.end = ranks.begin + n;
    return ranks;
}

/* ---- few levels ---------------------------------------------------------------------------- */

enum { FEW = 16 };

typedef struct {
    double value;
    int32_t count, from, next, to; /* range of indices in sorted order, and the next free one */
} level;

/* Finds x's levels in order of appearance and writes each value's level to position[] (-1: missing). Returns their
 * number; 0: more than FEW, or none. */
static int find_levels(const double *x, int64_t n, level *levels, int32_t *position) {
    int found = 0, at = 0;
    for (int64_t k = 0; k < n; k++) {
        position[k] = -1;
        if (x[k] != x[k]) continue;
        if (found == 0 || x[k] != levels[at].value) /* otherwise the level of the previous value */
            for (at = 0; at < found && levels[at].value != x[k];) at++;
        if (at == FEW) return 0;
        if (at == found) levels[found++] = (level){.value = x[k]};
        levels[at].count++;
        position[k] = at;
    }
    return found;
}

/* Assigns each level its range of indices in sorted order. Returns the number of values. */
static int64_t position_levels(level *levels, int n) {
    int64_t present = 0;
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n; b++) levels[a].from += levels[b].value < levels[a].value ? levels[b].count : 0;
        levels[a].next = levels[a].from;
        levels[a].to = levels[a].from + levels[a].count;
        present += levels[a].count;
    }
    return present;
}

static int64_t rank_levels(int64_t n, level *levels, int n_levels, const gcor_ranks *ranks, int64_t *tied) {
    int64_t present = position_levels(levels, n_levels);
    *tied = 0;
    for (int a = 0; a < n_levels; a++) *tied += (int64_t)levels[a].count * (levels[a].count - 1) / 2;
    for (int64_t k = 0; k < n; k++) {
        int32_t position = ranks->begin[k];
        ranks->end[k] = -1;
        if (position < 0) continue;
        ranks->begin[k] = levels[position].from;
        ranks->end[k] = levels[position].to;
        ranks->order[levels[position].next++] = (int32_t)k;
    }
    return present;
}

/* ---- any column ------------------------------------------------------------------------------ */

static int64_t rank_by_sort(const double *x, int64_t n, const gcor_ranks *ranks, int64_t *tied) {
    int64_t present = 0;
    for (int64_t k = 0; k < n; k++) {
        ranks->begin[k] = ranks->end[k] = -1;
        if (x[k] == x[k]) ranks->entries[present++] = (gcor_entry){x[k], (int32_t)k};
    }
    const gcor_entry *sorted = sort(ranks->entries, present, ranks->entries + n);

    *tied = 0;
    for (int64_t from = 0, to; from < present; from = to) {
        for (to = from + 1; to < present && sorted[to].value == sorted[from].value;) to++;
        *tied += (to - from) * (to - from - 1) / 2;
        for (int64_t p = from; p < to; p++) {
            int32_t row = ranks->order[p] = sorted[p].row;
            ranks->begin[row] = (int32_t)from;
            ranks->end[row] = (int32_t)to;
        }
    }
    return present;
}

int64_t gcor_rank(const double *x, int64_t n, const gcor_ranks *ranks, int64_t *tied) {
    level levels[FEW] = {{0}};
    int found = find_levels(x, n, levels, ranks->begin);
    return found > 0 ? rank_levels(n, levels, found, ranks, tied) : rank_by_sort(x, n, ranks, tied);
}

int gcor_count_levels(const gcor_ranks *ranks, int64_t present, int max) {
    int levels = 0;
    for (int64_t at = 0; at < present; at = ranks->end[ranks->order[at]])
        if (++levels > max) return 0;
    return levels;
}

double gcor_scores(const gcor_ranks *ranks, int64_t n, int64_t present, double *x) {
    double squares = 0;
    for (int64_t k = 0; k < n; k++) {
        int64_t score = (int64_t)ranks->begin[k] + ranks->end[k] - present;
        x[k] = ranks->begin[k] < 0 ? (double)NAN : (double)score;
        squares += (double)score * (double)score;
    }
    return squares;
}

void gcor_weighted_scores(const gcor_ranks *ranks, const double *weight, int64_t n, double *x) {
    double *before = (double *)(void *)ranks->entries; /* before[k]: total weight of the first k values in order */
    before[0] = 0;
    for (int64_t k = 0; k < n; k++) before[k + 1] = before[k] + weight[ranks->order[k]];
    for (int64_t k = 0; k < n; k++) x[k] = before[ranks->begin[k]] - (before[n] - before[ranks->end[k]]);
}
