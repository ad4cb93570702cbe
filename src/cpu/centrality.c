#include "centrality.h"

#include "../base/alloc.h"
#include "../base/threads.h"
#include "../base/triangle.h"
#include "../measure/coefficient.h"
#include "../measure/design.h"
#include "../measure/measure.h"
#include "../source/observations.h"
#include "../source/source.h"
#include "../stats/centrality.h"
#include "cpu.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 1024 }; /* variables per block; each block sums its own part of X v */

typedef struct {
    const cpu_operand *columns;
    double *parts; /* n_obs + 1 sums of each block, and those of all blocks */
    const double *v;
    double *result;
} gram;

static int64_t count_blocks(const cpu_operand *o) {
    return (o->head.n_var + BLOCK - 1) / BLOCK;
}

/* 1 / length of a variable's column; 0 without coefficients. */
static double inverse_of(const cpu_operand *o, int64_t j) {
    return o->head.norm[j] > 0 ? 1 / sqrt(o->head.norm[j]) : 0;
}

/* sums += factor * column j. */
static void add_column(const cpu_operand *o, int64_t j, double factor, double *sums) {
    const float *floats = o->columns ? o->columns + j * o->stride : NULL;
    const double *doubles = o->values ? o->values + j * o->head.n_obs : NULL;
    if (floats) {
        for (int64_t k = 0; k < o->head.n_obs; k++) sums[k] += factor * floats[k];
    } else {
        for (int64_t k = 0; k < o->head.n_obs; k++) sums[k] += factor * doubles[k];
    }
}

/* Sums in the order of gcor_dot(), independent of the compiler's vectorization. */
#define DOT(name, type) \
    static double name(const type *x, const double *y, int64_t n) { \
        double lane[GCOR_LANES] = {0}; \
        int64_t k = 0; \
        for (; k + GCOR_LANES <= n; k += GCOR_LANES) \
            for (int l = 0; l < GCOR_LANES; l++) lane[l] += x[k + l] * y[k + l]; \
        for (int l = 0; k + l < n; l++) lane[l] += x[k + l] * y[k + l]; \
        return gcor_fold_lanes(lane); \
    }
DOT(dot_floats, float)
DOT(dot_doubles, double)

static double dot_column(const cpu_operand *o, int64_t j, const double *with) {
    int64_t n = o->head.n_obs;
    return o->columns ? dot_floats(o->columns + j * o->stride, with, n) : dot_doubles(o->values + j * n, with, n);
}

/* Computes block b's part of X v, followed by its part of the sum of v. */
static void add_block(void *argument, int thread, int64_t b) {
    const gram *g = argument;
    const cpu_operand *o = g->columns;
    const gcor_range block = gcor_block(o->head.n_var, BLOCK, b);
    int64_t n = o->head.n_obs;
    double *part = g->parts + b * (n + 1);
    (void)thread;
    memset(part, 0, (size_t)(n + 1) * sizeof *part);
    for (int64_t j = block.from; j < block.end; j++) {
        double inverse = inverse_of(o, j);
        if (!(inverse > 0)) continue;
        add_column(o, j, g->v[j] * inverse, part);
        part[n] += g->v[j];
    }
}

/* Computes block b's part of the result of X'X v. */
static void multiply_block(void *argument, int thread, int64_t b) {
    const gram *g = argument;
    const cpu_operand *o = g->columns;
    const gcor_range block = gcor_block(o->head.n_var, BLOCK, b);
    const double *sums = g->parts + count_blocks(o) * (o->head.n_obs + 1);
    (void)thread;
    for (int64_t j = block.from; j < block.end; j++) {
        double inverse = inverse_of(o, j);
        g->result[j] = inverse > 0 ? inverse * dot_column(o, j, sums) + sums[o->head.n_obs] : 0;
    }
}

static void times(const void *matrix, int threads, const double *v, double *result) {
    gram g = *(const gram *)matrix;
    int64_t n = g.columns->head.n_obs, blocks = count_blocks(g.columns);
    double *sums = g.parts + blocks * (n + 1);
    g.v = v;
    g.result = result;
    gcor_for_each(threads, blocks, add_block, &g);
    memset(sums, 0, (size_t)(n + 1) * sizeof *sums);
    for (int64_t b = 0; b < blocks; b++)
        for (int64_t k = 0; k <= n; k++) sums[k] += g.parts[b * (n + 1) + k];
    gcor_for_each(threads, blocks, multiply_block, &g);
}

/* ---- columns ----------------------------------------------------------------------------------- */

static gcor_status kind_of(gcor_context *context, const gcor_job *job, const gcor_design *design, int common,
                           gcor_kind *kind) {
    gcor_status status = gcor_kind_of(context, job->measure, design, 0, common, job->in_double, kind);
    if (status || *kind == GCOR_REAL || *kind == GCOR_DOUBLE) return status;
    return gcor_fail(context, GCOR_BAD_INPUT,
                     "the eigenvector of all coefficients by method = \"%s\"%s would take all of them at every step; "
                     "with a threshold or a density it is that of the network",
                     job->measure->name, common ? ", each pair of which has observations of its own," : "");
}

static gcor_status prepare_columns(gcor_context *context, const gcor_job *job, const gcor_columns *columns, int common,
                                   gcor_state *state, gcor_operand **operand) {
    gcor_kind kind;
    gcor_status status = kind_of(context, job, columns->design, common, &kind);
    if (!status) status = cpu_begin(state, context, NULL, kind);
    if (status) return status;
    status = cpu_prepare(state, columns, job->measure, kind, 0, job->x->n_var, operand);
    cpu_end(state);
    return status;
}

static gcor_status iterate(gcor_context *context, const cpu_operand *o, double *vector, double *error) {
    gram g = {.columns = o};
    g.parts = gcor_alloc(context, (count_blocks(o) + 1) * (o->head.n_obs + 1), sizeof *g.parts, "sums over columns");
    if (!g.parts) return GCOR_NO_MEMORY;
    gcor_status status = gcor_centrality(context, o->head.n_var, times, &g, vector, error);
    gcor_free(g.parts);
    for (int64_t j = 0; j < o->head.n_var; j++)
        if (!(o->head.norm[j] > 0)) vector[j] = NAN;
    return status;
}

gcor_status cpu_centrality(gcor_context *context, gcor_job *job, double *vector, double *error) {
    gcor_observations observations;
    gcor_design *design;
    gcor_state *state = NULL;
    gcor_operand *operand = NULL;
    gcor_status status = gcor_observations_of(context, job, &observations);
    if (status) return status;
    job->n_obs_used = observations.n_obs;
    status = gcor_design_pick(context, job->design, observations.observed, observations.n_obs, &design);
    const gcor_columns columns = {
        .source = job->x, .observed = observations.observed, .n_obs = observations.n_obs, .design = design};
    if (!status) status = cpu_open(context, 0, &state);
    if (!status) status = prepare_columns(context, job, &columns, observations.common, state, &operand);
    gcor_design_free(design);
    gcor_free(observations.observed);
    if (!status) {
        memcpy(job->x_flags, operand->flags, (size_t)job->x->n_var);
        status = iterate(context, (const cpu_operand *)operand, vector, error);
        cpu_release(state, operand);
    }
    cpu_close(state);
    return status;
}
