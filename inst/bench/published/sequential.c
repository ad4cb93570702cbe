/* What the papers compare with: Pearson's r and Kendall's tau of all pairs on the CPU, in plain C.
 *
 *   sequential N n_obs [steps [pearson | kendall [share]]]
 *
 * - Pearson: columns are centred and divided by their norms, then r of a pair is a dot product in float. One core.
 *   The order of its additions is C's, so that a compiler leaves it one chain unless told that it may not matter.
 * - Kendall: W. R. Knight, "A computer method for calculating Kendall's tau with ungrouped data", Journal of the
 *   American Statistical Association 61 (1966) 436-439. Observations are put in the order of x; the exchanges in
 *   which a merge sort of y would put them in the order of y are the discordant pairs: O(n_obs log n_obs) a pair of
 *   columns instead of O(n_obs^2). All threads.
 *
 * Ties: tau-b. With t the pairs of observations, tx, ty and txy those tied in x, in y and in both,
 *   concordant - discordant = t - tx - ty + txy - 2 discordant,   tau = that / sqrt((t - tx) (t - ty)).
 * Ties in x are put in the order of y first, so that no exchange is counted for them; exchanges of equal y do not
 * occur in a stable sort. Counts are exact, of 64 bits.
 *
 * Left open, and chosen: the order of x is found once for a row of pairs and not for every pair, and short pieces
 * are sorted by insertion, which counts the same exchanges. Both are to the method's good.
 *
 * share: only that share of the rows, evenly spread, is computed, and their seconds are scaled by pairs, so that
 * what is printed is an estimate; the program's name then has the share in parentheses. The check computes pairs of
 * other rows by the same function. */
#include "harness.h"

#include <omp.h>

/* The columns as the measure needs them, and the result: rows[i] has the pairs (i, j), j > i, or is NULL if row i
 * was left out. */
typedef struct {
    const problem *p;
    float *normalised; /* Pearson's */
    float **rows;
} method;

/* ---- Pearson ---------------------------------------------------------------------------------------- */

static float *normalised_columns(const problem *p) {
    int64_t n = p->n_obs;
    float *all = (float *)allocate(p->n_var * n, sizeof *all);
    for (int64_t j = 0; j < p->n_var; j++) {
        const double *x = p->x + j * n;
        double mean = 0, square = 0;
        for (int64_t k = 0; k < n; k++) mean += x[k] / (double)n;
        for (int64_t k = 0; k < n; k++) square += (x[k] - mean) * (x[k] - mean);
        for (int64_t k = 0; k < n; k++) all[j * n + k] = (float)((x[k] - mean) / sqrt(square));
    }
    return all;
}

static float dot(const float *x, const float *y, int64_t n) {
    float sum = 0;
    for (int64_t k = 0; k < n; k++) sum += x[k] * y[k];
    return sum;
}

static void pearson_row(const method *m, int64_t i) {
    const problem *p = m->p;
    const float *x = m->normalised + i * p->n_obs;
    for (int64_t j = i + 1; j < p->n_var; j++) m->rows[i][j - i - 1] = dot(x, m->normalised + j * p->n_obs, p->n_obs);
}

/* ---- Kendall ------------------------------------------------------------------------------------------ */

typedef struct {
    double value;
    int64_t position;
} placed;

/* Column x of a row of pairs. */
typedef struct {
    int64_t n;
    int64_t *positions; /* in the order of x */
    double *sorted;
    int64_t tied; /* pairs of observations */
} row_order;

static int by_value(const void *a, const void *b) {
    double x = ((const placed *)a)->value, y = ((const placed *)b)->value;
    return (x > y) - (x < y);
}

static int64_t tied_pairs(const double *sorted, int64_t n) {
    int64_t tied = 0, run = 0; /* number of equal ones before */
    for (int64_t k = 1; k < n; k++) {
        run = sorted[k] == sorted[k - 1] ? run + 1 : 0;
        tied += run;
    }
    return tied;
}

