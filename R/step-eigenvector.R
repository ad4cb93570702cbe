# Eigenvector centrality: the leading eigenvector of a matrix without negative elements, of which only products with
# vectors are made. Of all pairs the matrix is r + 1, whose product has a closed form (src/cpu/gram.h); of a network its
# weights.

# By Lanczos with complete orthogonalisation, begun again from the best vector so far.
LANCZOS_STEPS <- 30
LANCZOS_ROUNDS <- 200
LANCZOS_ERROR <- 1e-12 # of the eigenvalue: what is left of A v - lambda v

# Scaled so that the largest element is 1, as igraph has it; 0 where the matrix is.
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
  ifelse(v > 1e-14, v, 0) # roundings of what is 0, as in a part of a network that has no edge to the others
}

# The best vector after some steps from v, its eigenvalue and error.
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
    for (twice in 1:2) v <- v - basis[, 1:k, drop = FALSE] %*% crossprod(basis[, 1:k, drop = FALSE], v)
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

# Of r + 1 of all pairs. NA for columns without coefficients.
eigenvector_of_all <- function(task) {
  doing(task$settings, "eigenvector")
  found <- checked(.Call(r_gram_new, task$x, method_code(task$method), task$use, task$settings))
  on.exit(.Call(r_free, found$gram))
  product <- function(v) checked(.Call(r_gram_times, found$gram, v, task$settings))
  found$eigenvector <- leading_vector(function(v) product(as.vector(v)), length(found$known))
  found$eigenvector[!found$known] <- NA_real_
  found[c("n_obs", "x_flags", "y_flags", "eigenvector")]
}

# Of the networks of these thresholds, a column for each.
eigenvectors_of_networks <- function(task, levels) {
  least <- min(levels)
  task$stays <- "rows"
  rows <- take_rows(kept_edges(edge_pass(task, least), least), task)
  doing(task$settings, "eigenvector")
  n <- ncol(task$x)
  vapply(levels, FUN.VALUE = numeric(n), function(level) {
    own <- stronger_rows(rows, level, task)
    weights <- methods::new("dsCMatrix", p = own$p, i = own$i, x = abs(own$x), Dim = c(n, n), uplo = "U")
    leading_vector(function(v) as.vector(weights %*% v), n)
  })
}
