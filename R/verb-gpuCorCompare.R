#' Pairs whose correlation differs between groups
#'
#' `gpuCorCompare()` tests for every pair of columns whether its correlation differs between groups of samples or of
#' subjects, by the difference of Fisher's z, `atanh(r)`. It returns all pairs, or a network of those that differ.
#'
#' | my data are | write |
#' |---|---|
#' | two conditions, a matrix of samples each | `gpuCorCompare(patients, controls, n_perm = 1000)` |
#' | three conditions or more | `gpuCorCompare(list(a, b, c), effects = "fixed")` |
#' | two groups of subjects, a list of matrices each | `gpuCorCompare(patients, controls)` |
#' | the same subjects twice, in the same order | `gpuCorCompare(before, after, paired = TRUE)` |
#' | subjects, a table | `gpuCorCompare(x, design = ~ group + age, data = people, contrast = "groupB")` |
#' | three groups of subjects or more, a list each | `gpuCorCompare(list(a, b, c))` |
#' | one group of subjects: is the mean z 0? | `gpuCorCompare(subjects)` |
#' | a matrix of coefficients for each subject | `gpuCorCompare(patients, controls, method = "given")` |
#' | the same, of Fisher's z | `gpuCorCompare(patients, controls, method = "given", options = list(values = "z"))` |
#'
#' **Sign.** A `difference` is z of `x` less z of `y`: positive if the correlation is larger in `x`. That of a contrast
#' such as `"groupB"` is positive if it is larger in B, and that of one group is its mean z. Tests by F or chi-squared,
#' of three groups or several contrasts, have no sign: their `difference` is a standard deviation.
#'
#' **Threshold.** `threshold` is the min size of `difference`, in units of z, whatever the test is. With `components` it
#' is instead the min size of the statistic, t or F. To choose pairs by their test give `p.value` or `fdr`.
#'
#' @section Groups of samples:
#' **Two matrices**, such as the expression of the same genes in patients and controls, are compared as two independent
#' correlations. This is valid for independent rows of nearly normal data and 50 rows or more in each group; otherwise
#' use `n_perm`, and for time series give `df`, two numbers ([gpucor-p-values]).
#'
#' **More matrices.** The statistic is chi-squared, `sum(w * (z - mean)^2)`, where the mean is weighted by `w = n - 3`
#' (divided by 1.06 for Spearman's rho and 1.1 for bicor). `difference` is the weighted standard deviation of z.
#'
#' @section Groups of subjects:
#' Each subject, such as a scan, has a z for each pair, and these are the data (`effects = "random"`). Rows within a
#' subject may be autocorrelated, because only the variation among subjects counts.
#'
#' * **Two lists**: `t.test(z_x, z_y, var.equal = TRUE)`, as by NBS. One group may be a single subject. If the smaller
#'   group varies more, p values are too small. Welch's t, `variance = "unequal"`, allows it if each group has 10
#'   subjects or less than twice as many as the other ([gpucor-p-values]).
#' * **`paired = TRUE`**: `t.test(z_x, z_y, paired = TRUE)`. **`x` alone**: `t.test(z)`.
#' * **`design`**: `lm(z ~ group + age)` of all subjects. The contrast `"groupB"`, a column of its model matrix, is the
#'   difference between B and the first group adjusted for age. A term of several columns, such as a factor of three
#'   groups, is tested by F, as `anova()` does, and so are several names or rows of a matrix. `difference` is then the
#'   standard deviation over the subjects of what these terms explain.
#' * **Three lists or more**: F of all groups.
#'
#' `effects = "fixed"` tests the mean z of these subjects only, weighted by n - 3, with the assumptions and variances
#' that [subjects] has. The variance of a difference is the sum of those of the two means.
#'
#' A pair without a coefficient in one subject, as of a parcel outside of a scan, has no difference. With `na.rm = TRUE`
#' it is tested with the other subjects, as by `lm()`; in permutations its t (F) counts as the one with the degrees of
#' freedom of all subjects whose p value is as large, so that pairs of few subjects hide no others. A coefficient of 1
#' or -1 has an infinite z and counts as 1 - 2^-24, with a warning if one group or many subjects have it.
#'
#' Arguments that may be lists ([subjects]) have an element for each subject, those of `x` first; of two matrices, two.
#'
#' @section Permutation tests:
#' `n_perm` adds `p.adjusted`, which controls the family-wise error over all pairs by the largest statistic of all pairs
#' in each permutation; with `p.value` edges are chosen by it. With `fdr` they are chosen by rates from permutations.
#' Both are defined as in [gpuPermute()]. [set.seed()] makes the result reproducible.
#'
#' * Matrices: rows are permuted, which must be independent. Within each group, columns (for Spearman their ranks) are
#'   first centered by the median and divided by the median absolute deviation (if that is 0 in a group, by the root
#'   mean square of both). A group with heavier tails also counts as different. With `covariates` see [gpuPermute()].
#' * Two or more lists: labels of subjects are permuted, which are exchangeable if the subjects of all groups vary
#'   alike. Adjusted p values are at least about 0.1 for 3 against 3 subjects (2 of 20 labelings), 0.008 for 5 against
#'   5.
#' * `paired = TRUE`, or `x` alone: the signs of the subjects' differences, or z, are flipped at random, as z is
#'   symmetric about its mean. Adjusted p values of n subjects are at least 2 / 2^n: 0.06 for 5.
#' * `design`: the residuals of the model without the contrast are permuted among subjects, and fitted again (Freedman
#'   and Lane 1983). If that model has no intercept, the residuals' signs are flipped instead.
#' * `blocks`: only subjects with one label are exchanged, or change their signs, as for sites whose subjects differ.
#'   With `whole = TRUE` blocks of one size change places as a whole, such as families, or a subject's sessions in the
#'   same order. P values without permutation know nothing of blocks: give `~ group + site`.
#'
#' @section Components (network-based statistic, TFCE):
#' With `components`, the pairs of subjects' tests whose t or F is at least `threshold` in size, or by `sign`, form a
#' network, and columns that are connected in it a component (Zalesky and others 2010). The p value of a component is
#' the fraction of the permutations, including the data themselves, that have one at least as large. It controls the
#' family-wise error over components, and says nothing about any one of their pairs. Choose `threshold` before looking
#' at results: t of 3 to 4 is usual. A component may have pairs of both signs. With `sign = "each"` it has those of one,
#' and is compared with the largest of either sign.
#'
#' The size of a component is the number of its pairs (`"size"`), or the sum of their t less `threshold` (`"sum"`). Slot
#' `components` of the network has `$table`, a row for each component, the largest first, with `columns` (how many it
#' has), `size`, `p.value` and, if each sign has its own, `sign`; and `$of`, each column's component.
#'
#' `components = "tfce"`, threshold-free enhancement (Smith and Nichols 2009), needs no `threshold`. The score of a pair
#' is the exact integral of `size^E * h^H` over heights h from 0 to the size of its t; `size` is the number of pairs of
#' its component among all pairs whose t is at least h. Unless `sign` is given, it is `"each"`. The result has all
#' pairs, with `score` and `p.adjusted`: the fraction of the permutations whose largest score is at least the pair's.
#'
#' @param x,y Two matrices with the same columns, each what [gpuCor()] takes as `x`; two lists of these, one for each
#'   subject; two functions as in [subjects], with `subjects = c(n_x, n_y)`; or one list as `x`, see the table.
#' @param threshold,density,k,p.value,fdr A number, at most one of them; without one, all pairs are returned.
#'   `threshold`: see Details. `density` keeps this fraction of all pairs, and `k` so many partners of each column,
#'   those with the largest differences. `p.value` and `fdr` as in [gpuCorNetwork()].
#' @param sign A string: `"absolute"`, `"positive"` or `"negative"`, see Details; with `components` also `"each"`.
#' @param method,use Strings: `"pearson"`, `"spearman"` or `"bicor"`; with random effects also `"kendall"`, `"cosine"`,
#'   `"distance"`, or, of lists of subjects, `"coherence"`, `"concordance"` or `"given"` ([gpucor-measures]); and what
#'   to do with missing values, see [gpuCor()].
#' @param output With a criterion, a string: `"matrix"`, or `"edges"` for a data frame.
#' @param paired `TRUE` if subject i of `y` is subject i of `x`.
#' @param design,data,contrast For `x` without `y`: a formula such as `~ group + age`, with a data frame that has a row
#'   for each subject, or a numeric matrix; and names of its columns or terms, a number for each column, or a matrix of
#'   such rows. Names of its rows, or its column `participant_id` (BIDS), are compared with the names of the subjects.
#'   Without a formula, `data` are those of [gpuAdjust()].
#' @param n_perm The number of permutations, 0 for none.
#' @param components,enhance `"size"` or `"sum"`, with `threshold` and `n_perm`, or `"tfce"`, with `n_perm`; and for the
#'   latter two numbers from 0 to 10, E and H, by default those of Smith and Nichols.
#' @param variance For two lists of subjects: `"equal"`, one variance of z in both groups, or `"unequal"`, Welch's t.
#' @param classes A number, the level of significance for the correlations of each group: adds the columns `r.x` and
#'   `r.y`, the groups' own coefficients, and `class`, one of the nine classes of DGCA (McKenzie and others 2016) such
#'   as `"+/-"`: positive in `x`, negative in `y`; 0 if the group's p value is above the level. Classes are no tests.
#' @param seeds Names or numbers of columns; or series, a matrix or a list of one for each subject, those of `x` first:
#'   only their pairs with all columns are compared, without a criterion. Results are matrices, columns x seeds, `NA`
#'   for a seed with itself; `fdr` and `n_perm` refer to these pairs.
#' @param pairs With a criterion: a mask of the pairs to compute, from [pairMask()]. Rates refer to these pairs.
#' @param ...,adjustment,subjects,permutation,control `r offered_words("gpuCorCompare")` `subjects` may be the numbers
#'   of subjects, one or two integers, if `x` and `y` are functions.
#' @return Without a criterion: a list of class `gpuCorCompare` with `difference`, `statistic` (t or F; fixed effects: z
#'   or chi-squared), `df` (t, F and chi-squared), `p.value`, `fdr` and, with `n_perm`, `p.adjusted`, each a `dist` that
#'   takes names, `$fdr["a", "b"]`; and `error` (fixed effects: the standard error of all differences), `tested` (F: the
#'   number of contrasts), `n` (each group's numbers of observations), `compared` (`"groups"`, `"several"`, `"pairs"`,
#'   `"mean"`, `"contrast"` or `"effects"`), `method`, `use`. `as.data.frame()` has a row for each pair.
#'
#'   With a criterion: a symmetric sparse matrix of differences of class `gpuCorDifference`, a [gpuCorNetwork-class]
#'   with slots `error`, `maxima` (of the permutations) and `components`; or a data frame `from`, `to`, `difference`,
#'   `statistic`, `df`, `p.value`, `fdr`, `p.adjusted`, `component`, `p.component`, as far as they apply.
#' @references
#'
#' McKenzie AT, Katsyv I, Song WM, Wang M, Zhang B (2016). *BMC Systems Biology* 10, 106.
#'
#' Smith SM, Nichols TE (2009). *NeuroImage* 44, 83-98.
#'
#' Zalesky A, Fornito A, Bullmore ET (2010). *NeuroImage* 53, 1197-1207.
#' @examples
#' manual <- as.matrix(mtcars[mtcars$am == 1, 1:7])
#' automatic <- as.matrix(mtcars[mtcars$am == 0, 1:7])
#' set.seed(1)
#' gpuCorCompare(manual, automatic, p.value = 0.05, output = "edges", classes = 0.05, n_perm = 99)
#'
#' subjects <- lapply(1:10, function(i) matrix(rnorm(400), 40))
#' people <- data.frame(group = rep(c("A", "B"), 5), age = c(31, 40, 28, 35, 52, 47, 33, 29, 44, 38))
#' gpuCorCompare(subjects, design = ~ group + age, data = people, contrast = "groupB")
#' gpuCorCompare(subjects[1:5], subjects[6:10], threshold = 3, n_perm = 99, components = "size")
#' gpuCorCompare(lapply(subjects, cor), method = "given") # connectomes
#' @order 1
#' @export
gpuCorCompare <- function(x, y = NULL, threshold = NULL, density = NULL, k = NULL, # nolint: cyclocomp_linter.
                          p.value = NULL, fdr = NULL, method = "pearson",
                          use = "everything", sign = c("absolute", "positive", "negative", "each"), n_perm = 0,
                          pairs = NULL, paired = FALSE, design = NULL, contrast = NULL, components = NULL,
                          classes = NULL, seeds = NULL, output = c("matrix", "edges"), variance = c("equal", "unequal"),
                          data = NULL, enhance = c(E = 0.5, H = 2), ...,
                          adjustment = NULL, subjects = NULL, permutation = NULL, control = NULL) {
  for (name in intersect(c("group", if (missing(method)) "groups"), ...names())) { # of rows; Pearson's has no 'groups'
    refuse_labels(list(...)[[name]], x, paste0("unused argument '", name, "'"))
  }
  specs <- specs_of("gpuCorCompare", ...)
  blocks <- specs$permutation$blocks
  is_of_covariates <- !is.null(data) && !inherits(design, "formula") && !inherits(blocks, "formula")
  if (is_of_covariates) specs <- specs_of("gpuCorCompare", data = data, ...)
  if (inherits(design, "formula")) design <- model_matrix(design, by_participant(data), "design", "subject")
  if (inherits(blocks, "formula")) {
    frame <- with_our_errors(stats::model.frame(blocks, data, na.action = stats::na.fail), "'blocks': ")
    blocks <- do.call(paste, frame)
  }
  data <- NULL # the covariates' is in the specs
  if (is.null(y) && is.null(design) && are_groups(x)) {
    sizes <- lengths(x)
    if (length(x) == 2L) y <- x[[2L]] else design <- groups_design(sizes, names(x))
    x <- if (length(sizes) == 2L) x[[1L]] else unlist(unname(x), recursive = FALSE)
  }
  output <- check_choice(output, c("matrix", "edges"), "output")
  n_perm <- check_whole(n_perm, "n_perm", 0, 1e9)
  variance <- check_choice(variance, c("equal", "unequal"), "variance")
  groups <- list(paired = check_flag(paired, "paired"), design = check_slots(design, "design"), contrast = contrast,
                 variance = variance, blocks = blocks, whole = isTRUE(specs$permutation$whole), seeds = seeds)
  given <- Filter(Negate(is.null), mget(CRITERIA, environment()))
  if (!is.null(components)) components <- check_choice(components, component_sizes, "components")
  sign <- if (missing(sign) && identical(components, "tfce")) "each" else check_choice(sign, c(signs, "each"), "sign")
  found <- features_of("gpuCorCompare", specs, environment(), `blocks of subjects` = !is.null(blocks))
  if (!is.null(classes)) classes <- check_fraction(classes, "classes", zero = FALSE)
  of_groups <- function(run, x, y) with_groups(run, x, y, groups)
  run <- new_run(NULL, specs, x, y, method, use, takes = of_groups, pairs = pairs, call = sys.call())
  run <- with_criterion(run, sign = sign, classes = classes)
  check_together(found, facts_of_groups(run, n_perm))
  if (!is.null(several_groups(run$x)) && length(run$x$data) < 2L) {
    fail_value("effects = \"fixed\" without 'y' needs at least two groups in 'x', not 1")
  }
  if (is_random(run$x)) check_group_sizes(run$x)
  warn_invalid(run, given, n_perm)
  if (n_perm > 0) warn_unequal_spread(run)
  if (!length(given)) {
    # Measured peak bytes per pair: the results and the copies of false_discovery_rates().
    check_memory((if (is_random(run$x)) 81 else 72) * run$pairs, "gpuCorCompare()", n_of(run$pairs, "pair"),
                 "'threshold', 'density', 'k', 'p.value' or 'fdr' says which pairs to keep")
  }
  if (identical(components, "tfce")) return(compare_enhanced(run, enhance, n_perm))
  if (!is.null(components)) return(compare_components(run, given, components, n_perm, output))
  error <- if (!is_random(run$x)) combined_error(run$x, run$method) # one for all differences
  if (length(given)) run <- compare_criterion(run, given)
  work <- compare_work(run, n_perm)
  if (n_perm > 0 && !is.null(given$fdr)) {
    rates <- permuted_rates(work$permutations, n_perm, error)
    run <- with_criterion(run, max_t = list(adjust = "fdr", n_perm = n_perm, how = "permutation"))
    return(compare_output(group_rows_by_rates(work$coefficients, rates, fdr), run, given, error, NULL, output))
  }
  is_adjusted <- n_perm > 0 && !is.null(given$p.value)
  if (is_adjusted) check_enough(n_perm, run$criterion)
  maxima <- if (n_perm > 0) permuted_differences(without_own_pairs(work$permutations), n_perm, error)
  run <- work$coefficients
  if (!length(given)) return(compare_all(run, error, maxima))
  rows <- if (is_adjusted) rows_by_maxima(run, maxima) else network_rows(run)
  if (is_random(run$x) && is.null(rows$group_tests) && !length(rows$tests)) rows <- with_difference_tests(rows, run)
  compare_output(rows, run, given, error, maxima, output)
}

