#include "permuted.h"

/* A step of splitmix64 (Steele, Lea and Flood 2014): any seed begins a sequence of its own. */
static uint64_t next(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Where the sequence of a variable in a permutation begins. */
static uint64_t begin(uint64_t seed, uint64_t number, uint64_t variable) {
    uint64_t state = seed;
    state = next(&state) ^ number;
    state = next(&state) ^ variable;
    return next(&state);
}

/* By Fisher and Yates. */
static void shuffle(const gcor_permuted *p, uint64_t state, double *x) {
    for (int64_t k = p->n_observed - 1; k > 0; k--) {
        int64_t other = (int64_t)((double)(next(&state) >> 11) * 0x1p-53 * (double)(k + 1));
        int64_t to = p->observed ? p->observed[k] : k, from = p->observed ? p->observed[other] : other;
        double value = x[to];
        x[to] = x[from];
        x[from] = value;
    }
}

static gcor_status read_permuted(gcor_source *source, gcor_context *context, int64_t first, int64_t n, double *out) {
    gcor_permuted *p = (gcor_permuted *)source;
    gcor_status status = p->of->read(p->of, context, first, n, out);
    for (int64_t j = first; !status && j < first + n; j++)
        shuffle(p, begin(p->seed, p->number, p->jointly ? 0 : (uint64_t)j), out + (j - first) * source->n_obs);
    return status;
}

gcor_permuted gcor_permuted_source(const gcor_columns *columns, uint64_t seed, uint64_t number, int jointly) {
    gcor_permuted p = {.source = *columns->source,
                       .of = columns->source,
                       .observed = columns->observed,
                       .n_observed = columns->n_obs,
                       .seed = seed,
                       .number = number,
                       .jointly = jointly};
    p.source.read = read_permuted;
    return p;
}
