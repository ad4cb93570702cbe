/* P values of many statistics (stats/tail.h): the bits of those computed one by one, by every instruction set. */
#include "check.h"
#include "fixture.h"
#include "system.h"

#include "../../src/base/alloc.h"
#include "../../src/base/elementary.h"
#include "../../src/base/isa.h"
#include "../../src/stats/tail.h"

#include <math.h>

enum { N = 10007 };

/* Values over the whole range up to `max`, many of them small, some extreme. */
static void fill(double *x, double max) {
    const double special[] = {0, -0.0, max, -max, max * (1 - 0x1p-53), 1e-310, INFINITY, NAN, max * 0x1p-30};
    for (int k = 0; k < N; k++) {
        double u = 2 * unit_uniform() - 1;
        x[k] = max * (k % 3 ? u * u * u : u);
    }
    for (int k = 0; k < 9; k++) x[100 * k] = special[k];
}

static void check_same(const gcor_t_table *table, const double *x, double *p) {
    for (int k = 0; k < N; k++) {
        double one = gcor_one_p(table, x[k]);
        if (gcor_bits_of(p[k]) != gcor_bits_of(one) && !(isnan(one) && isnan(p[k])))
            unit_fail(__FILE__, __LINE__, "p of %.17g is %.17g, not %.17g", x[k], p[k], one);
    }
}

static void same_bits(void) {
    const double df[] = {1, 2, 7, 98, 2000, 1e7};
    static double x[N], p[N];
    unit_seed(5);
    for (int k = 0; gcor_loops_at(k); k++) {
        unit_set_variable("GPUCOR_CPU", gcor_loops_at(k)->name);
        (void)gcor_isa_choose();
        for (int d = 0; d < 6; d++) {
            unit_call call;
            unit_call_begin(&call, 1);
            gcor_t_table *table = gcor_t_table_new(&call.context, df[d]);
            fill(x, 1);
            x[600] = 1; /* no coefficient is infinite */
            gcor_t_table_p(table, x, N, p);
            check_same(table, x, p);
            gcor_free(table);
        }
        fill(x, 45);
        gcor_normal_p(x, N, p);
        check_same(NULL, x, p);
    }
    unit_set_variable("GPUCOR_CPU", NULL);
    (void)gcor_isa_choose();
}

static void same_scores(void) {
    const double df[] = {1, 7, 98, 2e6};
    static double r[N], t[N];
    unit_seed(6);
    for (int k = 0; gcor_loops_at(k); k++) {
        unit_set_variable("GPUCOR_CPU", gcor_loops_at(k)->name);
        (void)gcor_isa_choose();
        for (int d = 0; d < 4; d++) {
            int64_t near = 0;
            fill(r, 1);
            r[600] = 1;
            for (int j = 0; j < N; j++) near += gcor_is_near(df[d] + 1, r[j]);
            CHECK_INT(gcor_t_scores(df[d], df[d] + 1, r, N, t), near);
            CHECK(near > 0 && near < N);
            for (int j = 0; j < N; j++) {
                double one = isnan(r[j]) ? r[j] : gcor_t_score(df[d], r[j]);
                if (gcor_bits_of(t[j]) != gcor_bits_of(one))
                    unit_fail(__FILE__, __LINE__, "t of %.17g is %.17g, not %.17g", r[j], t[j], one);
            }
        }
    }
    unit_set_variable("GPUCOR_CPU", NULL);
    (void)gcor_isa_choose();
}

const unit_test tail_tests[] = {
    {"p values of many are those of one by one", same_bits},
    {"Student's t of many are those of one by one", same_scores},
    {NULL, NULL},
};
