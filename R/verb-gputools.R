# What code written for package gputools expects: lists of matrices, and two of its functions.

# ---- gputools' functions

#' The strongest pairs, and tests by permutation, by the names of package gputools
#'
#' `gpuCorPairs()` is [gpuCorNetwork()] with `output = "edges"`, and `gpuCorPerm()` a permutation test of every pair,
#' with the arguments that these functions have in package gputools. New code has more of the functions behind them:
#' see [coming-from].
#'
#' `gpuCorPairs()`: missing values, Kendall's tau and the other measures are taken, too. `top` without `y` gives the
#' pairs of which either column has the other among its own, each once.
#'
#' `gpuCorPerm()`: the rows of `y`, or of a copy of `x`, are put into another order by [base::sample.int()], `B` times
#' after another, all columns by the same order; so [set.seed()] determines the permutations. Rows must be independent
#' of one another, which those of series are not: [gpuCorTest()] has `surrogate =` for these. The p value of a pair is
#' the fraction of permutations, the data themselves included, in which its coefficient is at least as large in size;
#' the adjusted p value is the fraction in which the largest coefficient of all pairs is (Westfall and Young's single
#' step). The same up to `r gpucor:::SAME_COEFFICIENT` counts as as large, 1e-10 with `precision = "double"`.
#' Each permutation's coefficients are looked at by R: where adjusted p values are all that is wanted, [gpuCorTest()]
#' with `adjust = "maxT"` finds the largest ones where they are computed.
#'
#' @inheritParams gpuCor
#' @param threshold Keep the pairs whose coefficient is at least this.
#' @param top Keep, of each column of `y`, the `top` strongest columns of `x`, ties going to the earlier one.
#' @param absolute `TRUE`: strength is `|r|`; `FALSE`: positive coefficients only.
#' @param test `TRUE` or `FALSE`: whether to add test statistics and two-sided p values.
#' @param limit A number: the max number of pairs; more are an error.
#' @param tile Ignored; an argument of package gputools.
#' @param ... As in [gpuCorNetwork()]; of `gpuCorPerm()` those that say how to compute, `assay`, and options of
#'   measures.
#' @return `gpuCorPairs()`: a data frame `from`, `to`, `r`, the strongest first; with `test = TRUE` also `n`, `ts` and
#'   `p.value`. `gpuCorPerm()`: a list of matrices `coefficients`, `p.value` and `p.adjusted`; without `y` the diagonal
#'   of the latter two is `NA`.
#' @section Errors: as [gpuCorNetwork()]; neither or both of `threshold` and `top`; more than `limit` pairs.
#'   `gpuCorPerm()`: missing values, fewer than 3 rows, weights and covariates.
#' @references
#' Westfall PH, Young SS (1993). *Resampling-based multiple testing*. Wiley.
#' @source The functions of these names in package gputools.
#' @examples
#' gpuCorPairs(mtcars, threshold = 0.85, test = TRUE)
#' gpuCorPairs(mtcars[, 1:4], mtcars[, 5:11], top = 1)
#'
#' set.seed(1)
#' gpuCorPerm(mtcars[, 1:3], mtcars[, 4:6], B = 99)$p.adjusted
#' @export
gpuCorPairs <- function(x, y = NULL, threshold = NULL, top = NULL, method = "pearson", absolute = TRUE, test = FALSE,
                        limit = 1e7, tile = NULL, precision = c("single", "double"), use = "everything", ...) {
  check_not_threshold(x, y)
  if (is.null(threshold) == is.null(top)) fail("which pairs? give one of 'threshold' and 'top'")
  if (!is.null(top)) top <- check_whole(top, "top", 1)
  if (!is.null(threshold)) threshold <- check_share(threshold, "threshold", zero = TRUE)
  test <- check_flag(test, "test")
  if (!is_number(limit) || is.na(limit)) fail("'limit' must be a number, not ", show_value(limit))
  sign <- if (check_flag(absolute, "absolute")) "absolute" else "positive"
  run <- function(...) {
    gpuCorNetwork(x, y, sign = sign, use = use, method = method, ..., precision = precision, output = "edges")
  }
  edges <- if (is.null(top)) run(threshold = threshold, ...) else run(k = top, ...)
  if (!is.null(top) && !is.null(y)) edges <- edges[is_among_first(edges$to, top), , drop = FALSE]
  if (nrow(edges) > limit) {
    fail(format_count(nrow(edges)), " pairs are more than 'limit', ", format_count(limit),
         "; give a higher threshold or limit")
  }
  rownames(edges) <- NULL
  if (test) tested_edges(edges, x, y, use, method, precision, ...) else edges
}

# Whether an element is among the first `top` of its value.
is_among_first <- function(values, top) {
  place <- match(values, unique(values))
  order <- order(place)
  rank <- integer(length(place))
  rank[order] <- sequence(tabulate(place))
  rank <= top
}

