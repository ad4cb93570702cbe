/* What sinks write to files and read from them. A failure to is GCOR_BAD_FILE, in the context. */
#ifndef GPUCOR_FILE_H
#define GPUCOR_FILE_H

#include "../gpucor.h"

gcor_status gcor_put(gcor_context *context, FILE *file, const void *data, int64_t count, size_t size);
gcor_status gcor_get(gcor_context *context, FILE *file, void *data, int64_t count, size_t size);
/* What was read could not have been written. */
gcor_status gcor_damaged(gcor_context *context);
/* One that must be as given, as a sink of other settings is not to be added to this one. */
gcor_status gcor_expect(gcor_context *context, FILE *file, const void *data, size_t size);
/* That the file begins with the mark of such a sink. */
gcor_status gcor_expect_head(const gcor_sink *sink, gcor_context *context, FILE *file);

#endif
