/* All kernels of one instruction set. Included by set_*.h with these macros:
 *   SET             suffix of its functions
 *   SET_NAME        its name
 *   TARGET          attribute of its functions, or nothing
 *   BYTES           bytes of a vector
 *   IS_FUSED        1 if multiply-add is one instruction, otherwise 0
 *   REAL_ROWS, UNTIED_ROWS, TIED_ROWS, COMMON_ROWS
 *                  of how many rows the sums are in registers at a time: with REAL_VECTORS of a micro-panel's
 *                  vectors, and with all of them
 *   DOT_PAIRS, DOT_VECTORS
 *                  of how many pairs, and of how many vectors of lanes, one-pair sums are in registers at a time
 *   CHUNK          words that can be counted before counts are widened
 *   NS_WORD        nanoseconds that a word of one pair's signs takes without ties, and
 *   NS_PACK        a word of a variable to be packed
 *   NAME(words), NAME(reals), NAME(singles), NAME(counts)
 *                   vectors of words, doubles, floats, and counts
 *   NAME(low)(), NAME(high)(), NAME(round)()
 *                   half a vector of floats as doubles; store doubles as floats
 *   NAME(count)()   number of bits of words; NAME(widen)(): their sums by word
 *   NAME(greater)(), NAME(untied)(), NAME(present)()
 *                   compare 64 pairs of floats; the result has one bit each
 *   NAME(fuse)(), NAME(fuse_singles)(), NAME(fuse_single)()
 *                  a b + c of doubles, and of floats, rounded once
 *   NAME(wide)()   floats, as many as a vector has doubles, as doubles
 *   NAME(root)()   square roots */
#define VECTORS (CPU_MICRO_PANEL_BYTES / BYTES)
#define MICRO_PANEL_WORDS (CPU_MICRO_PANEL_BYTES / 8)

/* Approximate (screening) values may differ between instruction sets, and products of two floats are exact in
 * double; so both use fused multiply-add only where it is one instruction. */
#if IS_FUSED
#define ADD_SINGLES(a, b, sum) NAME(fuse_singles)((a) - (NAME(singles)){0}, b, sum)
#define ADD_DOUBLES(a, b, sum) NAME(fuse)((a) - (NAME(reals)){0}, b, sum)
#else
#define ADD_SINGLES(a, b, sum) ((sum) + (a) * (b))
#define ADD_DOUBLES(a, b, sum) ((sum) + (a) * (b))
#endif

#define TYPE float
#define PRODUCTS floats
#define ADD_PRODUCT ADD_SINGLES
#include "kernel_real.h"
#define TYPE double
#define PRODUCTS doubles
#define ADD_PRODUCT ADD_DOUBLES
#include "kernel_real.h"
#define TYPE double
#define PRODUCTS fused
#define ADD_PRODUCT(a, b, sum) NAME(fuse)((a) - (NAME(reals)){0}, b, sum)
#include "kernel_real.h"
#include "kernel_sign.h"
#include "kernel_levels.h"

/* ---- sums in both precisions ------------------------------------------------------------------------- */

/* Adds a slice's sums to the block's doubles. */
static inline __attribute__((always_inline)) TARGET void NAME(add_slice)(NAME(singles) slice, int add, double *sums) {
    NAME(reals) *sum = (NAME(reals) *)sums, low = {0}, high = {0};
    if (add) low = sum[0], high = sum[1];
    sum[0] = low + NAME(low)(slice);
    sum[1] = high + NAME(high)(slice);
}

/* Computes the same sums as a GPU (cuda/product/float.cuh): slices in single precision with fused multiply-add,
 * added in double. */
