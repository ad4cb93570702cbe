/* Contingency tables: the number of observations that two level bitsets share, for all pairs of sets of two
 * variables; and the sums of their information. Included by kernels_of_isa.h. */
/* clang-format off: it cannot format a pragma before a loop */

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
/* clang-format on */
