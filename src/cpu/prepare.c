/* Columns of x made ready, one thread per column. */
#include "cpu.h"

#include "../core/alloc.h"
#include "../core/coefficient.h"
#include "../core/threads.h"

#include <string.h>

/* One thread's scratch, n_obs of each; of entries twice as many. */
typedef struct {
    double *x;
    cpu_entry *entries;
    int32_t *order, *begin, *end;
} scratch;

int64_t cpu_column_bytes(const gcor_state *state, gcor_kind kind, int64_t n_obs) {
    (void)state;
    switch (kind) {
    case GCOR_REAL_COMMON: return n_obs * (int64_t)sizeof(double);
    case GCOR_RANK_COMMON: return n_obs * 3 * (int64_t)sizeof(int32_t);
    default: return n_obs * (int64_t)sizeof(float);
    }
}

static gcor_status allocate(gcor_context *context, gcor_kind kind, int64_t n_obs, int64_t n_var, cpu_operand *o) {
    const char *what = "the prepared columns";
    int ok = 1;
    o->n_padded = (n_var + CPU_BLOCK_COLS - 1) / CPU_BLOCK_COLS * CPU_BLOCK_COLS;
    ok = ok && (o->head.norm = gcor_alloc(context, n_var, sizeof(double), what));
    ok = ok && (o->head.flags = gcor_alloc(context, n_var, 1, what));
    switch (kind) {
    case GCOR_REAL_COMMON:
        ok = ok && (o->values = gcor_alloc(context, n_obs * n_var, sizeof(double), what));
        break;
    case GCOR_RANK_COMMON:
        ok = ok && (o->order = gcor_alloc(context, n_obs * n_var, sizeof(int32_t), what));
        ok = ok && (o->begin = gcor_alloc(context, n_obs * n_var, sizeof(int32_t), what));
        ok = ok && (o->end = gcor_alloc(context, n_obs * n_var, sizeof(int32_t), what));
        ok = ok && (o->n_present = gcor_alloc(context, n_var, sizeof(int64_t), what));
        break;
    default:
        ok = ok && (o->scale = gcor_alloc(context, o->n_padded, sizeof(float), what));
        ok = ok && (o->columns = gcor_alloc(context, n_obs * o->n_padded, sizeof(float), what));
        if (ok) memset(o->scale + n_var, 0, (size_t)(o->n_padded - n_var) * sizeof(float));
        if (ok) memset(o->columns + n_obs * n_var, 0, (size_t)(n_obs * (o->n_padded - n_var)) * sizeof(float));
    }
    return ok ? GCOR_OK : GCOR_NO_MEMORY;
}

/* Twice the rank, centred: how many values are below less how many are above. */
static double score_column(double *x, int64_t n, const scratch *s, int64_t present, float *out) {
    double squares = 0;
    for (int64_t k = 0; k < n; k++) {
        int64_t score = (int64_t)s->begin[k] + s->end[k] - present;
        x[k] = s->begin[k] < 0 ? NAN : (double)score;
        out[k] = (float)x[k];
        squares += (double)score * (double)score;
    }
    return squares;
}

/* Values for a product over common rows: scaled only, as each pair has means of its own.
 * Returns what tells a constant column. */
static double scale_column(const double *x, int64_t n, double *out) {
    double largest = 0, first = NAN;
    int varies = 0;
    for (int64_t k = 0; k < n; k++) {
        if (isfinite(x[k]) && fabs(x[k]) > largest) largest = fabs(x[k]);
        if (first != first) first = x[k];
        varies |= x[k] < first || x[k] > first;
    }
    double scale = gcor_scale(largest);
    for (int64_t k = 0; k < n; k++) out[k] = x[k] * scale;
    return varies;
}

static int64_t count_present(const double *x, int64_t n) {
    int64_t present = 0;
    for (int64_t k = 0; k < n; k++) present += x[k] == x[k];
    return present;
}

