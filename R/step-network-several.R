# Several thresholds, densities or ks in one run: it computes the network that contains all edges of the others, which
# are its strongest edges.

# Returns a list of compressed rows, one for each value of the criterion.
network_of_each <- function(run) {
  if (length(run$criterion$value) < 2L) return(list(network_rows(run)))
  run$stays <- "rows"
  check_edge_memory(run)
  if (run$criterion$name == "k") several_neighbours(run) else several_levels(run)
}

# Returns compressed rows for each threshold or density, which are subsets of those of the loosest.
several_levels <- function(run) {
  values <- run$criterion$value
  is_density <- run$criterion$name == "density"
  edges <- if (is_density) density_edges(loosest_density(run)) else edge_pass(run, min(values))
  if (!is_density) edges <- kept_edges(edges, min(values))
  levels <- if (is_density) density_levels(edges, values, run) else values
  rows <- take_rows(edges, run)
  lapply(levels, function(level) stronger_rows(rows, level, run))
}

# Keeps the entries of rows that have a weight of at least `min_weight`.
stronger_rows <- function(rows, min_weight, run) {
  if (isTRUE(min_weight > rows$threshold)) { # NA: no pairs
    parts <- c("p", "i", "x")
    rows[parts] <- .Call(r_keep_scores, rows$p, rows$i, rows$x, NULL, min_weight, 0L, run$settings$threads)
    rows$threshold <- min_weight
  }
  rows
}

# Returns compressed rows for each k: subsets of each variable's strongest neighbors, from one run with the largest k.
several_neighbours <- function(run) {
  values <- run$criterion$value
  descending <- sort(unique(values), decreasing = TRUE)
  run$criterion$value <- descending
  pass <- neighbour_pass(run)
  rows <- lapply(if (length(descending) > 1L) pass$store else list(pass$store), function(store) {
    pass$store <- store
    take_rows(kept_edges(pass, 0, NA_real_), run)
  })
  rows[match(values, descending)]
}
