# Indices of class allPairs: positions among the pairs, or indices of the N x N matrix.

resolve_index <- function(index, x, name) {
  index <- as_numbers(index)
  n <- size_of(x)
  if (is.character(index)) {
    labels <- attr(x, "Labels")
    found <- match(index, labels)
    tell_same_names(labels[labels %in% index])
    if (anyNA(found)) fail("subscript out of bounds: no variable is named \"", index[is.na(found)][1L], '"')
    return(found)
  }
  if (is.logical(index) && length(index) > n) {
    fail("subscript out of bounds: '", name, "' is longer than Size = ", n, "; as.vector(x) has a value for each pair")
  }
  found <- seq_len(n)[index]
  if (anyNA(found)) fail("subscript out of bounds: '", name, "' must be within 1 to Size = ", n)
  found
}

# Returns the values of variables i[k] and j[k]. The diagonal is that of as.matrix().
pair_values <- function(x, i, j) {
  values <- rep(if (is_all_pairs(x)) 1 else 0, length(i))
  other <- i != j
  diagonal <- attr(x, "diagonal")
  if (!is.null(diagonal)) values[!other] <- diagonal[i[!other]]
  if (any(other)) values[other] <- .subset(x, positions_of(i[other], j[other], size_of(x)))
  values
}

# Returns TRUE for an index of the N x N matrix: lower.tri(x), or a pair in each row.
is_of_matrix <- function(index, n) {
  is.matrix(index) && (if (is.logical(index)) all(dim(index) == n) else ncol(index) == 2L)
}

pick_from_matrix <- function(x, index) {
  if (is.logical(index)) {
    if (anyNA(index)) return(as.matrix(x)[index])
    at <- which(index, arr.ind = TRUE, useNames = FALSE)
    return(pair_values(x, at[, 1L], at[, 2L]))
  }
  sides <- lapply(1:2, function(side) resolve_index(index[, side], x, "i"))
  if (any(lengths(sides) != nrow(index))) fail("subscript out of bounds: 'i' must have two variables in each row")
  pair_values(x, sides[[1L]], sides[[2L]])
}

#' @rdname gpuCor-class
#' @export
`[.allPairs` <- function(x, i, j, drop = TRUE) {
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
  values <- matrix(pair_values(x, rep(i, length(j)), rep(j, each = length(i))), length(i), length(j),
                   dimnames = if (!is.null(labels)) list(labels[i], labels[j]))
  if (drop) drop(values) else values
}

# Class pairValues: values of pairs that are no coefficients, such as p values. Attribute `diagonal` has the values of
# columns with themselves, NA for p values; without it they are 0.
#' @export
`[.pairValues` <- `[.allPairs`

#' @export
as.matrix.pairValues <- function(x, ...) {
  values <- NextMethod()
  diagonal <- attr(x, "diagonal")
  if (!is.null(diagonal)) diag(values) <- diagonal
  values
}

#' @rdname gpuCor-class
#' @export
`[[.allPairs` <- function(x, i, j) {
  if (!missing(j)) return(x[i, j])
  is_part <- is.character(i) && inherits(x, "gpuCor") && !all(i %in% names(x))
  if (is_part) `$.gpuCor`(x, i[1L]) else .subset2(x, i)
}

# A value represents both [i, j] and [j, i]; the diagonal has no values.
#' @rdname gpuCor-class
#' @export
`[<-.allPairs` <- function(x, i, j, value) {
  if (nargs() == 4L || (!missing(i) && (is.character(i) || is_of_matrix(i, size_of(x))))) {
    fail("only pairs at positions can be changed: x[trianglePosition(i, j, ", size_of(x), ")] <- value. ",
         "Change the matrix: m <- as.matrix(x)")
  }
  last <- if (missing(i)) 0 else if (is.logical(i)) length(i) else max(0, i, na.rm = TRUE)
  if (last > length(x)) fail("'i' is ", format_count(last), ", and there are ", n_of(length(x), "pair"))
  NextMethod()
}

#' @rdname gpuCor-class
#' @export
`dimnames<-.allPairs` <- function(x, value) {
  old <- attr(x, "Labels")
  changed <- Filter(function(names) !identical(names, old), value)
  if (length(changed) == 2L && !identical(changed[[1L]], changed[[2L]])) {
    fail("rows and columns are the same variables, and cannot have different names")
  }
  labels <- if (length(changed)) changed[[1L]] else if (!is.null(value)) old
  if (!is.null(labels) && length(labels) != size_of(x)) {
    fail("there are ", n_of(size_of(x), "variable"), " and ", n_of(length(labels), "name"))
  }
  attr(x, "Labels") <- if (!is.null(labels)) as.character(labels)
  x
}
