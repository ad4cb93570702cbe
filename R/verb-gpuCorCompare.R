#' Pairs whose correlation differs between two groups
#'
#' Tests for every pair of columns whether its correlation differs between two groups of subjects (two lists of
#' matrices) or between two conditions (two matrices with the same columns): the difference of Fisher's z, its
#' statistic and p value. The result is a network of the pairs that differ, or all pairs. No group's coefficients are
#' stored.
#'
#' **Two lists of subjects.** Subjects are the sample (`effects = "random"`, the default): each subject's coefficient of
#' the pair becomes `z = artanh(r)`, and the groups' z are compared by Welch's t test, as `t.test(z_x, z_y)` does. The
#' difference is that of the groups' mean z; each pair has its own standard error and degrees of freedom. It takes at
#' least two subjects in each group, any `method` and any `use`. Observations of a subject need not be independent, as
#' in series, because only the variation among subjects counts.
#'
#' `effects = "fixed"`: no subjects but these are of interest, and each one's observations are the sample. The
#' difference is that of the groups' mean z, in which a subject of n observations has the weight n - 3. Its variance is
#' `1 / sum(n_x - 3) + 1 / sum(n_y - 3)`, and 1.06 times that for Spearman's rho; the difference over its root is
#' compared with a standard normal variable. Subjects that differ among themselves, and series whose observations
#' depend on each other, give many false discoveries. `df`, a number for each subject (those of `x`, then those of
#' `y`), replaces n - 2, its degrees of freedom: the effective ones of a series.
#'
#' **Two matrices** are compared with fixed effects: two independent correlations. That holds for independent
#' observations of (nearly) bivariate normal variables. With heavy tails or outliers the variance of z is larger where
#' the correlation is not zero: use `method = "spearman"` or `n_perm`. For series give `df`, two numbers. See
#' [gpucor-p-values].
#'
#' One of these says which pairs are wanted; without any, all are returned:
#'
#' * `threshold`: the minimum difference of z, a number of at least 0;
#' * `density`: the fraction of all pairs, those that differ most;
#' * `k`: each column's k partners whose correlation with it differs most;
#' * `p.value`: two-sided, not adjusted;
#' * `fdr`: the same, adjusted by Benjamini and Hochberg over all pairs that have a coefficient in all subjects.
#'
#' With one of these, `pairs` ([pairMask()]) says which pairs count:
#' fractions, rates and `n_perm` are over these only. Without, every pair has a place in the result, and `pairs` is an
#' error.
#'
#' `n_perm`: p values adjusted for all pairs at once by permutation, in a single step (Westfall and Young 1993), as
#' [gpuCorTest()] has them. The adjusted p value of a pair is the fraction of the permutations, the data themselves
#' being one of them, whose largest value of all pairs, by its size or by `sign`, is at least the pair's. [set.seed()]
#' determines the permutations.
#'
#' * Three subjects or more: their group labels are permuted, and the value is t (with fixed effects the standardized
#'   difference). All permutations share one computation of each subject's coefficients.
#' * One matrix in each group: the rows of both are permuted, and the value is the standardized difference. Each
#'   permutation takes as long as the comparison. Permuted rows must be independent of one another: samples, not volumes
#'   of a series, whose adjusted p values would be far too small. Series need several subjects in each group;
#'   [gpuCorTest()] has surrogates of series, for the correlations of one group. Columns (for Spearman their ranks) may
#'   differ between the groups in location and scale: first each is centered by its median and divided by its median
#'   absolute deviation in its group, or where that is 0 in either group (counts that are mostly 0) by one scale for
#'   both. With heavy tails this keeps the family-wise error rate at its level or below; a group's own standard
#'   deviation, which follows the largest of few values, does not. With `covariates` the residuals of each group's own
#'   regression are permuted, and then regressed again on the covariates, which stay where they are (Freedman and Lane
#'   1983); for Spearman they are residuals of ranks, which are not ranked again. This is an approximation: with 30 rows
#'   in each group, one of two batches of 8 or 9 rows, the family-wise error at 0.05 was 0.05 to 0.07 for normal data
#'   and 0.05 to 0.16 for lognormal ones, with Spearman's rho 0.01 to 0.08 for both. One assumption remains: under the
#'   hypothesis of no difference the rows of both groups, so scaled, have the same distribution. Groups of which one has
#'   heavier tails than the other differ in that, too.
#'
#' A pair without a coefficient in one of the subjects has no difference. A coefficient of 1 or -1 counts as one that is
#' 2^-24 from it, as everywhere with Fisher's z. Where all subjects agree to the last bit the statistic is 0.
#'
#' @inheritParams gpuCorNetwork
#' @param x,y Two matrices with the same columns, each what [gpuCor()] takes as `x`; or two lists of these, one for each
#'   subject; or functions that return the i-th, as [subjects] has them, with `subjects = c(n_x, n_y)`.
#' @param threshold,density,k,p.value,fdr See Details; at most one of them.
#' @param sign `"absolute"`, `"positive"` (stronger in `x`) or `"negative"` (stronger in `y`). May be abbreviated.
#' @param method `"pearson"`, `"kendall"`, `"spearman"`, `"bicor"` or `"cosine"`, with fixed effects `"pearson"` or
#'   `"spearman"` only. May be abbreviated.
#' @param output With one of `threshold` to `fdr`: `"matrix"`, or `"edges"`, the data frame that `as.data.frame()` makes
#'   of the matrix.
#' @param subjects Two numbers, if `x` and `y` are functions: how many subjects each has. See [subjects].
#' @param n_perm Number of permutations; 0: none. Rows of two matrices must be independent of one another.
#' @param effects `"random"` or `"fixed"`, see Details.
#' @param pairs With a criterion: a mask of the pairs to compute, of [pairMask()].
#' @return Without a criterion a list of class `gpuCorCompare`: `difference`, `statistic` (t, or with fixed effects the
#'   difference over its standard error), `df` (random effects), `p.value`, `fdr` and with `n_perm` also `p.adjusted`,
#'   each a `dist`, and `error` (fixed effects: the standard error of all differences), `n` (observations of each
#'   group's subjects), `method`, `use`; `as.data.frame()` gives a row for each pair. Otherwise a symmetric sparse
#'   matrix of differences, of class `gpuCorDifference`, which is a [gpuCorNetwork-class] with the standard error of
#'   fixed effects in slot `error` and the maxima of the permutations in slot `maxima`; or the data frame `from`, `to`,
#'   `difference`, `statistic`, `df` (random effects), `p.value`, by `fdr` also `fdr`, and with `n_perm` also
#'   `p.adjusted`, largest difference first.
#' @section Errors: as [gpuCorNetwork()]; a group of one subject with random effects. With fixed effects: other methods
#'   than Pearson's and Spearman's, as the variance of their z is not known; pairwise-complete observations; fewer than
#'   four observations of a subject. Results of all pairs, without a criterion, that do not fit into the free memory.
#'   Permutations of rows with `bandpass` or with `weights` other than 0 and 1.
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
                          method = c("pearson", "kendall", "spearman", "bicor", "cosine"), use = "everything",
                          sign = c("absolute", "positive", "negative"), n_perm = 0, pairs = NULL, effects = NULL,
                          subjects = NULL, output = c("matrix", "edges"), precision = c("single", "double"),
                          weights = NULL, weights_are = NULL, covariates = NULL, data = NULL, bandpass = NULL,
                          tr = NULL, df = NULL, options = NULL, assay = NULL, ..., control = gpuControl(...)) {
  check_control(control, missing(control), ...names())
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
  error <- difference_error(task)
  if (length(given)) task <- compare_criterion(task, given)
  maxima <- if (n_perm > 0) permuted_differences(task, n_perm, error)
  task$settings <- work$coefficients
  if (!length(given)) return(compare_all(task, error, maxima))
  rows <- network_rows(task)
  warn_constant(rows, colnames(task$x), NULL)
  warn_without(rows, task)
  if (is_random(task$x) && is.null(rows$group_tests)) rows <- with_difference_tests(rows, task)
  network <- new_difference(rows, task, given[[1L]], error, maxima)
  if (output == "matrix") network else as.data.frame(network)
}