TARGET static void NAME(slices)(const float *rows, const float *cols, int64_t n, int add, double *sums) {
    enum { WIDTH = CPU_MICRO_PANEL_BYTES / sizeof(float), EACH = BYTES / sizeof(float) };
    for (int part = 0; part < CPU_KERNEL_ROWS / REAL_ROWS * (VECTORS / REAL_VECTORS); part++) {
        int first = part / (VECTORS / REAL_VECTORS) * REAL_ROWS, from = part % (VECTORS / REAL_VECTORS) * REAL_VECTORS;
        double *out = sums + first * CPU_BLOCK_COLS + from * EACH;
        int64_t k = 0;
        do {
            int64_t end = n - k < GCOR_OBS_SLICE ? n : k + GCOR_OBS_SLICE;
            int later = add || k > 0;
            NAME(singles) sum[REAL_ROWS][REAL_VECTORS];
            UNROLL for (int r = 0; r < REAL_ROWS; r++) UNROLL for (int v = 0; v < REAL_VECTORS; v++)
                sum[r][v] = (NAME(singles)){0};
            for (; k < end; k++) {
                const float *row = rows + k * WIDTH + first;
                const NAME(singles) *col = (const NAME(singles) *)(cols + k * WIDTH) + from;
                UNROLL for (int r = 0; r < REAL_ROWS; r++) UNROLL for (int v = 0; v < REAL_VECTORS; v++)
                    sum[r][v] = NAME(fuse_singles)(row[r] - (NAME(singles)){0}, col[v], sum[r][v]);
            }
            UNROLL for (int r = 0; r < REAL_ROWS; r++) UNROLL for (int v = 0; v < REAL_VECTORS; v++)
                NAME(add_slice)(sum[r][v], later, out + r * CPU_BLOCK_COLS + v * EACH);
        } while (k < n);
    }
}

/* Sums n products in single precision with fused multiply-add. */
static inline __attribute__((always_inline)) TARGET void
NAME(sum_singles)(const float *rows, const float *cols, int64_t n, NAME(singles) sum[REAL_ROWS][REAL_VECTORS]) {
    enum { WIDTH = CPU_MICRO_PANEL_BYTES / sizeof(float) };
    UNROLL for (int r = 0; r < REAL_ROWS; r++) UNROLL for (int v = 0; v < REAL_VECTORS; v++)
        sum[r][v] = (NAME(singles)){0};
    UNROLL for (int64_t k = 0; k < n; k++) {
        const float *row = rows + k * CPU_KERNEL_ROWS;
        const NAME(singles) *col = (const NAME(singles) *)(cols + k * WIDTH);
        UNROLL for (int r = 0; r < REAL_ROWS; r++) UNROLL for (int v = 0; v < REAL_VECTORS; v++)
            sum[r][v] = NAME(fuse_singles)(row[r] - (NAME(singles)){0}, col[v], sum[r][v]);
    }
}

/* Sums a run of at most n = CPU_OVERLAP_RUN products slice by slice, and adds it to the block's sums. */
static inline __attribute__((always_inline)) TARGET void NAME(overlap_run)(const float *rows, const float *cols,
                                                                           int64_t n, int add, double *out) {
    enum { WIDTH = CPU_MICRO_PANEL_BYTES / sizeof(float), EACH = BYTES / sizeof(float) };
    NAME(singles) run[REAL_ROWS][REAL_VECTORS], sum[REAL_ROWS][REAL_VECTORS];
    UNROLL for (int r = 0; r < REAL_ROWS; r++) UNROLL for (int v = 0; v < REAL_VECTORS; v++)
        run[r][v] = (NAME(singles)){0};
    for (int64_t k = 0; k < n; k += CPU_OVERLAP_SLICE) {
        if (n - k >= CPU_OVERLAP_SLICE)
            NAME(sum_singles)(rows + k * CPU_KERNEL_ROWS, cols + k * WIDTH, CPU_OVERLAP_SLICE, sum);
        else
            NAME(sum_singles)(rows + k * CPU_KERNEL_ROWS, cols + k * WIDTH, n - k, sum);
        UNROLL for (int r = 0; r < REAL_ROWS; r++) UNROLL for (int v = 0; v < REAL_VECTORS; v++) run[r][v] += sum[r][v];
    }
    UNROLL for (int r = 0; r < REAL_ROWS; r++) UNROLL for (int v = 0; v < REAL_VECTORS; v++)
        NAME(add_slice)(run[r][v], add, out + r * CPU_BLOCK_COLS + v * EACH);
}

