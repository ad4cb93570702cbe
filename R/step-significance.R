# Edges by p value. Two-sided p values decrease with |r|, so a max p is a min |r|; one-sided ones decrease with r. If p
# depends on more than r (ties, or pairwise-complete observations), the min |r| that can reach p bounds the candidates,
# and each p is computed.

# The distribution of a coefficient r under independence is a list with one of `df` of Student's t, for r, or r /
# `scale` if present, or of F of `tested` terms; the standard `deviation` of a normal r; the standard `error` of a
# normal atanh(r), or with `groups` of the root of a chi-squared variable with one degree of freedom less than groups;
# `chi_squared`, the number of observations n for which n r + 1 is chi-squared, with one side; `exact`, the p value of
# each possible |r|, largest first, in equal steps, `steps` from -1 to 1; or `any`, a list of distributions, of which
# each pair has one. `min_p`: the min p value of a normal one, see min_rank_p().

# Returns the min |r| with a p value of at most p, or a value above 1 if there is none. It is halfway between
# two steps, so that rounding errors of r do not matter, and tolerates rounding of p.
min_r <- function(p, distribution) {
  if (!is.null(distribution$any)) return(min(vapply(distribution$any, min_r, 0, p = p)))
  if (isTRUE(p * (1 + ROUNDING) < distribution$min_p)) return(Inf)
  if (!is.null(distribution$exact)) {
    found <- sum(distribution$exact <= p * (1 + ROUNDING))
    return(if (found) max(0, 1 - (2 * found - 1) / distribution$steps) else Inf)
  }
  if (!is.null(distribution$deviation)) return(min_z(p) * distribution$deviation)
  if (!is.null(distribution$error)) return(tanh(min_z(p, distribution$groups) * distribution$error))
  if (!is.null(distribution$chi_squared)) return(max(0, (min_z(p)^2 - 1) / distribution$chi_squared))
  df <- distribution$df
  t_squared <- if (isTRUE(distribution$tested > 1)) { # F; pairs that miss subjects have fewer degrees of freedom
    min(stats::qf(p, distribution$tested, seq_len(df), lower.tail = FALSE))
  } else {
    stats::qt(p / 2, df, lower.tail = FALSE)^2
  }
  r <- 1 / sqrt(1 + df / t_squared) # also valid if t^2 is 0 or Inf
  if (is.null(distribution$scale)) r else r * distribution$scale
}

# Relative tolerance of p: exact p values and significance levels are ratios of integers.
ROUNDING <- 1e-12

# Returns p values of coefficients: the inverse of min_r().
p_of_r <- function(r, distribution, threads) {
  if (!is.null(distribution$exact)) return(distribution$exact[1 + round((1 - abs(r)) / 2 * distribution$steps)])
  normal <- function(z) two_sided(z, distribution$groups, distribution$min_p)
  if (!is.null(distribution$deviation)) return(normal(r / distribution$deviation))
  if (!is.null(distribution$error)) return(normal(atanh(r) / distribution$error))
  if (!is.null(distribution$chi_squared)) return(two_sided(sqrt(pmax(0, distribution$chi_squared * r + 1))))
  if (!is.null(distribution$scale)) r <- r / distribution$scale
  checked(.Call(r_t_p, r, distribution$df, threads))
}

# Returns the min number of observations of a pair with a p value.
min_tested <- function(method) max(MIN_OBS, MIN_TESTED[method], na.rm = TRUE)

# Warns of pairs that have too few observations for a valid p value. `which`: words that say which pairs these are.
warn_untested <- function(untested, method, which = NULL) {
  if (untested == 0) return(invisible())
  warn("gpuCorUntested", n_of(untested, "pair"), which, if (untested == 1) " has" else " have",
       " no p value: method = \"", method, "\" needs at least ", MIN_TESTED[[method]], " observations of a pair")
}

