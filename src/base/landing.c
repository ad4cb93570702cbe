#include "landing.h"

#include "os.h"
#include "touch.h"

#include <stdlib.h>

/* Entries that are touched at a time: a large page of columns and two of coefficients. */
enum { UNIT = 1 << 19, AVAILABLE_PART = 2 };
enum { COL_BYTES = sizeof(int32_t), R_BYTES = sizeof(double) };

struct gcor_landing {
    gcor_block col, r;
    int64_t max; /* entries */
    gcor_toucher *toucher;
};

gcor_landing *gcor_landing_new(const gcor_context *context, int64_t max) {
    int64_t available = gcor_available_memory() / AVAILABLE_PART / (COL_BYTES + R_BYTES);
    gcor_landing *landing = context->threads > 1 ? calloc(1, sizeof *landing) : NULL;
    if (!landing) return NULL;
    landing->max = max < available ? max : available;
    landing->col = gcor_pool_open(landing->max * COL_BYTES);
    landing->r = gcor_pool_open(landing->max * R_BYTES);
    gcor_fresh memory[] = {{landing->col.at, (int64_t)landing->col.capacity, (int64_t)UNIT * COL_BYTES},
                           {landing->r.at, (int64_t)landing->r.capacity, (int64_t)UNIT * R_BYTES}};
    if (landing->col.at && landing->r.at) landing->toucher = gcor_toucher_new(context->threads - 1, memory, 2);
    if (landing->toucher) return landing;
    gcor_landing_free(landing);
    return NULL;
}

void gcor_landing_expect(gcor_landing *landing, int64_t n) {
    gcor_toucher_want(landing->toucher, (n < landing->max ? n : landing->max) / UNIT);
}

int gcor_landing_take(gcor_landing *landing, int64_t n, gcor_block *col, gcor_block *r) {
    if (n < 1 || n > landing->max) return 0;
    gcor_toucher_free(landing->toucher);
    *col = landing->col;
    *r = landing->r;
    *landing = (gcor_landing){0};
    gcor_pool_cut(col, n * COL_BYTES);
    gcor_pool_cut(r, n * R_BYTES);
    return 1;
}

void gcor_landing_free(gcor_landing *landing) {
    if (!landing) return;
    gcor_toucher_free(landing->toucher);
    gcor_pool_cut(&landing->col, 0);
    gcor_pool_cut(&landing->r, 0);
    free(landing);
}
