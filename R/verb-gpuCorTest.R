#' @rdname gpuCorPairs
#' @param goodPairs A numeric vector: the number of complete observations, one for all coefficients or one for each.
#' @param coeffs A numeric vector, matrix or array of coefficients in \[-1, 1\].
#' @export
gpuTtest <- function(goodPairs, coeffs) {
  check_type(goodPairs, "goodPairs", is_numeric(goodPairs), "numeric")
  check_type(coeffs, "coeffs", is_numeric(coeffs), "numeric")
  if (length(goodPairs) != 1L && length(goodPairs) != length(coeffs)) {
    fail("'goodPairs' has ", length(goodPairs), " values; it must have one, or as many as 'coeffs': ",
         length(coeffs))
  }
  beyond <- which(abs(coeffs) > 1)
  if (length(beyond)) {
    fail("'coeffs' is ", format(coeffs[beyond[1L]], digits = 17), " at element ", beyond[1L],
         "; coefficients lie in [-1, 1]")
  }
  check_memory(8 * length(coeffs), "gpuTtest()", n_of(length(coeffs), "coefficient"),
               "gpuCorNetwork(p.value = ) keeps the pairs of small p values only")
  t <- checked(.Call(r_t_scores, as.double(coeffs), as.double(goodPairs) - 2, 1L))
  attributes(t) <- plain_attributes(coeffs)
  t
}

