/* Prepares columns as they come from the source, one thread per column. */
#include "cpu.h"

#include "../base/alloc.h"
#include "../measure/coefficient.h"
#include "../measure/mutual.h"
#include "../measure/distance_pair.h"
#include "../measure/measure.h"
#include "../source/source.h"

#include <stddef.h>
#include <string.h>

/* Elements from one column to the next. */
static int64_t stride_of(gcor_kind kind, int64_t n_obs) {
    const int64_t padding = kind == GCOR_REAL ? CPU_PADDING : kind == GCOR_RANK_COMMON ? CPU_RANK_PADDING : 1;
    return (n_obs + padding - 1) / padding * padding;
}

/* ---- arrays of an operand ------------------------------------------------------------- */

/* Elements of an array: for each variable, and one more; for each value, with padding; cpu_distance_sums() for each
 * variable; scores, if there are any; for each observation, and one more; for each variable, and for each value with
 * padding, for a coarse sink. */
typedef enum { VARIABLES, VALUES, PADDED_VALUES, SUMS, SCORES, OBSERVATIONS, COARSE_VARIABLES, COARSE_VALUES } extent;

#define KIND(name) (1u << GCOR_##name)
#define BINS (KIND(BINNED) | KIND(BINNED_COMMON))
#define FLOATS (KIND(REAL) | KIND(SIGN) | KIND(SIGN_COMMON))
#define ORDERED (KIND(PAIR_COMMON) | KIND(DISTANCE) | KIND(DISTANCE_COMMON))
#define ALL ~0u

/* The arrays, and for which kinds they are allocated before columns are prepared. Those of sparse columns are allocated
 * once the entries are counted. */
static const struct {
    size_t at, size; /* of the pointer in cpu_operand; of an element */
    extent extent;
    unsigned kinds;
} arrays[] = {
#define ARRAY(member, extent, kinds) \
    { offsetof(cpu_operand, member), sizeof *((cpu_operand *)NULL)->member, extent, kinds }
    ARRAY(head.norm, VARIABLES, ALL),
    ARRAY(head.flags, VARIABLES, ALL),
    ARRAY(columns, PADDED_VALUES, FLOATS),
    ARRAY(inverse, VARIABLES, FLOATS),
    ARRAY(scale, VARIABLES, FLOATS),
    ARRAY(bytes, COARSE_VALUES, KIND(REAL)),
    ARRAY(step, COARSE_VARIABLES, KIND(REAL)),
    ARRAY(lost, COARSE_VARIABLES, KIND(REAL)),
    ARRAY(values, VALUES, KIND(DOUBLE) | KIND(GIVEN) | KIND(REAL_COMMON) | ORDERED),
    ARRAY(common, VARIABLES, KIND(REAL_COMMON)),
    ARRAY(start, VARIABLES, KIND(REAL_COMMON)),
    ARRAY(mean, VARIABLES, 0),
    ARRAY(scores, SCORES, KIND(RANK_COMMON)),
    ARRAY(order, VALUES, KIND(RANK_COMMON) | ORDERED),
    ARRAY(begin, VALUES, KIND(RANK_COMMON)),
    ARRAY(end, VALUES, KIND(RANK_COMMON)),
    ARRAY(n_present, VARIABLES, KIND(RANK_COMMON) | ORDERED),
    ARRAY(sums, SUMS, KIND(DISTANCE)),
    ARRAY(levels, VARIABLES, FLOATS | BINS),
    ARRAY(codes, VALUES, BINS),
    ARRAY(terms, OBSERVATIONS, BINS),
    ARRAY(margin, VARIABLES, BINS),
};
enum { N_ARRAYS = sizeof arrays / sizeof *arrays };

/* Returns the elements of an array for each variable, or -1: there is no array. */
static int64_t elements_of(extent extent, gcor_kind kind, int64_t n_obs, int is_coarse) {
    const int64_t stride = stride_of(kind, n_obs);
    switch (extent) {
    case VALUES: return n_obs;
    case PADDED_VALUES: return stride;
    case SUMS: return cpu_distance_sums(n_obs);
    case SCORES: return n_obs <= CPU_MAX_RANKED ? stride : -1;
    case OBSERVATIONS: return 0;
    case COARSE_VARIABLES: return is_coarse ? 1 : -1;
    case COARSE_VALUES: return is_coarse ? stride : -1;
    default: return 1;
    }
}

