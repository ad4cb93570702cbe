#' t scores of coefficients
#'
#' `gpuTtest()` converts coefficients to t, `coeffs * sqrt((goodPairs - 2) / (1 - coeffs^2))`. For uncorrelated normal
#' variables it has Student's t distribution with `goodPairs - 2` degrees of freedom.
#'
#' @param goodPairs A numeric vector: the number of complete observations, one for all coefficients or one for each.
#' @param coeffs A numeric vector, matrix or array of coefficients.
#' @return Numbers in the shape of `coeffs`. `NA` if a coefficient is `NA` or has fewer than three observations.
#' @section Errors: A coefficient outside \[-1, 1\]; lengths that do not match.
#' @source The function of this name in package gputools.
#' @seealso [gpuCorTest()] for p values.
#' @examples
#' r <- cor(mtcars)
#' gpuTtest(nrow(mtcars), r)[1:3, 1:3]
#' @export
gpuTtest <- function(goodPairs, coeffs) {
  if (!is_numeric(goodPairs)) fail("'goodPairs' must be numeric, not of class ", class(goodPairs)[1L])
  if (!is_numeric(coeffs)) fail("'coeffs' must be numeric, not of class ", class(coeffs)[1L])
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
  t <- .Call(r_t_scores, as.double(coeffs), as.double(goodPairs) - 2)
  attributes(t) <- plain_attributes(coeffs)
  t
}

