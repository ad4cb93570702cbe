/* What surrounds a call: R options, environment variables, functions of the operating system that R lacks on some
 * platform, a checksum, and memory. */
#include "vector.h"

#include "../base/os.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Waits until a file, or the names in a folder, are on the disk; FALSE after an error. */
SEXP r_sync(SEXP path) {
    return Rf_ScalarLogical(gcor_os_sync(CHAR(STRING_ELT(path, 0))) == 0);
}

/* Returns what a path is: "absent", "file" (a regular one), "folder" or "other"; nothing is opened. */
SEXP r_file_kind(SEXP path) {
    static const char *const names[] = {
        [GCOR_OS_ABSENT] = "absent", [GCOR_OS_FILE] = "file", [GCOR_OS_FOLDER] = "folder", [GCOR_OS_OTHER] = "other"};
    return Rf_mkString(names[gcor_os_kind_of(Rf_translateChar(STRING_ELT(path, 0)))]);
}

/* Returns for each integer whether it is the number of a process of this machine; NA is none. */
SEXP r_are_running(SEXP processes) {
    R_xlen_t n = Rf_xlength(processes);
    SEXP are_running = PROTECT(Rf_allocVector(LGLSXP, n));
    for (R_xlen_t k = 0; k < n; k++) LOGICAL(are_running)[k] = gcor_os_is_running(INTEGER(processes)[k]);
    UNPROTECT(1);
    return are_running;
}

/* Returns that many random bytes. */
SEXP r_random(SEXP bytes) {
    SEXP random = PROTECT(Rf_allocVector(RAWSXP, Rf_asInteger(bytes)));
    if (gcor_os_random(RAW(random), (size_t)Rf_xlength(random)) != 0) r_error("the system has no random numbers");
    UNPROTECT(1);
    return random;
}

/* Returns the checksum of a raw vector as 16 hexadecimal digits: FNV-1a of 64 bits, which detects accidents, not
 * forgery. */
SEXP r_checksum(SEXP bytes) {
    uint64_t sum = 0xcbf29ce484222325u;
    char text[17];
    for (R_xlen_t k = 0; k < Rf_xlength(bytes); k++) sum = (sum ^ RAW(bytes)[k]) * 0x100000001b3u;
    snprintf(text, sizeof text, "%016" PRIx64, sum);
    return Rf_mkString(text);
}

/* Returns a list of the values of options; an option that is not set, or has the name "", takes the text of the
 * environment variable at its position, or else NULL. Attributes: "variables", the positions, from 1, of values from
 * the environment, if there are any; "cores", from r_cores(). */
SEXP r_settings(SEXP options, SEXP variables, SEXP names) {
    R_xlen_t n = Rf_xlength(options), n_variables = 0;
    SEXP found = PROTECT(Rf_allocVector(VECSXP, n));
    Rf_setAttrib(found, R_NamesSymbol, names);
    int *position = (int *)R_alloc((size_t)n, sizeof *position);
    for (R_xlen_t k = 0; k < n; k++) {
        const char *name = CHAR(STRING_ELT(options, k));
        SEXP value = *name ? Rf_GetOption1(Rf_install(name)) : R_NilValue;
        const char *text = Rf_isNull(value) ? getenv(CHAR(STRING_ELT(variables, k))) : NULL;
        if (text && *text) {
            position[n_variables++] = (int)k + 1;
            value = Rf_mkString(text);
        }
        SET_VECTOR_ELT(found, k, value);
    }
    SEXP cores = PROTECT(Rf_ScalarInteger(r_cores()));
    Rf_setAttrib(found, Rf_install("cores"), cores);
    if (n_variables > 0) {
        SEXP positions = PROTECT(Rf_allocVector(INTSXP, n_variables));
        memcpy(INTEGER(positions), position, (size_t)n_variables * sizeof *position);
        Rf_setAttrib(found, Rf_install("variables"), positions);
        UNPROTECT(1);
    }
    UNPROTECT(2);
    return found;
}

/* ---- memory ------------------------------------------------------------------------------------- */

/* Memory outside R's: how much is free, and when R should collect garbage. */

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

static void reclaim(void) {
    R_gc();
    gcor_buffers_drop();
}

/* Returns list(available, used, kept): the bytes of memory that are available (base/os.h), of buffers in use, and of
 * buffers in the cache. is_to_reclaim: gives back the memory of garbage and of the cache before. */
SEXP r_memory(SEXP is_to_reclaim) {
    const char *names[] = {"available", "used", "kept", ""};
    if (Rf_asLogical(is_to_reclaim)) reclaim();
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(result, 0, Rf_ScalarReal((double)gcor_available_memory()));
    SET_VECTOR_ELT(result, 1, Rf_ScalarReal((double)gcor_buffers_used()));
    SET_VECTOR_ELT(result, 2, Rf_ScalarReal((double)gcor_buffers_cached()));
    UNPROTECT(1);
    return result;
}

void r_check_doubles(R_xlen_t n) {
    int64_t bytes = n * (int64_t)sizeof(double);
    if (bytes < MIN_CHECKED || bytes <= gcor_available_memory()) return;
    reclaim();
    if (bytes <= gcor_available_memory()) return;
    gcor_context context = {.threads = 1};
    (void)gcor_fail(&context, GCOR_NO_MEMORY,
                    "%.0f coefficients as doubles take %.0f MB; %.0f MB of memory are free; r[i, j], summary() and "
                    "1 - r do without them",
                    (double)n, (double)bytes / 1e6, (double)gcor_available_memory() / 1e6);
    r_raise(&context.error);
}
