# Methods of class c("gpuCor", "dist"). The values can be many gigabytes: nothing
# here copies them without need.

#' Look at, pick from and convert coefficients of all pairs
#'
#' Methods for what [gpuCor()] returns.
#'
#' @param x,object An object of class `gpuCor`.
#' @param i,j With both: variables, by number (negative ones are left out), name
#'   or logical vector. With one index: positions among the pairs; or what picks from the N x N matrix by itself, a
#'   matrix of two columns, the variables of a pair in each row, or a logical one of N x N, such as `lower.tri(x)`.
#' @param drop Drop dimensions of length one?
#' @param n How many of the strongest pairs to show.
#' @param digits Significant digits to print.
#' @param ... Not used.
#' @param value Of `x[i] <- value`: numbers for pairs at positions `i`. All else would need a matrix: an error says so.
#'   Of `dimnames(x) <- value`: the same names twice; `rownames(x) <-` and `colnames(x) <-` name the variables.
#' @return `x[i, j]`: a matrix of coefficients; a number or a vector where a
#'   dimension is dropped. `as.matrix()`: the N x N matrix, with dimnames if `x`
#'   had column names. The diagonal is that of [stats::cor()]: 1, but `NA` with
#'   fewer than two observations, and by pairs also for a constant column.
#'   `x$coefficients`, `x$pairs` (how many observations each pair has), `x$ts` (Student's t) and `x$p.value`
#'   (two-sided): N x N matrices, as package gputools names them, computed when asked for; t and p follow from the
#'   coefficients, but for Kendall's tau and with weights, covariates and the like, where `gpuCor(test = TRUE)` has
#'   found them.
#'   `summary()`: a list of
#'   class `summary.gpuCor` with `n_var`, `n_obs`, `method`, `pairs`, `missing`,
#'   `mean`, `quantiles` (those of [stats::quantile()], of all pairs) and
#'   `strongest`, a data frame of `from`, `to` and `r`, of equal ones the earlier first, and `methods`, a sentence for a
#'   paper's methods. Of topological overlap ([gpuTOM()]) the same, of class `summary.gpuTOM`, with `overlap` for `r`.
#'   `as.data.frame()`: a row for each pair, in the order of the values, with `from`, `to` (names where the columns have
#'   names, otherwise numbers) and `r`. `dim()`, `dimnames()`, `diag()`, `t()`, `rowSums()`, `colSums()` and the means
#'   are those of the N x N matrix; `length()` is the number of pairs, as of any `dist`. Arithmetic and comparison with
#'   an N x N matrix give a matrix, and otherwise a plain `dist` or, of comparisons, a vector. `crossprod()` and
#'   `tcrossprod()` multiply the N x N matrix, and so does `x %*% y` from R 4.3 on. Earlier versions of R multiply the
#'   vector of pairs, which mostly ends with "non-conformable arguments": write `as.matrix(x) %*% y`.
#' @examples
#' r <- gpuCor(as.matrix(mtcars))
#' r[1, 2]
#' r[c("mpg", "wt"), ]
#' r$p.value["mpg", "wt"]
#' summary(r)
#' as.matrix(r)[1:3, 1:3]
#' head(as.data.frame(r))
#' plot(r)
#' @name gpuCor-class
NULL

# How many variables there are. An object whose values and attributes no longer belong together is an error.
size_of <- function(x) {
  n <- attr(x, "Size")
  whole <- is.numeric(n) && length(n) == 1L && isTRUE(n == floor(n)) && n >= 0
  if (!whole || pairs_of(n) != length(x)) {
    made <- if (whole) paste0(", which makes ", format_count(pairs_of(n)), " pairs")
    fail("attribute \"Size\" is ", show_value(n), made, "; the object has ", format_count(length(x)),
         " values, and has been changed since gpuCor() returned it")
  }
  n
}

#' @rdname gpuCor-class
#' @export
as.matrix.gpuCor <- function(x, ...) {
  check_square_memory(size_of(x))
  values <- .Call(r_unfold, x, size_of(x), attr(x, "diagonal"), choose_threads(setting(NULL, "threads")))
  if (is.list(values)) stop_run(values)
  labels <- attr(x, "Labels")
  if (!is.null(labels)) dimnames(values) <- list(labels, labels)
  values
}

# What arithmetic makes of coefficients are distances or the like: a plain dist.
as_plain_dist <- function(x) {
  if (inherits(x, c("gpuCor", "gpuTOM"))) {
    for (name in c(OWN_ATTRIBUTES, TOM_ATTRIBUTES)) attr(x, name) <- NULL
    class(x) <- "dist"
  }
  x
}

# Beside pairs there may be as many values, one for all, or a matrix of all variables, which makes one of x, too.
# Values for variables would be recycled over pairs, and mean nothing.
with_matrix <- function(x, other, operator) {
  n <- size_of(x)
  if (is.matrix(other) && identical(dim(other), rep(as.integer(n), 2L))) return(TRUE)
  if (!length(other) %in% c(1L, length(x))) {
    fail("the other side of '", operator, "' has ", n_of(length(other), "value"), "; there are ",
         n_of(length(x), "pair"), " of ", n_of(n, "variable"), ": give a value for all, one for each pair, or an ",
         "N x N matrix; as.matrix() makes one of coefficients")
  }
  FALSE
}