static gcor_status allocate(gcor_context *context, cpu_operand *o, int is_coarse) {
    const int64_t n_var = o->head.n_var, n_obs = o->head.n_obs;
    for (int k = 0; k < N_ARRAYS; k++) {
        const int64_t each = elements_of(arrays[k].extent, o->head.kind, n_obs, is_coarse);
        const int64_t more = arrays[k].extent == VARIABLES ? 1 : arrays[k].extent == OBSERVATIONS ? n_obs + 1 : 0;
        if (each < 0 || !(arrays[k].kinds >> o->head.kind & 1)) continue;
        void *array = gcor_alloc(context, each * n_var + more, arrays[k].size, "the prepared columns");
        memcpy((char *)o + arrays[k].at, &array, sizeof array);
        if (!array) return GCOR_NO_MEMORY;
    }
    return GCOR_OK;
}

static int is_coarse(const gcor_state *state) {
    const gcor_sink *sink = state ? state->sink : NULL;
    return sink && sink->approximate && sink->coarse && state->kernels->bytes;
}

/* The arrays' bytes, and what is allocated later: the rows of missing values, level bitsets of a tile, the entries of
 * sparse columns. */
int64_t cpu_column_bytes(const gcor_state *state, gcor_kind kind, int64_t n_obs) {
    int64_t bytes = 0;
    for (int k = 0; k < N_ARRAYS; k++) {
        const int64_t each = elements_of(arrays[k].extent, kind, n_obs, is_coarse(state));
        if (each > 0 && arrays[k].kinds >> kind & 1) bytes += each * (int64_t)arrays[k].size;
    }
    switch (kind) {
    case GCOR_REAL_COMMON: return bytes + n_obs * (int64_t)sizeof(int32_t);
    case GCOR_BINNED:
    case GCOR_BINNED_COMMON: return bytes + GCOR_MAX_BINS * n_obs / 8;
    case GCOR_REAL_SPARSE: return bytes + (int64_t)(GCOR_MAX_SPARSE * (double)n_obs * CPU_ENTRY_BYTES);
    case GCOR_SIGN_SPARSE: return bytes + (int64_t)(GCOR_MAX_SPARSE_SIGNS * (double)n_obs * CPU_ENTRY_BYTES);
    default: return bytes;
    }
}

/* ---- a column ------------------------------------------------------------------------- */

typedef struct {
    const gcor_measure *measure;
    const gcor_design *design;
    const gcor_shuffle *shuffle; /* of prepared columns; NULL: none */
    cpu_operand *operand;
    int64_t n_obs; /* of a column that is read; the operand's may be another */
    char *ranks;   /* ranks_bytes per thread, for ranks, a gcor_pair, distances or products with a basis */
    size_t ranks_bytes;
} preparation;

/* Copies values unchanged for pairwise-complete products: each pair has its own means and scale. Returns 1 if a value
 * differs from `origin` (NaN: from the first value), otherwise 0. */
static double copy_values(const double *x, int64_t n, double origin, double *out, int64_t *present) {
    int varies = 0;
    *present = 0;
    for (int64_t k = 0; k < n; k++) {
        if (origin != origin) origin = x[k];
        varies |= x[k] < origin || x[k] > origin;
        *present += x[k] == x[k];
        out[k] = x[k];
    }
    return varies;
}

static double score_signs(const preparation *p, const gcor_ranks *ranks, double *x, int64_t j, int64_t *present) {
    int64_t n = p->operand->head.n_obs, tied;
    float *out = p->operand->columns + j * n;
    *present = gcor_rank(x, n, ranks, &tied);
    p->operand->levels[j] = (unsigned char)gcor_count_levels(ranks, *present, CPU_LEVELS);
    (void)gcor_scores(ranks, n, *present, x);
    for (int64_t k = 0; k < n; k++) out[k] = (float)x[k];
    return (double)(gcor_obs_pairs(*present) - tied);
}

/* Returns 1 if there are several bins, otherwise 0. */
static double bin_values(const preparation *p, const gcor_ranks *ranks, const double *x, int64_t j, int64_t *present) {
    cpu_operand *o = p->operand;
    int64_t n = o->head.n_obs, counts[GCOR_MAX_BINS] = {0}, tied;
    unsigned char *codes = o->codes + j * n;
    *present = gcor_rank(x, n, ranks, &tied);
    int found = gcor_bin_column(ranks, n, *present, o->n_bins, codes);
    o->levels[j] = (unsigned char)(*present > 0 ? codes[ranks->order[*present - 1]] + 1 : 0);
    o->margin[j] = 0;
    for (int64_t k = 0; k < n; k++)
        if (codes[k] != GCOR_NO_BIN) counts[codes[k]]++;
    for (int b = 0; b < o->n_bins; b++) o->margin[j] += o->terms[counts[b]];
    return found > 1;
}