#' Test every pair of columns for correlation
#'
#' `gpuCorTest()` returns the coefficient, the number of observations, the test statistic and the p value of every pair
#' of columns, as [stats::cor.test()] does for one pair. It is meant for up to tens of thousands of columns; for more,
#' [gpuCorNetwork()] with `p.value` or `fdr` keeps only the significant pairs.
#'
#' `gpuCor(x, test = TRUE)` returns the coefficients of [gpuCor()] together with the statistics and p values of
#' `gpuCorTest(x)`. `df` replaces the degrees of freedom n - 2 if observations are autocorrelated, as in time series
#' ([gpucor-measures]); the result has those that were used as element `df`.
#'
#' **P values** are by default:
#'
#' * Pearson and bicor: Student's t with n - 2 degrees of freedom, minus the rank of the covariates. Cosine: Student's
#'   t, for which `df` must be given.
#' * Spearman and Kendall, without ties and with up to `r gpucor:::EXACT_UNTOLD` observations: the exact distribution
#'   over all permutations.
#' * Spearman otherwise: the symmetric beta distribution with the same first four moments (Olds 1938). P values of
#'   Student's t are too small in the tail: with 20 observations 1.7 in 10,000 are below 1e-4. The beta distribution is
#'   conservative there: with 15 observations p values near 1e-6 are up to ten times too large. With weights other than
#'   0 and 1, covariates or `df`: Student's t.
#' * Kendall otherwise: the normal approximation with the variance for the ties of both columns, which is conservative
#'   in the tail.
#' * Distance: the upper tail of the chi-squared distribution with 1 degree of freedom at `n * r + 1` (Shen, Panda and
#'   Vogelstein 2022). The test has one side: `"two.sided"` and `"greater"` are the same. It needs
#'   `r gpucor:::MIN_TESTED[["distance"]]` observations; with fewer, use `adjust = "maxT"`.
#' * Mutual information: none; use `adjust = "maxT"`.
#'
#' With ties and up to `r gpucor:::EXACT_UNTOLD` observations, a rank correlation's p value is at least the probability
#' of the permutations that leave the data as they are (twice that, if two-sided). With more observations, p values of
#' columns that are mostly zeros are too small: leave such columns out, or use `adjust = "maxT"` ([gpucor-p-values]).
#'
#' P values above 1e-300 have a relative error of about a thousandth, or less with `precision = "double"`.
#' `log.p = TRUE` also returns smaller ones.
#'
#' @section Confidence intervals:
#' `conf.level = 0.95` adds intervals by Fisher's z, `atanh(r)`: with the normal quantile q, they reach from
#' `tanh(z - q s)` to `tanh(z + q s)`. The squared standard error s^2 is:
#'
#' * Pearson and cosine: `1 / (df - 1)`, where df are the degrees of freedom of the test. Pearson's intervals of
#'   independent observations, with `1 / (n - 3)`, are those of [stats::cor.test()].
#' * Spearman: `(1 + r^2 / 2) / (df - 1)` (Bonett and Wright 2000).
#' * Kendall: `0.437 / (n - 4)` (Fieller, Hartley and Pearson 1957).
#'
#' One-sided alternatives have intervals from -1 or up to 1. Bounds are `NA` if the coefficient or its p value is, and
#' if s is not positive: with n up to 3, or up to 4 for Kendall's tau. A coefficient of 1 has the interval 1 to 1.
#'
#' The standard errors are those of bivariate normal data. Intervals are too short for other data, such as skewed ones
#' by Pearson's correlation and counts with many ties by any method, and for strong correlations of few observations by
#' Kendall's tau ([gpucor-p-values]). `"bicor"` has no intervals, because no standard error is known that holds for
#' strong correlations.
#'
#' @section Permutation tests:
#' `adjust = "maxT"` adds p values that control the family-wise error over all pairs (Westfall and Young 1993, single
#' step). The null distribution is that of the largest coefficient of all pairs (by absolute value, or by the sign of
#' `alternative`) in resampled data. The adjusted p value of a pair is the fraction of the resamples, including the data
#' themselves, whose largest coefficient is at least the pair's. All pairs must have the same observations. [set.seed()]
#' makes the result reproducible.
#'
#' Without `y` each column is permuted independently. With `y` its rows are permuted together, which preserves the
#' dependence among the columns of `x` and among those of `y`.
#'
#' With `covariates` the residuals of each column are permuted, and regressed on the covariates again (Freedman and Lane
#' 1983). For normal data the family-wise error at 0.05 was 0.03 to 0.07. For other data it was 0.09 to 0.68 with 30
#' rows and five covariates, and at most 0.13 with 50 rows or more for each covariate ([gpucor-p-values]); a warning is
#' given with fewer rows. `covariates` of ranks are an error.
#'
#' @section Time series:
#' `surrogate` says how null data are drawn. `"permutation"`, the default, needs independent rows. The rows of fMRI, EEG
#' and other series are not independent, and permutation makes their adjusted p values far too small. Two surrogates
#' preserve the autocorrelation of each series:
#'
#' * `"phase"`: random phases of the Fourier coefficients of each column, which preserve its periodogram (Theiler and
#'   others 1992). With `y`, the phases of all columns of `y` are shifted alike, which preserves the correlations among
#'   them (Prichard and Theiler 1994).
#' * `"block"`: each column is rotated to begin at a random row, and cut into blocks of `block` rows, which are
#'   shuffled. With `y`, the rows of `y` are rotated and shuffled, all columns together.
#'
#' The null hypothesis of all three is that columns (without `y`), or `x` and `y`, are independent; of the surrogates,
#' that they are independent stationary series. [gpuCorNetwork()] with `p.value` and [gpuAssociation()] take the same
#' arguments. [gpuCorCompare()] does not: its hypothesis is that two groups have equal correlations, and surrogates of
#' the columns have none; it permutes the rows or subjects of the groups (`n_perm`).
#'
#' Series must be stationary and without gaps (rows excluded by `use` or `weights`). Regress out a drift with
#' `covariates`, or use `bandpass`; the surrogates are then those of the residuals.
#'
#' Phase surrogates are nearly normal. For independent series with heavy tails, the family-wise error of Pearson's
#' correlation at 0.05 was 0.1 to 0.2 (innovations of t with 3 degrees of freedom) and 0.5 to 0.7 (lognormal); a warning
#' is given for such data. Use `"spearman"`, `"kendall"` or blocks.
#'
#' Blocks must be many times longer than the autocorrelation. For autoregressive series of coefficient 0.9 and 200 rows,
#' the family-wise error at 0.05 was 0.25 with blocks of 20 rows and 0.08 with 50. With `block = NULL` series are only
#' rotated, which controlled the error. There are only n rotations of n rows: adjusted p values with `y` are rarely
#' below 1/n, and without `y` strong correlations mask one another, because two columns are rotated alike in one of n
#' surrogates. Phase surrogates have neither limit.
#'
#' @inheritParams gpuCor
#' @param x Data as in [gpuCor()]. For `print()` and `as.data.frame()`: a result.
#' @param alternative A string: `"two.sided"`, `"less"` or `"greater"`. May be abbreviated.
#' @param log.p `TRUE` to return natural logarithms of p values.
#' @param output A string: `"dist"`, each result as an object that has each pair once; or `"matrix"`, also the shape
#'   with `y`.
#' @param exact `NULL`: see Details. `TRUE`: exact p values of rank correlations without ties, for Kendall with up to
#'   `r gpucor:::MAX_EXACT[["kendall"]]` observations and for Spearman with up to
#'   `r gpucor:::MAX_EXACT[["spearman"]]`; pairs with ties or more observations have approximate ones, with a warning.
#'   `FALSE`: those of `cor.test(exact = FALSE)`, by Student's t and the normal distribution. Networks use `NULL`.
#' @param conf.level `NULL`, or a number between 0 and 1: the level of confidence intervals, such as 0.95. They take the
#'   memory of two numbers for each pair, as much as the statistics and p values. Not for `"bicor"`.
#' @param min_obs An integer of at least 3, or `NULL` for 3: pairs with fewer pairwise-complete observations have no p
#'   value. The p values of `"bicor"` need at least `r gpucor:::MIN_TESTED[["bicor"]]` observations, and those of
#'   `"distance"` `r gpucor:::MIN_TESTED[["distance"]]`; a warning is given if there are pairs with fewer. With up to 5
#'   observations, rank correlations of 1 or -1 are common by chance; a warning is given if there are many.
#' @param ... `r offered_words("gpuCorTest")`
#' @return A list of class `gpuCorTest`: `r`, `n`, `statistic` (t; Kendall: z; distance: `n * r + 1`) and `p.value`,
#'   each a `dist` that takes names, `$p.value["a", "b"]`, or a matrix with `y` or `output = "matrix"`; `conf.low` and
#'   `conf.high`, with `conf.level`; `df`, if weights, covariates, options or `df` are given; `p.adjusted`, with
#'   `adjust`; and `method`, `use`, `alternative`, `log.p`, `conf.level`. With `"mi"`, `statistic` and `p.value` are
#'   `NULL`. `as.data.frame()` has a row for each pair. P values are `NA` if the coefficient is `NA`, if n is below
#'   `min_obs`, and on the diagonal of a matrix.
#' @section Errors: As [gpuCor()]. Method `"mi"` without `adjust`. `conf.level` with a method without intervals.
#'   `adjust` with pairs that have different observations, with `weights` other than 0 and 1, with `runs`, with
#'   `covariates` or `bandpass` of Spearman's rho, and, for `surrogate = "permutation"`, with `bandpass` or `df`;
#'   surrogates of series with gaps.
#' @references
#' Westfall PH, Young SS (1993). *Resampling-based multiple testing*. Wiley.
#'
#' Freedman D, Lane D (1983). A nonstochastic interpretation of reported significance levels. *Journal of Business and
#' Economic Statistics* 1, 292-298.
#'
#' Theiler J, Eubank S, Longtin A, Galdrikian B, Farmer JD (1992). Testing for nonlinearity in time series: the method
#' of surrogate data. *Physica D* 58, 77-94.
#'
#' Prichard D, Theiler J (1994). Generating surrogate data for time series with several simultaneously measured
#' variables. *Physical Review Letters* 73, 951-954.
#'
#' Olds EG (1938). Distributions of sums of squares of rank differences for small numbers of individuals. *Annals of
#' Mathematical Statistics* 9, 133-148.
#'
#' Bonett DG, Wright TA (2000). Sample size requirements for estimating Pearson, Kendall and Spearman correlations.
#' *Psychometrika* 65, 23-28.
#'
#' Fieller EC, Hartley HO, Pearson ES (1957). Tests for rank correlation coefficients. I. *Biometrika* 44, 470-481.
#'
#' Shen C, Panda S, Vogelstein JT (2022). The chi-square test of distance correlation. *Journal of Computational and
#' Graphical Statistics* 31, 254-262.
#'
#' @seealso [gpucor-p-values] for which data the tests are valid; [stats::p.adjust()]
#' @examples
#' test <- gpuCorTest(mtcars, method = "kendall")
#' test
#' head(as.data.frame(test))
#' plot(test)
#' gpuCorTest(mtcars$mpg, mtcars$wt)$p.value
#' gpuCorTest(mtcars[, 1:4], conf.level = 0.95)
#' gpuCorTest(swiss$Fertility[1:8], swiss$Catholic[1:8], method = "spearman")$p.value # exact
#'
#' series <- apply(matrix(rnorm(2000), 200), 2, stats::filter, 0.9, "recursive")
#' min(gpuCorTest(series, adjust = "maxT", n_perm = 99, surrogate = "phase")$p.adjusted)
#' @order 1
#' @export
gpuCorTest <- function(x, y = NULL, method = c("pearson", "kendall", "spearman", "bicor", "cosine", "distance", "mi"),
                       use = "everything", alternative = c("two.sided", "less", "greater"), exact = NULL,
                       conf.level = NULL, min_obs = NULL, log.p = FALSE, output = c("dist", "matrix"), ...) {
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
  min_obs <- check_min_obs(min_obs)
  found <- features_of("gpuCorTest", specs, y = y, alternative = alternative, exact = exact, conf.level = conf.level)
  run <- new_run(found, specs, x, y, method, use, tests = is.null(max_t) || has_distribution(method),
                 call = sys.call())
  design <- run$settings$design
  if (is_one_sided(method)) alternative <- "greater"
  work <- test_work(run, max_t$n_perm)
  # A pair's observations are those of both columns, even if "everything" makes its coefficient NA.
  use_of_pairs <- if (uses[run$use] == "everything") match("pairwise.complete.obs", uses) else run$use
  counted <- count_observations(replace(run, "use", use_of_pairs))
  if (has_worth(design)) degrees_of_freedom(run, counted) # or stops
  # A statistic and a p value, n and df if they differ among pairs, and two more each for maxT and confidence intervals.
  has_own_df <- identical(design$df, "bartlett") || (counted$common && is.null(design$df) && has_worth(design))
  doubles <- 2 + counted$common + has_own_df + 2 * (!is.null(max_t)) + 2 * (!is.null(conf.level))
  check_run_memory(run, layout_of(run$y, output), "gpuCorTest()",
                   "gpuCorNetwork(p.value = ) and (fdr = ) keep the pairs of small p values only", more = 8 * doubles)
  if (!is.null(max_t)) check_exchanged_memory(run, max_t$how)
  r <- all_coefficients(work$coefficients, output)
  # The rule that the engine reads.
  rule <- list(alternative = match(alternative, alternatives) - 1L, log = log.p, min_obs = min_tested(method, min_obs),
               exact = max_exact(exact, method, design), quantile = normal_quantile(conf.level, alternative),
               triangle = inherits(r, "dist"))
  found <- tested_pairs(r, work$tests, counted, rule)
  warn_few(found$few, length(r))
  if (rule$min_obs > min_obs && min(found$n, Inf) < rule$min_obs) { # the next lines take memory for all pairs
    is_square <- is.null(run$y) && !rule$triangle # each pair twice, and a diagonal
    few <- untested_pairs(found$n, r, min_obs, rule$min_obs, is_square)
    # Permutation tests are valid for these pairs.
    if (is.null(max_t)) warn_untested(length(few) / (1 + is_square), method) else found$testable[few] <- 1
  }
  if (isTRUE(exact)) warn_inexact(found, method, length(r))
  structure(
    c(list(r = r), found[intersect(c("n", "statistic", "p.value", if (!is.null(conf.level)) c("conf.low", "conf.high")),
                                   names(found))],
      tested_df(found, method, design, counted),
      if (!is.null(max_t)) {
        list(p.adjusted = adjusted_p(found$testable, r, work$permutations, counted, rule, max_t))
      },
      list(method = method, use = uses[run$use], alternative = alternative, log.p = log.p),
      if (!is.null(conf.level)) list(conf.level = conf.level)),
    class = c("gpuCorTest", "gpuTests", "gpuCorResult"), adjusted = adjustment_of(run)
  )
}

