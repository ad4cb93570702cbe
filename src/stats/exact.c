#include "test.h"

#include "../base/alloc.h"
#include "../base/elementary.h"

#include <math.h>
#include <string.h>

/* Both coefficients have equal steps from -1 to 1 and a symmetric distribution: step k is the k-th smallest value,
 * from 0. The lower half of the distribution is tabulated. */
struct gcor_exact {
    const gcor_measure *measure;
    int64_t min, max;
    double **lower; /* [n - min]: P(at most step k), k up to half of the steps; lower[0] owns the memory of all */
};

static int is_kendall(const gcor_measure *measure) {
    return measure->distribution == GCOR_NORMAL_WITH_TIES;
}

/* Spearman's rho is the measure of unchanged ranks. */
int64_t gcor_max_exact(const gcor_measure *measure) {
    if (is_kendall(measure)) return GCOR_MAX_KENDALL;
    return measure->ranked && !measure->prepare ? GCOR_MAX_SPEARMAN : 0;
}

/* Kendall's tau counts pairs; Spearman's rho sums squared differences of ranks, which sum to an even number. */
int64_t gcor_exact_steps(const gcor_measure *measure, int64_t n) {
    return is_kendall(measure) ? n * (n - 1) / 2 : n * (n * n - 1) / 6;
}

/* P(at most step k), from the lower half. */
static double lower_tail(const double *half, int64_t steps, int64_t k) {
    if (k < 0) return 0;
    if (k >= steps) return 1;
    return k <= steps / 2 ? half[k] : 1 - half[steps - k - 1];
}

/* ---- Kendall ------------------------------------------------------------------------------------ */

/* The n-th observation is concordant with 0 .. n - 1 of the previous ones, each with equal probability. */
static void add_observation(const gcor_measure *measure, const double *before, int64_t n, double *half) {
    int64_t steps = gcor_exact_steps(measure, n - 1);
    double sum = 0;
    for (int64_t k = 0; k <= gcor_exact_steps(measure, n) / 2; k++) {
        sum += (lower_tail(before, steps, k) - lower_tail(before, steps, k - n)) / (double)n;
        half[k] = sum;
    }
}

/* ---- Spearman ------------------------------------------------------------------------------------ */

/* With more observations only the tail is counted. */
enum { ALL_ORDERS = 14, TAIL_STEPS = 80 };

/* Counts orders of n ranks by their sum of squared differences, halved: dynamic programming over the set of ranks
 * that the first `at` observations have. Sets of the same size have their counts in one block. */
typedef struct {
    int n, sums;       /* counts of sums 0 .. sums - 1: the lower half suffices, as sums only grow */
    int64_t largest;   /* max number of sets of the same size */
    int32_t *sets;     /* those that have orders with such sums, by their size */
    int32_t *position; /* index of each set among those of its size; NONE: its orders have larger sums */
    int64_t first[GCOR_MAX_SPEARMAN + 2]; /* position in `sets` of the first one of each size */
    double *now, *next;
} orders;

enum { NONE = -1, UNSEEN = -2 };

/* A partial sum of squares may be odd, so x^2 - x is summed, which is even; the differences x sum to 0. */
static int step_of(int at, int rank) {
    return ((at - rank) * (at - rank) - (at - rank)) / 2;
}

/* The smallest sum of an order whose first observations have the ranks of the set: both parts ascend. */
static int smallest_sum(const orders *o, int set) {
    int inside = 0, outside = __builtin_popcount((unsigned)set), sum = 0;
    for (int rank = 0; rank < o->n; rank++) sum += step_of(set >> rank & 1 ? inside++ : outside++, rank);
    return sum;
}

/* Each of these sets has one more rank than another one: the first ranks of its best order. */
static void find_sets(orders *o) {
    for (int set = 0; set < 1 << o->n; set++) o->position[set] = UNSEEN;
    o->sets[0] = o->position[0] = 0;
    o->first[1] = o->largest = 1;
    for (int at = 0; at < o->n; at++) {
        int64_t end = o->first[at + 1];
        for (int64_t k = o->first[at]; k < o->first[at + 1]; k++)
            for (int rank = 0; rank < o->n; rank++) {
                const int larger = o->sets[k] | 1 << rank;
                if (o->position[larger] != UNSEEN) continue;
                const int is_small = smallest_sum(o, larger) < o->sums;
                o->position[larger] = is_small ? (int32_t)(end - o->first[at + 1]) : NONE;
                if (is_small) o->sets[end++] = larger;
            }
        o->largest = gcor_max(o->largest, end - o->first[at + 1]);
        o->first[at + 2] = end;
    }
}

/* Adds one observation. */
static void extend(orders *o, int at) {
    memset(o->next, 0, (size_t)(o->largest * o->sums) * sizeof *o->next);
    for (int64_t k = o->first[at]; k < o->first[at + 1]; k++) {
        const int set = o->sets[k];
        const double *from = o->now + (k - o->first[at]) * o->sums;
        for (int rank = 0; rank < o->n; rank++) {
            const int larger = set | 1 << rank, step = step_of(at, rank);
            if (larger == set || o->position[larger] == NONE) continue;
            double *to = o->next + (int64_t)o->position[larger] * o->sums + step;
            for (int sum = 0; sum < o->sums - step; sum++) to[sum] += from[sum];
        }
    }
    double *swapped = o->now;
    o->now = o->next;
    o->next = swapped;
}

