#include "preservation.h"

#include "../base/alloc.h"
#include "../base/threads.h"
#include "../base/triangle.h"
#include "../base/isa.h"
#include "../stats/leading.h"
#include "cpu.h"

#include <math.h>
#include <string.h>

/* Coefficients are computed for CPU_KERNEL_ROWS rows and a strip of columns at a time, whose operands stay in the L1
 * cache. */
enum { WIDTH = CPU_MICRO_PANEL_BYTES / sizeof(double), STRIP = 4 * WIDTH };

/* AHEAD: drawn columns are anywhere in memory; the column that many later is prefetched. TOGETHER: columns that are
 * multiplied at a time. */
enum { AHEAD = 4, TOGETHER = 8 };

/* A module in a data set. */
typedef struct {
    int64_t n;
    float *r;                                /* the reference's: n x n, of which pairs i < j are set; otherwise NULL */
    double *degree, *squares, *contribution; /* n; squares: sums of squared adjacencies */
    double sum, sum_squares;                 /* of the coefficients */
    double cross, aligned; /* sums of the coefficients' products with the reference's, and with their signs */
} profile;

typedef struct {
    const gcor_preservation *job;
    gcor_context *context;
    const cpu_kernels *kernels;
    int64_t largest, n_obs; /* max members of a module; max observations of a data set */
    profile *references;    /* n_module */
    double *reference_sums; /* their degrees, squares and contributions */
    float *coefficients;    /* their r */
    double *scratch;        /* scratch_length doubles for each thread */
    int64_t scratch_length;
} preservation;

/* A thread's scratch. */
typedef struct {
    double *panels;       /* variables in micro-panels; then observations in micro-panels */
    double *gram, *basis; /* the matrix whose leading eigenvector is wanted, and what gcor_leading() needs */
    double *vector, *sums;
    profile own;
} workspace;

static int64_t padded(int64_t n) {
    return (n + WIDTH - 1) / WIDTH * WIDTH;
}

static int64_t max_side(const preservation *p) {
    return padded(gcor_min(p->largest, p->n_obs));
}

static int64_t count_scratch(const preservation *p) {
    int64_t panels = padded(p->largest) * padded(p->n_obs), side = max_side(p);
    return panels + side * side + padded(gcor_leading_scratch(side)) + side + CPU_KERNEL_ROWS * CPU_BLOCK_COLS +
           3 * padded(p->largest);
}

static workspace workspace_of(const preservation *p, int thread) {
    int64_t side = max_side(p), members = padded(p->largest);
    workspace w = {.panels = p->scratch + thread * p->scratch_length};
    w.gram = w.panels + members * padded(p->n_obs);
    w.basis = w.gram + side * side;
    w.vector = w.basis + padded(gcor_leading_scratch(side));
    w.sums = w.vector + side;
    w.own.degree = w.sums + CPU_KERNEL_ROWS * CPU_BLOCK_COLS;
    w.own.squares = w.own.degree + members;
    w.own.contribution = w.own.squares + members;
    return w;
}

/* ---- micro-panels ----------------------------------------------------------------------------------------------- */

/* Packs the n variables `which` side by side; the last one is repeated to fill a micro-panel. */
static void pack_variables(const gcor_preserved_set *set, const int *which, int64_t n, double *panels) {
    for (int64_t v = 0; v < padded(n); v++) {
        const double *column = set->columns + which[gcor_min(v, n - 1)] * set->n_obs;
        const double *later = set->columns + which[gcor_min(v + AHEAD, n - 1)] * set->n_obs;
        double *out = panels + v / WIDTH * WIDTH * set->n_obs + v % WIDTH;
        for (int64_t k = 0; k < set->n_obs; k++) {
            if (k % 8 == 0) __builtin_prefetch(later + k);
            out[k * WIDTH] = column[k];
        }
    }
}

/* Packs the observations side by side; zeros fill a micro-panel. */
static void pack_observations(const gcor_preserved_set *set, const int *which, int64_t n, double *panels) {
    for (int64_t first = 0; first < set->n_obs; first += WIDTH) {
        int64_t some = gcor_min(WIDTH, set->n_obs - first);
        double *out = panels + first * n;
        for (int64_t v = 0; v < n; v++, out += WIDTH) {
            const double *values = set->columns + which[v] * set->n_obs + first;
            if (some == WIDTH)
                memcpy(out, values, WIDTH * sizeof *out);
            else
                for (int64_t k = 0; k < WIDTH; k++) out[k] = k < some ? values[k] : 0;
        }
    }
}

