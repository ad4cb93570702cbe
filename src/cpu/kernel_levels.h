/* Contingency tables: the number of observations that two level bitsets share, for all pairs of sets of two
 * variables. Included by kernels_of_isa.h. */
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
/* clang-format on */
