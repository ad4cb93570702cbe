#' Pairs whose correlation differs between two groups
#'
#' `gpuCorCompare()` tests for every pair of columns whether its correlation differs between two groups of subjects (two
#' lists of matrices) or two groups of samples (two matrices). It returns the difference of Fisher's z, its statistic
#' and p value, for all pairs or as a network of the pairs that differ.
#'
#' **Two matrices**, such as the expression of the same genes in patients and controls: two independent correlations are
#' compared by Fisher's z (`effects = "fixed"`). This is valid for independent rows of nearly normal data and 50 rows or
#' more in each group. With fewer rows the smallest p values are too small, and with heavy tails or outliers those of
#' correlated pairs are, also by `method = "spearman"`: use `n_perm`. For time series give `df`, two numbers.
#'
#' **Two lists of subjects**, such as scans: each subject's coefficient becomes `z = atanh(r)`, and the groups' z are
#' compared by Welch's t test, `t.test(z_x, z_y)` (`effects = "random"`). Each group needs at least two subjects. Rows
#' within a subject may be autocorrelated, because only the variation among subjects counts.
#'
#' `effects = "fixed"` for lists tests the difference of the weighted mean z of these subjects only, with weight n - 3
#' for n observations. Its variance is `1 / sum(n_x - 3) + 1 / sum(n_y - 3)`, and 1.06 times that for Spearman's rho. If
#' subjects differ or rows are autocorrelated, there are many false discoveries. `df`, a number for each subject (first
#' those of `x`), replaces n - 2.
#'
#' Give at most one criterion; without one, all pairs are returned:
#'
#' * `threshold`: the minimum difference of z, a number of at least 0.
#' * `density`: the fraction of all pairs to keep, those with the largest differences.
#' * `k`: the k partners of each column with the largest differences.
#' * `p.value`: the maximum two-sided p value, not adjusted.
#' * `fdr`: the maximum false discovery rate, by Benjamini and Hochberg over all pairs that have a coefficient in all
#'   subjects.
#'
#' A pair without a coefficient in one subject has no difference. A coefficient of 1 or -1 has an infinite z and counts
#' as 1 - 2^-24; a warning says how many pairs have one in one group only.
#'
#' `weights`, `covariates` and `data` may be lists with an element for each subject, those of `x` first; two matrices
#' take a list of two. A value that is not a list applies to both groups.
#'
#' @section Permutation tests:
#' `n_perm` adds p values that control the family-wise error over all pairs, as [gpuCorTest()] with `adjust = "maxT"`
#' does. The null distribution is that of the largest statistic of all pairs when group labels are permuted.
#' [set.seed()] makes the result reproducible.
#'
#' * Three subjects or more: labels of subjects are permuted. The statistic is t, or with fixed effects the standardized
#'   difference. All permutations share one computation of the subjects' coefficients. Few subjects have few
#'   labelings: adjusted p values are at least about 0.1 for 3 against 3 subjects (2 of 20 labelings, because swapped
#'   groups have the same statistic), and 0.008 for 5 against 5 (2 of 252).
#' * Two matrices: rows are permuted, and the statistic is the standardized difference. Each permutation takes as long
#'   as the comparison. Rows must be independent, which those of time series are not. Within each group, columns (for
#'   Spearman their ranks) are first centered by the median and divided by the median absolute deviation, so that groups
#'   may differ in location and scale. If that is 0 in a group, as in counts that are mostly 0, both groups are divided
#'   by the same root mean square. The distributions must otherwise be the same: a group with heavier tails also counts
#'   as different.
#' * Two matrices with `covariates`: residuals of each group's regression are permuted and regressed again on the
#'   covariates (Freedman and Lane 1983). This is an approximation: with 30 rows in each group, one of two batches of 8
#'   or 9 rows, the family-wise error at 0.05 was 0.05 to 0.07 for normal and 0.05 to 0.16 for lognormal data, with
#'   Spearman's rho 0.01 to 0.08 for both.
#'
#' @inheritParams gpuCorNetwork
#' @param x,y Two matrices with the same columns, each what [gpuCor()] takes as `x`; or two lists of these, one for each
#'   subject; or two functions as in [subjects], with `subjects = c(n_x, n_y)`.
#' @param threshold,density,k,p.value,fdr A number, see Details; at most one of them.
#' @param sign A string: `"absolute"`, `"positive"` (stronger in `x`) or `"negative"` (stronger in `y`). May be
#'   abbreviated.
#' @param method A string: `"pearson"` or `"spearman"`; for two lists with random effects also `"kendall"`, `"bicor"`,
#'   `"cosine"` or `"distance"`. `"mi"` is an error. May be abbreviated.
#' @param output A string, with a criterion: `"matrix"`, or `"edges"` for the data frame that `as.data.frame()` makes of
#'   it.
#' @param subjects Two integers, if `x` and `y` are functions: the numbers of subjects.
#' @param n_perm An integer: the number of permutations; 0 for none.
#' @param effects A string: `"random"` or `"fixed"`, see Details.
#' @param pairs With a criterion: a mask of the pairs to compute, from [pairMask()]. Densities, rates and `n_perm` refer
#'   to these pairs.
#' @return Without a criterion: a list of class `gpuCorCompare` with `difference`, `statistic` (t; fixed effects: z),
#'   `df` (random effects), `p.value`, `fdr` and, with `n_perm`, `p.adjusted`, each a `dist` that takes names,
#'   `$fdr["a", "b"]`; and `error` (fixed effects: the standard error of all differences), `n` (each group's numbers of
#'   observations), `method`, `use`. `as.data.frame()` has a row for each pair.
#'
#'   With a criterion: a symmetric sparse matrix of differences of class `gpuCorDifference`, a [gpuCorNetwork-class]
#'   with slots `error` and `maxima` (of the permutations); or a data frame `from`, `to`, `difference`, `statistic`,
#'   `df`, `p.value`, `fdr`, `p.adjusted`, as far as they apply, the largest difference first.
#' @section Errors: As [gpuCorNetwork()]. Random effects: a group of one subject. Fixed effects: other methods than
#'   Pearson's and Spearman's, pairwise-complete observations, fewer than four observations of a subject. Permuted rows:
#'   `bandpass`, `weights` other than 0 and 1. All pairs: a result that does not fit in free memory.
#' @references
#' Fisher RA (1921). On the "probable error" of a coefficient of correlation deduced from a small sample. *Metron* 1,
#' 3-32.
#'
#' Freedman D, Lane D (1983). A nonstochastic interpretation of reported significance levels. *Journal of Business and
#' Economic Statistics* 1, 292-298.
#'
#' Welch BL (1947). The generalization of "Student's" problem when several different population variances are involved.
#' *Biometrika* 34, 28-35.
#'
#' Westfall PH, Young SS (1993). *Resampling-based multiple testing*. Wiley.
#' @seealso [subjects]; [gpucor-p-values] for which data p values are valid
#' @examples
#' manual <- as.matrix(mtcars[mtcars$am == 1, 1:7])
#' automatic <- as.matrix(mtcars[mtcars$am == 0, 1:7])
#' gpuCorCompare(manual, automatic)
#' gpuCorCompare(manual, automatic, p.value = 0.05, output = "edges")
#' set.seed(1)
#' head(as.data.frame(gpuCorCompare(manual, automatic, n_perm = 99)))
#'
#' subjects <- lapply(1:10, function(i) matrix(rnorm(400), 40))
#' gpuCorCompare(subjects[1:5], subjects[6:10])
#' @order 1
#' @export
gpuCorCompare <- function(x, y, threshold = NULL, density = NULL, k = NULL, p.value = NULL, fdr = NULL,
                          method = c("pearson", "kendall", "spearman", "bicor", "cosine", "distance", "mi"),
                          use = "everything",
                          sign = c("absolute", "positive", "negative"), n_perm = 0, pairs = NULL, effects = NULL,
                          subjects = NULL, output = c("matrix", "edges"), precision = c("single", "double"),
                          weights = NULL, weights_are = NULL, covariates = NULL, data = NULL, bandpass = NULL,
                          tr = NULL, df = NULL, options = NULL, assay = NULL, ..., control = gpuControl(...)) {
  check_control(control, missing(control), ...names())
  check_not_coefficients(x, "x")
  check_not_coefficients(y, "y")
  output <- check_choice(output, c("matrix", "edges"), "output")
  n_perm <- check_whole(n_perm, "n_perm", 0, 1e9)
  given <- Filter(Negate(is.null), list(threshold = threshold, density = density, k = k, p.value = p.value, fdr = fdr))
  if (!length(given) && !is.null(pairs)) fail("'pairs' needs a criterion; threshold = 0 keeps all of these pairs")
  settings <- new_settings(control, mget(ADJUSTMENT), precision, list(subjects = subjects, effects = effects), pairs,
                           assay)
  task <- compare_task(x, y, sign, use, method, settings)
  task$call <- sys.call()
  if (!length(given)) check_comparison_memory(task)
  work <- compare_work(task, n_perm)
  task$settings <- work$permutations
  if (is_random(task$x)) check_group_sizes(task$x)
  error <- if (!is_random(task$x)) combined_error(task$x, task$method) # one for all differences
  if (length(given)) task <- compare_criterion(task, given)
  maxima <- if (n_perm > 0) permuted_differences(task, n_perm, error)
  task$settings <- work$coefficients
  if (!length(given)) return(compare_all(task, error, maxima))
  rows <- network_rows(task)
  warn_constant(rows, colnames(task$x), NULL)
  warn_without(rows, task)
  warn_perfect(atanh(rows$x))
  if (is_random(task$x) && is.null(rows$group_tests)) rows <- with_difference_tests(rows, task)
  network <- new_difference(rows, task, given[[1L]], error, maxima)
  if (output == "matrix") network else as.data.frame(network)
}

