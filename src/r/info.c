/* What R takes from the engine: tables, what this build and this machine have; and functions for tests. */
#include "job.h"

#include "../base/alloc.h"
#include "../base/isa.h"
#include "../sink/groups/combine.h"
#include "../base/elementary.h"
#include "../measure/measure.h"
#include "../engine/session.h"
#include "../source/source.h"
#include "../stats/hclust.h"
#include "../stats/test.h"
#include "../sink/connectivity.h"
#include "../sink/dense.h"
#ifdef GPUCOR_CUDA
#include "../cuda/backend/info.h"
#endif

/* ---- tables ------------------------------------------------------------------------------------- */

/* The measures, and numbers that R and the engine must agree about. */

/* Returns the texts that an option can have; NULL: it is a number. */
static SEXP choices_of(const gcor_option *option) {
    int n = 0;
    if (!option->choices) return R_NilValue;
    while (option->choices[n]) n++;
    SEXP choices = PROTECT(Rf_allocVector(STRSXP, n));
    for (int k = 0; k < n; k++) SET_STRING_ELT(choices, k, Rf_mkChar(option->choices[k]));
    UNPROTECT(1);
    return choices;
}

/* Returns list(value, min, max, choices, is_whole) for each option, by name. */
static SEXP options_of(const gcor_measure *measure) {
    const char *names[GCOR_MAX_OPTIONS + 1] = {0}, *parts[] = {"value", "min", "max", "choices", "is_whole", ""};
    int n = 0;
    for (const gcor_option *o = measure->options; o && o->name; o++) names[n++] = o->name;
    names[n] = "";
    SEXP options = PROTECT(Rf_mkNamed(VECSXP, names));
    for (int k = 0; k < n; k++) {
        const gcor_option *o = measure->options + k;
        SEXP option = Rf_mkNamed(VECSXP, parts);
        SET_VECTOR_ELT(options, k, option);
        SET_VECTOR_ELT(option, 0, Rf_ScalarReal(o->value));
        SET_VECTOR_ELT(option, 1, Rf_ScalarReal(o->min));
        SET_VECTOR_ELT(option, 2, Rf_ScalarReal(o->max));
        SET_VECTOR_ELT(option, 3, choices_of(o));
        SET_VECTOR_ELT(option, 4, Rf_ScalarLogical(o->is_whole));
    }
    UNPROTECT(1);
    return options;
}

/* Returns the table of measures as a list of columns, an element for each measure. */
static SEXP measures(void) {
    const char *names[] = {"name",          "title",       "ranked",           "common",  "distribution", "df_taken",
                           "centred",       "options",     "takes_covariates", "refusal", "min_obs",      "last_step",
                           "takes_weights", "has_partial", "is_product",       ""};
    const char *steps[] = {[GCOR_AS_PRODUCT] = "none", [GCOR_COMPLEX] = "complex", [GCOR_CONCORDANCE] = "agreement"};
    const char *distributions[] = {[GCOR_STUDENT_T] = "t",
                                   [GCOR_NORMAL_WITH_TIES] = "normal",
                                   [GCOR_CHI_SQUARED] = "chi-squared",
                                   [GCOR_NO_DISTRIBUTION] = "none"};
    SEXPTYPE types[] = {STRSXP, STRSXP, LGLSXP, LGLSXP, STRSXP, INTSXP, LGLSXP, VECSXP,
                        LGLSXP, STRSXP, INTSXP, STRSXP, LGLSXP, LGLSXP, LGLSXP};
    int n = 0;
    while (gcor_measure_at(n)) n++;
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    for (int c = 0; c < 15; c++) SET_VECTOR_ELT(result, c, Rf_allocVector(types[c], n));
    for (int k = 0; k < n; k++) {
        const gcor_measure *m = gcor_measure_at(k);
        SET_STRING_ELT(VECTOR_ELT(result, 0), k, Rf_mkChar(m->name));
        SET_STRING_ELT(VECTOR_ELT(result, 1), k, Rf_mkChar(m->title));
        LOGICAL(VECTOR_ELT(result, 2))[k] = m->ranked != 0;
        LOGICAL(VECTOR_ELT(result, 3))[k] = m->common != GCOR_NO_KIND;
        SET_STRING_ELT(VECTOR_ELT(result, 4), k, Rf_mkChar(distributions[m->distribution]));
        INTEGER(VECTOR_ELT(result, 5))[k] = m->df_taken;
        LOGICAL(VECTOR_ELT(result, 6))[k] = m->angle != GCOR_AS_IS;
        SET_VECTOR_ELT(VECTOR_ELT(result, 7), k, options_of(m));
        LOGICAL(VECTOR_ELT(result, 8))[k] = (m->takes & GCOR_TAKES_COVARIATES) != 0;
        SET_STRING_ELT(VECTOR_ELT(result, 9), k, Rf_mkChar(gcor_refusal(m)));
        INTEGER(VECTOR_ELT(result, 10))[k] = gcor_min_obs(m);
        SET_STRING_ELT(VECTOR_ELT(result, 11), k, Rf_mkChar(steps[m->last_step]));
        LOGICAL(VECTOR_ELT(result, 12))[k] = (m->takes & GCOR_TAKES_WEIGHTS) != 0;
        LOGICAL(VECTOR_ELT(result, 13))[k] = gcor_has_partial(m);
        LOGICAL(VECTOR_ELT(result, 14))[k] = m->kind == GCOR_REAL && m->last_step == GCOR_AS_PRODUCT;
    }
    UNPROTECT(1);
    return result;
}

