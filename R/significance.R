# Edges by p value. Two-sided p values fall as |r| grows, so a largest p is a least |r|; where
# p depends on more than r (the ties and the common rows of the pair), the least |r| at which p
# can be reached bounds what has to be looked at, and each p is computed.

# The distribution of a coefficient r under independence, a list with one element: `df` of Student's t, or the standard
# `deviation` of r or the standard `error` of atanh(r), which are normal then.

# Min |r| that has a two-sided p value of at most p.
least_r <- function(p, distribution) {
  if (!is.null(distribution$deviation)) return(least_z(p) * distribution$deviation)
  if (!is.null(distribution$error)) return(tanh(least_z(p) * distribution$error))
  df <- distribution$df
  1 / sqrt(1 + df / stats::qt(p / 2, df, lower.tail = FALSE)^2) # also where t^2 is 0 or Inf
}

# The inverse: two-sided p values of coefficients.
p_of_r <- function(r, distribution, threads) {
  if (!is.null(distribution$deviation)) return(two_sided(r / distribution$deviation))
  if (!is.null(distribution$error)) return(two_sided(atanh(r) / distribution$error))
  checked(.Call(r_t_p, r, distribution$df, threads))
}

# Which observations count, and whether pairs have their own (r_observations).
count_observations <- function(x, y, method, use, settings) {
  checked(.Call(r_observations, x, y, method_code(method), use, settings))
}

# What is known of the task's p values: n observations at most; `single`: p follows from r by `distribution`, which
# otherwise is that of the pair whose p is smallest for a given r; `one_by_one`: pairs have observations or degrees of
# freedom of their own. score() makes of a p value what edge_scores() returns, and p_of_score() is its inverse.
significance_of <- function(task) {
  if (is_combined(task$x)) return(combined_significance(task))
  found <- count_observations(task$x, task$y, task$method, task$use, task$settings)
  n <- found$n_obs
  df <- degrees_of_freedom(task, found)
  kendall <- !is_t_distributed(task$method)
  q <- if (kendall && !found$common) column_quotients(task, found)
  ties <- unlist(q)
  ties <- ties[!is.na(ties)]
  untied <- abs(ties - (n - 2) / 3) < 1e-9 * n
  least_q <- if (length(ties)) min(ties) else (n - 2) / 3
  one_by_one <- found$common || df$estimated
  list(n = n, one_by_one = one_by_one, single = !one_by_one && (!kendall || all(untied)),
       quotients = q, score = if (one_by_one) function(p) -log(p) else least_z,
       p_of_score = if (one_by_one) function(score) exp(-score) else two_sided,
       distribution = if (kendall) {
         list(deviation = .Call(r_kendall_deviation, n, least_q, least_q))
       } else {
         list(df = df$most)
       })
}

# Of the columns of x and of y, or x, what their ties do to the variance of tau-b; NA where a column has no coefficient.
column_quotients <- function(task, counted) {
  checked(.Call(r_tie_quotients, task$x, task$y, method_code(task$method), task$use, counted, task$settings))
}

# Whether an observation counts for no pair if any column misses it.
drops_observations <- function(task) uses[task$use] %in% c("complete.obs", "na.or.complete")

significant_edges <- function(task) {
  significance <- significance_of(task)
  if (!significance$single) task$to_file <- FALSE # the edges are looked at one by one, in memory
  if (is_random(task$x)) task <- with_t(task)
  if (task$criterion$name == "p.value") edges_by_p(task, significance) else edges_by_fdr(task, significance)
}

edges_by_p <- function(task, significance) {
  p <- task$criterion$value
  least <- least_r(p, significance$distribution)
  edges <- kept_edges(edge_pass(task, least), least)
  if (significance$single) return(with_tests(edges, task, significance))
  keep_by_scores(take_rows(edges, task), task, significance, function(count, n) significance$score(p))
}

edges_by_fdr <- function(task, significance) {
  fdr <- task$criterion$value
  passes <- if (!significance$single) 2 else if (task$sign == "absolute") 2 else 4
  histogram <- histogram_pass(task, at_pass(task$settings, 1, passes, "histogram of the coefficients"))
  range <- fdr_range(weight_bins(histogram, "absolute"), fdr, significance$distribution)
  if (significance$single) {
    edges <- fdr_edges(task, range, significance)
    return(with_tests(edges, task, significance, pairs = range$tests, others = other_p(edges, task, significance)))
  }
  two_sided <- task
  two_sided$sign <- "absolute" # both signs count among the tests
  pass <- edge_pass(two_sided, range$low, settings = at_pass(task$settings, 2, 2, "edges"))
  rows <- take_rows(kept_edges(pass, range$low), two_sided)
  keep_by_scores(rows, task, significance, pairs = range$tests,
                 function(count, n) fixed_point(range$tests, fdr, significance$score, count, n))
}

# The threshold lies between `low` and `high`, the fixed points of Benjamini and Hochberg's rule with
# the histogram's upper and lower counts.
fdr_range <- function(bins, fdr, distribution) {
  counts <- cumsum(bins$counts)
  tests <- counts[length(counts)]
  lower <- 1 - seq_along(counts) * bins$width
  count <- function(edges) {
    function(r) if (any(edges >= r)) counts[sum(edges >= r)] else 0
  }
  least <- function(p) least_r(p, distribution)
  low <- fixed_point(tests, fdr, least, count(lower + bins$width + bins$error))
  high <- fixed_point(tests, fdr, least, count(lower - bins$error))
  list(low = max(0, low), high = max(0, high), tests = tests)
}

