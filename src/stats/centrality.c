#include "centrality.h"

#include "../base/alloc.h"
#include "../base/threads.h"
#include "../base/triangle.h"
#include "../base/isa.h"
#include "../measure/coefficient.h"
#include "../measure/design.h"
#include "../measure/measure.h"
#include "../source/source.h"

#include <math.h>
#include <string.h>

/* Replaces vector[n], n > 0, by the leading eigenvector, of any length and sign; *error is relative to *value. */
static gcor_status iterate(gcor_context *context, int64_t n, gcor_times *times, const void *matrix, double *vector,
                           double *value, double *error) {
    const gcor_symmetric a = {n, times, matrix, context->threads, .tolerance = 1e-12, .check_every = 1};
    int64_t length = gcor_leading_scratch(n);
    double *scratch = gcor_alloc(context, length, sizeof *scratch, "the iteration for an eigenvector");
    if (!scratch) return GCOR_NO_MEMORY;
    gcor_huge_pages(scratch, (size_t)length * sizeof *scratch);
    gcor_status status = gcor_leading(context, &a, vector, scratch, value, error);
    gcor_free(scratch);
    *error = *value > 0 ? *error / *value : 0;
    return status;
}

/* Scales an eigenvector so that its largest element is 1; with the eigenvalue 0 to zeros. */
static void scale(double *vector, int64_t n, double value) {
    double sum = 0, max = 0;
    for (int64_t j = 0; j < n; j++) {
        sum += vector[j];
        max = fmax(max, fabs(vector[j]));
    }
    double factor = value > 0 ? copysign(1 / max, sum) : 0;
    for (int64_t j = 0; j < n; j++) {
        double own = vector[j] * factor;
        vector[j] = own > 1e-14 ? own : 0; /* rounding errors of 0, as in other components of a network */
    }
}

/* ---- networks --------------------------------------------------------------------------------------------------- */

/* An entry adds to the sums of its row and of its column. So columns are divided into parts of about equally many
 * entries, each with sums of its own, which are added in order. A part has some entries for each of the n sums, and is
 * worth a thread. An entry's row is anywhere: its element of v is beside its sum, and both are prefetched. */
enum { MAX_PARTS = 16, ENTRIES_PER_SUM = 8, MIN_ENTRIES = 1 << 16, BLOCK = 1 << 12, AHEAD = 24 };

typedef struct {
    double v, sum;
} element;

typedef struct {
    const gcor_upper *network;
    const double *v;
    double *out;
    element *elements; /* parts x n; a part uses those up to its last column */
    int parts;
    int64_t first[MAX_PARTS + 1]; /* columns */
} product;

static product divide(const gcor_upper *a) {
    int64_t entries = a->start[a->n], j = 0;
    product p = {.network = a};
    p.parts = (int)gcor_clamp(entries / gcor_max(ENTRIES_PER_SUM * a->n, MIN_ENTRIES), 1, MAX_PARTS);
    for (int part = 0; part < p.parts; part++) {
        while (j < a->n && a->start[j] < entries * part / p.parts) j++;
        p.first[part] = j;
    }
    p.first[p.parts] = a->n;
    return p;
}

static void multiply_part(void *argument, int thread, int64_t part) {
    const product *p = argument;
    const gcor_upper *a = p->network;
    const int32_t *row = a->row;
    const double *r = a->r;
    element *restrict elements = p->elements + part * a->n;
    const int64_t last = a->start[a->n] - 1;
    for (int64_t j = 0; j < p->first[part + 1]; j++) elements[j] = (element){.v = p->v[j]};
    for (int64_t j = p->first[part]; j < p->first[part + 1]; j++) {
        double of_column = 0, own = elements[j].v;
        for (int64_t e = a->start[j]; e < a->start[j + 1]; e++) {
            element *at = elements + row[e];
            double weight = fabs(r[e]);
            __builtin_prefetch(elements + row[gcor_min(e + AHEAD, last)]);
            of_column += weight * at->v;
            at->sum += weight * own;
        }
        elements[j].sum += of_column;
    }
}