/* Computes the products of rows row .. row + CPU_KERNEL_ROWS - 1 with the columns of a strip from `first` on; those of
 * column c are at sums[c - first] and CPU_BLOCK_COLS apart. */
static void multiply(const preservation *p, const double *panels, int64_t length, int64_t row, int64_t first,
                     int64_t end, double *sums) {
    const double *rows = panels + row / WIDTH * WIDTH * length + row % WIDTH;
    for (int64_t c = first; c < end; c += WIDTH)
        if (c + WIDTH > row) p->kernels->fused(rows, panels + c * length, length, 0, sums + (c - first));
}

/* ---- pairs ------------------------------------------------------------------------------------------------------ */

/* These loops are compiled for each vector length; every element is rounded alike. */
typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t four_words __attribute__((vector_size(32), aligned(8), may_alias));

/* Sums over pairs, four at a time, in a fixed order. */
typedef struct {
    four sum, sum_squares, cross, aligned;
} pair_sums;

GCOR_BODY void add_four(pair_sums *s, const double *r, const float *other) {
    const four_words sign = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};
    const four own = *(const four *)r, reference = {other[0], other[1], other[2], other[3]};
    s->sum += own;
    s->sum_squares += own * own;
    s->cross += own * reference;
    s->aligned += (four)(((four_words)own ^ ((four_words)reference & sign)) & (reference != 0));
}

GCOR_BODY void add_coefficients(pair_sums *sums, const double *r, const float *other, int64_t n) {
    pair_sums s = *sums; /* in registers */
    double last[4] = {0};
    float last_other[4] = {0};
    int64_t k = 0;
    for (; k + 4 <= n; k += 4) add_four(&s, r + k, other + k);
    if (k < n) {
        memcpy(last, r + k, (size_t)(n - k) * sizeof *r);
        memcpy(last_other, other + k, (size_t)(n - k) * sizeof *other);
        add_four(&s, last, last_other);
    }
    *sums = s;
}

GCOR_BODY double total(four sum) {
    return (sum[0] + sum[2]) + (sum[1] + sum[3]);
}

/* Sets a = base^power, with few products if the power is an integer. Both arrays have a multiple of four elements. */
GCOR_BODY void raise_all(const double *base, double power, int64_t n, double *a) {
    if (!gcor_is_multiplied(power) || power != floor(power)) {
        for (int64_t k = 0; k < n; k++) a[k] = gcor_power(base[k], power);
        return;
    }
    for (int64_t k = 0; k < n; k += 4) {
        four square = *(const four *)(base + k), result = {1, 1, 1, 1};
        for (int left = (int)power; left > 0; left /= 2, square *= square)
            if (left % 2) result *= square;
        *(four *)(a + k) = result;
    }
}

/* Writes the adjacencies of member i with members j .. j + n - 1 of those `which`. */
GCOR_BODY void find_adjacencies(const preservation *p, const gcor_preserved_set *set, const int *which, int64_t i,
                                int64_t j, int64_t n, const double *r, double *a) {
    if (set->overlaps.plain || set->overlaps.compact) {
        for (int64_t k = 0; k < n; k++) {
            int64_t low = gcor_min(which[i], which[j + k]), high = gcor_max(which[i], which[j + k]);
            double scratch;
            a[k] = *gcor_read_values(&set->overlaps, gcor_row_position(low, high, p->job->n_var), 1, &scratch);
        }
        return;
    }
    double base[STRIP];
    switch (p->job->similarity) { /* outside of loops, which are vectorized then */
    case GCOR_UNSIGNED:
        for (int64_t k = 0; k < n; k++) base[k] = gcor_base(GCOR_UNSIGNED, r[k]);
        break;
    case GCOR_SIGNED:
        for (int64_t k = 0; k < n; k++) base[k] = gcor_base(GCOR_SIGNED, r[k]);
        break;
    case GCOR_HYBRID:
        for (int64_t k = 0; k < n; k++) base[k] = gcor_base(GCOR_HYBRID, r[k]);
    }
    for (int64_t k = n; k % 4 > 0; k++) base[k] = 0;
    raise_all(base, p->job->power, n, a);
}

