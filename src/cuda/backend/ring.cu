/* Tiles on their way to the host: computed on one stream, copied on another into pinned memory,
 * widened and placed by all threads of the processor, three tiles at once. */
#include "cuda.cuh"

#include <sched.h>

void wait_for(gcor_state *state, const Event &event) {
    cudaError_t error;
    while ((error = cudaEventQuery(event.handle)) == cudaErrorNotReady) {
        if (gcor_stop(state->context, 0)) throw Stopped{state->context->error.status};
        sched_yield();
    }
    check(error, "computing");
}

void wait_for_compute(gcor_state *state) {
    state->step.record(state->compute);
    wait_for(state, state->step);
}

static void deliver(gcor_state *state, Slot &slot) {
    if (!slot.full) return;
    slot.full = false;
    wait_for(state, slot.copied);
    const double *doubles = slot.values.doubles ? (const double *)slot.host.data : nullptr;
    const float *floats = slot.values.floats ? (const float *)slot.host.data : nullptr;
    gcor_status status = gcor_take_tile(state->sink, state->context, &slot.values.tile, doubles, floats);
    if (status) throw Stopped{status};
}

static int64_t bytes_of(const Packed &values, bool doubles) {
    return gcor_tile_pairs(&values.tile, values.shape) * (int64_t)(doubles ? sizeof(double) : sizeof(float));
}

Slot &ring_acquire(gcor_state *state, const gcor_tile &tile, bool doubles) {
    Slot &slot = state->ring.slots[state->ring.next];
    state->ring.next = (state->ring.next + 1) % RING_SLOTS;
    deliver(state, slot);
    slot.values = {tile, state->sink->shape, nullptr, nullptr};
    int64_t bytes = bytes_of(slot.values, doubles);
    slot.device.reserve(bytes, "a tile's coefficients");
    slot.host.reserve(bytes, "a tile's coefficients");
    if (doubles)
        slot.values.doubles = (double *)slot.device.data;
    else
        slot.values.floats = (float *)slot.device.data;
    return slot;
}

void ring_submit(gcor_state *state, Slot &slot) {
    int64_t bytes = bytes_of(slot.values, slot.values.doubles != nullptr);
    slot.computed.record(state->compute);
    check(cudaStreamWaitEvent(state->copy.handle, slot.computed.handle, 0), "ordering streams");
    check(cudaMemcpyAsync(slot.host.data, slot.device.data, (size_t)bytes, cudaMemcpyDeviceToHost,
                          state->copy.handle),
          "copying coefficients");
    slot.copied.record(state->copy);
    slot.full = true;
}

void ring_drain(gcor_state *state) {
    for (int k = 0; k < RING_SLOTS; k++) {
        deliver(state, state->ring.slots[state->ring.next]);
        state->ring.next = (state->ring.next + 1) % RING_SLOTS;
    }
}
