# Coefficients of weighted, regressed columns by their definitions, pair by pair.

more_methods <- c("pearson", "spearman", "bicor", "cosine")

# The weight of what is smaller, and half of that of what is equal.
weighted_midrank <- function(x, w) vapply(x, function(v) sum(w[x < v]) + sum(w[x == v]) / 2, 0)

# Of complete values: differences from the median, weighed; those from the mean where there is no deviation.
biweight <- function(x) {
  deviation <- mad(x, constant = 1)
  if (deviation == 0) return(x - mean(x))
  u <- (x - median(x)) / (9 * deviation)
  (x - median(x)) * (1 - u^2)^2 * (abs(u) < 1)
}

# What is compared of x: ranked, freed of z by lm(), weighted. NULL: nothing is left.
compared <- function(x, w, z, method) {
  if (method != "cosine" && all(x == x[1])) return(NULL)
  if (method != "spearman" && any(is.infinite(x))) return(NaN)
  if (method == "spearman") {
    x <- weighted_midrank(x, w)
    if (!is.null(z)) z <- apply(z, 2, weighted_midrank, w)
  }
  if (method != "cosine") x <- x - x[1]
  centred <- if (method == "cosine") x else x - sum(w * x) / sum(w)
  left <- centred
  if (!is.null(z)) {
    if (method != "cosine") z <- cbind(1, sweep(z, 2, colSums(w * z) / sum(w)))
    left <- lm.wfit(z, centred, w)$residuals
    if (sum(w * left^2) <= 1e-18 * sum(w * centred^2)) return(NULL)
  }
  if (method == "bicor") left <- biweight(left)
  if (all(left == 0)) NULL else sqrt(w) * left / max(abs(left))
}

# How many directions regression on z leaves: in one alone every coefficient is 1 or -1.
directions_left <- function(w, z, method) {
  if (method == "spearman") z <- apply(z, 2, weighted_midrank, w)
  length(w) - qr(sqrt(w) * (if (method == "cosine") z else cbind(1, z)))$rank
}

designed_pair <- function(x, y, w, z, method) {
  if (length(x) < 2 || (!is.null(z) && directions_left(w, z, method) < 2)) return(NA_real_)
  x <- compared(x, w, z, method)
  y <- compared(y, w, z, method)
  if (is.null(x) || is.null(y)) NA_real_ else sum(x * y) / sqrt(sum(x^2) * sum(y^2)) # NaN if infinite
}

# The matrix of all coefficients of x, for "everything", "complete.obs" and "pairwise.complete.obs".
designed_cor <- function(x, method, use = "everything", weights = NULL, z = NULL) {
  w <- if (is.null(weights)) rep(1, nrow(x)) else weights
  known <- if (is.null(z)) rep(TRUE, nrow(x)) else rowSums(is.na(z)) == 0
  counts <- w > 0 & known
  if (use == "complete.obs") counts <- counts & rowSums(is.na(x)) == 0
  one <- function(i, j) {
    rows <- counts & !is.na(x[, i]) & !is.na(x[, j])
    if (use != "pairwise.complete.obs" && any(rows != counts)) return(NA_real_)
    designed_pair(x[rows, i], x[rows, j], w[rows], z[rows, , drop = FALSE], method)
  }
  outer(seq_len(ncol(x)), seq_len(ncol(x)), Vectorize(one))
}

off_diagonal <- function(m) m[upper.tri(m)]

# Ours against the definition: values, and where there are none.
expect_designed <- function(x, method, use, backend, ..., weights = NULL, z = NULL, covariates = z, within = 1e-6) {
  ours <- suppressWarnings(gpuCor(x, use = use, method = method, output = "matrix", backend = backend,
                                  weights = weights, covariates = covariates, ...))
  truth <- designed_cor(x, method, use, weights, z)
  wrong <- differences(off_diagonal(ours), off_diagonal(truth), within)
  expect(length(wrong) == 0, paste(c(backend, method, use, list(...), wrong), collapse = " "))
}

confounds <- function(n_obs, seed = 7) {
  set.seed(seed)
  cbind(drift = seq_len(n_obs), motion = rnorm(n_obs), far = 1e8 + rnorm(n_obs), ties = sample(3, n_obs, TRUE) / 2)
}

# Residuals of 20 steps of Huber's regression, by regressions of what is beyond the bound.
huber_residuals <- function(m, z) {
  own <- qr(cbind(1, z))
  unname(apply(m, 2, function(x) {
    left <- first <- qr.resid(own, x)
    for (step in 1:20) {
      bound <- 1.345 * mad(left, 0, 1 / 0.6745)
      left <- first + qr.fitted(own, left - pmax(-bound, pmin(bound, left)))
    }
    left
  }))
}