# Divides the progress bar: p values take ten times as long as coefficients, and so does each permutation.
test_work <- function(run, n_perm) {
  if (is.null(n_perm)) n_perm <- 0
  units <- 11 + n_perm
  list(coefficients = part_of(run, 0, 1 / units, "coefficients"),
       tests = part_of(run, 1 / units, 10 / units, "p values"),
       permutations = part_of(run, 11 / units, n_perm / units, "permutation", n_perm))
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

# Returns the quantile of Fisher's z for intervals of this level, or NA.
normal_quantile <- function(conf.level, alternative) {
  if (is.null(conf.level)) return(NA_real_)
  stats::qnorm(if (alternative == "two.sided") (1 + conf.level) / 2 else conf.level)
}

# Returns list(df) for the result, with one number if all pairs have the same, or NULL.
tested_df <- function(found, method, design, counted) {
  if (is.null(design) || !is_t_distributed(method)) return(NULL)
  if (!is.null(found$df)) return(list(df = found$df))
  if (!is.null(design$df)) return(list(df = design$df))
  n <- if (counted$common) found$n else effective_n(design, counted)
  list(df = n - measure_of(method)$df_taken - design$lost)
}

# Returns p values adjusted by the largest coefficients of permuted observations or surrogates, in the shape of
# `testable`, and NA where it is.
adjusted_p <- function(testable, r, run, counted, rule, max_t) {
  side <- c("absolute", "negative", "positive")[rule$alternative + 1L]
  maxima <- null_maxima(run, counted, side, max_t)
  checked(.Call(r_adjusted, testable, r, maxima, constant(side), SAME_COEFFICIENT, rule$log, run$settings$threads))
}

# The order is that of the engine's codes.
alternatives <- c("two.sided", "less", "greater")

# Returns the positions of coefficients from at least min_obs observations, but fewer than `valid`. Most pairs have
# more, so that the other conditions are for the few that are left.
untested_pairs <- function(n, r, min_obs, valid, is_square) {
  few <- which(n < valid)
  if (is_square) few <- few[(few - 1) %% (nrow(r) + 1) != 0]
  few[.subset(n, few) >= min_obs & !is.na(.subset(r, few))]
}

# Returns n, statistic and p value of each coefficient, in the same shape. `testable`: NA for pairs without p value, and
# for a column with itself.
tested_pairs <- function(r, run, counted, rule) {
  shape <- plain_attributes(r)
  shape$call <- NULL # the call belongs to the coefficients
  if (rule$triangle) shape$class <- c("pairValues", "dist")
  has_p <- has_distribution(run$method)
  found <- if (has_p) {
    checked(.Call(r_test, r, run$x, run$y, method_code(run$method), run$use, counted, rule, shape, run$settings))
  } else {
    counted_pairs(r, counted$n_obs, rule$min_obs, shape)
  }
  p <- if (has_p) "p.value" else "testable"
  if (rule$triangle) { # assigned within the list: a copy would take the memory of another matrix
    attr(found[[p]], "diagonal") <- rep(NA_real_, shape$Size)
  } else if (is.null(run$y)) {
    found[[p]][seq.int(1, length(r), by = ncol(r) + 1)] <- NA
  }
  if (has_p) c(found, list(testable = found$p.value)) else found
}

# Works like tested_pairs() for a measure without p values.
counted_pairs <- function(r, n_obs, min_obs, shape) {
  shaped <- function(values) {
    attributes(values) <- shape
    values
  }
  list(n = shaped(rep(as.numeric(n_obs), length(r))), tied = 0, few = 0,
       testable = shaped(if (n_obs < min_obs) rep(NA_real_, length(r)) else as.vector(r)))
}
