/* Helpers for tests: random numbers, data, and calls of the engine as R makes them. */
#ifndef GPUCOR_UNIT_FIXTURE_H
#define GPUCOR_UNIT_FIXTURE_H

#include "../../src/engine/session.h"
#include "../../src/source/source.h"

/* Random numbers. Each seed gives the same sequence in every process. One thread. */
void unit_seed(uint64_t seed);
int64_t unit_random(int64_t below);
double unit_uniform(void); /* in [0, 1) */
/* 0 .. n-1 in random order; the caller frees it with free(). */
int *unit_permutation(int n);

/* A matrix of correlated columns with ties; some of them are constant, some have missing or infinite values. */
typedef struct {
    gcor_matrix matrix; /* must be first: it begins with its source */
    double *values;     /* n_obs x n_var, column by column */
} unit_data;
enum { UNIT_COMPLETE, UNIT_SPOILT }; /* without and with missing and infinite values */
unit_data unit_data_new(int64_t n_obs, int64_t n_var, int spoilt);
void unit_data_free(unit_data *data);

/* A context and its monitor, for the calling thread. */
typedef struct {
    gcor_monitor monitor;
    gcor_context context;
} unit_call;
void unit_call_begin(unit_call *call, int threads);

/* A run: settings of the engine, and its results other than the sink's. */
enum { UNIT_MAX_VAR = 8192 };
typedef struct {
    const gcor_backend *backend;
    int devices;
    double shared_steps; /* session.h; initially so small that several devices are always used */
    int threads;
    int64_t memory;
    gcor_source *x, *y; /* y NULL: x against itself */
    const gcor_measure *measure;
    const gcor_design *design; /* NULL: none */
    int in_double;
    gcor_use use;
    gcor_shard shard;
    int (*check)(void *user, double shard); /* for the monitor; NULL: none */
    double *x_norm;                         /* the job's, or NULL */
    /* Written by unit_run(): */
    gcor_job job;
    gcor_error error;
    int64_t pairs, pairs_done; /* the monitor's */
    unsigned char x_flags[UNIT_MAX_VAR], y_flags[UNIT_MAX_VAR];
} unit_problem;

/* Sets a problem to Pearson's correlation on one CPU thread, over all pairs, with use = "everything". */
void unit_problem_of(unit_problem *problem, gcor_source *x, gcor_source *y);
const gcor_measure *unit_measure(const char *name);

/* A problem and its data, which have missing and infinite values. */
typedef struct {
    unit_problem problem;
    unit_data x, y;
} unit_fixture;
unit_fixture *unit_fixture_new(uint64_t seed, int64_t n_obs, int64_t n_x, int64_t n_y);
void unit_fixture_free(unit_fixture *fixture);
/* Resets the fixture's problem; it includes y if the shape is a rectangle. */
void unit_fixture_set(unit_fixture *fixture, const gcor_backend *backend, gcor_shape shape);

/* Opens a session for the problem; NULL after an error. */
gcor_status unit_session_open(unit_problem *problem, gcor_session **session);
/* Run the problem into the sink, which was created with a context of as many threads, in a new session or in the
 * given one. */
gcor_status unit_run(unit_problem *problem, gcor_sink *sink);
gcor_status unit_run_in(gcor_session *session, unit_problem *problem, gcor_sink *sink);

#endif
