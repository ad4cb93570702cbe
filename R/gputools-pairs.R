# Compatibility with code for package gputools: lists of matrices, and two of its functions.

# ---- gputools' functions

#' Strongest pairs, permutation tests and t scores by the names of package gputools
#'
#' `gpuCorPairs()` is [gpuCorNetwork()] with `output = "edges"`, `gpuCorPerm()` is a permutation test of every pair, and
#' `gpuTtest()` converts coefficients to t, all with the arguments of package gputools. New code should use
#' [gpuCorNetwork()] and [gpuCorTest()]: see [coming-from].
#'
#' `gpuCorPairs()` also takes missing values, Kendall's tau and the other measures. With `top` and without `y`, a pair
#' is an edge if either column is among the strongest of the other.
#'
#' `gpuCorPerm()` permutes the rows of `y`, or of a copy of `x`, `B` times, all columns together. [set.seed()] makes the
#' result reproducible. Rows must be independent, which those of time series are not, and have no missing values. The p
#' value of a pair is the fraction of permutations, including the data themselves, in which its coefficient is at least
#' as large in absolute value. The adjusted p value is that of [gpuPermute()]. Differences up to
#' `r gpucor:::SAME_COEFFICIENT`, or 1e-10 with `precision = "double"`, count as equal. If you need adjusted p values
#' only, [gpuCorTest()] with `adjust = "maxT"` is faster.
#'
#' `gpuTtest()` returns `coeffs * sqrt((goodPairs - 2) / (1 - coeffs^2))`. For uncorrelated normal variables it has
#' Student's t distribution with `goodPairs - 2` degrees of freedom.
#'
#' @inheritParams gpuCor
#' @inheritParams gpuControl
#' @param x As in [gpuCor()].
#' @param threshold,top One of these: the minimum coefficient of a pair; or how many of the strongest columns of `x` to
#'   keep for each column of `y`; of equal ones the first.
#' @param absolute,test `TRUE`: strength is `|r|`; `FALSE`: positive coefficients only. `TRUE` to add tests.
#' @param limit,tile The max number of pairs (more are an error); and an argument of package gputools, ignored.
#' @param ... As in [gpuCorNetwork()]; for `gpuCorPerm()` settings of the run, `assay` and options of measures.
#' @return `gpuCorPairs()`: a data frame `from`, `to`, `r`, the strongest first; with `test = TRUE` also `n`, `ts` and
#'   `p.value`. `gpuCorPerm()`: a list of matrices `coefficients`, `p.value` and `p.adjusted`; without `y` the diagonal
#'   of the latter two is `NA`. `gpuTtest()`: numbers in the shape of `coeffs`, `NA` with fewer than three observations.
#' @examples
#' gpuCorPairs(mtcars, threshold = 0.85, test = TRUE)
#' gpuCorPairs(mtcars[, 1:4], mtcars[, 5:11], top = 1)
#'
#' gpuCorPerm(mtcars[, 1:3], mtcars[, 4:6], B = 99)$p.adjusted
#' gpuTtest(nrow(mtcars), cor(mtcars))[1:3, 1:3]
#' @order 1
#' @export
gpuCorPairs <- function(x, y = NULL, threshold = NULL, top = NULL, method = "pearson", absolute = TRUE, test = FALSE,
                        limit = 1e7, tile = NULL, precision = c("single", "double"), use = "everything", ...) {
  check_not_threshold(x, y)
  if (is.null(threshold) == is.null(top)) fail("which pairs? give one of 'threshold' and 'top'")
  if (!is.null(top)) top <- check_whole(top, "top", 1)
  if (!is.null(threshold)) threshold <- check_fraction(threshold, "threshold", zero = TRUE)
  test <- check_flag(test, "test")
  check_that(limit, "limit", is_number(limit) && !is.na(limit), "a number")
  sign <- if (check_flag(absolute, "absolute")) "absolute" else "positive"
  run <- function(...) {
    gpuCorNetwork(x, y, sign = sign, use = use, method = method, ..., precision = precision, output = "edges")
  }
  edges <- if (is.null(top)) run(threshold = threshold, ...) else run(k = top, ...)
  if (!is.null(top) && !is.null(y)) { # of equal ones the first
    place <- stats::ave(seq_along(edges$to), match(edges$to, unique(edges$to)), FUN = seq_along)
    edges <- edges[place <= top, , drop = FALSE]
  }
  if (nrow(edges) > limit) {
    fail(format_count(nrow(edges)), " pairs are more than 'limit', ", format_count(limit),
         "; give a higher threshold or limit")
  }
  rownames(edges) <- NULL
  if (!test) return(edges)
  # Tests follow from r and do not depend on the criterion. gpuCorNetwork() has already warned.
  run_of <- function(..., mutual, pairs) {
    new_run(NULL, specs_of("gpuCorNetwork", ...), x, y, method, use, precision = precision)
  }
  run <- repeated(run_of(...))
  check_testable(run$method, NULL)
  significance <- significance_of(run)
  if (!significance$single || !is_t_distributed(run$method)) {
    fail("test = TRUE is for pairs of the same observations whose p values follow from the coefficient; ",
         "gpuCorTest() has those of the columns found, gpuCorNetwork(p.value =) the pairs up to one")
  }
  df <- significance$df
  edges$n <- rep(significance$n, nrow(edges))
  edges$ts <- edges$r * sqrt(df / (1 - edges$r^2))
  edges$p.value <- p_of_r(edges$r, significance$distribution, run$place$threads)
  edges
}

