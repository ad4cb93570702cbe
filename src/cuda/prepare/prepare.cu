/* Prepares columns of a source in batches: host threads gather them into pinned memory, from which they are copied.
 * Columns that are weighted or adjusted, and those whose measure has a function of its own, are prepared on the host by
 * the same code as on the CPU back end (measure/column.c), except for what centre.cu does. Ranks and
 * signs are computed on the device (rank.cu). */
#include "operand.cuh"
#include "../backend/lanes.cuh"
#include "../../measure/bicor.h"
#include "../../measure/distance_pair.h"
#include "../../measure/measure.h"
#include "../../source/source.h"

#include <algorithm>
#include <cmath>
#include <cstring>

/* ---- pairwise-complete Pearson and cosine ---------------------------------------------------------- */

/* Copies values unchanged: each pair has its own means and scale. norm: 1 if the values vary or, without centering, if
 * one is not 0; otherwise 0. */
static __global__ void copy_columns(const double *values, int64_t n, bool centred, double *out, double *norm,
                                    int *present) {
    const double *x = values + blockIdx.x * n;
    double low = centred ? INFINITY : 0, high = centred ? -INFINITY : 0, count = 0;
    for (int64_t k = threadIdx.x; k < n; k += COLUMN_THREADS) {
        out[blockIdx.x * n + k] = x[k];
        if (isnan(x[k])) continue;
        count++;
        low = fmin(low, x[k]);
        high = fmax(high, x[k]);
    }
    low = -reduce_block<COLUMN_THREADS>(-low, Larger());
    high = reduce_block<COLUMN_THREADS>(high, Larger());
    count = reduce_block<COLUMN_THREADS>(count, Plus());
    if (threadIdx.x == 0) {
        norm[blockIdx.x] = low < high;
        present[blockIdx.x] = (int)count;
    }
}

/* A thread sums a column, in the order of the CPU. */
static __global__ void sum_columns(const double *values, int64_t n, int64_t count, bool centred,
                                   gcor_common_sums *common, uint64_t *missing) {
    int64_t v = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (v >= count) return;
    const double *x = values + v * n;
    common[v] = gcor_sum_common(x, n, centred);
    for (int64_t w = 0; w < mask_words(n); w++) {
        uint64_t bits = 0;
        for (int64_t k = w * MASK_BITS; k < n && k < (w + 1) * MASK_BITS; k++)
            bits |= (uint64_t)isnan(x[k]) << k % MASK_BITS;
        missing[v * mask_words(n) + w] = bits;
    }
}

/* ---- operands -------------------------------------------------------------------------------------- */

static void allocate(Operand &o) {
    const char *what = "the prepared columns";
    int64_t n = o.head.n_obs, n_var = o.head.n_var;
    o.norm.reserve(n_var, what);
    o.present.reserve(n_var, what);
    switch (o.head.kind) {
    case GCOR_REAL:
    case GCOR_SIGN:
    case GCOR_SIGN_COMMON: return o.columns.reserve(n * n_var, what);
    case GCOR_REAL_COMMON:
        o.common.reserve(n_var, what);
        o.missing.reserve(mask_words(n) * n_var, what);
        return o.values.reserve(n * n_var, what);
    case GCOR_DOUBLE: return o.values.reserve(n * n_var, what);
    case GCOR_RANK_COMMON:
    case GCOR_PAIR_COMMON:
    case GCOR_DISTANCE_COMMON:
        if (is_ordered(o.head.kind)) o.values.reserve(n * n_var, what);
        o.order.reserve(n * n_var, what);
        o.begin.reserve(n * n_var, what);
        o.end.reserve(n * n_var, what);
        return;
    case GCOR_BINNED: return o.codes.reserve(n * n_var, what);
    default: fail_impossible("columns of that kind"); /* the CPU's, or multiplied by a sink (sink/overlap.cu) */
    }
}

/* Returns a released operand, or a new one. */
static std::unique_ptr<Operand> take_operand(gcor_state *state) {
    for (auto &spare : state->columns->spare)
        if (spare) return std::move(spare);
    return std::unique_ptr<Operand>(new Operand());
}

