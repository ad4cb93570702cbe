# Edges by p value. Two-sided p values fall as |r| grows, so a largest p is a least |r|; where
# p depends on more than r (the ties and the common rows of the pair), the least |r| at which p
# can be reached bounds what has to be looked at, and each p is computed.

# Of a pair's n observations: what to divide tau-b by to have a standard normal variable. q: for
# each column sum(score^2) / (2 untied pairs) - 1, its scores being doubled, centred ranks. The
# variance of a sum over pairs of products, under permutation, is a product of one number
# for each column (Daniels 1944).
kendall_sd <- function(n, q_x, q_y) {
  sqrt(4 * q_x * q_y / (n * (n - 1) * (n - 2)) + 2 / (n * (n - 1)))
}

# q of a column without missing values. It is smallest, (n - 2) / 3, without ties.
tie_quotient <- function(values) {
  n <- length(values)
  t <- tabulate(match(values, unique(values)))
  untied <- (n * (n - 1) - sum(as.numeric(t) * (t - 1))) / 2
  sum((2 * rank(values) - n - 1)^2) / (2 * untied) - 1
}

# Least |r| that has a two-sided p value of at most p.
least_r <- function(p, method, n, q) {
  if (!is_t_distributed(method)) return(stats::qnorm(p / 2, lower.tail = FALSE) * kendall_sd(n, q, q))
  1 / sqrt(1 + (n - 2) / stats::qt(p / 2, n - 2, lower.tail = FALSE)^2) # also where t^2 is 0 or Inf
}

# What is known of the task's p values: n observations at most; `single`: p follows from r.
significance_of <- function(task) {
  found <- checked(.Call(r_observations, task$x, task$y, method_code(task$method), task$use, task$settings))
  n <- found$n_obs
  if (n < 3) fail("p values need at least 3 observations; there are ", n)
  kendall <- !is_t_distributed(task$method)
  q <- if (kendall && !found$common) column_quotients(task)
  ties <- unlist(q)
  ties <- ties[!is.na(ties)]
  untied <- abs(ties - (n - 2) / 3) < 1e-9 * n
  least_q <- if (length(ties)) min(ties) else (n - 2) / 3
  list(n = n, common = found$common, single = !found$common && (!kendall || all(untied)),
       quotients = q, least = function(p) least_r(p, task$method, n, least_q))
}

# Of the columns of x and of y, if there is one: q, NaN where a column has no coefficient.
column_quotients <- function(task) {
  q <- checked(.Call(r_quotients, task$x, task$y, method_code(task$method), task$use, task$settings))
  if (is.null(task$y)) q[1L] else q
}

# Whether an observation counts for no pair if any column misses it.
drops_observations <- function(task) uses[task$use] %in% c("complete.obs", "na.or.complete")

# x, and y if there is one.
task_matrices <- function(task) Filter(Negate(is.null), list(x = task$x, y = task$y))

# The observations that count for all pairs; NULL: all, or each pair has its own.
complete_observations <- function(task) if (drops_observations(task)) complete_rows(task_matrices(task))

significant_edges <- function(task) {
  significance <- significance_of(task)
  if (!significance$single) task$to_file <- FALSE # the edges are looked at one by one, in memory
  if (task$criterion$name == "p.value") {
    least <- significance$least(task$criterion$value)
    edges <- kept_edges(edge_pass(task, least), least)
    if (significance$single) return(edges)
    rows <- take_rows(edges, task)
    if (significance$common) return(keep_significant(rows, task, function(p) task$criterion$value))
    return(keep_by_scores(rows, task, significance, function(count, n) least_score(task$criterion$value)))
  }
  histogram <- histogram_pass(task, at_pass(task$settings, 1, 2))
  range <- fdr_range(weight_bins(histogram, "absolute"), task$criterion$value, significance$least)
  if (significance$single) return(fdr_edges(task, range, significance))
  two_sided <- task
  two_sided$sign <- "absolute" # both signs count among the tests
  pass <- edge_pass(two_sided, range$low, settings = at_pass(task$settings, 2, 2))
  rows <- take_rows(kept_edges(pass, range$low), two_sided)
  fdr <- task$criterion$value
  if (significance$common) return(keep_significant(rows, task, function(p) largest_p(p, range$tests, fdr)))
  keep_by_scores(rows, task, significance, function(count, n) fixed_point(range$tests, fdr, least_score, count, n))
}

