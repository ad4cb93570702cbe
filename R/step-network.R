# The networks of a run: the edges that its criterion leaves, by threshold, density, neighbors or p value.

# For each criterion the function that finds the edges: as from kept_edges(), or as compressed rows if pairs are tested
# one by one.
FIND_EDGES <- list(
  threshold = function(run) kept_edges(edge_pass(run, run$criterion$value), run$criterion$value),
  density = function(run) density_edges(run),
  k = function(run) kept_edges(neighbour_pass(run), 0, NA_real_),
  p.value = function(run) if (is.null(run$criterion$max_t)) significant_edges(run) else adjusted_edges(run),
  fdr = function(run) if (is.null(run$criterion$max_t)) significant_edges(run) else edges_by_rates(run)
)

# For each criterion that may have several values the function that finds a list of compressed rows, by one run whose
# network contains the edges of all others. Each p value would need a test of its own.
FIND_SEVERAL <- list(
  threshold = function(run) {
    values <- run$criterion$value
    rows <- take_rows(kept_edges(edge_pass(run, min(values)), min(values)), run)
    lapply(values, function(level) stronger_rows(rows, level, run))
  },
  density = function(run) {
    edges <- density_edges(run)
    levels <- density_levels(edges, run$criterion$value, run)
    rows <- take_rows(edges, run)
    lapply(levels, function(level) stronger_rows(rows, level, run))
  },
  k = function(run) {
    values <- run$criterion$value
    run <- with_criterion(run, value = sort(unique(values), decreasing = TRUE))
    pass <- neighbour_pass(run)
    stores <- if (is.list(pass$store)) pass$store else list(pass$store)
    rows <- lapply(stores, function(store) {
      pass$store <- store
      take_rows(kept_edges(pass, 0, NA_real_), run)
    })
    rows[match(values, run$criterion$value)]
  }
)

# Returns list(name, value) of the only criterion in `given`. `several`: TRUE if it may have several values; `required`:
# FALSE if there may be none, for NULL.
check_criterion <- function(given, several = TRUE, required = TRUE) {
  given <- Filter(Negate(is.null), given)
  if (!length(given) && !required) return(NULL)
  if (!length(given)) fail_value("which pairs are edges? give one of ", listed(CRITERIA, "or"))
  name <- names(given)
  check <- if (name == "k") {
    function(value) check_whole(value, "k", 1)
  } else {
    function(value) check_fraction(value, name, zero = name == "threshold")
  }
  value <- given[[1L]]
  is_several <- several && name %in% names(FIND_SEVERAL) && is_numeric(value) && length(value) > 1L
  list(name = name, value = if (is_several) vapply(value, check, 0) else check(value))
}

network_rows <- function(run) {
  run <- with_criterion(run, stays = "rows")
  check_edge_memory(run)
  edges <- FIND_EDGES[[run$criterion$name]](run)
  if (is.null(edges$store)) return(edges) # compressed rows, as pairs were tested one by one
  rows <- take_rows(edges, run)
  if (length(rows$tests) && isTRUE(all(rows$n_obs <= constant("very few")))) {
    warn_few(sum(abs(rows$x) > 1 - SAME_COEFFICIENT), run$pairs)
  }
  rows
}

# Returns the rows with element `shared`, the min and max number of observations of an edge, if pairs differ in that.
# Warns of edges that rest on very few, see warn_few().
with_shared <- function(rows, run) {
  if (uses[run$use] != "pairwise.complete.obs" || is_combined(run$x) || !has_distribution(run$method)) return(rows)
  if (!length(rows$x) || !perform(run, "observations")$common) return(rows)
  found <- perform(run, "pair_scores", rows[c("p", "i", "x")], list(exact = 0, min_obs = MIN_OBS))
  if (!run$criterion$name %in% c("p.value", "fdr")) { # these have told of all pairs
    warn_few(found$few + sum(is.na(found$scores)), length(rows$x), "edge") # NA: too few for a score
  }
  c(rows, list(shared = found$n_obs))
}

# Returns the number of edges as far as the criterion determines it, for sign = "absolute"; otherwise 0.
edges_of_run <- function(run) {
  value <- max(run$criterion$value)
  switch(run$criterion$name,
    density = edges_of_density(value, run$pairs),
    k = if (run$criterion$mutual) 0 else min(run$pairs, max(ncol(run$x), ncol(run$y)) * value / 2),
    0
  )
}

# Bytes of an edge, in the engine and in R together.
EDGE_BYTES <- 24

# Edges that go to a file are stored on the disk. More edges than a sparse matrix can hold raise another error.
check_edge_memory <- function(run) {
  if (run$criterion$sign != "absolute" || !is.null(run$criterion$spool) || !is.null(run$mask)) return(invisible())
  if (isTRUE(run$place$replay$is_planning)) return(invisible())
  n <- edges_of_run(run)
  if (n == 0 || n > max_edges(run)) return(invisible())
  check_memory(EDGE_BYTES * n, paste0(run$criterion$name, " = ", format(max(run$criterion$value))), n_of(n, "edge"),
               "gpuCorNetwork(file = ) keeps a network on the disk")
}

# Keeps the entries of rows that have a weight of at least `min_weight`.
stronger_rows <- function(rows, min_weight, run) {
  if (isTRUE(min_weight > rows$threshold)) { # NA: no pairs
    rows <- kept_rows(rows, NULL, min_weight, run)
    rows$threshold <- min_weight
  }
  rows
}

# ---- context likelihood of relatedness (Faith and others 2007)

# Edges are pairs whose information is large compared with that of both columns with all others.

# Returns the run without pairs of a column of x with y's column of the same name, which have no place in a background.
without_self_pairs <- function(run) {
  of_x <- match(colnames(run$x), colnames(run$x))
  of_y <- match(colnames(run$y), colnames(run$x), 0L, c("", NA))
  if (any(of_y > 0L)) with_pairs(run, pairMask(of_x, of_y, different = TRUE)) else run
}

# Returns the run whose values are context likelihoods: a pass over all pairs finds each column's mean and standard
# deviation of the information, x's columns before y's. The engine's values are below 1 (src/sink/information.h);
# `for_user` converts rows of these to the user's.
clr_run <- function(run) {
  run <- with_element(run, information = list(mean = NULL, unit = NULL))
  rule <- list(side = constant("absolute"), min_weight = 0, similarity = constant("unsigned"), steps = numeric(),
               histogram = FALSE, levels = 1, maps = constant("mean") + constant("icc"))
  pass <- at_pass(without_self_pairs(run), 1, 2, "information of each column")
  sums <- perform(pass, "connectivity", rule)$maps
  n <- sums[, 1L]
  mean <- sums[, 2L] / n
  deviation <- sqrt(pmax(0, sums[, 3L] - n * mean^2) / (n - 1))
  unit <- as.numeric(ifelse(deviation > 0, 1 / deviation, 0))
  run <- with_element(run, information = list(mean = mean, unit = unit))
  value <- run$criterion$value
  if (run$criterion$name == "threshold") run <- with_criterion(run, value = value / (1 + value))
  for_user <- function(rows) {
    if (any(rows$x == 0)) rows <- kept_rows(rows, NULL, .Machine$double.xmin, run) # 0 is less than every background
    rows[c("x", "threshold")] <- lapply(rows[c("x", "threshold")], function(values) values / (1 - values))
    rows
  }
  at_pass(with_criterion(run, for_user = for_user), 2, 2)
}