# Edges with n, ts and p.value beside them, where these follow from r, whichever pairs were looked at.
tested_edges <- function(edges, x, y, use, method, precision, ..., mutual, pairs) {
  given <- list(...)
  of_columns <- names(given) %in% c(ADJUSTMENT, "assay")
  control <- if (is.null(given$control)) do.call(gpuControl, given[!of_columns]) else given$control
  settings <- new_settings(control, given[names(given) %in% ADJUSTMENT], precision, assay = given$assay)
  task <- suppressWarnings( # which gpuCorNetwork() has given
    network_task(x, y, NULL, "absolute", use, method, settings, takes_subjects = FALSE)
  )
  check_testable(task$method, NULL)
  significance <- significance_of(task)
  if (!significance$single || !is_t_distributed(task$method)) {
    fail("test = TRUE is for pairs of the same observations whose p values follow from the coefficient; ",
         "gpuCorTest() has those of the columns found, gpuCorNetwork(p.value =) the pairs up to one")
  }
  df <- significance$df
  edges$n <- rep(significance$n, nrow(edges))
  edges$ts <- edges$r * sqrt(df / (1 - edges$r^2))
  edges$p.value <- p_of_r(edges$r, significance$distribution, task$settings$threads)
  edges
}

#' @rdname gpuCorPairs
#' @param B An integer: the number of permutations.
#' @export
gpuCorPerm <- function(x, y = NULL, B = 1000L, method = "pearson", precision = c("single", "double"), use = "all.obs",
                       options = NULL, assay = NULL, ..., control = gpuControl(...)) {
  check_control(control, missing(control), ...names())
  method <- check_method(method)
  precision <- check_choice(precision, precisions, "precision")
  n_perm <- check_whole(B, "B", 1, 1e9)
  input <- check_input(x, y, check_use("all.obs"), method, assay)
  check_permutation_memory(input)
  first <- without_observation_names(as.matrix(input$x))
  second <- if (is.null(y)) first else without_observation_names(as.matrix(input$y))
  check_shuffled(first, second)
  cor_with <- function(columns) {
    gpuCor(first, columns, method, use, output = "matrix", precision = precision, options = options, control = control)
  }
  cor_of <- function(columns) suppressWarnings(cor_with(columns))
  observed <- cor_with(second)
  strength <- abs(observed) - if (precision == "double") 1e-10 else SAME_COEFFICIENT
  if (is.null(y)) diag(strength) <- NA
  found <- shuffled_counts(second, strength, n_perm, cor_of)
  list(coefficients = observed, p.value = (found$counts + 1) / (n_perm + 1),
       p.adjusted = (counts_from(found$maxima, strength) + 1) / (n_perm + 1))
}

# Coefficients, their sizes and counts, and those of a permutation, as measured; and a copy of data that are in no
# ordinary matrix.
check_permutation_memory <- function(input) {
  for (name in c("x", "y")) {
    data <- input[[name]]
    if (!is.null(data) && !is.matrix(data)) check_copy_memory(data, name)
  }
  pairs <- as.numeric(ncol(input$x)) * ncol(if (is.null(input$y)) input$x else input$y)
  check_memory(72 * pairs, "gpuCorPerm()", n_of(pairs, "value"),
               "gpuCorNetwork(fdr = ) keeps the pairs of small p values only")
}

check_shuffled <- function(x, y) {
  if (anyNA(x) || anyNA(y)) fail("'x' and 'y' must have no missing values, as observations change places")
  if (nrow(x) < 3L) fail("'x' has ", n_of(nrow(x), "row"), " (observations); permutations need at least 3")
}

# Of `n_perm` orders of the rows of y: by how many a pair's coefficient is as large as `strength`, and the largest one
# of all pairs. Several orders' columns stand side by side, so that each call computes BLOCK_VALUES coefficients.
shuffled_counts <- function(y, strength, n_perm, cor_of) {
  counts <- strength * 0
  maxima <- numeric(n_perm)
  for (of_block in permutation_blocks(n_perm, length(strength), length(y))) {
    orders <- vapply(of_block, function(b) sample.int(nrow(y)), integer(nrow(y)))
    r <- abs(cor_of(matrix(y[orders, ], nrow(y))))
    dim(r) <- c(nrow(strength), length(of_block), ncol(y))
    for (b in seq_along(of_block)) {
      one <- r[, b, ]
      counts <- counts + (one >= strength)
      one[is.na(strength)] <- NA
      maxima[of_block[b]] <- max(one, -1, na.rm = TRUE)
    }
  }
  list(counts = counts, maxima = maxima)
}

permutation_blocks <- function(n_perm, pairs, values) {
  width <- max(1, BLOCK_VALUES %/% max(1, pairs, values))
  split(seq_len(n_perm), (seq_len(n_perm) - 1) %/% width)
}

# How many of the maxima are at least each strength.
counts_from <- function(maxima, strength) {
  counts <- strength
  counts[] <- length(maxima) - findInterval(strength, sort(maxima), left.open = TRUE)
  counts
}
