/* All loops of one instruction set, the last thing that a file isa_*.c includes. Before it includes vectors.h, the file
 * defines
 *   ISA             its name, with which base/isa.c lists its table of loops
 *   TARGET          the compiler's names of its instructions; not defined: those of any program
 *   BYTES           bytes of a vector
 *   COUNT           type of the counts that COUNT_BITS() returns
 *   IS_FUSED        1 if multiply-add is one instruction, otherwise 0
 *   REAL_ROWS, UNTIED_ROWS, TIED_ROWS, COMMON_ROWS
 *                   of how many rows the sums are in registers at a time: with REAL_VECTORS of a micro-panel's
 *                   vectors, and with all of them
 *   DOT_PAIRS, DOT_VECTORS
 *                   of how many pairs, and of how many vectors of lanes, one-pair sums are in registers at a time
 *   CHUNK           words that can be counted before counts are widened
 *   NS_WORD         nanoseconds that a word of one pair's signs takes without ties, and
 *   NS_PACK         a word of a variable to be packed
 * and then what vector types of the compiler cannot express:
 *   FUSE(a, b, c), FUSE_FLOATS(a, b, c)
 *                   a b + c of vectors of doubles and of floats, rounded once
 *   ROOT(x)         square roots of doubles
 *   SMALLER(x, y)   the smaller ones of doubles that are not NaN
 *   GATHER(from, at)
 *                   (optional) the doubles from[at[k]]
 *   WIDE(x), NARROW(x, out)
 *                   loads floats, as many as a vector has doubles, as doubles; stores doubles as floats
 *   LOW(x), HIGH(x) half a vector of floats as doubles
 *   GREATER(x, y), UNTIED(x, y), PRESENT(x, y)
 *                   compares COMPARED floats at x with those at y; the result has one bit each
 *   COUNT_BITS(x), WIDEN(counts)
 *                   number of bits of words; their sums by word
 *   SUM_FLOATS(), SUM_ROWS, SUM_VECTORS
 *                   (optional) does what sum_floats() below does, for so many rows and vectors at a time
 *   FUSE_FLOAT(a, b, c)
 *                   (optional) as FUSE_FLOATS(), of single floats
 *   ADD_BYTES(sum, x, y)
 *                   (optional) adds products of unsigned bytes x and signed bytes y to sums, four products each
 *   MULTIPLY_SHORTS(x, y)
 *                   (optional) does what multiply_shorts() in kernel_pairs.h does */

/* Approximate (screening) values may differ between instruction sets, and products of two floats are exact in
 * double; so both use fused multiply-add only where it is one instruction. */
#if IS_FUSED
#define ADD_FLOATS(a, b, sum) FUSE_FLOATS((a) - (float_vec){0}, b, sum)
#define ADD_DOUBLES(a, b, sum) FUSE((a) - (double_vec){0}, b, sum)
#else
#define ADD_FLOATS(a, b, sum) ((sum) + (a) * (b))
#define ADD_DOUBLES(a, b, sum) ((sum) + (a) * (b))
#endif

/* Defines a function that sums products of elements of a type. add_product(a, b, sum) adds the product of a number and
 * a vector to the vector of sums. */
#define SUM_PRODUCTS(name, type, add_product) \
    static void name(const type *rows, const type *cols, int64_t n, int add, type *sums) { \
        typedef type vector __attribute__((vector_size(BYTES), may_alias)); \
        enum { WIDTH = CPU_MICRO_PANEL_BYTES / sizeof(type) }; \
        EACH_PART(first, REAL_ROWS, from, REAL_VECTORS) { \
            vector sum[REAL_ROWS][REAL_VECTORS]; \
            EACH(r, REAL_ROWS, v, REAL_VECTORS) sum[r][v] = (vector){0}; \
            for (int64_t k = 0; k < n; k++) { \
                const type *row = rows + k * WIDTH + first; \
                const vector *col = (const vector *)(cols + k * WIDTH) + from; \
                EACH(r, REAL_ROWS, v, REAL_VECTORS) sum[r][v] = add_product(row[r], col[v], sum[r][v]); \
            } \
            EACH(r, REAL_ROWS, v, REAL_VECTORS) { \
                vector *out = (vector *)(sums + (first + r) * CPU_BLOCK_COLS) + from + v; \
                if (add) sum[r][v] += *out; \
                *out = sum[r][v]; \
            } \
        } \
    }