# ---- what is compared

compare_task <- function(x, y, sign, use, method, settings) {
  use <- check_use(use)
  method <- check_method(method)
  sign <- check_choice(sign, signs, "sign")
  counts <- check_group_counts(settings$combination$subjects)
  groups <- list(x = group_data(x, counts[1L], "x", use, method, settings),
                 y = group_data(y, counts[2L], "y", use, method, settings))
  check_groups(groups)
  effects <- check_group_effects(settings$combination$effects, lengths(groups))
  data <- c(groups$x, groups$y)
  settings["pairs"] <- list(check_pairs(settings$pairs, data[[1L]], NULL))
  designs <- subject_designs(settings, list(x = data), method, use, effects)
  counted <- count_subjects(list(x = data), designs, method, use, settings)
  counted$groups <- lengths(groups)
  each <- if (effects == "random") rep(1, length(data)) else fisher_weights(counted$n)
  weights <- difference_weights(each, rep(c(TRUE, FALSE), counted$groups))
  rule <- list(how = "fisher", share = 0.5, skips = FALSE)
  all <- new_subjects(data, rule, weights, 1, counted, designs, effects, length(groups$x))
  task <- list(x = all, y = NULL, sign = sign, use = use, method = method, settings = settings)
  task$pairs <- count_pairs_of(task$x, NULL, settings)
  task
}

