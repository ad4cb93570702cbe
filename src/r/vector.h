/* R vectors whose memory is the buffer cache's, not R's (ALTREP), and memory around them. */
#pragma once

#include "call.h"

#include "../base/alloc.h"
#include "../measure/compact.h"

/* ---- vector.c -------------------------------------------------------------------------- */

/* Define the classes, once. R is not told of the library, whose classes it would make useless when it closes the
 * library; vectors may live on. */
void r_define_vectors(void);
void r_define_names(void); /* edges.c */

/* Returns a vector of n integers or doubles (INTSXP or REALSXP) without memory. The caller sets *r_vector_buffer(),
 * which the vector owns, before anybody reads it. */
SEXP r_plain_vector(SEXPTYPE type, R_xlen_t n);
gcor_buffer *r_vector_buffer(SEXP x);

enum { R_MIN_BUFFER = 16 << 20 }; /* R has memory at hand for fewer bytes */

/* Returns a vector of n integers or doubles with undefined values: R's own or, if it is large, one whose memory is the
 * buffer cache's. After an error, which is in the context, nobody may read it. */
SEXP r_new_vector(gcor_context *context, SEXPTYPE type, R_xlen_t n);

/* Returns a vector of n times the same number, which takes no memory. */
SEXP r_constant_vector(double value, R_xlen_t n);

/* Returns a vector of doubles for all pairs of n_var variables, kept in that form, with undefined values; after an
 * error an empty vector, and the error is in the context. May collect garbage. */
SEXP r_compact_vector(gcor_context *context, gcor_form form, gcor_shape shape, int64_t n_var, int is_distance);
int64_t r_compact_bytes(int64_t n_var); /* returns the bytes that it takes */
/* Returns what a compact vector keeps, which is the vector's; NULL: x is another vector, or has been expanded. */
const gcor_compact *r_compact_of(SEXP x);
/* Called when all values are written. */
void r_compact_complete(SEXP x);
/* Frees the memory and leaves an empty vector. */
void r_compact_drop(SEXP x);

/* Describes doubles of R's, compact or not, to be read where they are. */
gcor_values r_values(SEXP x);

/* ---- system.c -------------------------------------------------------------------------- */

/* Called before that many bytes are allocated outside R's memory: lets R collect garbage if that pays. */
void r_collect_garbage(int64_t bytes);
/* An R error if there is no memory for n doubles. */
void r_check_doubles(R_xlen_t n);
