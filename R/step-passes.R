# Passes over all pairs, and functions of their edges.

# Return the names and the numbers of columns of both sides; without y those of x twice.
network_names <- function(run) list(colnames(run$x), colnames(if (is.null(run$y)) run$x else run$y))
network_size <- function(run) c(ncol(run$x), ncol(if (is.null(run$y)) run$x else run$y))

# Returns the max number of edges: what a sparse matrix can hold, or for a file what a double can count. While a plan is
# made their destination is unknown.
max_edges <- function(run) {
  if (isTRUE(run$criterion$to_file) || isTRUE(run$place$replay$is_planning)) 2^53 else constant("max edges")
}

# Builds the list that parse_store() of src/r/network.c reads into one struct; edge_pass() describes its elements.
store_rule <- function(run, min_weight = 0, ceiling = 2, wanted = 0, stay = 0L) {
  list(side = constant(run$criterion$sign), min_weight = min_weight, ceiling = ceiling,
       spool = run$criterion$spool, wanted = wanted, stay = stay)
}

# Stores edges with weights from `min_weight` to below `ceiling`, and counts those above; more than `max` edges are an
# error. `wanted`: 0, or how many of the strongest edges suffice; weaker ones may then be missing. run$criterion$stays:
# whether edges may stay on a GPU until they are counted and ranked ("counted"), or taken as rows ("rows").
edge_pass <- function(run, min_weight, ceiling = 2, max = max_edges(run), wanted = 0) {
  stay <- if (is.null(run$criterion$spool)) sum(match(run$criterion$stays, c("counted", "rows"))) else 0L
  rule <- store_rule(run, min_weight, ceiling, wanted, stay)
  perform(run, "edges", rule, max)
}

neighbour_pass <- function(run) {
  rule <- store_rule(run)
  max_neighbors <- max(1, ncol(run$x), ncol(run$y)) # no column has more
  k <- pmin(run$criterion$value, max_neighbors)
  perform(run, "neighbours", rule, k, run$criterion$mutual, max_edges(run))
}

# Returns what the store of a pass answers about the pairs that its rule covers. `question`: a row of the table in
# src/r/network.c, which says what it returns; `...`: its arguments.
ask_store <- function(pass, run, question, ...) {
  checked(.Call(r_store, question, pass$store, list(...), run$place))
}

# Returns the k-th largest weight: Inf if it is above the store's ceiling, 0 if there are fewer.
store_rank <- function(pass, k, run) ask_store(pass, run, "rank", k)

# Frees a store's memory and disk space, which otherwise last until the next garbage collection.
store_free <- function(pass) invisible(.Call(r_free, pass$store))

# Returns kept edges as compressed rows p, i, x, with the pass's other results; the store is freed. Element `near` of
# `tests`: list(at: positions of entries, r: their coefficients).
take_rows <- function(edges, run) {
  doing(run$place, "rows of the network")
  rows <- ask_store(edges, run, "rows", edges$min_weight, network_size(run)[2L])
  df <- edges$tests$distribution$df
  if (!is.null(df) && length(rows$x)) { # entries so near to 1 that p needs coefficients in double precision
    near <- perform(run, "near", rows, df)
    if (length(near$at)) edges$tests$near <- near
  }
  c(rows, edges[c("n_obs", "x_flags", "y_flags", "threshold", "tests")])
}

# Returns rows with only the entries whose score is at least `min`; element `scores` has theirs. `scores`: of each
# entry, NULL: its |x|; `side`: 0, or 1 or -1 if entries of the other sign are dropped, too.
kept_rows <- function(rows, scores, min, run, side = 0L) {
  kept <- checked(.Call(r_keep_scores, rows$p, rows$i, rows$x, scores, min, side, run$place$threads))
  rows[names(kept)] <- kept
  rows
}

# Returns the threshold of a network with min weight `min_weight`; NA if that is Inf, when no pair can be an edge.
threshold_of <- function(min_weight) ifelse(is.finite(min_weight), min_weight, NA_real_)

# Returns a pass whose edges of weight `min_weight` and more are the network; Inf: no edges. with_tests() adds p values.
kept_edges <- function(pass, min_weight, threshold = threshold_of(min_weight)) {
  c(pass, list(min_weight = min_weight, threshold = threshold, tests = list()))
}

edges_of_density <- function(density, pairs) ceiling(density * pairs)