# Returns what is known about the run's p values. `n`: max number of observations; `single`: TRUE if p follows from r
# by `distribution`, which otherwise has the min p of any pair for a given r; `one_by_one`: TRUE if observations,
# degrees of freedom or ties differ among pairs; score(): converts a p value to a score of edge_scores(); p_of_score():
# its inverse.
significance_of <- function(run) {
  if (!is_random(run$x) || !are_compared(run$x)) need_distribution(run$method)
  if (is_combined(run$x)) return(combined_significance(run))
  found <- perform(run, "observations")
  n <- found$n_obs
  of_ranks <- function(n, exact, quotient = NA_real_) {
    checked(.Call(r_distribution, run$method, n, exact, quotient))
  }
  rule <- list(exact = max_exact(NULL, run$method, run$design), min_obs = min_tested(run$method))
  df <- degrees_of_freedom(run, found, max(rule$min_obs, run$min_obs))
  kendall <- depends_on_ties(run$method)
  is_small <- n <= rule$exact
  # For x and y the factors of the variance of tau-b due to ties, NA for columns without coefficients, where p values
  # depend on them and all pairs have the same observations.
  quotients <- if (!found$common && (kendall || is_small)) perform(run, "tie_quotients", found)
  untied <- (n - 2) / 3
  factors <- unlist(quotients)
  factors <- factors[!is.na(factors)]
  has_ties <- any(abs(factors - untied) >= 1e-9 * n)
  one_by_one <- found$common || df$estimated || (is_small && has_ties)
  distribution <- if (is_small && !one_by_one) {
    of_ranks(n, TRUE)
  } else if (kendall) {
    of_ranks(n, FALSE, if (length(factors)) min(factors) else untied)
  } else if (is_one_sided(run$method)) {
    list(chi_squared = n)
  } else if (rule$exact > 0) { # Spearman's rho
    of_ranks(n, FALSE)
  } else {
    list(df = df$max)
  }
  if (one_by_one) { # pairs can have the approximate one, and exact ones for each number of observations
    sizes <- if (found$common) MIN_OBS:max(MIN_OBS, n) else n
    exact <- lapply(sizes[sizes <= rule$exact], of_ranks, TRUE)
    distribution <- list(any = c(list(distribution), exact))
  }
  list(n = n, one_by_one = one_by_one, single = !one_by_one && !has_ties, rule = rule, df = df$max,
       quotients = quotients, score = if (one_by_one) function(p) -log(p) - ROUNDING else min_z,
       p_of_score = if (one_by_one) function(score) exp(-score) else two_sided, distribution = distribution)
}

significant_edges <- function(run) {
  if (sign_of_tests(run) == "positive") {
    max <- floor(100 * two_sided(1)) / 100
    check_that(run$criterion$value, run$criterion$name, run$criterion$value <= max,
               paste0("at most ", max, " for method = \"", run$method, "\""),
               ": larger p values are those of negative coefficients, which are no edges")
  }
  significance <- significance_of(run)
  if (!significance$single) run <- with_criterion(run, to_file = FALSE) # pairs are tested one by one, in memory
  if (is_random(run$x)) run <- with_t(run)
  if (run$criterion$name == "fdr") return(edges_by_fdr(run, significance))
  p <- run$criterion$value
  min_weight <- min_r(p, significance$distribution)
  if (min_weight > 1) min_weight <- Inf
  edges <- kept_edges(edge_pass(run, min(min_weight, 2)), min_weight)
  if (significance$single) return(with_tests(edges, run, significance))
  keep_by_scores(take_rows(edges, run), run, significance, function(count, n) significance$score(p))
}

edges_by_fdr <- function(run, significance) {
  fdr <- run$criterion$value
  all <- with_criterion(run, sign = sign_of_tests(run)) # pairs of both signs are tested
  passes <- if (!significance$single || run$criterion$sign == all$criterion$sign) 2 else 4
  pass <- if (passes == 2) counted_pass(all, significance$distribution)
  first <- at_pass(run, 1, passes, "histogram of the coefficients")
  histogram <- if (is.null(pass)) perform(first, "histogram") else pass
  range <- fdr_range(weight_bins(histogram, all$criterion$sign), fdr, significance$distribution)
  if (!is.null(pass) && range$low < pass$stored_min) { # the sample was wrong
    store_free(pass)
    pass <- NULL
  }
  if (significance$single) {
    edges <- fdr_edges(run, range, significance, pass)
    others <- NULL
    if (passes == 4 && !isTRUE(run$criterion$to_file) && is.finite(edges$min_weight)) { # a file has no p values
      # With one sign, Benjamini and Hochberg's ranks include significant pairs of the other sign.
      other <- with_criterion(run, sign = setdiff(signs, c("absolute", run$criterion$sign)))
      pass <- edge_pass(at_pass(other, 4, 4, "edges of the other sign"), edges$min_weight)
      r <- take_rows(kept_edges(pass, edges$min_weight), other)$x
      others <- p_of_r(r[r != 0], significance$distribution, run$place$threads) # 0 would count for both signs
    }
    return(with_tests(edges, run, significance, pairs = range$tests, others = others))
  }
  if (is.null(pass)) pass <- edge_pass(at_pass(all, 2, 2, "edges"), range$low)
  rows <- take_rows(kept_edges(pass, range$low), all)
  keep_by_scores(rows, run, significance, pairs = range$tests,
                 function(count, n) fixed_point(range$tests, fdr, significance$score, count, n))
}