#define NUMBER(name, value) \
    { name, (double)(value) }

/* Returns the numbers by name. */
static SEXP constants(void) {
    const struct {
        const char *name;
        double value;
    } table[] = {
        NUMBER("row", GCOR_TRIANGLE_ROWS),
        NUMBER("column", GCOR_TRIANGLE_COLUMNS),
        NUMBER("square", GCOR_SQUARE),
        NUMBER("rectangle", GCOR_RECTANGLE),
        NUMBER("all.obs", GCOR_ALL_OBS),
        NUMBER("complete.obs", GCOR_COMPLETE_OBS),
        NUMBER("pairwise.complete.obs", GCOR_PAIRWISE),
        NUMBER("everything", GCOR_EVERYTHING),
        NUMBER("na.or.complete", GCOR_NA_OR_COMPLETE),
        NUMBER("absolute", GCOR_ABSOLUTE),
        NUMBER("positive", GCOR_POSITIVE),
        NUMBER("negative", GCOR_NEGATIVE),
        NUMBER("unsigned", GCOR_UNSIGNED),
        NUMBER("signed", GCOR_SIGNED),
        NUMBER("signed hybrid", GCOR_HYBRID),
        NUMBER("combine mean", GCOR_MEAN),
        NUMBER("combine fisher", GCOR_FISHER),
        NUMBER("combine min", GCOR_MIN),
        NUMBER("combine quantile", GCOR_QUANTILE),
        NUMBER("combine sd", GCOR_SD),
        NUMBER("combine t", GCOR_STATISTIC),
        NUMBER("combine fraction", GCOR_FRACTION),
        NUMBER("combine icc2", GCOR_ICC2),
        NUMBER("combine icc3", GCOR_ICC3),
        NUMBER("combine spread", GCOR_SPREAD),
        NUMBER("combine difference as coefficient", GCOR_DIFFERENCE),
        NUMBER("combine t as coefficient", GCOR_T),
        NUMBER("average", GCOR_LINK_AVERAGE),
        NUMBER("complete", GCOR_LINK_COMPLETE),
        NUMBER("single", GCOR_LINK_SINGLE),
        NUMBER("mcquitty", GCOR_LINK_MCQUITTY),
        NUMBER("ward.D", GCOR_LINK_WARD_D),
        NUMBER("ward.D2", GCOR_LINK_WARD_D2),
        NUMBER("interrupted", GCOR_INTERRUPTED),
        NUMBER("bad input", GCOR_BAD_INPUT),
        NUMBER("no memory", GCOR_NO_MEMORY),
        NUMBER("bad file", GCOR_BAD_FILE),
        NUMBER("missing", GCOR_MISSING),
        NUMBER("infinite", GCOR_INFINITE),
        NUMBER("constant", GCOR_CONSTANT),
        NUMBER("fell back", GCOR_FELL_BACK),
        NUMBER("few", GCOR_FEW),
        NUMBER("bins", GCOR_BINS),
        NUMBER("coarse error", GCOR_COARSE_ERROR),
        NUMBER("max powers", GCOR_MAX_POWERS),
        NUMBER("max levels", GCOR_MAX_LEVELS),
        NUMBER("very few", GCOR_VERY_FEW),
        NUMBER("mean", GCOR_MAP_MEAN),
        NUMBER("z", GCOR_MAP_Z),
        NUMBER("icc", GCOR_MAP_SQUARE),
        NUMBER("max z", GCOR_MAX_Z),
        NUMBER("max edges", INT32_MAX),
        NUMBER("most devices", GCOR_MAX_DEVICES),
        NUMBER("max sparse", GCOR_MAX_SPARSE),
        NUMBER("max sparse signs", GCOR_MAX_SPARSE_SIGNS),
    };
    int n = (int)(sizeof table / sizeof *table);
    SEXP result = PROTECT(Rf_allocVector(REALSXP, n)), names = PROTECT(Rf_allocVector(STRSXP, n));
    for (int k = 0; k < n; k++) {
        REAL(result)[k] = table[k].value;
        SET_STRING_ELT(names, k, Rf_mkChar(table[k].name));
    }
    Rf_setAttrib(result, R_NamesSymbol, names);
    UNPROTECT(2);
    return result;
}

/* What R reads when the package is loaded: list(measures, constants), or NULL if the library is of an earlier
 * installation. */
SEXP r_tables(void) {
    const char *names[] = {"measures", "constants", ""};
    if (r_is_replaced()) return R_NilValue;
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(result, 0, measures());
    SET_VECTOR_ELT(result, 1, constants());
    UNPROTECT(1);
    return result;
}

/* ---- this build and this machine ------------------------------------------------------------------- */

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
    while (gcor_loops_at(sets)) sets++;
    SEXP names = PROTECT(Rf_allocVector(STRSXP, sets));
    for (int set = 0; set < sets; set++) SET_STRING_ELT(names, sets - 1 - set, Rf_mkChar(gcor_loops_at(set)->name));
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
