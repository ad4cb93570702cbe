# Eigenvector centrality: the leading eigenvector of a nonnegative matrix, which is only multiplied by vectors. For all
# pairs the matrix is r + 1, whose product has a closed form (src/cpu/centrality.h); for a network it has the edges'
# weights.

# Warns if the iteration has not converged; `found`: list(eigenvector, error).
check_error <- function(found) {
  if (found$error <= 1e-6) return(invisible())
  warning("eigenvector centrality has not converged: its error is ", format(found$error, digits = 2), call. = FALSE)
}

# Centrality of the matrix r + 1 of all pairs; NA for columns without coefficients.
eigenvector_of_all <- function(run) {
  doing(run$settings, "eigenvector")
  found <- perform(run, "centrality")
  check_error(found)
  found[c("n_obs", "x_flags", "y_flags", "eigenvector")]
}

# Centrality in the network of each threshold, one column per threshold.
eigenvectors_of_networks <- function(run, levels) {
  min_weight <- min(levels)
  run$stays <- "rows"
  eigenvectors_of_rows(take_rows(kept_edges(edge_pass(run, min_weight), min_weight), run), levels, run)
}

# rows: compressed rows of the network of the lowest threshold.
eigenvectors_of_rows <- function(rows, levels, run) {
  doing(run$settings, "eigenvector")
  vapply(levels, FUN.VALUE = numeric(ncol(run$x)), function(level) {
    own <- stronger_rows(rows, level, run)
    found <- checked(.Call(r_network_centrality, own$p, own$i, own$x, run$settings))
    check_error(found)
    found$eigenvector
  })
}
