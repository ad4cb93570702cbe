/* What tests need: random numbers, data, and a call of the engine as R makes one. */
#ifndef GPUCOR_UNIT_FIXTURE_H
#define GPUCOR_UNIT_FIXTURE_H

#include "../../src/engine/session.h"
#include "../../src/source/source.h"

/* The same sequence in every process, from each seed. One thread. */
void unit_seed(uint64_t seed);
int64_t unit_random(int64_t below);
double unit_uniform(void); /* in [0, 1) */
/* 0 .. n-1 in random order; the caller's, to free(). */
int *unit_permutation(int n);

/* A matrix of correlated columns with ties; some of them are constant, some have missing or infinite values. */
typedef struct {
    gcor_matrix matrix; /* begins with its source */
    double *values;     /* n_obs x n_var, column by column */
} unit_data;
enum { UNIT_COMPLETE, UNIT_SPOILT }; /* without and with missing and infinite values */
unit_data unit_data_new(int64_t n_obs, int64_t n_var, int spoilt);
void unit_data_free(unit_data *data);

/* A context and its monitor, of the thread at hand. */
typedef struct {
    gcor_monitor monitor;
    gcor_context context;
} unit_call;
void unit_call_begin(unit_call *call, int threads);

/* A run: what the engine is asked for, and what it says beside the sink. */
enum { UNIT_MAX_VAR = 8192 };
typedef struct {
    const gcor_backend *backend;
    int devices;
    double shared_steps; /* session.h; at first so few that the pairs are shared, however few */
    int threads;
    int64_t memory;
    gcor_source *x, *y; /* y NULL: x with itself */
    const gcor_measure *measure;
    const gcor_design *design; /* NULL: none */
    gcor_use use;
    gcor_shard shard;
    int (*check)(void *user, double shard); /* the monitor's; NULL: none */
    double *x_norm;                         /* the job's, or NULL */
    /* Written by unit_run(): */
    gcor_job job;
    gcor_error error;
    int64_t pairs, pairs_done; /* the monitor's */
    unsigned char x_flags[UNIT_MAX_VAR], y_flags[UNIT_MAX_VAR];
} unit_problem;

/* Pearson's correlation on one thread of the processor, of all pairs, whatever is missing. */
void unit_problem_of(unit_problem *problem, gcor_source *x, gcor_source *y);
const gcor_measure *unit_measure(const char *name);

/* A problem and its data, with values that are missing or infinite. */
typedef struct {
    unit_problem problem;
    unit_data x, y;
} unit_fixture;
unit_fixture *unit_fixture_new(uint64_t seed, int64_t n_obs, int64_t n_x, int64_t n_y);
void unit_fixture_free(unit_fixture *fixture);
/* Its problem, anew: y is in it where the pairs are a rectangle's. */
void unit_fixture_set(unit_fixture *fixture, const gcor_backend *backend, gcor_shape shape);

/* A session for the problem; NULL after an error. */
gcor_status unit_session_open(unit_problem *problem, gcor_session **session);
/* Run it into the sink, which was made with a context of as many threads; in a session of its own, or in that one. */
gcor_status unit_run(unit_problem *problem, gcor_sink *sink);
gcor_status unit_run_in(gcor_session *session, unit_problem *problem, gcor_sink *sink);

#endif