void cuda_release_operand(gcor_state *state, std::unique_ptr<Operand> operand) {
    operand->trim();
    for (auto &spare : state->columns->spare)
        if (!spare) return spare.swap(operand);
}

/* ---- batches ---------------------------------------------------------------------------------------- */

/* Calls `work`, and `together` for groups of columns (NULL: none), for columns first .. first+count-1 from several
 * threads; they must not throw. */
static void for_columns(gcor_state *state, const gcor_columns *columns, int64_t first, int64_t count,
                        gcor_column_work work, void *user, gcor_columns_work together = nullptr) {
    gcor_status status = gcor_for_columns_together(state->context, columns, first, count, work, together, user);
    if (status) throw Stopped{status};
}

/* Processes batches through two staging buffers: one is filled while the other is copied. fill(staged, at, count)
 * makes columns at .. at+count-1 of the operand; copied(staged, at, count) issues their copy. */
template <class Value, class Fill, class Copy>
static void in_batches(gcor_state *state, const Operand &o, int64_t length, int64_t batch, Fill fill, Copy copy) {
    ColumnBuffers &buffers = *state->columns;
    int turn = 0;
    for (int64_t at = 0; at < o.head.n_var; at += batch, turn = 1 - turn) {
        int64_t count = std::min(batch, o.head.n_var - at);
        buffers.staged[turn].reserve(batch * length * (int64_t)sizeof(Value), "columns being prepared");
        Value *staged = (Value *)buffers.staged[turn].data;
        if (at >= 2 * batch) wait_for(state, buffers.copied[turn]);
        fill(staged, at, count);
        copy(staged, at, count);
        buffers.copied[turn].record(state->compute);
    }
    wait_for_compute(state);
}

/* For very long columns: one column per thread, as long as that fits LONG_STAGED_VALUES. */
static int64_t batch_of(const gcor_state *state, const Operand &o, int64_t length) {
    int64_t fit = STAGED_VALUES / length, max = LONG_STAGED_VALUES / length;
    int64_t batch = std::max(fit, std::min<int64_t>(state->context->threads, max));
    return std::min<int64_t>(o.head.n_var, std::max<int64_t>(1, batch));
}

/* ---- on the device ------------------------------------------------------------------------------------ */

/* Destination of gathered columns: doubles in pinned memory, and flags. */
struct Gathering {
    int64_t first, n_obs;
    double *staged;
    unsigned char *flags;
};

static void gather_column(void *user, int, int64_t j, double *x, int flags) {
    const Gathering *gathering = (const Gathering *)user;
    int64_t at = j - gathering->first;
    memcpy(gathering->staged + at * gathering->n_obs, x, (size_t)gathering->n_obs * sizeof *x);
    gathering->flags[at] = (unsigned char)flags;
}

/* Number of columns prepared at a time, in several batches: a batch alone has too few thread blocks to fill a GPU. */
static int64_t group_of(const Operand &o, int64_t length, int64_t batch) {
    int64_t batches = std::max<int64_t>(1, GROUP_VALUES / (batch * length));
    return batch * std::min(batches, (o.head.n_var + batch - 1) / batch);
}

static void prepare_group(gcor_state *state, const gcor_measure *measure, Operand &o, const double *values, int64_t n,
                          int64_t at, int64_t count) {
    if (o.head.kind == GCOR_REAL && measure->length)
        return distance_columns(state, values, n, gcor_min_obs(measure), count, o, at);
    if (o.head.kind == GCOR_REAL && !measure->ranked) return centre_columns(state, values, n, count, o, at);
    if (o.head.kind != GCOR_REAL_COMMON) return rank_columns(state, values, count, o, at);
    copy_columns<<<(unsigned)count, COLUMN_THREADS, 0, state->compute.handle>>>(
        values, n, o.centred, o.values.data + at * n, o.norm.data + at, o.present.data + at);
    sum_columns<<<blocks_for(count, COLUMN_THREADS), COLUMN_THREADS, 0, state->compute.handle>>>(
        values, n, count, o.centred, o.common.data + at, o.missing.data + at * mask_words(n));
    check_launch("preparing columns");
}

/* Copies columns at .. at+count-1, of n doubles, to the device. At the end of a group of columns calls
 * work(doubles, count, first) with all of the group. */
