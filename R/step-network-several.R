# Several thresholds, densities or ks in one run: it computes the network that contains all edges of the others, which
# are its strongest edges.

# Returns a list of compressed rows, one for each value of the criterion.
network_of_each <- function(task) {
  if (length(task$criterion$value) < 2L) return(list(network_rows(task)))
  task$stays <- "rows"
  check_edge_memory(task)
  if (task$criterion$name == "k") several_neighbours(task) else several_levels(task)
}

# Returns compressed rows for each threshold or density, which are subsets of those of the loosest.
several_levels <- function(task) {
  values <- task$criterion$value
  is_density <- task$criterion$name == "density"
  edges <- if (is_density) density_edges(loosest_density(task)) else edge_pass(task, min(values))
  if (!is_density) edges <- kept_edges(edges, min(values))
  levels <- if (is_density) density_levels(edges, values, task) else values
  rows <- take_rows(edges, task)
  lapply(levels, function(level) stronger_rows(rows, level, task))
}

# Keeps the entries of rows that have a weight of at least `min_weight`.
stronger_rows <- function(rows, min_weight, task) {
  if (isTRUE(min_weight > rows$threshold)) { # NA: no pairs
    parts <- c("p", "i", "x")
    rows[parts] <- .Call(r_keep_scores, rows$p, rows$i, rows$x, NULL, min_weight, 0L, task$settings$threads)
    rows$threshold <- min_weight
  }
  rows
}

# Returns compressed rows for each k: subsets of each variable's strongest neighbors, from one run with the largest k.
several_neighbours <- function(task) {
  values <- task$criterion$value
  descending <- sort(unique(values), decreasing = TRUE)
  task$criterion$value <- descending
  pass <- neighbour_pass(task)
  rows <- lapply(if (length(descending) > 1L) pass$store else list(pass$store), function(store) {
    pass$store <- store
    take_rows(kept_edges(pass, 0, NA_real_), task)
  })
  rows[match(values, descending)]
}
