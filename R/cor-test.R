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
#' @source The function of this name in the former package gputools.
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
  degrees <- goodPairs - 2
  degrees[!is.na(degrees) & degrees <= 0] <- NA
  if (inherits(coeffs, "gpuCor")) coeffs <- as_plain_dist(coeffs)
  coeffs * sqrt(as.vector(degrees) / ((1 - coeffs) * (1 + coeffs)))
}

#' Test every pair of columns for correlation
#'
#' Coefficients, numbers of complete observations, test statistics and p values
#' of all pairs: [stats::cor.test()] for each of them, with `exact = FALSE`.
#'
#' Pearson and Spearman: Student's t with n - 2 degrees of freedom. Kendall: the
#' normal approximation with the variance that the ties of the two columns give.
#' Tails are computed as such, never as a difference from one: a p value is right
#' down to 1e-300, and with `log.p = TRUE` beyond.
#'
#' With missing values and `"pairwise.complete.obs"`, n differs from pair to
#' pair; for Kendall the ties are then counted pair by pair, in R, at about 0.1
#' ms each. The result holds four values a pair: it is meant for thousands of
#' columns, not for hundreds of thousands.
#'
#' @inheritParams gpuCor
#' @param alternative `"two.sided"`, `"less"` or `"greater"`: the sign that
#'   counts. May be abbreviated.
#' @param log.p If `TRUE`, `p.value` is the natural logarithm of p.
#' @return A list of class `gpuCorTest`: `coefficient`, `n`, `statistic`,
#'   `p.value`, each a `dist` (or a matrix, with `output = "matrix"` or with `y`),
#'   and `method`, `use`, `alternative`, `log.p`. `as.data.frame()` gives a row for
#'   each pair. `NA` where the coefficient is `NA` or n is below 3.
#' @section Errors: as [gpuCor()].
#' @seealso [stats::p.adjust()] for many tests at once.
#' @examples
#' test <- gpuCorTest(mtcars, method = "kendall")
#' test
#' head(as.data.frame(test))
#' gpuCorTest(mtcars$mpg, mtcars$wt)$p.value
#' @export
gpuCorTest <- function(x, y = NULL, use = "everything", method = c("pearson", "kendall", "spearman"),
                       alternative = c("two.sided", "less", "greater"), log.p = FALSE,
                       output = c("dist", "matrix"), backend = NULL, ...) {
  method <- check_method(method)
  alternative <- check_choice(alternative, c("two.sided", "less", "greater"), "alternative")
  output <- check_choice(output, c("dist", "matrix"), "output")
  log.p <- check_flag(log.p, "log.p")
  r <- gpuCor(x, y, use, method, output, backend, ...)

  observed <- observed_values(x, y, use, method, list(...)$assay)
  complete <- complete_pairs(observed)
  like_r <- function(values) shape_like(if (inherits(r, "dist")) values[lower.tri(values)] else values, r)
  n <- like_r(complete)
  kendall <- !is_t_distributed(method)
  statistic <- if (kendall) like_r(kendall_scores(observed, complete)) * as.vector(r) else gpuTtest(as.vector(n), r)
  statistic[as.vector(n) < 3] <- NA
  p <- tail_probability(statistic, if (kendall) Inf else as.vector(n) - 2, alternative, log.p)
  structure(
    list(coefficient = r, n = n, statistic = statistic, p.value = p, method = method,
         use = uses[observed$use], alternative = alternative, log.p = log.p),
    class = "gpuCorTest"
  )
}

# Values in the shape of r, as a plain dist where r is a gpuCor.
shape_like <- function(values, r) {
  attributes(values) <- attributes(as_plain_dist(r))
  values
}

# x and y, which is x where there is none, and the observations that count; NULL: each pair has its own.
observed_values <- function(x, y, use, method, assay) {
  use <- check_use(use)
  input <- suppressMessages(check_input(x, y, use, method, assay))
  symmetric <- is.null(input$y)
  list(x = input$x, y = if (symmetric) input$x else input$y, symmetric = symmetric, use = use,
       rows = complete_observations(list(x = input$x, y = input$y, use = use)))
}

# How many observations each pair has.
complete_pairs <- function(observed) {
  n <- matrix(as.numeric(length(observed$rows)), ncol(observed$x), ncol(observed$y))
  if (!is.null(observed$rows)) return(n)
  present <- function(m, columns) !is.na(dense_columns(m, columns)) + 0
  for (i in block_columns(observed$x)) {
    rows <- present(observed$x, i)
    for (j in block_columns(observed$y)) n[i, j] <- crossprod(rows, present(observed$y, j))
  }
  n
}