# Returns rows of the pairs with an adjusted p value of at most the criterion.
rows_by_maxima <- function(run, maxima) {
  weight <- weight_of_adjusted(run$criterion$value, maxima)
  if (is_random(run$x)) return(rows_by_t(run_by_t(run, weight), weight))
  network_rows(with_criterion(run, name = "threshold", value = weight))
}

# Returns the run whose edges have a t or F of at least `threshold` in size, and its rows.
run_by_t <- function(run, threshold) {
  t <- if (tested_effects(run$x) > 1) sqrt(threshold) else threshold
  with_t(with_criterion(run, name = "threshold", value = t / sqrt(t^2 + max_df(run$x))))
}

rows_by_t <- function(run, threshold) {
  rows <- with_difference_tests(network_rows(run), run)
  rows$threshold <- NA_real_ # of the differences
  if (!run$x$skips) return(rows)
  t <- comparable_statistics(rows$tests$statistic, rows$tests$df, comparable_to(run$x)) # at most the t that was found
  kept <- c("p.value", "statistic", "df")
  rows$tests[kept] <- lapply(rows$tests[kept], `[`, abs(t) >= threshold)
  rows[c("p", "i", "x")] <- .Call(r_keep_scores, rows$p, rows$i, rows$x, abs(t), threshold, 0L, run$place$threads)
  rows
}