# ---- the task

compare_task <- function(x, y, sign, use, method, settings) {
  use <- check_use(use)
  method <- check_method(method)
  if (!has_distribution(method)) {
    fail("method = \"", method, "\" has no Fisher's z to compare; use method = \"spearman\"")
  }
  sign <- check_choice(sign, signs, "sign")
  sizes <- group_sizes(x, y, settings$combination$subjects)
  n_first <- sizes[1L]
  names <- subject_names(sum(sizes), n_first)
  effects <- check_group_effects(settings$combination$effects, sizes)
  group <- function(x, names) {
    assay <- if (is_subjects(x) || is_experiment(x)) settings$assay
    read_subjects(if (is_subjects(x)) x else list(x), NULL, length(names), use, method, assay, names)$x
  }
  data <- c(group(x, names[seq_len(n_first)]), group(y, names[-seq_len(n_first)]))
  check_same_columns(data[[n_first + 1L]], data[[1L]], "y", "that of 'x'")
  settings["pairs"] <- list(check_pairs(settings$pairs, data[[1L]], NULL))
  designs <- subject_designs(settings, list(x = data), method, use, effects, names)
  counted <- count_subjects(list(x = data), designs, method, use, settings, names)
  each <- if (effects == "random") rep(1, length(data)) else fisher_weights(counted$n, names)
  weights <- difference_weights(each, seq_along(data) <= n_first)
  rule <- list(how = "fisher", fraction = 0.5, skips = FALSE)
  all <- new_subjects(data, rule, weights, 1, counted, designs, effects, n_first)
  task <- list(x = all, y = NULL, sign = sign, use = use, method = method, settings = settings)
  task$pairs <- count_pairs(task$x, NULL, settings)
  task
}

