#include "exact.h"

#include "alloc.h"
#include "tail.h"

#include <math.h>
#include <string.h>

enum { MOST_COUNTED = 9, COUNTED_SUMS = 121 }; /* of Spearman's distribution; (n^3 - n) / 6 + 1 sums that are even */

struct gcor_exact {
    int is_kendall;
    int64_t most;
    /* For each number of observations, whose table is n - 1 elements on: */
    double **lower; /* Kendall: P(at most k concordant pairs), k up to half of the pairs */
    double spearman[MOST_COUNTED + 1][COUNTED_SUMS]; /* P(sum of squared differences of ranks at most 2 k) */
};

static int is_kendall(const gcor_measure *measure) {
    return measure->distribution == GCOR_NORMAL_WITH_TIES;
}

/* Spearman's rho is the measure of ranks as they are. */
int64_t gcor_most_exact(const gcor_measure *measure) {
    if (is_kendall(measure)) return GCOR_MOST_KENDALL;
    return measure->ranked && !measure->prepare ? GCOR_MOST_SPEARMAN : 0;
}

/* ---- Kendall ------------------------------------------------------------------------------------ */

static int64_t pairs_of(int64_t n) {
    return n * (n - 1) / 2;
}

/* P(at most k) from the lower half of a symmetric distribution. */
static double kendall_lower(const double *half, int64_t n, int64_t k) {
    int64_t pairs = pairs_of(n);
    if (k < 0) return 0;
    if (k >= pairs) return 1;
    return k <= pairs / 2 ? half[k] : 1 - half[pairs - k - 1];
}

/* The n-th observation is concordant with 0 .. n - 1 of those before it, all equally probable. */
static void add_observation(const double *before, int64_t n, double *half) {
    double sum = 0;
    for (int64_t k = 0; k <= pairs_of(n) / 2; k++) {
        sum += (kendall_lower(before, n - 1, k) - kendall_lower(before, n - 1, k - n)) / (double)n;
        half[k] = sum;
    }
}

static gcor_status tabulate_kendall(gcor_context *context, gcor_exact *exact) {
    int64_t total = 0;
    for (int64_t n = 1; n <= exact->most; n++) total += pairs_of(n) / 2 + 1;
    exact->lower = gcor_alloc(context, exact->most + 1, sizeof *exact->lower, "the distribution of tau");
    if (!exact->lower) return GCOR_NO_MEMORY;
    exact->lower[0] = NULL;
    exact->lower[1] = gcor_alloc(context, total, sizeof(double), "the distribution of tau");
    if (!exact->lower[1]) return GCOR_NO_MEMORY;
    exact->lower[1][0] = 1;
    for (int64_t n = 2; n <= exact->most; n++) {
        exact->lower[n] = exact->lower[n - 1] + pairs_of(n - 1) / 2 + 1;
        add_observation(exact->lower[n - 1], n, exact->lower[n]);
    }
    return GCOR_OK;
}

/* ---- Spearman ------------------------------------------------------------------------------------ */

/* Of the orders of n ranks, by the set of ranks that the first observations have: how many have each sum. */
static void tabulate_orders(int n, double (*orders)[COUNTED_SUMS], double *lower) {
    int sums = n * (n * n - 1) / 6 + 1; /* of squares, halved below: the last one is even */
    memset(orders, 0, ((size_t)1 << n) * sizeof *orders);
    orders[0][0] = 1;
    /* Sums on the way may be odd; x^2 and x differ by an even number, and all x add up to 0. */
    for (int set = 0; set < 1 << n; set++) {
        int at = __builtin_popcount((unsigned)set);
        for (int rank = 0; rank < n; rank++) {
            if (set >> rank & 1) continue;
            int square = (at - rank) * (at - rank), difference = at - rank;
            int step = (square - difference) / 2;
            double *to = orders[set | 1 << rank];
            for (int k = 0; k + step < sums; k++) to[k + step] += orders[set][k];
        }
    }
    double all = 0, sum = 0;
    for (int k = 0; k < sums; k++) all += orders[(1 << n) - 1][k];
    for (int k = 0; k < sums; k++) lower[k] = (sum += orders[(1 << n) - 1][k]) / all;
}

static gcor_status tabulate_spearman(gcor_context *context, gcor_exact *exact) {
    double(*orders)[COUNTED_SUMS] = gcor_alloc(context, 1 << MOST_COUNTED, sizeof *orders, "orders of ranks");
    if (!orders) return GCOR_NO_MEMORY;
    for (int n = 2; n <= MOST_COUNTED && n <= exact->most; n++) tabulate_orders(n, orders, exact->spearman[n]);
    gcor_free(orders);
    return GCOR_OK;
}

/* P(sum of squared differences < sum) by an Edgeworth series (Best and Roberts 1975, AS 89). */
static double edgeworth(double n, double sum) {
    double x = (6 * (sum - 1) / (n * (n * n - 1)) - 1) * sqrt(n - 1), y = x * x, b = 1 / n;
    double u = x * b *
               (0.2274 + b * (0.2531 + 0.1745 * b) +
                y * (-0.0758 + b * (0.1033 + 0.3932 * b) -
                     y * b * (0.0879 + 0.0151 * b - y * (0.0072 - 0.0831 * b + y * b * (0.0131 - 4.6e-4 * y)))));
    double tail = gcor_tail_p(gcor_normal_tail(x), x, GCOR_LESS, 0);
    return fmin(fmax(tail - u * exp(-y / 2), 0), 1);
}

/* P(sum of squared differences at most `sum`), an even number. */
static double spearman_lower(const gcor_exact *exact, int64_t n, double sum) {
    double most = (double)n * (double)(n * n - 1) / 3;
    if (sum < 0) return 0;
    if (sum >= most) return 1;
    return n <= MOST_COUNTED ? exact->spearman[n][(int)(sum / 2)] : edgeworth((double)n, sum + 2);
}

/* ---- both ---------------------------------------------------------------------------------------- */

gcor_exact *gcor_exact_new(gcor_context *context, const gcor_measure *measure, int64_t most) {
    gcor_exact *exact = gcor_alloc(context, 1, sizeof *exact, "exact distributions");
    if (!exact) return NULL;
    exact->is_kendall = is_kendall(measure);
    exact->most = most;
    exact->lower = NULL;
    if (!(exact->is_kendall ? tabulate_kendall(context, exact) : tabulate_spearman(context, exact))) return exact;
    gcor_exact_free(exact);
    return NULL;
}

void gcor_exact_free(gcor_exact *exact) {
    if (!exact) return;
    if (exact->lower) gcor_free(exact->lower[1]);
    gcor_free(exact->lower);
    gcor_free(exact);
}

double gcor_exact_lower(const gcor_exact *exact, int64_t n, double r) {
    double most = (double)n * (double)(n * n - 1) / 3;
    if (exact->is_kendall) return kendall_lower(exact->lower[n], n, llround((r + 1) / 2 * (double)pairs_of(n)));
    return spearman_lower(exact, n, most - 2 * round((1 - r) / 4 * most)); /* r and -r are equally probable */
}

double gcor_exact_upper(const gcor_exact *exact, int64_t n, double r) {
    return gcor_exact_lower(exact, n, -r);
}
