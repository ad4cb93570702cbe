/* Squared distance correlation of a pair in n log n steps (Huo and Szekely 2016), the same on every back end.
 *
 * U-centring removes any sum of a term of each observation from distances. So it makes the same of |x - x'| as of
 * |x - x'| - |x - m| - |x' - m|, where m is the median: this is 0 if the values are on different sides of m, and
 * otherwise -2 min(|x - m|, |x' - m|), of which the factor cancels in the coefficient. Sums of these minima do not
 * cancel, as those of distances do, and an outlier counts by the values that it meets. The products of two columns'
 * minima are summed for each side of x and of y separately. */
#pragma once

#include "coefficient.h"
#include "measure.h"

/* Elements of an array in scratch are so far apart. On a GPU each thread of a warp has a pair, and their arrays are
 * interleaved, so that a warp's element k is contiguous. */
#ifdef __CUDA_ARCH__
enum { GCOR_APART = 32 };
#else
enum { GCOR_APART = 1 };
#endif

/* If U-centred distances are less than this fraction of the distances, by sums of squares, they are zero but for
 * rounding: measure/distance.c. */
#define GCOR_NOTHING_LEFT 0x1p-80

/* A column and its copy differ from 1 by the roundings of sums in different orders, of less than this. */
#define GCOR_DISTANCE_ROUNDING 0x1p-46

/* GCOR_FEW_MINIMA: up to so many observations, gcor_sum_minima() compares all pairs. */
enum { GCOR_MIN_DISTANCES = 4, GCOR_FEW_MINIMA = 128 };

/* Sums are sums of runs of so many terms: rounding always the same way, as of equal terms, then costs few bits. */
GCOR_INLINE int64_t gcor_end_of_run(int64_t from, int64_t n) {
    return gcor_min(from + GCOR_OBS_RUN, n);
}

/* ---- a column -------------------------------------------------------------------------------- */

/* The values of a pair's observations, ascending, and less their median, which is value n / 2. The row of each, and the
 * sum of its minima with all others. */
typedef struct {
    double *values, *sums;
    const int32_t *rows;
    int64_t n;
    double all, norm; /* of the sums; of the U-centred minima, as gcor_operand's */
} gcor_distance_side;

/* Running sums over a column's values and their minima. */
typedef struct {
    double values, squares, minima, sums, sums_squared;
} gcor_distance_totals;