static void add_block(void *argument, int thread, int64_t from, int64_t end) {
    const product *p = argument;
    for (int64_t j = from; j < end; j++) {
        double sum = 0;
        for (int part = p->parts; part > 0 && p->first[part] > j; part--)
            sum += p->elements[(part - 1) * p->network->n + j].sum;
        p->out[j] = sum;
    }
}

static void times(const void *matrix, int threads, const double *v, double *out) {
    product p = *(const product *)matrix;
    p.v = v;
    p.out = out;
    threads = (int)gcor_min(threads, p.parts);
    gcor_for_each(threads, p.parts, multiply_part, &p);
    gcor_for_blocks(threads, p.network->n, BLOCK, add_block, &p);
}

/* The iteration starts from equal centralities: components of a network that have the same eigenvalue keep their
 * proportions. */
gcor_status gcor_network_centrality(gcor_context *context, const gcor_upper *network, double *vector, double *error) {
    const int64_t n = network->n;
    double value = 0;
    *error = 0;
    if (n == 0) return GCOR_OK;
    product p = divide(network);
    p.elements = gcor_alloc(context, p.parts * n, sizeof *p.elements, "sums over a network's edges");
    if (!p.elements) return GCOR_NO_MEMORY;
    gcor_huge_pages(p.elements, (size_t)(p.parts * n) * sizeof *p.elements);
    for (int64_t j = 0; j < n; j++) vector[j] = 1;
    gcor_status status = iterate(context, n, times, &p, vector, &value, error);
    gcor_free(p.elements);
    if (!status) scale(vector, n, value);
    return status;
}

/* ---- all pairs -------------------------------------------------------------------------------------------------- */

/* Y has the columns X of unit length above a row of ones, so that the matrix r + 1 is Y'Y. Its leading eigenvector is
 * Y'u, where u is that of YY', with a relative error that is not larger. u has as many elements as observations and one
 * more, and a step of its iteration reads the columns once. */

enum { COLUMNS = 1024 }; /* variables per block; each block sums its own part of YY'u */

typedef struct {
    const gcor_backend *backend;
    const gcor_operand *columns;
    double *u;      /* n_obs + 1 elements */
    double *parts;  /* n_obs + 1 sums of each block */
    double *column; /* n_obs of each thread */
    int64_t stride; /* between parts and between columns, a multiple of 64 bytes */
    double *vector; /* Y'u; 0 for variables without coefficients */
} gram;

/* 1 / length of a variable's column; 0 without coefficients. */
static double inverse_of(const gcor_operand *o, int64_t j) {
    return o->norm[j] > 0 ? 1 / sqrt(o->norm[j]) : 0;
}

/* Sums in the order of gcor_dot(), independent of the compiler's vectorization. */
GCOR_BODY double dot(const double *x, const double *y, int64_t n) {
    double lane[GCOR_LANES] = {0};
    int64_t k = 0;
    for (; k + GCOR_LANES <= n; k += GCOR_LANES)
        for (int l = 0; l < GCOR_LANES; l++) lane[l] += x[k + l] * y[k + l];
    for (int l = 0; k + l < n; l++) lane[l] += x[k + l] * y[k + l];
    return gcor_fold_lanes(lane);
}

GCOR_BODY void multiply_block_body(void *argument, int thread, int64_t from, int64_t end) {
    const gram *g = argument;
    const gcor_operand *o = g->columns;
    int64_t n = o->n_obs;
    double *part = g->parts + from / COLUMNS * g->stride, *column = g->column + thread * g->stride;
    memset(part, 0, (size_t)(n + 1) * sizeof *part);
    for (int64_t j = from; j < end; j++) {
        g->vector[j] = 0;
        if (!(o->norm[j] > 0)) continue;
        g->backend->column(o, j, column);
        double inverse = inverse_of(o, j), own = inverse * dot(column, g->u, n) + g->u[n], factor = inverse * own;
        for (int64_t k = 0; k < n; k++) part[k] += factor * column[k];
        part[n] += own;
        g->vector[j] = own;
    }
}
GCOR_WIDE(multiply_block, (void *argument, int thread, int64_t from, int64_t end), (argument, thread, from, end))