# The threshold lies between `low` and `high`, the fixed points of Benjamini and Hochberg's rule with
# the histogram's upper and lower counts.
fdr_range <- function(bins, fdr, least) {
  tests <- bins$total
  count <- function(edges) {
    counts <- cumsum(bins$counts)
    function(r) if (any(edges >= r)) counts[sum(edges >= r)] else 0
  }
  low <- fixed_point(tests, fdr, least, count(bins$upper + bins$error))
  high <- fixed_point(tests, fdr, least, count(bins$lower - bins$error))
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
    pass <- edge_pass(two_sided, range$low, range$high, at_pass(task$settings, 2, 3))
  } else {
    pass <- edge_pass(task, range$low, settings = at_pass(task$settings, 2, 2))
  }
  threshold <- fdr_threshold(pass, range, task, significance)
  if (task$sign != "absolute") {
    store_free(pass)
    pass <- edge_pass(task, min(threshold, 2), settings = at_pass(task$settings, 3, 3))
  }
  kept_edges(pass, threshold)
}

# Weights from `high` on need not be told apart: the range holds the fixed point.
fdr_threshold <- function(pass, range, task, significance) {
  fixed_point(range$tests, task$criterion$value, significance$least,
              function(r) store_count(pass, min(r, range$high), task))
}

# ---- p values of pairs

# Least |z| that has a two-sided p value of at most p, z being standard normal.
least_score <- function(p) stats::qnorm(p / 2, lower.tail = FALSE)

# Drop the edges whose own score is too small, the observations being the same for all; cut() gives the least one to
# keep, from how many of the n have at least a given one. All other pairs have smaller ones.
keep_by_scores <- function(rows, task, significance, cut) {
  q <- significance$quotients
  threads <- task$settings$threads
  scores <- .Call(r_edge_scores, rows$p, rows$i, rows$x, q[[1L]], q[[length(q)]], significance$n, threads)
  least <- cut(function(z) .Call(r_count_scores, scores, z, threads), length(scores))
  side <- c(absolute = 0L, positive = 1L, negative = -1L)[[task$sign]]
  rows[c("p", "i", "x")] <- .Call(r_keep_scores, rows$p, rows$i, rows$x, scores, least, side, threads)
  rows$threshold <- NA_real_
  rows
}

# The same where each pair has observations of its own, by p values; cut() gives the largest p to keep from all of them.
keep_significant <- function(rows, task, cut) {
  to <- row_numbers(rows$p)
  p <- pair_p(rows$i + 1L, to, rows$x, task)
  side <- switch(task$sign, absolute = TRUE, positive = rows$x >= 0, negative = rows$x <= 0)
  rows <- keep_entries(rows, to, which(p <= cut(p) & side))
  rows$threshold <- NA_real_
  rows
}

# The largest p of Benjamini and Hochberg's rule; all that are not among p are larger.
largest_p <- function(p, tests, fdr) {
  p <- sort(p)
  ok <- which(p <= fdr * seq_along(p) / tests)
  if (length(ok)) p[max(ok)] else -1
}

# Two-sided p values of pairs of columns i of x and j of y (or x), of the observations that both have.
pair_p <- function(i, j, r, task) {
  kendall <- !is_t_distributed(task$method)
  common <- common_values(task$x, if (is.null(task$y)) task$x else task$y, i, j, kendall)
  n <- common$n
  if (!kendall) return(tail_probability(gpuTtest(n, r), n - 2, "two.sided", FALSE))
  p <- tail_probability(r / kendall_sd(n, common$q[[1L]], common$q[[2L]]), Inf, "two.sided", FALSE)
  p[n < 3] <- NA
  p
}

# Of pairs of columns the number of observations that both have, and q of either among these.
common_values <- function(x, y, i, j, quotients) {
  values <- pair_pieces(x, y, i, j, function(a, b) {
    common <- !is.na(a) & !is.na(b)
    q <- vapply(seq_len(if (quotients) ncol(a) else 0L), function(e) {
      c(tie_quotient(a[common[, e], e]), tie_quotient(b[common[, e], e]))
    }, c(0, 0))
    rbind(colSums(common), if (quotients) q)
  })
  list(n = as.numeric(values[1L, ]), q = if (quotients) list(values[2L, ], values[3L, ]))
}
