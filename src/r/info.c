/* What this build and this machine have, and functions for tests. */
#include "job.h"

#include "../base/alloc.h"
#include "../base/isa.h"
#ifdef GPUCOR_CUDA
#include "../cuda/backend/info.h"
#endif

#ifdef GPUCOR_CUDA

static int is_among(SEXP devices, int device) {
    for (R_xlen_t k = 0; k < Rf_xlength(devices); k++)
        if (INTEGER(devices)[k] == device) return 1;
    return 0;
}

static SEXP cuda_devices(SEXP asked) {
    const char *names[] = {"id", "name", "capability", "multiprocessors", "memory", "memory_free", ""};
    char reason[512];
    int n = cuda_count_gpus(reason, sizeof reason);
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    SEXPTYPE types[] = {INTSXP, STRSXP, STRSXP, INTSXP, REALSXP, REALSXP};
    for (int c = 0; c < 6; c++) SET_VECTOR_ELT(result, c, Rf_allocVector(types[c], n));
    for (int d = 0; d < n; d++) {
        cuda_gpu gpu;
        char capability[32];
        if (cuda_describe(d, is_among(asked, d), &gpu) != 0) gpu = (cuda_gpu){.name = "?", .memory_free = -1};
        snprintf(capability, sizeof capability, "%d.%d", gpu.major, gpu.minor);
        INTEGER(VECTOR_ELT(result, 0))[d] = d;
        SET_STRING_ELT(VECTOR_ELT(result, 1), d, Rf_mkChar(gpu.name));
        SET_STRING_ELT(VECTOR_ELT(result, 2), d, Rf_mkChar(capability));
        INTEGER(VECTOR_ELT(result, 3))[d] = gpu.multiprocessors;
        REAL(VECTOR_ELT(result, 4))[d] = (double)gpu.memory;
        REAL(VECTOR_ELT(result, 5))[d] = gpu.memory_free < 0 ? NA_REAL : (double)gpu.memory_free;
    }
    UNPROTECT(1);
    return result;
}

#else

static SEXP cuda_devices(SEXP asked) {
    (void)asked;
    return R_NilValue;
}

static void cuda_versions(int *driver, int *runtime) {
    *driver = *runtime = 0;
}

#endif

/* Returns list(name, devices, reason) of all back ends: the number of devices, and why there is none. */
SEXP r_backends(void) {
    const char *names[] = {"name", "devices", "reason", ""};
    int n = 0;
    while (gcor_backend_at(n)) n++;
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(result, 0, Rf_allocVector(STRSXP, n));
    SET_VECTOR_ELT(result, 1, Rf_allocVector(INTSXP, n));
    SET_VECTOR_ELT(result, 2, Rf_allocVector(STRSXP, n));
    for (int k = 0; k < n; k++) {
        char reason[512] = "";
        SET_STRING_ELT(VECTOR_ELT(result, 0), k, Rf_mkChar(gcor_backend_at(k)->name));
        INTEGER(VECTOR_ELT(result, 1))[k] = gcor_backend_at(k)->count(reason, sizeof reason);
        SET_STRING_ELT(VECTOR_ELT(result, 2), k, Rf_mkChar(reason));
    }
    UNPROTECT(1);
    return result;
}

/* Returns the names of the processor's instruction sets that kernels exist for, the best first. */
static SEXP instruction_sets(void) {
    int sets = 0;
    while (gcor_isa_name(sets)) sets++;
    SEXP names = PROTECT(Rf_allocVector(STRSXP, sets));
    for (int set = 0; set < sets; set++) SET_STRING_ELT(names, sets - 1 - set, Rf_mkChar(gcor_isa_name(set)));
    UNPROTECT(1);
    return names;
}

/* devices: the numbers of the GPUs whose free memory is asked for, which opens them. */
SEXP r_info(SEXP devices) {
    const char *names[] = {"devices", "driver", "runtime", "instructions", ""};
    int driver, runtime;
    cuda_versions(&driver, &runtime);
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(result, 0, cuda_devices(devices));
    SET_VECTOR_ELT(result, 1, Rf_ScalarInteger(driver));
    SET_VECTOR_ELT(result, 2, Rf_ScalarInteger(runtime));
    SET_VECTOR_ELT(result, 3, instruction_sets());
    UNPROTECT(1);
    return result;
}

static gcor_resource resource_named(SEXP name) {
    const char *text = CHAR(STRING_ELT(name, 0));
    if (strcmp(text, "host") == 0) return GCOR_HOST_MEMORY;
    if (strcmp(text, "device") == 0) return GCOR_DEVICE_MEMORY;
    return GCOR_DEVICE_CALL;
}

/* For tests: makes the k-th use of a resource fail. */
SEXP r_set_fault(SEXP resource, SEXP k) {
    gcor_set_fault(resource_named(resource), (int64_t)Rf_asReal(k));
    return R_NilValue;
}

/* For tests: closes the sessions and returns how many allocations are in use. */
SEXP r_live(void) {
    const char *names[] = {"host", "device", ""};
    r_close_sessions();
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(result, 0, Rf_ScalarReal((double)gcor_live(GCOR_HOST_MEMORY)));
    SET_VECTOR_ELT(result, 1, Rf_ScalarReal((double)gcor_live(GCOR_DEVICE_MEMORY)));
    UNPROTECT(1);
    return result;
}
