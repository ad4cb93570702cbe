#include "../engine/gram.h"

#include "../base/alloc.h"
#include "../measure/coefficient.h"
#include "../measure/design.h"
#include "../measure/measure.h"
#include "../source/observations.h"
#include "../source/source.h"
#include "cpu.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 1024 }; /* variables per block; each block sums its own part of X v */

struct gcor_gram {
    gcor_state *state;
    cpu_operand *columns;
};

/* 1 / length of a variable's column; 0 without coefficients. */
static double inverse_of(const cpu_operand *o, int64_t j) {
    return o->head.norm[j] > 0 ? 1 / sqrt(o->head.norm[j]) : 0;
}

static int has(const gcor_gram *gram, int64_t j) {
    return gram->columns->head.norm[j] > 0;
}

/* sums += factor * column j. */
static void add_column(const cpu_operand *o, int64_t j, double factor, double *sums) {
    const float *floats = o->columns ? o->columns + j * o->stride : NULL;
    const double *doubles = o->values ? o->values + j * o->head.n_obs : NULL;
    if (floats) {
#pragma omp simd
        for (int64_t k = 0; k < o->head.n_obs; k++) sums[k] += factor * floats[k];
    } else {
#pragma omp simd
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
static void add_block(const cpu_operand *o, int64_t b, const double *v, double *part) {
    int64_t n = o->head.n_obs, end = (b + 1) * BLOCK < o->head.n_var ? (b + 1) * BLOCK : o->head.n_var;
    memset(part, 0, (size_t)(n + 1) * sizeof *part);
    for (int64_t j = b * BLOCK; j < end; j++) {
        double inverse = inverse_of(o, j);
        if (!(inverse > 0)) continue;
        add_column(o, j, v[j] * inverse, part);
        part[n] += v[j];
    }
}

static gcor_status times(const gcor_gram *gram, gcor_context *context, const double *v, double *result) {
    const cpu_operand *o = gram->columns;
    int64_t n = o->head.n_obs, blocks = (o->head.n_var + BLOCK - 1) / BLOCK;
    double *parts = gcor_alloc(context, (blocks + 1) * (n + 1), sizeof *parts, "a product with a vector");
    if (!parts) return GCOR_NO_MEMORY;
    double *sums = parts + blocks * (n + 1);
#pragma omp parallel for num_threads(context->threads) schedule(dynamic)
    for (int64_t b = 0; b < blocks; b++)
        if (!gcor_stop(context)) add_block(o, b, v, parts + b * (n + 1));
    memset(sums, 0, (size_t)(n + 1) * sizeof *sums);
    for (int64_t b = 0; b < blocks; b++)
        for (int64_t k = 0; k <= n; k++) sums[k] += parts[b * (n + 1) + k];
#pragma omp parallel for num_threads(context->threads) schedule(static)
    for (int64_t j = 0; j < o->head.n_var; j++) {
        double inverse = inverse_of(o, j);
        result[j] = inverse > 0 && !gcor_stop(context) ? inverse * dot_column(o, j, sums) + sums[n] : 0;
    }
    gcor_free(parts);
    return context->error.status;
}

/* ---- columns ----------------------------------------------------------------------------------- */

static gcor_status kind_of(gcor_context *context, const gcor_job *job, const gcor_design *design,
                           const gcor_observations *observations, gcor_kind *kind) {
    gcor_status status = gcor_kind_of(context, job->measure, design, observations->common, job->in_double, kind);
    if (status || *kind == GCOR_REAL || *kind == GCOR_DOUBLE) return status;
    return gcor_fail(context, GCOR_BAD_INPUT,
                     "the eigenvector of all coefficients by method = \"%s\"%s would take all of them at every step; "
                     "with a threshold or a density it is that of the network",
                     job->measure->name,
                     observations->common ? ", each pair of which has observations of its own," : "");
}

static gcor_status prepare_columns(gcor_context *context, gcor_job *job, const gcor_design *design,
                                   const gcor_observations *observations, gcor_gram *gram) {
    const gcor_columns columns = {job->x, observations->observed, observations->n_obs, design};
    gcor_operand *operand;
    gcor_kind kind;
    gcor_status status = kind_of(context, job, design, observations, &kind);
    if (!status) status = cpu_open(context, 0, &gram->state);
    if (!status) status = cpu_begin(gram->state, context, NULL, kind);
    if (!status) status = cpu_prepare(gram->state, &columns, job->measure, kind, 0, job->x->n_var, &operand);
    if (status) return status;
    gram->columns = (cpu_operand *)operand;
    memcpy(job->x_flags, operand->flags, (size_t)job->x->n_var);
    cpu_end(gram->state);
    return GCOR_OK;
}

static void release(gcor_gram *gram) {
    if (!gram) return;
    if (gram->columns) cpu_release(gram->state, &gram->columns->head);
    cpu_close(gram->state);
    gcor_free(gram);
}

static gcor_status prepare(gcor_context *context, gcor_job *job, gcor_gram **gram) {
    gcor_observations observations;
    gcor_design *design;
    *gram = NULL;
    gcor_status status = gcor_observations_of(context, job, &observations);
    if (status) return status;
    job->n_obs_used = observations.n_obs;
    status = gcor_design_pick(context, job->design, observations.observed, observations.n_obs, &design);
    gcor_gram *fresh = gcor_alloc(context, 1, sizeof *fresh, "the prepared columns");
    if (fresh) *fresh = (gcor_gram){NULL, NULL};
    if (!fresh) status = GCOR_NO_MEMORY;
    if (!status) status = prepare_columns(context, job, design, &observations, fresh);
    gcor_design_free(design);
    gcor_free(observations.observed);
    if (status)
        release(fresh);
    else
        *gram = fresh;
    return status;
}

const struct gcor_gram_type cpu_gram = {.prepare = prepare, .free = release, .has = has, .times = times};
