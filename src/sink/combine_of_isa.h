/* The loops of sinks for one instruction set (combine_loops.h), included by cpu/kernels_of_isa.h, which says what
 * macros and types there are. */
#include "combine_loops.h"

#include "../base/elementary.h"
#include "weight.h"

/* Fused where the instruction set can: approximate values need not be the same on all processors. */
INLINE float multiply_add(float a, float b, float c) {
    return IS_FUSED ? __builtin_fmaf(a, b, c) : a * b + c;
}

/* An odd polynomial with an error of at most 1.4e-4 up to GCOR_APPROX_HIGH. */
INLINE float approx_artanh(float r) {
    const float t = r * r;
    float sum = 6.48284696f;
    sum = multiply_add(sum, t, -13.5850477f);
    sum = multiply_add(sum, t, 11.717927f);
    sum = multiply_add(sum, t, -4.65993585f);
    sum = multiply_add(sum, t, 1.17463337f);
    sum = multiply_add(sum, t, 0.248149894f);
    sum = multiply_add(sum, t, 1.00213188f);
    return sum * r;
}

/* The same up to GCOR_APPROX_MAX; 0 beyond max. artanh(r) = artanh(moved) + artanh((r - moved) / (1 - moved r)). */
INLINE float approx_high_artanh(float r, float max) {
    const float size = fabsf(r), moved = 0.994475126f; /* about artanh(r) = 2 artanh(GCOR_APPROX_HIGH) */
    const float rest = (size - moved) / ((1 - size) + size * (1 - moved));
    const int is_high = size > (float)GCOR_APPROX_HIGH;
    const float z = approx_artanh(is_high ? rest : size) + (is_high ? 2.9444379f : 0);
    return size > max ? 0 : r < 0 ? -z : z;
}

/* A rational function with an error of about 1e-7. */
INLINE float approx_tanh(float z) {
    z = z > 7.9f ? 7.9f : z;
    z = z < -7.9f ? -7.9f : z;
    const float t = z * z;
    float a = -2.76076847742355e-16f;
    a = a * t + 2.00018790482477e-13f;
    a = a * t - 8.60467152213735e-11f;
    a = a * t + 5.12229709037114e-08f;
    a = a * t + 1.48572235717979e-05f;
    a = a * t + 6.37261928875436e-04f;
    a = a * t + 4.89352455891786e-03f;
    float b = 1.19825839466702e-06f;
    b = b * t + 1.18534705686654e-04f;
    b = b * t + 2.26843463243900e-03f;
    b = b * t + 4.89352518554385e-03f;
    return z * a / b;
}

/* Coefficients of artanh with fewer terms, for values up to GCOR_APPROX_LOW; the error is at most 1.33e-4. */
static const float WEAK[] = {1.00146643f, 0.303777466f, 0.341046865f};

/* Defines a function that returns 1 if the condition holds for one of n values, each of which it calls `own`. A
 * comparison of vectors gives integers, all bits of which are set or none: they are gathered in words. */
#define SOME(name, type, parameters, condition) \
    static int name parameters { \
        enum { LANES = BYTES / sizeof(type), WORDS = BYTES / 8 }; \
        typedef type lanes __attribute__((vector_size(BYTES), aligned(sizeof(type)), may_alias)); \
        const int64_t whole = n - n % LANES; \
        word_vec found = {0}; \
        uint64_t any = 0; \
        for (int64_t k = 0; k < whole; k += LANES) { \
            const lanes own = *(const lanes *)(value + k); \
            found |= (word_vec)(condition); \
        } \
        for (int64_t k = whole; k < n; k++) { \
            const type own = value[k]; \
            any |= condition; \
        } \
        for (int w = 0; w < WORDS; w++) any |= found[w]; \
        return any != 0; \
    }
SOME(are_beyond, float, (const float *value, float max, int64_t n), (own > max) | (own < -max))
SOME(some_reach, double, (const double *value, double low, double high, int64_t n), (own >= high) | (own <= low))
SOME(some_floats_reach, float, (const float *value, float low, float high, int64_t n), (own >= high) | (own <= low))

static void add_mean(double *sum, const double *value, double w, int64_t n) {
    for (int64_t k = 0; k < n; k++) sum[k] += w * value[k];
}

