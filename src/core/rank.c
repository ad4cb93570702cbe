#include "cpu.h"

#include <string.h>

enum { SHORT = 8 };

static void insertion_sort(cpu_entry *entries, int64_t n) {
    for (int64_t k = 1; k < n; k++) {
        cpu_entry entry = entries[k];
        int64_t to = k;
        for (; to > 0 && entries[to - 1].value > entry.value; to--) entries[to] = entries[to - 1];
        entries[to] = entry;
    }
}

/* Two sorted runs of `from`, up to `half` and up to n, to one. Which of two is smaller is a coin's toss: no branch
 * depends on it. */
static void merge(const cpu_entry *from, int64_t half, int64_t n, cpu_entry *to) {
    const cpu_entry *a = from, *b = from + half, *a_end = b, *b_end = from + n;
    while (a < a_end && b < b_end) {
        int second = b->value < a->value;
        const cpu_entry *next = second ? b : a;
        *to++ = *next;
        b += second;
        a += !second;
    }
    memcpy(to, a, (size_t)(a_end - a) * sizeof *to);
    memcpy(to + (a_end - a), b, (size_t)(b_end - b) * sizeof *to);
}

/* By value, in `entries` or in `work`; returns where. */
static cpu_entry *sort(cpu_entry *entries, int64_t n, cpu_entry *work) {
    for (int64_t at = 0; at < n; at += SHORT) insertion_sort(entries + at, n - at < SHORT ? n - at : SHORT);
    for (int64_t half = SHORT; half < n; half *= 2) {
        for (int64_t at = 0; at < n; at += 2 * half) {
            int64_t both = n - at < 2 * half ? n - at : 2 * half;
            merge(entries + at, half < both ? half : both, both, work + at);
        }
        cpu_entry *swap = entries;
        entries = work;
        work = swap;
    }
    return entries;
}

int64_t cpu_rank(const double *x, int64_t n, cpu_entry *entries, int32_t *order, int32_t *begin, int32_t *end,
                 int64_t *tied) {
    int64_t present = 0;
    for (int64_t k = 0; k < n; k++) {
        begin[k] = end[k] = -1;
        if (x[k] == x[k]) entries[present++] = (cpu_entry){x[k], (int32_t)k};
    }
    const cpu_entry *sorted = sort(entries, present, entries + n);

    *tied = 0;
    for (int64_t from = 0, to; from < present; from = to) {
        for (to = from + 1; to < present && sorted[to].value == sorted[from].value;) to++;
        *tied += (to - from) * (to - from - 1) / 2;
        for (int64_t p = from; p < to; p++) {
            order[p] = sorted[p].row;
            begin[order[p]] = (int32_t)from;
            end[order[p]] = (int32_t)to;
        }
    }
    return present;
}