static double rank_values(const preparation *p, const gcor_ranks *ranks, const double *x, int64_t j, int64_t *present) {
    cpu_operand *o = p->operand;
    int64_t n = o->head.n_obs, at = j * n, tied;
    gcor_ranks own = {ranks->entries, o->order + at, o->begin + at, o->end + at};
    *present = o->n_present[j] = gcor_rank(x, n, &own, &tied);
    for (int64_t k = 0, missing = *present; k < n; k++)
        if (own.begin[k] < 0) own.order[missing++] = (int32_t)k;
    int16_t *scores = o->scores ? o->scores + j * o->stride : NULL;
    for (int64_t k = 0; scores && k < o->stride; k++)
        scores[k] = (int16_t)(k < n && own.begin[k] >= 0 ? own.begin[k] + own.end[k] - *present : CPU_NO_SCORE);
    return (double)(gcor_obs_pairs(*present) - tied);
}

/* Overwrites the ranks by the scratch for distances. */
static double order_values(const preparation *p, const gcor_ranks *ranks, const double *x, int64_t j,
                           int64_t *present) {
    cpu_operand *o = p->operand;
    int64_t n = o->head.n_obs, at = j * n, tied;
    gcor_ranks own = {ranks->entries, o->order + at, ranks->begin, ranks->end};
    o->n_present[j] = gcor_rank(x, n, &own, &tied);
    memcpy(o->values + at, x, (size_t)n * sizeof *x);
    if (o->head.kind == GCOR_DISTANCE_COMMON) *present = o->n_present[j];
    const gcor_ordered column = cpu_ordered_of(o, j);
    return gcor_distance_norm(&column, ranks->entries);
}

/* Copies values of a kind whose pairs are prepared separately; the column prepared alone tells whether it has
 * coefficients. */
static double keep_values(const preparation *p, int thread, const double *x, int64_t j, int *flags, int64_t *present) {
    const cpu_operand *o = p->operand;
    gcor_pair pair = gcor_pair_at(p->ranks + thread * p->ranks_bytes, p->measure, p->design, o->head.n_obs);
    const int64_t n = o->head.n_obs;
    const gcor_ranks own = {pair.ranks.entries, o->order + j * n, pair.ranks.begin, pair.ranks.end};
    int64_t tied;
    (void)copy_values(x, n, NAN, o->values + j * n, present);
    o->n_present[j] = gcor_rank(x, n, &own, &tied);
    return gcor_pair_norm(&pair, o->values + j * n, flags);
}

/* Copies coefficients with all variables. A column has some if it has any beside its own. Returns 1. */
static double keep_given(const cpu_operand *o, const double *x, int64_t j, int *flags) {
    int64_t n = o->head.n_obs, given = 0;
    for (int64_t k = 0; k < n; k++) {
        given += x[k] == x[k] && k != o->head.first + j;
        o->values[j * n + k] = x[k] == x[k] ? x[k] : GCOR_NO_VALUE;
    }
    *flags = given > 0 ? 0 : GCOR_MISSING;
    return 1;
}

/* Elements after the last value are zero. */
static double prepare_real(const preparation *p, const gcor_ranks *ranks, double *x, int64_t j, int *flags) {
    const cpu_operand *o = p->operand;
    float *out = o->columns + j * o->stride;
    for (int64_t k = o->head.n_obs; k < o->stride; k++) out[k] = 0;
    double norm = gcor_prepare_real(p->measure, p->design, x, p->n_obs, flags, ranks, out);
    if (p->shuffle) gcor_shuffle_values(p->shuffle, o->head.first + j, NULL, out, p->n_obs, 1);
    return norm;
}

/* Prepares column j. Returns its norm, or a number that is 0 for a constant column. *present: number of values that
 * are not missing, for kinds that need it. */