template <class Work>
static void copy_to_group(gcor_state *state, const Operand &o, int64_t n, int64_t group, const double *staged,
                          int64_t at, int64_t count, Work work) {
    DeviceArray<double> &values = state->columns->values;
    const int64_t before = at % group, end = at + count;
    values.reserve(group * n, "columns being prepared");
    copy_to_device(values.data + before * n, staged, count * n, state->compute, "copying columns");
    if (end % group == 0 || end == o.head.n_var) work(values.data, before + count, at - before);
}

static void prepare_on_device(gcor_state *state, const gcor_columns *columns, const gcor_measure *measure, Operand &o) {
    const int64_t n = columns->n_obs, batch = batch_of(state, o, n), group = group_of(o, n, batch);
    auto fill = [&](double *staged, int64_t at, int64_t count) {
        Gathering gathering{o.head.first + at, n, staged, o.head.flags + at};
        for_columns(state, columns, gathering.first, count, gather_column, &gathering);
    };
    in_batches<double>(state, o, n, batch, fill, [&](const double *staged, int64_t at, int64_t count) {
        copy_to_group(state, o, n, group, staged, at, count, [&](const double *values, int64_t all, int64_t first) {
            prepare_group(state, measure, o, values, n, first, all);
        });
    });
}

/* ---- on the host ---------------------------------------------------------------------------------------- */

/* gcor_prepare_real(), gcor_prepare_double() or gcor_prepare_bins(). */
template <class Value>
using PrepareColumn = double(const gcor_measure *measure, const gcor_design *design, double *x, int64_t n, int *flags,
                             const gcor_ranks *ranks, Value *out);

/* Destination of columns that their measure prepares: floats or doubles in pinned memory, flags and norms, and
 * scratch for ranks for each thread. */
template <class Value>
struct Preparing {
    PrepareColumn<Value> *prepare;
    const gcor_measure *measure;
    const gcor_design *design;
    const gcor_operand *head;
    int64_t n_obs, first; /* n_obs: of a column that is read; the operand's may be another */
    Value *staged;
    char *ranks;
    size_t rank_bytes;
};

template <class Value>
static void prepare_column(void *user, int thread, int64_t j, double *x, int flags) {
    const Preparing<Value> *work = (const Preparing<Value> *)user;
    int64_t n = work->n_obs, at = j - work->head->first;
    gcor_ranks ranks{};
    if (work->ranks) ranks = gcor_ranks_at(work->ranks + (size_t)thread * work->rank_bytes, n);
    work->head->norm[at] = work->prepare(work->measure, work->design, x, n, &flags, work->ranks ? &ranks : nullptr,
                                         work->staged + (j - work->first) * work->head->n_obs);
    work->head->flags[at] = (unsigned char)flags;
}

/* The steps of a column that a basis makes shorter (measure.h). Its norm is `none` in between. */
template <class Value>
static void begin_column(void *user, int thread, int64_t j, double *x, int flags) {
    const Preparing<Value> *work = (const Preparing<Value> *)user;
    const int64_t at = j - work->head->first;
    const gcor_ranks ranks = gcor_ranks_at(work->ranks + (size_t)thread * work->rank_bytes, work->n_obs);
    work->head->norm[at] = gcor_begin_reduced(work->measure, work->design, x, work->n_obs, flags, &ranks);
    work->head->flags[at] = (unsigned char)flags;
}

static double end_reduced(const gcor_design *design, double *products, double none, float *out) {
    return gcor_end_reduced_real(design, products, none, out);
}

static double end_reduced(const gcor_design *design, double *products, double none, double *out) {
    return gcor_end_reduced_double(design, products, none, out);
}

/* Bins have no such columns. */
static double end_reduced(const gcor_design *, double *, double, unsigned char *) {
    return 0;
}

template <class Value>
static void reduce_columns(void *user, int thread, int64_t first, int64_t n, double *x, int64_t stride) {
    const Preparing<Value> *work = (const Preparing<Value> *)user;
    const int64_t length = work->head->n_obs;
    double *products = (double *)(work->ranks + (size_t)thread * work->rank_bytes);
    double *norm = work->head->norm + (first - work->head->first);
    Value *out = work->staged + (first - work->first) * length;
    gcor_design_reduce(work->design, x, stride, n, products);
    for (int64_t c = 0; c < n; c++)
        norm[c] = end_reduced(work->design, products + c * length, norm[c], out + c * length);
}

