/* Columns of a raw file, observation after observation and column after column, that the system maps into memory: what
 * is not read takes none. */
#ifndef GPUCOR_MAPPED_H
#define GPUCOR_MAPPED_H

#include "source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Little-endian. Integers: INT_MIN is missing; the others: any NaN is. */
typedef enum { GCOR_FILE_DOUBLE, GCOR_FILE_FLOAT, GCOR_FILE_INTEGER } gcor_file_type;

/* What the file has to be: `offset` bytes that do not count, n_obs x n_var values, and its end. */
typedef struct {
    int64_t offset, n_obs, n_var;
    gcor_file_type type;
} gcor_file_shape;

typedef struct gcor_mapping gcor_mapping;

/* Map a file for reading; *mapping is the caller's, who ends it by gcor_unmap(), and NULL after an error: what is no
 * regular file, cannot be read or has another size is GCOR_BAD_INPUT. It is not counted as memory of a run. */
gcor_status gcor_map(gcor_context *context, const char *path, const gcor_file_shape *shape, gcor_mapping **mapping);
/* GCOR_BAD_INPUT if the file has another size by now. To be asked before every run: a page that the file no longer has
 * ends the process when it is read. */
gcor_status gcor_map_check(gcor_context *context, const gcor_mapping *mapping);
void gcor_unmap(gcor_mapping *mapping); /* NULL is allowed */

const gcor_file_shape *gcor_map_shape(const gcor_mapping *mapping);
/* Column j as it is in the file: n_obs values of its type. Any thread. */
void gcor_map_column(gcor_mapping *mapping, int64_t j, void *out);

/* The source of a mapping, which stays the caller's. Any thread may read. */
typedef struct {
    gcor_source source; /* first */
    gcor_mapping *mapping;
} gcor_mapped;
gcor_mapped gcor_mapped_source(gcor_mapping *mapping);

#ifdef __cplusplus
}
#endif
#endif
