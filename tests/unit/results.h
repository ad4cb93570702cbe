/* Sinks of every kind, made, run and compared byte by byte. */
#ifndef GPUCOR_UNIT_RESULTS_H
#define GPUCOR_UNIT_RESULTS_H

#include "fixture.h"

#include <stdlib.h>

typedef struct unit_kind unit_kind;

/* A sink with what it writes to. */
typedef struct {
    const unit_kind *kind;
    gcor_sink *sink; /* NULL: there is none */
    double *out;     /* of a dense one */
    int64_t n_out;
    int is_fork; /* `out` is the other one's */
} unit_sink;

/* All kinds of sinks with their settings; the end has no name. */
struct unit_kind {
    const char *name;
    gcor_status (*make)(gcor_context *context, const unit_kind *kind, int64_t n_row, int64_t n_col, unit_sink *sink);
    void (*write)(unit_sink *sink, gcor_context *context, FILE *file); /* all that it has found */
    int setting, side;
    gcor_shape shape;
};
extern const unit_kind unit_kinds[];
const unit_kind *unit_kind_named(const char *name);

/* An empty sink for the problem's pairs, for a context of its threads. */
gcor_status unit_sink_new(const unit_problem *problem, const unit_kind *kind, unit_sink *sink);
/* A fork of it. */
gcor_status unit_sink_fork(const unit_problem *problem, const unit_sink *sink, unit_sink *fork);
void unit_sink_free(unit_sink *sink);

/* What was found, in an order that does not depend on who found it, and the flags of the variables. */
typedef struct {
    char *bytes;
    size_t n;
} unit_found;
/* What is in the sink, which is freed. */
unit_found unit_found_in(const unit_problem *problem, unit_sink *sink);
/* A run into a sink of its own; after an error nothing. */
unit_found unit_find(unit_problem *problem, const unit_kind *kind, gcor_status *status);
/* That two are the same, of which the second is freed. */
#define CHECK_SAME(expected, actual) unit_check_same(__FILE__, __LINE__, expected, actual)
int unit_check_same(const char *file, int line, const unit_found *expected, unit_found actual);

#endif
