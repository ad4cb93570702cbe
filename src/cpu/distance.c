/* The distance correlation of a pair in n log n steps (Huo and Szekely 2016).
 *
 * U-centring removes any sum of a term of each observation from distances. So it makes the same of |x - x'| as of
 * |x - x'| - |x - m| - |x' - m|, where m is the median: this is 0 if the values are on different sides of m, and
 * otherwise -2 min(|x - m|, |x' - m|), of which the factor cancels in the coefficient. Sums of these minima do not
 * cancel, as those of distances do, and an outlier counts by the values that it meets. The products of two columns'
 * minima are summed for each side of x and of y separately. */
#include "cpu.h"

#include "../measure/coefficient.h"

#include <string.h>

/* If U-centred distances are less than this fraction of the distances, by sums of squares, they are zero but for
 * rounding: measure/distance.c. */
static const double NOTHING_LEFT = 0x1p-80;

/* A column and its copy differ from 1 by the roundings of sums in different orders, of less than this. */
static const double ROUNDING = 0x1p-46;

enum { MIN_OBS = 4, SHORT = 128 };

/* Sums are sums of runs of so many terms: rounding always the same way, as of equal terms, then costs few bits. */
enum { RUN = GCOR_OBS_RUN };

static int64_t end_of_run(int64_t from, int64_t n) {
    return gcor_min(from + RUN, n);
}

/* ---- a column -------------------------------------------------------------------------------- */

/* The values of a pair's observations, ascending, and less their median, which is value n / 2. The row of each, and the
 * sum of its minima with all others. */
typedef struct {
    double *values, *sums;
    const int32_t *rows;
    int64_t n;
    double all, norm; /* of the sums; of the U-centred minima, as gcor_operand's */
} side;

/* Running sums over a column's values and their minima. */
typedef struct {
    double values, squares, minima, sums, sums_squared;
} totals;

/* Adds the n values on one side of the median, from there outwards. step: 1 or -1. */
static void add_half(const double *value, int64_t n, int64_t step, double *sum, totals *t) {
    double before = 0;
    for (int64_t from = 0, k = 0; from < n; from = k) {
        totals run = {0};
        double below = 0;
        for (int64_t end = end_of_run(from, n); k < end; k++, value += step, sum += step) {
            double size = fabs(*value), larger = (double)(n - 1 - k), own = (before + below) + size * larger;
            below += size;
            *sum = own;
            run.values += *value;
            run.squares += size * size;
            run.minima += size * size * larger;
            run.sums += own;
            run.sums_squared += own * own;
        }
        before += below;
        t->values += run.values;
        t->squares += run.squares;
        t->minima += run.minima;
        t->sums += run.sums;
        t->sums_squared += run.sums_squared;
    }
}

/* The sum of products of U-centred minima from sums that are not centred: over pairs of observations, and over all
 * observations. */
static double centred(double minima, double sums, double all, double other_all, int64_t n) {
    double m = (double)n;
    return minima - sums / (m - 2) + all * other_all / (2 * (m - 1) * (m - 2));
}

/* Centres the n values, of at least MIN_OBS, and sets the sums. */
static void measure_side(side *s) {
    double *v = s->values, low = v[0], high = v[s->n - 1];
    int64_t half = s->n / 2;
    totals t = {0};
    if (isinf(low) || isinf(high)) {
        s->norm = (double)NAN;
        return;
    }
    double scale = gcor_scale(fabs(low) > fabs(high) ? fabs(low) : fabs(high)), median = v[half] * scale;
    for (int64_t k = 0; k < s->n; k++) v[k] = v[k] * scale - median;
    add_half(v + half, s->n - half, 1, s->sums + half, &t);
    add_half(v + half - 1, half, -1, s->sums + half - 1, &t);
    double distances = (double)s->n * t.squares - t.values * t.values;
    double norm = centred(t.minima, t.sums_squared, t.sums, t.sums, s->n);
    s->all = t.sums;
    s->norm = 4 * norm > NOTHING_LEFT * distances ? norm : 0;
}

/* Gathers the values of x where `other` is present, too. rows: scratch for theirs. */
static void gather(const cpu_ordered *x, const double *other, int32_t *rows, side *s) {
    int64_t n = 0;
    for (int64_t p = 0; p < x->n_present; p++) {
        int32_t row = x->order[p];
        rows[n] = row;
        s->values[n] = x->values[row];
        n += other[row] == other[row];
    }
    s->n = n;
    s->rows = rows;
}