static void add_fisher(double *sum, const double *value, double w, int64_t n) {
    enum { RUN = 64 };
    double s[RUN], tail[RUN], log_part[RUN];
    for (int64_t from = 0; from < n; from += RUN, sum += RUN, value += RUN) {
        const int64_t run = n - from < RUN ? n - from : RUN;
        for (int64_t k = 0; k < run; k++) s[k] = gcor_artanh_reduce(value[k], &log_part[k]);
        for (int64_t k = 0; k < run; k++) tail[k] = gcor_artanh_tail(s[k] * s[k]);
        for (int64_t k = 0; k < run; k++) sum[k] += w * gcor_artanh_end(value[k], s[k], tail[k], log_part[k]);
    }
}

static void add_min(double *sum, const double *value, int64_t n) {
    for (int64_t k = 0; k < n; k++) sum[k] = value[k] < sum[k] ? value[k] : sum[k];
}

static gcor_int128 add_exactly(const double *terms, int64_t n, double *high, double *low) {
    enum { LANES = BYTES / sizeof(double) };
    typedef double lanes __attribute__((vector_size(BYTES), aligned(sizeof(double)), may_alias));
    lanes all_high = {0}, all_low = {0};
    int64_t k = 0;
    for (; k + LANES <= n; k += LANES) {
        const lanes term = *(const lanes *)(terms + k), high_part = GCOR_HIGH_PART(term);
        const lanes low_part = GCOR_LOW_PART(term, high_part);
        *(lanes *)(high + k) += high_part;
        *(lanes *)(low + k) += low_part;
        all_high += high_part; /* sums are exact, in whatever order */
        all_low += low_part;
    }
    for (; k < n; k++) {
        const double high_part = gcor_high_part(terms[k]), low_part = gcor_low_part(terms[k], high_part);
        high[k] += high_part;
        low[k] += low_part;
        all_high[0] += high_part;
        all_low[0] += low_part;
    }
    for (int l = 1; l < LANES; l++) all_high[0] += all_high[l], all_low[0] += all_low[l];
    return gcor_fixed(all_high[0], all_low[0]);
}

static void weighted_sums(const double *z, const double *w, int64_t subjects, int64_t n, double *sum) {
    for (int64_t k = 0; k < n; k++) sum[k] = 0;
    for (int64_t s = 0; s < subjects; s++, z += GCOR_SUM_BLOCK) {
        for (int64_t k = 0; k < n; k++) sum[k] += w[s] * z[k];
    }
}

static void welch(const double *z, const double *totals, const double *is_first, int64_t subjects, int64_t n,
                  double *t) {
    const double *all = totals, *all_squares = totals + GCOR_SUM_BLOCK;
    double n_first = 0, sum[GCOR_SUM_BLOCK], squares[GCOR_SUM_BLOCK];
    for (int64_t k = 0; k < n; k++) sum[k] = squares[k] = 0;
    for (int64_t s = 0; s < subjects; s++, z += GCOR_SUM_BLOCK) {
        if (is_first[s] == 0) continue;
        n_first++;
        for (int64_t k = 0; k < n; k++) {
            sum[k] += z[k];
            squares[k] += z[k] * z[k];
        }
    }
    const double n_second = (double)subjects - n_first, a = 1 / n_first, b = 1 / n_second;
    const double of_first = a / (n_first - 1), of_second = b / (n_second - 1);
    for (int64_t k = 0; k < n; k++) {
        double second = all[k] - sum[k], difference = sum[k] * a - second * b;
        double variance = (squares[k] - sum[k] * sum[k] * a) * of_first +
                          (all_squares[k] - squares[k] - second * second * b) * of_second;
        t[k] = difference * fabs(difference) / (variance > GCOR_NO_VARIANCE ? variance : GCOR_NO_VARIANCE);
    }
}

static void linear_t(const double *y, const double *squares, const double *w, int64_t terms, int64_t tested,
                     int64_t rows, double df, int64_t n, double *t) {
    double effects[GCOR_SUM_BLOCK], rest[GCOR_SUM_BLOCK], sum[GCOR_SUM_BLOCK];
    for (int64_t k = 0; k < n; k++) effects[k] = 0, rest[k] = squares[k];
    for (int64_t i = 0; i < terms; i++) {
        weighted_sums(y, w + i * rows, rows, n, sum);
        for (int64_t k = 0; k < n; k++) rest[k] -= sum[k] * sum[k];
        for (int64_t k = 0; i >= terms - tested && k < n; k++) effects[k] += sum[k] * sum[k];
    }
    for (int64_t k = 0; k < n; k++) {
        double f = df * effects[k] / ((double)tested * (rest[k] > GCOR_NO_VARIANCE ? rest[k] : GCOR_NO_VARIANCE));
        t[k] = tested > 1 ? f * f : sum[k] < 0 ? -f : f;
    }
}

