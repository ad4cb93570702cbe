# The orthonormal basis of all regressors (see data-covariates.R), and the algebra of columns that it is made by.

# Returns list(basis: orthonormal columns, one row per observation, 0 for dropped ones; removed: NULL, or what is
# subtracted in the place of the basis (protecting_basis()); lost: the degrees of freedom that the regressors take;
# keeps: TRUE if the basis spans the residuals instead, as that is smaller). `may_keep`: TRUE to allow that. The
# regressors of a run are orthogonal to those of the others and to the runs' intercepts.
basis_of <- function(regressors, weights, counts, may_keep) {
  root <- if (is.null(weights)) rep(1, length(counts)) else sqrt(weights)
  z <- covariates_as_compared(regressors, weights, counts)
  if (!is.null(regressors$covariance)) return(whitened_basis(z, regressors, counts))
  if (!is.null(regressors$protected)) {
    regressors$covariates <- regressors$protected
    p <- covariates_as_compared(regressors, weights, counts)
    space <- protecting_basis(z * root[counts], p * root[counts], if (regressors$centred) root[counts])
    in_rows <- function(block) in_blocks(list(block), list(which(counts)), root)
    return(list(basis = in_rows(space$basis), removed = in_rows(space$removed), lost = space$lost, keeps = FALSE))
  }
  at <- cumsum(counts) # rows of z
  runs <- lapply(regressors$runs, function(rows) rows[counts[rows]])
  found <- lapply(which(lengths(runs) > 0L), function(r) { # both_spaces() of the run's covariates and functions of time
    own_root <- root[runs[[r]]]
    own <- z[at[runs[[r]]], , drop = FALSE]
    if (length(runs) > 1L) own <- centred_columns(own, own_root, regressors$centred)
    series <- regressors$series[[r]]
    if (is.null(own) && is.null(series)) return(list(inside = matrix(0, length(own_root), 0L), rank = 0L))
    is_included <- counts[regressors$runs[[r]]]
    is_plain <- regressors$centred && all(is_included) && all(own_root == own_root[1L])
    if (is_plain && is.null(own) && !is.null(series$outside)) return(series) # they are orthogonal
    series <- centred_columns(series$inside[is_included, , drop = FALSE], own_root, regressors$centred)
    both_spaces(cbind(own, series) * own_root, if (regressors$centred) own_root)
  })
  runs <- Filter(length, runs)
  between <- matrix(0, length(root), 0L)
  if (regressors$centred && length(runs) > 1L) { # the runs' intercepts without that of all rows: centering replaces it
    rows <- sort(unlist(runs))
    labels <- in_blocks(lapply(runs, function(run) matrix(1, length(run))), runs, root)[rows, , drop = FALSE]
    contrasts <- both_spaces(centred_columns(labels, root[rows], TRUE) * root[rows], root[rows])$inside
    between <- in_blocks(list(contrasts), list(rows), root)
  }
  rank <- ncol(between) + sum(vapply(found, `[[`, 0L, "rank"))
  outside <- lapply(found, `[[`, "outside")
  keeps <- may_keep && !any(vapply(outside, is.null, NA)) && sum(vapply(outside, ncol, 0L)) < rank
  blocks <- in_blocks(if (keeps) outside else lapply(found, `[[`, "inside"), runs, root)
  list(basis = if (keeps) blocks else cbind(between, blocks), lost = rank, keeps = keeps)
}