SUM_PRODUCTS(floats, float, ADD_FLOATS)
SUM_PRODUCTS(doubles, double, ADD_DOUBLES)
#define ADD_FUSED(a, b, sum) FUSE((a) - (double_vec){0}, b, sum)
SUM_PRODUCTS(fused, double, ADD_FUSED)
#include "kernel_sign.h"
#include "kernel_pairs.h"

#include "../sink/combine_of_isa.h"
#include "../stats/tail_of_isa.h"

/* ---- sums of bytes ------------------------------------------------------------------------------------ */

#ifdef ADD_BYTES
typedef int32_t sum_vec __attribute__((vector_size(BYTES), may_alias));

/* The product takes the rows' bytes with 128 added; 128 times the columns' bytes is then subtracted. */
static void bytes(const int32_t *rows, const int32_t *cols, int64_t n, int add, int32_t *sums) {
    const sum_vec offset = (int32_t)0x80808080 - (sum_vec){0};
    sum_vec sum[CPU_KERNEL_ROWS][VECTORS], all[VECTORS] = {{0}};
    EACH(r, CPU_KERNEL_ROWS, v, VECTORS) sum[r][v] = (sum_vec){0};
    for (int64_t k = 0; k < n; k++) {
        const int32_t *row = rows + k * FLOATS;
        sum_vec col[VECTORS];
        UNROLL for (int v = 0; v < VECTORS; v++) {
            col[v] = ((const sum_vec *)(cols + k * FLOATS))[v] ^ offset;
            all[v] = ADD_BYTES(all[v], offset, col[v]);
        }
        EACH(r, CPU_KERNEL_ROWS, v, VECTORS) sum[r][v] = ADD_BYTES(sum[r][v], row[r] - (sum_vec){0}, col[v]);
    }
    EACH(r, CPU_KERNEL_ROWS, v, VECTORS) {
        sum_vec *out = (sum_vec *)(sums + r * CPU_BLOCK_COLS) + v;
        sum[r][v] -= all[v];
        if (add) sum[r][v] += *out;
        *out = sum[r][v];
    }
}

static void scale_sums(const int32_t *sums, float own, const float *step, int64_t n, float *out) {
    typedef int32_t loaded __attribute__((vector_size(BYTES), aligned(4), may_alias));
    typedef float stored __attribute__((vector_size(BYTES), aligned(4), may_alias));
    int64_t k = 0;
    for (; k + BYTES / 4 <= n; k += BYTES / 4)
        *(stored *)(out + k) = __builtin_convertvector(*(const loaded *)(sums + k), stored) *
                               (own * *(const stored *)(step + k));
    for (; k < n; k++) out[k] = (float)sums[k] * (own * step[k]);
}
#endif

/* ---- sums in both precisions ------------------------------------------------------------------------- */

#ifndef FUSE_FLOAT
#define FUSE_FLOAT __builtin_fmaf
#endif

#ifndef SUM_FLOATS
#define SUM_FLOATS sum_floats
#define SUM_ROWS REAL_ROWS
#define SUM_VECTORS REAL_VECTORS

/* Sums n products in single precision with fused multiply-add; elements of a row are `stride` apart. */
INLINE void sum_floats(const float *rows, int64_t stride, const float *cols, int64_t n,
                       float_vec sum[SUM_ROWS][SUM_VECTORS]) {
    EACH(r, SUM_ROWS, v, SUM_VECTORS) sum[r][v] = (float_vec){0};
    UNROLL_4 for (int64_t k = 0; k < n; k++) {
        const float *row = rows + k * stride;
        const float_vec *col = (const float_vec *)(cols + k * FLOATS);
        EACH(r, SUM_ROWS, v, SUM_VECTORS) sum[r][v] = FUSE_FLOATS(row[r] - (float_vec){0}, col[v], sum[r][v]);
    }
}
#endif

/* Adds sums to the block's doubles. */
INLINE void add_sums(float_vec sum[SUM_ROWS][SUM_VECTORS], int add, double *sums) {
    EACH(r, SUM_ROWS, v, SUM_VECTORS) {
        double_vec *out = (double_vec *)(sums + r * CPU_BLOCK_COLS) + 2 * v, low = {0}, high = {0};
        if (add) low = out[0], high = out[1];
        out[0] = low + LOW(sum[r][v]);
        out[1] = high + HIGH(sum[r][v]);
    }
}