# Returns a table of participants, as in BIDS, with rows named by them.
by_participant <- function(data) {
  ids <- if (is.data.frame(data) && is.integer(attr(data, "row.names"))) as.character(data[["participant_id"]])
  if (length(ids) && all(startsWith(ids, "sub-")) && !anyDuplicated(ids)) row.names(data) <- ids
  data
}

# Returns the network of differences, or its edges. `components`: list() or list(table, of).
compare_output <- function(rows, run, given, error, maxima, output, components = list()) {
  warn_without(rows, run)
  warn_perfect(atanh(rows$x), run, rows)
  if (!is.null(run$criterion$classes)) {
    rows$tests <- c(if (length(rows$tests)) rows$tests else list(max = 1), group_classes(run, rows))
  }
  groups <- c(several_groups(run$x), if (tested_effects(run$x) > 1) tested_effects(run$x))
  min_p <- if (!is.null(error)) min_rank_p(run$method, compared_groups(run$x))
  rows$x <- atanh(rows$x)
  rows$threshold <- atanh(rows$threshold)
  if (length(rows$tests) && !is.null(error)) {
    rows$tests$distribution <- c(list(deviation = error, groups = groups), min_p = min_p)
  }
  network <- with_slots(new_network(rows, run, "gpuCorDifference"),
                        list(error = as.numeric(error), value = as.numeric(given[[1L]]),
                             maxima = if (is.null(maxima)) numeric() else maxima,
                             components = components, groups = as.numeric(groups), min_p = as.numeric(min_p)))
  if (output == "matrix") network else as.data.frame(network)
}

