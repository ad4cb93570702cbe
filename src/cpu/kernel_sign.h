/* Sums of products of signs, and packing of signs into bits. Included by isa.h. Bits are counted in the small counters
 * of the instruction set, and widened to words before these overflow.
 *
 * Without ties a pair of observations is concordant or, where the bits differ, discordant. With ties it counts only
 * where both variables are untied, which also excludes missing values. */
/* clang-format off: it cannot format a pragma before a loop */

/* Row r of a group, one word of each of its variables. */
#define ROW(plane) (rows->plane + w * MICRO_PANEL_WORDS + first)
#define COL(plane) ((const NAME(words) *)(cols->plane + w * MICRO_PANEL_WORDS))
#define CLEAR(rows_, sum) \
    UNROLL for (int r = 0; r < rows_; r++) UNROLL for (int v = 0; v < VECTORS; v++) sum[r][v] = (NAME(counts)) { \
        0 \
    }

/* Loops over chunks of words that can be counted before widening. With no words, the body runs once with an empty
 * chunk, so that sums are always set. */
#define EACH_CHUNK(w0, end) \
    for (int64_t w0 = 0, end = words < CHUNK ? words : CHUNK; w0 < words || w0 == 0; \
         w0 = words > 0 ? end : 1, end = words - end < CHUNK ? words : end + CHUNK)

static inline __attribute__((always_inline)) TARGET void NAME(put)(int64_t *sums, int add, NAME(words) value) {
    NAME(words) *out = (NAME(words) *)sums;
    if (add) value += *out;
    *out = value;
}

TARGET static void NAME(signs_untied)(const cpu_planes *rows, const cpu_planes *cols, int64_t words, int add,
                                      int64_t *sums) {
    for (int first = 0; first < CPU_KERNEL_ROWS; first += UNTIED_ROWS)
        EACH_CHUNK(w0, end) {
            NAME(counts) differ[UNTIED_ROWS][VECTORS];
            CLEAR(UNTIED_ROWS, differ);
            for (int64_t w = w0; w < end; w++) {
                const uint64_t *row = ROW(greater);
                const NAME(words) *col = COL(greater);
                UNROLL for (int r = 0; r < UNTIED_ROWS; r++) UNROLL for (int v = 0; v < VECTORS; v++)
                    differ[r][v] += NAME(count)(col[v] ^ row[r]);
            }
            UNROLL for (int r = 0; r < UNTIED_ROWS; r++) UNROLL for (int v = 0; v < VECTORS; v++) NAME(put)(
                sums + (first + r) * CPU_BLOCK_COLS + v * (BYTES / 8), add || w0 > 0, -2 * NAME(widen)(differ[r][v]));
        }
}

TARGET static void NAME(signs_tied)(const cpu_planes *rows, const cpu_planes *cols, int64_t words, int add,
                                    int64_t *sums) {
    for (int first = 0; first < CPU_KERNEL_ROWS; first += TIED_ROWS)
        EACH_CHUNK(w0, end) {
            NAME(counts) both[TIED_ROWS][VECTORS], differ[TIED_ROWS][VECTORS];
            CLEAR(TIED_ROWS, both);
            CLEAR(TIED_ROWS, differ);
            for (int64_t w = w0; w < end; w++) {
                const uint64_t *row = ROW(greater), *row_untied = ROW(untied);
                const NAME(words) *col = COL(greater), *col_untied = COL(untied);
                UNROLL for (int r = 0; r < TIED_ROWS; r++) UNROLL for (int v = 0; v < VECTORS; v++) {
                    NAME(words) untied = col_untied[v] & row_untied[r];
                    both[r][v] += NAME(count)(untied);
                    differ[r][v] += NAME(count)(untied & (col[v] ^ row[r]));
                }
            }
            UNROLL for (int r = 0; r < TIED_ROWS; r++) UNROLL for (int v = 0; v < VECTORS; v++)
                NAME(put)(sums + (first + r) * CPU_BLOCK_COLS + v * (BYTES / 8), add || w0 > 0,
                          NAME(widen)(both[r][v]) - 2 * NAME(widen)(differ[r][v]));
        }
}

