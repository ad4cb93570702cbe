#' Pairs whose correlation differs between two groups
#'
#' Of every pair of columns the difference of its correlation between two conditions (two matrices with the same
#' columns) or two groups of subjects (two lists of matrices), by Fisher's z: the statistic, its p value, and which
#' pairs differ, as a network or all of them. No group's coefficients are stored.
#'
#' The difference of a pair is `artanh(r_x) - artanh(r_y)`, for lists the difference of the groups' mean z, in which a
#' subject of n observations has the weight n - 3, as in [gpuCorNetwork()] with `combine = "fisher"` (see [subjects]).
#' Its variance under independence of the groups is `1 / sum(n_x - 3) + 1 / sum(n_y - 3)`, sums over subjects, and 1.06
#' times that of Spearman's rho; the difference over its root is standard normal, nearly, where the pair has the same
#' correlation everywhere in both groups. Subjects that differ among themselves make differences larger than that: then
#' permutation is what holds.
#'
#' One of these says which pairs are wanted; without any, all are returned:
#'
#' * `threshold`: the least difference of z, a number of at least 0;
#' * `density`: the share of all pairs, those that differ most;
#' * `k`: each column's k partners whose correlation with it differs most;
#' * `p.value`: two-sided, not adjusted;
#' * `fdr`: the same, adjusted by Benjamini and Hochberg over all pairs that have a coefficient in all subjects.
#'
#' With one of these, `pairs` ([within(), between(), nearer(), farther()][pairs-that-count]) says which pairs count:
#' shares, rates and `n_perm` are over these only. Without, every pair has a place in the result, and `pairs` is an
#' error.
#'
#' `n_perm`: p values adjusted for all pairs at once by permutation, in a single step (Westfall and Young 1993), as
#' [gpuCorTest()] has them. With three subjects or more it is their labels that are permuted; with one matrix in each
#' group the rows of both, each column of which is first centred and scaled to unit variance in its group (for Spearman
#' its ranks are): under the hypothesis that both groups have the same correlations the rows are exchangeable. In each
#' permutation the largest standardized difference of all pairs is found, by its size or by `sign`. The adjusted p value
#' of a pair is the share of the permutations, the data themselves being one of them, whose largest difference is at
#' least the pair's. [set.seed()] determines the permutations. Permutations of labels share one computation of each
#' subject's coefficients; each permutation of rows takes as long as the comparison.
#'
#' A pair without a coefficient in one of the subjects has no difference. A coefficient of 1 or -1 counts as one that is
#' 2^-24 from it, as everywhere with Fisher's z.
#'
#' @inheritParams gpuCorNetwork
#' @param x,y Two matrices with the same columns, each what [gpuCor()] takes as `x`; or two lists of these, one for each
#'   subject; or functions that return the i-th, as [subjects] has them, with `subjects = c(n_x, n_y)`.
#' @param threshold,density,k,p.value,fdr See Details; at most one of them.
#' @param sign `"absolute"`, `"positive"` (stronger in `x`) or `"negative"` (stronger in `y`). May be abbreviated.
#' @param method `"pearson"` or `"spearman"`. May be abbreviated.
#' @param output With one of `threshold` to `fdr`: `"matrix"`, or `"edges"`, the data frame that `as.data.frame()` makes
#'   of the matrix.
#' @param n_perm How many permutations to compute; 0: none.
#' @param object A network of differences.
#' @return Without a criterion a list of class `gpuCorCompare`: `difference`, `statistic` (the difference over its
#'   standard error), `p.value`, `fdr` and with `n_perm` also `p.adjusted`, each a `dist`, and `error`, `n`
#'   (observations of each group's subjects), `method`, `use`; `as.data.frame()` gives a row for each pair. Otherwise a
#'   symmetric sparse matrix of differences, of class `gpuCorDifference`, which is a [gpuCorNetwork-class] with the
#'   standard error in slot `error` and the maxima of the permutations in slot `maxima`; or the data frame `from`, `to`,
#'   `difference`, `statistic`, `p.value`, by `fdr` also `fdr`, and with `n_perm` also `p.adjusted`, largest difference
#'   first.
#' @section Errors: as [gpuCorNetwork()]; Kendall's tau-b, of whose z the variance is not known; pairs with observations
#'   of their own; fewer than four observations of a subject; results of all pairs, without a criterion, that do not fit
#'   into the free memory.
#' @references
#' Fisher RA (1921). On the "probable error" of a coefficient of correlation deduced from a small sample. *Metron* 1,
#' 3-32.
#'
#' Westfall PH, Young SS (1993). *Resampling-based multiple testing*. Wiley.
#' @seealso [subjects]
#' @examples
#' manual <- as.matrix(mtcars[mtcars$am == 1, 1:7])
#' automatic <- as.matrix(mtcars[mtcars$am == 0, 1:7])
#' gpuCorCompare(manual, automatic)
#' gpuCorCompare(manual, automatic, p.value = 0.05, output = "edges")
#' set.seed(1)
#' head(as.data.frame(gpuCorCompare(manual, automatic, n_perm = 99)))
#' @export
gpuCorCompare <- function(x, y, threshold = NULL, density = NULL, k = NULL, p.value = NULL, fdr = NULL,
                          sign = c("absolute", "positive", "negative"), use = "everything",
                          method = c("pearson", "spearman"), output = c("matrix", "edges"), n_perm = 0, backend = NULL,
                          ..., precision = c("single", "double")) {
  output <- check_choice(output, c("matrix", "edges"), "output")
  n_perm <- check_whole(n_perm, "n_perm", 0, 1e9)
  given <- Filter(Negate(is.null), list(threshold = threshold, density = density, k = k, p.value = p.value, fdr = fdr))
  if (!length(given)) refuse_pairs(...names(), "threshold = 0 gives the differences of the pairs that count")
  task <- compare_task(x, y, sign, use, method, backend, ..., precision = precision)
  task$call <- call_of(sys.call())
  if (!length(given)) check_comparison_memory(task)
  work <- compare_work(task, n_perm)
  task$settings <- work$permutations
  error <- combined_error(task$x, task$method)
  if (length(given)) task <- compare_criterion(task, given)
  maxima <- if (n_perm > 0) permuted_differences(task, n_perm, error)
  task$settings <- work$coefficients
  if (!length(given)) return(compare_all(task, error, maxima))
  rows <- network_rows(task)
  warn_constant(rows, colnames(task$x), NULL)
  warn_without(rows, task)
  network <- new_difference(rows, task, given[[1L]], error, maxima)
  if (output == "matrix") network else as.data.frame(network)
}