# Sums over a variable's runs of ties that the variance of Kendall's S needs.
tie_sums <- function(values) {
  values <- values[!is.na(values)]
  t <- as.numeric(tabulate(match(values, unique(values))))
  c(pairs = sum(t * (t - 1)), triples = sum(t * (t - 1) * (t - 2)), weighted = sum(t * (t - 1) * (2 * t + 5)))
}

# Kendall's z is S / sd(S), S = tau * sqrt((m - ties) (m - ties')): what to multiply tau by.
kendall_score <- function(n, x, y) {
  m <- n * (n - 1) / 2
  variance <- (n * (n - 1) * (2 * n + 5) - x$weighted - y$weighted) / 18 +
    x$pairs * y$pairs / (2 * n * (n - 1)) + x$triples * y$triples / (9 * n * (n - 1) * pmax(n - 2, 1))
  sqrt((m - x$pairs / 2) * (m - y$pairs / 2)) / sqrt(variance)
}

kendall_scores <- function(observed, n) {
  x <- tie_table(observed$x, observed$rows)
  y <- if (observed$symmetric) x else tie_table(observed$y, observed$rows)
  spread <- function(s, index) lapply(s, function(v) matrix(v[index], nrow(n)))
  scores <- kendall_score(n, spread(x, row(n)), spread(y, col(n)))
  own <- which(n < x$present[row(n)] | n < y$present[col(n)], arr.ind = TRUE)
  if (observed$symmetric) own <- own[own[, 1L] > own[, 2L], , drop = FALSE]
  if (!nrow(own)) return(scores)
  scores[own] <- pair_pieces(observed$x, observed$y, own[, 1L], own[, 2L], common_scores)
  if (observed$symmetric) scores[own[, 2:1, drop = FALSE]] <- scores[own]
  scores
}

# tie_sums() of each column, and how many values it has.
tie_table <- function(m, rows) {
  sums <- column_values(m, function(values) c(present = sum(!is.na(values)), tie_sums(values)),
                        c(present = 0, pairs = 0, triples = 0, weighted = 0), rows)
  as.data.frame(t(sums))
}

# Of pairs of columns, each with common observations of its own.
common_scores <- function(a, b) {
  common <- !is.na(a) & !is.na(b)
  sums <- function(values, e) as.list(tie_sums(values[common[, e], e]))
  rbind(vapply(seq_len(ncol(a)), function(e) kendall_score(sum(common[, e]), sums(a, e), sums(b, e)), 0))
}

# degrees = Inf is the normal distribution.
tail_probability <- function(statistic, degrees, alternative, log.p) {
  p <- switch(alternative,
    two.sided = stats::pt(-abs(statistic), degrees, log.p = TRUE) + log(2),
    less = stats::pt(statistic, degrees, log.p = TRUE),
    greater = stats::pt(statistic, degrees, lower.tail = FALSE, log.p = TRUE)
  )
  p <- pmin(p, 0)
  attributes(p) <- attributes(statistic)
  if (log.p) p else exp(p)
}

#' @rdname gpuCorTest
#' @param row.names,optional As in [base::as.data.frame()].
#' @export
as.data.frame.gpuCorTest <- function(x, row.names = NULL, optional = FALSE, ...) {
  r <- x$coefficient
  if (inherits(r, "dist")) {
    pairs <- triangleIndex(seq_along(r), size_of(r))
    labels <- list(attr(r, "Labels"), attr(r, "Labels"))
  } else {
    r <- as.matrix(r)
    pairs <- arrayInd(seq_along(r), dim(r))
    labels <- list(rownames(r), colnames(r))
  }
  name <- function(side) if (is.null(labels[[side]])) pairs[, side] else labels[[side]][pairs[, side]]
  data.frame(from = name(1L), to = name(2L), coefficient = as.vector(x$coefficient), n = as.vector(x$n),
             statistic = as.vector(x$statistic), p.value = as.vector(x$p.value), row.names = row.names)
}

#' @method print gpuCorTest
#' @export
print.gpuCorTest <- function(x, digits = 4L, ...) {
  frame <- as.data.frame(x)
  cat(method_title(x$method), ", ", format_count(nrow(frame)), " tests, alternative ", x$alternative,
      "; smallest ", if (x$log.p) "log p" else "p", ":\n", sep = "")
  print(utils::head(frame[order(frame$p.value), ], 10L), digits = digits, row.names = FALSE)
  invisible(x)
}