/* Adds the adjacencies of member i with members j .. j + n - 1. */
GCOR_BODY void add_adjacencies(profile *own, int64_t i, int64_t j, int64_t n, const double *a) {
    four degree = {0}, squares = {0};
    double last_degree = 0, last_squares = 0, *to_degree = own->degree + j, *to_squares = own->squares + j;
    int64_t k = 0;
    for (; k + 4 <= n; k += 4) {
        const four one = *(const four *)(a + k), square = one * one;
        degree += one;
        squares += square;
        *(four *)(to_degree + k) += one;
        *(four *)(to_squares + k) += square;
    }
    for (; k < n; k++) {
        last_degree += a[k];
        last_squares += a[k] * a[k];
        to_degree[k] += a[k];
        to_squares[k] += a[k] * a[k];
    }
    own->degree[i] += total(degree) + last_degree;
    own->squares[i] += total(squares) + last_squares;
}

/* A pass over the pairs of a module. reference: NULL if `own` is the reference's, which keeps the coefficients in
 * single precision; its sums are those of the kept ones. */
typedef struct {
    const preservation *p;
    const gcor_preserved_set *set;
    const int *which; /* the module's variables */
    const profile *reference;
    profile *own;
    pair_sums sums;
} pair_pass;

/* Adds the pairs of member i with members j .. j + n - 1, whose coefficients it may overwrite. */
GCOR_BODY void add_pairs_body(pair_pass *q, int64_t i, int64_t j, int64_t n, double *r) {
    double a[STRIP];
    int64_t at = i * q->own->n + j;
    find_adjacencies(q->p, q->set, q->which, i, j, n, r, a);
    add_adjacencies(q->own, i, j, n, a);
    if (!q->reference)
        for (int64_t k = 0; k < n; k++) r[k] = q->own->r[at + k] = (float)r[k];
    const float *other = (q->reference ? q->reference : q->own)->r + at;
    for (int64_t k = 0; k < n; k += 16) __builtin_prefetch(other + CPU_KERNEL_ROWS * q->own->n + k);
    add_coefficients(&q->sums, r, other, n);
}

GCOR_WIDE(add_pairs, (pair_pass * q, int64_t i, int64_t j, int64_t n, double *r), (q, i, j, n, r))

static void sum_pairs(const preservation *p, const gcor_preserved_set *set, const int *which, const profile *reference,
                      workspace *w) {
    profile *own = &w->own;
    pair_pass q = {.p = p, .set = set, .which = which, .reference = reference, .own = own};
    memset(own->degree, 0, (size_t)own->n * sizeof *own->degree);
    memset(own->squares, 0, (size_t)own->n * sizeof *own->squares);
    for (int64_t first = 0; first < own->n; first += STRIP) {
        int64_t end = gcor_min(first + STRIP, own->n);
        for (int64_t row = 0; row < end; row += CPU_KERNEL_ROWS) {
            multiply(p, w->panels, set->n_obs, row, first, end, w->sums);
            for (int64_t i = row; i < row + CPU_KERNEL_ROWS && i + 1 < end; i++) {
                int64_t j = gcor_max(first, i + 1);
                double *r = w->sums + (i - row) * CPU_BLOCK_COLS + (j - first);
                add_pairs(&q, i, j, end - j, r);
            }
        }
    }
    own->sum = total(q.sums.sum);
    own->sum_squares = total(q.sums.sum_squares);
    own->cross = total(q.sums.cross);
    own->aligned = total(q.sums.aligned);
}

/* ---- contributions ---------------------------------------------------------------------------------------------- */

/* Sets the products of all n variables or observations of the panels: rows `stride` apart. */
static void find_gram(const preservation *p, const double *panels, int64_t n, int64_t length, int64_t stride,
                      workspace *w) {
    for (int64_t row = 0; row < n; row += CPU_KERNEL_ROWS)
        for (int64_t c = row / WIDTH * WIDTH; c < n; c += WIDTH) {
            multiply(p, panels, length, row, c, c + WIDTH, w->sums);
            for (int64_t i = row; i < row + CPU_KERNEL_ROWS; i++)
                for (int64_t j = gcor_max(c, i); j < c + WIDTH; j++)
                    w->gram[i * stride + j] = w->gram[j * stride + i] = w->sums[(i - row) * CPU_BLOCK_COLS + (j - c)];
        }
}

