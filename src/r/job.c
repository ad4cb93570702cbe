/* A run of the engine: R's one entry for computations over pairs, its arguments, its result's first elements, its end;
 * the sessions; and questions about a run before it. */
#include "job.h"

#include "../base/alloc.h"
#include "../configured.h"
#include "../engine/session.h"
#include "../measure/measure.h"

/* ---- back ends ---------------------------------------------------------------------------------- */

#ifndef GPUCOR_CUDA
static int count_none(char *reason, size_t size) {
    snprintf(reason, size, "the package was built without CUDA: %s", GPUCOR_WITHOUT_CUDA);
    return 0;
}

/* It has no devices, so nobody calls the functions that are missing. */
static const gcor_backend gcor_cuda = {.name = "cuda", .count = count_none};
#endif

/* In the order of preference. The table is above all of them, so that none knows another. */
static const gcor_backend *const backends[] = {&gcor_cuda, &gcor_cpu, NULL};

const gcor_backend *gcor_backend_at(int k) {
    int n = (int)(sizeof backends / sizeof *backends);
    return k >= 0 && k < n ? backends[k] : NULL;
}

const gcor_backend *gcor_backend_named(const char *name) {
    int k = 0;
    while (backends[k] && strcmp(backends[k]->name, name) != 0) k++;
    return backends[k];
}

/* ---- what a run is ---------------------------------------------------------------------------------------- */

void r_devices_parse(r_job *q, r_place place) {
    const char *name = CHAR(STRING_ELT(place.backend, 0));
    q->backend = gcor_backend_named(name);
    if (!q->backend || !q->backend->open) r_error("back end \"%s\" is not part of this build", name);
    q->n_devices = (int)Rf_xlength(place.devices);
    if (TYPEOF(place.devices) != INTSXP || q->n_devices < 1 || q->n_devices > GCOR_MAX_DEVICES)
        r_error("there must be 1 to %d devices, not %d", GCOR_MAX_DEVICES, q->n_devices);
    for (int d = 0; d < q->n_devices; d++) q->devices[d] = INTEGER(place.devices)[d];
}

/* The processor takes over for products of the entries of sparse columns (engine/session.h), for pairs that the back
 * end cannot prepare, and for overlaps of measures with a last step, as adjacencies may stay on the device. */
static void use_host(r_job *q) {
    int k = 0;
    if (q->backend->is_host) return;
    while (!gcor_backend_at(k)->is_host) k++;
    q->backend = gcor_backend_at(k);
    q->n_devices = 1;
    q->devices[0] = 0;
}

void r_job_observations(r_job *q, int64_t n_obs) {
    const gcor_combination *all = q->job.combination;
    for (int64_t s = 0; all && s < all->n; s++) n_obs = gcor_max(n_obs, all->subjects[s].x->n_obs);
    const int changes_adjacencies = q->job.overlap && (q->job.measure->last_step != GCOR_AS_PRODUCT || q->job.min_obs);
    if (q->job.measure->kind == GCOR_GIVEN || gcor_has_long_distances(q->job.measure, n_obs) || changes_adjacencies)
        use_host(q);
}

static int prepares_pairs(const r_job *q, const gcor_design *design) {
    gcor_kind kind = gcor_common_kind(q->job.measure, design);
    if (kind != GCOR_PAIR_COMMON && kind != GCOR_BINNED_COMMON && kind != GCOR_DISTANCE_COMMON) return 1;
    return !q->backend->has_single_pairs || q->backend->has_single_pairs(q->job.measure, design);
}

static int prepares_all_pairs(const r_job *q) {
    const gcor_combination *all = q->job.combination;
    for (int64_t s = 0; all && s < all->n; s++)
        if (!prepares_pairs(q, all->subjects[s].design)) return 0;
    return prepares_pairs(q, q->job.design);
}

const gcor_measure *r_measure(SEXP method) {
    const char *name = TYPEOF(method) == STRSXP && Rf_xlength(method) == 1 ? CHAR(STRING_ELT(method, 0)) : "";
    int k = 0;
    while (gcor_measure_at(k) && strcmp(gcor_measure_at(k)->name, name) != 0) k++;
    if (!gcor_measure_at(k)) r_error("there is no measure \"%s\"", name);
    return gcor_measure_at(k);
}

