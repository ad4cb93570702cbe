#include "picked.h"

static gcor_status read_picked(gcor_source *source, gcor_context *context, int64_t first, int64_t n, double *out) {
    gcor_picked *p = (gcor_picked *)source;
    gcor_status status = GCOR_OK;
    if (!p->number) return p->of->read(p->of, context, first, n, out);
    for (int64_t j = first; !status && j < first + n; j++, out += source->n_obs)
        status = p->of->read(p->of, context, p->number[j], 1, out);
    return status;
}

gcor_picked gcor_picked_source(gcor_source *of, const int32_t *number) {
    gcor_picked p = {.source = *of, .of = of, .number = number};
    p.source.read = read_picked;
    return p;
}
