# Partial correlations given all other columns (Schaefer and Strimmer 2005): the part of the design that
# src/stats/partial.h describes. Its help page is gpuAdjust (R/run-specs.R).

# Returns the design for partial correlations of the adjusted columns. `tests`: TRUE if p values will be computed, which
# have degrees of freedom of their own.
design_with_partial <- function(run, tests) {
  design <- run$design
  counted <- perform(run, "observations")
  if (counted$common || !counted$n_obs) {
    fail("partial = TRUE needs ", if (counted$common) {
      "the same observations for all pairs; with missing values use = \"complete.obs\", or fill them in"
    } else {
      "observations, and 'x' has no row without missing values"
    })
  }
  sums <- perform(run, "partial_sums", counted)
  rows <- if (is.null(counted$observed)) seq_len(counted$n_obs) else counted$observed[seq_len(counted$n_obs)] + 1L
  shrinkage <- run$asked$shrinkage
  if (shrinkage == "auto") {
    shrinkage <- estimated_shrinkage(sums, design$weights[rows])
    if (shrinkage == 1) {
      warn("gpuCorShrinkage", "the estimated shrinkage is 1, which leaves only zeros: the correlations do not vary ",
           "more than by chance; give 'shrinkage' to see them")
    }
  }
  map <- partial_map(sums, shrinkage)
  design$map <- matrix(0, nrow(run$x), ncol(map$columns))
  design$map[rows, ] <- map$columns
  design$in_double <- map$in_double
  design$adjusted$shrinkage <- shrinkage
  if (!tests || !is.null(design$df)) return(design)
  # Without shrinkage a pair loses a degree of freedom for each other column. Shrunken coefficients have the
  # distribution of a correlation whose degrees of freedom are fitted to the coefficients of a sample of the columns
  # (Schaefer and Strimmer 2005, after Efron).
  if (shrinkage == 0) {
    design$lost <- design$lost + sums$n_var - 2
    design$adjusted$lost <- design$lost
    return(design)
  }
  run <- with_made(run, design)
  columns <- sampled_columns(run$x, min(ncol(run$x), PARTIAL_SAMPLE))
  some <- at_home(with_mask(with_columns(run, columns, counted = counted), NULL)) # a plan keeps the design alone
  r <- suppressWarnings(values_of_pairs(some, "row"))
  design$df <- null_freedom(r[!is.na(r)])
  design$adjusted[c("df", "is_null_fitted")] <- list(design$df, TRUE)
  design
}

# Returns the shrinkage that minimizes the expected squared error of the correlations, as corpcor::estimate.lambda().
# With standardized columns x_i, it is the sum over all pairs of the variances of r_ij, divided by that of the squares
# of r_ij.
estimated_shrinkage <- function(sums, weights) {
  n <- length(sums$fourth)
  weights <- if (is.null(weights)) rep(1 / n, n) else weights / sum(weights)
  products <- matrix(sums$products, n)
  squares <- sum(products^2) - sums$n_var
  spread <- sum((diag(products)^2 - sums$fourth) / weights)
  if (!(squares > 0)) return(1)
  min(1, max(0, (spread / squares - 1) * sum(weights^2) / (1 - sum(weights^2))))
}

# Eigenvalues below this fraction of the largest are rounding errors.
PARTIAL_RANK <- 1e-12

# Returns list(columns: the design's map, a column for each dimension; in_double: TRUE if the products of mapped
# columns need double precision). With eigenvalues d and eigenvectors u of X X', the shrunken correlations have the
# eigenvalues e = (1 - shrinkage) d + shrinkage, and shrinkage itself if there are more columns than dimensions. Their
# inverse P has the largest eigenvalue m, so that I - P / m = Z'Z, where Z = diag(root((1 - 1 / (m e)) / d)) u'X. The
# coefficient is z_i . z_j over the root of (1 - |z_i|^2) (1 - |z_j|^2). Errors of single precision are relative to
# the lengths of z over that root, which are at most 1 if |z|^2 is at most 1/2. It is at most the largest element of
# that diagonal squared, and at most 1 - 1 / m, as the diagonal of P is at least 1. A rotation of Z keeps its products,
# so that the map can be triangular, half of it zeros.
partial_map <- function(sums, shrinkage) {
  n <- length(sums$fourth)
  found <- eigen(matrix(sums$products, n), symmetric = TRUE)
  counts <- found$values > PARTIAL_RANK * max(found$values, 0)
  d <- found$values[counts]
  if (shrinkage == 0 && length(d) < sums$n_var) {
    fail("shrinkage = 0 needs more observations than columns, none of which the others determine: there are ",
         n_of(sums$n_var, "column"), " of rank ", length(d), "; use shrinkage = \"auto\"")
  }
  e <- (1 - shrinkage) * d + shrinkage
  largest <- 1 / if (length(d) < sums$n_var) shrinkage else min(e, Inf)
  squares <- pmax(0, 1 - 1 / (largest * e)) / d
  map <- sqrt(squares) * t(found$vectors[, counts, drop = FALSE])
  if (length(d)) map <- qr.R(qr(map, tol = 0)) # tol 0: no pivoting
  list(columns = t(map), in_double = min(max(squares, 0), 1 - 1 / largest) > 0.5)
}

# ---- degrees of freedom

# Max number of columns whose coefficients the null distribution is fitted to: two million pairs.
PARTIAL_SAMPLE <- 2000

# The fraction of the pairs that are considered to be null, those of the smallest coefficients.
NULL_FRACTION <- 0.75

# Returns the degrees of freedom of t whose coefficients have the most likely density among those below a quantile: (1 -
# r^2)^(df / 2 - 1) on that interval.
null_freedom <- function(r) {
  limit <- stats::quantile(abs(r), NULL_FRACTION, names = FALSE)
  if (!isTRUE(limit > 0)) return(1) # with shrinkage 1 all coefficients are 0
  log_density <- mean(log1p(-r[abs(r) <= limit]^2))
  loss <- function(log_df) {
    half <- exp(log_df) / 2
    lbeta(0.5, half) + stats::pbeta(limit^2, 0.5, half, log.p = TRUE) - (half - 1) * log_density
  }
  max(1, exp(stats::optimize(loss, log(c(1, 1e9)), tol = 1e-9)$minimum))
}
