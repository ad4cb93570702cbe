/* Many subjects on the device: the exact values of a tile are added up over the subjects, and only the combined
 * coefficients are copied to the host, where all threads deliver them to the other sink. The numbers equal those of
 * sink/combine.c. */
#include "sinks.cuh"
#include "../../base/artanh.h"
#include "../../sink/combine.h"

/* ---- kernels ----------------------------------------------------------------------------------------- */

enum { ADD_THREADS = 256, ADD_BLOCKS = 16 }; /* blocks per processor */

static __device__ inline double added(gcor_combining how, double sum, double value, double w) {
    if (value <= 1) {
        if (how == GCOR_MIN) return value < sum ? value : sum;
        return sum + w * (how == GCOR_FISHER ? gcor_artanh(value) : value);
    }
    if (value != value) return value;
    double none = value == GCOR_ZERO_SD ? GCOR_SUM_ZERO_SD : GCOR_SUM_NO_VALUE;
    if (how == GCOR_MIN) return sum > -none ? -none : sum;
    return sum + none;
}

template <class T>
static __global__ void add_values(double *sum, const T *value, int64_t n, gcor_combining how, double w, bool first) {
    const double start = how == GCOR_MIN ? GCOR_NO_VALUE : 0;
    for (int64_t k = blockIdx.x * (int64_t)ADD_THREADS + threadIdx.x; k < n; k += gridDim.x * (int64_t)ADD_THREADS)
        sum[k] = added(how, first ? start : sum[k], (double)value[k], w);
}

static __global__ void end_sums(double *sum, int64_t n, gcor_combining how, double total) {
    const double scale = how == GCOR_MIN ? 1 : fabs(total);
    for (int64_t k = blockIdx.x * (int64_t)ADD_THREADS + threadIdx.x; k < n; k += gridDim.x * (int64_t)ADD_THREADS) {
        double r = how == GCOR_MIN ? sum[k] : sum[k] / total, size = fabs(r) * scale;
        if (size > GCOR_SUM_NO_VALUE / 2)
            r = size > GCOR_SUM_ZERO_SD / 2 ? GCOR_ZERO_SD : GCOR_NO_VALUE;
        else if (how == GCOR_FISHER)
            r = gcor_tanh(r);
        sum[k] = r;
    }
}

/* ---- the sink ----------------------------------------------------------------------------------------- */

struct SumSlot {
    DeviceArray<double> sums;
    PinnedArray<double> host;
    Event computed, copied;
    gcor_tile tile{};
    bool full = false; /* has all subjects; its copy to the host has been started */
};

class DeviceCombine : public DeviceSink {
  public:
    using DeviceSink::DeviceSink;

    SinkNeeds begin() override {
        for (SumSlot &slot : slots) slot.full = false;
        subject = 0;
        return {false, false};
    }

    void multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) override {
        const gcor_combination &rule = *combine()->rule;
        if (subject == 0) begin_tile(tile);
        SumSlot &slot = slots[now];
        add_subject(rows, cols, slot, rule.subjects[subject].weight);
        if (++subject < rule.n) return;
        subject = 0;
        end_sums<<<blocks(), ADD_THREADS, 0, state->compute.handle>>>(slot.sums.data, pairs_of(tile), rule.how,
                                                                      rule.total);
        check_launch("combining coefficients");
        send(slot);
    }

    /* An unfinished tile keeps its sums, and its operands are no longer in use. */
    void finish() override {
        for (int k = 1; k <= RING_SLOTS; k++) deliver(slots[(now + k) % RING_SLOTS]);
        wait_for_compute(state);
    }

    void trim() override {
        values.trim();
        for (SumSlot &slot : slots) {
            slot.sums.trim();
            slot.host.trim();
        }
    }

  private:
    SumSlot slots[RING_SLOTS];
    DeviceArray<double> values; /* of one subject: doubles, or floats in the first half */
    int now = 0;                /* slot of the current tile */
    int64_t subject = 0;        /* index of the next subject */

    gcor_combine *combine() const { return (gcor_combine *)state->sink; }

    int64_t pairs_of(const gcor_tile &tile) const { return gcor_tile_pairs(&tile, state->sink->shape); }

    unsigned blocks() const { return (unsigned)(ADD_BLOCKS * state->processors); }

    void begin_tile(const gcor_tile &tile) {
        now = (now + 1) % RING_SLOTS;
        SumSlot &slot = slots[now];
        deliver(slot);
        slot.tile = tile;
        slot.sums.reserve(pairs_of(tile), "the sums of a tile");
        slot.host.reserve(pairs_of(tile), "the sums of a tile");
        if (values.capacity < pairs_of(tile)) wait_for_compute(state); /* growing frees memory that may be in use */
        values.reserve(pairs_of(tile), "a tile's coefficients");
    }

    void add_subject(const Operand &rows, const Operand &cols, SumSlot &slot, double weight) {
        const gcor_combination &rule = *combine()->rule;
        bool floats = rows.head.kind == GCOR_REAL;
        int64_t n = pairs_of(slot.tile);
        Packed out{slot.tile, state->sink->shape, floats ? nullptr : values.data,
                   floats ? (float *)values.data : nullptr};
        exact_tile(state, rows, cols, out);
        if (floats)
            add_values<<<blocks(), ADD_THREADS, 0, state->compute.handle>>>(slot.sums.data, out.floats, n, rule.how,
                                                                            weight, subject == 0);
        else
            add_values<<<blocks(), ADD_THREADS, 0, state->compute.handle>>>(slot.sums.data, out.doubles, n, rule.how,
                                                                            weight, subject == 0);
        check_launch("adding coefficients");
    }

    /* Starts the copy to the host after the sums are computed. */
    void send(SumSlot &slot) {
        size_t bytes = (size_t)pairs_of(slot.tile) * sizeof(double);
        slot.computed.record(state->compute);
        check(cudaStreamWaitEvent(state->copy.handle, slot.computed.handle, 0), "ordering streams");
        check(cudaMemcpyAsync(slot.host.data, slot.sums.data, bytes, cudaMemcpyDeviceToHost, state->copy.handle),
              "copying coefficients");
        slot.copied.record(state->copy);
        slot.full = true;
    }

    void deliver(SumSlot &slot) {
        if (!slot.full) return;
        slot.full = false;
        wait_for(state, slot.copied);
        gcor_status status = gcor_take_tile(combine()->to, state->context, &slot.tile, slot.host.data, nullptr);
        if (status) throw Stopped{status};
    }
};

std::unique_ptr<DeviceSink> make_combine(gcor_state *state) {
    return std::unique_ptr<DeviceSink>(new DeviceCombine(state));
}
