/* Writes and reads the data of sinks. Any failure is GCOR_BAD_FILE, recorded in the context. */
#pragma once

#include "../gpucor.h"

gcor_status gcor_put(gcor_context *context, FILE *file, const void *data, int64_t count, size_t size);
gcor_status gcor_get(gcor_context *context, FILE *file, void *data, int64_t count, size_t size);
/* Records that the data are damaged: save() cannot have written them. */
gcor_status gcor_damaged(gcor_context *context);
/* Reads `size` bytes, which must equal `data`: a sink with other settings must not be added to this one. */
gcor_status gcor_expect(gcor_context *context, FILE *file, const void *data, size_t size);
/* Checks that the file begins with the header of a sink like this one. */
gcor_status gcor_expect_head(const gcor_sink *sink, gcor_context *context, FILE *file);
