/* Begins and ends the library: registers the functions that R may call, and frees what it holds. It is here because R
 * looks for a package's sources in src itself. */
#include "gpucor.h"

#include "base/alloc.h"
#include "base/os.h"
#include "base/threads.h"
#include "measure/measure.h"
#include "r/job.h"
#include "r/vector.h"

#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

#define REGISTER(function, arguments) {#function, (DL_FUNC)(void (*)(void)) & function, arguments},

static const R_CallMethodDef entries[] = {R_ENTRIES(REGISTER){NULL, NULL, 0}};

/* ---- begin and end ------------------------------------------------------------------------------ */

static int is_begun;
static int64_t file; /* that the library was loaded from */

/* R calls R_init_gpucor() again if it has closed the library and loads it, and the library was held meanwhile. */
static void begin(void) {
    if (is_begun) return;
    is_begun = 1;
    file = gcor_os_library_file();
    r_watch_forks();
    r_define_vectors();
    r_define_names();
}

attribute_visible void R_init_gpucor(DllInfo *dll) {
    begin();
    R_registerRoutines(dll, NULL, entries, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
}

int r_is_replaced(void) {
    const int64_t now = gcor_os_library_file();
    return file && now && now != file;
}

/* Ends threads, closes sessions, drops the buffer cache, and returns whether R may close the library: it may not as
 * long as there are objects that need it, whose S3 methods R keeps. The library is held then, as others close it
 * nevertheless (pkgload). A child of fork() may not use its parent's GPUs, not even to close them. */
SEXP r_unload(void) {
    R_gc();
    if (!r_is_child()) r_close_sessions();
    gcor_end_threads();
    gcor_buffers_drop();
    const int is_needed = r_has_owners() || r_is_child();
    return Rf_ScalarLogical(gcor_os_hold_library(is_needed) == 0 && !is_needed);
}