# ---- the run

# Returns TRUE for a list of groups, each a list of subjects' matrices.
are_groups <- function(x) {
  is_list <- function(x) is.list(x) && !is.object(x)
  is_list(x) && length(x) > 1L && all(vapply(x, is_list, NA))
}

# The engine computes tanh of each pair's difference, so the threshold is transformed, too.
compare_criterion <- function(run, given) {
  if (!is.null(given$threshold)) {
    value <- given$threshold
    check_that(value, "threshold", are_finite(value, 1L, 0), "a difference of z, a number of at least 0")
    given$threshold <- tanh(value)
  }
  do.call(with_criterion, c(list(run), check_criterion(given, several = FALSE)), quote = TRUE)
}

# ---- components of the pairs with a large t

component_sizes <- c("size", "sum", "tfce")

# Returns list(side, signs) of the engine's rules of components: F has no sign.
component_signs <- function(run) {
  is_each <- run$criterion$sign == "each"
  list(side = constant(if (is_each) "absolute" else run$criterion$sign),
       signs = if (is_each && tested_effects(run$x) == 1) 2L else 1L)
}

# Threshold-free enhancement, whose scores are those of permutation 0. `enhance`: the powers of extent and height.
compare_enhanced <- function(run, enhance, n_perm) {
  check_that(enhance, "enhance", are_finite(enhance, 2L, 0, 10), "two numbers from 0 to 10, E and H")
  work <- compare_work(run, n_perm)
  rule <- c(component_signs(run), extent = enhance[[1L]], height = enhance[[2L]])
  found <- perform(work$permutations, "tfce", rule, random_permutations(run, 0:n_perm))
  compare_all(work$coefficients, NULL, found$maxima[-1L], found$score)
}