/* Adds the n values on one side of the median, from there outwards. step: GCOR_APART or the same below zero. */
GCOR_INLINE void gcor_add_half(const double *value, int64_t n, int64_t step, double *sum, gcor_distance_totals *t) {
    double before = 0;
    for (int64_t from = 0, k = 0; from < n; from = k) {
        gcor_distance_totals run = {0, 0, 0, 0, 0};
        double below = 0;
        for (int64_t end = gcor_end_of_run(from, n); k < end; k++, value += step, sum += step) {
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
GCOR_INLINE double gcor_centred_sum(double minima, double sums, double all, double other_all, int64_t n) {
    double m = (double)n;
    return minima - sums / (m - 2) + all * other_all / (2 * (m - 1) * (m - 2));
}

/* Centres the n values, of at least GCOR_MIN_DISTANCES, and sets the sums. */
GCOR_INLINE void gcor_measure_side(gcor_distance_side *s) {
    double *v = s->values, low = v[0], high = v[(s->n - 1) * GCOR_APART];
    const int64_t half = s->n / 2, middle = half * GCOR_APART;
    gcor_distance_totals t = {0, 0, 0, 0, 0};
    if (isinf(low) || isinf(high)) {
        s->norm = (double)NAN;
        return;
    }
    double scale = gcor_scale(fabs(low) > fabs(high) ? fabs(low) : fabs(high)), median = v[middle] * scale;
    for (int64_t k = 0; k < s->n; k++) v[k * GCOR_APART] = v[k * GCOR_APART] * scale - median;
    gcor_add_half(v + middle, s->n - half, GCOR_APART, s->sums + middle, &t);
    gcor_add_half(v + middle - GCOR_APART, half, -GCOR_APART, s->sums + middle - GCOR_APART, &t);
    double distances = (double)s->n * t.squares - t.values * t.values;
    double norm = gcor_centred_sum(t.minima, t.sums_squared, t.sums, t.sums, s->n);
    s->all = t.sums;
    s->norm = 4 * norm > GCOR_NOTHING_LEFT * distances ? norm : 0;
}

/* Gathers the values of x where `other` is present, too. rows: scratch for theirs. */
GCOR_INLINE void gcor_gather_side(const gcor_ordered *x, const double *other, int32_t *rows, gcor_distance_side *s) {
    int64_t n = 0;
    for (int64_t p = 0; p < x->n_present; p++) {
        int32_t row = x->order[p];
        rows[n * GCOR_APART] = row;
        s->values[n * GCOR_APART] = x->values[row];
        n += other[row] == other[row];
    }
    s->n = n;
    s->rows = rows;
    s->all = s->norm = 0;
}

/* On the CPU only: there, elements are not apart. */
GCOR_INLINE gcor_distance_side gcor_known_side(const gcor_ordered *x) {
    const int64_t n = x->n_present;
    const gcor_distance_side s = {x->sums, x->sums + n, x->order, n, x->sums[2 * n], x->sums[2 * n + 1]};
    return s;
}

/* ---- products of minima ---------------------------------------------------------------------- */

/* An observation's distances a and b from the medians of x and of y; or its value and sum of x. */
#ifdef __CUDACC__
struct alignas(16) gcor_point {
    double of[2];
    __host__ __device__ double operator[](int k) const { return of[k]; }
};
#else
typedef double gcor_point __attribute__((vector_size(2 * sizeof(double))));
#endif

/* The n observations on one side of x's median and of y's, ascending by b. values: the n_values distances on that side
 * of x, ascending, `step` apart, and signed; a's are among them. */
typedef struct {
    gcor_point *of;
    int64_t n;
    const double *values;
    int64_t n_values, step;
} gcor_quadrant;

GCOR_INLINE double gcor_quadrant_value(const gcor_quadrant *q, int64_t k) {
    return fabs(q->values[k * q->step]);
}

/* Returns the sum over all pairs of min(a, a') min(b, b') if all a's are equal. */
GCOR_INLINE double gcor_sum_equal(const gcor_quadrant *q) {
    double sum = 0;
    for (int64_t from = 0, k = 0; from < q->n; from = k) {
        double run = 0;
        for (int64_t end = gcor_end_of_run(from, q->n); k < end; k++)
            run += q->of[k * GCOR_APART][1] * (double)(q->n - 1 - k);
        sum += run;
    }
    return sum * gcor_quadrant_value(q, 0);
}

/* The same for any a's, by a back end; all of them have the same order of sums. with: the back end's own. spare: memory
 * for as many observations, which are overwritten, too. */
typedef double gcor_sum_minima(const void *with, const gcor_quadrant *q, gcor_point *spare);

/* ---- a pair ---------------------------------------------------------------------------------- */

typedef struct {
    gcor_distance_side x, y;
    int32_t *rows;                     /* scratch for those of both */
    gcor_point *of_row;                /* x's */
    gcor_point *above, *below, *spare; /* quadrants */
} gcor_distance;

/* Adds the n observations on one side of y's median, from element `first` outwards, to the sum of products of sums, and
 * returns the sum of products of their minima. */
GCOR_INLINE double gcor_add_products(gcor_sum_minima *sum, const void *with, const gcor_distance *p, int64_t first,
                                     int64_t n, int64_t step, double *sums) {
    const int64_t half = p->x.n / 2, middle = half * GCOR_APART;
    gcor_quadrant above = {p->above, 0, p->x.values + middle, p->x.n - half, GCOR_APART};
    gcor_quadrant below = {p->below, 0, p->x.values + middle - GCOR_APART, half, -GCOR_APART};
    for (int64_t from = 0, k = 0; from < n; from = k) {
        double run = 0;
        for (int64_t end = gcor_end_of_run(from, n); k < end; k++, first += step) {
            const gcor_point own = p->of_row[(int64_t)p->y.rows[first] * GCOR_APART];
            const double value = own[0], size = fabs(p->y.values[first]);
            const gcor_point if_above = {value, size}, if_below = {-value, size};
            run += own[1] * p->y.sums[first];
            above.of[above.n * GCOR_APART] = if_above;
            below.of[below.n * GCOR_APART] = if_below;
            above.n += value > 0;
            below.n += value < 0;
        }
        *sums += run;
    }
    double product = sum(with, &above, p->spare);
    return product + sum(with, &below, p->spare);
}

/* The order of a pair's sums must not depend on which column is the first: it is the one with the smaller value where
 * they differ first. */
GCOR_INLINE int gcor_is_first(const double *x, const double *y, int64_t n) {
    int64_t k = 0;
    while (k < n && !(x[k] < y[k] || x[k] > y[k])) k++;
    return k == n || x[k] < y[k];
}

/* Max number of observations in a quadrant, of n_obs. */
GCOR_INLINE int64_t gcor_distance_half(int64_t n_obs) {
    return n_obs / 2 + 1;
}

/* Bytes of scratch for a pair of columns of n_obs values, aligned for two doubles. */
GCOR_INLINE int64_t gcor_distance_bytes(int64_t n_obs) {
    return (7 * n_obs + 6 * gcor_distance_half(n_obs)) * (int64_t)sizeof(double);
}

/* Lays out scratch. lane: 0 .. GCOR_APART - 1, of the pairs whose scratch is interleaved. */
GCOR_INLINE gcor_distance gcor_distance_at(void *work, int64_t n_obs, int lane) {
    const int64_t n = n_obs * GCOR_APART, half = gcor_distance_half(n_obs) * GCOR_APART;
    gcor_point *points = (gcor_point *)work;
    double *doubles = (double *)(void *)(points + 3 * half + n);
    gcor_distance p;
    p.above = points + lane;
    p.below = p.above + half;
    p.spare = p.below + half;
    p.of_row = p.spare + half;
    p.x.values = doubles + lane;
    p.x.sums = p.x.values + n;
    p.y.values = p.x.sums + n;
    p.y.sums = p.y.values + n;
    p.rows = (int32_t *)(void *)(doubles + 4 * n) + lane;
    return p;
}

/* Squared length of a column's U-centred distances: 0 if they are all zero but for rounding, or if there are too few
 * values; NaN if some are infinite. Writes the column's sums, unless they are NULL. work: gcor_distance_bytes() of its
 * values. On the host only; any thread. */
GCOR_INLINE double gcor_distance_norm(const gcor_ordered *x, void *work) {
    gcor_distance p = gcor_distance_at(work, x->n_present, 0);
    if (x->sums) {
        p.x.values = x->sums;
        p.x.sums = x->sums + x->n_present;
    }
    gcor_gather_side(x, x->values, p.rows, &p.x);
    if (p.x.n >= GCOR_MIN_DISTANCES) gcor_measure_side(&p.x);
    if (x->sums) {
        x->sums[2 * p.x.n] = p.x.all;
        x->sums[2 * p.x.n + 1] = p.x.norm;
    }
    return p.x.norm;
}

/* As cpu_distance_pair(). work: gcor_distance_bytes() for each of GCOR_APART lanes. */
GCOR_INLINE double gcor_distance_pair(gcor_sum_minima *sum, const void *with, const gcor_ordered *x,
                                      const gcor_ordered *y, int64_t n_obs, void *work, int lane) {
    if (!gcor_is_first(x->values, y->values, n_obs)) {
        const gcor_ordered *swap = x;
        x = y;
        y = swap;
    }
    gcor_distance p = gcor_distance_at(work, n_obs, lane);
    if (x->sums) {
        p.x = gcor_known_side(x);
        p.y = gcor_known_side(y);
    } else {
        gcor_gather_side(x, y->values, p.rows, &p.x);
        gcor_gather_side(y, x->values, p.rows + n_obs * GCOR_APART, &p.y);
    }
    if (p.x.n < GCOR_MIN_DISTANCES) return GCOR_NO_VALUE;
    if (!x->sums) {
        gcor_measure_side(&p.x);
        gcor_measure_side(&p.y);
    }
    if (!(p.x.norm > 0 && p.y.norm > 0)) return gcor_coefficient(0, p.x.norm, p.y.norm);
    for (int64_t k = 0; k < p.x.n; k++) {
        const gcor_point own = {p.x.values[k * GCOR_APART], p.x.sums[k * GCOR_APART]};
        p.of_row[(int64_t)p.x.rows[k * GCOR_APART] * GCOR_APART] = own;
    }
    const int64_t half = p.y.n / 2, middle = half * GCOR_APART;
    double sums = 0, minima = gcor_add_products(sum, with, &p, middle, p.y.n - half, GCOR_APART, &sums);
    minima += gcor_add_products(sum, with, &p, middle - GCOR_APART, half, -GCOR_APART, &sums);
    double r = gcor_coefficient(gcor_centred_sum(minima, sums, p.x.all, p.y.all, p.x.n), p.x.norm, p.y.norm);
    return r < 1 - GCOR_DISTANCE_ROUNDING ? r : 1;
}