TARGET static void NAME(overlaps)(const float *rows, const float *cols, int64_t n, int add, double *sums) {
    enum { WIDTH = CPU_MICRO_PANEL_BYTES / sizeof(float), EACH = BYTES / sizeof(float) };
    for (int part = 0; part < CPU_KERNEL_ROWS / REAL_ROWS * (VECTORS / REAL_VECTORS); part++) {
        int first = part / (VECTORS / REAL_VECTORS) * REAL_ROWS, from = part % (VECTORS / REAL_VECTORS) * REAL_VECTORS;
        for (int64_t k = 0; k < n; k += CPU_OVERLAP_RUN) {
            int64_t some = n - k < CPU_OVERLAP_RUN ? n - k : CPU_OVERLAP_RUN;
            NAME(overlap_run)
            (rows + k * CPU_KERNEL_ROWS + first, cols + k * WIDTH + from * EACH, some, add || k > 0,
             sums + first * CPU_BLOCK_COLS + from * EACH);
        }
    }
}

/* ---- one pair ---------------------------------------------------------------------------------------- */

/* gcor_fold_lanes(): folds whole vectors while there are at least two, then elements. */
static inline __attribute__((always_inline)) TARGET double NAME(fold)(NAME(reals) * lanes) {
    enum { WIDTH = BYTES / 8 };
    UNROLL for (int step = GCOR_LANES / WIDTH / 2; step > 0; step /= 2) UNROLL for (int v = 0; v < step; v++)
        lanes[v] += lanes[v + step];
    NAME(reals) last = lanes[0];
    double sum[WIDTH];
    UNROLL for (int l = 0; l < WIDTH; l++) sum[l] = last[l];
    UNROLL for (int step = WIDTH / 2; step > 0; step /= 2) UNROLL for (int l = 0; l < step; l++)
        sum[l] += sum[l + step];
    return sum[0];
}

/* gcor_dot() of x and each of DOT_PAIRS columns, which share the loads of x. n is padded to a whole vector with
 * zeros, which do not change sums. DOT_VECTORS vectors of lanes are summed at a time because registers are limited. */
static inline __attribute__((always_inline)) TARGET void NAME(group)(const float *x, const float *const *y, int pairs,
                                                                     int64_t n, double *out) {
    enum { WIDTH = BYTES / 8 };
    NAME(reals) lanes[DOT_PAIRS][GCOR_LANES / WIDTH];
    for (int from = 0; from < GCOR_LANES / WIDTH; from += DOT_VECTORS) {
        NAME(reals) sum[DOT_PAIRS][DOT_VECTORS];
        int64_t k = from * WIDTH;
        UNROLL for (int p = 0; p < pairs; p++) UNROLL for (int v = 0; v < DOT_VECTORS; v++)
            sum[p][v] = (NAME(reals)){0};
        for (; k + DOT_VECTORS * WIDTH <= n; k += GCOR_LANES) UNROLL for (int v = 0; v < DOT_VECTORS; v++) {
                NAME(reals) row = NAME(wide)(x + k + v * WIDTH);
                UNROLL for (int p = 0; p < pairs; p++)
                    sum[p][v] = ADD_DOUBLES(row, NAME(wide)(y[p] + k + v * WIDTH), sum[p][v]);
            }
        UNROLL for (int v = 0; v < DOT_VECTORS; v++) if (k + (v + 1) * WIDTH <= n) {
            NAME(reals) row = NAME(wide)(x + k + v * WIDTH);
            UNROLL for (int p = 0; p < pairs; p++)
                sum[p][v] = ADD_DOUBLES(row, NAME(wide)(y[p] + k + v * WIDTH), sum[p][v]);
        }
        UNROLL for (int p = 0; p < pairs; p++) UNROLL for (int v = 0; v < DOT_VECTORS; v++)
            lanes[p][from + v] = sum[p][v];
    }
    UNROLL for (int p = 0; p < pairs; p++) out[p] = NAME(fold)(lanes[p]);
}

TARGET static void NAME(dots)(const float *x, const float *columns, int64_t stride, const int32_t *which, int64_t count,
                              int64_t n, double *out) {
    const float *y[DOT_PAIRS];
    int64_t k = 0;
    for (; k + DOT_PAIRS <= count; k += DOT_PAIRS) {
        UNROLL for (int p = 0; p < DOT_PAIRS; p++) y[p] = columns + which[k + p] * stride;
        NAME(group)(x, y, DOT_PAIRS, n, out + k);
    }
    for (; k < count; k++) {
        y[0] = columns + which[k] * stride;
        NAME(group)(x, y, 1, n, out + k);
    }
}

