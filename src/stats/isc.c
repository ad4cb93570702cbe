#include "test.h"

#include "../base/alloc.h"
#include "../base/elementary.h"
#include "../base/threads.h"

#include <math.h>

/* Columns that are computed together: a vector of every processor. */
enum { GROUP = 4 };
typedef float group __attribute__((vector_size(GROUP * sizeof(float))));

/* Fourier coefficients of a group of columns. */
typedef struct {
    group re, im;
} wave;

/* What one thread works on. */
typedef struct {
    wave *series, *turned; /* n_freq x n_subject; a surrogate's coefficients of one frequency, n_subject */
    group *size;           /* n_subject x 3: sums of squares of a subject and of the others, their products */
} scratch;

typedef struct {
    const gcor_isc *of;
    gcor_context *context;
    scratch *own;   /* of each thread */
    double *maxima; /* n_perm of each thread */
} search;

/* Loads columns from `first` on, each divided by its size over all subjects; those after the last one are 0. */
static void load(const gcor_isc *q, const scratch *s, int64_t first) {
    for (int64_t k = 0; k < q->n_subject; k++) s->size[3 * k] = (group){0};
    for (int c = 0; c < GROUP; c++) {
        double square = 0;
        for (int64_t k = 0; first + c < q->n_col && k < q->n_subject; k++) {
            const double *at = q->spectra[k] + 2 * (first + c) * q->n_freq;
            for (int64_t f = 0; f < 2 * q->n_freq; f += 2) square += at[f] * at[f] + at[f + 1] * at[f + 1];
        }
        double scale = square > 0 ? 1 / sqrt(square) : 0;
        for (int64_t k = 0; k < q->n_subject; k++) {
            for (int64_t f = 0; f < q->n_freq; f++) {
                wave *to = s->series + f * q->n_subject + k;
                const double *at = scale > 0 ? q->spectra[k] + 2 * ((first + c) * q->n_freq + f) : NULL;
                to->re[c] = at ? (float)(scale * at[0]) : 0;
                to->im[c] = at ? (float)(scale * at[1]) : 0;
                s->size[3 * k][c] += to->re[c] * to->re[c] + to->im[c] * to->im[c];
            }
        }
    }
}

/* Adds the products of each subject's surrogate with the sum of the others', and the squares of that sum. */
static void correlate(const gcor_isc *q, const scratch *s, const double *factors) {
    for (int64_t k = 0; k < q->n_subject; k++) s->size[3 * k + 1] = s->size[3 * k + 2] = (group){0};
    for (int64_t f = 0; f < q->n_freq; f++) {
        const wave *x = s->series + f * q->n_subject;
        wave sum = {0};
        for (int64_t k = 0; k < q->n_subject; k++) {
            const double *factor = factors + 2 * (f + k * q->n_freq);
            const float re = (float)factor[0], im = (float)factor[1];
            s->turned[k].re = x[k].re * re - x[k].im * im;
            s->turned[k].im = x[k].re * im + x[k].im * re;
            sum.re += s->turned[k].re;
            sum.im += s->turned[k].im;
        }
        for (int64_t k = 0; k < q->n_subject; k++) {
            group re = sum.re - s->turned[k].re, im = sum.im - s->turned[k].im;
            s->size[3 * k + 1] += re * re + im * im;
            s->size[3 * k + 2] += s->turned[k].re * re + s->turned[k].im * im;
        }
    }
}

/* Returns the mean over the subjects that have a coefficient of column c; -Inf: none has. */
static double mean_of(const gcor_isc *q, const scratch *s, int c) {
    const double bound = 1 - 0x1p-24;
    double total = 0, count = 0;
    for (int64_t k = 0; k < q->n_subject; k++) {
        double squares = (double)s->size[3 * k][c] * s->size[3 * k + 1][c];
        if (!(squares > 0)) continue;
        double r = s->size[3 * k + 2][c] / sqrt(squares);
        total += q->is_fisher ? gcor_artanh(fmin(fmax(r, -bound), bound)) : r;
        count++;
    }
    return count > 0 ? total / count : -INFINITY;
}

static void permute_group(void *argument, int thread, int64_t k) {
    const search *all = argument;
    const gcor_isc *q = all->of;
    const scratch *s = all->own + thread;
    if (gcor_stop(all->context)) return;
    load(q, s, k * GROUP);
    for (int64_t b = 0; b < q->n_perm; b++) {
        double *max = all->maxima + thread * q->n_perm + b;
        correlate(q, s, q->factors + 2 * b * q->n_freq * q->n_subject);
        for (int c = 0; c < GROUP && k * GROUP + c < q->n_col; c++) *max = fmax(*max, mean_of(q, s, c));
    }
}

gcor_status gcor_isc_maxima(gcor_context *context, const gcor_isc *isc, double *maxima) {
    const char *const what = "surrogates";
    const int64_t waves = isc->n_freq * isc->n_subject + isc->n_subject, sizes = 3 * isc->n_subject, n = isc->n_perm;
    const int64_t bytes = waves * (int64_t)sizeof(wave) + sizes * (int64_t)sizeof(group);
    const int threads = context->threads;
    char *memory = gcor_alloc(context, threads, (size_t)bytes, what);
    search all = {isc, context, memory ? gcor_alloc(context, threads, sizeof *all.own, what) : NULL, NULL};
    if (all.own) all.maxima = gcor_alloc(context, threads * n, sizeof *all.maxima, what);
    if (all.maxima) {
        for (int t = 0; t < threads; t++) {
            wave *at = (wave *)(memory + t * bytes);
            all.own[t] = (scratch){at, at + isc->n_freq * isc->n_subject, (group *)(at + waves)};
        }
        for (int64_t b = 0; b < threads * n; b++) all.maxima[b] = -INFINITY;
        gcor_for_each(threads, gcor_blocks(isc->n_col, GROUP), permute_group, &all);
        for (int64_t b = 0; b < n; b++) maxima[b] = -INFINITY;
        for (int64_t b = 0; b < threads * n; b++) maxima[b % n] = fmax(maxima[b % n], all.maxima[b]);
    }
    gcor_free(all.maxima);
    gcor_free(all.own);
    gcor_free(memory);
    return context->error.status;
}
