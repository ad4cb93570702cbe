# The passes that find a network's edges, by threshold, density, neighbours or p value.

signs <- c("absolute", "positive", "negative")

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
    function(value) check_share(value, name, zero = name == "threshold")
  }
  list(name = name, value = check_several(given[[1L]], name, check))
}

# check_criterion() for functions that make one network.
check_one_criterion <- function(given) {
  criterion <- check_criterion(given)
  if (length(criterion$value) > 1L) fail("'", criterion$name, "' must be one number here; call once for each")
  criterion
}

# Everything that the passes over the data need to know. takes_all: many subjects may be given. takes_pairs: and a mask
# of pairs.
network_task <- function(x, y, criterion, sign, use, method, backend, ..., takes_all = TRUE, takes_pairs = takes_all) {
  use <- check_use(use)
  method <- check_method(method)
  sign <- check_choice(sign, signs, "sign")
  settings <- settings_of(backend, ..., takes_subjects = takes_all, takes_pairs = takes_pairs)
  tests <- isTRUE(criterion$name %in% c("p.value", "fdr"))
  input <- if (takes_all) {
    check_data(x, y, use, method, settings, tests)
  } else {
    check_input(x, y, use, method, settings$assay)
  }
  settings["pairs"] <- list(check_pairs(settings$pairs, input$x, input$y))
  settings <- designed_input(settings, input, method, use, tests = tests)
  task <- list(x = input$x, y = input$y, criterion = criterion, sign = sign, use = use, method = method,
               settings = settings)
  task$pairs <- count_pairs_of(task$x, task$y, settings)
  task
}

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

# The network's edges by the task's criterion: as kept_edges() gives them; or as compressed rows, where they are known
# one by one only.
network_edges <- function(task) {
  value <- task$criterion$value
  switch(task$criterion$name,
    threshold = kept_edges(edge_pass(task, value), value),
    density = density_edges(task),
    k = kept_edges(neighbour_pass(task), 0, NA_real_),
    p.value = significant_edges(task),
    fdr = significant_edges(task)
  )
}

network_rows <- function(task) {
  task$stays <- "rows"
  check_edge_memory(task)
  edges <- network_edges(task)
  if (is.null(edges$store)) return(edges) # which have been looked at one by one
  rows <- take_rows(edges, task)
  if (length(rows$tests) && all(rows$n_obs <= constant("very few"))) {
    warn_few(sum(abs(rows$x) > 1 - SAME_COEFFICIENT), task$pairs)
  }
  rows
}

# Edges that a criterion makes, as far as it tells: every pair counts with sign = "absolute" only.
edges_of_task <- function(task) {
  value <- max(task$criterion$value)
  switch(task$criterion$name,
    density = edges_of_density(value, task$pairs),
    k = if (task$mutual) 0 else min(task$pairs, max(ncol(task$x), ncol(task$y)) * value / 2),
    0
  )
}

# Bytes of an edge where it is found, and in R.
EDGE_BYTES <- 24

# Edges that go to a file are kept on the disk. More than a sparse matrix holds are an error of their own.
check_edge_memory <- function(task) {
  if (task$sign != "absolute" || !is.null(task$spool) || !is.null(task$settings$pairs)) return(invisible())
  if (isTRUE(task$settings$replay$is_planning)) return(invisible())
  n <- edges_of_task(task)
  if (n > most_edges(task)) return(invisible())
  hint <- function(free) {
    if (identical(calling_verb(), "gpuCorNetwork")) "file = keeps the network on the disk" else "ask for fewer"
  }
  check_memory(EDGE_BYTES * n, paste0(task$criterion$name, " = ", format(max(task$criterion$value))), n_of(n, "edge"),
               hint)
}

edges_of_density <- function(density, pairs) ceiling(density * pairs)
