#include "moments.h"

#include "alloc.h"

#include <math.h>

enum { PIECE = 1024 }; /* numbers at a time, which stay in a near cache */

gcor_status gcor_moments_new(gcor_context *context, int64_t room, gcor_moments *moments) {
    double **all[] = {&moments->count,   &moments->first, &moments->sum,
                      &moments->squares, &moments->least, &moments->most};
    *moments = (gcor_moments){.room = room};
    for (int a = 0; a < 6; a++) {
        *all[a] = gcor_alloc(context, room, sizeof(double), "moments");
        if (!*all[a]) return GCOR_NO_MEMORY;
    }
    return GCOR_OK;
}

void gcor_moments_free(gcor_moments *moments) {
    gcor_free(moments->count);
    gcor_free(moments->first);
    gcor_free(moments->sum);
    gcor_free(moments->squares);
    gcor_free(moments->least);
    gcor_free(moments->most);
    *moments = (gcor_moments){0};
}

void gcor_moments_begin(gcor_moments *moments, gcor_context *context, int64_t n) {
    (void)context; /* without OpenMP */
    moments->n = n;
#pragma omp parallel for num_threads(context->threads) schedule(static)
    for (int64_t k = 0; k < n; k++) {
        moments->count[k] = moments->first[k] = moments->sum[k] = moments->squares[k] = 0;
        moments->least[k] = INFINITY;
        moments->most[k] = -INFINITY;
    }
}

/* Numbers from .. from+n-1; without a branch, so that many are done at once. */
static void add_piece(const gcor_moments *moments, int64_t from, int64_t n, const double *values) {
    double *restrict count = moments->count + from, *restrict first = moments->first + from;
    double *restrict sum = moments->sum + from, *restrict squares = moments->squares + from;
    double *restrict least = moments->least + from, *restrict most = moments->most + from;
#pragma omp simd
    for (int64_t k = 0; k < n; k++) {
        double value = values[k], has_value = value <= 1 ? 1 : 0;
        double origin = count[k] > 0 ? first[k] : value;
        double away = value <= 1 ? value - origin : 0;
        first[k] = value <= 1 ? origin : first[k];
        count[k] += has_value;
        sum[k] += away;
        squares[k] += away * away;
        least[k] = value <= 1 && value < least[k] ? value : least[k];
        most[k] = value <= 1 && value > most[k] ? value : most[k];
    }
}

void gcor_moments_add(gcor_moments *moments, gcor_context *context, const double *values, int64_t times) {
    (void)context;
#pragma omp parallel for num_threads(context->threads) schedule(static)
    for (int64_t from = 0; from < moments->n; from += PIECE) {
        int64_t n = moments->n - from < PIECE ? moments->n - from : PIECE;
        for (int64_t t = 0; t < times; t++) add_piece(moments, from, n, values + t * moments->n + from);
    }
}

double gcor_moments_mean(const gcor_moments *moments, int64_t k, double missing) {
    return moments->count[k] > 0 ? moments->first[k] + moments->sum[k] / moments->count[k] : missing;
}

double gcor_moments_sd(const gcor_moments *moments, int64_t k, double missing) {
    double n = moments->count[k], sum = moments->sum[k];
    if (n < 2) return missing;
    double squares = moments->squares[k] - sum * sum / n;
    return squares > 0 ? sqrt(squares / (n - 1)) : 0;
}

double gcor_moments_least(const gcor_moments *moments, int64_t k, double missing) {
    return moments->count[k] > 0 ? moments->least[k] : missing;
}

double gcor_moments_most(const gcor_moments *moments, int64_t k, double missing) {
    return moments->count[k] > 0 ? moments->most[k] : missing;
}
