# Diffusion maps of networks. The rows of a network are the columns of a sparse matrix: with columns of length 1, U, the
# cosines of all pairs are U'U, which multiplies a vector without being stored.

# Returns the number of weights to keep in each of n rows; rounding errors of the product are allowed for.
kept_in_row <- function(n, fraction) max(1, floor(fraction * n + 1e-9))

# Keeps the largest positive entries of each column; of equal ones the first.
strongest_of_rows <- function(rows, fraction) {
  column <- row_numbers(rows@p)
  order <- order(column, -rows@x, method = "radix")
  rank <- seq_along(order) - rows@p[column[order]]
  kept <- logical(length(order))
  kept[order] <- rank <= kept_in_row(nrow(rows), fraction)
  kept <- kept & rows@x > 0
  with_slots(rows, list(p = c(0L, cumsum(kept))[rows@p + 1L], i = rows@i[kept], x = rows@x[kept], factors = list()))
}

# Columns without entries stay zero.
unit_columns <- function(rows) {
  size <- sqrt(Matrix::colSums(rows^2))
  rows@x <- rows@x / size[row_numbers(rows@p)]
  rows
}

# Max number of variables for which all eigenvectors are computed, by LAPACK; and from which on RSpectra is used if it
# is installed.
MAX_EIGEN <- 3000
MIN_SPECTRA <- 500

# Returns list(gradients: NA for columns of zeros, lambda). `units`: sparse columns of length 1, or of zeros.
diffusion_map <- function(units, n, kernel, alpha, time) {
  has_some <- diff(units@p) > 0
  report_isolated(has_some)
  n_var <- sum(has_some)
  if (n >= n_var) fail("'n' is ", n, ", but only ", n_of(n_var, "variable"), " can have gradients, at most one fewer")
  affinity <- affinity_of(units[, has_some], kernel)
  degree <- affinity$product(rep(1, n_var))
  weight <- degree^-alpha
  root <- sqrt(weight * affinity$product(weight)) # of the row sums of L
  found <- leading_eigen(affinity, weight / root, n + 1)
  if (found$values[2L] > 1 - 1e-9) {
    fail("the network is not connected: some variables have no neighbor in common with the others, directly or over ",
         "others; raise 'fraction', or leave small groups out")
  }
  lambda <- found$values[-1L]
  vectors <- found$vectors[, -1L, drop = FALSE] / root
  vectors <- sweep(vectors, 2L, sqrt(colMeans(vectors^2)), "/")
  signs <- apply(vectors, 2L, function(v) sign(v[which.max(abs(v))]))
  vectors <- sweep(vectors, 2L, signs * if (time == 0) lambda / (1 - lambda) else lambda^time, "*")
  gradients <- matrix(NA_real_, length(has_some), n)
  gradients[has_some, ] <- vectors
  list(gradients = gradients, lambda = lambda)
}

report_isolated <- function(has_some) {
  if (all(has_some)) return(invisible())
  if (!any(has_some)) fail("'x' has no positive weight")
  warn("gpuCorGradients", format_count(sum(!has_some)), " of ", n_of(length(has_some), "variable"), " without a ",
       "positive weight, thus without a gradient")
}

# Returns list(product: the affinity times a vector; dense: returns the affinity).
affinity_of <- function(units, kernel) {
  dense <- function() unname(as.matrix(Matrix::crossprod(units)))
  if (kernel == "cosine") {
    return(list(product = function(v) as.vector(Matrix::crossprod(units, units %*% v)), dense = dense))
  }
  angles <- 1 - acos(pmin(dense(), 1)) / pi
  diag(angles) <- 1
  list(product = function(v) as.vector(angles %*% v), dense = function() angles)
}

# Returns the largest eigenvalues, and eigenvectors, of the affinity with rows and columns multiplied by `scale`.
leading_eigen <- function(affinity, scale, n) {
  n_var <- length(scale)
  spectra <- n_var >= MIN_SPECTRA && n < n_var / 2 && requireNamespace("RSpectra", quietly = TRUE)
  if (!spectra) {
    if (n_var > MAX_EIGEN) need_packages("RSpectra", paste("gradients of", n_of(n_var, "variable")))
    found <- eigen(affinity$dense() * outer(scale, scale), symmetric = TRUE)
    return(list(values = found$values[seq_len(n)], vectors = found$vectors[, seq_len(n), drop = FALSE]))
  }
  product <- function(v, unused) scale * affinity$product(scale * v)
  found <- RSpectra::eigs_sym(product, n, "LA", n = n_var, opts = list(tol = 1e-12, ncv = min(n_var, 4 * n + 20)))
  if (length(found$values) < n) fail_run("RSpectra found ", length(found$values), " of ", n, " eigenvectors")
  found
}
