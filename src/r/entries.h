/* The functions that R calls by .Call(), by file, with the number of their arguments. Each is documented where it is
 * defined. R/base-engine.R makes an R error of what r_failure() returns. */
#ifndef GPUCOR_ENTRIES_H
#define GPUCOR_ENTRIES_H

#define R_NO_REMAP
#include <Rinternals.h>

/* The formatter would make columns of these lists. */
/* clang-format off */
#define R_ENTRIES(ENTRY) \
    /* job.c */ ENTRY(r_run, 7) ENTRY(r_stages, 0) \
    /* cor.c */ ENTRY(r_unfold, 5) \
    /* network.c */ ENTRY(r_store, 4) \
    /* edges.c */ ENTRY(r_sorted_edges, 5) ENTRY(r_rates, 3) ENTRY(r_prune, 5) \
        ENTRY(r_count_edges, 5) \
    /* names.c */ ENTRY(r_names_at, 2) \
    /* centrality.c */ ENTRY(r_network_centrality, 4) \
    /* overlap.c */ ENTRY(r_sparse_overlap, 7) ENTRY(r_combine_overlaps, 6) \
    /* preservation.c */ ENTRY(r_preservation, 7) \
    /* maxima.c */ ENTRY(r_adjusted, 7) ENTRY(r_permute, 4) \
    /* test.c */ ENTRY(r_t_scores, 3) ENTRY(r_t_p, 3) ENTRY(r_exact_p, 2) ENTRY(r_rho_beta, 1) \
    /* scores.c */ ENTRY(r_kendall_deviation, 3) ENTRY(r_edge_scores, 7) ENTRY(r_count_scores, 3) \
        ENTRY(r_keep_scores, 7) \
    /* summary.c */ ENTRY(r_strongest, 3) ENTRY(r_summary, 4) \
    /* questions.c */ ENTRY(r_count_pairs, 4) ENTRY(r_count_shards, 3) ENTRY(r_least_rho, 1) \
    /* file.c */ ENTRY(r_file_open, 1) ENTRY(r_file_columns, 2) \
    /* vector.c */ ENTRY(r_is_compact, 1) ENTRY(r_distances, 2) \
    /* hclust.c */ ENTRY(r_hclust, 5) ENTRY(r_cut_tree, 6) \
    /* voxels.c */ ENTRY(r_zeros, 2) ENTRY(r_put_block, 4) ENTRY(r_add_variation, 3) \
    /* memory.c */ ENTRY(r_memory, 0) ENTRY(r_reclaim, 0) \
    /* tables.c */ ENTRY(r_measures, 0) ENTRY(r_constants, 0) \
    /* plain.c */ ENTRY(r_is_plain, 1) \
    /* triangle.c */ ENTRY(r_triangle_index, 3) ENTRY(r_triangle_position, 4) \
    /* info.c */ ENTRY(r_info, 1) ENTRY(r_backends, 0) ENTRY(r_set_fault, 2) ENTRY(r_live, 0) \
    /* system.c */ ENTRY(r_sync, 1) ENTRY(r_file_kind, 1) ENTRY(r_are_running, 1) ENTRY(r_random, 1) \
        ENTRY(r_checksum, 1) ENTRY(r_settings, 3) \
    /* session.c */ ENTRY(r_set_shared_steps, 1) \
    /* call.c */ ENTRY(r_free, 1)

/* Computations over pairs of columns, which R asks r_run() for by name: the number of arguments of their own, and the
 * names of the result's elements. */
#define R_FOUND "n_obs", "x_flags", "y_flags" /* r_job_run() sets these elements */
#define R_COMPUTATIONS(ROW) \
    /* cor.c */ ROW(cor, 2, R_FOUND, "values", "zero_sd", "flags") ROW(cor_bytes, 1, "bytes") \
    /* network.c */ ROW(edges, 2, R_FOUND, "store") ROW(neighbours, 4, R_FOUND, "store") \
        ROW(histogram, 0, R_FOUND, "counts", "error") ROW(counted_edges, 3, R_FOUND, "counts", "error", "store") \
    /* connectivity.c */ ROW(connectivity, 1, R_FOUND, "degree", "strength", "soft", "counts", "maps") \
    /* centrality.c */ ROW(centrality, 0, R_FOUND, "eigenvector", "error") \
    /* partial.c */ ROW(partial_sums, 1, "products", "fourth", "n_var") \
    /* maxima.c */ ROW(maxima, 4, R_FOUND, "maxima") ROW(row_maxima, 3, R_FOUND, "maxima") \
        ROW(maximum, 1, R_FOUND, "maximum") \
    /* group_tests.c */ ROW(label_maxima, 3, R_FOUND, "maxima") \
        ROW(components, 2, R_FOUND, "maxima", "size", "first") \
        ROW(group_tests, 1, R_FOUND, "difference", "error", "df") \
    /* test.c */ ROW(test, 4, "n", "statistic", "p.value", "df", "conf.low", "conf.high", "tied", "few") \
    /* scores.c */ ROW(tie_quotients, 1, "x", "y") ROW(pair_scores, 2, "scores", "few") ROW(near, 2, "at", "r") \
    /* windows.c */ ROW(windows, 2, "n_obs", "notes", "values") \
    /* window_networks.c */ ROW(window_networks, 2, "n_obs", "notes", "stores", "min_weight") \
        ROW(window_degrees, 2, "n_obs", "notes", "degree", "strength", "min_weight") \
    /* window_moments.c */ ROW(window_moments, 2, "n_obs", "notes", "mean", "sd", "min", "max", "count") \
        ROW(moment_network, 2, "n_obs", "notes", "store", "min_weight") \
    /* questions.c */ ROW(observations, 0, "n_obs", "common", "observed") ROW(needs, 0, "columns", "memory")
/* clang-format on */

#define R_ARGUMENTS_0 void
#define R_ARGUMENTS_1 SEXP
#define R_ARGUMENTS_2 SEXP, SEXP
#define R_ARGUMENTS_3 SEXP, SEXP, SEXP
#define R_ARGUMENTS_4 R_ARGUMENTS_2, R_ARGUMENTS_2
#define R_ARGUMENTS_5 R_ARGUMENTS_3, R_ARGUMENTS_2
#define R_ARGUMENTS_6 R_ARGUMENTS_3, R_ARGUMENTS_3
#define R_ARGUMENTS_7 R_ARGUMENTS_4, R_ARGUMENTS_3
#define R_DECLARE(function, arguments) SEXP function(R_ARGUMENTS_##arguments);

R_ENTRIES(R_DECLARE)

#endif
