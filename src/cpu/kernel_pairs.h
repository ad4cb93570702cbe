/* Loops over two variables: contingency tables, and products of ranks. Included by kernels_of_isa.h. */
/* clang-format off: it cannot format a pragma before a loop */

/* ---- contingency tables ---------------------------------------------------------------------------------------- */

/* The number of observations that two level bitsets share, for all pairs of sets of two variables; and the sums of
 * their information. */

/* Counts for one set of a and n sets of b; n is 1 or 4. */
INLINE void table_cells(const uint64_t *a, const uint64_t *b, int n, int64_t words, int64_t *cells) {
    enum { LANES = BYTES / 8 };
    const int64_t max = CHUNK < INT64_MAX / LANES ? CHUNK * LANES : INT64_MAX;
    word_vec sums[4] = {{0}};
    for (int64_t w0 = 0, end; w0 < words; w0 = end) {
        count_vec both[4] = {{0}};
        end = words - w0 < max ? words : w0 + max;
        for (int64_t w = w0; w < end; w += LANES) {
            const word_vec own = *(const word_vec *)(a + w);
            UNROLL for (int v = 0; v < 4; v++) if (v < n)
                both[v] += COUNT_BITS(own & *(const word_vec *)(b + v * words + w));
        }
        UNROLL for (int v = 0; v < 4; v++) sums[v] += WIDEN(both[v]);
    }
    for (int v = 0; v < n; v++) {
        cells[v] = 0;
        for (int l = 0; l < LANES; l++) cells[v] += (int64_t)sums[v][l];
    }
}

static void levels(const uint64_t *a, int n_a, const uint64_t *b, int n_b, int64_t words, int64_t *table,
                   int64_t stride) {
    for (int i = 0; i < n_a; i++, a += words, table += stride) {
        int j = 0;
        for (; j + 4 <= n_b; j += 4) table_cells(a, b + j * words, 4, words, table + j);
        for (; j < n_b; j++) table_cells(a, b + j * words, 1, words, table + j);
    }
}

/* ---- information ----------------------------------------------------------------------------------------- */

/* Rows whose cells are counted at a time. */
enum { CELL_ROWS = UNTIED_ROWS };

/* Counts one cell of CELL_ROWS rows and all variables of a micro-panel. */
INLINE void count_cells(const uint64_t *row, const uint64_t *col, int64_t words, word_vec counts[CELL_ROWS][VECTORS]) {
    EACH(r, CELL_ROWS, v, VECTORS) counts[r][v] = (word_vec){0};
    for (int64_t w0 = 0, end; w0 < words; w0 = end) {
        count_vec both[CELL_ROWS][VECTORS];
        EACH(r, CELL_ROWS, v, VECTORS) both[r][v] = (count_vec){0};
        end = words - w0 < CHUNK ? words : w0 + CHUNK;
        for (int64_t w = w0; w < end; w++) {
            const uint64_t *a = row + w * MICRO_PANEL_WORDS;
            const word_vec *b = (const word_vec *)(col + w * MICRO_PANEL_WORDS);
            EACH(r, CELL_ROWS, v, VECTORS) both[r][v] += COUNT_BITS(b[v] & a[r]);
        }
        EACH(r, CELL_ROWS, v, VECTORS) counts[r][v] += WIDEN(both[r][v]);
    }
}

INLINE void add_terms(const word_vec counts[CELL_ROWS][VECTORS], const int64_t *terms, int sign, int64_t *sums) {
    for (int r = 0; r < CELL_ROWS; r++, sums += CPU_BLOCK_COLS) {
        const uint64_t *count = (const uint64_t *)(const void *)counts[r];
        for (int k = 0; k < MICRO_PANEL_WORDS; k++) sums[k] += sign * terms[count[k]];
    }
}

/* Returns the largest number of levels of n variables side by side. */
INLINE int most_levels(const uint64_t *levels, int n) {
    uint64_t most = 0;
    for (int k = 0; k < n; k++) most = levels[k] > most ? levels[k] : most;
    return (int)most;
}

/* With is_common, each side has one more level, of all observations that are not missing: its cells are the margins of
 * the pair's table. */
