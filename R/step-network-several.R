# Several thresholds, densities or ks in one run: the network that has all edges of the others is computed, and they are
# its strongest edges.

check_one_file <- function(criterion) {
  if (length(criterion$value) < 2L) return(invisible())
  fail("'", criterion$name, "' has ", length(criterion$value), " values, and 'file' takes one network; ",
       "call gpuCorNetwork() for each of them")
}

# Compressed rows for each threshold or density: those of the loosest, of which the others are a part.
several_levels <- function(task) {
  values <- task$criterion$value
  is_density <- task$criterion$name == "density"
  edges <- if (is_density) density_edges(loosest_density(task)) else edge_pass(task, min(values))
  if (!is_density) edges <- kept_edges(edges, min(values))
  levels <- if (is_density) density_levels(edges, values, task) else values
  rows <- take_rows(edges, task)
  lapply(levels, function(level) stronger_rows(rows, level, task))
}

# Of the rows of a network those entries that have a weight of at least `least`.
stronger_rows <- function(rows, least, task) {
  if (isTRUE(least > rows$threshold)) { # no pairs: NA
    parts <- c("p", "i", "x")
    rows[parts] <- .Call(r_keep_scores, rows$p, rows$i, rows$x, NULL, least, 0L, task$settings$threads)
    rows$threshold <- least
  }
  rows
}

# Compressed rows for each k: of one run of the largest each variable's strongest neighbours.
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
