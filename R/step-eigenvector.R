# Eigenvector centrality: the leading eigenvector of a nonnegative matrix, which is only multiplied by vectors. For all
# pairs the matrix is r + 1, whose product has a closed form (src/cpu/gram.h); for a network it has the edges' weights.

# Lanczos iteration with full orthogonalization, restarted from the best vector so far.
LANCZOS_STEPS <- 10
LANCZOS_ROUNDS <- 600
LANCZOS_ERROR <- 1e-12 # tolerance of |A v - lambda v|, as a fraction of the eigenvalue

# Scales the largest element to 1, as igraph does; returns 0 for a zero matrix.
leading_vector <- function(product, n) {
  if (n == 0) return(numeric())
  v <- rep(1, n)
  for (round in seq_len(LANCZOS_ROUNDS)) {
    found <- lanczos(product, v)
    v <- found$vector
    if (found$value <= 0) return(numeric(n))
    if (found$error <= LANCZOS_ERROR * found$value) break
  }
  if (found$error > 1e-6 * found$value) {
    warning("eigenvector centrality has not converged: its error is ", format(found$error / found$value, digits = 2),
            call. = FALSE)
  }
  v <- v * sign(sum(v)) / max(abs(v))
  ifelse(v > 1e-14, v, 0) # rounding errors of 0, as in other components of a network
}

# Returns list(vector, value, error): the best vector after some steps from v, its eigenvalue and error.
lanczos <- function(product, v) {
  steps <- min(LANCZOS_STEPS, length(v))
  basis <- matrix(0, length(v), steps)
  diagonal <- numeric(steps)
  beside <- numeric(steps)
  v <- v / sqrt(sum(v^2))
  for (k in seq_len(steps)) {
    basis[, k] <- v
    v <- product(v)
    diagonal[k] <- sum(v * basis[, k])
    for (twice in 1:2) v <- v - basis %*% crossprod(basis, v) # later columns are 0
    beside[k] <- sqrt(sum(v^2))
    if (beside[k] <= 1e-14 * max(abs(diagonal))) break
    v <- as.vector(v) / beside[k]
  }
  small <- diag(diagonal[1:k], k)
  next_to <- cbind(seq_len(k - 1L), seq_len(k)[-1L])
  small[next_to] <- small[next_to[, 2:1, drop = FALSE]] <- beside[seq_len(k - 1L)]
  best <- eigen(small, symmetric = TRUE)
  list(vector = as.vector(basis[, 1:k, drop = FALSE] %*% best$vectors[, 1L]), value = best$values[1L],
       error = abs(beside[k] * best$vectors[k, 1L]))
}

# Centrality of the matrix r + 1 of all pairs; NA for columns without coefficients.
eigenvector_of_all <- function(task) {
  if (!is.null(task$settings$design$map)) {
    fail("maps = \"eigenvector\" of all partial correlations is not available; with a threshold or a density it is ",
         "that of the network")
  }
  doing(task$settings, "eigenvector")
  found <- checked(.Call(r_gram_new, task$x, method_code(task$method), task$use, task$settings))
  on.exit(.Call(r_free, found$gram))
  product <- function(v) checked(.Call(r_gram_times, found$gram, v, task$settings))
  found$eigenvector <- leading_vector(function(v) product(as.vector(v)), length(found$known))
  found$eigenvector[!found$known] <- NA_real_
  found[c("n_obs", "x_flags", "y_flags", "eigenvector")]
}

# Centrality in the network of each threshold, one column per threshold.
eigenvectors_of_networks <- function(task, levels) {
  min_weight <- min(levels)
  task$stays <- "rows"
  rows <- take_rows(kept_edges(edge_pass(task, min_weight), min_weight), task)
  doing(task$settings, "eigenvector")
  n <- ncol(task$x)
  vapply(levels, FUN.VALUE = numeric(n), function(level) {
    own <- stronger_rows(rows, level, task)
    leading_vector(function(v) checked(.Call(r_network_times, own$p, own$i, own$x, as.vector(v), task$settings)), n)
  })
}