# A network by FDR needs a histogram of all pairs before its edges are known. A sample of the columns tells which pairs
# may be edges, so that one pass over all pairs counts and stores. Returns the pass with `stored_min`, the min weight of
# its store; NULL if there is no sample, or many edges. On a GPU, whose sinks do one of both, two passes take less time.
counted_pass <- function(run, distribution) {
  if (run$place$backend != "cpu" || !is.null(run$place$replay) || !is.null(run$mask)) return(NULL)
  sample <- if (is.null(run$criterion$spool)) sample_run(run, FDR_SAMPLED * run$pairs)
  if (is.null(sample)) return(NULL)
  sample <- part_of(sample, 0, SAMPLE_WORK, "sample of the columns")
  bins <- weight_bins(perform(sample, "histogram"), run$criterion$sign)
  bins$error <- max(bins$error, constant("coarse error")) # of the pass over all pairs
  fdr <- run$criterion$value
  min_weight <- min(fdr_range(bins, min(1, FDR_MARGIN * fdr), distribution)$low,
                    min_r(fdr * FDR_EDGES / run$pairs, distribution), 2)
  edges <- sum(bins$counts[1 - seq_along(bins$counts) * bins$width >= min_weight - bins$width])
  if (edges / max(1, sum(bins$counts)) * run$pairs > MAX_STORED) return(NULL)
  pass <- perform(part_of(run, SAMPLE_WORK, 1 - SAMPLE_WORK, "edges"), "counted_edges", store_rule(run, min_weight),
                  2^53, min_r(fdr, distribution))
  c(pass, list(stored_min = min_weight))
}

# The fraction of edges for which the sample is large enough; the factor of the FDR so that a sample, whose columns have
# other edges, does not set the min weight too high; and the number of edges that the store has room for without any in
# the sample.
FDR_SAMPLED <- 1e-3
FDR_MARGIN <- 2
FDR_EDGES <- 64

# Returns a range that contains the threshold: the fixed points of Benjamini and Hochberg's rule with the histogram's
# upper and lower counts.
fdr_range <- function(bins, fdr, distribution) {
  counts <- c(0, cumsum(bins$counts))
  tests <- counts[length(counts)]
  lower <- 1 - seq_along(bins$counts) * bins$width
  count <- function(edges) function(r) counts[1L + sum(edges >= r)]
  min_r_of <- function(p) min_r(p, distribution)
  low <- fixed_point(tests, fdr, min_r_of, count(lower + bins$width + bins$error))
  high <- fixed_point(tests, fdr, min_r_of, count(lower - bins$error))
  list(low = max(0, low), high = max(0, high), tests = tests)
}

# Step-up procedure from above: with `found` pairs, p may be at most fdr * found / tests; repeats until `found` is
# constant. Returns the min |r|, or what `min_weight` makes of p; Inf if no pair remains.
fixed_point <- function(tests, fdr, min_r_of, count, found = tests) {
  repeat {
    if (found == 0) return(Inf)
    r <- min_r_of(fdr * found / tests)
    now <- count(r)
    if (now >= found) return(r)
    found <- now
  }
}

# Returns the edges if p follows from r: only weights between low and high are ranked, as the range contains the fixed
# point. With another sign than the tested one, a first pass finds the threshold. `pass`: NULL, or one with all edges.
fdr_edges <- function(run, range, significance, pass = NULL) {
  if (range$low > 1) return(kept_edges(if (is.null(pass)) edge_pass(run, 2) else pass, Inf))
  all <- with_criterion(run, sign = sign_of_tests(run))
  is_all <- run$criterion$sign == all$criterion$sign
  if (!is_all) {
    pass <- edge_pass(at_pass(all, 2, 4, "threshold"), range$low, range$high)
  } else if (is.null(pass)) {
    pass <- edge_pass(at_pass(run, 2, 2, "edges"), range$low)
  }
  threshold <- fixed_point(range$tests, run$criterion$value, function(p) min_r(p, significance$distribution),
                           function(r) ask_store(pass, run, "count", min(r, range$high)))
  if (!is_all) {
    store_free(pass)
    pass <- edge_pass(at_pass(run, 3, 4, "edges"), min(threshold, 2))
  }
  kept_edges(pass, threshold)
}

