# Edges by p value. Two-sided p values fall as |r| grows, so a largest p is a least |r|; where
# p depends on more than r (the ties and the common rows of the pair), the least |r| at which p
# can be reached bounds what has to be looked at, and each p is computed.

# The distribution of a coefficient r under independence, a list: `df` of Student's t, which r / `scale` has if that is
# there; or the standard `deviation` of r or the standard `error` of atanh(r), which are normal then; or `exact`, the p
# value of each |r| that there can be, the largest first, which are equal steps apart, `steps` from -1 to 1. Or `any`, a
# list of such: each pair has one of them.

# Min |r| that has a two-sided p value of at most p; above 1: no |r| has. Halfway between two steps, so that roundings
# of r do not matter. A p value of exactly `p` must not be lost by its own.
least_r <- function(p, distribution) {
  if (!is.null(distribution$any)) return(min(vapply(distribution$any, least_r, 0, p = p)))
  if (!is.null(distribution$exact)) {
    found <- sum(distribution$exact <= p * (1 + ROUNDING))
    return(if (found) max(0, 1 - (2 * found - 1) / distribution$steps) else Inf)
  }
  if (!is.null(distribution$deviation)) return(least_z(p) * distribution$deviation)
  if (!is.null(distribution$error)) return(tanh(least_z(p) * distribution$error))
  df <- distribution$df
  r <- 1 / sqrt(1 + df / stats::qt(p / 2, df, lower.tail = FALSE)^2) # also where t^2 is 0 or Inf
  if (is.null(distribution$scale)) r else r * distribution$scale
}

# Exact p values are ratios of integers, as levels of significance are.
ROUNDING <- 1e-12

# The inverse: two-sided p values of coefficients.
p_of_r <- function(r, distribution, threads) {
  if (!is.null(distribution$exact)) return(distribution$exact[1 + round((1 - abs(r)) / 2 * distribution$steps)])
  if (!is.null(distribution$deviation)) return(two_sided(r / distribution$deviation))
  if (!is.null(distribution$error)) return(two_sided(atanh(r) / distribution$error))
  if (!is.null(distribution$scale)) r <- r / distribution$scale
  checked(.Call(r_t_p, r, distribution$df, threads))
}

# The exact distribution of n untied observations.
exact_distribution <- function(method, n) {
  list(exact = checked(.Call(r_exact_p, method_code(method), n)),
       steps = if (method == "kendall") pairs_of(n) else (n^3 - n) / 6)
}

# The distribution of a coefficient with df degrees of freedom. ranks: it is Spearman's rho, with one by its moments.
t_distribution <- function(df, n, ranks) if (ranks) .Call(r_rho_beta, n) else list(df = df)

# Min number of observations of a pair that has a p value; NULL: the fewest that can be tested.
check_min_obs <- function(min_obs) if (is.null(min_obs)) LEAST_OBS else check_whole(min_obs, "min_obs", LEAST_OBS)

# The engine's rule for two-sided p values; gpuCorTest() has the same by default.
test_rule <- function(task) {
  list(exact = most_exact(NULL, task$method, task$settings$design), min_obs = check_min_obs(task$min_obs))
}

# What is known of the task's p values: n observations at most; `single`: p follows from r by `distribution`, which
# otherwise has a p value at least as small as any pair's for a given r; `one_by_one`: pairs have observations, degrees
# of freedom or ties of their own. score() makes of a p value what edge_scores() returns, and p_of_score() is its
# inverse.
significance_of <- function(task) {
  if (is_combined(task$x)) return(combined_significance(task))
  found <- count_observations(task$x, task$y, task$method, task$use, task$settings)
  n <- found$n_obs
  rule <- test_rule(task)
  df <- degrees_of_freedom(task, found, rule$min_obs)
  kendall <- !is_t_distributed(task$method)
  is_small <- n <= rule$exact
  ties <- ties_of(task, found, kendall || is_small)
  one_by_one <- found$common || df$estimated || (is_small && !ties$none)
  list(n = n, one_by_one = one_by_one, single = !one_by_one && ties$none, rule = rule,
       df = df$most,
       quotients = ties$quotients, score = if (one_by_one) function(p) -log(p) - ROUNDING else least_z,
       p_of_score = if (one_by_one) function(score) exp(-score) else two_sided,
       distribution = if (is_small && !one_by_one) {
         exact_distribution(task$method, n)
       } else {
         approximate <- if (kendall) {
           list(deviation = .Call(r_kendall_deviation, n, ties$least, ties$least))
         } else {
           t_distribution(df$most, n, rule$exact > 0)
         }
         if (one_by_one) any_distribution(approximate, task$method, found, rule) else approximate
       })
}

# The distributions that pairs can have: the approximate one, and exact ones of each possible number of observations.
any_distribution <- function(approximate, method, found, rule) {
  sizes <- if (found$common) LEAST_OBS:max(LEAST_OBS, found$n_obs) else found$n_obs
  list(any = c(list(approximate), lapply(sizes[sizes <= rule$exact], exact_distribution, method = method)))
}

