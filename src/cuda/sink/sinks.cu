/* The table of sinks with a device half. A new one gets a row here. */
#include "sinks.cuh"
#include "../../sink/adjacency.h"
#include "../../sink/combine.h"
#include "../../sink/dense.h"
#include "../../sink/connectivity.h"
#include "../../sink/maximum.h"
#include "../../sink/moments.h"
#include "../../sink/neighbours.h"

static const struct {
    const gcor_sink_type *type;
    SinkMaker make;
} TABLE[] = {
    {&gcor_store_type, make_edges},
    {&gcor_neighbours_type, make_edges},
    {&gcor_degrees_type, make_edges},
    {&gcor_histogram_type, make_histogram},
    {&gcor_connectivity_type, make_connectivity},
    {&gcor_maximum_type, make_maximum},
    {&gcor_combine_type, make_combine},
    {&gcor_moments_type, make_moments},
    {&gcor_compact_type, make_host_values},
    {&gcor_adjacency_type, make_adjacency},
};

/* For overlaps, every value goes to the host. */
static SinkMaker maker_of(const gcor_sink *sink, gcor_kind kind) {
    if (kind == GCOR_ADJACENCY) return make_overlaps;
    if (sink->type == &gcor_combine_type && !gcor_combine_only_sums((const gcor_combine *)sink))
        return make_host_values;
    for (const auto &row : TABLE)
        if (row.type == sink->type) return row.make;
    return make_host_values;
}

DeviceSink *device_sink_of(gcor_state *state, gcor_kind kind) {
    SinkMaker make = maker_of(state->sink, kind);
    for (const auto &made : state->sinks)
        if (made.first == make) return made.second.get();
    state->sinks.emplace_back(make, make(state));
    return state->sinks.back().second.get();
}