/* Prepares all columns on the host, in batches as in in_batches(). */
template <class Value, class Copy>
static void prepare_batches(gcor_state *state, const gcor_columns *columns, const gcor_measure *measure, Operand &o,
                            PrepareColumn<Value> *prepare, Copy copy) {
    const size_t line = 64;
    int64_t n = o.head.n_obs, n_obs = columns->n_obs;
    bool has_scratch = o.head.kind == GCOR_BINNED || gcor_needs_scratch(measure, columns->design);
    const bool is_reduced = gcor_is_reduced(measure, columns->design, o.head.kind);
    size_t rank_bytes = has_scratch ? gcor_ranks_bytes(n_obs) : 0;
    if (is_reduced) rank_bytes = std::max(rank_bytes, GCOR_TOGETHER * (size_t)n * sizeof(double));
    rank_bytes = (rank_bytes + line - 1) / line * line;
    std::unique_ptr<char[]> ranks(rank_bytes ? new char[rank_bytes * (size_t)state->context->threads] : nullptr);
    auto fill = [&](Value *staged, int64_t at, int64_t count) {
        Preparing<Value> work{prepare,           measure, columns->design, &o.head,   n_obs,
                              o.head.first + at, staged,  ranks.get(),     rank_bytes};
        for_columns(state, columns, work.first, count, is_reduced ? begin_column<Value> : prepare_column<Value>, &work,
                    is_reduced ? reduce_columns<Value> : nullptr);
    };
    in_batches<Value>(state, o, n, batch_of(state, o, n), fill, copy);
}

/* `out` is device memory. */
template <class Value>
static void prepare_on_host(gcor_state *state, const gcor_columns *columns, const gcor_measure *measure, Operand &o,
                            PrepareColumn<Value> *prepare, Value *out) {
    const int64_t n = o.head.n_obs;
    prepare_batches(state, columns, measure, o, prepare, [&](const Value *staged, int64_t at, int64_t count) {
        copy_to_device(out + at * n, staged, count * n, state->compute, "copying columns");
    });
}

/* Columns of zeros, which have no coefficients, keep the norm 0. */
static void prepare_mapped(gcor_state *state, const gcor_columns *columns, const gcor_measure *measure, Operand &o) {
    const int64_t n = o.head.n_obs, n_var = o.head.n_var, group = group_of(o, n, batch_of(state, o, n));
    prepare_batches(
        state, columns, measure, o, gcor_prepare_unmapped, [&](const double *staged, int64_t at, int64_t count) {
            copy_to_group(state, o, n, group, staged, at, count, [&](const double *units, int64_t all, int64_t first) {
                map_columns(state, columns->design, units, all, o, first);
            });
        });
    std::unique_ptr<double[]> norm(new double[n_var]);
    copy_to_host(norm.get(), o.norm.data, n_var, state->compute, "copying norms");
    wait_for_compute(state);
    for (int64_t j = 0; j < n_var; j++)
        if (o.head.norm[j] > 0) o.head.norm[j] = norm[j];
}

/* ---- pairs that are prepared again ------------------------------------------------------------------------ */

/* Destination of columns that are kept as they are, and scratch for each thread to prepare one alone. */
struct Keeping {
    const gcor_measure *measure;
    const gcor_columns *columns;
    const gcor_operand *head;
    int64_t first;
    double *staged;
    char *scratch;
    size_t scratch_bytes;
};

/* gcor_pair_norm() of distances, in n log n steps. scratch: distance_bytes(), aligned for two doubles. */
static double distance_norm(char *scratch, const double *x, int64_t n) {
    int64_t tied;
    gcor_ranks ranks = gcor_ranks_at(scratch + gcor_distance_bytes(n), n);
    const gcor_ordered column = {x, ranks.order, gcor_rank(x, n, &ranks, &tied), nullptr};
    return gcor_distance_norm(&column, scratch);
}