# Step-up from above: with `found` pairs at most significant, p may be fdr * found / tests at most,
# and so on until nothing changes. Returns the least |r|, or whatever `least` makes of p; Inf where nothing remains.
fixed_point <- function(tests, fdr, least, count, found = tests) {
  repeat {
    if (found == 0) return(Inf)
    r <- least(fdr * found / tests)
    now <- count(r)
    if (now >= found) return(r)
    found <- now
  }
}

# p follows from r: the weights between low and high decide.
fdr_edges <- function(task, range, significance) {
  if (range$low > 1) return(kept_edges(edge_pass(task, 2), Inf))
  two_sided <- task
  two_sided$sign <- "absolute"
  if (task$sign != "absolute") {
    pass <- edge_pass(two_sided, range$low, range$high, at_pass(task$settings, 2, 4, "threshold"))
  } else {
    pass <- edge_pass(task, range$low, settings = at_pass(task$settings, 2, 2, "edges"))
  }
  threshold <- fdr_threshold(pass, range, task, significance)
  if (task$sign != "absolute") {
    store_free(pass)
    pass <- edge_pass(task, min(threshold, 2), settings = at_pass(task$settings, 3, 4, "edges"))
  }
  kept_edges(pass, threshold)
}

# Weights from `high` on need not be told apart: the range holds the fixed point.
fdr_threshold <- function(pass, range, task, significance) {
  fixed_point(range$tests, task$criterion$value, function(p) least_r(p, significance$distribution),
              function(r) store_count(pass, min(r, range$high), task))
}

# ---- p values of pairs

# Least |z| that has a two-sided p value of at most p, z being standard normal.
least_z <- function(p) stats::qnorm(p / 2, lower.tail = FALSE)

# Drop the edges whose own score is too small; cut() returns the min score to keep, from a function that counts the
# scores of at least a given one, and their number n. All other pairs have smaller scores. pairs: as for with_tests().
keep_by_scores <- function(rows, task, significance, cut, pairs = NULL) {
  threads <- task$settings$threads
  if (is_random(task$x)) rows <- with_group_tests(rows, task)
  scores <- edge_scores(rows, task, significance)
  least <- cut(function(score) .Call(r_count_scores, scores, score, threads), length(scores))
  side <- c(absolute = 0L, positive = 1L, negative = -1L)[[task$sign]]
  is_significant <- !is.na(scores) & scores >= least
  is_of_sign <- rows$x * side >= 0
  p_where <- function(at) significance$p_of_score(scores[at])
  others <- if (!is.null(pairs)) p_where(is_significant & !is_of_sign)
  is_edge <- is_significant & is_of_sign
  rows <- with_tests(rows, task, significance, pairs, others, p_where(is_edge))
  rows$tests <- c(rows$tests, lapply(rows$group_tests[GROUP_COLUMNS], `[`, is_edge))
  rows[c("p", "i", "x")] <- .Call(r_keep_scores, rows$p, rows$i, rows$x, scores, least, side, threads)
  rows$threshold <- NA_real_
  rows
}

# Where all pairs have the same observations and degrees of freedom, |z|; otherwise -log(p). significance$score() makes
# either of a p value.
edge_scores <- function(rows, task, significance) {
  settings <- task$settings
  if (!is.null(rows$group_tests)) return(t_scores(rows$group_tests))
  if (significance$one_by_one) {
    return(checked(.Call(r_pair_scores, rows, task$x, task$y, method_code(task$method), task$use, settings)))
  }
  q <- significance$quotients
  .Call(r_edge_scores, rows$p, rows$i, rows$x, q[[1L]], q[[2L]], significance$n, settings$threads)
}

# ---- p values of edges, for tables

# What edge_tests() needs, as element `tests` of kept edges or rows. pairs: how many pairs were tested, for adjusted p
# values, or NULL for none; others: p values of significant pairs that are no edges because of their sign; p: of each
# entry of the rows, or NULL if p follows from the coefficient.
with_tests <- function(edges, task, significance, pairs = NULL, others = NULL, p = NULL) {
  edges$tests <- list(most = task$criterion$value, distribution = if (is.null(p)) significance$distribution,
                      p.value = p, pairs = pairs, others = others)
  edges
}

# With one sign, Benjamini and Hochberg's ranks count the significant pairs of the other one. A file has no p values.
other_p <- function(edges, task, significance) {
  if (task$sign == "absolute" || isTRUE(task$to_file) || is.infinite(edges$least)) return(NULL)
  task$sign <- setdiff(signs, c("absolute", task$sign))
  pass <- edge_pass(task, edges$least, settings = at_pass(task$settings, 4, 4, "edges of the other sign"))
  r <- take_rows(kept_edges(pass, edges$least), task)$x
  p_of_r(r[r != 0], significance$distribution, task$settings$threads) # 0 has both signs
}

# Columns p.value, and fdr if pairs were chosen by it, of edges in any order. tests: of with_tests(); at: which entries
# of the rows the edges are. An adjusted p value is the min of pairs * p[j] / j over the ranks j from the edge's own on.
# Ranks beyond those of the edges have values above the rate asked for, and the last edge has one of at most this, so
# that edges alone have the values of all pairs. Rounding must not lift an edge above what was asked for.
edge_tests <- function(r, tests, at, threads) {
  if (!length(tests)) return(list())
  p <- if (is.null(tests$p.value)) p_of_r(r, tests$distribution, threads) else tests$p.value[at]
  of_groups <- lapply(tests[intersect(GROUP_COLUMNS, names(tests))], `[`, at)
  if (is.null(tests$pairs)) return(c(of_groups, list(p.value = pmin(p, tests$most))))
  adjusted <- stats::p.adjust(c(p, tests$others), "BH", tests$pairs)[seq_along(p)]
  c(of_groups, list(p.value = p, fdr = pmin(adjusted, tests$most)))
}
