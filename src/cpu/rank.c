#include "cpu.h"

#include <stdlib.h>

static int by_value(const void *a, const void *b) {
    double x = ((const cpu_entry *)a)->value, y = ((const cpu_entry *)b)->value;
    return (x > y) - (x < y);
}

int64_t cpu_rank(const double *x, int64_t n, cpu_entry *entries, int32_t *order, int32_t *begin, int32_t *end,
                 int64_t *tied) {
    int64_t present = 0;
    for (int64_t k = 0; k < n; k++) {
        begin[k] = end[k] = -1;
        if (x[k] == x[k]) entries[present++] = (cpu_entry){x[k], (int32_t)k};
    }
    if (present) qsort(entries, (size_t)present, sizeof *entries, by_value);

    *tied = 0;
    for (int64_t from = 0, to; from < present; from = to) {
        for (to = from + 1; to < present && entries[to].value == entries[from].value;) to++;
        *tied += (to - from) * (to - from - 1) / 2;
        for (int64_t p = from; p < to; p++) {
            order[p] = entries[p].row;
            begin[order[p]] = (int32_t)from;
            end[order[p]] = (int32_t)to;
        }
    }
    return present;
}
