/* Included once for each instruction set by sign_kernel.c, with
 *   SET     the suffix of the functions to define
 *   TARGET  its attribute, or nothing
 * The loops over words are what the compiler turns into vector popcounts. */

TARGET static int64_t NAME(agree)(const uint64_t *a, const uint64_t *b, int64_t words) {
    int64_t sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t w = 0; w < words; w++) sum += __builtin_popcountll(a[w] & b[w]);
    return sum;
}

/* Concordant less discordant. */
TARGET static int64_t NAME(balance)(const uint64_t *a, const uint64_t *b, const uint64_t *c, const uint64_t *d,
                                    int64_t words) {
    int64_t sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t w = 0; w < words; w++)
        sum += (int64_t)__builtin_popcountll((a[w] & c[w]) | (b[w] & d[w])) -
               (int64_t)__builtin_popcountll((a[w] & d[w]) | (b[w] & c[w]));
    return sum;
}

/* Pairs that x does not tie, among those that y has. */
TARGET static int64_t NAME(untied)(const uint64_t *a, const uint64_t *b, const uint64_t *present, int64_t words) {
    int64_t sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t w = 0; w < words; w++) sum += __builtin_popcountll((a[w] | b[w]) & present[w]);
    return sum;
}

TARGET static void NAME(count)(const cpu_planes *rows, int64_t r, const cpu_planes *cols, int64_t c, int64_t n,
                               cpu_sign_mode mode, cpu_sign_sums *sums) {
    int64_t words = rows->words;
    const uint64_t *a = rows->greater + r * words, *b = rows->less + r * words;
    for (int64_t k = 0; k < n; k++) {
        const uint64_t *a2 = cols->greater + (c + k) * words, *b2 = cols->less + (c + k) * words;
        if (mode == CPU_SIGN_UNTIED) {
            int64_t both = NAME(agree)(a, a2, words);
            sums->sign[k] += 4 * both - 2 * (rows->ones[r] + cols->ones[c + k]) + rows->bits;
            continue;
        }
        sums->sign[k] += NAME(balance)(a, b, a2, b2, words);
        if (mode == CPU_SIGN_COMMON) {
            sums->row_untied[k] += NAME(untied)(a, b, cols->present + (c + k) * words, words);
            sums->col_untied[k] += NAME(untied)(a2, b2, rows->present + r * words, words);
        }
    }
}
