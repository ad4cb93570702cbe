/* Orders by label, then along a space-filling curve: the interleaved bits of the coordinates (Morton 1966). */
#include "pairs.h"

#include "../base/alloc.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    uint32_t label; /* variables in no pair come last */
    int32_t number;
    uint64_t code;
} entry;

static int by_position(const void *a, const void *b) {
    const entry *x = a, *y = b;
    if (x->label != y->label) return x->label < y->label ? -1 : 1;
    if (x->code != y->code) return x->code < y->code ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Origin and scale that map coordinates to integers below 2^bits; the scale is the same in all dimensions. */
typedef struct {
    int dims, bits;
    double origin[GCOR_MAX_DIMS], scale;
} lattice;

static lattice lattice_of(const gcor_traits *traits, int dims, int64_t n_var) {
    lattice at = {.dims = dims, .bits = dims > 0 ? 62 / dims : 0};
    double widest = 0;
    for (int d = 0; d < dims; d++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t v = 0; v < n_var; v++) {
            double x = traits->position[v * dims + d];
            if (isfinite(x) && x < low) low = x;
            if (isfinite(x) && x > high) high = x;
        }
        at.origin[d] = low;
        if (high - low > widest) widest = high - low;
    }
    at.scale = widest > 0 && isfinite(widest) ? (ldexp(1, at.bits) - 1) / widest : 0;
    return at;
}

static uint64_t code_of(const lattice *at, const double *position) {
    uint64_t step[GCOR_MAX_DIMS], code = 0;
    for (int d = 0; d < at->dims; d++) {
        double x = (position[d] - at->origin[d]) * at->scale;
        if (!isfinite(x)) return 0;
        step[d] = (uint64_t)(x < 0 ? 0 : x);
    }
    for (int bit = at->bits - 1; bit >= 0; bit--)
        for (int d = 0; d < at->dims; d++) code = code << 1 | (step[d] >> bit & 1);
    return code;
}

static entry entry_of(const gcor_traits *traits, const lattice *at, int64_t v) {
    int32_t label = traits->label ? traits->label[v] : 0;
    const double *position = traits->position ? traits->position + v * at->dims : NULL;
    int is_out = label < 0;
    for (int d = 0; d < at->dims; d++) is_out |= !isfinite(position[d]);
    return (entry){is_out ? UINT32_MAX : (uint32_t)label, (int32_t)v, is_out ? 0 : code_of(at, position)};
}

gcor_status gcor_order_of(gcor_context *context, const gcor_traits *traits, int dims, int64_t n_var, int32_t **number) {
    entry *entries = gcor_alloc(context, n_var, sizeof *entries, "the order of the variables");
    lattice at = lattice_of(traits, dims, n_var);
    int64_t moved = 0;
    *number = NULL;
    if (!entries) return GCOR_NO_MEMORY;
    for (int64_t v = 0; v < n_var; v++) entries[v] = entry_of(traits, &at, v);
    if (n_var > 0) qsort(entries, (size_t)n_var, sizeof *entries, by_position);
    for (int64_t v = 0; v < n_var; v++) moved += entries[v].number != v;
    if (moved > 0) *number = gcor_alloc(context, n_var, sizeof **number, "the order of the variables");
    for (int64_t v = 0; *number && v < n_var; v++) (*number)[v] = entries[v].number;
    gcor_free(entries);
    return moved > 0 && !*number ? GCOR_NO_MEMORY : GCOR_OK;
}