static double prepare_by_kind(const preparation *p, const gcor_ranks *ranks, double *x, int64_t j, int *flags,
                              int64_t *present) {
    cpu_operand *o = p->operand;
    int64_t n = o->head.n_obs;
    double origin = p->measure->angle == GCOR_AS_IS ? 0 : NAN;
    switch (o->head.kind) {
    case GCOR_DOUBLE: return gcor_prepare_double(p->measure, p->design, x, p->n_obs, flags, ranks, o->values + j * n);
    case GCOR_REAL_COMMON:
        o->common[j] = gcor_sum_common(x, n, origin != origin);
        return copy_values(x, n, origin, o->values + j * n, present);
    case GCOR_RANK_COMMON: return rank_values(p, ranks, x, j, present);
    case GCOR_DISTANCE:
    case GCOR_DISTANCE_COMMON: return order_values(p, ranks, x, j, present);
    case GCOR_GIVEN: return keep_given(o, x, j, flags);
    case GCOR_BINNED:
    case GCOR_BINNED_COMMON: return bin_values(p, ranks, x, j, present);
    case GCOR_SIGN:
    case GCOR_SIGN_COMMON: return score_signs(p, ranks, x, j, present);
    default: return prepare_real(p, ranks, x, j, flags);
    }
}

/* Rounds a column to steps of 1/127 of its largest value. */
static void round_column(cpu_operand *o, int64_t j) {
    const float *x = o->columns + j * o->stride;
    unsigned char *out = o->bytes + j * o->stride;
    const int has_length = o->scale[j] == o->scale[j];
    float max = 0;
    double lost = 0;
    for (int64_t k = 0; k < o->stride; k++) max = fabsf(x[k]) > max ? fabsf(x[k]) : max;
    const float step = max / 127, inverse = max > 1e-30f ? 127 / max : 0;
    for (int64_t k = 0; k < o->stride; k++) {
        const int value = has_length ? (int)(x[k] * inverse + 128.5f) : 128; /* positive: truncation rounds */
        const double rest = x[k] - (double)(value - 128) * step;
        out[k] = (unsigned char)value;
        lost += rest * rest;
    }
    o->step[j] = step * o->scale[j];
    o->lost[j] = has_length ? (float)(sqrt(lost) * o->inverse[j]) : 0;
}

static void describe_column(const preparation *p, int64_t j, int64_t present, double norm, int flags) {
    cpu_operand *o = p->operand;
    gcor_describe_column(p->measure, o->head.kind, present, &norm, &flags);
    if (o->head.kind == GCOR_REAL_COMMON) o->start[j + 1] = p->n_obs - present;
    if (o->inverse) o->inverse[j] = norm > 0 ? 1 / sqrt(norm) : NAN;
    if (o->scale) o->scale[j] = (float)o->inverse[j];
    if (o->bytes) round_column(o, j);
    o->head.norm[j] = norm;
    o->head.flags[j] = (unsigned char)flags;
}

static void prepare_column(void *user, int thread, int64_t var, double *x, int flags) {
    const preparation *p = user;
    int64_t j = var - p->operand->head.first, present = p->n_obs;
    gcor_ranks ranks = gcor_ranks_at(p->ranks + thread * p->ranks_bytes, p->n_obs);
    double norm = p->operand->head.kind == GCOR_PAIR_COMMON ? keep_values(p, thread, x, j, &flags, &present)
                                                            : prepare_by_kind(p, &ranks, x, j, &flags, &present);
    describe_column(p, j, present, norm, flags);
}

/* ---- columns that a basis makes shorter --------------------------------------------------- */

static void begin_column(void *user, int thread, int64_t var, double *x, int flags) {
    const preparation *p = user;
    gcor_operand *head = &p->operand->head;
    gcor_ranks ranks = gcor_ranks_at(p->ranks + thread * p->ranks_bytes, p->n_obs);
    head->flags[var - head->first] = (unsigned char)flags;
    head->norm[var - head->first] = gcor_begin_reduced(p->measure, p->design, x, p->n_obs, flags, &ranks);
}

static void reduce_columns(void *user, int thread, int64_t first, int64_t n, double *x, int64_t stride) {
    const preparation *p = user;
    const cpu_operand *o = p->operand;
    const int64_t length = o->head.n_obs;
    double *products = (double *)(void *)(p->ranks + thread * p->ranks_bytes);
    gcor_design_reduce(p->design, x, stride, n, products);
    for (int64_t j = first - o->head.first; n > 0; j++, n--, products += length) {
        const double none = o->head.norm[j];
        float *out = o->columns + j * o->stride;
        for (int64_t k = length; o->columns && k < o->stride; k++) out[k] = 0;
        double norm = o->columns ? gcor_end_reduced_real(p->design, products, none, out)
                                 : gcor_end_reduced_double(p->design, products, none, o->values + j * length);
        describe_column(p, j, p->n_obs, norm, o->head.flags[j]);
    }
}

/* ---- all columns ----------------------------------------------------------------------- */

