/* Tables that R takes from the engine: the measures, and numbers that both must agree about. */
#include "call.h"

#include "../sink/combine.h"
#include "../base/artanh.h"
#include "../measure/measure.h"
#include "../engine/session.h"
#include "../source/source.h"
#include "../stats/hclust.h"
#include "../stats/test.h"
#include "../sink/connectivity.h"
#include "../sink/dense.h"

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
SEXP r_measures(void) {
    const char *names[] = {"name",    "title",   "ranked",           "common",  "distribution", "df_taken",
                           "centred", "options", "takes_covariates", "refusal", "min_obs",      ""};
    const char *distributions[] = {[GCOR_STUDENT_T] = "t",
                                   [GCOR_NORMAL_WITH_TIES] = "normal",
                                   [GCOR_CHI_SQUARED] = "chi-squared",
                                   [GCOR_NO_DISTRIBUTION] = "none"};
    SEXPTYPE types[] = {STRSXP, STRSXP, LGLSXP, LGLSXP, STRSXP, INTSXP, LGLSXP, VECSXP, LGLSXP, STRSXP, INTSXP};
    int n = 0;
    while (gcor_measure_at(n)) n++;
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    for (int c = 0; c < 11; c++) SET_VECTOR_ELT(result, c, Rf_allocVector(types[c], n));
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
    }
    UNPROTECT(1);
    return result;
}

#define NUMBER(name, value) \
    { name, (double)(value) }

/* Returns the numbers by name. */
SEXP r_constants(void) {
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
        NUMBER("combine argmax", GCOR_ARGMAX),
        NUMBER("combine icc2", GCOR_ICC2),
        NUMBER("combine icc3", GCOR_ICC3),
        NUMBER("combine spread", GCOR_SPREAD),
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
