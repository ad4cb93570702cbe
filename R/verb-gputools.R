# What code written for package gputools expects of the results of gpuCor(), and two of its functions.

# Attributes of a gpuCor object that a plain dist does not have: `absent` and `untestable` are for `$`, see
# tested_attributes(); `tests` is what gpuCor(test = TRUE) has found.
OWN_ATTRIBUTES <- c("n_obs", "diagonal", "absent", "untestable", "tests", "adjusted")

# What `$` needs to know beside n_obs, in few bytes. absent: the positions of missing values among the observations that
# count, where there are coefficients beside them; untestable: why there are no p values without the data.
tested_attributes <- function(x, use, settings) {
  if (is_combined(x)) return(list(untestable = "these are coefficients of many subjects combined"))
  if (is_designed(settings$design)) {
    asked <- setdiff(names(settings$asked), "data") # of the formula in 'covariates'
    return(list(untestable = paste("with", paste0("'", asked, "'", collapse = ", "),
                                   "the number of observations does not tell")))
  }
  is_looked_at <- uses[use] == "pairwise.complete.obs" || (uses[use] == "everything" && !is_outside(x))
  absent <- if (is_looked_at) which_absent(x, settings$design$weights)
  if (length(absent)) list(absent = absent) else list()
}

# By "everything" a column that misses a value has no coefficient, so that what is not in memory need not be read again
# but for such columns. The first column's coefficients tell, unless it has none itself.
with_absent <- function(r, x, use, settings) {
  if (uses[use] != "everything" || is_designed(settings$design)) return(r)
  without <- which(is.na(.subset(r, seq_len(max(0, ncol(x) - 1))))) + 1L
  if (length(without) == ncol(x) - 1) without <- c(1L, without)
  absent <- which_absent(x, settings$design$weights, without)
  if (length(absent)) attr(r, "absent") <- absent
  r
}

# What is not in memory is read for it once more, which is little beside what pairs take that leave out their own.
which_absent <- function(x, weights = NULL, columns = seq_len(ncol(x))) {
  if (is.matrix(x) && !anyNA(x)) return(NULL)
  if (isS4(x) && is(x, "dgCMatrix") && !anyNA(x@x)) return(NULL)
  if (is.matrix(x) && is.null(weights)) return(which(is.na(x)))
  counts <- if (is.null(weights)) rep(TRUE, nrow(x)) else weights > 0
  places <- lapply(block_columns(x), function(block) {
    block <- intersect(block, columns)
    if (!length(block)) return(NULL)
    missing <- which(is.na(dense_columns(x, block)[counts, , drop = FALSE]), arr.ind = TRUE)
    missing[, 1L] + (block[missing[, 2L]] - 1) * sum(counts)
  })
  places <- as.numeric(unlist(places))
  if (sum(counts) * ncol(x) < 2^31) as.integer(places) else places
}

# ---- what gputools' results are called

GPUTOOLS_PARTS <- c("coefficients", "pairs", "ts", "p.value")

#' @rdname gpuCor-class
#' @param name `"coefficients"`, `"pairs"`, `"ts"` or `"p.value"`, see Value. May be abbreviated.
#' @export
`$.gpuCor` <- function(x, name) {
  part <- GPUTOOLS_PARTS[pmatch(name, GPUTOOLS_PARTS)]
  if (is.na(part)) {
    fail("coefficients have no '", name, "'; there are $coefficients, $pairs, $ts and $p.value, as matrices. ",
         "See ?gpuCor-class for what else can be done with them")
  }
  if (part == "coefficients") return(as.matrix(x))
  tests <- attr(x, "tests")
  if (!is.null(tests)) return(tests[[part]])
  if (part == "pairs") observed_pairs(x) else scored_pairs(x, part)
}

#' @importFrom utils .DollarNames
#' @rawNamespace S3method(.DollarNames, gpuCor)
.DollarNames.gpuCor <- function(x, pattern = "") { # nolint: object_name_linter.
  grep(pattern, GPUTOOLS_PARTS, value = TRUE)
}

need_tests <- function(why, part) {
  fail("there is no $", part, " of these coefficients: ", why, "; gpuCor(..., test = TRUE) finds it with them")
}

