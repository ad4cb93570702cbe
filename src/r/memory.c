/* Memory outside R's: how much is free, and when R should collect garbage. */
#include "vector.h"

#include "../base/os.h"

enum { MIN_CHECKED = 64 << 20 }; /* bytes from which on the available memory is checked */

/* Memory outside R's does not make R collect garbage. We ask for a collection if results have taken a good part of the
 * free memory since the last one, if it may spare a result of this size its new pages, and if memory is short. */
void r_collect_garbage(int64_t bytes) {
    const int64_t min_bytes = (int64_t)2 << 30; /* which take as long to touch as R takes to collect */
    static int64_t since;
    if (bytes < R_MIN_BUFFER) return; /* in R's memory */
    int64_t used = gcor_buffers_used();
    if (used == 0) since = 0;
    since += bytes;
    if (gcor_buffers_has(bytes)) return;
    int64_t available = gcor_available_memory();
    int pays = used > 0 && ((bytes >= min_bytes && used >= bytes) || since >= available / 4);
    if (!pays && bytes <= available) return;
    R_gc();
    since = gcor_buffers_used();
}

/* Returns list(available, used, kept): the bytes of memory that are available (base/os.h), of buffers in use, and of
 * buffers in the cache. */
SEXP r_memory(void) {
    const char *names[] = {"available", "used", "kept", ""};
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(result, 0, Rf_ScalarReal((double)gcor_available_memory()));
    SET_VECTOR_ELT(result, 1, Rf_ScalarReal((double)gcor_buffers_used()));
    SET_VECTOR_ELT(result, 2, Rf_ScalarReal((double)gcor_buffers_cached()));
    UNPROTECT(1);
    return result;
}

/* Gives back the memory of garbage and of the buffer cache. */
SEXP r_reclaim(void) {
    R_gc();
    gcor_buffers_drop();
    return R_NilValue;
}

void r_check_doubles(R_xlen_t n) {
    int64_t bytes = n * (int64_t)sizeof(double);
    if (bytes < MIN_CHECKED || bytes <= gcor_available_memory()) return;
    (void)r_reclaim();
    if (bytes <= gcor_available_memory()) return;
    gcor_context context = {.threads = 1};
    (void)gcor_fail(&context, GCOR_NO_MEMORY,
                    "%.0f coefficients as doubles take %.0f MB; %.0f MB of memory are free; r[i, j], summary() and "
                    "1 - r do without them",
                    (double)n, (double)bytes / 1e6, (double)gcor_available_memory() / 1e6);
    r_raise(&context.error);
}