/* Computes the same sums as a GPU (cuda/product/launch.cuh): slices in single precision with fused multiply-add,
 * added in double. */
static void slices(const float *rows, const float *cols, int64_t n, int add, double *sums) {
    EACH_PART(first, SUM_ROWS, from, SUM_VECTORS) {
        const float *row = rows + first, *col = cols + from * (BYTES / 4);
        double *out = sums + first * CPU_BLOCK_COLS + from * (BYTES / 4);
        int64_t k = 0;
        do {
            int64_t some = n - k < GCOR_OBS_SLICE ? n - k : GCOR_OBS_SLICE;
            float_vec sum[SUM_ROWS][SUM_VECTORS];
            if (some == GCOR_OBS_SLICE)
                SUM_FLOATS(row + k * FLOATS, FLOATS, col + k * FLOATS, GCOR_OBS_SLICE, sum);
            else
                SUM_FLOATS(row + k * FLOATS, FLOATS, col + k * FLOATS, some, sum);
            add_sums(sum, add || k > 0, out);
            k += some;
        } while (k < n);
    }
}

/* Sums a run of at most n = CPU_OVERLAP_RUN products slice by slice, and adds it to the block's sums. */
INLINE void overlap_run(const float *rows, const float *cols, int64_t n, int add, double *out) {
    float_vec run[SUM_ROWS][SUM_VECTORS], sum[SUM_ROWS][SUM_VECTORS];
    EACH(r, SUM_ROWS, v, SUM_VECTORS) run[r][v] = (float_vec){0};
    for (int64_t k = 0; k < n; k += CPU_OVERLAP_SLICE) {
        const float *row = rows + k * CPU_KERNEL_ROWS, *col = cols + k * FLOATS;
        if (n - k >= CPU_OVERLAP_SLICE)
            SUM_FLOATS(row, CPU_KERNEL_ROWS, col, CPU_OVERLAP_SLICE, sum);
        else
            SUM_FLOATS(row, CPU_KERNEL_ROWS, col, n - k, sum);
        EACH(r, SUM_ROWS, v, SUM_VECTORS) run[r][v] += sum[r][v];
    }
    add_sums(run, add, out);
}

static void overlaps(const float *rows, const float *cols, int64_t n, int add, double *sums) {
    EACH_PART(first, SUM_ROWS, from, SUM_VECTORS) {
        const float *row = rows + first, *col = cols + from * (BYTES / 4);
        double *out = sums + first * CPU_BLOCK_COLS + from * (BYTES / 4);
        for (int64_t k = 0; k < n; k += CPU_OVERLAP_RUN)
            overlap_run(row + k * CPU_KERNEL_ROWS, col + k * FLOATS, n - k < CPU_OVERLAP_RUN ? n - k : CPU_OVERLAP_RUN,
                        add || k > 0, out);
    }
}

/* ---- one pair ---------------------------------------------------------------------------------------- */

/* gcor_fold_lanes(): folds whole vectors while there are at least two, then elements. */
INLINE double fold(double_vec *lanes) {
    enum { WIDTH = BYTES / 8 };
    UNROLL for (int step = GCOR_LANES / WIDTH / 2; step > 0; step /= 2) UNROLL for (int v = 0; v < step; v++)
        lanes[v] += lanes[v + step];
    double_vec last = lanes[0];
    double sum[WIDTH];
    UNROLL for (int l = 0; l < WIDTH; l++) sum[l] = last[l];
    UNROLL for (int step = WIDTH / 2; step > 0; step /= 2) UNROLL for (int l = 0; l < step; l++)
        sum[l] += sum[l + step];
    return sum[0];
}

/* gcor_dot() of x and each of DOT_PAIRS columns, which share the loads of x. n is padded to a whole vector with
 * zeros, which do not change sums. DOT_VECTORS vectors of lanes are summed at a time because registers are limited. */
