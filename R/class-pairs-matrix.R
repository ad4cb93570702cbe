# Class allPairs as a matrix: the results equal those of as.matrix(x), mostly without creating it.

#' @rdname gpuCor-class
#' @export
dim.allPairs <- function(x) rep(as.integer(size_of(x)), 2L)

#' @rdname gpuCor-class
#' @export
dimnames.allPairs <- function(x) {
  labels <- attr(x, "Labels")
  if (!is.null(labels)) list(labels, labels)
}

#' @rdname gpuCor-class
#' @method t allPairs
#' @export
t.allPairs <- function(x) x

#' @rdname gpuCor-class
#' @method isSymmetric allPairs
#' @export
isSymmetric.allPairs <- function(object, ...) TRUE

# base::diag() ignores classes, and would create a matrix with one row per pair.
#' @rdname gpuCor-class
#' @param nrow,ncol,names As in [base::diag()]; the first two are not used.
#' @importMethodsFrom Matrix diag
#' @export
setMethod("diag", "allPairs", function(x = 1, nrow, ncol, names = TRUE) {
  diagonal <- attr(x, "diagonal")
  if (is.null(diagonal)) diagonal <- rep(1, size_of(x))
  stats::setNames(diagonal, if (names) attr(x, "Labels"))
})

#' @rdname gpuCor-class
#' @param na.rm,dims As in [base::rowSums()]; `dims` is not used.
#' @importMethodsFrom Matrix rowSums colSums rowMeans colMeans
#' @export
setMethod("rowSums", "allPairs", function(x, na.rm = FALSE, dims = 1, ...) base::rowSums(as.matrix(x), na.rm))

#' @rdname gpuCor-class
#' @export
setMethod("colSums", "allPairs", function(x, na.rm = FALSE, dims = 1, ...) base::colSums(as.matrix(x), na.rm))

#' @rdname gpuCor-class
#' @export
setMethod("rowMeans", "allPairs", function(x, na.rm = FALSE, dims = 1, ...) base::rowMeans(as.matrix(x), na.rm))

#' @rdname gpuCor-class
#' @export
setMethod("colMeans", "allPairs", function(x, na.rm = FALSE, dims = 1, ...) base::colMeans(as.matrix(x), na.rm))

# Without a method R multiplies vectors of pairs. R dispatches `%*%` on S3 classes since version 4.3, and crossprod()
# and tcrossprod() since 4.4; earlier versions need the S4 methods.

full_matrix <- function(x) if (is_all_pairs(x)) as.matrix(x) else x

#' @rawNamespace S3method("%*%", allPairs)
`%*%.allPairs` <- function(x, y) full_matrix(x) %*% full_matrix(y) # nolint: object_name_linter.

#' @rawNamespace S3method(crossprod, allPairs)
crossprod.allPairs <- function(x, y = NULL, ...) crossprod(full_matrix(x), full_matrix(y))

#' @rawNamespace S3method(tcrossprod, allPairs)
tcrossprod.allPairs <- function(x, y = NULL, ...) tcrossprod(full_matrix(x), full_matrix(y))

#' @rdname gpuCor-class
#' @param y Another matrix, or `NULL`.
#' @importMethodsFrom Matrix crossprod tcrossprod
#' @aliases crossprod,ANY,allPairs-method crossprod,allPairs,missing-method tcrossprod,ANY,allPairs-method
#' @aliases tcrossprod,allPairs,missing-method
#' @export
setMethod("crossprod", c("allPairs", "ANY"), crossprod.allPairs)

setMethod("crossprod", c("ANY", "allPairs"), crossprod.allPairs)

setMethod("crossprod", c("allPairs", "missing"), crossprod.allPairs)

#' @rdname gpuCor-class
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

# Returns TRUE if the other operand is an N x N matrix. Any other operand must have one value, or one per pair: R would
# recycle one value per variable over the pairs.
is_with_matrix <- function(x, other, operator) {
  n <- size_of(x)
  if (is.matrix(other) && identical(dim(other), rep(as.integer(n), 2L))) return(TRUE)
  if (!length(other) %in% c(1L, length(x))) {
    fail("the other side of '", operator, "' has ", n_of(length(other), "value"), "; there are ",
         n_of(length(x), "pair"), " of ", n_of(n, "variable"), ": give one value, one for each pair, or an N x N ",
         "matrix")
  }
  FALSE
}

#' @export
Ops.allPairs <- function(e1, e2) {
  operator <- get(".Generic")
  if (nargs() == 2L) {
    first <- is_all_pairs(e1)
    if (is_with_matrix(if (first) e1 else e2, if (first) e2 else e1, operator)) {
      return(get(operator, baseenv())(if (first) as.matrix(e1) else e1, if (first) e2 else as.matrix(e2)))
    }
  }
  distances <- if (operator == "-" && nargs() == 2L && identical(e1, 1)) .Call(r_distances, e2, plain_attributes(e2))
  if (!is.null(distances)) return(distances)
  check_arithmetic_memory(if (nargs() == 2L) list(e1, e2) else list(e1), operator)
  as_plain_dist(NextMethod())
}

#' @export
Math.allPairs <- function(x, ...) {
  check_arithmetic_memory(list(x), get(".Generic"))
  as_plain_dist(NextMethod())
}