#' @export
Ops.gpuCor <- function(e1, e2) {
  operator <- get(".Generic")
  if (nargs() == 2L) {
    first <- inherits(e1, c("gpuCor", "gpuTOM"))
    if (with_matrix(if (first) e1 else e2, if (first) e2 else e1, operator)) {
      return(get(operator, baseenv())(if (first) as.matrix(e1) else e1, if (first) e2 else as.matrix(e2)))
    }
  }
  distances <- if (operator == "-" && nargs() == 2L && identical(e1, 1)) .Call(r_distances, e2)
  if (is.null(distances)) check_arithmetic_memory(if (nargs() == 2L) list(e1, e2) else list(e1), operator)
  as_plain_dist(if (is.null(distances)) NextMethod() else distances)
}

#' @export
Math.gpuCor <- function(x, ...) {
  check_arithmetic_memory(list(x), get(".Generic"))
  as_plain_dist(NextMethod())
}

describe_pairs <- function(method, n_var, n_obs) {
  paste0(method_title(method), " of ", n_of(n_var, "variable"), ": ", n_of(pairs_of(n_var), "pair"), ", ",
         n_of(n_obs, "observation"))
}

#' @rdname gpuCor-class
#' @method print gpuCor
#' @export
print.gpuCor <- function(x, digits = 3L, ...) {
  n <- size_of(x)
  cat(describe_pairs(attr(x, "method"), n, attr(x, "n_obs")), "\n",
      adjusted_line(attr(x, "adjusted"), attr(x, "method"), attr(x, "n_obs")), sep = "")
  print_corner(x, digits)
}

# The first variables, as many as fit a line.
print_corner <- function(x, digits) {
  n <- size_of(x)
  labels <- attr(x, "Labels")
  labels <- if (is.null(labels)) as.character(seq_len(min(n, 8L))) else shorten(utils::head(labels, 8L), 12L)
  column <- max(nchar(labels, "width"), digits + 3L, 0L) + 1L
  shown <- seq_len(min(n, max(2L, min(8L, getOption("width") %/% column))))
  if (length(shown) > 1L) {
    corner <- format(round(x[shown, shown, drop = FALSE], digits))
    dimnames(corner) <- list(labels[shown], labels[shown])
    corner[upper.tri(corner, diag = TRUE)] <- ""
    print(corner[-1L, -ncol(corner), drop = FALSE], quote = FALSE, right = TRUE)
  }
  if (n > length(shown)) cat("... and ", n_of(n - length(shown), "more variable"), "\n", sep = "")
  invisible(x)
}

# The variables of the pairs at positions among those of n, of which there may be no pair.
variables_at <- function(at, n) if (length(at)) triangleIndex(at, n) else matrix(numeric(), 0L, 2L)

# The pairs at positions among all of x.
pairs_at <- function(x, at) {
  pairs <- variables_at(at, size_of(x))
  labels <- attr(x, "Labels")
  if (is.null(labels)) labels <- seq_len(size_of(x))
  data.frame(from = labels[pairs[, 1L]], to = labels[pairs[, 2L]], r = .subset(x, at))
}

#' @rdname gpuCor-class
#' @method summary gpuCor
#' @export
summary.gpuCor <- function(object, n = 6L, ...) {
  n <- check_whole(n, "n", 0, 1e6)
  n_var <- size_of(object)
  shares <- c(0, 0.01, 0.25, 0.5, 0.75, 0.99, 1)
  found <- checked(.Call(r_summary, object, shares, n, choose_threads(setting(NULL, "threads"))))
  none <- found$missing == length(object)
  if (none) found$mean <- found$quantiles[] <- NA_real_
  structure(
    list(n_var = n_var, n_obs = attr(object, "n_obs"), method = attr(object, "method"), pairs = length(object),
         missing = found$missing, mean = found$mean,
         quantiles = stats::setNames(found$quantiles, paste0(100 * shares, "%")),
         strongest = pairs_at(object, found$strongest),
         methods = paste0(method_title(attr(object, "method")), " was computed ", with_gpucor(), " for ",
                          n_of(length(object), "pair"), " of ", n_of(n_var, "variable"), " from ",
                          n_of(attr(object, "n_obs"), "observation"), ".",
                          adjusted_sentence(attr(object, "adjusted"), attr(object, "method"), attr(object, "n_obs")))),
    class = "summary.gpuCor", adjusted = attr(object, "adjusted")
  )
}

#' @method print summary.gpuCor
#' @export
print.summary.gpuCor <- function(x, digits = 4L, ...) {
  cat(if (inherits(x, "summary.gpuTOM")) "Topological overlap by " else "",
      describe_pairs(x$method, x$n_var, x$n_obs), "\n", adjusted_line(attr(x, "adjusted"), x$method, x$n_obs), sep = "")
  if (x$missing > 0) cat(n_of(x$missing, "pair"), if (x$missing == 1) "is NA\n" else "are NA\n")
  cat("mean ", format(x$mean, digits = digits), ", quantiles:\n", sep = "")
  print(x$quantiles, digits = digits)
  if (nrow(x$strongest)) {
    cat("strongest pairs:\n")
    print(x$strongest, digits = digits, row.names = FALSE)
  }
  cat("for the methods:\n")
  print_methods(x)
  invisible(x)
}