/* Sets the result to YY'u, and the matrix's vector to Y'u. */
static void times_gram(const void *matrix, int threads, const double *u, double *result) {
    gram g = *(const gram *)matrix;
    int64_t n = g.columns->n_obs, blocks = gcor_blocks(g.columns->n_var, COLUMNS);
    memcpy(g.u, u, (size_t)(n + 1) * sizeof *u);
    gcor_for_blocks(threads, g.columns->n_var, COLUMNS, multiply_block, &g);
    memset(result, 0, (size_t)(n + 1) * sizeof *result);
    for (int64_t b = 0; b < blocks; b++)
        for (int64_t k = 0; k <= n; k++) result[k] += g.parts[b * g.stride + k];
}

/* Decides the kind of the columns, which must be such that coefficients are products of them. */
static gcor_status kind_of(gcor_context *context, const gcor_job *job, const gcor_design *design, int common,
                           gcor_kind *kind) {
    gcor_status status = gcor_kind_of(context, job->measure, design, 0, common, job->in_double, kind);
    int is_product = (*kind == GCOR_REAL || *kind == GCOR_DOUBLE) && job->measure->last_step == GCOR_AS_PRODUCT;
    if (status || is_product) return status;
    return gcor_fail(context, GCOR_BAD_INPUT,
                     "the eigenvector of all coefficients by method = \"%s\"%s would take all of them at every step; "
                     "with a threshold or a density it is that of the network",
                     job->measure->name, common ? ", each pair of which has observations of its own," : "");
}

/* The iteration starts from the u of equal centralities. */
static gcor_status iterate_columns(gcor_context *context, const gcor_backend *backend, const gcor_operand *o,
                                   double *vector, double *error) {
    int64_t n = o->n_obs + 1, blocks = gcor_blocks(o->n_var, COLUMNS);
    gram g = {.backend = backend, .columns = o, .stride = gcor_blocks(n, 8) * 8, .vector = vector};
    double value = 0;
    g.u = gcor_alloc(context, (3 + blocks + context->threads) * g.stride, sizeof *g.u, "sums over columns");
    if (!g.u) return GCOR_NO_MEMORY;
    double *leading = g.u + g.stride, *ignored = leading + g.stride;
    g.parts = ignored + g.stride;
    g.column = g.parts + blocks * g.stride;
    memset(leading, 0, (size_t)n * sizeof *leading);
    leading[n - 1] = 1;
    gcor_status status = iterate(context, n, times_gram, &g, leading, &value, error);
    if (!status) {
        times_gram(&g, context->threads, leading, ignored);
        scale(vector, o->n_var, value);
    }
    gcor_free(g.u);
    for (int64_t j = 0; j < o->n_var; j++)
        if (!(o->norm[j] > 0)) vector[j] = NAN;
    return status;
}

static gcor_status prepare_and_iterate(gcor_context *context, const gcor_backend *backend, gcor_job *job,
                                       const gcor_columns *columns, gcor_kind kind, double *vector, double *error) {
    gcor_state *state = NULL;
    gcor_operand *operand;
    gcor_status status = backend->open(context, 0, &state);
    if (!status) status = backend->begin(state, context, NULL, kind);
    if (!status) {
        status = backend->prepare(state, columns, job->measure, kind, 0, job->x->n_var, &operand);
        if (!status) {
            memcpy(job->x_flags, operand->flags, (size_t)job->x->n_var);
            status = iterate_columns(context, backend, operand, vector, error);
            backend->release(state, operand);
        }
        backend->end(state);
    }
    backend->close(state);
    return status;
}

gcor_status gcor_pair_centrality(gcor_context *context, const gcor_backend *backend, gcor_job *job, double *vector,
                                 double *error) {
    gcor_observations observations;
    gcor_design *design;
    gcor_kind kind;
    gcor_status status = gcor_observations_of(context, job, &observations);
    if (status) return status;
    job->n_obs_used = gcor_observations_in(job->measure, observations.n_obs);
    status = gcor_design_pick(context, job->design, observations.observed, observations.n_obs, &design);
    const gcor_columns columns = {
        .source = job->x, .observed = observations.observed, .n_obs = observations.n_obs, .design = design};
    if (!status) status = kind_of(context, job, design, observations.common, &kind);
    if (!status) status = prepare_and_iterate(context, backend, job, &columns, kind, vector, error);
    gcor_design_free(design);
    gcor_free(observations.observed);
    return status;
}
