/* Many subjects on the device: the exact values of a tile are added up over the subjects. Only the combined
 * coefficients are copied to the host, where all threads deliver them to the other sink; for the sink that finds the
 * largest weight not even these, and of two subjects most values stay approximate. The numbers equal those of
 * sink/combine.c. */
#include "combine.cuh"
#include "../product/pair.cuh"

/* ---- the kernel -------------------------------------------------------------------------------------- */

enum { ADD_THREADS = 256, ADD_BLOCKS = 4 }; /* blocks for each row of a tile */

/* A subject's tile, and the sums that it is added to. */
struct Addition : TileValues {
    gcor_combining how;
    double weight, total;
    bool first, last; /* subject: the sums are cleared before the first one and become coefficients after the last */
    double *sums;     /* of the tile's pairs, row by row without gaps */
};

/* Block (i, b) adds pairs of the tile's row i. */
static __global__ void __launch_bounds__(ADD_THREADS) add_values(const __grid_constant__ Addition a) {
    const gcor_tile &tile = a.values.tile;
    const double start = a.how == GCOR_MIN ? GCOR_NO_VALUE : 0;
    int64_t i = blockIdx.x, col, n, at = gcor_tile_offset(&tile, a.values.shape, tile.row + i);
    gcor_tile_segment(&tile, a.values.shape, tile.row + i, &col, &n);
    for (int64_t k = blockIdx.y * ADD_THREADS + threadIdx.x; k < n; k += ADD_BLOCKS * ADD_THREADS) {
        double value = a.values.counts ? a.values.counts[at + k] : a.values.doubles[at + k];
        double r = exact_value(a, value, i, col - tile.col + k);
        double sum = added(a.how, a.first ? start : a.sums[at + k], r, a.weight);
        a.sums[at + k] = a.last ? ended(a.how, sum, a.total) : sum;
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
        largest.begin();
        subject = 0;
        rules_out = state->sink->approximate && maximum() && LargestOfTwo::can_combine(*combine()->rule);
        return {rules_out, rules_out};
    }

    void multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) override {
        const gcor_combination &rule = *combine()->rule;
        if (subject == 0) is_ruled = rules_out && state->sink->approximate && rows.head.n_obs <= MAXIMUM_HALF_OBS;
        if (is_ruled) {
            two.multiply(state, rule, subject, rows, cols, tile, maximum()->side, largest.on_device(state));
            subject = (subject + 1) % rule.n;
            return;
        }
        if (subject == 0) begin_tile(tile);
        SumSlot &slot = slots[now];
        add_subject(rows, cols, slot);
        if (++subject < rule.n) return;
        subject = 0;
        if (maximum())
            largest.search(state, {tile, state->sink->shape, slot.sums.data}, maximum()->side);
        else
            send(slot);
    }

    /* An unfinished tile keeps its sums, and its operands are no longer in use. */
    void finish() override {
        for (int k = 1; k <= RING_SLOTS; k++) deliver(slots[(now + k) % RING_SLOTS]);
        wait_for_compute(state);
        if (maximum()) largest.deliver(state, maximum());
    }

    void trim() override {
        for (SumSlot &slot : slots) {
            slot.sums.trim();
            slot.host.trim();
        }
        two.trim();
    }

  private:
    SumSlot slots[RING_SLOTS];
    DeviceLargest largest;
    LargestOfTwo two;
    bool rules_out = false, is_ruled = false; /* `two` may do the work; it does the work of the current tile */
    int now = 0;                              /* slot of the current tile */
    int64_t subject = 0;                      /* index of the next subject */

    gcor_combine *combine() const { return (gcor_combine *)state->sink; }

    int64_t pairs_of(const gcor_tile &tile) const { return gcor_tile_pairs(&tile, state->sink->shape); }

    /* The other sink, if it finds the largest weight; otherwise NULL. */
    gcor_maximum *maximum() const {
        gcor_sink *to = combine()->to;
        return to->type->role == GCOR_MAXIMUM ? (gcor_maximum *)to : nullptr;
    }

    void begin_tile(const gcor_tile &tile) {
        now = (now + 1) % RING_SLOTS;
        SumSlot &slot = slots[now];
        deliver(slot);
        slot.tile = tile;
        slot.sums.reserve(pairs_of(tile), "the sums of a tile");
        if (!maximum()) slot.host.reserve(pairs_of(tile), "the sums of a tile");
    }

    void add_subject(const Operand &rows, const Operand &cols, SumSlot &slot) {
        const gcor_combination &rule = *combine()->rule;
        Addition addition{values_in_place(state, rows, cols, slot.tile),
                          rule.how,
                          rule.subjects[subject].weight,
                          rule.total,
                          subject == 0,
                          subject == rule.n - 1,
                          slot.sums.data};
        dim3 grid((unsigned)slot.tile.n_row, ADD_BLOCKS);
        add_values<<<grid, ADD_THREADS, 0, state->compute.handle>>>(addition);
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