# ---- what is compared

compare_task <- function(x, y, sign, use, method, backend, ...) {
  use <- check_use(use)
  method <- check_choice(method, names(Z_VARIANCES), "method")
  sign <- check_choice(sign, signs, "sign")
  settings <- settings_of(backend, ..., takes_subjects = TRUE, takes_pairs = TRUE)
  counts <- check_group_counts(settings$combination)
  groups <- list(x = group_data(x, counts[1L], "x", use, method, settings),
                 y = group_data(y, counts[2L], "y", use, method, settings))
  check_groups(groups)
  data <- c(groups$x, groups$y)
  settings["pairs"] <- list(check_pairs(settings$pairs, data[[1L]], NULL))
  designs <- subject_designs(settings, list(x = data), method, use)
  counted <- count_subjects(list(x = data), designs, method, use, settings)
  counted$groups <- lengths(groups)
  weights <- difference_weights(fisher_weights(counted$n), rep(c(TRUE, FALSE), counted$groups))
  rule <- list(how = "fisher", share = 0.5, skips = FALSE)
  all <- new_subjects(data, rule, weights, 1, counted, designs)
  task <- list(x = all, y = NULL, sign = sign, use = use, method = method, settings = settings)
  task$pairs <- count_pairs_of(task$x, NULL, settings)
  task
}

# Of the arguments of subjects only their numbers have a meaning.
check_group_counts <- function(given) {
  others <- setdiff(names(given), "subjects")
  if (length(others)) fail("'", others[1L], "' has no meaning in a comparison, which is by Fisher's z; leave it out")
  counts <- given$subjects
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
         if (name == "y") COMPARE_WAY_OUT else other_way_in(x, name))
  }
  list(in_group(name, check_input(x, NULL, use, method, if (is_experiment(x)) settings$assay)$x))
}

