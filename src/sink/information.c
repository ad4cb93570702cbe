/* Allows the compiler to vectorize loops with a conditional; before the functions that are parts of them. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapping-math")
#endif

#include "information.h"

#include "../base/elementary.h"
#include "../base/isa.h"

enum { BLOCK = 64, SOME = 16 * BLOCK }; /* values that are screened, and passed on, together */

/* Replaces coefficients by their information; missing ones stay. */
GCOR_BODY void inform(double *value, int64_t n) {
    int64_t strong = 0;
    for (int64_t k = 0; k < n; k++) strong += value[k] * value[k] < 0.29 ? 0 : 1;
    if (strong == 0) { /* as most blocks; the same numbers */
        for (int64_t k = 0; k < n; k++)
            value[k] = -gcor_log_of(-(value[k] * value[k]), 0, 0) / 2 / GCOR_MAX_INFORMATION;
        return;
    }
    for (int64_t k = 0; k < n; k++) value[k] = gcor_information_in(value[k]);
}

GCOR_BODY double above(double mean, double unit, double value) {
    double z = (value - mean) * unit;
    return z > 0 ? z : 0;
}

/* Replaces the information of variable `row` with n others, whose mean and unit are given, by context likelihoods. */
GCOR_BODY void compare(const gcor_information *s, int64_t row, const double *mean, const double *unit, double *value,
                       int64_t n) {
    for (int64_t k = 0; k < n; k++) {
        double a = above(s->row_mean[row], s->row_unit[row], value[k]), b = above(mean[k], unit[k], value[k]);
        double z = sqrt(a * a + b * b);
        value[k] = value[k] <= 1 ? z / (1 + z) : value[k];
    }
}

/* Replaces coefficients whose context likelihood Z / (1 + Z) has a Z^2 below `min` by 0, which has no information and
 * no likelihood. Returns the number of others. A bound needs no logarithm, -log(1 - y) <= y (2 - y) / (2 (1 -
 * y)), and rounding keeps the order of two numbers that undergo the same operations. */
GCOR_BODY int64_t screen(const gcor_information *s, int64_t row, int64_t col, double min, double *value, int64_t n) {
    const double scale = (1 + 1e-12) / (4 * GCOR_MAX_INFORMATION), *mean = s->mean + col, *unit = s->unit + col;
    const double own_mean = s->row_mean[row], own_unit = s->row_unit[row];
    int64_t left = 0;
    for (int64_t k = 0; k < n; k++) {
        double y = value[k] * value[k], max = y * (2 - y) / (1 - y) * scale;
        double a = above(own_mean, own_unit, max), b = above(mean[k], unit[k], max);
        double square = y < 1 ? a * a + b * b : INFINITY;
        value[k] = square < min ? 0 : value[k];
        left += square < min ? 0 : 1;
    }
    return left;
}

GCOR_BODY void convert_body(const gcor_information *s, int64_t row, int64_t col, double min, double *value, int64_t n) {
    for (int64_t k = 0; k < n; k += BLOCK, col += BLOCK) {
        int64_t some = n - k < BLOCK ? n - k : BLOCK;
        int64_t left = min > 0 ? screen(s, row, col, min, value + k, some) : some;
        int64_t step = left > BLOCK / 4 ? some : 1; /* a few values one by one */
        for (int64_t l = k; left > 0 && l < k + some; l += step) {
            if (step == 1 && value[l] == 0) continue;
            inform(value + l, step);
            if (s->mean) compare(s, row, s->mean + col + l - k, s->unit + col + l - k, value + l, step);
        }
    }
}
GCOR_WIDE(convert, (const gcor_information *s, int64_t row, int64_t col, double min, double *value, int64_t n),
          (s, row, col, min, value, n))

/* Returns a lower bound of Z^2 for the pairs that the other sink needs; 0: it needs all. */
static double min_square(const gcor_information *s) {
    double min = s->mean && s->sink.of->type->min ? s->sink.of->type->min(s->sink.of) - 1e-15 : 0;
    double z = min > 0 && min < 1 ? min / (1 - min) * (1 - 1e-9) : 0;
    return z * z;
}

/* ---- few likelihoods among many ----------------------------------------------------------------- */

/* Writes to `which` the elements from .. from+n-1 of a segment of floats whose exact Z^2 may reach `min`, and their
 * number to *found. This is screen() in single precision: MORE exceeds all relative errors of the bound together, of
 * which that of 1 - y is the largest if y is near 1; all coefficients with a y from NEAR_1 on are written. SINGLE
 * bounds the difference between coefficients in double and in single precision. */