# `sizes`: number of subjects in each group. With one subject in each, the observations are the sample.
check_group_effects <- function(effects, sizes) {
  if (is.null(effects)) return(if (all(sizes == 1L)) "fixed" else "random")
  check_choice(effects, effect_names, "effects")
}

group_sizes <- function(x, y, counts) {
  if (!is.null(counts) && !(is.numeric(counts) && length(counts) == 2L)) {
    fail("'subjects' must be two numbers, those of 'x' and of 'y', not ", show_value(counts))
  }
  c(if (is_subjects(x)) count_of(x, counts[1L], "x") else 1L, if (is_subjects(y)) count_of(y, counts[2L], "y") else 1L)
}

# Returns the weights that turn z of subjects into the difference of the groups' means.
difference_weights <- function(weights, is_x) {
  ifelse(is_x, weights / sum(weights[is_x]), -weights / sum(weights[!is_x]))
}

# The engine computes tanh of each pair's difference, so the threshold is transformed, too.
compare_criterion <- function(task, given) {
  if (!is.null(given$threshold)) {
    value <- given$threshold
    ok <- is_number_within(value, 0, Inf) && is.finite(value)
    if (!ok) fail("'threshold' must be a difference of z, a number of at least 0, not ", show_value(value))
    given$threshold <- tanh(value)
  }
  task$criterion <- check_one_criterion(given)
  task$mutual <- FALSE
  task
}

