# Eigenvector centrality: the leading eigenvector of a nonnegative matrix, which is only multiplied by vectors. For all
# pairs the matrix is r + 1, whose product has a closed form (src/cpu/centrality.h); for a network it has the edges'
# weights.

# Warns if the iteration has not converged; `found`: list(eigenvector, error).
check_error <- function(found) {
  if (found$error <= 1e-6) return(invisible())
  warning("eigenvector centrality has not converged: its error is ", format(found$error, digits = 2), call. = FALSE)
}

# Centrality of the matrix r + 1 of all pairs; NA for columns without coefficients.
eigenvector_of_all <- function(task) {
  doing(task$settings, "eigenvector")
  found <- checked(.Call(r_centrality, task$x, method_code(task$method), task$use, task$settings))
  check_error(found)
  found[c("n_obs", "x_flags", "y_flags", "eigenvector")]
}

# Centrality in the network of each threshold, one column per threshold.
eigenvectors_of_networks <- function(task, levels) {
  min_weight <- min(levels)
  task$stays <- "rows"
  eigenvectors_of_rows(take_rows(kept_edges(edge_pass(task, min_weight), min_weight), task), levels, task)
}

# rows: compressed rows of the network of the lowest threshold.
eigenvectors_of_rows <- function(rows, levels, task) {
  doing(task$settings, "eigenvector")
  vapply(levels, FUN.VALUE = numeric(ncol(task$x)), function(level) {
    own <- stronger_rows(rows, level, task)
    found <- checked(.Call(r_network_centrality, own$p, own$i, own$x, task$settings))
    check_error(found)
    found$eigenvector
  })
}