/* Counts up to 14! are exact in double, and so are those of the tail. */
static void count_orders(orders *o, double *half) {
    double all = 1, sum = 0;
    memset(o->now, 0, (size_t)o->sums * sizeof *o->now);
    o->now[0] = 1;
    for (int at = 0; at < o->n; at++) extend(o, at);
    for (int k = 2; k <= o->n; k++) all *= k;
    for (int k = 0; k < o->sums; k++) half[k] = (sum += o->now[k]) / all;
}

static double upper_tail(const gcor_rho_beta *beta, double r) {
    return gcor_tail_p(gcor_t_tail(beta->df, r / beta->scale), r, GCOR_GREATER, 0);
}

/* Fills the steps from `known` on by the beta distribution. Where counts end, its p values are up to 3 times too large;
 * the logarithm of this factor falls about as r^13 to 0, by which they are divided: what is left is at most 4 %. */
static void approximate_rest(int n, int known, double steps, double *half) {
    const gcor_rho_beta beta = gcor_rho_beta_of(n);
    double last = 1 - 2 * (known - 0.5) / steps; /* halfway to the next step, as a tail has all of its own */
    double excess = gcor_log(upper_tail(&beta, last) / half[known - 1]);
    for (int k = known; k <= (int)steps / 2; k++) {
        const double r = fmax(0, 1 - 2 * (k + 0.5) / steps);
        half[k] = upper_tail(&beta, r) * gcor_exp(-excess * gcor_pow(r / last, 13));
    }
}

static gcor_status tabulate_orders(gcor_context *context, const gcor_measure *measure, int n, double *half) {
    const int64_t steps = gcor_exact_steps(measure, n);
    orders o = {.n = n, .sums = n <= ALL_ORDERS ? (int)steps / 2 + 1 : TAIL_STEPS};
    o.position = gcor_alloc(context, (int64_t)2 << n, sizeof *o.position, "sets of ranks");
    if (!o.position) return GCOR_NO_MEMORY;
    o.sets = o.position + (1 << n);
    find_sets(&o);
    double *counts = gcor_alloc(context, 2 * o.largest * o.sums, sizeof *counts, "orders of ranks");
    if (counts) {
        o.now = counts;
        o.next = counts + o.largest * o.sums;
        count_orders(&o, half);
        approximate_rest(n, o.sums, (double)steps, half);
    }
    gcor_free(counts);
    gcor_free(o.position);
    return counts ? GCOR_OK : GCOR_NO_MEMORY;
}

/* The fourth moment is from Kendall and Stuart, The Advanced Theory of Statistics, 31.20. */
gcor_rho_beta gcor_rho_beta_of(double n) {
    double fourth = 3 * (((25 * n - 38) * n - 35) * n + 72) / (25 * n * (n + 1) * (n - 1) * (n - 1) * (n - 1));
    double excess = fourth * (n - 1) * (n - 1) - 3, df = -6 / excess - 3;
    return (gcor_rho_beta){df, sqrt((df + 1) / (n - 1))};
}

/* ---- both ---------------------------------------------------------------------------------------- */

static gcor_status allocate(gcor_context *context, gcor_exact *exact) {
    int64_t total = 0, tables = exact->max - exact->min + 1;
    for (int64_t n = exact->min; n <= exact->max; n++) total += gcor_exact_steps(exact->measure, n) / 2 + 1;
    exact->lower = gcor_alloc(context, tables, sizeof *exact->lower, "exact distributions");
    if (!exact->lower) return GCOR_NO_MEMORY;
    exact->lower[0] = gcor_alloc(context, total, sizeof(double), "exact distributions");
    if (!exact->lower[0]) return GCOR_NO_MEMORY;
    for (int64_t k = 1; k < tables; k++)
        exact->lower[k] = exact->lower[k - 1] + gcor_exact_steps(exact->measure, exact->min + k - 1) / 2 + 1;
    return GCOR_OK;
}

/* Kendall: builds each number of observations from the previous one, from 2 on. */
static gcor_status tabulate(gcor_context *context, gcor_exact *exact) {
    const int of_kendall = is_kendall(exact->measure);
    gcor_status status = GCOR_OK;
    if (of_kendall) exact->lower[0][0] = 0.5;
    for (int64_t n = of_kendall ? 3 : exact->min; !status && n <= exact->max; n++) {
        double *lower = exact->lower[n - exact->min];
        if (of_kendall)
            add_observation(exact->measure, exact->lower[n - 3], n, lower);
        else
            status = tabulate_orders(context, exact->measure, (int)n, lower);
    }
    return status;
}

gcor_exact *gcor_exact_new(gcor_context *context, const gcor_measure *measure, int64_t min, int64_t max) {
    gcor_exact *exact = gcor_alloc(context, 1, sizeof *exact, "exact distributions");
    if (!exact) return NULL;
    *exact = (gcor_exact){.measure = measure, .min = is_kendall(measure) ? 2 : min, .max = max};
    if (!allocate(context, exact) && !tabulate(context, exact)) return exact;
    gcor_exact_free(exact);
    return NULL;
}

void gcor_exact_free(gcor_exact *exact) {
    if (!exact) return;
    if (exact->lower) gcor_free(exact->lower[0]);
    gcor_free(exact->lower);
    gcor_free(exact);
}

double gcor_exact_lower(const gcor_exact *exact, int64_t n, double r) {
    int64_t steps = gcor_exact_steps(exact->measure, n);
    return lower_tail(exact->lower[n - exact->min], steps, llround((r + 1) / 2 * (double)steps));
}

double gcor_exact_upper(const gcor_exact *exact, int64_t n, double r) {
    return gcor_exact_lower(exact, n, -r);
}