INLINE void group(const float *x, const float *const *y, int pairs, int64_t n, double *out) {
    enum { WIDTH = BYTES / 8 };
    double_vec lanes[DOT_PAIRS][GCOR_LANES / WIDTH];
    for (int from = 0; from < GCOR_LANES / WIDTH; from += DOT_VECTORS) {
        double_vec sum[DOT_PAIRS][DOT_VECTORS];
        int64_t k = from * WIDTH;
        EACH(p, pairs, v, DOT_VECTORS) sum[p][v] = (double_vec){0};
        for (; k + DOT_VECTORS * WIDTH <= n; k += GCOR_LANES) UNROLL for (int v = 0; v < DOT_VECTORS; v++) {
                double_vec row = WIDE(x + k + v * WIDTH);
                UNROLL for (int p = 0; p < pairs; p++)
                    sum[p][v] = ADD_DOUBLES(row, WIDE(y[p] + k + v * WIDTH), sum[p][v]);
            }
        UNROLL for (int v = 0; v < DOT_VECTORS; v++) if (k + (v + 1) * WIDTH <= n) {
            double_vec row = WIDE(x + k + v * WIDTH);
            UNROLL for (int p = 0; p < pairs; p++) sum[p][v] = ADD_DOUBLES(row, WIDE(y[p] + k + v * WIDTH), sum[p][v]);
        }
        EACH(p, pairs, v, DOT_VECTORS) lanes[p][from + v] = sum[p][v];
    }
    UNROLL for (int p = 0; p < pairs; p++) out[p] = fold(lanes[p]);
}

static void dots(const float *x, const float *columns, int64_t stride, const int32_t *which, int64_t count, int64_t n,
                 double *out) {
    const float *y[DOT_PAIRS];
    int64_t k = 0;
    for (; k + DOT_PAIRS <= count; k += DOT_PAIRS) {
        UNROLL for (int p = 0; p < DOT_PAIRS; p++) y[p] = columns + which[k + p] * stride;
        group(x, y, DOT_PAIRS, n, out + k);
    }
    for (; k < count; k++) {
        y[0] = columns + which[k] * stride;
        group(x, y, 1, n, out + k);
    }
}

/* Adds up slices in the order of slices(), computing several slices at the same time. */
INLINE double slice_dot(const float *x, const float *y, int64_t n) {
    enum { AT_ONCE = 6 };
    double sum = 0;
    int64_t k = 0;
    for (; k + AT_ONCE * GCOR_OBS_SLICE <= n; k += AT_ONCE * GCOR_OBS_SLICE) {
        float slice[AT_ONCE] = {0};
        for (int l = 0; l < GCOR_OBS_SLICE; l++)
            UNROLL for (int s = 0; s < AT_ONCE; s++)
                slice[s] = FUSE_FLOAT(x[k + s * GCOR_OBS_SLICE + l], y[k + s * GCOR_OBS_SLICE + l], slice[s]);
        UNROLL for (int s = 0; s < AT_ONCE; s++) sum += slice[s];
    }
    while (k < n) {
        int64_t end = n - k < GCOR_OBS_SLICE ? n : k + GCOR_OBS_SLICE;
        float slice = 0;
        for (; k < end; k++) slice = FUSE_FLOAT(x[k], y[k], slice);
        sum += slice;
    }
    return sum;
}

static void slice_dots(const float *x, const float *columns, int64_t stride, const int32_t *which, int64_t count,
                       int64_t n, double *out) {
    for (int64_t p = 0; p < count; p++) out[p] = slice_dot(x, columns + which[p] * stride, n);
}

/* ---- from sums to coefficients -------------------------------------------------------------------- */

/* Adding a count to the bits of 1.5 * 2^52 yields the double 1.5 * 2^52 + count. Sums are unsigned and may wrap, as
 * blocks outside of the pair mask hold arbitrary values. */
static void convert(int64_t *counts, int64_t plus, int64_t n) {
    const double base = 0x1.8p52;
    uint64_t bits;
    int64_t k = 0;
    memcpy(&bits, &base, sizeof bits);
    for (; k + BYTES / 8 <= n; k += BYTES / 8) {
        word_vec sum = *(word_vec_loaded *)(counts + k) + (bits + (uint64_t)plus);
        *(double_vec *)(counts + k) = (double_vec)sum - base;
    }
    for (; k < n; k++) {
        double value = (double)(int64_t)((uint64_t)counts[k] + (uint64_t)plus);
        memcpy(counts + k, &value, sizeof value);
    }
}

INLINE double_vec set_where(mask_vec mask, double value, double_vec x) {
    return choose(mask, value - (double_vec){0}, x);
}

