/* Several devices: the others complete what fails on one; an error or interrupt ends the run for all. */
#include "check.h"
#include "device.h"
#include "results.h"
#include "system.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

enum { N_OBS = 9, N_X = 260, DEVICES = 3 };

static const char *const function_names[] = {"open", "begin", "prepare", "multiply", "finish"};

typedef struct {
    unit_problem problem;
    const unit_kind *kind;
    unit_data x;
    unit_found alone; /* found by one worker */
} fixture;

static fixture *new_fixture(const char *kind) {
    fixture *f = malloc(sizeof *f);
    gcor_status status;
    unit_seed(11);
    unit_devices_reset();
    f->kind = unit_kind_named(kind);
    f->x = unit_data_new(N_OBS, N_X, UNIT_SPOILT);
    unit_problem_of(&f->problem, &f->x.matrix.source, NULL);
    f->problem.backend = &unit_device;
    f->alone = unit_find(&f->problem, f->kind, &status);
    f->problem.devices = f->problem.threads = DEVICES;
    return f;
}

static void free_fixture(fixture *f) {
    unit_data_free(&f->x);
    free(f->alone.bytes);
    free(f);
}

/* Every device gets some work: they start together and are slow. */
static void set_devices(int n, int pause) {
    unit_devices_reset();
    unit_devices_now.together = n;
    unit_devices_now.pause = pause;
}

static void set_fault(int device, unit_function function, int k, gcor_status status) {
    set_devices(DEVICES, 100);
    unit_devices_now.faults[device] = (unit_fault){function, k, status};
}

/* ---- a device is lost ------------------------------------------------------------------------- */

static void check_lost(fixture *f, int device, unit_function function, int k, gcor_status failure, int pause) {
    char message[64];
    gcor_status status;
    snprintf(message, sizeof message, "device %d: %s fails", device, function_names[function]);
    unit_about("%s, %s, call %d", f->kind->name, message, k);
    set_fault(device, function, k, failure);
    unit_devices_now.pause = pause;
    CHECK_SAME(&f->alone, unit_find(&f->problem, f->kind, &status));
    CHECK_INT(status, GCOR_OK);
    CHECK_INT(f->problem.job.devices_lost, unit_devices_now.failed);
    CHECK_INT(unit_devices_now.open, 0);
    CHECK_INT(f->problem.pairs_done, f->problem.pairs);
    if (unit_devices_now.failed == 0) return;
    CHECK_INT(f->problem.job.lost.status, failure);
    CHECK_TEXT(f->problem.job.lost.message, message);
}

static void one_device_is_lost(void) {
    const char *const kinds[] = {"square", "store of a triangle", "connectivity"};
    const gcor_status failures[] = {GCOR_DEVICE_ERROR, GCOR_NO_DEVICE_MEMORY, GCOR_NO_BACKEND};
    for (int n = 0; n < 3; n++) {
        fixture *f = new_fixture(kinds[n]);
        for (int function = UNIT_OPEN; function < UNIT_FUNCTIONS; function++) {
            int lost = 0;
            for (int device = 0; device < DEVICES; device++)
                for (int k = 1; k < 7; k++) {
                    check_lost(f, device, (unit_function)function, k, failures[(k + device) % 3], 100);
                    lost += f->problem.job.devices_lost;
                }
            CHECK(lost > 0); /* the walk has found failures */
        }
        free_fixture(f);
    }
}

static void one_device_is_left(void) {
    fixture *f = new_fixture("store of a triangle");
    for (int left = 0; left < DEVICES; left++)
        for (int k = 1; k < 5; k++) {
            gcor_status status;
            set_fault((left + 1) % DEVICES, UNIT_MULTIPLY, k, GCOR_DEVICE_ERROR);
            unit_devices_now.faults[(left + 2) % DEVICES] = (unit_fault){UNIT_FINISH, 1, GCOR_NO_DEVICE_MEMORY};
            unit_about("device %d is left, call %d", left, k);
            CHECK_SAME(&f->alone, unit_find(&f->problem, f->kind, &status));
            CHECK_INT(status, GCOR_OK);
            CHECK_INT(f->problem.job.devices_lost, unit_devices_now.failed);
        }
    free_fixture(f);
}

