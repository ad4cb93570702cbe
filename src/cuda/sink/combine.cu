/* Sinks that change the coefficients of a tile, in doubles on the device, and pass them on to the device half of the
 * next sink. The numbers are those of sink/groups/combine.c and engine/between.c. */
#include "combine.cuh"
#include "../product/pair.cuh"
#include "../../engine/between.h"

enum { ADD_THREADS = 256, ADD_BLOCKS = 4 }; /* blocks for each row of a tile */

/* Calls change(at, i, j) for the tile's pairs (i, j), of which `at` is the index in memory. Block (i, b) has pairs of
 * row i. */
template <class Change>
static __device__ inline void for_each_pair(const Packed &values, Change change) {
    const gcor_tile &tile = values.tile;
    int64_t i = blockIdx.x, col, n, at = gcor_tile_offset(&tile, values.shape, tile.row + i);
    gcor_tile_segment(&tile, values.shape, tile.row + i, &col, &n);
    for (int64_t k = blockIdx.y * ADD_THREADS + threadIdx.x; k < n; k += ADD_BLOCKS * ADD_THREADS)
        change(at + k, i, col - tile.col + k);
}

static dim3 grid_of(const gcor_tile &tile) {
    return dim3((unsigned)tile.n_row, ADD_BLOCKS);
}

/* A sink that passes on what it takes from a product, or from a sink before it. */
class PassingSink : public DeviceSink {
  public:
    using DeviceSink::DeviceSink;
    void multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) override {
        change(values_in_place(state, rows, cols, tile));
    }
    void take(const Packed &values) override { change({values}); }
    void finish() override { next->finish(); }
    void trim() override {
        if (next) next->trim();
    }

  protected:
    DeviceSink *next = nullptr;

    /* Changes a tile's coefficients, which it may overwrite, and passes them on. */
    virtual void change(const TileValues &tile) = 0;
    SinkNeeds begin_next(gcor_sink *to) {
        next = device_sink_for(state, to, made);
        SinkNeeds needs{false, false};
        needs.edges = next->begin_run(to).edges;
        needs.rows = PASSED_ROWS;
        return needs;
    }

  private:
    DeviceSinks made;
};

/* ---- many subjects ------------------------------------------------------------------------------------ */

/* A subject's tile, and the sums that it is added to. */
struct Addition : TileValues {
    gcor_combining how;
    double weight, total;
    bool first, last; /* subject: the sums are cleared before the first one and become coefficients after the last */
    double *sums;     /* of the tile's pairs, row by row without gaps */
};

static __global__ void __launch_bounds__(ADD_THREADS) add_values(const __grid_constant__ Addition a) {
    const double start = a.how == GCOR_MIN ? GCOR_NO_VALUE : 0;
    for_each_pair(a.values, [&](int64_t at, int64_t i, int64_t j) {
        double value = a.values.counts ? a.values.counts[at] : a.values.doubles[at];
        double sum = added(a.how, a.first ? start : a.sums[at], exact_value(a, value, i, j), a.weight);
        a.sums[at] = a.last ? ended(a.how, sum, a.total) : sum;
    });
}

/* The exact values of a tile are added up over the subjects. For the sink that finds the largest weight, most values of
 * two subjects stay approximate. */
class DeviceCombine : public PassingSink {
  public:
    using PassingSink::PassingSink;

    SinkNeeds begin() override {
        const gcor_sink *to = combine()->to;
        subject = 0;
        rules_out = sink->approximate && to->type->role == GCOR_MAXIMUM && LargestOfTwo::can_combine(rule());
        SinkNeeds needs = begin_next(combine()->to);
        needs.approx = needs.large_tiles = rules_out;
        return needs;
    }