# ---- p values of pairs

# Returns the min |z| of a standard normal z with a two-sided p value of at most p; with `groups`, the min z whose
# square has the p value in the chi-squared distribution of so many groups.
min_z <- function(p, groups = NULL) {
  if (is.null(groups)) return(stats::qnorm(p / 2, lower.tail = FALSE))
  sqrt(stats::qchisq(p, groups - 1, lower.tail = FALSE))
}

# Drops the edges whose own score is too small. cut(): returns the min score from a function that counts the scores of
# at least a given value, and the number of scores. All other pairs have smaller scores. `pairs`: see with_tests().
keep_by_scores <- function(rows, run, significance, cut, pairs = NULL) {
  threads <- run$place$threads
  if (is_random(run$x)) {
    rows$group_tests <- group_tests(part_of(run, 1, 0, "tests of the edges"), rows)
    rows$x <- tanh(rows$group_tests$difference) # they were transformed t
  }
  found <- edge_scores(rows, run, significance)
  scores <- found$scores
  warn_few(found$few, run$pairs)
  if (isTRUE(significance$one_by_one && significance$rule$min_obs > max(MIN_OBS, run$min_obs))) {
    warn_untested(sum(is.na(scores)), run$method, " with strong coefficients")
  }
  min_weight <- cut(function(score) .Call(r_count_scores, scores, score, threads), length(scores))
  side <- c(absolute = 0L, positive = 1L, negative = -1L)[[run$criterion$sign]]
  is_kept <- function(sides) !is.na(scores) & scores >= min_weight & sides
  others <- if (!is.null(pairs)) {
    significance$p_of_score(if (side == 0L) numeric() else scores[is_kept(rows$x * side < 0)])
  }
  kept <- kept_rows(rows, scores, min_weight, run, side)
  kept <- with_tests(kept, run, significance, pairs, others, kept$scores)
  if (!is.null(rows$group_tests)) {
    kept$tests <- c(kept$tests, lapply(rows$group_tests[c("statistic", "df")], `[`, is_kept(rows$x * side >= 0)))
  }
  kept$threshold <- NA_real_
  kept
}

# Adds tests to the entries of a network of differences; a network of t gets its differences.
with_difference_tests <- function(rows, run) {
  tests <- group_tests(part_of(run, 1, 0, "tests of the edges"), rows)
  rows$tests <- c(list(max = 1, p.value = exp(-t_scores(tests))), tests[c("statistic", "df")])
  if (run$x$name == "t as coefficient") rows$x <- tanh(tests$difference) # rows of DIFFERENCE have it
  rows
}

# Returns list(scores, few). Scores are |z| if all pairs have the same observations and degrees of freedom, otherwise
# -log(p). `few`: number of pairs with a coefficient of 1 or -1 from very few observations.
edge_scores <- function(rows, run, significance) {
  if (!is.null(rows$group_tests)) return(list(scores = t_scores(rows$group_tests), few = 0))
  if (significance$one_by_one) {
    return(perform(run, "pair_scores", rows, significance$rule))
  }
  q <- significance$quotients
  list(scores = checked(.Call(r_edge_scores, rows$p, rows$i, rows$x, q[[1L]], q[[2L]], significance$n,
                              run$place$threads)),
       few = 0)
}

# Warns if at least 1 % of n pairs, or of what else, and 10, have coefficients of 1 or -1 from very few observations.
warn_few <- function(few, n, what = "pair") {
  if (few < max(10, n / 100)) return(invisible())
  max <- constant("very few")
  warn("gpuCorFewObservations", format_count(few), " of ", n_of(n, what), " have abs(r) = 1 from ", max,
       " observations or fewer, which is common by chance; min_obs = ", max + 1,
       " leaves such pairs out")
}

# ---- p values of edges, for tables

# Returns the numbers of p.adjust(p, "BH", n). The engine sorts less than 2^31 p values.
false_discovery_rates <- function(p, n = sum(!is.na(p)), threads = 1L) {
  ascending <- if (length(p) > .Machine$integer.max && !isFALSE(is.unsorted(p))) order(p, na.last = NA)
  rates <- checked(.Call(r_rates, if (is.null(ascending)) p else p[ascending], as.double(n), threads))
  if (is.null(ascending)) attributes(rates) <- attributes(p) else rates <- replace(p, ascending, rates)
  rates
}

