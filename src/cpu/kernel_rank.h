/* Sums of products of the ranks of pairwise-complete pairs. Included by kernels_of_isa.h. */
/* clang-format off: it cannot format a pragma before a loop */
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