static void no_device_is_left(void) {
    fixture *f = new_fixture("square");
    for (int turn = 0; turn < 2 * DEVICES; turn++)
        for (int function = UNIT_OPEN; function < UNIT_FUNCTIONS; function++) {
            gcor_status status;
            int devices = turn / 2 + 1, is_small = turn % 2;
            set_devices(is_small ? 1 : devices, 100);
            for (int d = 0; d < devices; d++)
                unit_devices_now.faults[d] = (unit_fault){(unit_function)function, 1, GCOR_NO_DEVICE_MEMORY};
            f->problem.shared_steps = is_small ? 1e300 : 1e-9;
            unit_about("%d devices, %s, small %d", devices, function_names[function], is_small);
            f->problem.devices = devices;
            unit_found none = unit_find(&f->problem, f->kind, &status);
            CHECK(!none.bytes);
            CHECK_INT(status, GCOR_NO_DEVICE_MEMORY);
            CHECK_TEXT(f->problem.error.message, function_names[function]);
            CHECK_INT(unit_devices_now.failed, devices);
            CHECK_INT(unit_devices_now.open, 0);
        }
    free_fixture(f);
}

/* A job too small for several devices is done by the first device that does not fail. */
static void a_small_job_is_done_by_another(void) {
    const char *const kinds[] = {"square", "store of a triangle", "connectivity"};
    for (int n = 0; n < 3; n++) {
        fixture *f = new_fixture(kinds[n]);
        f->problem.shared_steps = 1e300;
        for (int function = UNIT_OPEN; function < UNIT_FUNCTIONS; function++)
            for (int lost = 0; lost < DEVICES; lost++) {
                gcor_status status;
                set_devices(1, 0);
                for (int d = 0; d < lost; d++)
                    unit_devices_now.faults[d] = (unit_fault){(unit_function)function, 1, GCOR_DEVICE_ERROR};
                unit_about("%s, %d devices lost by %s", kinds[n], lost, function_names[function]);
                CHECK_SAME(&f->alone, unit_find(&f->problem, f->kind, &status));
                CHECK_INT(status, GCOR_OK);
                CHECK_INT(f->problem.job.devices_lost, lost);
                CHECK_INT(unit_devices_now.calls[lost][UNIT_BEGIN], 1);
                if (lost + 1 < DEVICES) CHECK_INT(unit_devices_now.calls[lost + 1][UNIT_OPEN], 0);
                CHECK_INT(f->problem.pairs_done, f->problem.pairs);
                CHECK_INT(unit_devices_now.open, 0);
            }
        free_fixture(f);
    }
}

/* ---- what ends a run ------------------------------------------------------------------------------ */

static void others_fail(void) {
    const gcor_status failures[] = {GCOR_BAD_INPUT, GCOR_NO_MEMORY, GCOR_TOO_MANY};
    fixture *f = new_fixture("connectivity");
    for (int function = UNIT_OPEN; function < UNIT_FUNCTIONS; function++)
        for (int device = 0; device < DEVICES; device++)
            for (int k = 1; k < 4; k++) {
                gcor_status status;
                set_fault(device, (unit_function)function, k, failures[k % 3]);
                unit_about("device %d, %s, call %d", device, function_names[function], k);
                unit_found found = unit_find(&f->problem, f->kind, &status);
                if (unit_devices_now.failed) CHECK_INT(status, failures[k % 3]);
                if (unit_devices_now.failed) CHECK_TEXT(f->problem.error.message, function_names[function]);
                if (!unit_devices_now.failed) CHECK_SAME(&f->alone, found);
                CHECK_INT(f->problem.job.devices_lost, 0);
                CHECK_INT(unit_devices_now.open, 0);
            }
    free_fixture(f);
}

static struct {
    pthread_t owner;
    int asked, stop_at; /* 0: never */
    double last;
} watch;

static int check(void *user, double fraction) {
    CHECK(pthread_equal(watch.owner, pthread_self()));
    CHECK(fraction >= 0 && fraction <= 1);
    watch.last = fraction;
    return ++watch.asked == watch.stop_at;
}

static int count_tiles(void) {
    int tiles = 0;
    for (int d = 0; d < UNIT_DEVICES; d++) tiles += unit_devices_now.calls[d][UNIT_MULTIPLY];
    return tiles;
}

static void interrupted(void) {
    fixture *f = new_fixture("store of a triangle");
    f->problem.check = check;
    watch.owner = pthread_self();
    for (int devices = 1; devices <= DEVICES; devices++)
        for (int stop_at = 1; stop_at < 3; stop_at++) {
            gcor_status status;
            unit_about("%d devices, the %d. question", devices, stop_at);
            set_devices(devices, 60000);
            watch.asked = 0;
            watch.stop_at = stop_at;
            f->problem.devices = devices;
            unit_found none = unit_find(&f->problem, f->kind, &status);
            CHECK(!none.bytes);
            CHECK_INT(status, GCOR_INTERRUPTED);
            CHECK_INT(f->problem.error.status, GCOR_INTERRUPTED);
            CHECK_INT(watch.asked, stop_at);
            CHECK(count_tiles() < 15); /* all squares have at least the min size */
        }
    free_fixture(f);
}

