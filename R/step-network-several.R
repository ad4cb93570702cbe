# Several thresholds, densities or ks in one run: the network that has all edges of the others is computed, and they are
# its strongest edges.

# Values each of which passes the check.
check_several <- function(value, name, check) {
  if (name %in% SEVERAL && is.numeric(value) && length(value) > 1L) return(vapply(value, check, 0))
  check(value)
}

# What may have several values; p values would each need sums of their own.
SEVERAL <- c("threshold", "density", "k")

check_one_file <- function(criterion, file) {
  if (length(criterion$value) > 1L && !is.null(file)) {
    fail("'", criterion$name, "' has ", length(criterion$value), " values, and 'file' takes one network; ",
         "call gpuCorNetwork() for each of them")
  }
}

# A list of networks, one for each of the criterion's values.
several_networks <- function(task, output) {
  values <- task$criterion$value
  task$stays <- "rows"
  check_edge_memory(task)
  found <- if (task$criterion$name == "k") several_neighbours(task) else several_levels(task)
  warn_constant(found[[1L]], colnames(task$x), colnames(task$y))
  warn_without(found[[1L]], task)
  networks <- lapply(seq_along(values), function(v) {
    task$criterion$value <- values[v]
    network_output(found[[v]], task, output)
  })
  stats::setNames(networks, vapply(values, format, "", digits = 15))
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

# The threshold of each density, from the edges of the largest.
density_levels <- function(edges, values, task) {
  vapply(values, function(density) store_rank(edges, edges_of_density(density, task$pairs), task), 0)
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
