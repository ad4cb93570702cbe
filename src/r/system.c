/* Functions of the operating system that R lacks on some platform, and a checksum. */
#include "call.h"

#include "../base/os.h"

#include <inttypes.h>
#include <stdio.h>

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