#' Test every pair of columns for correlation
#'
#' `gpuCorTest()` returns the coefficient, the number of observations, the test statistic and the p value of every pair
#' of columns, as [stats::cor.test()] does for one pair. It is meant for up to tens of thousands of columns; for more,
#' [gpuCorNetwork()] with `p.value` or `fdr` keeps only the significant pairs.
#'
#' For time series give `df`, because their observations are autocorrelated ([gpuAdjust()]). `adjust` adds p values or
#' false discovery rates by permutation ([gpuPermute()]). [gpucor-p-values] says for which data the tests are valid.
#'
#' **P values** are by default:
#'
#' * Pearson and bicor: Student's t with n - 2 degrees of freedom, minus the rank of the covariates. Cosine: with `df`.
#' * Kendall with up to `r gpucor:::EXACT_UNTOLD[["kendall"]]` observations, Spearman with up to
#'   `r gpucor:::EXACT_UNTOLD[["spearman"]]`, without ties: the exact distribution over all permutations. With more than
#'   14 observations only Spearman's tail is exact: with 15 below 0.001, with 20 below 5e-7; others are within 4 %.
#' * Spearman otherwise: the symmetric beta distribution with the same first four moments (Olds 1938). It is
#'   conservative in the tail: with 21 observations p values near 1e-9 are 40 times too large. P values of Student's t
#'   are too small there. With weights other than 0 and 1, covariates or `df`: Student's t.
#' * Kendall otherwise: the normal approximation with the variance for ties, conservative in the tail.
#' * Distance: the upper tail of the chi-squared distribution with 1 degree of freedom at `n * r + 1` (Shen, Panda and
#'   Vogelstein 2022). The test has one side: `"two.sided"` and `"greater"` are the same.
#' * Mutual information, coherence and concordance: none; use `adjust`.
#'
#' With ties and up to as many observations, a rank correlation's p value is at least the probability of the
#' permutations that leave the data as they are (twice that, if two-sided). With more observations, p values of columns
#' that are mostly zeros are too small ([gpucor-p-values]).
#'
#' P values above 1e-300 have a relative error of about a thousandth, or less with `precision = "double"`.
#' `log.p = TRUE` also returns smaller ones.
#'
#' Pairs with fewer than 3 pairwise-complete observations, or than `min_obs` ([gpuAdjust()]), have no p value. Those of
#' `"bicor"` need at least `r gpucor:::MIN_TESTED[["bicor"]]` observations, and those of `"distance"`
#' `r gpucor:::MIN_TESTED[["distance"]]`; with fewer, use `adjust = "maxT"`.
#'
#' To adjust p values by [stats::p.adjust()], take those of `output = "dist"`, which has each pair once;
#' `p <- test$p.value; p[] <- p.adjust(p, "holm")` keeps names and shape. A symmetric matrix has each pair twice, which
#' makes p values by Bonferroni and Holm twice as large; those by Benjamini and Hochberg stay the same.
#'
#' @section Confidence intervals:
#' `conf.level = 0.95` adds intervals by Fisher's z, `atanh(r)`: with the normal quantile q, they reach from
#' `tanh(z - q s)` to `tanh(z + q s)`. The squared standard error s^2 is:
#'
#' * Pearson and cosine: `1 / (df - 1)`, where df are the degrees of freedom of the test. Pearson's intervals of
#'   independent observations, with `1 / (n - 3)`, are those of [stats::cor.test()].
#' * Spearman: `(1 + r^2 / 2) / (df - 1)` (Bonett and Wright 2000).
#' * Kendall: `0.437 / (n - 4)` (Fieller, Hartley and Pearson 1957), times `1 + 8 r^2 / n`, as strong correlations of
#'   few observations vary more; the factor is by simulation.
#'
#' One-sided alternatives have intervals from -1 or up to 1. Bounds are `NA` if the coefficient or its p value is, with
#' up to 3 observations, and with fewer than 10 by Spearman or Kendall, whose z is then far from normal. A Pearson
#' correlation of 1 has the interval 1 to 1; one of ranks, that of the next smaller coefficient, up to 1.
#'
#' The standard errors are those of bivariate normal data; intervals of other data may be too short ([gpucor-p-values]).
#' `"bicor"` has no intervals, because no standard error is known that holds for strong correlations.
#'
#' @inheritParams gpuCor
#' @param x Data as in [gpuCor()]. For `plot()`: a result.
#' @param alternative,log.p A string: `"two.sided"`, `"less"` or `"greater"`; and `TRUE` for logarithms of p values.
#' @param output A string: `"dist"`, or `"matrix"`, also the shape with `y`.
#' @param exact `NULL`: see Details. `TRUE`: exact p values of rank correlations without ties, for Kendall with up to
#'   `r gpucor:::MAX_EXACT[["kendall"]]` observations, for Spearman `r gpucor:::MAX_EXACT[["spearman"]]`; pairs with
#'   ties or more observations have approximate ones, with a warning. `FALSE`: those of `cor.test(exact = FALSE)`, by
#'   Student's t and the normal distribution. Networks use `NULL`.
#' @param conf.level `NULL`, or a number between 0 and 1: the level of confidence intervals, such as 0.95.
#' @param ...,adjustment,permutation,control `r offered_words("gpuCorTest")`
#' @return A list of class `gpuCorTest`: `r`, `n`, `statistic` (t; Kendall: z; distance: `n * r + 1`) and `p.value`,
#'   each a `dist` that takes names, `$p.value["a", "b"]`, or a matrix with `y` or `output = "matrix"`; `conf.low` and
#'   `conf.high`, with `conf.level`; `df`, if weights, covariates, options or `df` are given; `p.adjusted`, with
#'   `adjust`; and `method`, `use`, `alternative`, `log.p`, `conf.level`. With `"mi"`, `statistic` and `p.value` are
#'   `NULL`. `as.data.frame()` has a row for each pair.
#' @references
#' Bonett DG, Wright TA (2000). *Psychometrika* 65, 23-28.
#'
#' Fieller EC, Hartley HO, Pearson ES (1957). *Biometrika* 44, 470-481.
#'
#' Olds EG (1938). *Annals of Mathematical Statistics* 9, 133-148.
#'
#' Shen C, Panda S, Vogelstein JT (2022). *Journal of Computational and Graphical Statistics* 31, 254-262.
#'
#' @examples
#' test <- gpuCorTest(mtcars, method = "kendall")
#' test
#' plot(test)
#' p <- test$p.value
#' p[] <- p.adjust(p, "holm") # of each pair once
#' p["mpg", "wt"]
#' gpuCorTest(mtcars[, 1:4], conf.level = 0.95)
#' gpuCorTest(swiss$Fertility[1:8], swiss$Catholic[1:8], method = "spearman")$p.value # exact
#' @order 1
#' @export
gpuCorTest <- function(x, y = NULL, method = "pearson", use = "everything",
                       alternative = c("two.sided", "less", "greater"), exact = NULL, conf.level = NULL, log.p = FALSE,
                       output = c("dist", "matrix"), ..., adjustment = NULL, permutation = NULL, control = NULL) {
  specs <- specs_of("gpuCorTest", ...)
  method <- check_method(method)
  alternative <- check_choice(alternative, alternatives, "alternative")
  output <- check_choice(output, c("dist", "matrix"), "output")
  if (!is.null(exact)) exact <- check_flag(exact, "exact")
  if (!is.null(conf.level)) {
    ok <- is_number_within(conf.level, 0, 1) && !conf.level %in% 0:1
    check_that(conf.level, "conf.level", ok, "NULL or a number above 0 and below 1")
  }
  log.p <- check_flag(log.p, "log.p")
  max_t <- max_t_of(specs$permutation)
  found <- features_of("gpuCorTest", specs, environment())
  run <- new_run(found, specs, x, y, method, use, max_t = max_t, tests = is.null(max_t) || has_distribution(method),
                 call = sys.call())
  design <- run$design
  if (is_one_sided(method) || is_never_negative(method)) alternative <- "greater"
  # Parts of the progress bar: p values take ten times as long as coefficients, which each permutation has.
  n_perm <- if (is.null(max_t)) 0 else max_t$n_perm
  units <- 11 + n_perm
  # A pair's observations are those of both columns, even if "everything" makes its coefficient NA.
  use_of_pairs <- if (uses[run$use] == "everything") match("pairwise.complete.obs", uses) else run$use
  counted <- perform(with_element(run, use = use_of_pairs), "observations")
  has_worth <- is_kind(design, "frequency") || is_kind(design, "importance")
  if (has_worth) degrees_of_freedom(run, counted) # or stops
  # A statistic and a p value, n and df if they differ among pairs, and two more each for maxT and confidence intervals.
  has_own_df <- identical(design$df, "bartlett") || (counted$common && is.null(design$df) && has_worth)
  doubles <- 2 + counted$common + has_own_df + 2 * (!is.null(max_t)) + 2 * (!is.null(conf.level))
  check_run_memory(run, layout_of(run$y, output), "gpuCorTest()",
                   "gpuCorNetwork(p.value = ) and (fdr = ) keep the pairs of small p values only", more = 8 * doubles)
  r <- all_coefficients(part_of(run, 0, 1 / units, "coefficients"), output)
  level <- if (alternative == "two.sided") (1 + conf.level) / 2 else conf.level
  # The rule that the engine reads.
  rule <- list(alternative = match(alternative, alternatives) - 1L, log = log.p, min_obs = min_tested(method),
               exact = max_exact(exact, method, design),
               quantile = if (is.null(conf.level)) NA_real_ else stats::qnorm(level),
               triangle = inherits(r, "dist"))
  found <- tested_pairs(r, part_of(run, 1 / units, 10 / units, "p values"), counted, rule)
  warn_few(found$few, length(r))
  least <- max(MIN_OBS, run$min_obs)
  if (rule$min_obs > least && min(found$n, Inf) < rule$min_obs) { # the next lines take memory for all pairs
    is_square <- is.null(run$y) && !rule$triangle # each pair twice, and a diagonal
    few <- which(found$n < rule$min_obs) # most pairs have more: the other conditions are for the few that are left
    if (is_square) few <- few[(few - 1) %% (nrow(r) + 1) != 0]
    few <- few[.subset(found$n, few) >= least & !is.na(.subset(r, few))]
    # Permutation tests are valid for these pairs.
    if (is.null(max_t)) warn_untested(length(few) / (1 + is_square), method) else found$testable[few] <- 1
  }
  if (isTRUE(exact)) warn_inexact(found, method, length(r))
  structure(
    c(list(r = r), found[intersect(c("n", "statistic", "p.value", if (!is.null(conf.level)) c("conf.low", "conf.high")),
                                   names(found))],
      tested_df(found, method, design, counted),
      if (!is.null(max_t)) {
        permuted <- part_of(run, 11 / units, n_perm / units, "permutation", n_perm)
        list(p.adjusted = adjusted_p(found$testable, r, permuted, counted, rule, max_t))
      },
      list(method = method, use = uses[run$use], alternative = alternative, log.p = log.p),
      if (!is.null(conf.level)) list(conf.level = conf.level)),
    class = c("gpuCorTest", "gpuTests", "gpuCorResult"),
    adjusted = c(adjustment_of(run), if (!is.null(max_t)) list(max_t = max_t)), call = run$call
  )
}