GCOR_MAX_WEIGHT(max_weight, double, fabs)

static double largest(const double *value, gcor_side side, int64_t n) {
    return max_weight(gcor_weigh(side), value, n, -INFINITY);
}

static void divide(double *sum, double total, int64_t n) {
    for (int64_t k = 0; k < n; k++) sum[k] /= total;
}

static void end_fisher(double *sum, int64_t n) {
    for (int64_t k = 0; k < n; k++) sum[k] = gcor_tanh(sum[k]);
}

static void add_approx_mean(float *sum, const float *value, float w, int64_t n) {
    for (int64_t k = 0; k < n; k++) sum[k] += w * value[k];
}

/* For values up to GCOR_APPROX_LOW. */
INLINE void add_low(float *sum, const float *value, float w, int64_t n) {
    const float a = w * WEAK[2], b = w * WEAK[1], c = w * WEAK[0];
    for (int64_t k = 0; k < n; k++) {
        const float r = value[k], t = r * r;
        sum[k] = multiply_add(multiply_add(multiply_add(a, t, b), t, c), r, sum[k]);
    }
}

/* has_beyond: non-zero if values may be beyond max or GCOR_APPROX_HIGH. */
INLINE void add_high(float *sum, const float *value, float w, int64_t n, float max, int has_beyond) {
    for (int64_t k = 0; k < n; k++) {
        const float r = value[k];
        const float z = has_beyond ? approx_high_artanh(r, max) : approx_artanh(r);
        sum[k] = multiply_add(w, z, sum[k]);
    }
}

/* Most correlations are weak: blocks of values up to GCOR_APPROX_LOW use fewer terms. */
static int add_approx_fisher(float *sum, const float *value, float w, float max, int64_t n) {
    const float high = (float)GCOR_APPROX_HIGH;
    int64_t k = 0;
    int beyond = 0;
    for (; k + GCOR_APPROX_SOME <= n; k += GCOR_APPROX_SOME) {
        if (!are_beyond(value + k, (float)GCOR_APPROX_LOW, GCOR_APPROX_SOME)) {
            add_low(sum + k, value + k, w, GCOR_APPROX_SOME);
        } else if (!are_beyond(value + k, max < high ? max : high, GCOR_APPROX_SOME)) {
            add_high(sum + k, value + k, w, GCOR_APPROX_SOME, max, 0);
        } else {
            add_high(sum + k, value + k, w, GCOR_APPROX_SOME, max, 1);
            beyond |= are_beyond(value + k, max, GCOR_APPROX_SOME);
        }
    }
    add_high(sum + k, value + k, w, n - k, max, 1);
    for (; k < n; k++) beyond |= fabsf(value[k]) > max;
    return beyond;
}

static void add_approx_min(float *sum, const float *value, int64_t n) {
    for (int64_t k = 0; k < n; k++) sum[k] = value[k] >= sum[k] ? sum[k] : value[k] < sum[k] ? value[k] : NAN;
}

static void end_approx_fisher(float *sum, int64_t n) {
    for (int64_t k = 0; k < n; k++) sum[k] = approx_tanh(sum[k]);
}

static int are_coefficients(const double *value, int64_t n) {
    int others = 0;
    for (int64_t k = 0; k < n; k++) others |= !(value[k] <= 1);
    return !others;
}

static const gcor_combine_loops combine_loops = {
    .add_mean = add_mean,
    .add_fisher = add_fisher,
    .add_min = add_min,
    .add_exactly = add_exactly,
    .weighted_sums = weighted_sums,
    .welch = welch,
    .linear_t = linear_t,
    .largest = largest,
    .divide = divide,
    .end_fisher = end_fisher,
    .add_approx_mean = add_approx_mean,
    .add_approx_fisher = add_approx_fisher,
    .add_approx_min = add_approx_min,
    .end_approx_fisher = end_approx_fisher,
    .are_beyond = are_beyond,
    .some_reach = some_reach,
    .some_floats_reach = some_floats_reach,
    .are_coefficients = are_coefficients,
};