/* Adds up slices in the order of slices(), computing several slices at the same time. */
static inline __attribute__((always_inline)) TARGET double NAME(slice_dot)(const float *x, const float *y, int64_t n) {
    enum { AT_ONCE = 6 };
    double sum = 0;
    int64_t k = 0;
    for (; k + AT_ONCE * GCOR_OBS_SLICE <= n; k += AT_ONCE * GCOR_OBS_SLICE) {
        float slice[AT_ONCE] = {0};
        for (int l = 0; l < GCOR_OBS_SLICE; l++)
            UNROLL for (int s = 0; s < AT_ONCE; s++)
                slice[s] = NAME(fuse_single)(x[k + s * GCOR_OBS_SLICE + l], y[k + s * GCOR_OBS_SLICE + l], slice[s]);
        UNROLL for (int s = 0; s < AT_ONCE; s++) sum += slice[s];
    }
    while (k < n) {
        int64_t end = n - k < GCOR_OBS_SLICE ? n : k + GCOR_OBS_SLICE;
        float slice = 0;
        for (; k < end; k++) slice = NAME(fuse_single)(x[k], y[k], slice);
        sum += slice;
    }
    return sum;
}

TARGET static void NAME(slice_dots)(const float *x, const float *columns, int64_t stride, const int32_t *which,
                                    int64_t count, int64_t n, double *out) {
    for (int64_t p = 0; p < count; p++) out[p] = NAME(slice_dot)(x, columns + which[p] * stride, n);
}

/* ---- from sums to coefficients -------------------------------------------------------------------- */

typedef int64_t NAME(masks) __attribute__((vector_size(BYTES), aligned(8), may_alias));
typedef uint64_t NAME(words_loaded) __attribute__((vector_size(BYTES), aligned(8), may_alias));

/* Adding a count to the bits of 1.5 * 2^52 yields the double 1.5 * 2^52 + count. Sums are unsigned and may wrap, as
 * blocks outside of the pair mask hold arbitrary values. */
TARGET static void NAME(convert)(int64_t *counts, int64_t plus, int64_t n) {
    const double base = 0x1.8p52;
    uint64_t bits;
    int64_t k = 0;
    memcpy(&bits, &base, sizeof bits);
    for (; k + BYTES / 8 <= n; k += BYTES / 8) {
        NAME(words) sum = *(NAME(words_loaded) *)(counts + k) + (bits + (uint64_t)plus);
        *(NAME(reals) *)(counts + k) = (NAME(reals))sum - base;
    }
    for (; k < n; k++) {
        double value = (double)(int64_t)((uint64_t)counts[k] + (uint64_t)plus);
        memcpy(counts + k, &value, sizeof value);
    }
}

static inline __attribute__((always_inline)) TARGET NAME(reals)
    NAME(choose)(NAME(masks) mask, double yes, NAME(reals) no) {
    const NAME(reals) all = yes - (NAME(reals)){0};
    return (NAME(reals))(((NAME(masks))all & mask) | ((NAME(masks))no & ~mask));
}

/* gcor_coefficient() for a vector. */
static inline __attribute__((always_inline)) TARGET NAME(reals)
    NAME(coefficient)(NAME(reals) product, NAME(reals) x, NAME(reals) y) {
    NAME(reals) r = product / NAME(root)(x * y);
    r = NAME(choose)(r > 1, 1, r);
    r = NAME(choose)(r < -1, -1, r);
    r = NAME(choose)((x == 0) | (y == 0), GCOR_ZERO_SD, r);
    return NAME(choose)((x < 0) | (y < 0), GCOR_NO_VALUE, r);
}

TARGET static void NAME(coefficients)(double *products, double norm, const double *other_norm, int64_t n) {
    const NAME(reals) x = norm - (NAME(reals)){0};
    int64_t k = 0;
    for (; k + BYTES / 8 <= n; k += BYTES / 8) {
        NAME(reals) *out = (NAME(reals) *)(products + k);
        *out = NAME(coefficient)(*out, x, *(const NAME(reals) *)(other_norm + k));
    }
    for (; k < n; k++) products[k] = gcor_coefficient(products[k], norm, other_norm[k]);
}