/* gcor_coefficient() for a vector. */
INLINE double_vec coefficient(double_vec product, double_vec x, double_vec y) {
    double_vec r = product / ROOT(x * y);
    r = set_where(r > 1, 1, r);
    r = set_where(r < -1, -1, r);
    r = set_where((x == 0) | (y == 0), GCOR_ZERO_SD, r);
    return set_where((x < 0) | (y < 0), GCOR_NO_VALUE, r);
}

static void coefficients(double *products, double norm, const double *other_norm, int64_t n) {
    const double_vec x = norm - (double_vec){0};
    int64_t k = 0;
    for (; k + BYTES / 8 <= n; k += BYTES / 8) {
        double_vec *out = (double_vec *)(products + k);
        *out = coefficient(*out, x, *(const double_vec *)(other_norm + k));
    }
    for (; k < n; k++) products[k] = gcor_coefficient(products[k], norm, other_norm[k]);
}

static void round_coefficients(const double *products, double norm, const double *other_norm, int64_t n, float *out) {
    const double_vec x = norm - (double_vec){0};
    int64_t k = 0;
    for (; k + BYTES / 8 <= n; k += BYTES / 8) {
        double_vec r = coefficient(*(const double_vec *)(products + k), x, *(const double_vec *)(other_norm + k));
        NARROW(r, out + k);
    }
    for (; k < n; k++) out[k] = (float)gcor_coefficient(products[k], norm, other_norm[k]);
}

/* Multiplies by inverse roots (coefficient.h). If any element may differ, or has no coefficient, all are computed by
 * round_coefficients(). */
static void rounded_coefficients(const double *products, double norm, double inverse, const double *other_norm,
                                 const double *other_inverse, int64_t n, float *out) {
    enum { WIDTH = BYTES / 8 };
    const double_vec x = inverse - (double_vec){0};
    mask_vec doubtful = {0};
    int64_t k = 0;
    for (; k + WIDTH <= n; k += WIDTH) {
        double_vec r = *(const double_vec *)(products + k) * (x * *(const double_vec *)(other_inverse + k));
        mask_vec below = ((mask_vec)r & (2 * GCOR_MIDDLE - 1)) - GCOR_MIDDLE;
        doubtful |= (below < GCOR_NEAR_MIDDLE) & (below > -GCOR_NEAR_MIDDLE);
        doubtful |= ~((r > GCOR_MIN_ROUNDED) | (r < -GCOR_MIN_ROUNDED));
        r = set_where(r > 1, 1, r);
        NARROW(set_where(r < -1, -1, r), out + k);
    }
    int64_t any = 0;
    for (int l = 0; l < WIDTH; l++) any |= doubtful[l];
    if (any)
        round_coefficients(products, norm, other_norm, n, out);
    else
        round_coefficients(products + k, norm, other_norm + k, n - k, out + k);
}

static void own_coefficients(double *products, const double *norm, const double *other_norm, int64_t n) {
    int64_t k = 0;
    for (; k + BYTES / 8 <= n; k += BYTES / 8) {
        double_vec *out = (double_vec *)(products + k);
        *out = coefficient(*out, *(const double_vec *)(norm + k), *(const double_vec *)(other_norm + k));
    }
    for (; k < n; k++) products[k] = gcor_coefficient(products[k], norm[k], other_norm[k]);
}

/* Products of pairs by biweights, with the bits of measure/bicor.c: replaces values by weighted differences, by whole
 * vectors. */
INLINE void weigh_differences(double *x, int64_t n, const cpu_biweight *w) {
    for (int64_t k = 0; k < n; k += BYTES / 8) {
        const double_vec difference = *(double_vec *)(x + k) * w->scale - w->median;
        const double_vec u = difference / set_where(difference < 0, w->below, w->above - (double_vec){0});
        const double_vec v = 1 - u * u;
        *(double_vec *)(x + k) = difference * set_where(~(v > 0), 0, v * v);
    }
}