static void parse(r_job *q, SEXP list) {
    const r_run_elements run = r_run_of(list);
    const int many = r_is_subjects(run.x), has_y = !Rf_isNull(run.y);
    *q = (r_job){.data = run.x, .is_distance = Rf_asLogical(run.distance), .place = r_place_of(run.place)};
    if (many) {
        r_subjects_parse(q, run.x, run.y);
    } else {
        q->x = r_source_of(run.x);
        if (has_y) q->y = r_source_of(run.y);
    }
    const int64_t n_row = (has_y ? &q->y : &q->x)->source.n_var;
    r_devices_parse(q, q->place);
    q->part = r_part_parse(q->place);
    q->job = (gcor_job){.x = &q->x.source,
                        .y = has_y ? &q->y.source : NULL,
                        .measure = r_measure(run.method),
                        .combination = many ? &q->combination : NULL,
                        .in_double = Rf_asLogical(run.in_double),
                        .use = (gcor_use)Rf_asInteger(run.use),
                        .min_obs = (int64_t)Rf_asReal(run.min_obs),
                        .shard = q->part.shard,
                        .pairs = r_pairs_parse(&q->pairs, run.mask, n_row, q->x.source.n_var, has_y),
                        .overlap = r_overlap_parse(&q->overlap, run.overlap)};
    if (!Rf_isNull(run.design)) {
        q->design = r_design_parse(run.design, q->job.x->n_obs);
        q->job.design = &q->design;
        q->df = r_df_parse(run.design);
    }
    q->has_information = r_information_parse(&q->information, run.information);
    if (q->job.use == GCOR_PAIRWISE && !prepares_all_pairs(q)) use_host(q);
    r_call_parse(&q->call, run.place);
}

static SEXP allocate_flags(const gcor_source *source) {
    SEXP flags = Rf_allocVector(RAWSXP, source ? source->n_var : 0);
    if (Rf_xlength(flags) > 0) memset(RAW(flags), 0, (size_t)Rf_xlength(flags));
    return flags;
}

/* Returns a list of these names. */
static SEXP new_result(r_job *q, const char **names) {
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    if (strcmp(names[1], "x_flags") == 0) {
        SET_VECTOR_ELT(result, 0, Rf_allocVector(REALSXP, 1));
        SET_VECTOR_ELT(result, 1, allocate_flags(q->job.x));
        SET_VECTOR_ELT(result, 2, allocate_flags(q->job.y));
        q->job.x_flags = RAW(VECTOR_ELT(result, 1));
        q->job.y_flags = RAW(VECTOR_ELT(result, 2));
        r_part_flags(q, result);
    }
    UNPROTECT(1);
    return result;
}

static double last_stages[4];

/* For benchmarks: seconds that the last run prepared, multiplied and delivered, and took in all; and the max bytes of
 * device memory. */
SEXP r_stages(void) {
    SEXP result = Rf_allocVector(REALSXP, 4);
    for (int k = 0; k < 4; k++) REAL(result)[k] = last_stages[k];
    return result;
}

gcor_status r_job_run(r_job *q, gcor_sink *sink, SEXP result) {
    gcor_context *context = &q->call.context;
    gcor_session *session;
    double started = gcor_seconds();
    (void)gcor_device_peak(1);
    q->job.sink = sink;
    if (q->has_information) {
        q->information = gcor_information_of(sink, q->job.in_double, q->information.mean, q->information.unit);
        q->job.sink = &q->information.sink;
    }
    r_job_observations(q, q->job.x->n_obs);
    if (q->job.combination) r_subjects_memory(q);
    if (gcor_is_sparse(&q->job) && q->job.measure->kind == GCOR_REAL) use_host(q);
    gcor_status status = r_session(context, q->backend, q->devices, q->n_devices, &session);
    if (!status) status = r_part_run(q, session, sink);
    r_session_end(q->backend, status);
    last_stages[0] = context->seconds_preparing;
    last_stages[1] = context->seconds_multiplying;
    last_stages[2] = gcor_seconds() - started;
    last_stages[3] = (double)gcor_device_peak(0);
    /* Those of coefficients that one has are unknown. */
    REAL(VECTOR_ELT(result, 0))[0] = q->job.measure->kind == GCOR_GIVEN ? NA_REAL : (double)q->job.n_obs_used;
    return status;
}

SEXP r_job_end(r_job *q, gcor_status status, SEXP result) {
    r_progress_end(&q->call.progress);
    if (status) return r_failure(&q->call.context.error);
    if (q->job.devices_lost > 0) Rf_setAttrib(result, Rf_install("lost"), Rf_mkString(q->job.lost.message));
    return result;
}

gcor_observations r_counted(SEXP observations) {
    SEXP observed = r_element(observations, "observed");
    return (gcor_observations){Rf_isNull(observed) ? NULL : INTEGER(observed),
                               (int64_t)Rf_asReal(r_element(observations, "n_obs")),
                               Rf_asLogical(r_element(observations, "common"))};
}

/* ---- computations ----------------------------------------------------------------------------- */

#define ROW(name, n_arguments, ...) {#name, n_arguments, r_##name, {__VA_ARGS__, ""}},
static const struct {
    const char *name;
    int n_arguments;
    r_computation *compute;
    const char *results[9]; /* at most 8, and "" */
} table[] = {R_COMPUTATIONS(ROW)};

