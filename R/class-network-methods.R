# Networks as matrices: what works though Matrix is not attached, and what is no network any more.

# Matrix's own generics, which gpucor exports: the functions of base know no sparse matrix.

#' @rdname gpuCorNetwork-class
#' @importMethodsFrom Matrix t
#' @export
setMethod("t", "gpuCorNetwork", function(x) Matrix::t(as_plain_sparse(x)))

#' @rdname gpuCorNetwork-class
#' @importMethodsFrom Matrix rowSums
#' @export
setMethod("rowSums", "gpuCorNetwork", function(x, na.rm = FALSE, dims = 1, ...) {
  Matrix::rowSums(as_plain_sparse(x), na.rm, dims, ...)
})

#' @rdname gpuCorNetwork-class
#' @importMethodsFrom Matrix colSums
#' @export
setMethod("colSums", "gpuCorNetwork", function(x, na.rm = FALSE, dims = 1, ...) {
  Matrix::colSums(as_plain_sparse(x), na.rm, dims, ...)
})

#' @rdname gpuCorNetwork-class
#' @importMethodsFrom Matrix rowMeans
#' @export
setMethod("rowMeans", "gpuCorNetwork", function(x, na.rm = FALSE, dims = 1, ...) {
  Matrix::rowMeans(as_plain_sparse(x), na.rm, dims, ...)
})

#' @rdname gpuCorNetwork-class
#' @importMethodsFrom Matrix colMeans
#' @export
setMethod("colMeans", "gpuCorNetwork", function(x, na.rm = FALSE, dims = 1, ...) {
  Matrix::colMeans(as_plain_sparse(x), na.rm, dims, ...)
})

#' @rdname gpuCorNetwork-class
#' @param y Not used: with another matrix, the methods are Matrix's.
#' @importMethodsFrom Matrix crossprod
#' @export
setMethod("crossprod", c("gpuCorNetwork", "missing"), function(x, y = NULL, ...) {
  Matrix::crossprod(as_plain_sparse(x))
})

#' @rdname gpuCorNetwork-class
#' @importMethodsFrom Matrix tcrossprod
#' @export
setMethod("tcrossprod", c("gpuCorNetwork", "missing"), function(x, y = NULL, ...) {
  Matrix::tcrossprod(as_plain_sparse(x))
})

#' @method isSymmetric gpuCorNetwork
#' @export
isSymmetric.gpuCorNetwork <- function(object, ...) Matrix::isSymmetric(as_plain_sparse(object), ...)

#' @method isSymmetric gpuCorNetworkXY
#' @export
isSymmetric.gpuCorNetworkXY <- isSymmetric.gpuCorNetwork

# Of all entries of the matrix, those that are 0 included.
#' @method mean gpuCorNetwork
#' @export
mean.gpuCorNetwork <- function(x, ...) mean(Matrix::colMeans(as_plain_sparse(x)))

#' @method mean gpuCorNetworkXY
#' @export
mean.gpuCorNetworkXY <- mean.gpuCorNetwork

#' @method t gpuCorNetwork
#' @export
t.gpuCorNetwork <- function(x) Matrix::t(as_plain_sparse(x))

#' @method t gpuCorNetworkXY
#' @export
t.gpuCorNetworkXY <- t.gpuCorNetwork

# ---- arithmetic

# Values that are no coefficients any more: without what a network tells of them.
as_plain_sparse <- function(x) {
  for (class in c("dsCMatrix", "dgCMatrix")) if (is(x, class)) return(as(x, class))
}

# Matrix keeps the class where the pattern of the entries stays.

#' @importMethodsFrom Matrix Arith Math Math2
#' @exportMethod Arith
#' @exportMethod Math
#' @exportMethod Math2
#' @aliases Arith,gpuCorNetwork,numeric-method Arith,numeric,gpuCorNetwork-method
#' @aliases Arith,gpuCorNetwork,logical-method Arith,logical,gpuCorNetwork-method
#' @aliases Arith,gpuCorNetwork,missing-method Math,gpuCorNetwork-method
#' @aliases Math2,gpuCorNetwork-method Arith,gpuCorNetworkXY,numeric-method
#' @aliases Arith,numeric,gpuCorNetworkXY-method Arith,gpuCorNetworkXY,logical-method
#' @aliases Arith,logical,gpuCorNetworkXY-method Arith,gpuCorNetworkXY,missing-method
#' @aliases Math,gpuCorNetworkXY-method Math2,gpuCorNetworkXY-method
#' @name gpuCorNetwork-class
NULL

for (class in c("gpuCorNetwork", "gpuCorNetworkXY")) {
  for (other in c("numeric", "logical")) {
    setMethod("Arith", c(class, other), function(e1, e2) {
      e1 <- as_plain_sparse(e1)
      methods::callGeneric()
    })
    setMethod("Arith", c(other, class), function(e1, e2) {
      e2 <- as_plain_sparse(e2)
      methods::callGeneric()
    })
  }
  setMethod("Arith", c(class, "missing"), function(e1, e2) {
    e1 <- as_plain_sparse(e1)
    methods::callGeneric(e1)
  })
  setMethod("Math", class, function(x) {
    x <- as_plain_sparse(x)
    methods::callGeneric(x)
  })
  setMethod("Math2", c(class, "ANY"), function(x, digits) {
    x <- as_plain_sparse(x)
    if (missing(digits)) methods::callGeneric(x) else methods::callGeneric(x, digits)
  })
}
rm(class, other)