TARGET static void NAME(round_coefficients)(const double *products, double norm, const double *other_norm, int64_t n,
                                            float *out) {
    const NAME(reals) x = norm - (NAME(reals)){0};
    int64_t k = 0;
    for (; k + BYTES / 8 <= n; k += BYTES / 8) NAME(round)
    (NAME(coefficient)(*(const NAME(reals) *)(products + k), x, *(const NAME(reals) *)(other_norm + k)), out + k);
    for (; k < n; k++) out[k] = (float)gcor_coefficient(products[k], norm, other_norm[k]);
}

/* Multiplies by inverse roots, without square roots and divisions; the error is less than 9 units in the last place
 * of a double. The float can only differ if the double is that close to the midpoint of two floats. If any element
 * is, or has no coefficient or nearly 0, all are computed by round_coefficients(). */
TARGET static void NAME(rounded_coefficients)(const double *products, double norm, double inverse,
                                              const double *other_norm, const double *other_inverse, int64_t n,
                                              float *out) {
    enum { BELOW = (1 << 29) - 1, MIDDLE = 1 << 28, NEAR = 16, WIDTH = BYTES / 8 };
    const NAME(reals) x = inverse - (NAME(reals)){0};
    NAME(masks) doubtful = {0};
    int64_t k = 0;
    for (; k + WIDTH <= n; k += WIDTH) {
        NAME(reals) r = *(const NAME(reals) *)(products + k) * (x * *(const NAME(reals) *)(other_inverse + k));
        NAME(masks) below = ((NAME(masks))r & BELOW) - MIDDLE;
        doubtful |= (below < NEAR) & (below > -NEAR);
        doubtful |= ~((r > 0x1p-120) | (r < -0x1p-120));
        r = NAME(choose)(r > 1, 1, r);
        NAME(round)(NAME(choose)(r < -1, -1, r), out + k);
    }
    int64_t any = 0;
    for (int l = 0; l < WIDTH; l++) any |= doubtful[l];
    if (any)
        NAME(round_coefficients)(products, norm, other_norm, n, out);
    else
        NAME(round_coefficients)(products + k, norm, other_norm + k, n - k, out + k);
}

TARGET static void NAME(own_coefficients)(double *products, const double *norm, const double *other_norm, int64_t n) {
    int64_t k = 0;
    for (; k + BYTES / 8 <= n; k += BYTES / 8) {
        NAME(reals) *out = (NAME(reals) *)(products + k);
        *out = NAME(coefficient)(*out, *(const NAME(reals) *)(norm + k), *(const NAME(reals) *)(other_norm + k));
    }
    for (; k < n; k++) products[k] = gcor_coefficient(products[k], norm[k], other_norm[k]);
}

static const cpu_kernels NAME(kernels) = {
    .name = SET_NAME,
    .ns_word = NS_WORD,
    .ns_pack = NS_PACK,
    .floats = NAME(floats),
    .doubles = NAME(doubles),
    .slices = NAME(slices),
    .overlaps = NAME(overlaps),
    .fused = NAME(fused),
    .dots = NAME(dots),
    .slice_dots = NAME(slice_dots),
    .signs = {NAME(signs_untied), NAME(signs_tied), NAME(signs_common)},
    .pack = {NAME(pack_untied), NAME(pack_tied), NAME(pack_common)},
    .levels = NAME(levels),
    .are_greater = NAME(greater),
    .are_present = NAME(present),
    .convert = NAME(convert),
    .coefficients = NAME(coefficients),
    .rounded_coefficients = NAME(rounded_coefficients),
    .own_coefficients = NAME(own_coefficients),
};

#undef VECTORS
#undef MICRO_PANEL_WORDS
#undef SET
#undef SET_NAME
#undef TARGET
#undef BYTES
#undef IS_FUSED
#undef ADD_SINGLES
#undef ADD_DOUBLES
#undef REAL_ROWS
#undef REAL_VECTORS
#undef UNTIED_ROWS
#undef TIED_ROWS
#undef COMMON_ROWS
#undef DOT_PAIRS
#undef DOT_VECTORS
#undef CHUNK
#undef NS_WORD
#undef NS_PACK