#' @rdname gpuCorPairs
#' @param B An integer: the number of permutations.
#' @export
gpuCorPerm <- function(x, y = NULL, B = 1000L, method = "pearson", precision = c("single", "double"), use = "all.obs",
                       ...) {
  specs <- specs_of("gpuCorPerm", ...)
  method <- check_method(method)
  precision <- check_choice(precision, eval(formals()$precision), "precision")
  n_perm <- check_whole(B, "B", 1, 1e9)
  input <- check_input(x, y, check_use("all.obs"), method, specs$control$assay)
  specs$control$assay <- NULL # of what has been read
  for (name in c("x", "y")) {
    data <- input[[name]]
    if (!is.null(data) && !is.matrix(data)) check_copy_memory(data, name)
  }
  # Measured bytes: coefficients, absolute values and counts, and those of a permutation.
  pairs <- as.numeric(ncol(input$x)) * ncol(if (is.null(y)) input$x else input$y)
  check_memory(72 * pairs, "gpuCorPerm()", n_of(pairs, "value"),
               "gpuCorNetwork(fdr = ) keeps the pairs of small p values only")
  first <- without_observation_names(as.matrix(input$x))
  second <- if (is.null(y)) first else without_observation_names(as.matrix(input$y))
  if (anyNA(first) || anyNA(second) || nrow(first) < 3L) {
    fail("'x' and 'y' must have no missing values, as observations change places, and at least 3 rows")
  }
  cor_with <- function(columns) {
    gpuCor(first, columns, method, use, output = "matrix", precision = precision, adjustment = specs$adjustment,
           control = specs$control)
  }
  observed <- cor_with(second)
  strength <- abs(observed) - if (precision == "double") 1e-10 else SAME_COEFFICIENT
  if (is.null(y)) diag(strength) <- NA
  counts <- strength * 0 # how many coefficients of each pair reach its strength
  maxima <- numeric(n_perm) # over all pairs, of each permutation
  # Permuted copies are side by side, so that a call computes BLOCK_VALUES coefficients.
  width <- max(1, BLOCK_VALUES %/% max(1, length(strength), length(second)))
  for (of_block in split(seq_len(n_perm), (seq_len(n_perm) - 1) %/% width)) {
    orders <- vapply(of_block, function(b) sample.int(nrow(second)), integer(nrow(second)))
    r <- abs(repeated(cor_with(matrix(second[orders, ], nrow(second)))))
    dim(r) <- c(nrow(strength), length(of_block), ncol(second))
    for (b in seq_along(of_block)) {
      one <- r[, b, ]
      counts <- counts + (one >= strength)
      one[is.na(strength)] <- NA
      maxima[of_block[b]] <- max(one, -1, na.rm = TRUE)
    }
  }
  larger <- strength # the number of maxima that reach each strength
  larger[] <- n_perm - findInterval(strength, sort(maxima), left.open = TRUE)
  list(coefficients = observed, p.value = (counts + 1) / (n_perm + 1), p.adjusted = (larger + 1) / (n_perm + 1))
}