# sizes: subjects of each group. With one in each, its observations are the sample.
check_group_effects <- function(effects, sizes) {
  if (is.null(effects)) return(if (all(sizes == 1L)) "fixed" else "random")
  check_choice(effects, effect_names, "effects")
}

# The standard error of all differences; NULL: each pair has its own.
difference_error <- function(task) {
  if (!is_random(task$x)) return(combined_error(task$x, task$method))
  check_group_sizes(task$x)
  NULL
}

# The numbers of subjects, or NULLs.
check_group_counts <- function(counts) {
  if (is.null(counts)) return(list(NULL, NULL))
  if (!is.numeric(counts) || length(counts) != 2L) {
    fail("'subjects' must be two numbers, those of 'x' and of 'y', not ", show_value(counts))
  }
  as.list(counts)
}

group_data <- function(x, count, name, use, method, settings) {
  if (is_subjects(x)) {
    return(in_group(name, read_subjects(x, NULL, count_of(x, count[[1L]], name), use, method, settings$assay)$x))
  }
  if (is.null(dim(x)) && (is_variables(x) || is.factor(x) || is.character(x))) {
    fail("'", name, "' must be a matrix, not ", if (length(x) == 1L) show_value(x) else "a vector",
         if (name == "x") input_hint(x, name))
  }
  list(in_group(name, check_input(x, NULL, use, method, if (is_experiment(x)) settings$assay)$x))
}

in_group <- function(name, code) {
  tryCatch(code, error = function(condition) {
    fail_again(condition, paste0("'", name, "': ", conditionMessage(condition)))
  })
}

check_groups <- function(groups) {
  first <- groups$x[[1L]]
  other <- groups$y[[1L]]
  if (ncol(first) != ncol(other)) fail("'x' has ", n_of(ncol(first), "column"), ", and 'y' ", ncol(other))
  check_same_columns(other, first, "y", "that of 'x'")
}

# From z of subjects to the difference of the groups' means.
difference_weights <- function(weights, is_x) {
  ifelse(is_x, weights / sum(weights[is_x]), -weights / sum(weights[!is_x]))
}

# What is computed of a pair is tanh of its difference.
compare_criterion <- function(task, given) {
  if (!is.null(given$threshold)) {
    value <- given$threshold
    ok <- is.numeric(value) && length(value) == 1L && is.finite(value) && value >= 0
    if (!ok) fail("'threshold' must be a difference of z, a number of at least 0, not ", show_value(value))
    given$threshold <- tanh(value)
  }
  task$criterion <- check_one_criterion(given)
  task$mutual <- FALSE
  task
}

# ---- what is returned

# The parts of the work, for the progress bar: permutations come first, and p values and rates take three times as long
# as the differences. Each permutation of rows takes as long as the differences; those of labels share one run.
compare_work <- function(task, n_perm) {
  one_run <- permutes_labels(task)
  permuting <- if (one_run && n_perm > 0) 1 + n_perm / 25 else n_perm
  units <- 4 + permuting
  what <- if (one_run) n_of(n_perm, "permutation") else "permutation"
  list(permutations = part_of(task$settings, 0, permuting / units, what, if (!one_run) n_perm),
       coefficients = part_of(task$settings, permuting / units, 4 / units, "differences"))
}

