#' Pairs whose correlation differs between groups
#'
#' @description
#' `gpuCorCompare()` tests for every pair of columns whether its correlation differs between groups, by Fisher's z,
#' `atanh(r)`. It returns all pairs, or with a criterion such as `fdr` the network of those that differ.
#'
#' | my data are | write |
#' |---|---|
#' | samples of two conditions, a matrix each | `gpuCorCompare(a, b)` |
#' | samples in one matrix, with a factor `group` of two levels or more | `gpuCorCompare(x, group = group)` |
#' | the same, with batches | `gpuCorCompare(x, group = group, covariates = ~ factor(batch), data = samples)` |
#' | samples of three conditions or more, a matrix each | `gpuCorCompare(list(a, b, c), effects = "fixed")` |
#' | subjects of two groups, a list of matrices each | `gpuCorCompare(patients, controls)` |
#' | subjects in one list, with a factor `group` | `gpuCorCompare(split(x, group))`, for two groups or more |
#' | the same subjects twice, in the same order | `gpuCorCompare(after, before, paired = TRUE)` |
#' | subjects of one group: is the mean z 0? | `gpuCorCompare(x)` |
#' | subjects in one list, with a table of their data | `gpuCorCompare(x, design = ~ group + age, data = people, contrast = "group")` |
#' | the same, with a model matrix `m` | `gpuCorCompare(x, design = m, contrast = "age")`, or `contrast = c(0, 0, 1)` |
#' | subjects that are read one at a time, by functions | `gpuCorCompare(f, g, subjects = c(10, 12))`; one group: `subjects = 10` |
#' | matrices of coefficients, such as connectomes | as of subjects, with `method = "given"` |
#' | any of these, not normal | as above, with `n_perm = 1000` |
#' | subjects: connected pairs that differ, as by NBS | as above, with `threshold = 3, n_perm = 1000, components = "size"` |
#'
#' A matrix has samples in rows, see [gpuCorCompare-samples]. A list has a matrix for each subject, such as a scan, see
#' [gpuCorCompare-subjects]. A list of two matrices is two subjects, unless `effects = "fixed"`.
#'
#' **Sign.** `difference` is the z of `x` less that of `y`: above 0, the correlation is larger in `x`, or in the first
#' of two groups in a list. Of a `contrast` it is the coefficient in `lm(z ~ design)`: `"groupB"` is B less the first
#' level, `"age"` the change of z with a year. F tests three groups, or a term of several columns, at once. It has no
#' sign: `difference` is then a standard deviation of z, that of what these groups or columns explain, and a `threshold`
#' its minimum.
#'
#' @details
#' `weights`, `covariates`, `data`, `runs` and `df` may be lists with an element for each matrix, those of `x` first. A
#' value that is not a list holds for all. A coefficient of 1 or -1 has an infinite z and counts as 1 - 2^-24, with a
#' warning if one group or many subjects have it.
#'
#' `n_perm` adds p values that control the family-wise error over all pairs: the null distribution is that of the
#' largest statistic of all pairs when rows or subjects are permuted, as the pages of samples and subjects say. With
#' `p.value` edges are chosen by them. With `fdr` edges are chosen by rates from permutations: the mean number of pairs
#' beyond a cut, in permutations of which the data are one, over that in the data. Rates are at least
#' `1 / (n_perm + 1)`. [set.seed()] makes the result reproducible.
#'
#' @param x,y Two matrices with the same columns, each what [gpuCor()] takes; two lists of these; or two functions as in
#'   [subjects]. Without `y`: a list, see the table.
#' @param threshold,density,k,p.value,fdr A number, at most one of them; without one, all pairs are returned.
#'   `threshold` is the minimum size of `difference`, or with `components` of t or F. `density` keeps this fraction of
#'   all pairs, and `k` so many partners of each column, those with the largest differences. `p.value` and `fdr` as in
#'   [gpuCorNetwork()].
#' @param sign A string: `"absolute"`, `"positive"` (stronger in `x`) or `"negative"` (stronger in `y`); with
#'   `components` also `"each"`, of which each component has one.
#' @param method,use Strings: `"pearson"`, `"spearman"` or `"bicor"`; of lists of subjects also `"kendall"`, `"cosine"`,
#'   `"distance"`, `"coherence"` or `"concordance"` (`"mi"` is an error); and what to do with missing values, see
#'   [gpuCor()].
#' @param group A vector or factor, for one matrix or experiment `x`: the group of each row (`NA`: the row is left out);
#'   or the name of a variable of the experiment's samples. Two groups are `x` and `y` of the result in the order of
#'   their levels; more are compared at once. `weights`, `covariates`, `data`, `protect`, `runs` and series as `seeds`
#'   are then those of the rows of `x`. Each group is
#'   regressed by itself, so that `protect` of the group is not needed.
#' @param output With a criterion, a string: `"matrix"`, or `"edges"` for a data frame.
#' @param paired,variance For two lists of subjects: `TRUE` if subject i of `y` is subject i of `x`; and one variance of
#'   z in both groups, `"equal"`, or `"unequal"`, Welch's t.
#' @param design,data,contrast For a list `x` without `y`: a formula with a data frame that has a row for each subject,
#'   or a numeric matrix; and names of its columns or terms, a number for each column, or a matrix of such rows. Names
#'   of its rows, or its column `participant_id` (BIDS), are compared with the names of the subjects. Without a formula,
#'   `data` are those of [gpuAdjust()].
#' @param n_perm The number of permutations, 0 for none.
#' @param components,enhance For subjects, with `n_perm`: `"size"` or `"sum"` with `threshold`, or `"tfce"` with
#'   `enhance`, two numbers from 0 to 10. See the section on components of [gpuCorCompare-subjects].
#' @param classes A number, the level of significance for the correlations of each group: adds `class`, one of the nine
#'   classes of DGCA (McKenzie and others 2016, *BMC Systems Biology* 10, 106) such as `"+/-"`: positive in `x`, negative
#'   in `y`; 0 if the group's own p value is above the level. It also adds `r.x` and `r.y`, the groups' own coefficients,
#'   which a comparison of all pairs of two matrices always has. Classes say nothing about the difference: choose pairs
#'   by its `fdr`.
#' @param seeds Names or numbers of columns; or series, a matrix or a list of one for each subject, those of `x` first:
#'   only their pairs with all columns are compared, without a criterion. Results are matrices, columns x seeds, `NA`
#'   for a seed with itself; `fdr` and `n_perm` refer to these pairs.
#' @param pairs With a criterion: a mask of the pairs to compute, from [pairMask()]. Densities, rates and `n_perm` refer
#'   to these pairs.
#' @param ...,adjustment,subjects,permutation,control `r offered_words("gpuCorCompare")`
#' @return Without a criterion: a list of class `gpuCorCompare` with `difference`, `statistic` (t or F; fixed effects: z
#'   or chi-squared), `df` (t, F and chi-squared), `p.value`, `r.x` and `r.y` (fixed effects of two groups: their own
#'   coefficients), `fdr` and, with `n_perm`, `p.adjusted`, each a `dist` that takes names, `$fdr["a", "b"]`; and `error`
#'   (fixed effects: the standard error of all differences), `tested` (F: the number of contrasts), `n` (each group's
#'   numbers of observations), `compared` (`"groups"`, `"several"`, `"pairs"`, `"mean"`, `"contrast"` or `"effects"`),
#'   `method`, `use`. `as.data.frame()` has a row for each pair.
#'
#'   With a criterion: a symmetric sparse matrix of differences of class `gpuCorDifference`, a [gpuCorNetwork-class]
#'   with slots `error`, `maxima` (of the permutations) and `components`; or a data frame `from`, `to`, `difference`,
#'   `statistic`, `df`, `p.value`, `fdr`, `p.adjusted`, `component`, `p.component`, as far as they apply, the largest
#'   difference first.
#' @examples
#' manual <- as.matrix(mtcars[mtcars$am == 1, 1:7])
#' automatic <- as.matrix(mtcars[mtcars$am == 0, 1:7])
#' gpuCorCompare(manual, automatic)
#'
#' subjects <- lapply(1:10, function(i) matrix(rnorm(400), 40))
#' gpuCorCompare(split(subjects, rep(c("patient", "control"), 5))) # controls less patients
#' @order 1
#' @export
gpuCorCompare <- function(x, y = NULL, threshold = NULL, density = NULL, k = NULL, # nolint: cyclocomp_linter.
                          p.value = NULL, fdr = NULL, method = "pearson",
                          use = "everything", sign = c("absolute", "positive", "negative", "each"), n_perm = 0,
                          pairs = NULL, group = NULL, paired = FALSE, design = NULL, contrast = NULL, components = NULL,
                          classes = NULL, seeds = NULL, output = c("matrix", "edges"), variance = c("equal", "unequal"),
                          data = NULL, enhance = c(E = 0.5, H = 2), ...,
                          adjustment = NULL, subjects = NULL, permutation = NULL, control = NULL) {
  if (missing(method) && "groups" %in% ...names()) { # Pearson's has no 'groups'
    refuse_labels(list(...)$groups, x, "unused argument 'groups'")
  }
  study <- if (is_study(x)) x
  specs <- specs_of("gpuCorCompare", ...)
  blocks <- specs$permutation$blocks
  is_of_subjects <- inherits(design, "formula") || inherits(blocks, "formula")
  if (is_of_subjects && is.null(data)) data <- study$data
  if (!is_of_subjects) specs$adjustment$data <- data # of the covariates
  if (inherits(design, "formula")) design <- model_matrix(design, by_participant(data), "design", "subject")
  if (inherits(blocks, "formula")) {
    frame <- with_our_errors(stats::model.frame(blocks, data, na.action = stats::na.fail), "'blocks': ")
    blocks <- do.call(paste, frame)
  }
  data <- NULL # the covariates' is in the specs
  is_list <- function(x) is.list(x) && !is.object(x)
  if (is.null(y) && is.null(design) && is_list(x) && length(x) > 1L && all(vapply(x, is_list, NA))) { # groups
    n <- length(x)
    if (n == 2L) {
      y <- x[[2L]]
      x <- x[[1L]]
    } else { # a column of the design for each group, whose differences are tested
      design <- diag(n)[rep(seq_len(n), lengths(x)), , drop = FALSE]
      colnames(design) <- if (is.null(names(x))) paste0("group", seq_len(n)) else names(x)
      attr(design, "contrasts") <- rbind(1, -diag(n - 1L))
      x <- unlist(unname(x), recursive = FALSE)
    }
  }
  output <- check_choice(output, c("matrix", "edges"), "output")
  n_perm <- check_whole(n_perm, "n_perm", 0, 1e9)
  variance <- check_choice(variance, c("equal", "unequal"), "variance")
  groups <- list(paired = check_flag(paired, "paired"), design = check_slots(design, "design"), contrast = contrast,
                 variance = variance, blocks = blocks, whole = isTRUE(specs$permutation$whole), seeds = seeds)
  given <- Filter(Negate(is.null), mget(CRITERIA, environment()))
  if (!is.null(components)) components <- check_choice(components, c("size", "sum", "tfce"), "components")
  sign <- if (missing(sign) && identical(components, "tfce")) "each" else check_choice(sign, c(signs, "each"), "sign")
  found <- features_of("gpuCorCompare", specs, environment(), `blocks of subjects` = !is.null(blocks))
  if (!is.null(group)) { # of the rows of one matrix
    parts <- split_by_group(x, group, specs$adjustment, seeds)
    specs$adjustment <- parts$asked
    specs$subjects$effects <- "fixed"
    groups["seeds"] <- list(parts$seeds)
    is_two <- length(parts$x) == 2L
    x <- if (is_two) parts$x[[1L]] else parts$x
    if (is_two) y <- parts$x[[2L]]
  }
  if (!is.null(classes)) classes <- check_fraction(classes, "classes", zero = FALSE)
  of_groups <- function(run, x, y) with_groups(run, x, y, groups)
  run <- new_run(NULL, specs, x, y, method, use, takes = of_groups, pairs = pairs, call = sys.call())
  run <- with_criterion(run, sign = sign, classes = classes)
  check_comparison(run, found, given, n_perm)
  if (!is.null(components)) return(compare_components(run, given, components, enhance, n_perm, output))
  error <- if (!is_random(run$x)) combined_error(run$x, run$method) # one for all differences
  if (length(given)) { # the engine computes tanh of each pair's difference
    level <- given$threshold
    check_that(level, "threshold", is.null(level) || are_finite(level, 1L, 0),
               "a difference of z, a number of at least 0")
    criterion <- check_criterion(if (is.null(level)) given else list(threshold = tanh(level)), several = FALSE)
    run <- do.call(with_criterion, c(list(run), criterion), quote = TRUE)
  }
  work <- compare_work(run, n_perm)
  if (n_perm > 0 && !is.null(given$fdr)) {
    rates <- permuted_rates(work$permutations, n_perm, error)
    run <- with_criterion(run, max_t = list(adjust = "fdr", n_perm = n_perm, how = "permutation"))
    return(compare_output(rows_by_rates(work$coefficients, rates, fdr), run, given, error, NULL, output))
  }
  is_adjusted <- n_perm > 0 && !is.null(given$p.value)
  if (is_adjusted) check_enough(n_perm, run$criterion)
  maxima <- if (n_perm > 0) permuted_differences(work$permutations, n_perm, error)
  run <- work$coefficients
  if (!length(given)) return(compare_all(run, error, maxima))
  rows <- if (is_adjusted) rows_by_maxima(run, maxima) else network_rows(run)
  if (is_random(run$x) && is.null(rows$group_tests) && !length(rows$tests)) rows <- with_difference_tests(rows, run)
  compare_output(rows, run, given, error, maxima, output)
}