# Returns as basis_of() a map of the observations, by whose products a column is replaced: the coordinates of its
# residuals of generalized least squares. With the covariance R'R of the included observations, and an orthonormal basis
# Q of what the intercept and z leave, both multiplied by the inverse of R', it is the inverse of R times Q. A constant
# has the products 0, so that centering a column before changes nothing. The map's columns have the mean square 1, as
# the engine's bound of rounding errors is relative to the column.
whitened_basis <- function(z, regressors, counts) {
  v <- regressors$covariance
  v[!counts, ] <- v[, !counts] <- 0
  mirrored <- t(v)
  if (!isTRUE(max(abs(v - mirrored)) <= 1e-8 * max(abs(v)))) { # also of values that are not finite
    wrong <- !is.finite(v) | !is.finite(mirrored) | abs(v - mirrored) > 1e-8 * max(abs(v))
    wrong <- arrayInd(which(wrong)[1L], dim(v))
    entry <- function(i, k) paste0(format(v[i, k]), " in row ", i, ", column ", k)
    fail("'covariance' is ", entry(wrong[1L], wrong[2L]),
         if (wrong[1L] != wrong[2L]) paste0(", and ", entry(wrong[2L], wrong[1L])), "; it must be finite and symmetric")
  }
  low <- which(counts & diag(v) <= 0)[1L]
  if (!is.na(low)) {
    fail("'covariance' is ", format(v[low, low]), " in row ", low, ", column ", low, ", where an observation's ",
         "variance must be; a matrix of distances is none")
  }
  root <- tryCatch(chol(v[counts, counts, drop = FALSE]), error = function(e) NULL)
  check_dependence(v, which(counts), root)
  z <- cbind(rep(as.numeric(regressors$centred), nrow(root)), z)
  taken <- qr(backsolve(root, z, transpose = TRUE), tol = SAME_SPAN)
  map <- backsolve(root, qr.Q(taken, complete = TRUE)[, seq_len(nrow(root)) > taken$rank, drop = FALSE])
  map <- map / sqrt(mean(colSums(map^2)))
  list(basis = in_blocks(list(map), list(which(counts)), counts), lost = taken$rank - regressors$centred, keeps = TRUE)
}

# An observation is determined by others if they leave at most this fraction of its variance.
SINGULAR <- 1e-10

# Observations that are so much alike leave differences that a covariance tells to be tiny; if they are not, they decide
# about all coefficients. The max correlation, and the min eigenvalue of the correlations.
MAX_ALIKE <- 0.95
MIN_EIGENVALUE <- 0.05

# Stops if the covariance of the observations `rows` has no root, and warns if it has almost none.
check_dependence <- function(v, rows, root) {
  r <- abs(stats::cov2cor(v[rows, rows, drop = FALSE]))
  diag(r) <- 0
  alike <- rows[arrayInd(which.max(r), dim(r))]
  instead <- paste0("give h * K + (1 - h) * diag(n) for the relatedness K and a heritability h",
                    if (max(r) > MAX_ALIKE) paste(", or leave out one of rows", alike[2L], "and", alike[1L]))
  if (is.null(root) || any(diag(root)^2 <= SINGULAR * colSums(root^2))) {
    fail("'covariance' is not positive definite, as if some observations were repeated or determined by others; ",
         instead)
  }
  # The smallest eigenvalue of the correlations, by inverse iteration.
  scaled <- root / rep(sqrt(colSums(root^2)), each = nrow(root))
  x <- cos(seq_len(nrow(root))^2) # of no particular direction
  for (k in 1:30) {
    x <- backsolve(scaled, backsolve(scaled, x, transpose = TRUE))
    size <- sqrt(sum(x^2))
    x <- x / size
  }
  smallest <- 1 / size
  if (max(r) <= MAX_ALIKE && smallest >= MIN_EIGENVALUE) return(invisible())
  warn("gpuCorCovariance", if (max(r) > MAX_ALIKE) {
    paste0("rows ", alike[2L], " and ", alike[1L], " have a correlation of ", format(floor(1000 * max(r)) / 1000),
           " in 'covariance'")
  } else {
    paste0("the smallest eigenvalue of 'covariance' is ", format(100 * smallest, digits = 1L), " % of the mean")
  }, ", and what is left of such observations decides about all coefficients; p values are too small if 'covariance' ",
  "makes them more alike than they are, so ", instead)
}