in_group <- function(name, code) {
  tryCatch(code, error = function(condition) fail("'", name, "': ", conditionMessage(condition)))
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

# Five results, and what p.adjust() makes on its way, as measured.
check_comparison_memory <- function(task) {
  check_memory(72 * task$pairs, "gpuCorCompare()", n_of(task$pairs, "pair"),
               "'threshold', 'density', 'k', 'p.value' or 'fdr' says which pairs to keep")
}

compare_all <- function(task, error, maxima) {
  attributes <- dist_attributes(task$x, task$method, task$call)
  value <- run(task$x, NULL, task$method, task$use, "row", part_of(task$settings, 0, 0.25), attributes)
  shape <- plain_attributes(value)
  shape$call <- NULL
  shaped <- function(values) {
    attributes(values) <- shape
    values
  }
  difference <- atanh(as.vector(value))
  doing(part_of(task$settings, 0.25, 0.25), "p values")
  p <- two_sided(difference / error)
  doing(part_of(task$settings, 0.5, 0.5), "false discovery rates")
  structure(
    c(list(difference = shaped(difference), statistic = shaped(difference / error), p.value = shaped(p),
           fdr = shaped(stats::p.adjust(p, "BH"))),
      if (!is.null(maxima)) list(p.adjusted = shaped(adjusted_by(maxima, p, as.vector(value), task))),
      list(error = error, n = group_sizes(task), method = task$method, use = uses[task$use])),
    class = "gpuCorCompare", adjusted = adjustment_of(task$settings, task$x)
  )
}

two_sided <- function(z) 2 * stats::pnorm(-abs(z))

adjusted_by <- function(maxima, p, value, task) {
  .Call(r_adjusted, p, as.double(value), sort(maxima), constant(task$sign), SAME_COEFFICIENT, FALSE,
        task$settings$threads)
}

group_sizes <- function(task) {
  groups <- task$x$counted$groups
  n <- task$x$counted$n + task$x$counted$lost
  list(x = utils::head(n, groups[[1L]]), y = utils::tail(n, groups[[2L]]))
}

#' @rdname gpuCorCompare
#' @param row.names,optional As in [base::as.data.frame()].
#' @export
as.data.frame.gpuCorCompare <- function(x, row.names = NULL, optional = FALSE, ...) {
  pairs <- variables_at(seq_along(x$difference), size_of(x$difference))
  labels <- attr(x$difference, "Labels")
  name <- function(side) if (is.null(labels)) pairs[, side] else labels[pairs[, side]]
  columns <- intersect(c("difference", "statistic", "p.value", "fdr", "p.adjusted"), names(x))
  data.frame(from = name(1L), to = name(2L), lapply(x[columns], as.vector), row.names = row.names)
}

describe_groups <- function(n) {
  group <- function(n) {
    if (length(n) == 1L) return(n_of(n, "observation"))
    paste(length(n), "subjects of", format_count(sum(n)), "observations")
  }
  paste0(group(n$x), " against ", group(n$y))
}

#' @method print gpuCorCompare
#' @export
print.gpuCorCompare <- function(x, digits = 4L, ...) {
  frame <- as.data.frame(x)
  cat("Differences of z, ", method_title(x$method), ", ", describe_groups(x$n),
      adjusted_phrase(attr(x, "adjusted"), x$method), "; ", n_of(nrow(frame), "pair"), ", smallest p:\n", sep = "")
  print(utils::head(frame[order(frame$p.value), ], 10L), digits = digits, row.names = FALSE)
  invisible(x)
}

# ---- permutations

# Whether the subjects' labels are permuted; otherwise the rows of both matrices.
permutes_labels <- function(task) length(task$x$data) > 2L

# tanh of the largest difference of each permutation, on the scale of the data's standard error.
permuted_differences <- function(task, n_perm, error) {
  found <- if (permutes_labels(task)) permuted_labels(task, n_perm) else permuted_rows(task, n_perm)
  tanh(atanh(pmax(found$maxima, 0)) * error / found$errors)
}

# Subjects are drawn into the groups, which keep their sizes; no data change.
permuted_labels <- function(task, n_perm) {
  n <- length(task$x$data)
  of_x <- task$x$counted$groups[[1L]]
  own <- task$x$counted$n - 3
  weights <- vapply(seq_len(n_perm), FUN.VALUE = numeric(n), function(b) {
    difference_weights(own, seq_len(n) %in% sample.int(n, of_x))
  })
  errors <- sqrt(colSums(weights^2 / own) * Z_VARIANCES[[task$method]])
  found <- checked(.Call(r_label_maxima, task$x, method_code(task$method), task$use, constant(task$sign), weights,
                         task$settings))
  list(maxima = found$maxima, errors = errors)
}

permuted_rows <- function(task, n_perm) {
  x <- task$x
  groups <- lapply(x$data, standard_columns, task$method, drops_observations(task))
  all <- do.call(rbind, groups)
  if (anyNA(all)) {
    fail("'n_perm' permutes observations that all pairs have; ",
         "with missing values use = \"complete.obs\" leaves these")
  }
  n <- nrow(groups[[1L]])
  maxima <- vapply(seq_len(n_perm), FUN.VALUE = 0, function(b) {
    order <- sample.int(nrow(all))
    x$data <- list(all[order[seq_len(n)], , drop = FALSE], all[order[-seq_len(n)], , drop = FALSE])
    settings <- task$settings
    task$settings <- at_pass(settings, b, n_perm, paste("permutation", format_count(b), "of", format_count(n_perm)))
    report_progress(task$settings, 0) # a pass may be too short for the engine to tell of it
    checked(.Call(r_subject_maximum, x, method_code(task$method), task$use, constant(task$sign), task$settings))$maximum
  })
  list(maxima = maxima, errors = combined_error(x, task$method))
}

# Columns, or their ranks, of mean 0 and variance 1; what is constant becomes 0.
standard_columns <- function(m, method, drops) {
  m <- as.matrix(if (is_outside(m)) read_columns(m, seq_len(ncol(m))) else m)
  if (drops) m <- m[rowSums(is.na(m)) == 0, , drop = FALSE]
  if (method == "spearman") m <- apply(m, 2L, rank, na.last = "keep")
  m <- scale(m)
  m[is.nan(m)] <- 0
  m
}
