/* Moments of each pair's coefficient over all windows, computed tile by tile of the pairs without storing windows. */
#pragma once

#include "../sink/moments.h"
#include "windows.h"

/* Called with a tile's moments, for its pairs with col < row, row by row without gaps. values: scratch, one number
 * per pair. */
typedef gcor_status (*gcor_window_tile_work)(void *user, gcor_context *context, const gcor_tile *tile,
                                             const gcor_moments *moments, double *values);

/* Calls work for every tile of the series' pairs, one tile at a time, after all of its windows are computed.
 * only_deviations: work asks for standard deviations only. */
gcor_status gcor_window_moments(gcor_windows *windows, gcor_session *session, gcor_context *context,
                                int only_deviations, gcor_window_tile_work work, void *user);