static side side_of_sums(const cpu_ordered *x) {
    const int64_t n = x->n_present;
    return (side){x->sums, x->sums + n, x->order, n, x->sums[2 * n], x->sums[2 * n + 1]};
}

/* ---- products of minima ---------------------------------------------------------------------- */

/* An observation's distances a and b from the medians of x and of y, as one vector. */
typedef double point __attribute__((vector_size(2 * sizeof(double))));
typedef int64_t point_mask __attribute__((vector_size(2 * sizeof(double))));

/* The n observations on one side of x's median and of y's, ascending by b. values: the n_values distances on that side
 * of x, ascending, `step` apart, and signed; a's are among them. */
typedef struct {
    point *of;
    int64_t n;
    const double *values;
    int64_t n_values, step;
} quadrant;

static double value_of(const quadrant *q, int64_t k) {
    return fabs(q->values[k * q->step]);
}

/* Returns the sum over all pairs of min(a, a') min(b, b') if all a's are equal. */
static double sum_equal(const quadrant *q) {
    double sum = 0;
    for (int64_t from = 0, k = 0; from < q->n; from = k) {
        double run = 0;
        for (int64_t end = end_of_run(from, q->n); k < end; k++) run += q->of[k][1] * (double)(q->n - 1 - k);
        sum += run;
    }
    return sum * value_of(q, 0);
}

static double sum_few(const cpu_kernels *kernels, const quadrant *q) {
    double a[SHORT + CPU_MINIMA_LANES], b[SHORT + CPU_MINIMA_LANES];
    for (int64_t k = 0; k < q->n; k++) {
        a[k] = q->of[k][0];
        b[k] = q->of[k][1];
    }
    return kernels->minima(a, b, q->n);
}

/* Writes the observations with a's below `pivot`, and behind these the others, to `to`, in their order. Returns the
 * number of the others; *product: the sum over pairs of one of these and one of the others. There is no branch, which
 * would be mispredicted. */
static int64_t split(const quadrant *q, double pivot, point *to, double *product) {
    const point pivots = {pivot, pivot};
    double before = 0, sum = 0;
    int64_t large = 0, n = 0;
    for (int64_t k = 0; k < q->n; k++) large += q->of[k][0] >= pivot;
    const int64_t small = q->n - large;
    point passed = {0, (double)large}; /* the sum of a run's large b's up to here, and how many are to come */
    for (int64_t from = 0, k = 0; from < q->n; from = k) {
        point run = {0, 0};
        passed[0] = 0;
        for (int64_t end = end_of_run(from, q->n); k < end; k++) {
            const point own = q->of[k];
            const point_mask is_large = (point){own[0], own[0]} >= pivots;
            const point minima = {own[0] * ((before + passed[0]) + own[1] * passed[1]), 0};
            run += (point)((point_mask)minima & ~is_large);
            passed += (point)((point_mask)(point){own[1], -1} & is_large);
            to[k - n + (is_large[0] & (small - k + 2 * n))] = own;
            n -= is_large[0];
        }
        before += passed[0];
        sum += run[0];
    }
    *product = sum;
    return n;
}

/* The same for any a's. spare: memory for as many observations, which are overwritten, too. */
static double sum_quadrant(const cpu_kernels *kernels, const quadrant *q, point *spare) {
    double product;
    if (q->n <= SHORT) return sum_few(kernels, q);
    if (value_of(q, 0) == value_of(q, q->n_values - 1)) return sum_equal(q);
    int64_t half = q->n_values / 2, n = split(q, value_of(q, half), spare, &product), rest = q->n - n;
    const quadrant large = {spare + rest, n, q->values + half * q->step, q->n_values - half, q->step};
    const quadrant small = {spare, rest, q->values, half, q->step};
    product += sum_quadrant(kernels, &large, q->of + rest);
    return product + sum_quadrant(kernels, &small, q->of);
}

/* ---- a pair ---------------------------------------------------------------------------------- */

typedef struct {
    double value, sum;
} observation;

typedef struct {
    side x, y;
    int32_t *rows;                /* scratch for those of both */
    observation *of_row;          /* x's */
    point *above, *below, *spare; /* quadrants */
} pair;

