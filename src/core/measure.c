/* The measures. Whoever adds one writes a row here, and its prepare() in a file of its own. */
#include "measure.h"

#include "coefficient.h"

#include <string.h>

double gcor_prepare_pearson(double *x, int64_t n, float *out); /* pearson.c */
double gcor_prepare_pearson_double(double *x, int64_t n, double *out);

static const gcor_measure PEARSON = {
    .version = GCOR_MEASURE_VERSION,
    .name = "pearson",
    .title = "Pearson's correlation",
    .kind = GCOR_REAL,
    .common = GCOR_REAL_COMMON,
    .infinite = GCOR_INFINITE_IS_NAN,
    .distribution = GCOR_STUDENT_T,
    .df_taken = 2,
    .prepare = gcor_prepare_pearson,
    .prepare_double = gcor_prepare_pearson_double,
};
static const gcor_measure KENDALL = {
    .version = GCOR_MEASURE_VERSION,
    .name = "kendall",
    .title = "Kendall's tau-b",
    .kind = GCOR_SIGN,
    .common = GCOR_SIGN_COMMON,
    .ranked = 1,
    .infinite = GCOR_INFINITE_IS_RANKED,
    .distribution = GCOR_NORMAL_WITH_TIES,
};
static const gcor_measure SPEARMAN = {
    .version = GCOR_MEASURE_VERSION,
    .name = "spearman",
    .title = "Spearman's rho",
    .kind = GCOR_REAL,
    .common = GCOR_RANK_COMMON,
    .ranked = 1,
    .infinite = GCOR_INFINITE_IS_RANKED,
    .distribution = GCOR_STUDENT_T,
    .df_taken = 2,
};

enum { ROOM = 32 };
static const gcor_measure *table[ROOM + 1] = {&PEARSON, &KENDALL, &SPEARMAN};

const gcor_measure *gcor_measure_at(int k) {
    return k >= 0 && k < ROOM ? table[k] : NULL;
}

int gcor_is_common(gcor_kind kind) {
    return kind == GCOR_REAL_COMMON || kind == GCOR_RANK_COMMON || kind == GCOR_SIGN_COMMON;
}

static int is_usable(const gcor_measure *m) {
    if (m->version != GCOR_MEASURE_VERSION || !m->name || !m->title) return 0;
    if (m->kind != GCOR_REAL && m->kind != GCOR_SIGN) return 0;
    if (m->common != GCOR_NO_KIND && !gcor_is_common(m->common)) return 0;
    return m->ranked || (m->kind == GCOR_REAL && m->prepare);
}

int gcor_add_measure(const gcor_measure *measure) {
    int k = 0;
    if (!is_usable(measure)) return 1;
    for (; table[k]; k++)
        if (strcmp(table[k]->name, measure->name) == 0) return 1;
    if (k == ROOM) return 1;
    table[k] = measure;
    return 0;
}

gcor_status gcor_kind_of(gcor_context *context, const gcor_measure *measure, int common, int in_double,
                         gcor_kind *kind) {
    *kind = common ? measure->common : measure->kind;
    if (*kind == GCOR_REAL && in_double) {
        *kind = GCOR_DOUBLE;
        if (measure->prepare && !measure->prepare_double)
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

/* Whether there is nothing to be made of a column. */
static int is_unusable(const gcor_measure *measure, int64_t n, int flags) {
    int unusable = measure->infinite == GCOR_INFINITE_IS_NAN ? GCOR_MISSING | GCOR_INFINITE : GCOR_MISSING;
    return n == 0 || flags & unusable;
}

double gcor_prepare_double(const gcor_measure *measure, double *x, int64_t n, int flags, const gcor_ranks *ranks,
                           double *out) {
    double squares = 1;
    int64_t tied;
    memset(out, 0, (size_t)n * sizeof *out);
    if (is_unusable(measure, n, flags)) return 0;
    if (measure->ranked) squares = gcor_scores(ranks, n, gcor_rank(x, n, ranks, &tied), x);
    if (!(squares > 0)) return 0;
    if (measure->prepare_double) return measure->prepare_double(x, n, out);
    memcpy(out, x, (size_t)n * sizeof *out);
    return gcor_double_dot(out, out, n);
}

double gcor_prepare_real(const gcor_measure *measure, double *x, int64_t n, int flags, const gcor_ranks *ranks,
                         float *out) {
    if (is_unusable(measure, n, flags)) {
        for (int64_t k = 0; k < n; k++) out[k] = 0;
        return 0;
    }
    if (!measure->ranked) return measure->prepare(x, n, out);
    int64_t tied;
    double squares = gcor_scores(ranks, n, gcor_rank(x, n, ranks, &tied), x);
    if (measure->prepare) return squares > 0 ? measure->prepare(x, n, out) : 0;
    if (!gcor_exact_scores(n)) return gcor_unit(x, squares, n, out);
    for (int64_t k = 0; k < n; k++) out[k] = (float)x[k];
    return squares;
}

void gcor_describe_column(const gcor_measure *measure, gcor_kind kind, int64_t present, double *norm, int *flags) {
    int common = gcor_is_common(kind);
    if (present < 2) *flags |= GCOR_FEW;
    if (*flags & GCOR_FEW || (!common && *flags & GCOR_MISSING))
        *norm = -1;
    else if (!common && measure->infinite == GCOR_INFINITE_IS_NAN && *flags & GCOR_INFINITE)
        *norm = NAN;
    else if (*norm == 0)
        *flags |= GCOR_CONSTANT;
}