static size_t distance_bytes(int64_t n) {
    return (size_t)gcor_distance_bytes(n) + gcor_ranks_bytes(n);
}

/* The column prepared alone tells whether it has coefficients. */
static void keep_column(void *user, int thread, int64_t j, double *x, int flags) {
    const Keeping *k = (const Keeping *)user;
    int64_t n = k->columns->n_obs, at = j - k->head->first, present = 0;
    memcpy(k->staged + (j - k->first) * n, x, (size_t)n * sizeof *x);
    for (int64_t q = 0; q < n; q++) present += !std::isnan(x[q]);
    char *scratch = k->scratch + (size_t)thread * k->scratch_bytes;
    double norm;
    if (k->head->kind == GCOR_DISTANCE_COMMON) {
        norm = distance_norm(scratch, x, n);
    } else {
        gcor_pair pair = gcor_pair_at(scratch, k->measure, k->columns->design, n);
        norm = gcor_pair_norm(&pair, x, &flags);
    }
    gcor_describe_column(k->measure, k->head->kind, present, &norm, &flags);
    k->head->norm[at] = norm;
    k->head->flags[at] = (unsigned char)flags;
}

bool has_device_pairs(const gcor_measure *measure, const gcor_design *design) {
    bool is_bicor = measure->prepare_double == gcor_prepare_bicor_double;
    return (is_bicor || measure->common == GCOR_DISTANCE_COMMON) && !gcor_is_designed(design);
}

static void prepare_pairs(gcor_state *state, const gcor_columns *columns, const gcor_measure *measure, Operand &o) {
    const int64_t n = columns->n_obs, n_var = o.head.n_var, group = std::max<int64_t>(1, GROUP_VALUES / n);
    const bool is_distance = o.head.kind == GCOR_DISTANCE_COMMON;
    const size_t own = is_distance ? distance_bytes(n) : gcor_pair_bytes(measure, columns->design, n);
    const size_t line = 64, bytes = (own + line - 1) / line * line;
    std::unique_ptr<char[]> scratch(new char[bytes * (size_t)state->context->threads]);
    auto fill = [&](double *staged, int64_t at, int64_t count) {
        Keeping work{measure, columns, &o.head, o.head.first + at, staged, scratch.get(), bytes};
        for_columns(state, columns, work.first, count, keep_column, &work);
    };
    in_batches<double>(state, o, n, batch_of(state, o, n), fill, [&](const double *staged, int64_t at, int64_t count) {
        copy_to_device(o.values.data + at * n, staged, count * n, state->compute, "copying columns");
    });
    for (int64_t at = 0; at < n_var; at += group)
        rank_columns(state, o.values.data + at * n, std::min(group, n_var - at), o, at);
    if (!is_distance)
        o.biweight = {gcor_option_of(measure, columns->design, GCOR_BICOR_MAX_OUTLIERS),
                      (int)gcor_option_of(measure, columns->design, GCOR_BICOR_FALLBACK), gcor_min_obs(measure)};
}

/* ---- norms and flags -------------------------------------------------------------------------------------- */

/* Completes norms and flags on the host and copies the norms to the device. All copies are on the products' stream:
 * the default stream would not be ordered with it. */
static void describe(gcor_state *state, const gcor_measure *measure, int64_t n_obs, Operand &o, bool on_host) {
    const int64_t n_var = o.head.n_var;
    const int *present = nullptr;
    if (!on_host) {
        PinnedArray<char> &staged = state->columns->staged[0];
        staged.reserve(n_var * (int64_t)(sizeof(double) + sizeof(int)), "norms");
        double *norm = (double *)staged.data;
        present = (const int *)(norm + n_var);
        copy_to_host(norm, o.norm.data, n_var, state->compute, "copying norms");
        copy_to_host((int *)(norm + n_var), o.present.data, n_var, state->compute, "copying norms");
        wait_for_compute(state);
        memcpy(o.head.norm, norm, (size_t)n_var * sizeof *norm);
    }
    for (int64_t j = 0; j < n_var; j++) {
        int flags = o.head.flags[j];
        int64_t count = on_host ? n_obs : present[j];
        gcor_describe_column(measure, o.head.kind, count, &o.head.norm[j], &flags);
        o.head.flags[j] = (unsigned char)flags;
    }
    copy_to_device(o.norm.data, o.head.norm, n_var, state->compute, "copying norms");
}