GCOR_BODY void search_body(const gcor_information *s, const gcor_segment *segment, int64_t from, int64_t n, double min,
                           int32_t *which, int64_t *found) {
    enum { STRIP = 32 };
    const float MORE = 1 + 0x1p-18f, LESS = 1 - 0x1p-18f, NEAR_1 = 0.9f, SINGLE = 1e-6f;
    const float error = ((float)segment->error + SINGLE) * MORE, low = (float)min * (LESS * LESS * LESS);
    const float scale = MORE / (4 * (float)GCOR_MAX_INFORMATION);
    const float own_mean = (float)s->row_mean[segment->row] * LESS;
    const float own_unit = (float)s->row_unit[segment->row] * MORE;
    *found = 0;
    for (int64_t k = from; k < from + n; k += STRIP) {
        const float *value = segment->floats + k;
        const double *mean = s->mean + segment->col + k, *unit = s->unit + segment->col + k;
        int strip = from + n - k < STRIP ? (int)(from + n - k) : STRIP, some = 0, may[STRIP];
        for (int l = 0; l < strip; l++) {
            float r = fabsf(value[l]) + error, y = r * r, max = scale * y * (2 - y) / (1 - y);
            float a = (max - own_mean) * own_unit, b = (max - (float)mean[l] * LESS) * ((float)unit[l] * MORE);
            a = a > 0 ? a : 0;
            b = b > 0 ? b : 0;
            may[l] = (y < NEAR_1 ? a * a + b * b : y) >= (y < NEAR_1 ? low : NEAR_1); /* not NaN */
            some += may[l];
        }
        for (int l = 0; some > 0 && l < strip; l++) {
            which[*found] = (int32_t)(k + l);
            *found += may[l];
        }
    }
}
GCOR_WIDE(search,
          (const gcor_information *s, const gcor_segment *segment, int64_t from, int64_t n, double min, int32_t *which,
           int64_t *found),
          (s, segment, from, n, min, which, found))

/* Delivers the context likelihoods of floats that the other sink needs, one by one, as they are rare. */
static gcor_status take_some(const gcor_information *s, gcor_context *context, int thread, const gcor_segment *segment,
                             double min) {
    const double needed = s->sink.of->type->min(s->sink.of);
    double value[SOME], mean[SOME], unit[SOME];
    int32_t which[SOME + 1];
    gcor_status status = GCOR_OK;
    for (int64_t from = 0; !status && from < segment->n; from += SOME) {
        int64_t n = segment->n - from < SOME ? segment->n - from : SOME, found;
        search(s, segment, from, n, min, which, &found);
        if (found > 0 && segment->refine) segment->refine(segment, which, found, value);
        for (int64_t c = 0; c < found; c++) {
            if (!segment->refine) value[c] = segment->floats[which[c]];
            mean[c] = s->mean[segment->col + which[c]];
            unit[c] = s->unit[segment->col + which[c]];
        }
        inform(value, found);
        compare(s, segment->row, mean, unit, value, found);
        for (int64_t c = 0; !status && c < found; c++) {
            gcor_segment one = {.row = segment->row, .col = segment->col + which[c], .n = 1, .doubles = value + c};
            if (value[c] >= needed && value[c] <= 1) status = s->sink.of->type->take(s->sink.of, context, thread, &one);
        }
    }
    return status;
}

/* ---- the sink ------------------------------------------------------------------------------------ */

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    const gcor_information *s = (const gcor_information *)sink;
    const double min = min_square(s);
    if (segment->floats && min > 0) return take_some(s, context, thread, segment, min);
    double values[SOME];
    gcor_status status = GCOR_OK;
    for (int64_t from = 0; !status && from < segment->n; from += SOME) {
        int64_t n = segment->n - from < SOME ? segment->n - from : SOME;
        gcor_segment part = {.row = segment->row, .col = segment->col + from, .n = n, .doubles = values};
        const double *given = gcor_segment_values(segment, from, n, values);
        if (given != values) memcpy(values, given, (size_t)n * sizeof *values);
        convert(s, part.row, part.col, min, values, n);
        status = s->sink.of->type->take(s->sink.of, context, thread, &part);
    }
    return status;
}

static const gcor_sink_type TYPE = {
    .name = "information", .size = sizeof(gcor_information), .role = GCOR_INFORMATION, .take = take};

gcor_information gcor_information_of(gcor_sink *of, int in_double, const double *mean, const double *unit) {
    const int64_t first = of->shape == GCOR_FULL ? of->n_col : 0; /* the rows' first variable */
    gcor_information s = {.sink = *of, .mean = mean, .unit = unit};
    if (mean) s.row_mean = mean + first, s.row_unit = unit + first;
    s.sink.type = &TYPE;
    s.sink.of = of;
    s.sink.approximate = s.sink.coarse = min_square(&s) > 0;
    s.sink.form = in_double ? GCOR_AS_DOUBLES : GCOR_AS_FLOATS;
    return s;
}
