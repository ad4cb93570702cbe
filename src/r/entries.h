/* The functions that R calls by .Call(), by file, with the number of their arguments. Each is documented where it is
 * defined. R/base-engine.R makes an R error of what r_failure() returns. */
#ifndef GPUCOR_ENTRIES_H
#define GPUCOR_ENTRIES_H

#define R_NO_REMAP
#include <Rinternals.h>

/* The formatter would make columns of this list. */
/* clang-format off */
#define R_ENTRIES(ENTRY) \
    /* cor.c */ ENTRY(r_cor, 8) ENTRY(r_cor_bytes, 7) ENTRY(r_unfold, 5) \
    /* network.c */ ENTRY(r_edges, 7) ENTRY(r_neighbours, 9) ENTRY(r_histogram, 5) ENTRY(r_store_count, 3) \
        ENTRY(r_store_rank, 3) ENTRY(r_store_degrees, 3) ENTRY(r_store_rows, 4) ENTRY(r_store_entries, 3) \
        ENTRY(r_store_band, 6) \
    /* sorted_edges.c */ ENTRY(r_sorted_edges, 4) \
    /* prune.c */ ENTRY(r_prune, 5) \
    /* stability.c */ ENTRY(r_count_edges, 5) \
    /* connectivity.c */ ENTRY(r_connectivity, 6) \
    /* centrality.c */ ENTRY(r_centrality, 4) ENTRY(r_network_centrality, 4) \
    /* overlap.c */ ENTRY(r_sparse_overlap, 7) ENTRY(r_combine_overlaps, 6) \
    /* partial.c */ ENTRY(r_partial_sums, 5) \
    /* preservation.c */ ENTRY(r_preservation, 7) \
    /* maxima.c */ ENTRY(r_maxima, 9) ENTRY(r_row_maxima, 7) ENTRY(r_maximum, 6) ENTRY(r_adjusted, 7) \
        ENTRY(r_permute, 4) \
    /* group_tests.c */ ENTRY(r_label_maxima, 7) ENTRY(r_components, 6) ENTRY(r_group_tests, 6) \
    /* test.c */ ENTRY(r_test, 9) ENTRY(r_t_scores, 2) ENTRY(r_t_p, 3) ENTRY(r_exact_p, 2) ENTRY(r_rho_beta, 1) \
    /* scores.c */ ENTRY(r_kendall_deviation, 3) ENTRY(r_tie_quotients, 6) ENTRY(r_edge_scores, 7) \
        ENTRY(r_pair_scores, 7) ENTRY(r_near, 7) ENTRY(r_count_scores, 3) ENTRY(r_keep_scores, 7) \
    /* summary.c */ ENTRY(r_strongest, 3) ENTRY(r_summary, 4) \
    /* windows.c */ ENTRY(r_windows, 6) \
    /* window_networks.c */ ENTRY(r_window_networks, 6) ENTRY(r_window_degrees, 6) \
    /* window_moments.c */ ENTRY(r_window_moments, 7) \
    /* questions.c */ ENTRY(r_observations, 5) ENTRY(r_needs, 4) ENTRY(r_count_pairs, 4) ENTRY(r_count_shards, 3) \
    /* file.c */ ENTRY(r_new_pointer, 0) ENTRY(r_file_open, 1) ENTRY(r_file_columns, 2) \
    /* vector.c */ ENTRY(r_is_compact, 1) ENTRY(r_distances, 2) \
    /* hclust.c */ ENTRY(r_hclust, 5) \
    /* voxels.c */ ENTRY(r_zeros, 2) ENTRY(r_put_block, 4) ENTRY(r_add_variation, 3) \
    /* memory.c */ ENTRY(r_available, 0) ENTRY(r_reclaim, 0) ENTRY(r_pool, 0) \
    /* tables.c */ ENTRY(r_measures, 0) ENTRY(r_constants, 0) \
    /* plain.c */ ENTRY(r_is_plain, 1) \
    /* triangle.c */ ENTRY(r_triangle_index, 3) ENTRY(r_triangle_position, 4) \
    /* options.c */ ENTRY(r_settings, 3) \
    /* info.c */ ENTRY(r_info, 1) ENTRY(r_backends, 0) ENTRY(r_set_fault, 2) ENTRY(r_live, 0) \
    /* system.c */ ENTRY(r_sync, 1) ENTRY(r_file_kind, 1) ENTRY(r_are_running, 1) ENTRY(r_random, 1) \
        ENTRY(r_checksum, 1) \
    /* threads.c */ ENTRY(r_cores, 0) \
    /* session.c */ ENTRY(r_set_shared_steps, 1) \
    /* job.c */ ENTRY(r_stages, 0) \
    /* call.c */ ENTRY(r_free, 1)
/* clang-format on */

#define R_ARGUMENTS_0 void
#define R_ARGUMENTS_1 SEXP
#define R_ARGUMENTS_2 SEXP, SEXP
#define R_ARGUMENTS_3 SEXP, SEXP, SEXP
#define R_ARGUMENTS_4 R_ARGUMENTS_2, R_ARGUMENTS_2
#define R_ARGUMENTS_5 R_ARGUMENTS_3, R_ARGUMENTS_2
#define R_ARGUMENTS_6 R_ARGUMENTS_3, R_ARGUMENTS_3
#define R_ARGUMENTS_7 R_ARGUMENTS_4, R_ARGUMENTS_3
#define R_ARGUMENTS_8 R_ARGUMENTS_4, R_ARGUMENTS_4
#define R_ARGUMENTS_9 R_ARGUMENTS_6, R_ARGUMENTS_3
#define R_DECLARE(function, arguments) SEXP function(R_ARGUMENTS_##arguments);

R_ENTRIES(R_DECLARE)

#endif