# Bytes of a pair at the peak, as measured: the results, and what p.adjust() makes on its way.
check_comparison_memory <- function(task) {
  check_memory((if (is_random(task$x)) 81 else 72) * task$pairs, "gpuCorCompare()", n_of(task$pairs, "pair"),
               "'threshold', 'density', 'k', 'p.value' or 'fdr' says which pairs to keep")
}

compare_all <- function(task, error, maxima) {
  found <- if (is_random(task$x)) random_differences(task) else fixed_differences(task, error)
  shape <- pair_shape(task)
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
      list(error = error, n = group_sizes(task), method = task$method, use = uses[task$use])),
    class = c("gpuCorCompare", "gpuTests", "gpuCorResult"), adjusted = adjustment_of(task$settings, task$x)
  )
}

# The attributes of a plain dist of all pairs.
pair_shape <- function(task) {
  shape <- dist_attributes(task$x, task$method, NULL)
  shape$class <- "dist"
  Filter(Negate(is.null), shape[setdiff(names(shape), c("n_obs", "diagonal"))])
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

# Entries of a network of differences with the tests of each.
with_difference_tests <- function(rows, task) {
  tests <- group_tests(task, rows, part_of(task$settings, 1, 0, "tests of the edges"))
  rows$tests <- c(list(most = 1, p.value = p_of_tests(tests)), tests[GROUP_COLUMNS])
  rows
}

group_sizes <- function(task) {
  groups <- task$x$counted$groups
  n <- task$x$counted$n + task$x$counted$lost
  list(x = utils::head(n, groups[[1L]]), y = utils::tail(n, groups[[2L]]))
}

# ---- permutations

# Whether the subjects' labels are permuted; otherwise the rows of both matrices.
permutes_labels <- function(task) length(task$x$data) > 2L

# The largest value of each permutation, see permuted_values(); differences on the scale of the data's standard error.
permuted_differences <- function(task, n_perm, error) {
  if (is_random(task$x)) return(label_maxima(task, permuted_labels(task, n_perm) + 0))
  found <- if (permutes_labels(task)) permuted_sums(task, n_perm) else permuted_rows(task, n_perm)
  tanh(atanh(pmax(found$maxima, 0)) * error / found$errors)
}

# Subjects are drawn into the groups, which keep their sizes; no data change. A row for each subject: whether it is in
# the first group.
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

# Rows of both groups, each of which was regressed on its own covariates (Freedman and Lane 1983), are drawn into the
# groups, and regressed again on the covariates, which stay where they are.
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
  n <- nrow(compared[[1L]]$data[[1L]])
  if (!is.null(x$designs)) x$designs <- lapply(compared, `[[`, "design")
  maxima <- maxima_of(n_perm, task$settings, function(b, settings) {
    order <- sample.int(nrow(all))
    x$data <- list(all[order[seq_len(n)], , drop = FALSE], all[order[-seq_len(n)], , drop = FALSE])
    largest_of(x, NULL, compared[[1L]]$method, task$use, task$sign, settings)
  })
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

# Both groups' columns with median 0 and median absolute deviation 1; a column with a deviation of 0 in either group is
# scaled by the root mean square of both. Unlike a group's own standard deviation, which follows the largest of few
# values, these scales leave permuted rows tails as heavy as the data have.
on_one_scale <- function(groups) {
  groups <- lapply(groups, function(m) sweep(m, 2L, apply(m, 2L, stats::median)))
  spreads <- lapply(groups, function(m) apply(abs(m), 2L, stats::median))
  narrow <- which(Reduce(pmin, spreads) <= 0)
  pooled <- sqrt(colMeans(do.call(rbind, groups)[, narrow, drop = FALSE]^2))
  Map(groups, spreads, f = function(m, spread) {
    spread[narrow] <- ifelse(pooled > 0, pooled, 1)
    sweep(m, 2L, spread, "/")
  })
}
