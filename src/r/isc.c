/* Inter-subject correlation of surrogate series, whose largest values over all columns gpuISC() compares with. */
#include "call.h"

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
    gcor_context *context;
    int64_t n_subject, n_freq, n_col, n_perm;
    const Rcomplex **spectra; /* of each subject: n_freq x n_col */
    const Rcomplex *factors;  /* n_freq x n_subject x n_perm */
    int is_fisher;
    scratch *own;   /* of each thread */
    double *maxima; /* n_perm of each thread */
} isc;

/* Loads columns from `first` on, each divided by its size over all subjects; those after the last one are 0. */
static void load(const isc *q, const scratch *s, int64_t first) {
    for (int64_t k = 0; k < q->n_subject; k++) s->size[3 * k] = (group){0};
    for (int c = 0; c < GROUP; c++) {
        double square = 0;
        for (int64_t k = 0; first + c < q->n_col && k < q->n_subject; k++) {
            const Rcomplex *at = q->spectra[k] + (first + c) * q->n_freq;
            for (int64_t f = 0; f < q->n_freq; f++) square += at[f].r * at[f].r + at[f].i * at[f].i;
        }
        double scale = square > 0 ? 1 / sqrt(square) : 0;
        for (int64_t k = 0; k < q->n_subject; k++) {
            for (int64_t f = 0; f < q->n_freq; f++) {
                wave *to = s->series + f * q->n_subject + k;
                const Rcomplex *at = scale > 0 ? q->spectra[k] + (first + c) * q->n_freq + f : NULL;
                to->re[c] = at ? (float)(scale * at->r) : 0;
                to->im[c] = at ? (float)(scale * at->i) : 0;
                s->size[3 * k][c] += to->re[c] * to->re[c] + to->im[c] * to->im[c];
            }
        }
    }
}

/* Adds the products of each subject's surrogate with the sum of the others', and the squares of that sum. */
static void correlate(const isc *q, const scratch *s, const Rcomplex *factors) {
    for (int64_t k = 0; k < q->n_subject; k++) s->size[3 * k + 1] = s->size[3 * k + 2] = (group){0};
    for (int64_t f = 0; f < q->n_freq; f++) {
        const wave *x = s->series + f * q->n_subject;
        wave sum = {0};
        for (int64_t k = 0; k < q->n_subject; k++) {
            const float re = (float)factors[f + k * q->n_freq].r, im = (float)factors[f + k * q->n_freq].i;
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
static double mean_of(const isc *q, const scratch *s, int c) {
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
    const isc *q = argument;
    const scratch *s = q->own + thread;
    if (gcor_stop(q->context)) return;
    load(q, s, k * GROUP);
    for (int64_t b = 0; b < q->n_perm; b++) {
        double *max = q->maxima + thread * q->n_perm + b;
        correlate(q, s, q->factors + b * q->n_freq * q->n_subject);
        for (int c = 0; c < GROUP && k * GROUP + c < q->n_col; c++) *max = fmax(*max, mean_of(q, s, c));
    }
}

static gcor_status find_maxima(isc *q) {
    gcor_context *context = q->context;
    int64_t waves = q->n_freq * q->n_subject + q->n_subject, sizes = 3 * q->n_subject;
    int64_t bytes = waves * (int64_t)sizeof(wave) + sizes * (int64_t)sizeof(group);
    int threads = context->threads;
    char *memory = gcor_alloc(context, threads, (size_t)bytes, "surrogates");
    q->own = memory ? gcor_alloc(context, threads, sizeof *q->own, "surrogates") : NULL;
    if (q->own) {
        for (int t = 0; t < threads; t++) {
            wave *at = (wave *)(memory + t * bytes);
            q->own[t] = (scratch){at, at + q->n_freq * q->n_subject, (group *)(at + waves)};
        }
        gcor_for_each(threads, gcor_blocks(q->n_col, GROUP), permute_group, q);
    }
    gcor_free(q->own);
    gcor_free(memory);
    return context->error.status;
}

/* Returns for each surrogate the largest mean over the subjects of all columns, -Inf for none. spectra: a list of each
 * subject's Fourier coefficients, n_freq x n_col, whose products are those of the series; of a subject without a
 * coefficient they are 0. factors: n_freq x (n_subject x n_perm), by which they are multiplied, of modulus 1. */
SEXP r_isc_maxima(SEXP spectra, SEXP factors, SEXP is_fisher, SEXP settings) {
    r_call call;
    isc q = {.n_subject = Rf_xlength(spectra), .factors = COMPLEX(factors), .is_fisher = Rf_asLogical(is_fisher)};
    q.n_freq = Rf_nrows(factors), q.n_perm = Rf_ncols(factors) / q.n_subject;
    q.n_col = Rf_ncols(VECTOR_ELT(spectra, 0));
    q.spectra = (const Rcomplex **)R_alloc((size_t)q.n_subject, sizeof *q.spectra);
    for (int64_t k = 0; k < q.n_subject; k++) q.spectra[k] = COMPLEX(VECTOR_ELT(spectra, k));
    r_quiet_call_parse(&call, settings);
    q.context = &call.context;
    q.maxima = (double *)R_alloc((size_t)(call.context.threads * q.n_perm), sizeof *q.maxima);
    for (int64_t b = 0; b < call.context.threads * q.n_perm; b++) q.maxima[b] = -INFINITY;
    SEXP result = PROTECT(Rf_allocVector(REALSXP, q.n_perm));
    gcor_status status = find_maxima(&q);
    r_progress_end(&call.progress);
    for (int64_t b = 0; b < q.n_perm; b++) {
        REAL(result)[b] = -INFINITY;
        for (int t = 0; t < call.context.threads; t++)
            REAL(result)[b] = fmax(REAL(result)[b], q.maxima[t * q.n_perm + b]);
    }
    UNPROTECT(1);
    return status ? r_failure(&call.context.error) : result;
}
