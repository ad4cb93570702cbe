/* Registers the functions that R may call. It is here because R looks for a package's sources in src itself. */
#include "gpucor.h"

#include "configured.h"
#include "base/threads.h"
#include "measure/measure.h"
#include "r/job.h"
#include "r/vector.h"

#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>
#include <stdio.h>
#include <string.h>

#define REGISTER(function, arguments) {#function, (DL_FUNC)(void (*)(void)) & function, arguments},

static const R_CallMethodDef entries[] = {R_ENTRIES(REGISTER){NULL, NULL, 0}};

attribute_visible void R_init_gpucor(DllInfo *dll) {
    r_watch_forks();
    r_define_vectors(dll);
    r_define_names(dll);
    R_RegisterCCallable("gpucor", "gcor_add_measure", (DL_FUNC)(void (*)(void))gcor_add_measure);
    R_RegisterCCallable("gpucor", "gcor_unit", (DL_FUNC)(void (*)(void))gcor_unit);
    R_RegisterCCallable("gpucor", "gcor_double_unit", (DL_FUNC)(void (*)(void))gcor_double_unit);
    R_RegisterCCallable("gpucor", "gcor_double_dot", (DL_FUNC)(void (*)(void))gcor_double_dot);
    R_registerRoutines(dll, NULL, entries, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
}

attribute_visible void R_unload_gpucor(DllInfo *dll) {
    r_close_sessions();
    gcor_end_threads();
}

/* ---- back ends ---------------------------------------------------------------------------------- */

/* In the order of preference. The table is above all of them, so that none knows another. */

#ifndef GPUCOR_CUDA
static int count_none(char *reason, size_t size) {
    snprintf(reason, size, "the package was built without CUDA: %s", GPUCOR_WITHOUT_CUDA);
    return 0;
}

/* It has no devices, so nobody calls the functions that are missing. */
static const gcor_backend gcor_cuda = {.name = "cuda", .count = count_none};
#endif

static const gcor_backend *const backends[] = {&gcor_cuda, &gcor_cpu, NULL};

const gcor_backend *gcor_backend_at(int k) {
    int n = (int)(sizeof backends / sizeof *backends);
    return k >= 0 && k < n ? backends[k] : NULL;
}

const gcor_backend *gcor_backend_named(const char *name) {
    int k = 0;
    while (backends[k] && strcmp(backends[k]->name, name) != 0) k++;
    return backends[k];
}
