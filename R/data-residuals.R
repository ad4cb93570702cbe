# Residuals of columns, computed in R: for gpuClean(), lags and windows, and for surrogates. The engine computes its own
# (src/measure/design.c).

# Returns the residuals of a regression on an orthonormal basis. A second projection makes them orthogonal to the basis
# to all digits where the first removed much. Residuals of multiples of regressors are rounding errors and become 0.
# `keeps`: TRUE if the basis spans the residuals.
residual_columns <- function(m, basis, keeps) {
  inside <- basis %*% crossprod(basis, m)
  left <- if (keeps) inside else m - inside
  again <- if (!keeps) which(colSums(left^2) < colSums(m^2) / 2)
  if (length(again)) {
    some <- left[, again, drop = FALSE]
    left[, again] <- some - basis %*% crossprod(basis, some)
  }
  largest <- function(m) apply(abs(m), 2L, max, 0)
  left[, which(largest(left) <= 1e-10 * largest(m))] <- 0
  left
}

# Returns the residuals of the columns of an ordinary matrix; observations with weight 0 are unchanged.
residualize_columns <- function(x, design, is_centred) {
  root <- if (is.null(design$weights)) rep(1, nrow(x)) else sqrt(design$weights)
  counts <- root > 0
  root <- root[counts]
  left <- x[counts, , drop = FALSE] * root
  if (is_centred) left <- left - outer(root, colSums(left * root) / sum(root^2))
  x[counts, ] <- residual_columns(left, design$basis[counts, , drop = FALSE], design$keeps) / root
  x
}
