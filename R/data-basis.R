# Columns of a regression, whose rounding errors count: centering, orthonormal bases.

# Subtracts the weighted mean, twice, as a mean may be large. Columns that are only rounding errors become zero.
centred_columns <- function(z, root, centred) {
  if (is.null(z) || !centred || !ncol(z)) return(z)
  w <- root^2 / sum(root^2)
  left <- z
  for (twice in 1:2) left <- left - rep(colSums(left * w), each = nrow(left))
  without_rounding_errors(left, z, 1e-14)
}

# Returns `left` with zeros in the columns whose largest magnitude is up to a fraction of that of the same column of
# `given`. The sums of magnitudes, which take less time, rule out most columns: a column's sum is between its largest
# magnitude and that times the number of rows.
without_rounding_errors <- function(left, given, fraction) {
  small <- which(colSums(abs(left)) <= fraction * nrow(left) * colSums(abs(given)))
  is_zero <- column_sizes(left[, small, drop = FALSE]) <= fraction * column_sizes(given[, small, drop = FALSE])
  left[, small[which(is_zero)]] <- 0
  left
}

# Returns the largest magnitude in each column, as apply(abs(z), 2, max, 0), but faster.
column_sizes <- function(z) {
  if (!nrow(z)) return(numeric(ncol(z)))
  size <- t(abs(z))
  size[cbind(seq_len(ncol(z)), max.col(size, "first"))]
}

# Returns orthonormal bases of the space of z's columns and of its complement, without the direction `mean` (NULL:
# none), which is orthogonal to z, from one QR decomposition. Pivoting is by length, so the mean is made longest to come
# first. `outside` is NULL if it is not smaller than `inside`, as it may not fit into memory.
both_spaces <- function(z, mean) {
  z <- z[, colSums(z^2) > 0, drop = FALSE]
  z <- sweep(z, 2L, sqrt(colSums(z^2)), "/")
  own <- as.integer(!is.null(mean))
  decomposed <- qr(cbind(if (own) 10 * mean / sqrt(sum(mean^2)), z), LAPACK = TRUE)
  rank <- sum(abs(diag(decomposed$qr)) > SAME_SPAN)
  is_smaller <- nrow(z) - rank < rank - own
  q <- qr.Q(decomposed, complete = is_smaller)
  at <- seq_len(ncol(q))
  list(inside = q[, at > own & at <= rank, drop = FALSE], outside = if (is_smaller) q[, at > rank, drop = FALSE])
}

# Columns are collinear if regression on the others leaves at most this fraction, as in lm().
SAME_SPAN <- 1e-7

# Returns the matrix with each block in its rows and its own columns, and 0 elsewhere. `like`: has its number of rows.
in_blocks <- function(blocks, rows, like) {
  width <- vapply(blocks, ncol, 0L)
  all <- matrix(0, length(like), sum(width))
  for (b in seq_along(blocks)) all[rows[[b]], sum(width[seq_len(b - 1L)]) + seq_len(width[b])] <- blocks[[b]]
  all
}
