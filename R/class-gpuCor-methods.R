# Of class gpuCor, what a matrix has: the answers are those of as.matrix(x), without making it.

methods::setOldClass(c("gpuCor", "dist"))
methods::setOldClass(c("gpuTOM", "dist"))
methods::setClassUnion("allPairs", c("gpuCor", "gpuTOM"))

#' @rdname gpuCor-class
#' @export
dim.gpuCor <- function(x) rep(as.integer(size_of(x)), 2L)

#' @rdname gpuCor-class
#' @export
dimnames.gpuCor <- function(x) {
  labels <- attr(x, "Labels")
  if (!is.null(labels)) list(labels, labels)
}

#' @rdname gpuCor-class
#' @method t gpuCor
#' @export
t.gpuCor <- function(x) x

# base::diag() asks no class: it would make a matrix of as many rows as there are pairs.
#' @rdname gpuCor-class
#' @param nrow,ncol,names As in [base::diag()]; the first two are not used.
#' @importMethodsFrom Matrix diag
#' @aliases gpuTOM-class allPairs-class
#' @exportClass gpuCor gpuTOM allPairs
#' @export
setMethod("diag", "allPairs", function(x = 1, nrow, ncol, names = TRUE) {
  diagonal <- attr(x, "diagonal")
  if (is.null(diagonal)) diagonal <- rep(1, size_of(x))
  stats::setNames(diagonal, if (names) attr(x, "Labels"))
})

#' @rdname gpuCor-class
#' @param na.rm,dims As in [base::rowSums()]; `dims` is not used.
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

# base::crossprod(), and `%*%` before R 4.3, would multiply vectors of pairs.

full_matrix <- function(x) if (inherits(x, c("gpuCor", "gpuTOM"))) as.matrix(x) else x

#' @rawNamespace S3method("%*%", gpuCor)
`%*%.gpuCor` <- function(x, y) full_matrix(x) %*% full_matrix(y) # nolint: object_name_linter.

#' @rawNamespace S3method("%*%", gpuTOM)
`%*%.gpuTOM` <- `%*%.gpuCor` # nolint: object_name_linter.

#' @rdname gpuCor-class
#' @param y Another matrix, or `NULL`.
#' @aliases crossprod,ANY,allPairs-method crossprod,allPairs,missing-method tcrossprod,ANY,allPairs-method
#' @aliases tcrossprod,allPairs,missing-method
#' @export
setMethod("crossprod", c("allPairs", "ANY"), function(x, y = NULL, ...) {
  base::crossprod(full_matrix(x), full_matrix(y))
})

setMethod("crossprod", c("ANY", "allPairs"), function(x, y = NULL, ...) base::crossprod(x, full_matrix(y)))

setMethod("crossprod", c("allPairs", "missing"), function(x, y = NULL, ...) base::crossprod(full_matrix(x)))

#' @rdname gpuCor-class
#' @export
setMethod("tcrossprod", c("allPairs", "ANY"), function(x, y = NULL, ...) {
  base::tcrossprod(full_matrix(x), full_matrix(y))
})

setMethod("tcrossprod", c("ANY", "allPairs"), function(x, y = NULL, ...) base::tcrossprod(x, full_matrix(y)))

setMethod("tcrossprod", c("allPairs", "missing"), function(x, y = NULL, ...) base::tcrossprod(full_matrix(x)))

#' @rdname gpuCor-class
#' @param row.names,optional Not used.
#' @export
as.data.frame.gpuCor <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_memory(8 * length(x), "the data frame", n_of(length(x), "pair"),
               "gpuCorNetwork(output = \"edges\") has the strongest pairs only")
  pairs <- pair_numbers(size_of(x))
  labels <- attr(x, "Labels")
  name_edges(pairs$from, pairs$to, as.vector(x), labels, labels)
}

# The variables of all pairs in the order of a dist.
pair_numbers <- function(n) {
  if (n < 2) return(list(from = integer(), to = integer()))
  others <- as.integer(n) - seq_len(n - 1)
  list(from = rep.int(seq_len(n - 1), others), to = sequence(others, from = 2:n))
}

#' @rdname gpuCor-class
#' @method isSymmetric gpuCor
#' @export
isSymmetric.gpuCor <- function(object, ...) TRUE