/* Lists the rows of missing values. Their numbers are in start[1], start[2], ... */
static gcor_status list_missing(gcor_context *context, cpu_operand *o) {
    int64_t n = o->head.n_obs, at = 0;
    o->start[0] = 0;
    for (int64_t j = 0; j < o->head.n_var; j++) o->start[j + 1] += o->start[j];
    o->order = gcor_alloc(context, o->start[o->head.n_var] + 1, sizeof *o->order, "missing values");
    if (!o->order) return GCOR_NO_MEMORY;
    for (int64_t j = 0; j < o->head.n_var && at < o->start[o->head.n_var]; j++)
        for (int64_t k = 0; k < n && at < o->start[j + 1]; k++)
            if (o->values[j * n + k] != o->values[j * n + k]) o->order[at++] = (int32_t)k;
    return GCOR_OK;
}

static gcor_status prepare_columns(gcor_context *context, const gcor_columns *columns, const gcor_measure *measure,
                                   cpu_operand *o) {
    gcor_columns read = *columns;
    const gcor_shuffle *after = NULL;
    if (gcor_shuffles_prepared(measure, o->head.kind, columns)) {
        after = columns->shuffle;
        read.shuffle = NULL;
    }
    int is_reduced = gcor_is_reduced(measure, columns->design, o->head.kind);
    size_t scratch = gcor_ranks_bytes(columns->n_obs);
    if (o->head.kind == GCOR_PAIR_COMMON) scratch = gcor_pair_bytes(measure, columns->design, columns->n_obs);
    if (cpu_is_ordered(o->head.kind)) scratch = (size_t)gcor_distance_bytes(columns->n_obs);
    const size_t products = GCOR_TOGETHER * (size_t)o->head.n_obs * sizeof(double);
    if (is_reduced && products > scratch) scratch = products;
    preparation p = {measure, columns->design, after, o, columns->n_obs, NULL, (scratch + 63) / 64 * 64};
    p.ranks = gcor_alloc(context, context->threads, p.ranks_bytes, "columns being prepared");
    if (!p.ranks) return GCOR_NO_MEMORY;
    gcor_status status = gcor_for_columns_together(context, &read, o->head.first, o->head.n_var,
                                                   is_reduced ? begin_column : prepare_column,
                                                   is_reduced ? reduce_columns : NULL, &p);
    gcor_free(p.ranks);
    return status;
}

gcor_status cpu_prepare(gcor_state *state, const gcor_columns *columns, const gcor_measure *measure, gcor_kind kind,
                        int64_t first, int64_t n_var, gcor_operand **operand) {
    gcor_context *context = state->context;
    int64_t length = gcor_column_length(measure, columns->design, kind, columns->n_obs);
    cpu_operand *o = gcor_alloc(context, 1, sizeof *o, "an operand");
    *operand = NULL;
    if (!o) return GCOR_NO_MEMORY;
    *o = (cpu_operand){.head = {.kind = kind, .first = first, .n_var = n_var, .n_obs = length},
                       .measure = measure,
                       .design = columns->design,
                       .kernels = state->kernels,
                       .stride = stride_of(kind, length)};
    gcor_status status = allocate(context, o, is_coarse(state));
    if (!status && o->terms) {
        o->n_bins = gcor_bin_count(o->design, o->head.n_obs);
        o->unit = gcor_mutual_terms(o->head.n_obs, o->terms);
    }
    if (!status)
        status = kind == GCOR_REAL_SPARSE   ? cpu_prepare_sparse(context, columns, o)
                 : kind == GCOR_SIGN_SPARSE ? cpu_prepare_sparse_signs(context, columns, o)
                                            : prepare_columns(context, columns, measure, o);
    if (!status && kind == GCOR_REAL_COMMON) status = list_missing(context, o);
    for (int64_t j = 0; !status && o->bytes && j < n_var; j++)
        if (o->lost[j] > o->max_lost) o->max_lost = o->lost[j]; /* with fmax() GCC 12 for ARM crashes at -O2 */
    if (!status && o->bytes) o->max_length = gcor_max_length(o->design, o->head.norm, n_var);
    if (status)
        cpu_release(state, &o->head);
    else
        *operand = &o->head;
    return status;
}

void cpu_release(gcor_state *state, gcor_operand *operand) {
    cpu_operand *o = (cpu_operand *)operand;
    if (state->rows.of == o) state->rows.of = NULL;
    for (int k = 0; k < N_ARRAYS; k++) {
        void *array;
        memcpy(&array, (const char *)o + arrays[k].at, sizeof array);
        gcor_free(array);
    }
    gcor_free(o);
}
