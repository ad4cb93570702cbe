/* Fused multiply-add of floats for machines without it, in doubles, in which the product of two floats is exact. */
#ifdef __FP_FAST_FMAF
#define FUSE_FLOAT __builtin_fmaf
#else
#define FUSE_FLOAT fuse_float

/* The sum of product and c is rounded to odd, so that rounding again, to a float, gives the correct result. */
INLINE float fuse_float(float a, float b, float c) {
    double product = (double)a * b, sum = product + c, added = sum - product;
    double rest = (product - (sum - added)) + (c - added);
    int64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (rest != 0 && !(bits & 1)) bits += (rest > 0) == (sum > 0) ? 1 : -1;
    memcpy(&sum, &bits, sizeof sum);
    return (float)sum;
}
#endif

INLINE float_vec fuse_floats(float_vec a, float_vec b, float_vec c) {
    for (int l = 0; l < BYTES / 4; l++) c[l] = FUSE_FLOAT(a[l], b[l], c[l]);
    return c;
}
#define FUSE_FLOATS fuse_floats

/* Sums of all rows with a whole micro-panel, two doubles at a time. With the exact sum x of a product and the sum
 * before it, and t, which is x rounded to a double:
 *
 * - A float has 29 bits fewer than a double. Adding 2^28 to the bits of t and clearing the last 29 rounds t to the
 *   nearest float, also where the exponent changes. If t is a midpoint of two floats, it may be the wrong one.
 * - A midpoint of two floats is a double, and rounding is monotonic. So t is on the same side of it as x, or is equal
 * to it. Unless t is a midpoint, its nearest float is therefore that of x.
 * - Floats below 2^-126 have fewer bits. Of values that are zero or at least 2^-50, all products and sums are multiples
 *   of 2^-146. Such a number below 2^-122 is a float, which rounding as above does not change.
 *
 * Where t may be a midpoint, or a value is smaller, the sums are computed again, one by one. The first 13 of the last
 * 29 bits tell: few others than midpoints have 1000000000000. */
#if defined(__SSE2__) && !defined(__FP_FAST_FMAF)
#include <emmintrin.h>

#define SUM_FLOATS sum_in_double
#define SUM_ROWS CPU_KERNEL_ROWS
#define SUM_VECTORS VECTORS

enum { SLICE_MAX = CPU_OVERLAP_SLICE, ROW_VECTORS = 8, SECOND_WORDS = 0xcccc };
_Static_assert((int)GCOR_OBS_SLICE <= (int)SLICE_MAX, "slices of the longest length");

/* A slice in double; rows have each value twice. */
typedef struct {
    double_vec row[SLICE_MAX][CPU_KERNEL_ROWS], col[SLICE_MAX][2 * VECTORS];
    int has_tiny; /* true if a value other than 0 is below 2^-50 */
} double_slice;

/* Orders the first halves of floats by magnitude as signed words, but 0 is the largest. */
INLINE __m128i size_of(__m128 x) {
    __m128i twice = _mm_add_epi32(_mm_castps_si128(x), _mm_castps_si128(x)); /* without the sign */
    return _mm_add_epi32(twice, _mm_set1_epi32(INT32_MAX));
}

static void widen_slice(const float *rows, int64_t stride, const float *cols, int64_t n, double_slice *out) {
    __m128i least = _mm_set1_epi16(INT16_MAX);
    for (int64_t k = 0; k < n; k++, rows += stride, cols += FLOATS) {
        UNROLL for (int r = 0; r < CPU_KERNEL_ROWS; r++) out->row[k][r] = rows[r] - (double_vec){0};
        UNROLL for (int r = 0; r < CPU_KERNEL_ROWS; r += 4)
            least = _mm_min_epi16(least, size_of(_mm_load_ps(rows + r)));
        UNROLL for (int v = 0; v < VECTORS; v++) {
            __m128 col = _mm_load_ps(cols + 4 * v);
            out->col[k][2 * v] = (double_vec)_mm_cvtps_pd(col);
            out->col[k][2 * v + 1] = (double_vec)_mm_cvtps_pd(_mm_movehl_ps(col, col));
            least = _mm_min_epi16(least, size_of(col));
        }
    }
    least = _mm_cmpgt_epi16(size_of(_mm_set1_ps(0x1p-50f)), least);
    out->has_tiny = (_mm_movemask_epi8(least) & SECOND_WORDS) != 0;
}

/* Sums one by one, of a row and a vector of columns. */
static float_vec sum_vector(const float *rows, int64_t stride, const float *cols, int64_t n) {
    float_vec sum = {0};
    for (int64_t k = 0; k < n; k++)
        sum = fuse_floats(rows[k * stride] - (float_vec){0}, *(const float_vec *)(cols + k * FLOATS), sum);
    return sum;
}

/* Sums of row r and eight columns from `from` on. Returns true if a sum before rounding may have been a midpoint. */
INLINE int sum_row(const double_slice *slice, int r, int from, int64_t n, float_vec *out) {
    const word_vec half = (word_vec){0} + (1 << 28), first = (word_vec){0} - (1 << 29);
    double_vec sum[ROW_VECTORS];
    __m128i least = _mm_setzero_si128();
    UNROLL for (int v = 0; v < ROW_VECTORS; v++) sum[v] = (double_vec){0};
    for (int64_t k = 0; k < n; k++) {
        const double_vec row = slice->row[k][r], *col = slice->col[k] + from;
        UNROLL for (int v = 0; v < ROW_VECTORS; v += 2) {
            double_vec a = sum[v] + row * col[v], b = sum[v + 1] + row * col[v + 1];
            __m128 last = _mm_shuffle_ps((__m128)a, (__m128)b, _MM_SHUFFLE(2, 0, 2, 0));
            least = _mm_min_epi16(least, _mm_slli_epi32(_mm_castps_si128(last), 3));
            sum[v] = (double_vec)(((word_vec)a + half) & first);
            sum[v + 1] = (double_vec)(((word_vec)b + half) & first);
        }
    }
    UNROLL for (int v = 0; v < ROW_VECTORS; v += 2)
        out[v / 2] = (float_vec)_mm_movelh_ps(_mm_cvtpd_ps((__m128d)sum[v]), _mm_cvtpd_ps((__m128d)sum[v + 1]));
    return (_mm_movemask_epi8(_mm_cmpeq_epi16(least, _mm_set1_epi16(INT16_MIN))) & SECOND_WORDS) != 0;
}

/* Sums n products of all rows and columns. */
static void sum_in_double(const float *rows, int64_t stride, const float *cols, int64_t n,
                          float_vec sum[SUM_ROWS][SUM_VECTORS]) {
    double_slice slice;
    widen_slice(rows, stride, cols, n, &slice);
    for (int r = 0; r < SUM_ROWS; r++)
        for (int v = 0; v < SUM_VECTORS; v += ROW_VECTORS / 2)
            if (sum_row(&slice, r, 2 * v, n, sum[r] + v) || slice.has_tiny)
                for (int w = v; w < v + ROW_VECTORS / 2; w++) sum[r][w] = sum_vector(rows + r, stride, cols + 4 * w, n);
}
#endif