# How many observations each pair has, as a matrix.
observed_pairs <- function(x, part = "pairs") {
  if (!is.null(attr(x, "untestable"))) need_tests(attr(x, "untestable"), part)
  n_var <- size_of(x)
  labels <- attr(x, "Labels")
  names <- if (!is.null(labels)) list(labels, labels)
  n <- attr(x, "n_obs")
  absent <- attr(x, "absent") - 1
  if (!length(absent)) return(matrix(n, n_var, n_var, dimnames = names))
  holes <- Matrix::sparseMatrix(i = absent %% n + 1, j = absent %/% n + 1, x = 1, dims = c(n, n_var))
  missed <- Matrix::colSums(holes)
  found <- n - outer(missed, missed, `+`) + as.matrix(Matrix::crossprod(holes))
  dimnames(found) <- names
  found
}

# t scores or two-sided p values from the coefficients and the numbers of observations.
scored_pairs <- function(x, part) {
  method <- attr(x, "method")
  if (!is_t_distributed(method)) need_tests("they follow from the ties of the data, too", part)
  if (part == "p.value") check_testable(method, NULL)
  n <- observed_pairs(x, part)
  df <- n - measure_of(method)$df_taken
  r <- as.matrix(x)
  ts <- r * sqrt(df / (1 - r^2))
  ts[n < 3] <- NA
  if (part == "ts") return(ts)
  if (method == "spearman") rank_p(r, n, part) else two_tails(ts, df)
}

# Those of Spearman's rho of n observations each, NA below 3.
rank_p <- function(r, n, part) {
  if (any(n >= LEAST_OBS & n <= EXACT_UNTOLD)) {
    need_tests("with so few observations they follow from the ties of the data, too", part)
  }
  p <- replace(r, TRUE, NA_real_)
  for (count in unique(n[n >= LEAST_OBS])) p[n == count] <- p_of_r(r[n == count], t_distribution(NULL, count, TRUE), 1L)
  p
}

two_tails <- function(ts, df) {
  p <- ts
  p[] <- 2 * stats::pt(-abs(ts), df)
  p
}

# The list of matrices that gputools' gpuCor() returns. found: of gpuCorTest().
listed_matrices <- function(found, test) {
  parts <- lapply(unclass(found)[c("coefficient", "n", "statistic", "p.value")], as.matrix)
  names(parts) <- c("coefficients", "pairs", "ts", "p.value")
  if (test) parts else parts[c("coefficients", "pairs", "ts")]
}

# What gpuCor() returns where tests are asked for, or the list. given: arguments, x and y first; call: of the user.
cor_with_tests <- function(given, output, test, call) {
  found <- do.call(gpuCorTest, c(given, list(output = "matrix")), quote = TRUE)
  if (output != "dist" || !is.null(given[[2L]])) return(listed_matrices(found, test))
  r <- suppressWarnings(do.call(gpuCor, given, quote = TRUE)) # gpuCorTest() has given them
  attr(r, "tests") <- listed_matrices(found, TRUE)[-1L]
  attr(r, "call") <- call
  r
}

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
#' the share of the orders, the one of the data being one of them, by which its coefficient is at least as large in
#' size; the adjusted one is the share of those by which the largest coefficient of all pairs is (Westfall and Young's
#' single step). The same up to `r gpucor:::SAME_COEFFICIENT` counts as as large, 1e-10 with `precision = "double"`.
#' Each permutation's coefficients are looked at by R: where adjusted p values are all that is wanted, [gpuCorTest()]
#' with `adjust = "maxT"` finds the largest ones where they are computed.
#'
#' @inheritParams gpuCor
#' @param threshold Keep the pairs whose coefficient is at least this.
#' @param top Keep, of each column of `y`, the `top` strongest columns of `x`, ties going to the earlier one.
#' @param absolute `TRUE`: strength is `|r|`; `FALSE`: positive coefficients only.
#' @param test Whether to add test statistics and two-sided p values.
#' @param limit With more pairs than this it is an error.
#' @param tile Of gputools; without a meaning here.
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
#' @param B How many permutations.
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