/* Returns the result of the computation of that name (call.h). run: its x and y are as r_source_of() takes them, or
 * several subjects (R/data-subjects.R), use is a gcor_use; rules.c and shard.c document mask, overlap, design,
 * information and the place's shard, save and parts. arguments: a list of the computation's own. */
SEXP r_run(SEXP name, SEXP run, SEXP arguments) {
    int n = (int)(sizeof table / sizeof *table), k = 0;
    r_job q;
    while (k < n && strcmp(table[k].name, CHAR(STRING_ELT(name, 0))) != 0) k++;
    if (k == n) r_error("there is no computation \"%s\"", CHAR(STRING_ELT(name, 0)));
    const SEXP *own = r_arguments(arguments, table[k].n_arguments);
    parse(&q, run);
    SEXP result = PROTECT(new_result(&q, (const char **)table[k].results));
    result = r_job_end(&q, table[k].compute(&q, own, result), result);
    UNPROTECT(1);
    return result;
}

/* ---- sessions ----------------------------------------------------------------------------------- */

/* The open sessions of this process, one for each back end. */

enum { MAX_BACKENDS = 8 };

static struct {
    const gcor_backend *backend;
    gcor_session *session;
} kept[MAX_BACKENDS];

static double shared_steps;

static int slot_of(const gcor_backend *backend) {
    int k = 0;
    while (k < MAX_BACKENDS - 1 && kept[k].backend && kept[k].backend != backend) k++;
    return k;
}

static int has_devices(const gcor_session *session, const int *devices, int n_devices) {
    if (!session || session->n_devices != n_devices) return 0;
    for (int d = 0; d < n_devices; d++)
        if (session->devices[d] != devices[d]) return 0;
    return 1;
}

static void close_at(int k) {
    gcor_session_close(kept[k].session);
    kept[k].session = NULL;
}

gcor_status r_session(gcor_context *context, const gcor_backend *backend, const int *devices, int n_devices,
                      gcor_session **session) {
    int k = slot_of(backend);
    gcor_status status = GCOR_OK;
    if (kept[k].backend != backend || !has_devices(kept[k].session, devices, n_devices)) {
        close_at(k);
        kept[k].backend = backend;
        status = gcor_session_open(context, backend, devices, n_devices, &kept[k].session);
    }
    *session = kept[k].session;
    if (*session) (*session)->shared_steps = shared_steps;
    return status;
}

void r_session_end(const gcor_backend *backend, gcor_status status) {
    if (status == GCOR_DEVICE_ERROR) close_at(slot_of(backend));
}

void r_close_sessions(void) {
    for (int k = 0; k < MAX_BACKENDS; k++) close_at(k);
}

/* For tests: the min number of steps of a run that several devices share; 0: the default. */
SEXP r_set_shared_steps(SEXP steps) {
    shared_steps = Rf_asReal(steps);
    return R_NilValue;
}

/* ---- questions before a run --------------------------------------------------------------------- */

/* Returns list(n_obs: the number of selected observations, common: TRUE if each pair uses its pairwise-complete
 * observations, observed: the indices of the selected observations, or NULL for the first n_obs), for r_counted(). */
gcor_status r_observations(r_job *q, const SEXP *arguments, SEXP result) {
    gcor_observations observations;
    SEXP observed = PROTECT(Rf_allocVector(INTSXP, q->job.x->n_obs));
    gcor_status status = gcor_observations_of(&q->call.context, &q->job, &observations);
    if (!status && observations.observed) {
        memcpy(INTEGER(observed), observations.observed, (size_t)observations.n_obs * sizeof(int));
        gcor_free(observations.observed);
        SET_VECTOR_ELT(result, 2, observed);
    }
    if (!status) {
        double n_obs = (double)gcor_observations_in(q->job.measure, observations.n_obs);
        SET_VECTOR_ELT(result, 0, Rf_ScalarReal(n_obs));
        SET_VECTOR_ELT(result, 1, Rf_ScalarLogical(observations.common));
    }
    UNPROTECT(1);
    return status;
}

/* Returns list(columns, memory): how many columns the place's shard would read, and how many bytes it would hold. */
gcor_status r_needs(r_job *q, const SEXP *arguments, SEXP result) {
    double *columns = r_new_doubles(result, 0, 1), *memory = r_new_doubles(result, 1, 1);
    gcor_session *session;
    gcor_needs needs;
    r_job_observations(q, q->job.x->n_obs);
    gcor_status status = r_session(&q->call.context, q->backend, q->devices, q->n_devices, &session);
    if (!status) status = gcor_needs_of(session, &q->call.context, &q->job, &needs);
    if (status) return status;
    *columns = (double)needs.columns;
    *memory = (double)needs.bytes;
    return GCOR_OK;
}
