/* What R may call: the table of src/r/. Here because R looks for a package's sources in src itself. */
#include "measure/measure.h"
#include "r/r.h"

#include <R_ext/Rdynload.h>
#include <R_ext/Visibility.h>

#define ENTRY(function, arguments) \
    { #function, (DL_FUNC)(void (*)(void)) & function, arguments }

/* Not by the formatter, whose columns depend on how many there are. */
/* clang-format off */
static const R_CallMethodDef entries[] = {
    ENTRY(r_cor, 8),          ENTRY(r_unfold, 4), ENTRY(r_distances, 1), ENTRY(r_settings, 3), ENTRY(r_pool, 0),         ENTRY(r_observations, 5),
    ENTRY(r_edges, 7),        ENTRY(r_neighbours, 9),     ENTRY(r_store_count, 3),
    ENTRY(r_store_rank, 3),   ENTRY(r_store_rows, 4),     ENTRY(r_store_free, 1),
    ENTRY(r_store_entries, 3), ENTRY(r_store_band, 6),    ENTRY(r_store_write, 6),  ENTRY(r_histogram, 5),
    ENTRY(r_connectivity, 6), ENTRY(r_triangle_index, 3), ENTRY(r_triangle_position, 4),
    ENTRY(r_measures, 0),     ENTRY(r_constants, 0),      ENTRY(r_info, 1),
    ENTRY(r_backends, 0),     ENTRY(r_cores, 0),          ENTRY(r_stages, 0),
    ENTRY(r_set_fault, 2),    ENTRY(r_live, 0),           ENTRY(r_set_shared_steps, 1),
    ENTRY(r_sync, 1),         ENTRY(r_count_shards, 3),   ENTRY(r_new_pointer, 0),
    ENTRY(r_checksum, 1),       ENTRY(r_are_running, 1),  ENTRY(r_random, 1),
    ENTRY(r_needs, 4),        ENTRY(r_file_open, 1),      ENTRY(r_file_columns, 2),
    ENTRY(r_edge_scores, 7),  ENTRY(r_count_scores, 3),   ENTRY(r_keep_scores, 7),
    ENTRY(r_strongest, 3),    ENTRY(r_test, 9),           ENTRY(r_t_scores, 2),     ENTRY(r_t_p, 3),
    ENTRY(r_kendall_deviation, 3), ENTRY(r_tie_quotients, 6), ENTRY(r_pair_scores, 7),
    ENTRY(r_near, 7),         ENTRY(r_exact_p, 2),        ENTRY(r_rho_beta, 1),
    ENTRY(r_maxima, 9),       ENTRY(r_permute, 4),        ENTRY(r_store_degrees, 3), ENTRY(r_summary, 4),
    ENTRY(r_sorted_edges, 4), ENTRY(r_names_at, 2),       ENTRY(r_adjusted, 7),     ENTRY(r_available, 0),
    ENTRY(r_reclaim, 0),      ENTRY(r_cor_bytes, 7),      ENTRY(r_is_compact, 1),
    ENTRY(r_windows, 6),      ENTRY(r_window_networks, 6), ENTRY(r_window_degrees, 6),
    ENTRY(r_window_moments, 7), ENTRY(r_maximum, 6), ENTRY(r_label_maxima, 7), ENTRY(r_count_pairs, 4),
    ENTRY(r_group_tests, 6),
    ENTRY(r_gram_new, 4),
    ENTRY(r_gram_times, 3),   ENTRY(r_gram_free, 1),      ENTRY(r_sparse_overlap, 7), ENTRY(r_combine_overlaps, 6),
    {NULL, NULL, 0},
};
/* clang-format on */

attribute_visible void R_init_gpucor(DllInfo *dll) {
    r_watch_forks();
    r_define_constant_vectors(dll);
    r_define_names(dll);
    r_define_compact(dll);
    r_define_owned(dll);
    R_RegisterCCallable("gpucor", "gcor_add_measure", (DL_FUNC)(void (*)(void))gcor_add_measure);
    R_RegisterCCallable("gpucor", "gcor_unit", (DL_FUNC)(void (*)(void))gcor_unit);
    R_RegisterCCallable("gpucor", "gcor_double_unit", (DL_FUNC)(void (*)(void))gcor_double_unit);
    R_RegisterCCallable("gpucor", "gcor_double_dot", (DL_FUNC)(void (*)(void))gcor_double_dot);
    R_registerRoutines(dll, NULL, entries, NULL, NULL);
    R_useDynamicSymbols(dll, FALSE);
    R_forceSymbols(dll, TRUE);
}

attribute_visible void R_unload_gpucor(DllInfo *dll) {
    (void)dll;
    r_close_sessions();
}