# The components of the data are those of permutation 0.
compare_components <- function(run, given, components, n_perm, output) {
  threshold <- given$threshold
  check_that(threshold, "threshold", is_number_within(threshold, 0, MAX_T) && threshold > 0,
             "a t or F, a number above 0")
  n <- ncol(run$x)
  rule <- c(component_signs(run), min = threshold, sums_weights = components == "sum")
  apart <- rule$signs > 1L
  if (run$criterion$sign == "each") run <- with_criterion(run, sign = "absolute") # of the edges
  check_memory(12 * n * rule$signs * (n_perm + 1), "gpuCorCompare(components = )",
               paste(n_of(n, "column"), "and", n_of(n_perm, "permutation")), "use fewer permutations")
  work <- compare_work(run, n_perm)
  found <- perform(work$permutations, "components", rule, random_permutations(run, 0:n_perm))
  found <- component_table(found, colnames(run$x), apart)
  run <- run_by_t(work$coefficients, threshold)
  rows <- rows_by_t(run, threshold)
  rows$tests$component <- found$of[rows$i + 1L + n * (apart & rows$tests$statistic < 0)]
  compare_output(rows, run, given, NULL, NULL, output, found)
}

MIN_UNEQUAL_GROUP <- 10 # subjects of the smaller group, if the other one has at least twice as many

