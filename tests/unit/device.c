#include "device.h"

#include "check.h"

#include <stdlib.h>
#include <unistd.h>

unit_devices unit_devices_now;

void unit_devices_reset(void) {
    unit_devices_now = (unit_devices){0};
}

typedef struct {
    const gcor_operand *rows, *cols;
    gcor_tile tile;
} late_tile;

/* Tiles that are computed but not delivered yet. */
enum { MAX_LATE = 3 };
typedef struct {
    gcor_state *inner; /* the CPU's */
    gcor_context *context;
    int number, is_broken, n_late;
    late_tile late[MAX_LATE];
} device;

static device *device_of(const gcor_state *state) {
    return (device *)(uintptr_t)state;
}

/* Waits until unit_devices_now.together calls of a function are counted. */
static void gather(unit_function function) {
    for (int counted = 0; counted < unit_devices_now.together; usleep(50)) {
        counted = 0;
        for (int d = 0; d < UNIT_DEVICES; d++)
            counted += __atomic_load_n(&unit_devices_now.calls[d][function], __ATOMIC_RELAXED);
    }
}

/* Counts a call, and makes it fail if requested. */
static gcor_status call(device *d, gcor_context *context, unit_function function) {
    static const char *const names[] = {"open", "begin", "prepare", "multiply", "finish"};
    const unit_fault *fault = &unit_devices_now.faults[d->number];
    int k = __atomic_add_fetch(&unit_devices_now.calls[d->number][function], 1, __ATOMIC_RELAXED);
    if (unit_devices_now.watch) unit_devices_now.watch();
    if (function == unit_devices_now.at) gather(function);
    if (!d->is_broken && (fault->k == 0 || fault->function != function || fault->k != k)) return GCOR_OK;
    if (!d->is_broken) __atomic_add_fetch(&unit_devices_now.failed, 1, __ATOMIC_RELAXED);
    d->is_broken = fault->status == GCOR_DEVICE_ERROR || fault->status == GCOR_NO_DEVICE_MEMORY;
    return gcor_fail(context, fault->status, "device %d: %s fails", d->number, names[function]);
}

static gcor_status open_device(gcor_context *context, int number, gcor_state **state) {
    device *fresh = calloc(1, sizeof *fresh);
    *state = NULL;
    fresh->number = number;
    gcor_status status = call(fresh, context, UNIT_OPEN);
    if (!status) status = gcor_cpu.open(context, number, &fresh->inner);
    if (status)
        free(fresh);
    else
        *state = (gcor_state *)fresh;
    if (!status) __atomic_add_fetch(&unit_devices_now.open, 1, __ATOMIC_RELAXED);
    return status;
}

static void close_device(gcor_state *state) {
    if (!state) return;
    gcor_cpu.close(device_of(state)->inner);
    free(state);
    __atomic_sub_fetch(&unit_devices_now.open, 1, __ATOMIC_RELAXED);
}

static gcor_status begin(gcor_state *state, gcor_context *context, gcor_sink *sink, gcor_kind kind) {
    device *d = device_of(state);
    d->context = context;
    gcor_status status = call(d, context, UNIT_BEGIN);
    return status ? status : gcor_cpu.begin(d->inner, context, sink, kind);
}

static void end(gcor_state *state) {
    device_of(state)->n_late = 0;
    gcor_cpu.end(device_of(state)->inner);
}

static int64_t memory(const gcor_state *state) {
    return gcor_cpu.memory(device_of(state)->inner);
}

static int64_t column_bytes(const gcor_state *state, gcor_kind kind, int64_t n_obs) {
    return gcor_cpu.column_bytes(device_of(state)->inner, kind, n_obs);
}

/* 64 x 64, 32 x 64, 128 x 128, 64 x 128, ... */
static void tile_size(const gcor_state *state, gcor_kind kind, int64_t n_obs, int64_t *n_row, int64_t *n_col) {
    int number = device_of(state)->number;
    *n_col = number / 2 % 2 ? 128 : 64;
    *n_row = number % 2 ? *n_col / 2 : *n_col;
}

static gcor_status prepare(gcor_state *state, const gcor_columns *columns, const gcor_measure *measure, gcor_kind kind,
                           int64_t first, int64_t n_var, gcor_operand **operand) {
    device *d = device_of(state);
    *operand = NULL;
    gcor_status status = call(d, d->context, UNIT_PREPARE);
    return status ? status : gcor_cpu.prepare(d->inner, columns, measure, kind, first, n_var, operand);
}

/* An operand must remain until its tiles are delivered, unless the run has failed. */
static void release(gcor_state *state, gcor_operand *operand) {
    device *d = device_of(state);
    for (int k = 0; k < d->n_late && !d->context->error.status; k++)
        CHECK(d->late[k].rows != operand && d->late[k].cols != operand);
    gcor_cpu.release(d->inner, operand);
}

static gcor_status deliver(device *d) {
    gcor_status status = GCOR_OK;
    for (int k = 0; !status && k < d->n_late; k++)
        status = gcor_cpu.multiply(d->inner, d->late[k].rows, d->late[k].cols, &d->late[k].tile);
    d->n_late = 0;
    return status;
}

static gcor_status multiply(gcor_state *state, const gcor_operand *rows, const gcor_operand *cols,
                            const gcor_tile *tile) {
    device *d = device_of(state);
    gcor_status status = call(d, d->context, UNIT_MULTIPLY);
    if (unit_devices_now.pause > 0) usleep((useconds_t)unit_devices_now.pause);
    if (!status && d->n_late == MAX_LATE) status = deliver(d);
    if (!status) d->late[d->n_late++] = (late_tile){rows, cols, *tile};
    return status;
}

static gcor_status finish(gcor_state *state) {
    device *d = device_of(state);
    gcor_status status = call(d, d->context, UNIT_FINISH);
    if (!status) status = deliver(d);
    return status ? status : gcor_cpu.finish(d->inner);
}

const gcor_backend unit_device = {
    .name = "device",
    .open = open_device,
    .close = close_device,
    .begin = begin,
    .end = end,
    .memory = memory,
    .column_bytes = column_bytes,
    .tile_size = tile_size,
    .prepare = prepare,
    .release = release,
    .multiply = multiply,
    .finish = finish,
};
