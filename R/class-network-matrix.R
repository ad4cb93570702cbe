# Networks as matrices: methods that work without attaching Matrix, and arithmetic, which returns plain matrices.

# Not called within an S4 generic's argument, whose dispatch would wrap the error.
checked_sparse <- function(x) as_plain_sparse(check_slots(x, "x"))

# S3 methods work without Matrix, S4 methods if it is attached. The S4 methods are not exported, like those of print()
# and summary(): an exported generic would mask base's, and change the class of errors in its argument.
#' @rdname gpuCorNetwork-class
#' @importMethodsFrom Matrix t
setMethod("t", "gpuNetwork", function(x) t.gpuNetwork(x))

#' @method t gpuNetwork
#' @export
t.gpuNetwork <- function(x) {
  x <- checked_sparse(x)
  Matrix::t(x)
}

#' @method isSymmetric gpuNetwork
#' @export
isSymmetric.gpuNetwork <- function(object, ...) {
  object <- checked_sparse(object)
  Matrix::isSymmetric(object, ...)
}

# The mean includes entries that are 0.
#' @method mean gpuNetwork
#' @export
mean.gpuNetwork <- function(x, ...) {
  x <- checked_sparse(x)
  mean(Matrix::colMeans(x))
}

# ---- arithmetic

# Matrix keeps the class if the sparsity pattern is unchanged.

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
      e1 <- checked_sparse(e1)
      methods::callGeneric()
    })
    setMethod("Arith", c(other, class), function(e1, e2) {
      e2 <- checked_sparse(e2)
      methods::callGeneric()
    })
  }
  setMethod("Arith", c(class, "missing"), function(e1, e2) {
    e1 <- checked_sparse(e1)
    methods::callGeneric(e1)
  })
  setMethod("Math", class, function(x) {
    x <- checked_sparse(x)
    methods::callGeneric(x)
  })
  setMethod("Math2", c(class, "ANY"), function(x, digits) {
    x <- checked_sparse(x)
    if (missing(digits)) methods::callGeneric(x) else methods::callGeneric(x, digits)
  })
}
rm(class, other)