# `pairs`: their number.
warn_inexact <- function(found, method, pairs) {
  warn_of <- function(why, n) {
    if (n == 0) return(invisible())
    warning(why, ": ", format_count(n), " of ", n_of(pairs, "pair"), if (n == 1) " has" else " have",
            " no exact p value", call. = FALSE)
  }
  warn_of("ties", found$tied)
  max <- MAX_EXACT[method]
  if (!is.na(max)) warn_of(paste("more than", max, "observations"), sum(found$n > max & !is.na(found$p.value)))
}

# Returns list(df) for the result, with one number if all pairs have the same, or NULL.
tested_df <- function(found, method, design, counted) {
  if (is.null(design) || !is_t_distributed(method)) return(NULL)
  if (!is.null(found$df)) return(list(df = found$df))
  if (!is.null(design$df)) return(list(df = design$df))
  n <- if (counted$common) found$n else effective_n(design, counted)
  list(df = n - measure_of(method)$df_taken - design$lost)
}

# Returns p values adjusted by the largest coefficients of permuted observations or surrogates, or their rates, in the
# shape of `testable`, and NA where it is.
adjusted_p <- function(testable, r, run, counted, rule, max_t) {
  side <- c("absolute", "negative", "positive")[rule$alternative + 1L]
  if (max_t$adjust == "fdr") {
    rates <- rates_at(weights_of(as.vector(r), side), null_rates(run, counted, side, max_t), side)
    testable[] <- ifelse(is.na(testable), NA, if (rule$log) log(rates) else rates)
    return(testable)
  }
  maxima <- null_maxima(run, counted, side, max_t)
  checked(.Call(r_adjusted, testable, r, maxima, constant(side), SAME_COEFFICIENT, rule$log, run$place$threads))
}

