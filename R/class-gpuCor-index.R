# Picking from coefficients of all pairs and changing them: of positions among the pairs, and as from the N x N matrix.

resolve_index <- function(index, x, name) {
  n <- size_of(x)
  labels <- attr(x, "Labels")
  if (is.character(index)) {
    found <- match(index, labels)
    if (anyNA(found)) fail("subscript out of bounds: no variable is named \"", index[is.na(found)][1L], '"')
    return(found)
  }
  if (is.logical(index) && length(index) > n) {
    fail("subscript out of bounds: '", name, "' is longer than Size = ", n, if (length(index) == length(x)) {
      "; for each pair there is x[i], and as.vector(x) for formulas and data frames"
    })
  }
  found <- seq_len(n)[index]
  if (anyNA(found)) fail("subscript out of bounds: '", name, "' must be within 1 to Size = ", n)
  found
}

# Coefficients of variables i[k] and j[k].
coefficients_at <- function(x, i, j) {
  values <- rep(1, length(i))
  other <- i != j
  diagonal <- attr(x, "diagonal")
  if (!is.null(diagonal)) values[!other] <- diagonal[i[!other]]
  if (any(other)) values[other] <- .subset(x, trianglePosition(i[other], j[other], size_of(x)))
  values
}

# Whether an index picks from a matrix, and not from a vector: lower.tri(x), or a pair in each row.
is_of_matrix <- function(index, n) {
  is.matrix(index) && (if (is.logical(index)) all(dim(index) == n) else ncol(index) == 2L)
}

pick_from_matrix <- function(x, index) {
  if (is.logical(index)) {
    if (anyNA(index)) return(as.matrix(x)[index])
    at <- which(index, arr.ind = TRUE, useNames = FALSE)
    return(coefficients_at(x, at[, 1L], at[, 2L]))
  }
  sides <- lapply(1:2, function(side) resolve_index(index[, side], x, "i"))
  if (any(lengths(sides) != nrow(index))) fail("subscript out of bounds: 'i' must have two variables in each row")
  coefficients_at(x, sides[[1L]], sides[[2L]])
}

#' @rdname gpuCor-class
#' @export
`[.gpuCor` <- function(x, i, j, drop = TRUE) {
  n <- size_of(x)
  if (nargs() - (!missing(drop)) < 3L) {
    if (missing(i)) return(x)
    if (is_of_matrix(i, n)) return(pick_from_matrix(x, i))
    if (is.character(i) && is.null(names(x))) {
      fail("pairs have no names: x[\"", i[1L], "\", ] has all coefficients of a variable")
    }
    return(.subset(x, i))
  }
  i <- if (missing(i)) seq_len(n) else resolve_index(i, x, "i")
  j <- if (missing(j)) seq_len(n) else resolve_index(j, x, "j")
  labels <- attr(x, "Labels")
  values <- matrix(coefficients_at(x, rep(i, length(j)), rep(j, each = length(i))), length(i), length(j),
                   dimnames = if (!is.null(labels)) list(labels[i], labels[j]))
  if (drop) drop(values) else values
}

#' @rdname gpuCor-class
#' @export
`[[.gpuCor` <- function(x, i, j) {
  if (!missing(j)) return(x[i, j])
  if (is.character(i) && !all(i %in% names(x))) `$.gpuCor`(x, i[1L]) else .subset2(x, i)
}

only_positions <- function(x) {
  fail("one value stands for [i, j] and for [j, i], and none for [i, i], so only pairs at positions can be changed: ",
       "x[trianglePosition(i, j, ", size_of(x), ")] <- value. Change the matrix: m <- as.matrix(x)")
}

check_not_beyond <- function(x, i) {
  if (length(x) >= (if (is.logical(i)) length(i) else max(0, i, na.rm = TRUE))) return(invisible())
  fail("there are ", n_of(length(x), "pair"), " to be changed, and 'i' names one beyond")
}

#' @rdname gpuCor-class
#' @export
`[<-.gpuCor` <- function(x, i, j, value) {
  by_position <- nargs() < 4L && (missing(i) || !(is.character(i) || is_of_matrix(i, size_of(x))))
  if (!by_position) only_positions(x)
  if (!missing(i)) check_not_beyond(x, i)
  NextMethod()
}

# R would append a value that has no place, and make a list of all values.
#' @rdname gpuCor-class
#' @export
`[[<-.gpuCor` <- function(x, i, j, value) {
  by_position <- nargs() < 4L && length(i) == 1L && (if (is.character(i)) i %in% names(x) else is.numeric(i))
  if (!by_position) only_positions(x)
  if (is.numeric(i)) check_not_beyond(x, i)
  NextMethod()
}

#' @rdname gpuCor-class
#' @export
`$<-.gpuCor` <- function(x, name, value) { # nolint: object_name_linter.
  fail("$", name, " cannot be set: $coefficients, $pairs, $ts and $p.value are computed when they are asked for. ",
       "Change the matrix: m <- x$coefficients")
}

#' @rdname gpuCor-class
#' @export
`dimnames<-.gpuCor` <- function(x, value) {
  if (!is.null(value) && !(is.list(value) && length(value) == 2L)) {
    fail("'dimnames' must be a list of the variables' names, twice, or NULL")
  }
  old <- attr(x, "Labels")
  changed <- Filter(function(names) !identical(names, old), value)
  labels <- if (length(changed)) changed[[1L]] else if (!is.null(value)) old
  if (length(changed) == 2L && !identical(changed[[1L]], changed[[2L]])) {
    fail("rows and columns are the same variables, and cannot have different names")
  }
  if (!is.null(labels)) labels <- as.character(labels)
  if (!is.null(labels) && length(labels) != size_of(x)) {
    fail("there are ", n_of(size_of(x), "variable"), " and ", n_of(length(labels), "name"))
  }
  attr(x, "Labels") <- labels
  x
}