# Adds the element `tests`, which edge_tests() needs, to kept edges or rows. `pairs`: number of tested pairs, for
# adjusted p values, or NULL; `others`: p values of significant pairs with the other sign, which are no edges; `scores`:
# those of each entry, or NULL if the p value follows from the coefficient. P values of many |z| take longer than the
# network and are left to edge_tests().
with_tests <- function(edges, run, significance, pairs = NULL, others = NULL, scores = NULL) {
  is_z <- !significance$one_by_one
  edges$tests <- list(max = run$criterion$value, distribution = if (is.null(scores)) significance$distribution,
                      p.value = if (!is.null(scores) && !is_z) significance$p_of_score(scores),
                      z = if (is_z) scores, pairs = pairs, others = others)
  edges
}

# Replaces coefficients by those of `near`. `at`: the positions of the coefficients among the entries.
nearest_r <- function(r, near, at = seq_along(r)) {
  found <- match(near$at, at)
  r[found[!is.na(found)]] <- near$r[!is.na(found)]
  r
}

# Columns of tables that are stored for each edge.
EDGE_COLUMNS <- c(GROUP_COLUMNS, "fdr", "lag")

# Returns column p.value, and fdr for that criterion, of edges in any order. `tests`: from with_tests(); `at`: positions
# of the edges among the entries. An adjusted p value is the min of pairs * p[j] / j over ranks j from the edge's own
# on. Pairs that are no edges would not change this min, as their values exceed the criterion, which the last edge
# fulfills. The results are capped at the criterion, as rounding may exceed it.
edge_tests <- function(r, tests, at, threads) {
  if (!length(tests)) return(list())
  own <- lapply(tests[intersect(EDGE_COLUMNS, names(tests))], `[`, at)
  if (!is.null(tests$maxima)) return(list(p.adjusted = adjusted_by_maxima(tests$maxima, r, r, tests$side, threads)))
  if (is.null(tests$max)) return(own) # edges were not tested
  p <- if (!is.null(tests$z)) {
    two_sided(tests$z[at])
  } else if (!is.null(tests$p.value)) {
    tests$p.value[at]
  } else {
    p_of_r(nearest_r(r, tests$near, at), tests$distribution, threads)
  }
  if (is.null(tests$pairs)) return(c(own, list(p.value = pmin(p, tests$max))))
  adjusted <- false_discovery_rates(c(p, tests$others), tests$pairs, threads)[seq_along(p)]
  c(own, list(p.value = p, fdr = pmin(adjusted, tests$max)))
}

# ---- definitions

# Returns the max number of observations with exact p values, if the engine supports as many; 0: Student's t or normal.
max_exact <- function(exact, method, design) {
  if (isFALSE(exact) || is_designed(design) || !method %in% names(MAX_EXACT)) return(0)
  (if (isTRUE(exact)) MAX_EXACT else EXACT_UNTOLD)[[method]]
}

# Max numbers of observations of the engine's exact distributions (src/stats/test.h), and of those with exact p values
# by default: Kendall's as in cor.test().
MAX_EXACT <- c(kendall = 170, spearman = 20)
EXACT_UNTOLD <- c(kendall = 49, spearman = 20)

# Permuted observations have the same coefficient except for rounding, on a GPU in single precision.
SAME_COEFFICIENT <- 1e-6

# The inverse of min_z(). `min_p`: the min of a p value, see min_rank_p().
two_sided <- function(z, groups = NULL, min_p = NULL) {
  p <- if (is.null(groups)) 2 * stats::pnorm(-abs(z)) else stats::pchisq(z^2, groups - 1, lower.tail = FALSE)
  if (is.null(min_p)) p else pmax(p, min_p)
}

# Returns the tests of normal z, or of roots of chi-squared variables (min_z()).
z_tests <- function(z, groups = NULL, min_p = NULL) {
  list(statistic = if (is.null(groups)) z else z^2, p.value = two_sided(z, groups, min_p))
}

# Returns p values adjusted for all pairs, in the order of `p`, which is NA for pairs without one. `values`: the
# statistic of the maxima.
adjusted_by_maxima <- function(maxima, p, values, sign, threads = 1L) {
  checked(.Call(r_adjusted, p, values, sort(maxima), constant(sign), SAME_COEFFICIENT, FALSE, threads))
}

# Returns the statistic whose maxima permutations have: t with random effects, otherwise tanh(difference).
permuted_values <- function(found, is_random, to) {
  if (!is_random) return(tanh(found$difference))
  pmax(pmin(comparable_statistics(found$statistic, found$df, to), MAX_T), -MAX_T)
}

# A larger t, of subjects that all but agree, counts as this one when permutations are compared.
MAX_T <- 1e9