/* ---- a session after that ------------------------------------------------------------------------- */

static gcor_status run_in(fixture *f, gcor_session *session, int is_right) {
    unit_sink sink;
    CHECK_INT(unit_sink_new(&f->problem, f->kind, &sink), GCOR_OK);
    gcor_status status = unit_run_in(session, &f->problem, sink.sink);
    if (is_right) CHECK_INT(status, GCOR_OK);
    if (is_right) CHECK_SAME(&f->alone, unit_found_in(&f->problem, &sink));
    unit_sink_free(&sink);
    return status;
}

/* A failed run leaves nothing behind for the next one. */
static void sessions_go_on(void) {
    const gcor_status failures[] = {GCOR_DEVICE_ERROR, GCOR_NO_DEVICE_MEMORY, GCOR_BAD_INPUT, GCOR_NO_MEMORY};
    fixture *f = new_fixture("store of a triangle");
    gcor_session *session;
    CHECK_INT(unit_session_open(&f->problem, &session), GCOR_OK);
    for (int devices = 1; devices <= DEVICES; devices += DEVICES - 1)
        for (int function = UNIT_BEGIN; function < UNIT_FUNCTIONS; function++)
            for (int k = 0; k < 4; k++) {
                unit_about("%s fails by status %d", function_names[function], (int)failures[k]);
                set_devices(0, 100);
                unit_devices_now.faults[0] = (unit_fault){(unit_function)function, 2, failures[k]};
                session->n_devices = f->problem.devices = devices;
                (void)run_in(f, session, 0);
                unit_devices_now.faults[0].k = 0;
                run_in(f, session, 1);
                CHECK_INT(f->problem.job.devices_lost, 0);
            }
    session->n_devices = DEVICES;
    gcor_session_close(session);
    free_fixture(f);
}

/* ---- progress ---------------------------------------------------------------------------------------- */

/* The reported progress ends at 1, also if some work was repeated. */
static void progress_is_a_shard(void) {
    fixture *f = new_fixture("store of a triangle");
    f->problem.check = check;
    watch.owner = pthread_self();
    for (int k = 1; k < 7; k++) {
        watch.asked = watch.stop_at = 0;
        check_lost(f, 1, k % 2 ? UNIT_MULTIPLY : UNIT_FINISH, (k + 1) / 2, GCOR_DEVICE_ERROR, 30000);
        CHECK(watch.asked > 0 && watch.last > 0);
    }
    free_fixture(f);
}

/* ---- signals ------------------------------------------------------------------------------------------- */

#if UNIT_HAS_FORK

static int n_workers_calls, n_unblocked;

/* R's handlers use R's memory. */
static void look_at_mask(void) {
    const int signals[] = {SIGINT, SIGUSR1, SIGUSR2, SIGTERM, SIGCHLD, SIGALRM, SIGPIPE};
    sigset_t blocked;
    if (pthread_equal(watch.owner, pthread_self())) return;
    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    __atomic_add_fetch(&n_workers_calls, 1, __ATOMIC_RELAXED);
    for (size_t k = 0; k < sizeof signals / sizeof *signals; k++)
        if (!sigismember(&blocked, signals[k])) __atomic_add_fetch(&n_unblocked, 1, __ATOMIC_RELAXED);
}

static void signals_are_the_callers(void) {
    fixture *f = new_fixture("store of a triangle");
    gcor_status status;
    watch.owner = pthread_self();
    set_devices(DEVICES, 0);
    unit_devices_now.watch = look_at_mask;
    CHECK_SAME(&f->alone, unit_find(&f->problem, f->kind, &status));
    CHECK(n_workers_calls > DEVICES);
    CHECK_INT(n_unblocked, 0);
    free_fixture(f);
}

#else

static void signals_are_the_callers(void) {
    unit_skip("the system has no signals for threads");
}

#endif

const unit_test workers_tests[] = {
    {"what a lost device had is done by the others", one_device_is_lost},
    {"one device that is left does all", one_device_is_left},
    {"a small job is done by the next device", a_small_job_is_done_by_another},
    {"with no device left the run ends with its error", no_device_is_left},
    {"other errors end the run with their message", others_fail},
    {"only the caller is asked whether to stop, and all stop", interrupted},
    {"a session goes on after a run that failed", sessions_go_on},
    {"workers handle no signals", signals_are_the_callers},
    {"progress is between nothing and all", progress_is_a_shard},
    {NULL, NULL},
};