static void mutual(const uint64_t *rows, const uint64_t *cols, const cpu_bins *bins, int64_t *sums) {
    const int64_t level = bins->words * MICRO_PANEL_WORDS, end = (bins->levels + bins->is_common) * level;
    const int n_col = most_levels(cols + end, MICRO_PANEL_WORDS);
    word_vec counts[CELL_ROWS][VECTORS];
    for (int first = 0; first < CPU_KERNEL_ROWS; first += CELL_ROWS, rows += CELL_ROWS) {
        const int n_row = most_levels(rows + end, CELL_ROWS);
        int64_t *out = sums + first * CPU_BLOCK_COLS;
        for (int r = 0; r < CELL_ROWS; r++) memset(out + r * CPU_BLOCK_COLS, 0, MICRO_PANEL_WORDS * sizeof *out);
        for (int i = 0; i < n_row + bins->is_common; i++)
            for (int j = 0; j < n_col + bins->is_common; j++) {
                const int a = i < n_row ? i : bins->levels, b = j < n_col ? j : bins->levels;
                count_cells(rows + a * level, cols + b * level, bins->words, counts);
                add_terms(counts, bins->terms, (i < n_row) == (j < n_col) ? 1 : -1, out);
            }
        if (bins->is_common)
            for (int r = 0; r < CELL_ROWS; r++)
                memcpy(out + CPU_BLOCK_PAIRS + r * CPU_BLOCK_COLS, counts[r], sizeof counts[r]); /* the last cell's */
    }
}

/* ---- sums of products of the ranks of pairwise-complete pairs --------------------------------------------------- */

enum { SHORT_BYTES = BYTES < 32 ? BYTES : 32, SHORTS = SHORT_BYTES / 2, SHORT_VECTORS = 4 };
typedef int16_t short_vec __attribute__((vector_size(SHORT_BYTES), aligned(2), may_alias));
typedef int32_t int_vec __attribute__((vector_size(SHORT_BYTES), aligned(2), may_alias));
_Static_assert(CPU_RANK_PADDING % (SHORTS * SHORT_VECTORS) == 0, "whole groups of vectors");

#ifndef MULTIPLY_SHORTS
/* Products of neighbours, added. */
INLINE int_vec multiply_shorts(short_vec x, short_vec y) {
    const int_vec a = (int_vec)x, b = (int_vec)y;
    const int_vec low = (a << 16 >> 16) * (b << 16 >> 16), high = (a >> 16) * (b >> 16);
    return low + high;
}
#define MULTIPLY_SHORTS multiply_shorts
#endif

/* Loads scores. Of each it subtracts the values that are left out below it, and adds those above it. */
INLINE void load_scores(const int16_t *x, const int16_t *left_out, int64_t n, short_vec *all, short_vec *score) {
    UNROLL for (int v = 0; v < SHORT_VECTORS; v++) score[v] = all[v] = *(const short_vec *)(x + v * SHORTS);
    for (int64_t e = 0; e < n; e++) {
        const short_vec out = left_out[e] - (short_vec){0};
        UNROLL for (int v = 0; v < SHORT_VECTORS; v++) score[v] += (all[v] > out) - (all[v] < out);
    }
}

/* Sums in 32 bits of up to MAX_SHORT_SUM scores do not overflow; those of longer columns are widened after each group
 * of vectors. */
enum { MAX_SHORT_SUM = 2048 };

static void ranks(const int16_t *x, const int16_t *y, int64_t n, const cpu_left_out *left_out, int64_t *sums) {
    enum { GROUP = SHORTS * SHORT_VECTORS };
    int_vec sum[3] = {{0}};
    sums[0] = sums[1] = sums[2] = 0;
    for (int64_t at = 0; at < n; at += GROUP) {
        short_vec all_x[SHORT_VECTORS], all_y[SHORT_VECTORS], own[SHORT_VECTORS], other[SHORT_VECTORS];
        load_scores(x + at, left_out->x, left_out->n_x, all_x, own);
        load_scores(y + at, left_out->y, left_out->n_y, all_y, other);
        UNROLL for (int v = 0; v < SHORT_VECTORS; v++) {
            const short_vec common = (all_x[v] != CPU_NO_SCORE) & (all_y[v] != CPU_NO_SCORE);
            own[v] &= common;
            other[v] &= common;
            sum[0] += MULTIPLY_SHORTS(own[v], own[v]);
            sum[1] += MULTIPLY_SHORTS(other[v], other[v]);
            sum[2] += MULTIPLY_SHORTS(own[v], other[v]);
        }
        if (n <= MAX_SHORT_SUM && at + GROUP < n) continue;
        for (int s = 0; s < 3; s++) {
            for (int l = 0; l < SHORTS / 2; l++) sums[s] += sum[s][l];
            sum[s] = (int_vec){0};
        }
    }
}
/* clang-format on */