/* Column j of the operand; its norm, and flags beside those that gathering found. */
static void prepare_column(cpu_operand *o, gcor_method method, int64_t j, const scratch *s, int flags) {
    int64_t n = o->head.n_obs, at = j * n, tied = 0, present = n;
    int common = o->head.kind >= GCOR_REAL_COMMON;
    double norm = 0;
    if (o->head.kind == GCOR_RANK_COMMON)
        present = cpu_rank(s->x, n, s->entries, o->order + at, o->begin + at, o->end + at, &tied);
    else if (method != GCOR_PEARSON)
        present = cpu_rank(s->x, n, s->entries, s->order, s->begin, s->end, &tied);
    else if (common)
        present = count_present(s->x, n);

    if (o->head.kind == GCOR_RANK_COMMON) {
        o->n_present[j] = present;
        norm = (double)(gcor_obs_pairs(present) - tied);
    } else if (o->head.kind == GCOR_REAL_COMMON) {
        norm = scale_column(s->x, n, o->values + at);
    } else if (method != GCOR_PEARSON) {
        norm = score_column(s->x, n, s, present, o->columns + at);
        if (method == GCOR_KENDALL)
            norm = (double)(gcor_obs_pairs(present) - tied);
        else if (!gcor_exact_scores(n))
            norm = gcor_unit(s->x, norm, n, o->columns + at);
    } else {
        norm = gcor_unit_column(s->x, n, flags, o->columns + at);
    }

    gcor_describe_column(o->head.kind, method, present, &norm, &flags);
    if (o->scale) o->scale[j] = norm > 0 ? (float)(1 / sqrt(norm)) : NAN;
    o->head.norm[j] = norm;
    o->head.flags[j] = (unsigned char)flags;
}

static gcor_status prepare_columns(gcor_context *context, const gcor_columns *columns, gcor_method method,
                                   cpu_operand *o) {
    int64_t n = o->head.n_obs, threads = context->threads;
    size_t bytes = sizeof(double) + 2 * sizeof(cpu_entry) + 3 * sizeof(int32_t);
    char *work = gcor_alloc(context, n * threads, bytes, "columns being prepared");
    if (!work) return GCOR_NO_MEMORY;
#pragma omp parallel num_threads(context->threads)
    {
        int64_t thread = omp_get_thread_num();
        scratch s;
        s.x = (double *)work + n * thread;
        s.entries = (cpu_entry *)((double *)work + n * threads) + 2 * n * thread;
        s.order = (int32_t *)((cpu_entry *)((double *)work + n * threads) + 2 * n * threads) + 3 * n * thread;
        s.begin = s.order + n;
        s.end = s.begin + n;
#pragma omp for schedule(dynamic, 16)
        for (int64_t j = 0; j < o->head.n_var; j++) {
            if (gcor_stop(context, (int)thread)) continue;
            prepare_column(o, method, j, &s, gcor_gather(columns, o->head.first + j, s.x));
        }
    }
    gcor_free(work);
    return gcor_stop(context, 0) ? context->error.status : GCOR_OK;
}

gcor_status cpu_prepare(gcor_state *state, const gcor_columns *columns, gcor_method method, gcor_kind kind,
                        int64_t first, int64_t n_var, gcor_operand **operand) {
    gcor_context *context = state->context;
    cpu_operand *o = gcor_alloc(context, 1, sizeof *o, "an operand");
    if (!o) return GCOR_NO_MEMORY;
    *o = (cpu_operand){.head = {.kind = kind, .first = first, .n_var = n_var, .n_obs = columns->n_obs}};
    gcor_status status = allocate(context, kind, columns->n_obs, n_var, o);
    if (!status) status = prepare_columns(context, columns, method, o);
    *operand = &o->head;
    if (status) {
        cpu_release(state, *operand);
        *operand = NULL;
    }
    return status;
}

void cpu_release(gcor_state *state, gcor_operand *operand) {
    cpu_operand *o = (cpu_operand *)operand;
    if (state->rows.of == o) state->rows.of = NULL;
    gcor_free(o->head.norm);
    gcor_free(o->head.flags);
    gcor_free(o->columns);
    gcor_free(o->scale);
    gcor_free(o->values);
    gcor_free(o->order);
    gcor_free(o->begin);
    gcor_free(o->end);
    gcor_free(o->n_present);
    gcor_free(o);
}
