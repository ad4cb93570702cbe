/* The table of measures. A new measure is a row here, and its prepare() in a file of its own; column.c calls it. */
#include "measure.h"

#include "bicor.h"
#include "coefficient.h"
#include "pearson.h"

#include <math.h>
#include <string.h>

extern const gcor_option gcor_mutual_options[]; /* mutual.c */

static const gcor_measure PEARSON = {
    .name = "pearson",
    .title = "Pearson's correlation",
    .kind = GCOR_REAL,
    .common = GCOR_REAL_COMMON,
    .infinite = GCOR_INFINITE_IS_NAN,
    .distribution = GCOR_STUDENT_T,
    .df_taken = 2,
    .angle = GCOR_CENTRED,
    .takes = GCOR_TAKES_WEIGHTS | GCOR_TAKES_COVARIATES,
    .prepare = gcor_prepare_pearson,
    .prepare_double = gcor_prepare_pearson_double,
};
static const gcor_measure KENDALL = {
    .name = "kendall",
    .title = "Kendall's tau-b",
    .kind = GCOR_SIGN,
    .common = GCOR_SIGN_COMMON,
    .ranked = 1,
    .infinite = GCOR_INFINITE_IS_RANKED,
    .distribution = GCOR_NORMAL_WITH_TIES,
    .refusal = "it compares pairs of observations, which have neither residuals nor weights; use method = \"spearman\"",
};
static const gcor_measure SPEARMAN = {
    .name = "spearman",
    .title = "Spearman's rho",
    .kind = GCOR_REAL,
    .common = GCOR_RANK_COMMON,
    .ranked = 1,
    .infinite = GCOR_INFINITE_IS_RANKED,
    .distribution = GCOR_STUDENT_T,
    .df_taken = 2,
    .angle = GCOR_CENTRED,
    .takes = GCOR_TAKES_WEIGHTS | GCOR_TAKES_COVARIATES,
};
static const gcor_measure BICOR = {
    .name = "bicor",
    .title = "Biweight midcorrelation",
    .kind = GCOR_REAL,
    .common = GCOR_PAIR_COMMON,
    .infinite = GCOR_INFINITE_IS_NAN,
    .distribution = GCOR_STUDENT_T,
    .df_taken = 2,
    .angle = GCOR_OWN_WAY,
    .takes = GCOR_TAKES_COVARIATES,
    .refusal = "it weighs observations itself; use method = \"pearson\" or \"spearman\"",
    .options = gcor_bicor_options,
    .needs_scratch = 1,
    .prepare = gcor_prepare_bicor,
    .prepare_double = gcor_prepare_bicor_double,
};
static const gcor_measure COSINE = {
    .name = "cosine",
    .title = "Cosine similarity",
    .kind = GCOR_REAL,
    .common = GCOR_REAL_COMMON,
    .infinite = GCOR_INFINITE_IS_NAN,
    .distribution = GCOR_STUDENT_T,
    .df_taken = 1,
    .angle = GCOR_AS_IS,
    .takes = GCOR_TAKES_WEIGHTS | GCOR_TAKES_COVARIATES,
    .prepare = gcor_prepare_cosine,
    .prepare_double = gcor_prepare_cosine_double,
};
static const gcor_measure DISTANCE = {
    .name = "distance",
    .title = "Squared distance correlation",
    .kind = GCOR_REAL,
    .common = GCOR_DISTANCE_COMMON,
    .infinite = GCOR_INFINITE_IS_NAN,
    .distribution = GCOR_CHI_SQUARED,
    .angle = GCOR_OWN_WAY,
    .refusal = "it compares pairs of observations, which have no weights, and regression leaves dependence that is not "
               "linear; use method = \"spearman\"",
    .needs_scratch = 1,
    .min_obs = 4,
    .length = gcor_distance_length,
    .prepare = gcor_prepare_distance,
    .prepare_double = gcor_prepare_distance_double,
};
/* Columns of groups of columns: R makes the U-centred distances, or products, of all pairs of observations
 * (R/data-groups.R). */
#define OF_GROUPS(of, words) \
    { \
        .name = of, .title = words, .kind = GCOR_REAL, .common = GCOR_NO_KIND, .infinite = GCOR_INFINITE_IS_NAN, \
        .distribution = GCOR_CHI_SQUARED, .angle = GCOR_OWN_WAY, \
        .refusal = "it is of groups of columns; adjust the columns by gpuClean()", .min_obs = 4, \
        .prepare = gcor_prepare_cosine, .prepare_double = gcor_prepare_cosine_double \
    }