static row_order order_row(const double *x, int64_t n) {
    row_order o = {n, (int64_t *)allocate(n, sizeof(int64_t)), (double *)allocate(n, sizeof(double)), 0};
    placed *both = (placed *)allocate(n, sizeof *both);
    for (int64_t k = 0; k < n; k++) both[k] = (placed){x[k], k};
    qsort(both, (size_t)n, sizeof *both, by_value);
    for (int64_t k = 0; k < n; k++) o.positions[k] = both[k].position, o.sorted[k] = both[k].value;
    o.tied = tied_pairs(o.sorted, n);
    free(both);
    return o;
}

static void free_order(row_order o) {
    free(o.positions);
    free(o.sorted);
}

/* Merges the sorted halves y[0, half) and y[half, n); returns the number of pairs whose first was greater. */
static int64_t merge(double *y, int64_t half, int64_t n, double *work) {
    int64_t exchanges = 0, left = 0, right = half, to = 0;
    if (y[half - 1] <= y[half]) return 0;
    memcpy(work, y, (size_t)half * sizeof *y);
    while (left < half && right < n) {
        if (work[left] <= y[right]) {
            y[to++] = work[left++];
        } else {
            exchanges += half - left;
            y[to++] = y[right++];
        }
    }
    memcpy(y + to, work + left, (size_t)(half - left) * sizeof *y);
    return exchanges;
}

/* Counts the same exchanges as a merge sort. */
static int64_t insertion_sort(double *y, int64_t n) {
    int64_t exchanges = 0;
    for (int64_t k = 1; k < n; k++) {
        double value = y[k];
        int64_t to = k;
        for (; to > 0 && y[to - 1] > value; to--) y[to] = y[to - 1];
        y[to] = value;
        exchanges += k - to;
    }
    return exchanges;
}

static int64_t merge_sort(double *y, int64_t n, double *work) {
    enum { SHORT = 8 };
    if (n <= SHORT) return insertion_sort(y, n);
    int64_t half = n / 2, exchanges = merge_sort(y, half, work) + merge_sort(y + half, n - half, work);
    return exchanges + merge(y, half, n, work);
}

/* Sorts y where x is tied; returns the number of pairs tied in both. */
static int64_t sort_within_ties(const row_order *o, double *y, double *work) {
    int64_t both = 0;
    for (int64_t start = 0, end; start < o->n; start = end) {
        for (end = start + 1; end < o->n && o->sorted[end] == o->sorted[start];) end++;
        if (end == start + 1) continue;
        merge_sort(y + start, end - start, work);
        both += tied_pairs(y + start, end - start);
    }
    return both;
}

/* work: 2 n numbers. */
static float tau_b(const row_order *o, const double *column, double *work) {
    int64_t n = o->n, all = pairs_of(n);
    double *y = work, *spare = work + n;
    for (int64_t k = 0; k < n; k++) y[k] = column[o->positions[k]];
    int64_t both = o->tied > 0 ? sort_within_ties(o, y, spare) : 0;
    int64_t discordant = merge_sort(y, n, spare), tied = tied_pairs(y, n);
    int64_t s = all - o->tied - tied + both - 2 * discordant;
    return (float)((double)s / (sqrt((double)(all - o->tied)) * sqrt((double)(all - tied))));
}

/* Computes the selected rows. Threads divide pairs instead of rows, as there may be few rows. */
static void kendall_rows(const method *m, const int64_t *chosen, int64_t some) {
    const problem *p = m->p;
    row_order *orders = (row_order *)allocate(some, sizeof *orders);
    double *work = (double *)allocate(2 * p->n_obs * omp_get_max_threads(), sizeof *work);
#pragma omp parallel for schedule(static)
    for (int64_t r = 0; r < some; r++) orders[r] = order_row(p->x + chosen[r] * p->n_obs, p->n_obs);
#pragma omp parallel for collapse(2) schedule(dynamic, 64)
    for (int64_t r = 0; r < some; r++)
        for (int64_t j = 0; j < p->n_var; j++) {
            int64_t i = chosen[r];
            double *own = work + 2 * p->n_obs * omp_get_thread_num();
            if (j > i) m->rows[i][j - i - 1] = tau_b(&orders[r], p->x + j * p->n_obs, own);
        }
    for (int64_t r = 0; r < some; r++) free_order(orders[r]);
    free(orders);
    free(work);
}

