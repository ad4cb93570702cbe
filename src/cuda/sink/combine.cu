/* Many subjects on the device: the exact values of a tile are added up over the subjects. Only the combined
 * coefficients are copied to the host, where all threads deliver them to the other sink; of those only the few that the
 * other sink needs, if it needs few; for the sink that finds the largest weight not even these, and of two subjects
 * most values stay approximate. The numbers equal those of
 * sink/groups/combine.c. */
#include "combine.cuh"
#include "../product/pair.cuh"

/* ---- the kernel -------------------------------------------------------------------------------------- */

enum { ADD_THREADS = 256, ADD_BLOCKS = 4 }; /* blocks for each row of a tile */

/* A coefficient that the other sink may need. The first element of a list has their number as its row. */
struct Needed {
    unsigned long long row, col;
    double r;
};
enum { MAX_NEEDED = 1 << 16 }; /* in a list; of a tile with more all coefficients are copied */

/* A subject's tile, and the sums that it is added to. */
struct Addition : TileValues {
    gcor_combining how;
    double weight, total;
    bool first, last; /* subject: the sums are cleared before the first one and become coefficients after the last */
    double *sums;     /* of the tile's pairs, row by row without gaps */
    double min;       /* size of the coefficients that are needed; missing ones are, too */
    Needed *needed;   /* list; nullptr: none */
};

static __device__ void add_needed(const Addition &a, unsigned long long row, unsigned long long col, double r) {
    if (fabs(r) < a.min) return;
    const unsigned long long found = atomicAdd(&a.needed->row, 1ULL);
    if (found < MAX_NEEDED) a.needed[1 + found] = {row, col, r};
}

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
        if (a.last) sum = ended(a.how, sum, a.total);
        a.sums[at + k] = sum;
        if (a.last && a.needed) add_needed(a, tile.row + i, col + k, sum);
    }
}

/* ---- the sink ----------------------------------------------------------------------------------------- */

struct SumSlot {
    DeviceArray<double> sums;
    PinnedArray<double> host;
    DeviceArray<Needed> needed;
    PinnedArray<Needed> few;
    double min = 0; /* of the coefficients that are listed as needed; 0: none are */
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
            slot.needed.trim();
            slot.few.trim();
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
        const gcor_sink *to = combine()->to;
        slot.min = !maximum() && to->type->min ? to->type->min(to) : 0;
        if (!(slot.min > 0)) return;
        slot.needed.reserve(MAX_NEEDED + 1, "coefficients of a tile");
        slot.few.reserve(MAX_NEEDED + 1, "coefficients of a tile");
        check(cudaMemsetAsync(slot.needed.data, 0, sizeof(Needed), state->compute.handle), "clearing a list");
    }

    void add_subject(const Operand &rows, const Operand &cols, SumSlot &slot) {
        const gcor_combination &rule = *combine()->rule;
        Addition addition{values_in_place(state, rows, cols, slot.tile),
                          rule.how,
                          rule.subjects[subject].weight,
                          rule.total,
                          subject == 0,
                          subject == rule.n - 1,
                          slot.sums.data,
                          slot.min,
                          slot.min > 0 ? slot.needed.data : nullptr};
        dim3 grid((unsigned)slot.tile.n_row, ADD_BLOCKS);
        add_values<<<grid, ADD_THREADS, 0, state->compute.handle>>>(addition);
        check_launch("adding coefficients");
    }

    template <class Value>
    void copy(PinnedArray<Value> &host, const DeviceArray<Value> &values, int64_t n) {
        check(cudaMemcpyAsync(host.data, values.data, (size_t)n * sizeof(Value), cudaMemcpyDeviceToHost,
                              state->copy.handle),
              "copying coefficients");
    }

    void copy_all(SumSlot &slot) {
        slot.host.reserve(pairs_of(slot.tile), "the sums of a tile");
        copy(slot.host, slot.sums, pairs_of(slot.tile));
        slot.copied.record(state->copy);
    }

    /* Starts the copy to the host after the sums are computed. */
    void send(SumSlot &slot) {
        slot.computed.record(state->compute);
        check(cudaStreamWaitEvent(state->copy.handle, slot.computed.handle, 0), "ordering streams");
        if (slot.min > 0) {
            copy(slot.few, slot.needed, MAX_NEEDED + 1);
            slot.copied.record(state->copy);
        } else {
            copy_all(slot);
        }
        slot.full = true;
    }

    gcor_status deliver_few(const SumSlot &slot) {
        gcor_sink *to = combine()->to;
        gcor_status status = gcor_begin_tile(to, state->context, &slot.tile);
        for (unsigned long long k = 1; !status && k <= slot.few.data->row; k++) {
            const Needed &one = slot.few.data[k];
            gcor_segment segment{};
            segment.row = (int64_t)one.row;
            segment.col = (int64_t)one.col;
            segment.n = 1;
            segment.doubles = &one.r;
            status = to->type->take(to, state->context, 0, &segment);
        }
        return status ? status : gcor_end_tile(to, state->context, &slot.tile);
    }

    void deliver(SumSlot &slot) {
        if (!slot.full) return;
        slot.full = false;
        wait_for(state, slot.copied);
        const bool is_few = slot.min > 0 && slot.few.data->row <= MAX_NEEDED;
        if (slot.min > 0 && !is_few) {
            copy_all(slot);
            wait_for(state, slot.copied);
        }
        gcor_status status = is_few
                                 ? deliver_few(slot)
                                 : gcor_take_tile(combine()->to, state->context, &slot.tile, slot.host.data, nullptr);
        if (status) throw Stopped{status};
    }
};

std::unique_ptr<DeviceSink> make_combine(gcor_state *state) {
    return std::unique_ptr<DeviceSink>(new DeviceCombine(state));
}