bool fused_exactly(const gcor_state *state, gcor_kind kind, int64_t n_obs) {
    int64_t max = state->needs.large_tiles ? PACKED_NETWORK_WORDS : PACKED_WORDS;
    return kind == GCOR_REAL || (kind == GCOR_SIGN && sign_words(n_obs) <= max);
}

bool fused(const gcor_state *state, gcor_kind kind, int64_t n_obs) {
    return state->needs.approx && state->sink->approximate && fused_exactly(state, kind, n_obs);
}

/* Columns without observations are prepared on the host, as there is nothing to copy. */
static bool is_for_host(const gcor_columns *columns, const gcor_measure *measure, const gcor_operand &head) {
    bool is_made_by_host = gcor_is_designed(columns->design) ||
                           (measure->prepare && !has_device_distances(measure, columns) &&
                            !has_device_centring(measure, columns, head.n_var));
    return columns->n_obs == 0 || head.kind == GCOR_DOUBLE || head.kind == GCOR_BINNED || is_ordered(head.kind) ||
           (head.kind == GCOR_REAL && is_made_by_host);
}

/* Sets columns, norms and flags; cuda_prepare() adds what products need. */
static void fill(gcor_state *state, const gcor_columns *columns, const gcor_measure *measure, Operand &o) {
    const gcor_kind kind = o.head.kind;
    const bool on_host = is_for_host(columns, measure, o.head);
    if (!on_host)
        prepare_on_device(state, columns, measure, o);
    else if (o.head.n_obs > 0 && is_ordered(kind))
        prepare_pairs(state, columns, measure, o);
    else if (o.head.n_obs > 0 && kind == GCOR_DOUBLE)
        prepare_on_host(state, columns, measure, o, gcor_prepare_double, o.values.data);
    else if (o.head.n_obs > 0 && kind == GCOR_BINNED)
        prepare_on_host(state, columns, measure, o, gcor_prepare_bins, o.codes.data);
    else if (o.head.n_obs > 0 && has_device_map(measure, columns))
        prepare_mapped(state, columns, measure, o);
    else if (o.head.n_obs > 0)
        prepare_on_host(state, columns, measure, o, gcor_prepare_real, o.columns.data);
    describe(state, measure, columns->n_obs, o, on_host);
}

static void fill_shuffled(gcor_state *state, const gcor_columns *columns, const gcor_measure *measure, Operand &o) {
    if (!restore_unshuffled(state, columns->shuffle, o)) {
        gcor_columns unshuffled = *columns;
        unshuffled.shuffle = nullptr;
        fill(state, &unshuffled, measure, o);
        keep_unshuffled(state, columns, o);
    }
    shuffle_columns(state, columns->shuffle, o);
}

std::unique_ptr<Operand> cuda_prepare(gcor_state *state, const gcor_columns *columns, const gcor_measure *measure,
                                      gcor_kind kind, int64_t first, int64_t n_var) {
    std::unique_ptr<Operand> o = take_operand(state);
    int64_t n_obs = gcor_column_length(measure, columns->design, kind, columns->n_obs);
    o->host_norm.reset(new double[n_var]());
    o->host_flags.reset(new unsigned char[n_var]());
    o->head = {kind, first, n_var, n_obs, o->host_norm.get(), o->host_flags.get()};
    o->serial = ++state->prepared;
    o->centred = measure->angle != GCOR_AS_IS;
    allocate(*o);
    (gcor_shuffles_prepared(measure, kind, columns) ? fill_shuffled : fill)(state, columns, measure, *o);
    o->length = exp2(ceil(log2(gcor_max_length(columns->design, o->head.norm, n_var))));
    if (kind == GCOR_REAL && fused(state, kind, n_obs)) make_halves(state, *o);
    if (kind == GCOR_SIGN || kind == GCOR_SIGN_COMMON) make_bits(state, *o);
    if (kind == GCOR_BINNED) make_bins(state, *o);
    return o;
}
