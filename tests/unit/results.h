/* Sinks of every kind: created, run, and compared byte by byte. */
#ifndef GPUCOR_UNIT_RESULTS_H
#define GPUCOR_UNIT_RESULTS_H

#include "fixture.h"

#include <stdlib.h>

typedef struct unit_kind unit_kind;

/* A sink and its output. */
typedef struct {
    const unit_kind *kind;
    gcor_sink *sink; /* NULL: none */
    double *out;     /* a dense sink's output */
    int64_t n_out;
    int is_fork; /* `out` belongs to the sink that this is a fork of */
} unit_sink;

/* All kinds of sinks with their settings; the last has no name. */
struct unit_kind {
    const char *name;
    gcor_status (*make)(gcor_context *context, const unit_kind *kind, int64_t n_row, int64_t n_col, unit_sink *sink);
    void (*write)(unit_sink *sink, gcor_context *context, FILE *file); /* writes everything that the sink has found */
    int setting, side;
    gcor_shape shape;
};
extern const unit_kind unit_kinds[];
const unit_kind *unit_kind_named(const char *name);

/* Creates an empty sink for the problem's pairs, with a context of its threads. */
gcor_status unit_sink_new(const unit_problem *problem, const unit_kind *kind, unit_sink *sink);
/* Creates a fork of the sink. */
gcor_status unit_sink_fork(const unit_problem *problem, const unit_sink *sink, unit_sink *fork);
void unit_sink_free(unit_sink *sink);

/* Everything that was found, in an order that does not depend on the worker, and the variables' flags. */
typedef struct {
    char *bytes;
    size_t n;
} unit_found;
/* Returns what the sink has found and frees the sink. */
unit_found unit_found_in(const unit_problem *problem, unit_sink *sink);
/* Runs the problem into a new sink; empty after an error. */
unit_found unit_find(unit_problem *problem, const unit_kind *kind, gcor_status *status);
/* Checks that both are the same, and frees the second. */
#define CHECK_SAME(expected, actual) unit_check_same(__FILE__, __LINE__, expected, actual)
int unit_check_same(const char *file, int line, const unit_found *expected, unit_found actual);

/* Runs a test with every kind of sink, with approximate and exact values, of columns and of pairs without coefficients:
 * of 200 variables, or 200 x 130. */
void unit_for_all_sinks(void (*test)(unit_problem *problem, const unit_kind *kind));
/* unit_find() with one worker, of all pairs. */
unit_found unit_find_alone(unit_problem *problem, const unit_kind *kind);

#endif
