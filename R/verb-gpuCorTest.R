#' t scores of coefficients
#'
#' @param goodPairs The numbers of complete pairs of observations that the
#'   coefficients come from; one for all, or one each.
#' @param coeffs Coefficients, in any shape.
#' @return `coeffs * sqrt((goodPairs - 2) / (1 - coeffs^2))`, in the shape of
#'   `coeffs`: under independence of normal variables, Student's t with
#'   `goodPairs - 2` degrees of freedom. `NA` where a coefficient is `NA` or there
#'   are fewer than three pairs.
#' @section Errors: a coefficient outside \[-1, 1\], lengths that do not match.
#' @source The function of this name in package gputools.
#' @seealso [gpuCorTest()] for p values.
#' @examples
#' r <- cor(mtcars)
#' gpuTtest(nrow(mtcars), r)[1:3, 1:3]
#' @export
gpuTtest <- function(goodPairs, coeffs) {
  if (!is.numeric(goodPairs)) fail("'goodPairs' must be numeric, not of class ", class(goodPairs)[1L])
  if (!is.numeric(coeffs)) fail("'coeffs' must be numeric, not of class ", class(coeffs)[1L])
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
#' Coefficients, numbers of complete observations, test statistics and p values
#' of all pairs. With `exact = FALSE` they are those of [stats::cor.test()] with
#' `exact = FALSE`, for each pair.
#'
#' Pearson, bicor and cosine: Student's t with n - 2 degrees of freedom, less what covariates take, or with those that
#' `df` says; weighted observations count by `weights_are`: see [gpucor-measures].
#'
#' Spearman and Kendall, without ties and with up to `r gpucor:::EXACT_UNTOLD` observations: the exact distribution over
#' all orders of the observations.
#'
#' Spearman otherwise: the symmetric beta distribution that has the same first four moments
#' (Olds 1938), as Student's t is too small in the tail: with 20 observations 1.7 in 10,000 of its p values are below
#' 1e-4, and a false discovery rate of 0.05 finds something in a fifth of the data sets of 700 independent columns. The
#' beta distribution is conservative below 1e-4: p values are up to ten times too large at 1e-6 with 15 observations,
#' less with more. The statistic is t. With weights other than 0 and 1, covariates or `df` the p values are those of t,
#' too.
#'
#' Kendall otherwise: the normal approximation with the variance that the ties of the two columns give. It is
#' conservative in the tail.
#'
#' With ties and up to `r gpucor:::EXACT_UNTOLD` observations, a rank correlation's p value is at least the
#' probability of the orders that look the same as the pair's own (twice that, if two-sided). With more observations and
#' most of them tied, such as columns that are mostly zeros, p values of rank correlations are too small in the tail:
#' use `adjust = "maxT"` there.
#'
#' Tails are computed as such, never as a difference from one, and with `log.p = TRUE` also where p is too small for a
#' number. Coefficients of single precision that are so near to 1 or -1 that their roundings would change p by more than
#' a thousandth are computed anew in double precision for the test; `r` stays as it is. So p values above
#' 1e-300 are right to about a thousandth of themselves. With `precision = "double"` they are right to many more digits,
#' but for coefficients so near to 1 that double precision itself has only some digits of the difference.
#'
#' `adjust = "maxT"`: p values adjusted for all pairs at once by permutation, in a
#' single step (Westfall and Young 1993). In each permutation the largest
#' coefficient of all pairs is found, by its size or by the sign of
#' `alternative`; no pair of it is kept. The adjusted p value of a pair is the
#' fraction of the permutations, the data themselves being one of them, whose
#' largest coefficient is at least the pair's. Without `y` every column is
#' permuted by itself, which leaves all pairs independent; with `y` its rows are
#' permuted together, which leaves dependence among the columns of `x` and among
#' those of `y` as it is. With `covariates` it is each column's residuals that are
#' permuted, and then regressed on the covariates again (Freedman and Lane 1983).
#' That is an approximation: in 30 rows with a strong effect of a batch of 10 the
#' family-wise error at 0.05 was 0.05 to 0.08 for normal data, and up to 0.10 for
#' lognormal ones. Residuals of ranks cannot be exchanged so, and are an error.
#' [set.seed()] determines the permutations. All pairs must have the same
#' observations.
#'
#' Permuted observations must be independent of one another. Rows of a series
#' (fMRI, EEG, recordings) are not: with `surrogate = "rows"`, the default, their
#' adjusted p values are far too small. Two other values of `surrogate` keep each
#' series' autocorrelation and remove the correlation of pairs:
#'
#' * `"phase"`: the Fourier coefficients of each column get random phases, so that
#'   its periodogram stays (Theiler and others 1992). With `y` all columns of `y`
#'   get the same shifts of phase and `x` stays, so that the correlations among the
#'   columns of `y` stay as well (Prichard and Theiler 1994).
#' * `"block"`: each column is turned to begin at a random row, cut into blocks of
#'   `block` rows, and these are put into random order; with `y` its rows are, all
#'   columns together.
#'
#' Series must be stationary: regress a drift by `covariates`, or filter it by
#' `bandpass`, and the residuals' surrogates are taken. They must have no gaps
#' (rows left out by `use` or `weights`). Phase surrogates are nearly normal
#' whatever the data are. With Pearson's correlation of independent series that have
#' heavy tails the family-wise error at 0.05 was 0.1 to 0.2 (innovations of t with 3
#' degrees of freedom) and 0.5 to 0.7 (lognormal), and a warning tells of such data:
#' take `method = "spearman"` or `"kendall"`, whose ranks then have the surrogates, or
#' blocks.
#'
#' Blocks must be many times as long as autocorrelation lasts. With independent
#' autoregressive series of coefficient 0.9 and 200 rows, the family-wise error at
#' 0.05 was 0.25 with blocks of 20 rows and 0.08 with 50. `block = NULL` is one
#' block of all rows, so that series are only turned, which held. Of n rows there
#' are n such turns: with `y` do not expect adjusted p values below 1/n, and without
#' `y` two columns are turned alike in one of n surrogates, so that many strong
#' correlations hide one another. `"phase"` has neither limit.
#'
#' With missing values and `"pairwise.complete.obs"`, n differs from pair to
#' pair; for Kendall the ties are then counted pair by pair. Otherwise n is one
#' number, which takes no memory until it is changed. The result holds three or
#' four values a pair: it is meant for tens of thousands of columns, not for
#' hundreds of thousands.
#'
#' @inheritParams gpuCor
#' @param alternative `"two.sided"`, `"less"` or `"greater"`: the sign that
#'   counts. May be abbreviated.
#' @param log.p If `TRUE`, `p.value` is the natural logarithm of p.
#' @param output `"dist"`: each of the results as an object that holds each pair once; `"matrix"`: as a matrix. With `y`
#'   a matrix, too.
#' @param exact `NULL`: exact p values of rank correlations where the approximation is not good enough, see Details.
#'   `TRUE`: wherever that is possible, without ties, which is for Kendall with up to 170 observations and for Spearman
#'   with up to 14; a warning tells of ties. `FALSE`: none, by Student's t and the normal distribution only. Networks
#'   have the p values of `NULL`.
#' @param adjust `"maxT"`: adjust p values by permutation, see Details; `"none"`: do not.
#' @param n_perm How many permutations to compute for that.
#' @param surrogate With `adjust = "maxT"`, what is exchanged: `"rows"`, which must
#'   be independent of one another; `"phase"` or `"block"` for series, whose rows are
#'   not. See Details. May be abbreviated.
#' @param block With `surrogate = "block"` the number of rows of a block; `NULL`: all
#'   rows are one block.
#' @param min_obs An integer of at least 3, or `NULL` for 3: pairs with fewer common observations have a coefficient
#'   and no p value. Coefficients of 1 or -1 are common by chance with up to 5 observations; where there are many, a
#'   warning says so.
#' @return A list of class `gpuCorTest`: `r`, `n`, `statistic`,
#'   `p.value`, each a `dist` (or a matrix, with `output = "matrix"` or with `y`),
#'   `df` where weights, covariates, options or `df` are given, and `method`, `use`, `alternative`, `log.p`; with
#'   `adjust` also `p.adjusted`, in the shape of `p.value`, which like that is a
#'   logarithm with `log.p`. `as.data.frame()` gives a row for each pair. `NA`
#'   where the coefficient is `NA` or n is below `min_obs`.
#' @section Errors: as [gpuCor()]; `adjust` where pairs have observations of
#'   their own, with `weights` other than 0 and 1, of Spearman's rho with `covariates`
#'   or `bandpass`, and with `bandpass` or `df` where `surrogate` is `"rows"`;
#'   surrogates of series with gaps.
#' @references
#' Westfall PH, Young SS (1993). *Resampling-based multiple testing*. Wiley.
#'
#' Freedman D, Lane D (1983). A nonstochastic interpretation of reported
#' significance levels. *Journal of Business and Economic Statistics* 1, 292-298.
#'
#' Theiler J, Eubank S, Longtin A, Galdrikian B, Farmer JD (1992). Testing for
#' nonlinearity in time series: the method of surrogate data. *Physica D* 58, 77-94.
#'
#' Prichard D, Theiler J (1994). Generating surrogate data for time series with
#' several simultaneously measured variables. *Physical Review Letters* 73, 951-954.
#'
#' Daniels HE (1944). The relation between measures of correlation in the universe
#' of sample permutations. *Biometrika* 33, 129-135.
#'
#' Olds EG (1938). Distributions of sums of squares of rank differences for small
#' numbers of individuals. *Annals of Mathematical Statistics* 9, 133-148.
#'
#' @seealso [gpucor-p-values] for which data they are valid; [stats::p.adjust()] for many tests at once without
#'   permutations.
#' @examples
#' test <- gpuCorTest(mtcars, method = "kendall")
#' test
#' head(as.data.frame(test))
#' plot(test)
#' gpuCorTest(mtcars$mpg, mtcars$wt)$p.value
#' series <- apply(matrix(rnorm(2000), 200), 2, stats::filter, 0.9, "recursive")
#' min(gpuCorTest(series, adjust = "maxT", n_perm = 99, surrogate = "phase")$p.adjusted)
#' gpuCorTest(swiss$Fertility[1:8], swiss$Catholic[1:8], method = "spearman")$p.value # exact
#' @order 1
#' @export
gpuCorTest <- function(x, y = NULL, method = c("pearson", "kendall", "spearman", "bicor", "cosine"), use = "everything",
                       alternative = c("two.sided", "less", "greater"), exact = NULL, min_obs = NULL, log.p = FALSE,
                       adjust = c("none", "maxT"), n_perm = 1000, surrogate = c("rows", "phase", "block"), block = NULL,
                       output = c("dist", "matrix"), precision = c("single", "double"), weights = NULL,
                       weights_are = NULL, covariates = NULL, data = NULL, bandpass = NULL, tr = NULL, df = NULL,
                       options = NULL, assay = NULL, ..., control = gpuControl(...)) {
  check_control(control, missing(control), ...names())
  method <- check_method(method)
  alternative <- check_choice(alternative, alternatives, "alternative")
  output <- check_choice(output, c("dist", "matrix"), "output")
  log.p <- check_flag(log.p, "log.p")
  adjust <- check_adjust(adjust)
  n_perm <- check_whole(n_perm, "n_perm", 1, 1e9)
  surrogate <- check_surrogate(surrogate, block, adjust)
  min_obs <- check_min_obs(min_obs)
  use <- check_use(use)
  settings <- new_settings(control, mget(ADJUSTMENT), precision, assay = assay)
  refuse_plan(settings, "'test' or output = \"list\"")
  input <- check_input(x, y, use, method, settings$assay)
  settings <- designed_input(settings, input, method, use, tests = TRUE)
  exact <- check_exact(exact, settings$design)
  if (adjust == "maxT") check_permutable(surrogate$how, method, settings)
  work <- test_work(settings, if (adjust == "maxT") n_perm else 0)
  counted <- count_observations(input$x, input$y, method, counted_use(use), settings)
  if (has_worth(settings$design)) degrees_of_freedom(list(method = method, settings = settings), counted) # or an error
  check_test_memory(input, method, use, output, settings, counted, adjust)
  if (adjust == "maxT") check_exchanged_memory(input, surrogate$how, settings)
  r <- all_coefficients(input, method, use, output, work$coefficients, sys.call())
  # What the engine is told about the tests.
  rule <- list(alternative = match(alternative, alternatives) - 1L, log = log.p, min_obs = min_obs,
               exact = most_exact(exact, method, settings$design), triangle = inherits(r, "dist"))
  found <- tested_pairs(r, input, method, use, counted, rule, work$tests)
  warn_few(found$few, length(r))
  if (isTRUE(exact) && found$tied > 0) {
    warning("ties: ", format_count(found$tied), " of ", n_of(length(r), "pair"),
            if (found$tied == 1) " has" else " have", " no exact p value", call. = FALSE)
  }
  structure(
    c(list(r = r), found[c("n", "statistic", "p.value")],
      tested_df(found, method, settings$design, counted),
      if (adjust == "maxT") {
        list(p.adjusted = max_t(found$p.value, r, input, method, use, counted, rule, n_perm, surrogate,
                                work$permutations))
      },
      list(method = method, use = uses[use], alternative = alternative, log.p = log.p)),
    class = c("gpuCorTest", "gpuTests", "gpuCorResult"), adjusted = adjustment_of(settings, input$x)
  )
}

# Each pair has a statistic and a p value; n and df where pairs differ in them; for maxT the coefficient as a double and
# the adjusted p value.
check_test_memory <- function(input, method, use, output, settings, counted, adjust) {
  doubles <- 2 + counted$common + has_own_df(settings$design, counted) + 2 * (adjust == "maxT")
  check_run_memory(input$x, input$y, method, use, layout_of(input$y, output), settings, "gpuCorTest()",
                   "gpuCorNetwork(p.value = ) and (fdr = ) keep the pairs of small p values only", more = 8 * doubles)
}

# The other methods are of p values alone.
check_adjust <- function(adjust) {
  check_choice(adjust, c("none", "maxT"), "adjust", "; p.adjust() adjusts the p values of a result")
}

# The parts of the work, for the progress bar: p values take ten times as long as coefficients, which each permutation
# has anew.
test_work <- function(settings, n_perm) {
  units <- 11 + n_perm
  list(coefficients = part_of(settings, 0, 1 / units, "coefficients"),
       tests = part_of(settings, 1 / units, 10 / units, "p values"),
       permutations = part_of(settings, 11 / units, n_perm / units, "permutation", n_perm))
}

check_exact <- function(exact, design) {
  if (is.null(exact)) return(NULL)
  if (check_flag(exact, "exact") && is_designed(design)) {
    fail("exact = TRUE: with 'weights' other than 0 and 1, 'covariates', 'bandpass' or 'df' there is no exact ",
         "distribution; use exact = FALSE")
  }
  exact
}

# True if each pair has degrees of freedom that do not follow from its number of observations.
has_own_df <- function(design, counted) {
  identical(design$df, "bartlett") || (counted$common && is.null(design$df) && has_worth(design))
}

# Permuted observations are not weighted as the data are, and those of a series follow one another. Where covariates
# shift ranks much, residuals of the ranks are small in the same rows of all columns, which permutation would change.
check_permutable <- function(how, method, settings) {
  if (is_graded(settings$design) || is_kind(settings$design, "frequency")) {
    fail("adjust = \"maxT\" permutes observations, which do not stand for one another with 'weights' other than 0 ",
         "and 1; leave these or 'adjust' out")
  }
  if (measure_of(method)$ranked && !is.null(settings$design$basis)) {
    fail("adjust = \"maxT\" with 'covariates' or 'bandpass' exchanges residuals, and those of ranks do not stand for ",
         "one another; use method = \"pearson\" or \"bicor\"")
  }
  series <- intersect(c("bandpass", if (measure_of(method)$centred) "df"), names(settings$asked))
  if (how == "rows" && length(series)) {
    fail("adjust = \"maxT\" permutes observations, which do not stand for one another in series, as '", series[1L],
         "' has them; use surrogate = \"phase\"")
  }
}

# For the result: how many degrees of freedom there are, one number if all pairs have as many.
tested_df <- function(found, method, design, counted) {
  if (is.null(design) || !is_t_distributed(method)) return(NULL)
  if (!is.null(found$df)) return(list(df = found$df))
  if (!is.null(design$df)) return(list(df = design$df))
  n <- if (counted$common) found$n else effective_n(design, counted)
  list(df = n - measure_of(method)$df_taken - design$lost)
}

# By the largest coefficients of permuted observations or of surrogates; p: of the shape that the result is to have.
max_t <- function(p, r, input, method, use, counted, rule, n_perm, surrogate, settings) {
  if (counted$common) {
    fail("adjust = \"maxT\" permutes observations that all pairs have; ",
         "with missing values use = \"complete.obs\" leaves these")
  }
  side <- c("absolute", "negative", "positive")[rule$alternative + 1L]
  maxima <- if (surrogate$how == "rows") {
    permuted_maxima(input, method, use, counted, side, n_perm, settings)
  } else {
    surrogate_maxima(input, method, use, side, n_perm, surrogate, settings)
  }
  .Call(r_adjusted, p, r, sort(maxima), constant(side), SAME_COEFFICIENT, rule$log, settings$threads)
}

# The engine permutes; residuals, where there are covariates, which are regressed again (Freedman and Lane 1983).
permuted_maxima <- function(input, method, use, counted, side, n_perm, settings) {
  if (!is.null(settings$design$basis)) {
    compared <- compared_input(input, method, use, settings)
    settings["design"] <- list(compared$design)
    input <- compared$data
    counted <- count_observations(input$x, input$y, method, use, settings)
  }
  seed <- floor(stats::runif(2) * 2^32)
  checked(.Call(r_maxima, input$x, input$y, method_code(method), use, counted, constant(side), n_perm, seed,
                settings))$maxima
}

# In the order of the engine's numbers.
alternatives <- c("two.sided", "less", "greater")

# A pair has as many observations as both of its columns have, also where "everything" makes its coefficient NA.
counted_use <- function(use) if (uses[use] == "everything") match("pairwise.complete.obs", uses) else use

# n, statistic and p of each coefficient, in the same shape.
tested_pairs <- function(r, input, method, use, counted, rule, settings) {
  shape <- plain_attributes(r)
  shape$call <- NULL # that of the coefficients
  checked(.Call(r_test, r, input$x, input$y, method_code(method), use, counted, rule, shape, settings))
}

# The attributes of values in the shape of r, a plain dist where r is a gpuCor.
plain_attributes <- function(r) {
  all <- attributes(r)
  if (inherits(r, "gpuCor")) {
    all[PAIR_ATTRIBUTES] <- NULL
    all$class <- "dist"
  }
  all
}