# ---- the result

# Divides the progress bar: permutations come first, and p values and rates take three times as long as the differences.
# Each permutation of rows takes as long as the differences; permutations of labels share one run.
compare_work <- function(task, n_perm) {
  one_run <- permutes_labels(task)
  permuting <- if (one_run && n_perm > 0) 1 + n_perm / 25 else n_perm
  units <- 4 + permuting
  what <- if (one_run) n_of(n_perm, "permutation") else "permutation"
  list(permutations = part_of(task$settings, 0, permuting / units, what, if (!one_run) n_perm),
       coefficients = part_of(task$settings, permuting / units, 4 / units, "differences"))
}

# Measured peak bytes per pair: the results and the copies of p.adjust().
check_comparison_memory <- function(task) {
  check_memory((if (is_random(task$x)) 81 else 72) * task$pairs, "gpuCorCompare()", n_of(task$pairs, "pair"),
               "'threshold', 'density', 'k', 'p.value' or 'fdr' says which pairs to keep")
}

compare_all <- function(task, error, maxima) {
  found <- if (is_random(task$x)) random_differences(task) else fixed_differences(task, error)
  warn_perfect(found$difference)
  shape <- plain_dist_attributes(task$x, task$method)
  shaped <- function(values) {
    attributes(values) <- shape
    values
  }
  doing(part_of(task$settings, 0.5, 0.5), "false discovery rates")
  found$fdr <- stats::p.adjust(found$p.value, "BH")
  if (!is.null(maxima)) {
    values <- permuted_values(found, is_random(task$x))
    found$p.adjusted <- adjusted_differences(maxima, found$p.value, values, task$sign, task$settings$threads)
  }
  structure(
    c(lapply(found, shaped),
      list(error = error, n = group_counts(task$x), method = task$method, use = uses[task$use])),
    class = c("gpuCorCompare", "gpuTests", "gpuCorResult"), adjusted = adjustment_of(task$settings, task$x)
  )
}

fixed_differences <- function(task, error) {
  value <- run(task$x, NULL, task$method, task$use, "row", part_of(task$settings, 0, 0.25))
  doing(part_of(task$settings, 0.25, 0.25), "p values")
  difference <- atanh(as.vector(value))
  list(difference = difference, statistic = difference / error, p.value = two_sided(difference / error))
}

random_differences <- function(task) {
  found <- group_tests(task, settings = part_of(task$settings, 0, 0.25))
  warn_constant(found, colnames(task$x), NULL)
  warn_without(found, task)
  doing(part_of(task$settings, 0.25, 0.25), "p values")
  list(difference = found$difference, statistic = found$statistic, df = found$df, p.value = p_of_tests(found))
}

# Adds tests to the entries of a network of differences.
with_difference_tests <- function(rows, task) {
  tests <- group_tests(task, rows, part_of(task$settings, 1, 0, "tests of the edges"))
  rows$tests <- c(list(max = 1, p.value = p_of_tests(tests)), tests[GROUP_COLUMNS])
  rows
}

# Coefficients of 1 and -1 are replaced by values 2^-24 closer to 0, whose z is +-8.66. The groups' coefficients are not
# stored: a difference above half of that reveals the pair, unless the other group's z is beyond 4.3, too.
warn_perfect <- function(difference) {
  n <- sum(abs(difference) > atanh(1 - 2^-24) / 2, na.rm = TRUE)
  if (n == 0) return(invisible())
  warn("gpuCorPerfect", n_of(n, "pair"), if (n == 1) " has" else " have", " a coefficient of 1 or -1, or nearly, in ",
       "one group, whose z is infinite and counts as 8.66; look for equal columns and for few observations")
}

group_counts <- function(x) {
  first <- seq_len(x$n_first)
  list(x = x$counted$n_obs[first], y = x$counted$n_obs[-first])
}

# ---- permutations

# Returns TRUE if the subjects' labels are permuted, FALSE if the rows of both matrices are.
permutes_labels <- function(task) length(task$x$data) > 2L

