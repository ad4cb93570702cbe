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
    if (!slot.sink) return;
    gcor_sink *sink = slot.sink;
    slot.sink = nullptr;
    wait_for(state, slot.copied);
    const double *doubles = slot.doubles ? (const double *)slot.host.data : nullptr;
    const float *floats = slot.doubles ? nullptr : (const float *)slot.host.data;
    gcor_status status = gcor_take_tile(sink, state->context, &slot.tile, doubles, floats);
    if (status) throw Stopped{status};
}

static int64_t packed_bytes(const gcor_tile &tile, gcor_shape shape, bool doubles) {
    return gcor_tile_pairs(&tile, shape) * (int64_t)(doubles ? sizeof(double) : sizeof(float));
}

Slot &ring_acquire(gcor_state *state, const gcor_tile &tile, gcor_sink *sink, bool doubles) {
    Slot &slot = state->ring.slots[state->ring.next];
    state->ring.next = (state->ring.next + 1) % RING_SLOTS;
    deliver(state, slot);
    int64_t bytes = packed_bytes(tile, sink->shape, doubles);
    slot.device.reserve(bytes, "a tile's coefficients");
    slot.host.reserve(bytes, "a tile's coefficients");
    slot.tile = tile;
    slot.doubles = doubles;
    slot.sink = sink;
    return slot;
}

void ring_submit(gcor_state *state, Slot &slot) {
    int64_t bytes = packed_bytes(slot.tile, slot.sink->shape, slot.doubles);
    slot.computed.record(state->compute);
    check(cudaStreamWaitEvent(state->copy.handle, slot.computed.handle, 0), "ordering streams");
    check(cudaMemcpyAsync(slot.host.data, slot.device.data, (size_t)bytes, cudaMemcpyDeviceToHost,
                          state->copy.handle),
          "copying coefficients");
    slot.copied.record(state->copy);
}

void ring_drain(gcor_state *state) {
    for (int k = 0; k < RING_SLOTS; k++) {
        deliver(state, state->ring.slots[state->ring.next]);
        state->ring.next = (state->ring.next + 1) % RING_SLOTS;
    }
}