/* Adds the n observations on one side of y's median, from there outwards, to the sum of products of sums, and returns
 * the sum of products of their minima. */
static double add_products(const cpu_kernels *kernels, const pair *p, int64_t first, int64_t n, int64_t step,
                           double *sums) {
    int64_t half = p->x.n / 2;
    quadrant above = {p->above, 0, p->x.values + half, p->x.n - half, 1};
    quadrant below = {p->below, 0, p->x.values + half - 1, half, -1};
    for (int64_t from = 0, k = 0; from < n; from = k) {
        double run = 0;
        for (int64_t end = end_of_run(from, n); k < end; k++, first += step) {
            observation own = p->of_row[p->y.rows[first]];
            double size = fabs(p->y.values[first]);
            run += own.sum * p->y.sums[first];
            above.of[above.n] = (point){own.value, size};
            below.of[below.n] = (point){-own.value, size};
            above.n += own.value > 0;
            below.n += own.value < 0;
        }
        *sums += run;
    }
    double product = sum_quadrant(kernels, &above, p->spare);
    return product + sum_quadrant(kernels, &below, p->spare);
}

/* The order of a pair's sums must not depend on which column is the first: it is the one with the smaller value where
 * they differ first. */
static int is_first(const double *x, const double *y, int64_t n) {
    int64_t k = 0;
    while (k < n && !(x[k] < y[k] || x[k] > y[k])) k++;
    return k == n || x[k] < y[k];
}

int64_t cpu_distance_bytes(int64_t n_obs) {
    return (7 * n_obs + 6 * (n_obs + 1)) * (int64_t)sizeof(double);
}

static pair pair_at(void *work, int64_t n_obs) {
    pair p = {.above = work};
    p.below = p.above + n_obs + 1;
    p.spare = p.below + n_obs + 1;
    p.of_row = (observation *)(void *)(p.spare + n_obs + 1);
    double *at = (double *)(void *)(p.of_row + n_obs);
    p.x = (side){.values = at, .sums = at + n_obs};
    p.y = (side){.values = at + 2 * n_obs, .sums = at + 3 * n_obs};
    p.rows = (int32_t *)(void *)(at + 4 * n_obs);
    return p;
}

double cpu_distance_norm(const cpu_ordered *x, void *work) {
    pair p = pair_at(work, x->n_present);
    if (x->sums) {
        p.x.values = x->sums;
        p.x.sums = x->sums + x->n_present;
    }
    gather(x, x->values, p.rows, &p.x);
    if (p.x.n >= MIN_OBS) measure_side(&p.x);
    if (x->sums) {
        x->sums[2 * p.x.n] = p.x.all;
        x->sums[2 * p.x.n + 1] = p.x.norm;
    }
    return p.x.norm;
}

double cpu_distance_pair(const cpu_kernels *kernels, const cpu_ordered *x, const cpu_ordered *y, int64_t n_obs,
                         void *work) {
    if (!is_first(x->values, y->values, n_obs)) {
        const cpu_ordered *swap = x;
        x = y;
        y = swap;
    }
    pair p = pair_at(work, n_obs);
    if (x->sums) {
        p.x = side_of_sums(x);
        p.y = side_of_sums(y);
    } else {
        gather(x, y->values, p.rows, &p.x);
        gather(y, x->values, p.rows + n_obs, &p.y);
    }
    if (p.x.n < MIN_OBS) return GCOR_NO_VALUE;
    if (!x->sums) {
        measure_side(&p.x);
        measure_side(&p.y);
    }
    if (!(p.x.norm > 0 && p.y.norm > 0)) return gcor_coefficient(0, p.x.norm, p.y.norm);
    for (int64_t k = 0; k < p.x.n; k++) p.of_row[p.x.rows[k]] = (observation){p.x.values[k], p.x.sums[k]};
    int64_t half = p.y.n / 2;
    double sums = 0, minima = add_products(kernels, &p, half, p.y.n - half, 1, &sums);
    minima += add_products(kernels, &p, half - 1, half, -1, &sums);
    double r = gcor_coefficient(centred(minima, sums, p.x.all, p.y.all, p.x.n), p.x.norm, p.y.norm);
    return r < 1 - ROUNDING ? r : 1;
}