/* Sets products[v] to that of a vector and variable which[v], for up to TOGETHER variables, whose sums are independent.
 */
static void multiply_columns(const gcor_preserved_set *set, const int *which, int64_t n, const double *vector,
                             double *products) {
    const double *column[TOGETHER];
    double sum[TOGETHER] = {0};
    for (int64_t v = 0; v < TOGETHER; v++) column[v] = set->columns + which[gcor_min(v, n - 1)] * set->n_obs;
    for (int64_t k = 0; k < set->n_obs; k++)
        for (int64_t v = 0; v < TOGETHER; v++) sum[v] += vector[k] * column[v][k];
    memcpy(products, sum, (size_t)n * sizeof *sum);
}

/* The component is a leading eigenvector of the products of observations, and the contributions are a multiple of that
 * of the products of variables: the smaller matrix is used. */
static void find_contributions(const preservation *p, const gcor_preserved_set *set, const int *which, workspace *w) {
    int64_t n = w->own.n, n_obs = set->n_obs;
    double *contribution = w->own.contribution, sum = 0;
    if (n <= n_obs) {
        find_gram(p, w->panels, n, n_obs, padded(n), w);
        double length = sqrt(gcor_leading_dense(p->context, w->gram, n, padded(n), w->vector, w->basis));
        for (int64_t v = 0; v < n; v++) contribution[v] = length * w->vector[v];
    } else {
        pack_observations(set, which, n, w->panels);
        find_gram(p, w->panels, n_obs, n, padded(n_obs), w);
        gcor_leading_dense(p->context, w->gram, n_obs, padded(n_obs), w->vector, w->basis);
        for (int64_t v = 0; v < n; v += TOGETHER)
            multiply_columns(set, which + v, gcor_min(TOGETHER, n - v), w->vector, contribution + v);
    }
    for (int64_t v = 0; v < n; v++) sum += contribution[v];
    for (int64_t v = 0; v < n && sum < 0; v++) contribution[v] = -contribution[v];
}

/* Sets the workspace's own profile of the n variables `which`. */
static void describe(const preservation *p, const gcor_preserved_set *set, const int *which, int64_t n,
                     const profile *reference, workspace *w) {
    w->own.n = n;
    pack_variables(set, which, n, w->panels);
    sum_pairs(p, set, which, reference, w);
    find_contributions(p, set, which, w);
}

/* ---- statistics ------------------------------------------------------------------------------------------------- */

static double mean_of(const double *x, int64_t n) {
    double sum = 0;
    for (int64_t k = 0; k < n; k++) sum += x[k];
    return sum / (double)n;
}

