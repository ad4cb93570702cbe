/* Sums of products of signs, and packing of signs into bits. Included by kernels_of_isa.h. Bits are counted in the
 * small counters of the instruction set, and widened to words before these overflow.
 *
 * Without ties a pair of observations is concordant or, where the bits differ, discordant. With ties it counts only
 * where both variables are untied, which also excludes missing values. */
/* clang-format off: it cannot format a pragma before a loop */

/* Row r of a group, one word of each of its variables. */
#define ROW(plane) (rows->plane + w * MICRO_PANEL_WORDS + first)
#define COL(plane) ((const word_vec *)(cols->plane + w * MICRO_PANEL_WORDS))

/* Loops over chunks of words that can be counted before widening. With no words, the body runs once with an empty
 * chunk, so that sums are always set. */
#define EACH_CHUNK(w0, end) \
    for (int64_t w0 = 0, end = words < CHUNK ? words : CHUNK; w0 < words || w0 == 0; \
         w0 = words > 0 ? end : 1, end = words - end < CHUNK ? words : end + CHUNK)

INLINE void put(int64_t *sums, int add, word_vec value) {
    word_vec *out = (word_vec *)sums;
    if (add) value += *out;
    *out = value;
}

static void signs_untied(const cpu_planes *rows, const cpu_planes *cols, int64_t words, int add, int64_t *sums) {
    for (int first = 0; first < CPU_KERNEL_ROWS; first += UNTIED_ROWS)
        EACH_CHUNK(w0, end) {
            count_vec differ[UNTIED_ROWS][VECTORS];
            EACH(r, UNTIED_ROWS, v, VECTORS) differ[r][v] = (count_vec){0};
            for (int64_t w = w0; w < end; w++) {
                const uint64_t *row = ROW(greater);
                const word_vec *col = COL(greater);
                EACH(r, UNTIED_ROWS, v, VECTORS) differ[r][v] += COUNT_BITS(col[v] ^ row[r]);
            }
            EACH(r, UNTIED_ROWS, v, VECTORS) {
                put(sums + (first + r) * CPU_BLOCK_COLS + v * (BYTES / 8), add || w0 > 0, -2 * WIDEN(differ[r][v]));
            }
        }
}

static void signs_tied(const cpu_planes *rows, const cpu_planes *cols, int64_t words, int add, int64_t *sums) {
    for (int first = 0; first < CPU_KERNEL_ROWS; first += TIED_ROWS)
        EACH_CHUNK(w0, end) {
            count_vec both[TIED_ROWS][VECTORS], differ[TIED_ROWS][VECTORS];
            EACH(r, TIED_ROWS, v, VECTORS) both[r][v] = (count_vec){0};
            EACH(r, TIED_ROWS, v, VECTORS) differ[r][v] = (count_vec){0};
            for (int64_t w = w0; w < end; w++) {
                const uint64_t *row = ROW(greater), *row_untied = ROW(untied);
                const word_vec *col = COL(greater), *col_untied = COL(untied);
                EACH(r, TIED_ROWS, v, VECTORS) {
                    word_vec untied = col_untied[v] & row_untied[r];
                    both[r][v] += COUNT_BITS(untied);
                    differ[r][v] += COUNT_BITS(untied & (col[v] ^ row[r]));
                }
            }
            EACH(r, TIED_ROWS, v, VECTORS) {
                put(sums + (first + r) * CPU_BLOCK_COLS + v * (BYTES / 8), add || w0 > 0,
                    WIDEN(both[r][v]) - 2 * WIDEN(differ[r][v]));
            }
        }
}

/* Counts the pairs of observations that are untied in the first plane's variable and present in the second's. */
INLINE void untied_among(const uint64_t *row, const uint64_t *col, int64_t words, int first, int add, int64_t *sums) {
    EACH_CHUNK(w0, end) {
        count_vec both[COMMON_ROWS][VECTORS];
        EACH(r, COMMON_ROWS, v, VECTORS) both[r][v] = (count_vec){0};
        for (int64_t w = w0; w < end; w++) {
            const uint64_t *a = row + w * MICRO_PANEL_WORDS + first;
            const word_vec *b = (const word_vec *)(col + w * MICRO_PANEL_WORDS);
            EACH(r, COMMON_ROWS, v, VECTORS) both[r][v] += COUNT_BITS(b[v] & a[r]);
        }
        EACH(r, COMMON_ROWS, v, VECTORS) {
            put(sums + (first + r) * CPU_BLOCK_COLS + v * (BYTES / 8), add || w0 > 0, WIDEN(both[r][v]));
        }
    }
}

/* Sums by the planes that there are. */
static void signs(const cpu_planes *rows, const cpu_planes *cols, int64_t words, int add, int64_t *sums) {
    if (!rows->untied)
        signs_untied(rows, cols, words, add, sums);
    else
        signs_tied(rows, cols, words, add, sums);
    for (int first = 0; rows->present && first < CPU_KERNEL_ROWS; first += COMMON_ROWS) {
        untied_among(rows->untied, cols->present, words, first, add, sums + CPU_BLOCK_PAIRS);
        untied_among(rows->present, cols->untied, words, first, add, sums + 2 * CPU_BLOCK_PAIRS);
    }
}

#undef ROW
#undef COL
#undef EACH_CHUNK

/* ---- bits ---------------------------------------------------------------------------------------- */

/* Compare 64 pairs of floats. */
#define COMPARE_64(name, compared) \
    static inline uint64_t name(const float *x, const float *y) { \
        uint64_t bits = 0; \
        for (int t = 0; t < 64; t += COMPARED) bits |= (uint64_t)compared(x + t, y + t) << t; \
        return bits; \
    }
COMPARE_64(greater_64, GREATER)
COMPARE_64(untied_64, UNTIED)
COMPARE_64(present_64, PRESENT)

/* Bits come 64 at a time, or fewer at the end of a lag; full words are written. */
INLINE void pack_plane(uint64_t (*compare)(const float *, const float *), const float *score, int64_t n_obs,
                       int64_t first, int64_t bits, uint64_t *out) {
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

static void pack(const float *score, int64_t n_obs, int64_t first, int64_t bits, const cpu_planes *planes) {
    pack_plane(greater_64, score, n_obs, first, bits, planes->greater);
    if (planes->untied) pack_plane(untied_64, score, n_obs, first, bits, planes->untied);
    if (planes->present) pack_plane(present_64, score, n_obs, first, bits, planes->present);
}
/* clang-format on */