static const gcor_measure GROUP_DISTANCE = OF_GROUPS("distance of groups", "Squared distance correlation");
static const gcor_measure GROUP_RV = OF_GROUPS("rv", "Bias-corrected RV coefficient");
static const gcor_measure MUTUAL = {
    .name = "mi",
    .title = "Mutual information",
    .kind = GCOR_BINNED,
    .common = GCOR_BINNED_COMMON,
    .ranked = 1,
    .infinite = GCOR_INFINITE_IS_RANKED,
    .distribution = GCOR_NO_DISTRIBUTION,
    .refusal = "it counts observations in bins; use method = \"spearman\"",
    .options = gcor_mutual_options,
};
/* R makes the basis by the others than `value` (R/data-spectrum.R). */
static const char *const SIZES[] = {"squared", "phase", "imaginary", "size", NULL};
static const char *const BANDS[] = {"mean", "sum", NULL};
static const gcor_option SPECTRUM_OPTIONS[] = {{.name = "segment", .min = 0, .max = 1e9, .is_whole = 1},
                                               {.name = "overlap", .value = 0.5, .min = 0, .max = 0.95},
                                               {.name = "value", .choices = SIZES},
                                               {.name = "band", .choices = BANDS},
                                               {.name = NULL}};
static const gcor_measure COHERENCE = {
    .name = "coherence",
    .title = "Coherence",
    .kind = GCOR_REAL,
    .common = GCOR_NO_KIND,
    .infinite = GCOR_INFINITE_IS_NAN,
    .distribution = GCOR_NO_DISTRIBUTION,
    .angle = GCOR_CENTRED,
    .takes = GCOR_TAKES_COVARIATES,
    .refusal = "segments need all of their observations",
    .options = SPECTRUM_OPTIONS,
    .min_obs = 4,
    .prepare = gcor_prepare_pearson,
    .prepare_double = gcor_prepare_pearson_double,
    .last_step = GCOR_COMPLEX,
};
static const gcor_option CONCORDANCE_OPTIONS[] = {{.name = "means", .value = 1, .max = 1, .is_whole = 1},
                                                  {.name = NULL}};
static const gcor_measure CONCORDANCE = {
    .name = "concordance",
    .title = "Concordance",
    .kind = GCOR_REAL,
    .common = GCOR_NO_KIND,
    .infinite = GCOR_INFINITE_IS_NAN,
    .distribution = GCOR_NO_DISTRIBUTION,
    .df_taken = 2,
    .angle = GCOR_CENTRED,
    .refusal = "it compares values, and weighted or adjusted ones are others; give these as 'x'",
    .options = CONCORDANCE_OPTIONS,
    .prepare = gcor_prepare_pearson,
    .prepare_double = gcor_prepare_pearson_double,
    .last_step = GCOR_CONCORDANCE,
};
/* R turns values that are no coefficients into some, as the option says (R/data-input.R). How many observations there
 * were is unknown: p values need degrees of freedom, as those of columns that are not centered do. */
static const char *const GIVEN_VALUES[] = {"r", "z", NULL};
static const gcor_option GIVEN_OPTIONS[] = {{.name = "values", .choices = GIVEN_VALUES}, {.name = NULL}};
static const gcor_measure GIVEN = {
    .name = "given",
    .title = "Given coefficients",
    .kind = GCOR_GIVEN,
    .common = GCOR_NO_KIND,
    .infinite = GCOR_INFINITE_IS_NAN,
    .distribution = GCOR_STUDENT_T,
    .df_taken = 2,
    .angle = GCOR_AS_IS,
    .refusal = "its coefficients are computed already; adjust the data that they are of",
    .options = GIVEN_OPTIONS,
};

static const gcor_measure *const table[] = {&PEARSON, &KENDALL,   &SPEARMAN,    &BICOR, &COSINE,         &DISTANCE,
                                            &MUTUAL,  &COHERENCE, &CONCORDANCE, &GIVEN, &GROUP_DISTANCE, &GROUP_RV};

const gcor_measure *gcor_measure_at(int k) {
    return k >= 0 && k < (int)(sizeof table / sizeof *table) ? table[k] : NULL;
}

int gcor_is_common(gcor_kind kind) {
    return kind == GCOR_REAL_COMMON || kind == GCOR_RANK_COMMON || kind == GCOR_SIGN_COMMON ||
           kind == GCOR_PAIR_COMMON || kind == GCOR_BINNED_COMMON || kind == GCOR_DISTANCE_COMMON;
}

