# The passes that find a network's edges, by threshold, density, neighbors or p value.

check_criterion <- function(given) {
  given <- Filter(Negate(is.null), given)
  if (length(given) != 1L) {
    names <- "'threshold', 'density', 'k', 'p.value' or 'fdr'"
    if (!length(given)) fail("which pairs are edges? give one of ", names)
    fail("give only one of ", names, ", not ", paste0("'", names(given), "'", collapse = " and "))
  }
  name <- names(given)
  check <- if (name == "k") {
    function(value) check_whole(value, "k", 1)
  } else {
    function(value) check_fraction(value, name, zero = name == "threshold")
  }
  value <- given[[1L]]
  is_several <- name %in% SEVERAL && is_numeric(value) && length(value) > 1L
  list(name = name, value = if (is_several) vapply(value, check, 0) else check(value))
}

check_one_criterion <- function(given) {
  criterion <- check_criterion(given)
  if (length(criterion$value) > 1L) fail("'", criterion$name, "' must be one number here; call once for each")
  criterion
}

# Returns the run's edges: as from kept_edges(), or as compressed rows if they are tested one by one.
network_edges <- function(run) {
  value <- run$criterion$value
  switch(run$criterion$name,
    threshold = kept_edges(edge_pass(run, value), value),
    density = density_edges(run),
    k = kept_edges(neighbour_pass(run), 0, NA_real_),
    p.value = if (is.null(run$settings$max_t)) significant_edges(run) else adjusted_edges(run),
    fdr = significant_edges(run)
  )
}

network_rows <- function(run) {
  run$stays <- "rows"
  if (run$criterion$name %in% c("density", "k")) check_edge_memory(run)
  edges <- network_edges(run)
  if (is.null(edges$store)) return(edges) # compressed rows, as pairs were tested one by one
  rows <- take_rows(edges, run)
  if (length(rows$tests) && all(rows$n_obs <= constant("very few"))) {
    warn_few(sum(abs(rows$x) > 1 - SAME_COEFFICIENT), run$pairs)
  }
  rows
}

# Returns the number of edges as far as the criterion determines it, for sign = "absolute"; otherwise 0.
edges_of_run <- function(run) {
  value <- max(run$criterion$value)
  switch(run$criterion$name,
    density = edges_of_density(value, run$pairs),
    k = if (run$mutual) 0 else min(run$pairs, max(ncol(run$x), ncol(run$y)) * value / 2),
    0
  )
}

# Bytes of an edge, in the engine and in R together.
EDGE_BYTES <- 24

# Edges that go to a file are stored on the disk. More edges than a sparse matrix can hold raise another error.
check_edge_memory <- function(run) {
  if (run$sign != "absolute" || !is.null(run$spool) || !is.null(run$settings$pairs)) return(invisible())
  if (isTRUE(run$settings$replay$is_planning)) return(invisible())
  n <- edges_of_run(run)
  if (n > max_edges(run)) return(invisible())
  check_memory(EDGE_BYTES * n, paste0(run$criterion$name, " = ", format(max(run$criterion$value))), n_of(n, "edge"),
               "gpuCorNetwork(file = ) keeps a network on the disk")
}

# Criteria that may have several values. Each p value would need a test of its own.
SEVERAL <- c("threshold", "density", "k")

# ---- several values of the criterion

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

# ---- context likelihood

# Context likelihood of relatedness (Faith and others 2007): networks of pairs whose information is large compared with
# what both columns have with all others.

NORMALIZATIONS <- c("none", "clr")

# Returns the criterion of a network. A threshold of context likelihoods becomes one of the engine's values, which are
# below 1 (src/sink/information.h).
network_criterion <- function(given, normalize, lioness = NULL) {
  threshold <- given$threshold
  if (!is.null(lioness) && !is.null(threshold)) { # coefficients of a sample are not limited to -1 to 1
    check_that(threshold, "threshold", are_finite(threshold, min = 0), "numbers of at least 0 with 'lioness'")
    check_criterion(replace(given, "threshold", 0)) # stops if there are others
    return(list(name = "threshold", value = as.numeric(threshold)))
  }
  if (normalize == "none") return(check_criterion(given))
  if (!is.null(threshold)) {
    check_that(threshold, "threshold", are_finite(threshold, min = 0), "numbers of at least 0 with normalize = \"clr\"")
    given$threshold <- threshold / (1 + threshold)
  }
  check_criterion(given)
}

# Returns the run whose values are context likelihoods: a pass over all pairs finds each column's mean and standard
# deviation of the information.
clr_run <- function(run) {
  run$settings$information <- list(mean = NULL, unit = NULL)
  rule <- list(side = constant("absolute"), min_weight = 0, similarity = constant("unsigned"), steps = numeric(),
               histogram = FALSE, levels = 1, maps = constant("mean") + constant("icc"))
  sums <- checked(engine_pass("connectivity", at_pass(run, 1, 2, "information of each column"), list(rule)))$maps
  n <- sums[, 1L]
  mean <- sums[, 2L] / n
  deviation <- sqrt(pmax(0, sums[, 3L] - n * mean^2) / (n - 1))
  run$settings$information <- list(mean = mean, unit = as.numeric(ifelse(deviation > 0, 1 / deviation, 0)))
  at_pass(run, 2, 2)
}

# Returns the run with the user's threshold.
clr_criterion <- function(run) {
  if (is.null(run$settings$information) || run$criterion$name != "threshold") return(run)
  run$criterion$value <- run$criterion$value / (1 - run$criterion$value)
  run
}

# Returns rows with context likelihoods in the place of the engine's values, if these are the run's.
clr_rows <- function(rows, run) {
  if (is.null(run$settings$information)) return(rows)
  rows$x <- rows$x / (1 - rows$x)
  rows$threshold <- rows$threshold / (1 - rows$threshold)
  rows
}