/* Counts the pairs of observations that are untied in the first plane's variable and present in the second's. */
static inline __attribute__((always_inline)) TARGET void
NAME(untied_among)(const uint64_t *row, const uint64_t *col, int64_t words, int first, int add, int64_t *sums) {
    EACH_CHUNK(w0, end) {
        NAME(counts) both[COMMON_ROWS][VECTORS];
        CLEAR(COMMON_ROWS, both);
        for (int64_t w = w0; w < end; w++) {
            const uint64_t *a = row + w * MICRO_PANEL_WORDS + first;
            const NAME(words) *b = (const NAME(words) *)(col + w * MICRO_PANEL_WORDS);
            UNROLL for (int r = 0; r < COMMON_ROWS; r++) UNROLL for (int v = 0; v < VECTORS; v++)
                both[r][v] += NAME(count)(b[v] & a[r]);
        }
        UNROLL for (int r = 0; r < COMMON_ROWS; r++) UNROLL for (int v = 0; v < VECTORS; v++)
            NAME(put)(sums + (first + r) * CPU_BLOCK_COLS + v * (BYTES / 8), add || w0 > 0, NAME(widen)(both[r][v]));
    }
}

TARGET static void NAME(signs_common)(const cpu_planes *rows, const cpu_planes *cols, int64_t words, int add,
                                      int64_t *sums) {
    NAME(signs_tied)(rows, cols, words, add, sums);
    for (int first = 0; first < CPU_KERNEL_ROWS; first += COMMON_ROWS) {
        NAME(untied_among)(rows->untied, cols->present, words, first, add, sums + CPU_BLOCK_PAIRS);
        NAME(untied_among)(rows->present, cols->untied, words, first, add, sums + 2 * CPU_BLOCK_PAIRS);
    }
}

#undef ROW
#undef COL
#undef CLEAR
#undef EACH_CHUNK

/* ---- bits ---------------------------------------------------------------------------------------- */

/* Bits come 64 at a time, or fewer at the end of a lag; full words are written. */
static inline __attribute__((always_inline)) TARGET void
NAME(pack_plane)(uint64_t (*compare)(const float *, const float *), const float *score, int64_t n_obs, int64_t first,
                 int64_t bits, uint64_t *out) {
    int64_t k = first % n_obs, lag = first / n_obs + 1, filled = 0;
    uint64_t word = 0;
    for (int64_t run; bits > 0; bits -= run, k = 0, lag++) {
        run = bits < n_obs - k ? bits : n_obs - k;
        for (int64_t t = 0; t < run; t += 64) {
            uint64_t next = compare(score + k + t, score + k + t + lag);
            int64_t some = run - t;
            if (some < 64)
                next &= ((uint64_t)1 << some) - 1;
            else
                some = 64;
            word |= next << filled;
            filled += some;
            if (filled < 64) continue;
            *out = word;
            out += MICRO_PANEL_WORDS;
            filled -= 64;
            word = filled > 0 ? next >> (some - filled) : 0;
        }
    }
    if (filled > 0) *out = word;
}

TARGET static void NAME(pack_untied)(const float *score, int64_t n_obs, int64_t first, int64_t bits,
                                     const cpu_planes *planes) {
    NAME(pack_plane)(NAME(greater), score, n_obs, first, bits, planes->greater);
}

TARGET static void NAME(pack_tied)(const float *score, int64_t n_obs, int64_t first, int64_t bits,
                                   const cpu_planes *planes) {
    NAME(pack_untied)(score, n_obs, first, bits, planes);
    NAME(pack_plane)(NAME(untied), score, n_obs, first, bits, planes->untied);
}

TARGET static void NAME(pack_common)(const float *score, int64_t n_obs, int64_t first, int64_t bits,
                                     const cpu_planes *planes) {
    NAME(pack_tied)(score, n_obs, first, bits, planes);
    NAME(pack_plane)(NAME(present), score, n_obs, first, bits, planes->present);
}
/* clang-format on */
