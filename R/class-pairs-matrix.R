# Class allPairs as a matrix: indices, and results that equal those of as.matrix(x), mostly without creating it.

methods::setOldClass(c("gpuCor", "allPairs", "dist"))
methods::setOldClass(c("gpuTOM", "allPairs", "dist"))

#' @export
dim.allPairs <- function(x) rep(as.integer(size_of(x)), 2L)

#' @export
dimnames.allPairs <- function(x) {
  labels <- attr(x, "Labels")
  if (!is.null(labels)) list(labels, labels)
}

#' @method t allPairs
#' @export
t.allPairs <- function(x) x

#' @method isSymmetric allPairs
#' @export
isSymmetric.allPairs <- function(object, ...) TRUE

# base::diag() ignores classes, and would create a matrix with one row per pair.
#' @rdname gpuCor-class
#' @usage NULL
#' @importMethodsFrom Matrix diag
#' @export
setMethod("diag", "allPairs", function(x = 1, nrow, ncol, names = TRUE) {
  diagonal <- attr(x, "diagonal")
  if (is.null(diagonal)) diagonal <- rep(1, size_of(x))
  stats::setNames(diagonal, if (names) attr(x, "Labels"))
})

#' @rdname gpuCor-class
#' @usage NULL
#' @importMethodsFrom Matrix rowSums colSums rowMeans colMeans
#' @exportMethod rowSums
#' @exportMethod colSums
#' @exportMethod rowMeans
#' @exportMethod colMeans
#' @aliases colSums,allPairs-method rowMeans,allPairs-method colMeans,allPairs-method
setMethod("rowSums", "allPairs", function(x, na.rm = FALSE, dims = 1, ...) base::rowSums(as.matrix(x), na.rm))
setMethod("colSums", "allPairs", function(x, na.rm = FALSE, dims = 1, ...) base::colSums(as.matrix(x), na.rm))
setMethod("rowMeans", "allPairs", function(x, na.rm = FALSE, dims = 1, ...) base::rowMeans(as.matrix(x), na.rm))
setMethod("colMeans", "allPairs", function(x, na.rm = FALSE, dims = 1, ...) base::colMeans(as.matrix(x), na.rm))

# Without a method R multiplies vectors of pairs. R dispatches `%*%` on S3 classes since version 4.3, and crossprod()
# and tcrossprod() since 4.4; earlier versions need the S4 methods.

full_matrix <- function(x) if (is_all_pairs(x)) as.matrix(x) else x

#' @rawNamespace S3method("%*%", allPairs)
`%*%.allPairs` <- function(x, y) full_matrix(x) %*% full_matrix(y) # nolint: object_name_linter.

#' @rawNamespace S3method(crossprod, allPairs)
crossprod.allPairs <- function(x, y = NULL, ...) { # nolint: object_name_linter.
  crossprod(full_matrix(x), full_matrix(y))
}

#' @rawNamespace S3method(tcrossprod, allPairs)
tcrossprod.allPairs <- function(x, y = NULL, ...) { # nolint: object_name_linter.
  tcrossprod(full_matrix(x), full_matrix(y))
}

#' @rdname gpuCor-class
#' @usage NULL
#' @importMethodsFrom Matrix crossprod tcrossprod
#' @aliases crossprod,ANY,allPairs-method crossprod,allPairs,missing-method tcrossprod,ANY,allPairs-method
#' @aliases tcrossprod,allPairs,missing-method
#' @export
setMethod("crossprod", c("allPairs", "ANY"), crossprod.allPairs)

setMethod("crossprod", c("ANY", "allPairs"), crossprod.allPairs)

setMethod("crossprod", c("allPairs", "missing"), crossprod.allPairs)

#' @rdname gpuCor-class
#' @usage NULL
#' @export
setMethod("tcrossprod", c("allPairs", "ANY"), tcrossprod.allPairs)

setMethod("tcrossprod", c("ANY", "allPairs"), tcrossprod.allPairs)

setMethod("tcrossprod", c("allPairs", "missing"), tcrossprod.allPairs)

# ---- arithmetic

# Results of arithmetic are no coefficients: they become a plain dist.
as_plain_dist <- function(x) {
  if (is_all_pairs(x)) attributes(x) <- plain_attributes(x)
  x
}

# Returns the attributes of values in the shape of x; of a plain dist if x is of class allPairs.
plain_attributes <- function(x) {
  kept <- attributes(x)
  if (is_all_pairs(x)) {
    kept[PAIR_ATTRIBUTES] <- NULL
    kept$class <- "dist"
  }
  kept
}

