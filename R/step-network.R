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