    void multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) override {
        if (subject == 0) is_ruled = rules_out && sink->approximate && rows.head.n_obs <= MAXIMUM_HALF_OBS;
        if (!is_ruled) return PassingSink::multiply(rows, cols, tile);
        DeviceMaximum *maximum = static_cast<DeviceMaximum *>(next);
        two.multiply(state, rule(), subject, rows, cols, tile, maximum->maximum()->side, maximum->largest());
        subject = (subject + 1) % rule().n;
    }

    void trim() override {
        PassingSink::trim();
        sums.trim();
        two.trim();
    }

  private:
    DeviceArray<double> sums; /* of the current tile */
    LargestOfTwo two;
    bool rules_out = false, is_ruled = false; /* `two` may do the work; it does the work of the current tile */
    int64_t subject = 0;                      /* index of the next subject */

    gcor_combine *combine() const { return (gcor_combine *)sink; }
    const gcor_combination &rule() const { return *combine()->rule; }

    void change(const TileValues &tile) override {
        const bool is_last = subject == rule().n - 1;
        sums.reserve(gcor_tile_pairs(&tile.values.tile, sink->shape), "the sums of a tile");
        const Addition addition{tile,    rule().how, rule().subjects[subject].weight, rule().total, subject == 0,
                                is_last, sums.data};
        add_values<<<grid_of(tile.values.tile), ADD_THREADS, 0, state->compute.handle>>>(addition);
        check_launch("adding coefficients");
        subject = is_last ? 0 : subject + 1;
        if (is_last) next->take({tile.values.tile, tile.values.shape, sums.data});
    }
};

std::unique_ptr<DeviceSink> make_combine(gcor_state *state) {
    return std::unique_ptr<DeviceSink>(new DeviceCombine(state));
}

/* ---- agreement ------------------------------------------------------------------------------------------ */

/* A tile, and what its rows and columns are like. */
struct Agreement : TileValues {
    const gcor_spread *rows, *cols;
    int has_means;
};

static __global__ void __launch_bounds__(ADD_THREADS) agree(const __grid_constant__ Agreement a) {
    for_each_pair(a.values, [&](int64_t at, int64_t i, int64_t j) {
        double r = exact_value(a, a.values.doubles[at], i, j);
        a.values.doubles[at] = r <= 1 ? r * gcor_agreement_of(a.rows[i], a.cols[j], a.has_means) : r;
    });
}

class DeviceAgreement : public PassingSink {
  public:
    using PassingSink::PassingSink;

    SinkNeeds begin() override {
        const gcor_between *own = between();
        set = 0;
        spreads.reserve(own->n_sets * of_set(), "means of columns");
        for (int64_t s = 0; s < own->n_sets; s++) {
            const gcor_spreads &of = own->spreads[s];
            copy_to_device(rows_of(s), of.rows, sink->n_row, state->compute, "copying means of columns");
            copy_to_device(rows_of(s) + sink->n_row, of.cols, sink->n_col, state->compute, "copying means of columns");
        }
        return begin_next(own->to);
    }

    void trim() override {
        PassingSink::trim();
        spreads.trim();
    }

  private:
    DeviceArray<gcor_spread> spreads; /* of each set's rows, then of its columns */
    int64_t set = 0;                  /* of the next tile */

    const gcor_between *between() const { return (const gcor_between *)sink; }
    int64_t of_set() const { return sink->n_row + sink->n_col; }
    gcor_spread *rows_of(int64_t s) { return spreads.data + s * of_set(); }

    void change(const TileValues &tile) override {
        const gcor_tile &at = tile.values.tile;
        const gcor_spread *rows = rows_of(set);
        const Agreement agreement{tile, rows + at.row, rows + sink->n_row + at.col, between()->has_means};
        agree<<<grid_of(at), ADD_THREADS, 0, state->compute.handle>>>(agreement);
        check_launch("comparing means of columns");
        set = (set + 1) % between()->n_sets;
        next->take({at, tile.values.shape, tile.values.doubles});
    }
};

std::unique_ptr<DeviceSink> make_agreement(gcor_state *state) {
    return std::unique_ptr<DeviceSink>(new DeviceAgreement(state));
}