# Returns rows of the pairs with an adjusted p value of at most the criterion.
rows_by_maxima <- function(run, maxima) {
  weight <- weight_of_adjusted(run$criterion$value, maxima)
  if (is_random(run$x)) return(rows_by_t(run, weight))
  network_rows(with_criterion(run, name = "threshold", value = weight))
}

# Returns rows of the pairs with a t or F of at least `threshold` in size.
rows_by_t <- function(run, threshold) {
  t <- if (tested_effects(run$x) > 1) sqrt(threshold) else threshold
  run <- with_t(with_criterion(run, name = "threshold", value = t / sqrt(t^2 + max_df(run$x))))
  rows <- with_difference_tests(network_rows(run), run)
  rows$threshold <- NA_real_ # of the differences
  if (!run$x$skips) return(rows)
  t <- comparable_statistics(rows$tests$statistic, rows$tests$df, comparable_to(run$x)) # at most the t that was found
  kept <- c("p.value", "statistic", "df")
  rows$tests[kept] <- lapply(rows$tests[kept], `[`, abs(t) >= threshold)
  kept_rows(rows, abs(t), threshold, run)
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

# ---- components of the pairs with a large t

# The components of the data, or with threshold-free enhancement their scores, are those of permutation 0. `enhance`:
# the powers of extent and height. The network has list(table: a row for each component, the largest first; of: the row
# of each column, or NA; if pairs of both signs are apart, a matrix, columns x signs).
compare_components <- function(run, given, components, enhance, n_perm, output) {
  is_each <- run$criterion$sign == "each"
  apart <- is_each && tested_effects(run$x) == 1 # F has no sign
  rule <- list(side = constant(if (is_each) "absolute" else run$criterion$sign), signs = if (apart) 2L else 1L)
  if (components == "tfce") {
    check_that(enhance, "enhance", are_finite(enhance, 2L, 0, 10), "two numbers from 0 to 10, E and H")
    work <- compare_work(run, n_perm)
    rule <- c(rule, extent = enhance[[1L]], height = enhance[[2L]])
    found <- perform(work$permutations, "tfce", rule, label_weights(run, 0:n_perm)$weights)
    return(compare_all(work$coefficients, NULL, found$maxima[-1L], found$score))
  }
  threshold <- given$threshold
  check_that(threshold, "threshold", is_number_within(threshold, 0, MAX_T) && threshold > 0,
             "a t or F, a number above 0")
  n <- ncol(run$x)
  rule <- c(rule, min = threshold, sums_weights = components == "sum")
  if (is_each) run <- with_criterion(run, sign = "absolute") # of the edges
  check_memory(12 * n * rule$signs * (n_perm + 1), "gpuCorCompare(components = )",
               paste(n_of(n, "column"), "and", n_of(n_perm, "permutation")), "use fewer permutations")
  work <- compare_work(run, n_perm)
  found <- perform(work$permutations, "components", rule, label_weights(run, 0:n_perm)$weights)
  inside <- which(found$size > 0)
  first <- found$first[inside]
  largest <- unique(first[order(-found$size[inside], first)])
  sizes <- found$size[largest + 1L]
  of <- rep(NA_integer_, length(found$size)) # the component of each column, or of each column and sign
  of[inside] <- match(first, largest)
  permuted <- found$maxima[-1L]
  p <- vapply(sizes, function(size) (1 + sum(permuted >= size)) / (1 + length(permuted)), 0)
  table <- data.frame(component = seq_along(largest), columns = tabulate(of, length(largest)), size = sizes,
                      p.value = p)
  if (apart) table$sign <- signs[2L + largest %/% n]
  names <- colnames(run$x)
  named <- if (apart) matrix(of, n, dimnames = list(names, signs[2:3])) else stats::setNames(of, names)
  rows <- rows_by_t(work$coefficients, threshold)
  rows$tests$component <- of[rows$i + 1L + n * (apart & rows$tests$statistic < 0)]
  run <- with_t(with_criterion(work$coefficients, name = "threshold", value = threshold)) # as that of the rows
  compare_output(rows, run, given, NULL, NULL, output, list(table = table, of = named))
}

MIN_UNEQUAL_GROUP <- 10 # subjects of the smaller group, if the other one has at least twice as many

# Checks what can be told only of the data, and warns of tests that are not valid by the simulations of
# ?"gpucor-p-values". `found`: the features of the call.
check_comparison <- function(run, found, given, n_perm) {
  x <- run$x
  is_fixed <- !is_random(x)
  is_several <- !is.null(several_groups(x))
  of_subjects <- permutes_labels(run)
  facts <- c(`several groups` = is_several, `several effects` = tested_effects(x) > 1, `fixed effects` = is_fixed,
             `given coefficients` = run$method == "given", `fixed effects of subjects` = is_fixed && of_subjects,
             `permuted rows` = n_perm > 0 && is_fixed && !of_subjects,
             `graded weights` = any(vapply(x$designs, is_graded, NA)),
             `several runs` = any(vapply(x$designs, function(design) !is.null(design$runs), NA)))
  check_together(found, names(which(facts)))
  if (is_several && length(x$data) < 2L) {
    fail_value("effects = \"fixed\" without 'y' needs at least two groups in 'x', not 1")
  }
  if (!is_fixed) check_group_sizes(x)
  if (what_is_compared(x) == "mean" && run$method == "distance" && run$criterion$sign != "positive") {
    warn("gpuCorLowerSide", "distance correlations of independent columns are skewed, so that the p values of those ",
         "below 0 are too small; sign = \"positive\" keeps those above 0")
  }
  sizes <- lengths(compared_groups(x))
  if (!is_fixed && is.null(x$model) && min(sizes) < MIN_UNEQUAL_GROUP && max(sizes) >= 2 * min(sizes)) {
    warn("gpuCorUnequalGroups", "groups of ", sizes[1L], " and ", sizes[2L], " subjects: p values of Welch's t are ",
         "too small if one group has fewer than ", MIN_UNEQUAL_GROUP, " and the other twice as many",
         if (n_perm > 0) ", and those of 'n_perm' if the smaller group varies more",
         "; variance = \"equal\" tests with one variance for all subjects")
  }
  if (is_fixed && !is.null(given$fdr) && n_perm == 0) {
    warn("gpuCorNormalRows", "'fdr' uses the normal distribution of Fisher's z, whose small p values are too small if ",
         "rows are not of a multivariate normal distribution, or fewer than 50 in a group; 'n_perm' permutes the rows")
  }
  if (n_perm > 0) warn_unequal_spread(run)
  if (!length(given)) {
    # Measured peak bytes per pair: the results and the copies of false_discovery_rates().
    check_memory((if (is_fixed) 93 else 81) * run$pairs, "gpuCorCompare()", n_of(run$pairs, "pair"),
                 "'threshold', 'density', 'k', 'p.value' or 'fdr' says which pairs to keep")
  }
}