# Returns what ties do if all pairs have the same observations and p values depend on ties: list(quotients) of the
# columns, `least`, the smallest one, and `none`, which is TRUE if there are no ties.
ties_of <- function(task, found, matters) {
  untied <- (found$n_obs - 2) / 3
  if (found$common || !matters) return(list(least = untied, none = TRUE))
  quotients <- column_quotients(task, found)
  all <- unlist(quotients)
  all <- all[!is.na(all)]
  list(quotients = quotients, least = if (length(all)) min(all) else untied,
       none = all(abs(all - untied) < 1e-9 * found$n_obs))
}

# Of the columns of x and of y, or x, what their ties do to the variance of tau-b; NA where a column has no coefficient.
column_quotients <- function(task, counted) {
  checked(.Call(r_tie_quotients, task$x, task$y, method_code(task$method), task$use, counted, task$settings))
}

significant_edges <- function(task) {
  significance <- significance_of(task)
  if (!significance$single) task$to_file <- FALSE # the edges are looked at one by one, in memory
  if (is_random(task$x)) task <- with_t(task)
  if (task$criterion$name == "p.value") edges_by_p(task, significance) else edges_by_fdr(task, significance)
}

edges_by_p <- function(task, significance) {
  p <- task$criterion$value
  least <- least_r(p, significance$distribution)
  if (least > 1) least <- Inf
  edges <- kept_edges(edge_pass(task, min(least, 2)), least)
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
  found <- edge_scores(rows, task, significance)
  scores <- found$scores
  warn_few(found$few, task$pairs)
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

# list(scores, few). Where all pairs have the same observations and degrees of freedom the scores are |z|; otherwise
# -log(p). significance$score() makes either of a p value. few: how many have a coefficient of 1 or -1 by very few
# observations.
edge_scores <- function(rows, task, significance) {
  settings <- task$settings
  if (!is.null(rows$group_tests)) return(list(scores = t_scores(rows$group_tests), few = 0))
  if (significance$one_by_one) {
    return(checked(.Call(r_pair_scores, rows, task$x, task$y, method_code(task$method), task$use, significance$rule,
                         settings)))
  }
  q <- significance$quotients
  list(scores = .Call(r_edge_scores, rows$p, rows$i, rows$x, q[[1L]], q[[2L]], significance$n, settings$threads),
       few = 0)
}

# Warns if at least 1 % of the pairs, and 10, have coefficients of 1 or -1 from very few observations.
warn_few <- function(few, pairs) {
  if (few < max(10, pairs / 100)) return(invisible())
  most <- constant("very few")
  warn("gpuCorFewObservations", format_count(few), " of ", n_of(pairs, "pair"), " have abs(r) = 1 from ", most,
       " observations or fewer, which is common by chance; min_obs = ", most + 1, " gives such pairs no p value")
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

# Replaces coefficients by those of `near`. at: the positions of the coefficients among the entries.
nearest_r <- function(r, near, at = seq_along(r)) {
  found <- match(near$at, at)
  r[found[!is.na(found)]] <- near$r[!is.na(found)]
  r
}

# Columns p.value, and fdr if pairs were chosen by it, of edges in any order. tests: of with_tests(); at: which entries
# of the rows the edges are. An adjusted p value is the min of pairs * p[j] / j over the ranks j from the edge's own on.
# Ranks beyond those of the edges have values above the rate asked for, and the last edge has one of at most this, so
# that edges alone have the values of all pairs. Rounding must not lift an edge above what was asked for.
edge_tests <- function(r, tests, at, threads) {
  if (!length(tests)) return(list())
  p <- if (is.null(tests$p.value)) {
    p_of_r(nearest_r(r, tests$near, at), tests$distribution, threads)
  } else {
    tests$p.value[at]
  }
  of_groups <- lapply(tests[intersect(GROUP_COLUMNS, names(tests))], `[`, at)
  if (is.null(tests$pairs)) return(c(of_groups, list(p.value = pmin(p, tests$most))))
  adjusted <- stats::p.adjust(c(p, tests$others), "BH", tests$pairs)[seq_along(p)]
  c(of_groups, list(p.value = p, fdr = pmin(adjusted, tests$most)))
}

# ---- definitions

# Returns the max number of observations with exact p values, as far as the engine has them. 0: p values are Student's t
# or normal.
most_exact <- function(exact, method, design) {
  if (isFALSE(exact) || is_designed(design) || !method %in% c("kendall", "spearman")) return(0)
  if (isTRUE(exact)) Inf else EXACT_UNTOLD
}

# Max number of observations with exact p values by default. Kendall's normal approximation has sizes from 0.02 to 0.08
# at a level of 0.05 below 10 observations; for Spearman's rho this is the engine's limit.
EXACT_UNTOLD <- 14

# The same observations in another order have the same coefficient, but for roundings, on a GPU in single precision.
SAME_COEFFICIENT <- 1e-6

two_sided <- function(z) 2 * stats::pnorm(-abs(z))

# p values adjusted for all pairs, in the order of found$p.value. values: what the maxima are of.
adjusted_differences <- function(maxima, p, values, sign, threads = 1L) {
  .Call(r_adjusted, p, values, sort(maxima), constant(sign), SAME_COEFFICIENT, FALSE, threads)
}

# The maxima of permutations are of t with random effects, and otherwise of tanh(difference).
permuted_values <- function(found, is_random) if (is_random) found$statistic else tanh(found$difference)