# Warns of tests that are not valid by the simulations of ?"gpucor-p-values".
warn_invalid <- function(run, given, n_perm) {
  x <- run$x
  if (what_is_compared(x) == "mean" && run$method == "distance" && run$criterion$sign != "positive") {
    warn("gpuCorLowerSide", "distance correlations of independent columns are skewed, so that the p values of those ",
         "below 0 are too small; sign = \"positive\" keeps those above 0")
  }
  sizes <- lengths(compared_groups(x))
  if (is_random(x) && is.null(x$model) && min(sizes) < MIN_UNEQUAL_GROUP && max(sizes) >= 2 * min(sizes)) {
    warn("gpuCorUnequalGroups", "groups of ", sizes[1L], " and ", sizes[2L], " subjects: p values of Welch's t are ",
         "too small if one group has fewer than ", MIN_UNEQUAL_GROUP, " and the other twice as many",
         if (n_perm > 0) ", and those of 'n_perm' if the smaller group varies more",
         "; variance = \"equal\" tests with one variance for all subjects")
  }
  if (!is_random(x) && !is.null(given$fdr) && n_perm == 0) {
    warn("gpuCorNormalRows", "'fdr' uses the normal distribution of Fisher's z, whose small p values are too small if ",
         "rows are not of a multivariate normal distribution, or fewer than 50 in a group; 'n_perm' permutes the rows")
  }
}