int64_t gcor_operand_length(const gcor_measure *measure, gcor_kind kind, int64_t n_obs) {
    return measure->length && (kind == GCOR_REAL || kind == GCOR_DOUBLE) ? measure->length(n_obs) : n_obs;
}

int gcor_min_obs(const gcor_measure *measure) {
    return measure->min_obs > 0 ? measure->min_obs : 2;
}

int64_t gcor_observations_in(const gcor_measure *measure, int64_t n_values) {
    if (measure != &GROUP_DISTANCE && measure != &GROUP_RV) return n_values;
    return (int64_t)((1 + sqrt(1 + 8 * (double)n_values)) / 2);
}

double gcor_option_of(const gcor_measure *measure, const gcor_design *design, int k) {
    return design && design->option ? design->option[k] : measure->options[k].value;
}

gcor_size gcor_complex_size(const gcor_measure *measure, const gcor_design *design) {
    return (gcor_size)gcor_option_of(measure, design, 2);
}

int gcor_has_double(const gcor_measure *m) {
    return m->kind == GCOR_REAL && (m->prepare_double || !m->prepare);
}

/* Weighted or adjusted columns cannot share sums of moments between pairs. */
gcor_kind gcor_common_kind(const gcor_measure *measure, const gcor_design *design) {
    if (!gcor_is_designed(design) || measure->kind != GCOR_REAL || measure->common == GCOR_NO_KIND)
        return measure->common;
    return gcor_has_double(measure) ? GCOR_PAIR_COMMON : GCOR_NO_KIND;
}

const char *gcor_refusal(const gcor_measure *measure) {
    return measure->refusal ? measure->refusal : "another method may";
}

int gcor_has_partial(const gcor_measure *measure) {
    return measure->angle == GCOR_CENTRED && measure->last_step == GCOR_AS_PRODUCT;
}

gcor_status gcor_check_partial(gcor_context *context, const gcor_measure *measure) {
    if (gcor_has_partial(measure)) return GCOR_OK;
    return gcor_fail(context, GCOR_BAD_INPUT,
                     "method = \"%s\" has no partial correlation given all other variables; use \"pearson\" or "
                     "\"spearman\"",
                     measure->name);
}

static gcor_status check_design(gcor_context *context, const gcor_measure *measure, const gcor_design *design) {
    if (design && design->root && !(measure->takes & GCOR_TAKES_WEIGHTS))
        return gcor_fail(context, GCOR_BAD_INPUT, "method = \"%s\" takes no 'weights' other than 0 and 1: %s",
                         measure->name, gcor_refusal(measure));
    if (design && design->n_basis > 0 && !(measure->takes & GCOR_TAKES_COVARIATES))
        return gcor_fail(context, GCOR_BAD_INPUT, "method = \"%s\" takes no 'covariates' and no 'bandpass': %s",
                         measure->name, gcor_refusal(measure));
    return gcor_is_mapped(design) ? gcor_check_partial(context, measure) : GCOR_OK;
}

int gcor_has_long_distances(const gcor_measure *measure, int64_t n_obs) {
    return measure->common == GCOR_DISTANCE_COMMON && n_obs > GCOR_MAX_DISTANCES;
}

gcor_status gcor_kind_of(gcor_context *context, const gcor_measure *measure, const gcor_design *design, int64_t n_obs,
                         int common, int in_double, gcor_kind *kind) {
    gcor_status status = check_design(context, measure, design);
    if (status) return status;
    if (common && gcor_is_mapped(design))
        return gcor_fail(context, GCOR_BAD_INPUT,
                         "partial = TRUE needs the same observations for all pairs; with missing "
                         "values use \"complete.obs\", or fill them in");
    *kind = common ? gcor_common_kind(measure, design) : measure->kind;
    if (*kind == GCOR_REAL && gcor_has_long_distances(measure, n_obs)) *kind = GCOR_DISTANCE;
    if (*kind == GCOR_REAL && in_double) {
        *kind = GCOR_DOUBLE;
        if (!gcor_has_double(measure))
            return gcor_fail(context, GCOR_BAD_INPUT, "method = \"%s\" has no precision = \"double\"; use \"single\"",
                             measure->name);
    }
    if (*kind != GCOR_NO_KIND) return GCOR_OK;
    return gcor_fail(
        context, GCOR_BAD_INPUT,
        "method = \"%s\" has no pairwise form, and with use = \"pairwise.complete.obs\" values are missing; "
        "use \"complete.obs\", or fill them in",
        measure->name);
}