static double correlation(const double *x, const double *y, int64_t n) {
    double mean_x = mean_of(x, n), mean_y = mean_of(y, n), xx = 0, yy = 0, xy = 0;
    for (int64_t k = 0; k < n; k++) {
        double a = x[k] - mean_x, b = y[k] - mean_y;
        xx += a * a;
        yy += b * b;
        xy += a * b;
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

/* Replaces the sums of squares by ratios. */
static void find_ratios(profile *own) {
    for (int64_t v = 0; v < own->n; v++) own->squares[v] = own->degree[v] != 0 ? own->squares[v] / own->degree[v] : 0;
}

static double correlate_coefficients(const profile *reference, const profile *own) {
    double n = (double)gcor_triangular(own->n - 1);
    double xx = n * reference->sum_squares - reference->sum * reference->sum;
    double yy = n * own->sum_squares - own->sum * own->sum, xy = n * own->cross - reference->sum * own->sum;
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

static void set_statistics(const profile *reference, const profile *own, double *out) {
    int64_t n = own->n;
    double squares = 0, signed_sum = 0;
    for (int64_t v = 0; v < n; v++) {
        double c = own->contribution[v], other = reference->contribution[v];
        squares += c * c;
        signed_sum += other > 0 ? c : other < 0 ? -c : 0;
    }
    out[GCOR_MEAN_SQUARED_CONTRIBUTION] = squares / (double)n;
    out[GCOR_MEAN_CONTRIBUTION] = signed_sum / (double)n;
    out[GCOR_MEAN_COEFFICIENT] = own->aligned / (double)gcor_triangular(n - 1);
    out[GCOR_MEAN_ADJACENCY] = mean_of(own->degree, n) / (double)(n - 1);
    out[GCOR_MEAN_RATIO] = mean_of(own->squares, n);
    out[GCOR_COR_DEGREE] = correlation(reference->degree, own->degree, n);
    out[GCOR_COR_CONTRIBUTION] = correlation(reference->contribution, own->contribution, n);
    out[GCOR_COR_COEFFICIENT] = correlate_coefficients(reference, own);
    out[GCOR_COR_RATIO] = correlation(reference->squares, own->squares, n);
}

/* ---- tasks ------------------------------------------------------------------------------------------------------ */

static int64_t size_of(const gcor_preservation *job, int64_t module) {
    return job->start[module + 1] - job->start[module];
}

static void describe_reference(void *argument, int thread, int64_t module) {
    const preservation *p = argument;
    profile *reference = p->references + module;
    workspace w = workspace_of(p, thread);
    if (gcor_stop(p->context)) return;
    w.own = *reference; /* written where they are kept */
    describe(p, &p->job->reference, p->job->member + p->job->start[module], reference->n, NULL, &w);
    find_ratios(&w.own);
    *reference = w.own;
}

/* Draws of a module follow each other, so that its reference's coefficients stay in the cache. */
static void describe_draw(void *argument, int thread, int64_t k) {
    const preservation *p = argument;
    const gcor_preservation *job = p->job;
    int64_t module = k / job->n_draw, draw = k % job->n_draw, n = size_of(job, module);
    workspace w = workspace_of(p, thread);
    if (gcor_stop(p->context)) return;
    describe(p, &job->test, job->drawn + draw * job->start[job->n_module] + job->start[module], n,
             p->references + module, &w);
    find_ratios(&w.own);
    set_statistics(p->references + module, &w.own,
                   job->statistics + (draw * job->n_module + module) * GCOR_N_PRESERVATIONS);
    __atomic_fetch_add(&p->context->monitor->pairs_done, gcor_triangular(n - 1), __ATOMIC_RELAXED);
}

static gcor_status allocate(preservation *p) {
    const gcor_preservation *job = p->job;
    const char *what = "the reference's modules", *scratch = "a module's columns";
    int64_t n = job->start[job->n_module], squares = 0, done = 0;
    for (int64_t m = 0; m < job->n_module; m++) squares += size_of(job, m) * size_of(job, m);
    p->scratch_length = count_scratch(p);
    p->references = gcor_alloc(p->context, job->n_module, sizeof *p->references, what);
    p->reference_sums = gcor_alloc(p->context, 3 * n, sizeof *p->reference_sums, what);
    p->coefficients = gcor_alloc(p->context, squares, sizeof *p->coefficients, what);
    p->scratch = gcor_alloc(p->context, p->context->threads * p->scratch_length, sizeof *p->scratch, scratch);
    if (p->context->error.status) return p->context->error.status;
    for (int64_t m = 0; m < job->n_module; m++) {
        double *sums = p->reference_sums + 3 * job->start[m];
        int64_t size = size_of(job, m);
        p->references[m] = (profile){.n = size,
                                     .r = p->coefficients + done,
                                     .degree = sums,
                                     .squares = sums + size,
                                     .contribution = sums + 2 * size};
        done += size * size;
    }
    return GCOR_OK;
}

gcor_status cpu_preservation(gcor_context *context, const gcor_preservation *job) {
    preservation p = {.job = job,
                      .context = context,
                      .kernels = cpu_find_kernels(context),
                      .n_obs = gcor_max(job->reference.n_obs, job->test.n_obs)};
    if (!p.kernels) return context->error.status;
    context->monitor->pairs = context->monitor->pairs_done = 0;
    for (int64_t m = 0; m < job->n_module; m++) {
        p.largest = gcor_max(p.largest, size_of(job, m));
        context->monitor->pairs += job->n_draw * gcor_triangular(size_of(job, m) - 1);
    }
    if (!allocate(&p)) {
        gcor_for_each(context->threads, job->n_module, describe_reference, &p);
        gcor_for_each(context->threads, job->n_module * job->n_draw, describe_draw, &p);
    }
    gcor_free(p.references);
    gcor_free(p.reference_sums);
    gcor_free(p.coefficients);
    gcor_free(p.scratch);
    return context->error.status;
}