# The other operand is an N x N matrix, or has one value, or one per pair: R would recycle one value per variable over
# the pairs.
#' @export
Ops.allPairs <- function(e1, e2) {
  operator <- get(".Generic")
  if (nargs() == 2L) {
    x <- if (is_all_pairs(e1)) e1 else e2
    other <- if (is_all_pairs(e1)) e2 else e1
    n <- size_of(x)
    if (is.matrix(other) && identical(dim(other), dim(x))) {
      return(get(operator, baseenv())(full_matrix(e1), full_matrix(e2)))
    }
    if (!length(other) %in% c(1L, length(x))) {
      fail("the other side of '", operator, "' has ", n_of(length(other), "value"), "; there are ",
           n_of(length(x), "pair"), " of ", n_of(n, "variable"), ": give one value, one for each pair, or an N x N ",
           "matrix")
    }
    distances <- if (operator == "-" && identical(e1, 1)) .Call(r_distances, e2, plain_attributes(e2))
    if (!is.null(distances)) return(distances)
  }
  check_arithmetic_memory(if (nargs() == 2L) list(e1, e2) else list(e1), operator)
  as_plain_dist(NextMethod())
}

#' @export
Math.allPairs <- function(x, ...) {
  check_arithmetic_memory(list(x), get(".Generic"))
  as_plain_dist(NextMethod())
}

# ---- indices: positions among the pairs, or indices of the N x N matrix

resolve_index <- function(index, x, name) {
  index <- as_numbers(index)
  n <- size_of(x)
  if (is.character(index)) {
    labels <- attr(x, "Labels")
    found <- match(index, labels)
    tell_same_names(labels[labels %in% index])
  } else {
    found <- seq_len(n)[index]
  }
  too_long <- is.logical(index) && length(index) > n
  if (!anyNA(found) && !too_long) return(found)
  fail("subscript out of bounds: ", if (is.character(index)) {
    paste0("no variable is named \"", index[is.na(found)][1L], '"')
  } else if (too_long) {
    paste0("'", name, "' is longer than Size = ", n, "; as.vector(x) has a value for each pair")
  } else {
    paste0("'", name, "' must be within 1 to Size = ", n)
  })
}

# Returns TRUE for an index of the N x N matrix: lower.tri(x), or a pair in each row.
is_of_matrix <- function(index, n) {
  is.matrix(index) && (if (is.logical(index)) all(dim(index) == n) else ncol(index) == 2L)
}

#' @rdname gpuCor-class
#' @export
`[.allPairs` <- function(x, i, j, drop = TRUE) {
  n <- size_of(x)
  values_of <- function(i, j) { # of variables i[k] and j[k]; the diagonal is that of as.matrix()
    values <- rep(if (is_all_pairs(x)) 1 else 0, length(i))
    other <- i != j
    diagonal <- attr(x, "diagonal")
    if (!is.null(diagonal)) values[!other] <- diagonal[i[!other]]
    if (any(other)) {
      at <- .Call(r_triangle_position, as.double(i[other]), as.double(j[other]), as.double(n), FALSE)
      values[other] <- .subset(x, at)
    }
    values
  }
  if (nargs() - (!missing(drop)) < 3L) {
    if (missing(i)) return(x)
    if (is_of_matrix(i, n)) {
      if (is.logical(i) && anyNA(i)) return(as.matrix(x)[i])
      pairs <- if (is.logical(i)) which(i, arr.ind = TRUE, useNames = FALSE) else i
      sides <- lapply(1:2, function(side) resolve_index(pairs[, side], x, "i"))
      if (any(lengths(sides) != nrow(pairs))) fail("subscript out of bounds: 'i' must have two variables in each row")
      return(values_of(sides[[1L]], sides[[2L]]))
    }
    if (is.character(i) && is.null(names(x))) {
      fail("pairs have no names: x[\"", i[1L], "\", ] has all coefficients of a variable")
    }
    return(.subset(x, i))
  }
  i <- if (missing(i)) seq_len(n) else resolve_index(i, x, "i")
  j <- if (missing(j)) seq_len(n) else resolve_index(j, x, "j")
  labels <- attr(x, "Labels")
  values <- matrix(values_of(rep(i, length(j)), rep(j, each = length(i))), length(i), length(j),
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