static void biweights(double *x, double *y, int64_t n, const cpu_biweight *of_x, const cpu_biweight *of_y,
                      double *sums) {
    double squares_x = 0, squares_y = 0;
    weigh_differences(x, n, of_x);
    weigh_differences(y, n, of_y);
    for (int64_t k = 0; k < n; k++) squares_x += x[k] * x[k], squares_y += y[k] * y[k];
    const double unit_x = squares_x > 0 ? 1 / sqrt(squares_x) : 0, unit_y = squares_y > 0 ? 1 / sqrt(squares_y) : 0;
    for (int64_t k = 0; k < n; k++) x[k] *= unit_x, y[k] *= unit_y;
    sums[0] = sums[1] = sums[2] = 0;
    for (int64_t from = 0; from < n; from += GCOR_OBS_RUN) { /* gcor_double_dot() */
        const int64_t to = n - from < GCOR_OBS_RUN ? n : from + GCOR_OBS_RUN;
        double xx = 0, yy = 0, xy = 0;
        for (int64_t k = from; k < to; k++) {
            xx = gcor_fma(x[k], x[k], xx);
            yy = gcor_fma(y[k], y[k], yy);
            xy = gcor_fma(x[k], y[k], xy);
        }
        sums[0] += xx;
        sums[1] += yy;
        sums[2] += xy;
    }
}

/* ---- distances --------------------------------------------------------------------------------------- */

/* Each lane has the same sums for every instruction set. */
static double minima(double *a, double *b, int64_t n) {
    enum { LANES = CPU_MINIMA_LANES, PHASES = 4, N = LANES * 8 / BYTES };
    static const int64_t is_before[2 * LANES] = {-1, -1, -1, -1, -1, -1, -1, -1};
    double_vec total[N] = {{0}};
    double lane[LANES];
    for (int l = 0; l < LANES; l++) a[n + l] = b[n + l] = 0;
    for (int64_t at = 0; at < n; at += LANES) {
        double_vec own[N], sum[PHASES][N] = {{{0}}};
        int64_t k = at + LANES;
        UNROLL for (int v = 0; v < N; v++) own[v] = ((const double_vec *)(a + at))[v];
        for (int other = 1; other < LANES; other++) { /* with those of the lanes before it */
            const mask_vec *before = (const mask_vec *)(is_before + LANES - other);
            UNROLL for (int v = 0; v < N; v++)
                sum[0][v] += (double_vec)((mask_vec)SMALLER(own[v], a[at + other] - (double_vec){0}) & before[v]);
        }
        for (; k + PHASES <= n; k += PHASES)
            EACH(p, PHASES, v, N) sum[p][v] += SMALLER(own[v], a[k + p] - (double_vec){0});
        for (; k < n; k++) UNROLL for (int v = 0; v < N; v++) sum[0][v] += SMALLER(own[v], a[k] - (double_vec){0});
        UNROLL for (int v = 0; v < N; v++)
            total[v] += ((const double_vec *)(b + at))[v] * ((sum[0][v] + sum[1][v]) + (sum[2][v] + sum[3][v]));
    }
    memcpy(lane, total, sizeof lane);
    for (int step = LANES / 2; step > 0; step /= 2)
        for (int l = 0; l < step; l++) lane[l] += lane[l + step];
    return lane[0];
}

static const cpu_kernels kernels = {
    .ns_word = NS_WORD,
    .ns_pack = NS_PACK,
    .floats = floats,
    .doubles = doubles,
#ifdef ADD_BYTES
    .bytes = bytes,
    .scale_sums = scale_sums,
#endif
    .slices = slices,
    .overlaps = overlaps,
    .fused = fused,
    .dots = dots,
    .slice_dots = slice_dots,
    .signs = signs,
    .pack = pack,
    .levels = levels,
    .mutual = mutual,
    .ranks = ranks,
    .biweights = biweights,
    .are_greater = greater_64,
    .are_present = present_64,
    .convert = convert,
    .coefficients = coefficients,
    .rounded_coefficients = rounded_coefficients,
    .own_coefficients = own_coefficients,
    .minima = minima,
};

#define NAME_(isa) #isa
#define NAME(isa) NAME_(isa)
#define LOOPS_(isa) gcor_loops_##isa
#define LOOPS(isa) LOOPS_(isa)
extern const gcor_loops LOOPS(ISA);
const gcor_loops LOOPS(ISA) = {.name = NAME(ISA), .tail = &tail_loops, .combine = &combine_loops, .kernels = &kernels};

#if defined(TARGET) && defined(__clang__)
PRAGMA(clang attribute pop)
#endif
