#include "compact.h"

#include "coefficient.h"
#include "../base/threads.h"

/* PIECE: values that a thread widens at a time, two huge pages of the result. BUFFER: values searched at a time. */
enum { PIECE = 1 << 19, BUFFER = 1 << 12 };

static void read_floats(const gcor_compact *compact, int64_t first, int64_t n, double *out) {
    const float *value = (const float *)compact->values + first;
    const double missing = compact->missing;
    if (compact->is_distance) {
        for (int64_t k = 0; k < n; k++) out[k] = 1 - (value[k] > 1 ? missing : (double)value[k]);
    } else {
        for (int64_t k = 0; k < n; k++) out[k] = value[k] > 1 ? missing : (double)value[k];
    }
}

/* Reads the pairs of variable i with variables j .. j + n - 1. */
static void read_line(const gcor_compact *compact, int64_t first, int64_t n, int64_t i, int64_t j, double *out) {
    const int32_t *count = (const int32_t *)compact->values + first;
    const double norm = compact->norm[i], *others = compact->norm + j;
    double other = -1, root = 0;
    for (int64_t k = 0; k < n; k++) {
        if (others[k] != other) { /* most variables have the same norm */
            other = others[k];
            root = sqrt(norm * other);
        }
        double r = norm > 0 && other > 0 ? gcor_limit(count[k] / root) : gcor_coefficient(count[k], norm, other);
        if (r > 1) r = compact->missing;
        out[k] = compact->is_distance ? 1 - r : r;
    }
}

static void read_counts(const gcor_compact *compact, int64_t first, int64_t n, double *out) {
    int64_t i, j, end = first + n;
    if (n == 0) return;
    if (compact->shape == GCOR_LOWER)
        gcor_column_pair(first, &i, &j);
    else
        gcor_row_pair(first, compact->n_var, &i, &j);
    while (first < end) {
        int is_column = compact->shape == GCOR_LOWER;
        int64_t count = is_column ? j - i : compact->n_var - j;
        if (count > end - first) count = end - first;
        read_line(compact, first, count, is_column ? j : i, is_column ? i : j, out);
        out += count;
        first += count;
        if (is_column)
            i = 0, j++;
        else
            i++, j = i + 1;
    }
}

void gcor_compact_read(const gcor_compact *compact, int64_t first, int64_t n, double *out) {
    if (!compact->values)
        for (int64_t k = 0; k < n; k++) out[k] = compact->missing;
    else if (compact->form == GCOR_AS_FLOATS)
        read_floats(compact, first, n, out);
    else
        read_counts(compact, first, n, out);
}

double gcor_compact_at(const gcor_compact *compact, int64_t k) {
    double value;
    gcor_compact_read(compact, k, 1, &value);
    return value;
}

typedef struct {
    const gcor_compact *compact;
    double *out;
} widening;

static void widen_piece(void *argument, int thread, int64_t from, int64_t end) {
    const widening *w = argument;
    gcor_compact_read(w->compact, from, end - from, w->out + from);
}

void gcor_compact_widen(const gcor_compact *compact, int threads, double *out) {
    widening w = {compact, out};
    gcor_for_blocks(threads, compact->n, PIECE, widen_piece, &w);
}

/* ---- extremes ------------------------------------------------------------------------------ */

/* Returns the more extreme of two values; a, which comes first, if they are equal. */
static double more_extreme(double a, double b, int is_max) {
    if (a != a || b != b) return a != a ? a : b;
    return (is_max ? b > a : b < a) ? b : a;
}

static double extreme_of(const gcor_compact *compact, int64_t first, int64_t n, int is_max) {
    double value[BUFFER], found = gcor_compact_at(compact, first);
    for (int64_t k = 0; k < n; k += BUFFER) {
        int64_t count = n - k < BUFFER ? n - k : BUFFER;
        gcor_compact_read(compact, first + k, count, value);
        for (int64_t l = 0; l < count; l++) found = more_extreme(found, value[l], is_max);
    }
    return found;
}

enum { PIECES = 64 }; /* searched at a time */

typedef struct {
    const gcor_compact *compact;
    int64_t first; /* value */
    int is_max;
    double found[PIECES];
} search;

static void search_piece(void *argument, int thread, int64_t from, int64_t end) {
    search *s = argument;
    s->found[from / PIECE] = extreme_of(s->compact, s->first + from, end - from, s->is_max);
}

/* Pieces are compared in their order, as the first of equal values is returned. */
double gcor_compact_extreme(const gcor_compact *compact, int is_max, int threads) {
    double found = gcor_compact_at(compact, 0);
    search s = {.compact = compact, .is_max = is_max};
    for (; s.first < compact->n; s.first += PIECES * PIECE) {
        const int64_t n = gcor_min(PIECES * PIECE, compact->n - s.first);
        gcor_for_blocks(threads, n, PIECE, search_piece, &s);
        for (int64_t k = 0; k < gcor_blocks(n, PIECE); k++) found = more_extreme(found, s.found[k], is_max);
    }
    return found;
}

/* ---------------------------------------------------------------------------------------------- */

int64_t gcor_compact_zero_sd(const gcor_compact *compact) {
    int64_t zero = 0, others = 0;
    for (int64_t j = 0; j < compact->n_var; j++) {
        zero += compact->norm[j] == 0;
        others += !(compact->norm[j] <= 0); /* NaN, too */
    }
    return zero * others + gcor_triangular(zero - 1);
}