# The order is that of the engine's codes.
alternatives <- c("two.sided", "less", "greater")

# Returns n, statistic and p value of each coefficient, in the same shape. `testable`: NA for pairs without p value, and
# for a column with itself.
tested_pairs <- function(r, run, counted, rule) {
  shape <- plain_attributes(r)
  shape$call <- NULL # the call belongs to the coefficients
  if (rule$triangle) shape$class <- c("pairValues", "dist")
  has_p <- has_distribution(run$method)
  found <- if (has_p) {
    perform(run, "test", r, counted, rule, shape)
  } else {
    n <- as.numeric(counted$n_obs)
    testable <- if (n < rule$min_obs) rep(NA_real_, length(r)) else as.vector(r)
    list(n = `attributes<-`(rep(n, length(r)), shape), tied = 0, few = 0, testable = `attributes<-`(testable, shape))
  }
  p <- if (has_p) "p.value" else "testable"
  if (rule$triangle) { # assigned within the list: a copy would take the memory of another matrix
    attr(found[[p]], "diagonal") <- rep(NA_real_, shape$Size)
  } else if (is.null(run$y)) {
    found[[p]][seq.int(1, length(r), by = ncol(r) + 1)] <- NA
  }
  if (has_p) c(found, list(testable = found$p.value)) else found
}
