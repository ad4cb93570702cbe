/* Moments of each pair's coefficient over all windows, without any window: tile by tile of the pairs. */
#ifndef GPUCOR_WINDOW_MOMENTS_H
#define GPUCOR_WINDOW_MOMENTS_H

#include "moments.h"
#include "../engine/windows.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What becomes of a tile's moments: of its pairs with col < row, row by row without gaps. values: room for one number
 * each. */
typedef gcor_status (*gcor_window_tile_work)(void *user, gcor_context *context, const gcor_tile *tile,
                                             const gcor_moments *moments, double *values);

/* The work for every tile of all pairs of the series, one at a time; all windows of a tile come before the next one. */
gcor_status gcor_window_moments(gcor_windows *windows, gcor_session *session, gcor_context *context,
                                gcor_window_tile_work work, void *user);

#ifdef __cplusplus
}
#endif
#endif