# Returns the max of each permutation, see permuted_values(). Differences are scaled to the data's standard error.
permuted_differences <- function(task, n_perm, error) {
  if (is_random(task$x)) return(label_maxima(task, permuted_labels(task, n_perm) + 0))
  found <- if (permutes_labels(task)) permuted_sums(task, n_perm) else permuted_rows(task, n_perm)
  tanh(atanh(pmax(found$maxima, 0)) * error / found$errors)
}

# Returns a subjects x permutations matrix, TRUE for subjects in the first group. Subjects are permuted among the
# groups, which keep their sizes; the data are unchanged.
permuted_labels <- function(task, n_perm) {
  n <- length(task$x$data)
  vapply(seq_len(n_perm), FUN.VALUE = logical(n), function(b) seq_len(n) %in% sample.int(n, task$x$n_first))
}

label_maxima <- function(task, weights) {
  checked(.Call(r_label_maxima, task$x, method_code(task$method), task$use, constant(task$sign), weights,
                is_random(task$x), task$settings))$maxima
}

permuted_sums <- function(task, n_perm) {
  own <- task$x$counted$n - 3
  weights <- apply(permuted_labels(task, n_perm), 2L, difference_weights, weights = own)
  list(maxima = label_maxima(task, weights), errors = sqrt(colSums(weights^2 / own) * Z_VARIANCES[task$method]))
}

# Permutes residuals of the rows of both groups (Freedman and Lane 1983): each group is regressed on its own covariates,
# the rows are permuted across the groups, and regressed again on the covariates, which are not permuted.
permuted_rows <- function(task, n_perm) {
  x <- task$x
  check_exchangeable_rows(task)
  compared <- lapply(seq_along(x$data), function(i) {
    compared_data(x$data[i], task$method, task$use, x$designs[[i]])
  })
  all <- do.call(rbind, on_one_scale(lapply(compared, function(group) group$data[[1L]])))
  if (anyNA(all)) {
    fail("'n_perm' permutes observations that all pairs have; ",
         "with missing values use = \"complete.obs\" leaves these")
  }
  if (!is.null(x$designs)) x$designs <- lapply(compared, `[[`, "design")
  x$data <- lapply(compared, function(group) group$data[[1L]]) # the engine reads `all`; these say how many rows
  orders <- vapply(seq_len(n_perm), FUN.VALUE = integer(nrow(all)), function(b) sample.int(nrow(all)) - 1L)
  maxima <- checked(.Call(r_row_maxima, x, method_code(compared[[1L]]$method), task$use, constant(task$sign), all,
                          orders, task$settings))$maxima
  list(maxima = maxima, errors = combined_error(x, task$method))
}

check_exchangeable_rows <- function(task) {
  what <- if (any(vapply(task$x$designs, is_graded, NA))) {
    "'weights' other than 0 and 1"
  } else if (!is.null(task$settings$asked$bandpass)) {
    "'bandpass', as rows of series follow one another"
  }
  if (is.null(what)) return(invisible())
  fail("'n_perm' exchanges rows of 'x' and 'y', which do not stand for one another with ", what,
       "; leave one of these out, or give lists of subjects, whose labels are permuted")
}

# Scales both groups' columns to median 0 and median absolute deviation 1; a column with deviation 0 in either group is
# scaled by the root mean square of both. A group's standard deviation depends on the largest of few values; with these
# scales, the tails of permuted rows are as heavy as those of the data.
on_one_scale <- function(groups) {
  groups <- lapply(groups, function(m) sweep(m, 2L, column_medians(m)))
  spreads <- lapply(groups, function(m) column_medians(abs(m)))
  narrow <- which(Reduce(pmin, spreads) <= 0)
  pooled <- sqrt(colMeans(do.call(rbind, groups)[, narrow, drop = FALSE]^2))
  Map(groups, spreads, f = function(m, spread) {
    spread[narrow] <- ifelse(pooled > 0, pooled, 1)
    sweep(m, 2L, spread, "/")
  })
}

# As apply(m, 2, median), with one sort for all columns; NA without rows. Not for missing values.
column_medians <- function(m) {
  sorted <- matrix(m[order(col(m), m)], nrow(m))
  middle <- (nrow(m) + 1) / 2
  colMeans(sorted[c(floor(middle), ceiling(middle)), , drop = FALSE])
}
