# Passes over all pairs, and what their edges are asked for.

# More are an error: what a sparse matrix can hold, and what a double can count. While a plan is made nobody knows yet
# where they will go.
most_edges <- function(task) {
  if (isTRUE(task$to_file) || isTRUE(task$settings$replay$is_planning)) 2^53 else constant("most edges")
}

# Builds the list that parse_plan() of src/r/network.c reads into one struct; edge_pass() describes its elements.
store_rule <- function(task, least = 0, ceiling = 2, wanted = 0, stay = 0L) {
  list(side = constant(task$sign), least = least, ceiling = ceiling, spool = task$spool, wanted = wanted, stay = stay)
}

# Edges of a weight from `least` to below `ceiling`, in a store; those above are counted. With more than `most` it
# is an error. wanted: 0, or how many of the strongest are enough; the weaker ones may then be missing. task$stays:
# whether edges may stay on a GPU, until they are counted and ranked, "counted", or taken as "rows".
edge_pass <- function(task, least, ceiling = 2, settings = task$settings, most = most_edges(task), wanted = 0) {
  stay <- if (is.null(task$spool)) sum(match(task$stays, c("counted", "rows"))) else 0L
  rule <- store_rule(task, least, ceiling, wanted, stay)
  checked(engine_pass("r_edges", task, list(rule, most), settings))
}

neighbour_pass <- function(task) {
  rule <- store_rule(task)
  most_neighbours <- max(1, ncol(task$x), ncol(task$y)) # more there are not
  k <- pmin(task$criterion$value, most_neighbours)
  checked(engine_pass("r_neighbours", task, list(rule, k, task$mutual, most_edges(task)), task$settings))
}

histogram_pass <- function(task, settings) {
  checked(engine_pass("r_histogram", task, list(), settings))
}

# How many pairs have a weight of at least `least`, as far as the store's rule goes.
store_count <- function(pass, least, task) checked(.Call(r_store_count, pass$store, least, task$settings))

# The k-th largest weight: Inf if it is above the store's ceiling, 0 if there are fewer.
store_rank <- function(pass, k, task) checked(.Call(r_store_rank, pass$store, k, task$settings))

# Of each column: its edges of a weight of at least `least`, and the sum of their weights.
store_degrees <- function(pass, least, task) checked(.Call(r_store_degrees, pass$store, least, task$settings))

# The memory and the disk that a store has, which R would leave to it until the next collection.
store_free <- function(pass) invisible(.Call(r_free, pass$store))

# Kept edges as compressed rows p, i, x, with what else the pass found; the store has ended.
take_rows <- function(edges, task) {
  doing(task$settings, "rows of the network")
  n_row <- if (is.null(task$y)) ncol(task$x) else ncol(task$y)
  rows <- checked(.Call(r_store_rows, edges$store, edges$least, n_row, task$settings))
  edges$tests <- with_near(edges$tests, rows, task)
  c(rows, edges[c("n_obs", "x_flags", "y_flags", "threshold", "tests")])
}

# The threshold of a network whose edges have a weight of at least `least`, which is Inf if no pair can be an edge.
threshold_of <- function(least) ifelse(is.finite(least), least, NA_real_)

# A pass whose edges of weight `least` and more are the network. least Inf: none. with_tests() adds p values.
kept_edges <- function(pass, least, threshold = threshold_of(least)) {
  c(pass, list(least = least, threshold = threshold, tests = list()))
}

edges_of_density <- function(density, pairs) ceiling(density * pairs)

# Adds `near` to the tests of rows: the entries so near to 1 that p needs coefficients in double precision, a list of
# their positions `at` and these coefficients `r`.
with_near <- function(tests, rows, task) {
  df <- tests$distribution$df
  if (is.null(df) || !length(rows$x)) return(tests)
  near <- checked(.Call(r_near, rows, task$x, task$y, method_code(task$method), task$use, df, task$settings))
  if (length(near$at)) tests$near <- near
  tests
}

# Whether an observation counts for no pair if any column misses it.
drops_observations <- function(task) uses[task$use] %in% c("complete.obs", "na.or.complete")

signs <- c("absolute", "positive", "negative")