/* ---- rows, all of them or a share ------------------------------------------------------------------------ */

/* Allocates memory for the selected rows, the middles of equal parts, before the clock starts; returns their number. */
static int64_t choose_rows(method *m, double shard, int64_t *chosen) {
    int64_t all = m->p->n_var - 1, some = (int64_t)ceil(shard * (double)all);
    for (int64_t r = 0; r < some; r++) {
        int64_t i = some == all ? r : (int64_t)(((double)r + 0.5) * (double)all / (double)some);
        m->rows[i] = touched_floats(all - i);
        chosen[r] = i;
    }
    return some;
}

/* Returns the seconds that all rows would take: those of the selected rows, scaled by pairs. */
static double compute_rows(const method *m, const int64_t *chosen, int64_t some) {
    int64_t n = m->p->n_var, pairs = 0;
    double start = seconds_now();
    if (m->normalised)
        for (int64_t r = 0; r < some; r++) pearson_row(m, chosen[r]);
    else
        kendall_rows(m, chosen, some);
    double seconds = seconds_now() - start;
    for (int64_t r = 0; r < some; r++) pairs += n - 1 - chosen[r];
    return seconds * ((double)pairs_of(n) / (double)pairs);
}

/* Computes a pair of a row that was left out. */
static double value_of(const void *result, int64_t i, int64_t j) {
    const method *m = (const method *)result;
    const problem *p = m->p;
    if (m->rows[i]) return m->rows[i][j - i - 1];
    if (m->normalised) return dot(m->normalised + i * p->n_obs, m->normalised + j * p->n_obs, p->n_obs);
    row_order o = order_row(p->x + i * p->n_obs, p->n_obs);
    double *work = (double *)allocate(2 * p->n_obs, sizeof *work);
    double tau = tau_b(&o, p->x + j * p->n_obs, work);
    free(work);
    free_order(o);
    return tau;
}

/* ---- the program ------------------------------------------------------------------------------------------ */

/* With u = 2^-24, half a unit of rounding: the error of a float dot product of n terms of unit columns is (n + 2) u,
 * including the columns' own rounding. tau is exact except for its rounding to float. */
static double tolerance(measure what, double n) {
    const double u = 0x1p-24;
    return what == PEARSON ? (n + 4) * u : 2 * u;
}

static double read_shard(int argc, char **argv) {
    double shard = argc > 5 ? atof(argv[5]) : 1;
    if (shard > 0 && shard <= 1) return shard;
    fprintf(stderr, "%s: not a share above 0 and up to 1\n", argv[5]);
    exit(2);
}

int main(int argc, char **argv) {
    measure what = read_measure(argc, argv, 0);
    double shard = read_shard(argc, argv);
    problem p = read_problem(argc, argv);
    method m = {&p, NULL, (float **)allocate(p.n_var, sizeof *m.rows)};
    for (int64_t i = 0; i < p.n_var; i++) m.rows[i] = NULL;
    int64_t *chosen = (int64_t *)allocate(p.n_var, sizeof *chosen), some = choose_rows(&m, shard, chosen);
    char name[64] = "sequential";
    if (shard < 1) snprintf(name, sizeof name, "sequential(%g)", shard);

    double start = seconds_now();
    if (what == PEARSON) m.normalised = normalised_columns(&p);
    double seconds = seconds_now() - start; /* of all columns, whatever the fraction */
    seconds += compute_rows(&m, chosen, some);

    int status = report(name, &p, what, seconds, value_of, &m, tolerance(what, (double)p.n_obs));
    for (int64_t i = 0; i < p.n_var; i++) free(m.rows[i]);
    free(m.rows);
    free(m.normalised);
    free(chosen);
    free(p.x);
    return status;
}
