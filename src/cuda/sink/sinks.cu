/* The table of sinks with a device half. A new one gets a row here. */
#include "sinks.cuh"
#include "../../sink/groups/combine.h"
#include "../../sink/information.h"

static const struct {
    gcor_role role;
    SinkMaker make;
} TABLE[] = {
    {GCOR_STORE, make_edges},         {GCOR_NEIGHBOURS, make_edges},          {GCOR_DEGREES, make_edges},
    {GCOR_HISTOGRAM, make_histogram}, {GCOR_CONNECTIVITY, make_connectivity}, {GCOR_MAXIMUM, make_maximum},
    {GCOR_COMBINE, make_combine},     {GCOR_MOMENTS, make_moments},           {GCOR_ADJACENCIES, make_adjacency},
};

/* The kind of sink that has a device half. Of sinks that pass values on, only that of information (of all pairs, not
 * likelihoods) has one, if they are summed. */
static gcor_role role_of(const gcor_sink *sink) {
    if (!sink->of) return sink->type->role;
    bool is_plain = sink->type->role == GCOR_INFORMATION && !((const gcor_information *)sink)->mean;
    return is_plain && sink->of->type->role == GCOR_CONNECTIVITY ? GCOR_CONNECTIVITY : GCOR_OTHER_ROLE;
}

/* For overlaps, every value goes to the host. */
static SinkMaker maker_of(const gcor_sink *sink, gcor_kind kind) {
    gcor_role role = role_of(sink);
    if (kind == GCOR_ADJACENCY) return make_overlaps;
    if (role == GCOR_COMBINE && !gcor_combine_only_sums((const gcor_combine *)sink)) return make_host_values;
    for (const auto &row : TABLE)
        if (row.role == role) return row.make;
    return make_host_values;
}

DeviceSink *device_sink_of(gcor_state *state, gcor_kind kind) {
    SinkMaker make = maker_of(state->sink, kind);
    for (const auto &made : state->sinks)
        if (made.first == make) return made.second.get();
    state->sinks.emplace_back(make, make(state));
    return state->sinks.back().second.get();
}
