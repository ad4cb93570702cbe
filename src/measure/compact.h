/* The coefficients of all pairs in half the memory that doubles take, as they come from a product: in single precision,
 * or as numerators, from which with the variables' norms the double follows to the last bit. */
#ifndef GPUCOR_COMPACT_H
#define GPUCOR_COMPACT_H

#include "../gpucor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All memory is somebody else's. */
typedef struct {
    gcor_form form;   /* GCOR_AS_FLOATS or GCOR_AS_COUNTS */
    gcor_shape shape; /* GCOR_UPPER: the triangle row by row; GCOR_LOWER: column by column */
    int64_t n_var, n; /* n: n_var (n_var - 1) / 2 */
    void *values;     /* n floats, above 1 where there is no coefficient, or n int32_t */
    double *norm;     /* n_var, as operands have them */
    double missing;   /* read where there is no coefficient, but for NaN, which stays */
    int is_distance;  /* 1 - coefficient is read */
    int is_touched;   /* the values' memory has been in use before */
} gcor_compact;

/* Bytes of a value. */
enum { GCOR_COMPACT_BYTES = 4 };

/* Numerators up to this many observations are below 2^31. */
enum { GCOR_COMPACT_OBS = 65536 };

/* Values first .. first + n - 1, or one of them, as doubles. Any thread. */
void gcor_compact_read(const gcor_compact *compact, int64_t first, int64_t n, double *out);
double gcor_compact_at(const gcor_compact *compact, int64_t k);

/* All of them, by so many threads. */
void gcor_compact_widen(const gcor_compact *compact, int threads, double *out);

/* The least or the greatest of all, of equal ones the first, by so many threads; NaN if one of them is. */
double gcor_compact_extreme(const gcor_compact *compact, int greatest, int threads);

/* How many pairs have a variable that is constant, and none without values. */
int64_t gcor_compact_zero_sd(const gcor_compact *compact);

/* Values to be read, wherever they are. */
typedef struct {
    const double *plain;         /* NULL: they are compact */
    const gcor_compact *compact; /* NULL: they are plain */
} gcor_values;

/* n of them from `first` on, where they are or in `room`. Any thread. */
static inline const double *gcor_read_values(const gcor_values *values, int64_t first, int64_t n, double *scratch) {
    if (values->plain) return values->plain + first;
    gcor_compact_read(values->compact, first, n, scratch);
    return scratch;
}

#ifdef __cplusplus
}
#endif
#endif