# Returns regressors unranked, with missing values as 0: pairs rank them among pairwise-complete observations.
raw_regressors <- function(regressors) {
  z <- regressors$covariates
  runs <- regressors$runs
  if (length(runs) > 1L && !is.null(z)) {
    fail("'covariates' of ranks have no ranks of each pair with 'runs'; use \"complete.obs\" in place of ",
         "\"pairwise.complete.obs\"")
  }
  z[is.na(z)] <- 0
  series <- if (!is.null(regressors$series)) {
    in_blocks(lapply(regressors$series, `[[`, "inside"), runs, seq_len(regressors$n_obs))
  }
  labels <- if (length(runs) > 1L) outer(regressors$codes, seq_along(runs)[-1L], `==`) + 0
  list(cbind(z, labels, series), max(0, ncol(z)))
}

# Ranks and centers covariates as the measure does columns, and scales them to a size near 1.
covariates_as_compared <- function(regressors, weights, counts) {
  z <- regressors$covariates[counts, , drop = FALSE]
  if (is.null(z)) return(NULL)
  w <- if (is.null(weights)) rep(1, nrow(z)) else weights[counts]
  if (regressors$ranked) {
    z[] <- apply(z, 2L, function(x) { # the total weight of all smaller values, plus half that of equal ones
      groups <- match(x, sort(unique(x)))
      weight <- as.vector(rowsum(w, groups)) # total weight of each value, ascending
      (cumsum(weight) - weight / 2)[groups]
    })
  }
  size <- column_sizes(z)
  z <- sweep(z, 2L, ifelse(size > 0, size, 1), "/")
  centred_columns(z, sqrt(w), regressors$centred)
}

# For columns y that are regressed on the covariates z and the protected p, the covariates' part of the fit is
# removed %*% crossprod(basis, y): with z = left + a part in the space of p, the basis is that of `left`, and removed =
# z R^-1 where left = basis R. Returns list(basis, removed, lost). y has the variance of I - basis basis' + D D' then,
# with D = removed - basis; `lost` are the degrees of freedom that this takes. `mean`: as in both_spaces().
protecting_basis <- function(z, p, mean) {
  z <- z[, colSums(z^2) > 0, drop = FALSE]
  z <- sweep(z, 2L, sqrt(colSums(z^2)), "/")
  inside <- both_spaces(p, mean)$inside
  left <- z
  for (twice in 1:2) left <- left - inside %*% crossprod(inside, left)
  left[, colSums(left^2) < SAME_SPAN^2] <- 0
  found <- qr(left, tol = SAME_SPAN)
  kept <- seq_len(found$rank)
  if (found$rank < qr(z, tol = SAME_SPAN)$rank) {
    warn("gpuCorProtect", "'protect' determines 'covariates', or some of them, which are not subtracted then")
  }
  basis <- qr.Q(found)[, kept, drop = FALSE]
  removed <- basis # without columns if nothing is left
  if (found$rank) {
    removed <- t(backsolve(qr.R(found)[kept, kept, drop = FALSE], t(z[, found$pivot[kept], drop = FALSE]),
                           transpose = TRUE))
  }
  squares <- crossprod(removed - basis)
  n <- nrow(z) - !is.null(mean)
  sum <- n - found$rank + sum(diag(squares)) # of the eigenvalues, and of their squares
  of_squares <- n - found$rank + 2 * sum(diag(squares)) + sum(squares^2)
  list(basis = basis, removed = removed, lost = ceiling(n - sum^2 / of_squares - 1e-9))
}

# ---- algebra of columns, whose rounding errors count

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
# first. `outside` is NULL if it is not smaller than `inside`, as it may not fit into memory. `rank`: of `inside`.
both_spaces <- function(z, mean) {
  z <- z[, colSums(z^2) > 0, drop = FALSE]
  z <- sweep(z, 2L, sqrt(colSums(z^2)), "/")
  own <- as.integer(!is.null(mean))
  decomposed <- qr(cbind(if (own) 10 * mean / sqrt(sum(mean^2)), z), LAPACK = TRUE)
  rank <- sum(abs(diag(decomposed$qr)) > SAME_SPAN)
  is_smaller <- nrow(z) - rank < rank - own
  q <- qr.Q(decomposed, complete = is_smaller)
  at <- seq_len(ncol(q))
  list(rank = rank - own, inside = q[, at > own & at <= rank, drop = FALSE],
       outside = if (is_smaller) q[, at > rank, drop = FALSE])
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
