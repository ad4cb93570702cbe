/* Eigenvector centrality of networks. */
#include "check.h"
#include "fixture.h"

#include "../../src/base/alloc.h"
#include "../../src/stats/centrality.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_N = 40000, DEGREE = 80, STAR = 500, MAX_ENTRIES = MAX_N * DEGREE };

typedef struct {
    unit_call call;
    gcor_upper network;
    int32_t start[MAX_N + 1], row[MAX_ENTRIES];
    double r[MAX_ENTRIES], vector[MAX_N], error;
} fixture;

static fixture *fixture_new(int64_t n) {
    fixture *f = calloc(1, sizeof *f);
    f->network = (gcor_upper){n, f->start, f->row, f->r};
    return f;
}

/* Adds an edge of variable j; those of lower variables come first. */
static void add_edge(fixture *f, int64_t i, int64_t j, double r) {
    int32_t e = f->start[f->network.n]++;
    for (int64_t k = j + 1; k < f->network.n; k++) f->start[k] = e + 1;
    f->row[e] = (int32_t)i;
    f->r[e] = r;
}

static gcor_status run(fixture *f, int threads) {
    unit_call_begin(&f->call, threads);
    return gcor_network_centrality(&f->call.context, &f->network, f->vector, &f->error);
}

static void small_networks_have_known_centralities(void) {
    const double pairs[] = {1, 1, 1, 1, 0};
    fixture *f = fixture_new(5);
    CHECK_INT(run(f, 2), GCOR_OK);
    for (int j = 0; j < 5; j++) CHECK(f->vector[j] == 0);
    add_edge(f, 0, 1, 0.5);
    add_edge(f, 2, 3, -0.5);
    CHECK_INT(run(f, 2), GCOR_OK);
    for (int j = 0; j < 5; j++) CHECK_NEAR(f->vector[j], pairs[j], 1e-12);
    free(f);
    f = fixture_new(STAR); /* a star has two eigenvalues of the largest size */
    for (int j = 1; j < STAR; j++) add_edge(f, 0, j, 0.7);
    CHECK_INT(run(f, 2), GCOR_OK);
    for (int j = 0; j < STAR; j++) CHECK_NEAR(f->vector[j], j ? 1 / sqrt(STAR - 1) : 1, 1e-11);
    free(f);
}

/* Weights are larger among the first half of the variables; with several parts and chunks. */
static fixture *random_network(void) {
    fixture *f = fixture_new(MAX_N);
    unit_seed(3);
    for (int64_t j = 0, e = 0; j < MAX_N; j++) {
        f->start[j] = (int32_t)e;
        for (int64_t i = unit_random(2 * MAX_N / DEGREE); i < j; i += 1 + unit_random(2 * MAX_N / DEGREE)) {
            f->row[e] = (int32_t)i;
            f->r[e++] = (unit_uniform() - 0.5) * (j < MAX_N / 2 ? 2 : 1);
        }
        f->start[j + 1] = (int32_t)e;
    }
    return f;
}

static void vectors_do_not_depend_on_threads(void) {
    fixture *f = random_network();
    double *product = calloc(2 * MAX_N, sizeof *product), *other = product + MAX_N, value = 0;
    CHECK_INT(run(f, 1), GCOR_OK);
    CHECK(f->error <= 1e-12);
    memcpy(other, f->vector, MAX_N * sizeof *other);
    CHECK_INT(run(f, 3), GCOR_OK);
    CHECK(memcmp(other, f->vector, MAX_N * sizeof *other) == 0);
    for (int64_t j = 0; j < MAX_N; j++)
        for (int32_t e = f->start[j]; e < f->start[j + 1]; e++) {
            product[j] += fabs(f->r[e]) * f->vector[f->row[e]];
            product[f->row[e]] += fabs(f->r[e]) * f->vector[j];
        }
    for (int64_t j = 0; j < MAX_N; j++) value = fmax(value, product[j]);
    for (int64_t j = 0; j < MAX_N; j++) CHECK_NEAR(product[j] / value, f->vector[j], 1e-11);
    free(product);
    free(f);
}

static int stop_now(void *unused, double fraction) {
    return 1;
}

static void interrupts_and_failures_leave_nothing(void) {
    fixture *f = random_network();
    int64_t live = gcor_live(GCOR_HOST_MEMORY);
    for (int k = 1; k <= 2; k++) {
        gcor_set_fault(GCOR_HOST_MEMORY, k);
        CHECK_INT(run(f, 2), GCOR_NO_MEMORY);
    }
    gcor_set_fault(GCOR_HOST_MEMORY, 0);
    unit_call_begin(&f->call, 2);
    f->call.monitor = gcor_watch(stop_now, NULL);
    f->call.monitor.last_check = 0;
    CHECK_INT(gcor_network_centrality(&f->call.context, &f->network, f->vector, &f->error), GCOR_INTERRUPTED);
    CHECK_INT(gcor_live(GCOR_HOST_MEMORY), live);
    free(f);
}

const unit_test centrality_tests[] = {
    {"small networks have known centralities", small_networks_have_known_centralities},
    {"eigenvectors do not depend on the number of threads", vectors_do_not_depend_on_threads},
    {"interrupts and failures leave nothing", interrupts_and_failures_leave_nothing},
    {NULL, NULL},
};
