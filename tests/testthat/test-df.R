# Degrees of freedom: what regression takes, what is given, and what autocorrelation leaves.

series <- function(n_obs, n_var) {
  x <- apply(normal(n_obs, n_var, seed = 9), 2, function(e) as.numeric(filter(e, 0.6, "recursive")))
  x[, 2] <- x[, 1] + x[, 2]
  x
}

p_of <- function(r, df) 2 * pt(-abs(r) * sqrt(df / (1 - r^2)), df)

tested <- function(...) gpuCorTest(..., output = "matrix", precision = "double")

# The sum over lags in Bartlett's formula, of columns as they are compared; is_there: which observations count.
lag_sum <- function(u, is_there = rep(1, nrow(u))) {
  at_lags <- function(v) acf(v, nrow(u) %/% 4, plot = FALSE, demean = FALSE)$acf[-1]
  share <- 1 - seq_len(nrow(u) %/% 4) / nrow(u) # of the products that a series without gaps has at lag 0
  crossprod(apply(u, 2, at_lags) * share / sqrt(at_lags(is_there)))
}

bartlett_df <- function(u, n = nrow(u), taken = 2, ...) n / pmax(1 + 2 * lag_sum(u, ...), 1) - taken

# By what autoregressive series have after the same regression: left projects on what is left, root are the roots of
# the weights.
calibrated_df <- function(u, left, root = rep(1, nrow(u)), taken = 2, ...) {
  n <- nrow(u)
  points <- vapply(c(0:9 / 10, 0.95, 0.98), FUN.VALUE = c(0, 0), function(phi) {
    own <- left %*% (outer(root, root) * phi^abs(outer(1:n, 1:n, "-"))) %*% left
    lags <- vapply(seq_len(n %/% 4), function(k) sum(own[cbind(1:(n - k), 1:(n - k) + k)]), 0) / sum(diag(own))
    share <- 1 - seq_len(n %/% 4) / n
    products <- acf(as.numeric(root > 0), n %/% 4, plot = FALSE, demean = FALSE)$acf[-1]
    c(sum(share^2 / products * lags^2), sum(diag(own))^2 / sum(own^2) + taken - 1)
  })
  points <- points[, order(points[1, ])]
  sums <- lag_sum(u, as.numeric(root > 0))
  sums[] <- approx(points[1, ], cummin(points[2, ]), sums, rule = 2)$y - taken
  sums
}

# z: with a column of ones, if there is to be one; root: as above.
what_is_left <- function(z, root = rep(1, nrow(z))) {
  q <- qr.Q(qr(z * root))
  diag(as.numeric(root > 0)) - tcrossprod(q)
}

centred <- function(x) sweep(x, 2, colMeans(x))

test_that("p values are those of a regression on both", {
  x <- series(80, 12)
  z <- normal(80, 2, seed = 3)
  for (backend in backends()) {
    ours <- tested(x, covariates = cbind(z, z[, 1]), backend = backend)
    expect_equal(ours$df, 76)
    expect_equal(ours$p.value[1, 2], summary(lm(x[, 2] ~ x[, 1] + z))$coefficients[2, 4])
    expect_equal(off_diagonal(ours$p.value), p_of(off_diagonal(cor(residuals(lm(x ~ z)))), 76))
    dropped <- replace(rep(1, 80), c(4, 9, 30), 0)
    ours <- tested(x, covariates = z, weights = dropped, backend = backend)
    expect_equal(c(ours$n[1, 2], ours$df), c(77, 73))
    expect_equal(ours$p.value[3, 7], summary(lm(x[, 7] ~ x[, 3] + z, subset = dropped > 0))$coefficients[2, 4])
    ranks <- apply(x, 2, rank)
    expect_equal(tested(x, covariates = z, method = "spearman", backend = backend)$p.value[3, 7],
                 summary(lm(ranks[, 7] ~ ranks[, 3] + apply(z, 2, rank)))$coefficients[2, 4])
  }
  expect_equal(tested(x, weights = 1:80, weights_are = "precision")$df, 78)
  expect_null(tested(x)$df)
  expect_warning(filtered <- tested(x, bandpass = c(0.01, 0.1), tr = 2), class = "gpuCorSeries")
  expect_equal(filtered$df, 78 - sum(!(0:78 + 1) / 320 <= 0.1 | 1:79 / 320 < 0.01))
})

test_that("degrees of freedom can be given", {
  x <- series(80, 40)
  r <- off_diagonal(cor(x))
  for (df in c(1, 20.5, 500)) {
    expect_equal(off_diagonal(tested(x, df = df)$p.value), p_of(r, df))
    expect_equal(off_diagonal(tested(x, df = df)$statistic), r * sqrt(df / (1 - r^2)))
  }
  expect_equal(tested(x, df = 30)$df, 30)
  found <- gpuCor(x, df = 30, test = TRUE, precision = "double")
  expect_equal(found$p.value, as.matrix(tested(x, df = 30)$p.value), ignore_attr = TRUE)
  holes <- with_missing(x, 0.1)
  pairwise <- tested(holes, df = 30, use = "pairwise")
  expect_equal(off_diagonal(pairwise$p.value), p_of(off_diagonal(cor(holes, use = "pairwise")), 30))
})

test_that("Bartlett's degrees of freedom are those written out", {
  x <- series(80, 12)
  z <- normal(80, 2, seed = 3)
  for (backend in backends()) {
    ours <- tested(x, df = "bartlett", backend = backend)
    expect_equal(off_diagonal(ours$df), off_diagonal(bartlett_df(centred(x))))
    expect_equal(off_diagonal(ours$p.value), p_of(off_diagonal(cor(x)), off_diagonal(ours$df)))
    expect_lt(min(off_diagonal(ours$df)), 60)
    expect_lte(max(off_diagonal(ours$df)), 78)
  }
  ranks <- centred(apply(x, 2, rank))
  expect_equal(off_diagonal(tested(x, df = "bartlett", method = "spearman")$df), off_diagonal(bartlett_df(ranks)))
  expect_equal(unname(tested(x[, 1:3], x[, 4:9], df = "bartlett")$df), bartlett_df(centred(x))[1:3, 4:9])
  keep <- replace(rep(1, 80), c(5, 9, 30), 0) # those that do not count keep their places
  gaps <- sweep(x, 2, colMeans(x[keep > 0, ])) * keep
  expect_equal(off_diagonal(tested(x, df = "bartlett", weights = keep)$df),
               off_diagonal(bartlett_df(gaps, 77, is_there = keep)))
  holes <- x
  holes[c(5, 9, 30), ] <- NA
  expect_equal(tested(holes, df = "bartlett", use = "pairwise")$df, tested(x, df = "bartlett", weights = keep)$df)
  white <- tested(normal(400, 5), df = "bartlett")$df
  expect_gt(min(off_diagonal(white)), 330)
})

test_that("Bartlett's degrees of freedom know what regression and weights take", {
  x <- series(80, 12)
  z <- cbind(1, normal(80, 20, seed = 3))
  expect_df <- function(expected, ...) {
    expect_equal(off_diagonal(tested(x, df = "bartlett", ...)$df), off_diagonal(expected))
  }
  left <- what_is_left(z)
  for (backend in backends()) expect_df(calibrated_df(left %*% x, left), covariates = z, backend = backend)
  ranks <- what_is_left(apply(z, 2, rank))
  expect_df(calibrated_df(ranks %*% apply(x, 2, rank), ranks), covariates = z, method = "spearman")
  as_is <- what_is_left(z[, -1])
  expect_df(calibrated_df(as_is %*% x, as_is, taken = 1), covariates = z[, -1], method = "cosine")
  keep <- replace(rep(1, 80), c(5, 9, 30:40), 0)
  left <- what_is_left(z, keep)
  expect_df(calibrated_df(left %*% x, left, keep), covariates = z, weights = keep)
  stopped <- cos(outer(1:80 - 0.5, (1:79)[1:79 < 4 | 1:79 > 24]) * pi / 80) # so many that what is left is kept
  left <- what_is_left(cbind(1, stopped))
  expect_df(calibrated_df(left %*% x, left), bandpass = c(0.01, 0.075), tr = 2)
  root <- sqrt(1:80)
  left <- what_is_left(matrix(1, 80), root)
  expect_df(calibrated_df(left %*% (root * x), left, root), weights = 1:80)
  expect_df(calibrated_df(left %*% (root * x), left), weights = 1:80, weights_are = "precision")
  expect_lte(max(off_diagonal(tested(x, df = "bartlett", covariates = z)$df)), 80 - 20 - 2 + 1e-9)
})

test_that("the size of Bartlett's test holds with covariates", {
  size <- function(n_obs, n_covariates) {
    x <- normal(n_obs, 60, seed = 5)
    z <- if (is.null(n_covariates)) diag(n_obs)[, sample(n_obs, 30)] else normal(n_obs, n_covariates, seed = 6)
    mean(off_diagonal(tested(x, df = "bartlett", covariates = z)$p.value) < 0.05)
  }
  set.seed(4)
  for (found in c(size(100, NULL), size(100, 20), size(200, 6))) { # 0.10, 0.075, 0.052 by the formula alone
    expect_gt(found, 0.035)
    expect_lt(found, 0.06)
  }
  expect_lt(suppressWarnings(size(30, 20)), 0.05) # 0.28
})

test_that("networks by p value and false discovery rate have the edges of the tests", {
  x <- series(60, 50)
  z <- normal(60, 3, seed = 4)
  holes <- with_missing(x, 0.05)
  cases <- list(list(x, covariates = z), list(x, df = 15), list(x, df = "bartlett"), list(x, weights = 1:60),
                list(x, covariates = z, df = "bartlett", method = "spearman"),
                list(holes, df = "bartlett", use = "pairwise"), list(holes, df = 15, use = "pairwise"))
  for (backend in backends()) for (case in cases) {
    own <- function(f, ...) suppressWarnings(do.call(f, c(case, list(..., backend = backend, precision = "double"))))
    p <- own(gpuCorTest)$p.value
    expect_gt(sum(p <= 0.05, na.rm = TRUE), 5)
    expect_equal(own(gpuCorNetwork, p.value = 0.05)@edges, sum(p <= 0.05, na.rm = TRUE))
    expect_equal(own(gpuCorNetwork, fdr = 0.3)@edges, sum(p.adjust(p, "BH") <= 0.3, na.rm = TRUE))
  }
  positive <- gpuCorNetwork(x, fdr = 0.3, df = "bartlett", sign = "positive", precision = "double")
  test <- gpuCorTest(x, df = "bartlett", precision = "double")
  expect_equal(positive@edges, sum(p.adjust(test$p.value, "BH") <= 0.3 & test$r > 0))
})

test_that("where there are no p values, or none of Student's t, 'df' is an error", {
  x <- series(20, 4)
  expect_error(gpuCor(x, df = 10), "gpuCorTest() or gpuCorNetwork() with 'p.value' or 'fdr'", fixed = TRUE)
  expect_error(gpuCorNetwork(x, density = 0.1, df = 10), "'df' sets the degrees of freedom", fixed = TRUE)
  expect_error(gpuConnectivity(x, threshold = 0.1, df = "bartlett"), "'df' sets the degrees of freedom", fixed = TRUE)
  expect_error(gpuDist(x, df = 10), "'df' sets the degrees of freedom", fixed = TRUE)
  expect_error(gpuCorTest(x, df = 10, method = "kendall"), "follow from a normal distribution", fixed = TRUE)
  expect_error(gpuCorTest(x, df = 0), "'df' must be a number of at least 1, or \"bartlett\"", fixed = TRUE)
  expect_error(gpuCorTest(x, df = "welch"), "'df' must be a number of at least 1, or \"bartlett\"", fixed = TRUE)
  expect_error(gpuCorTest(x, method = "cosine"), "hold for columns whose expected value is zero", fixed = TRUE)
  expect_error(gpuCorTest(x, df = 10, adjust = "maxT"), "as 'df' has them; use surrogate = \"phase\"", fixed = TRUE)
  expect_error(gpuCorTest(x, df = 10, method = "spearman", exact = TRUE), "there is no exact distribution",
               fixed = TRUE)
  expect_error(gpuCorNetwork(x[1:4, ], covariates = c(1, 2, 4, 8), p.value = 0.1, weights = c(1, 1, 1, 0)),
               "leaves none", fixed = TRUE)
})

test_that("p values of series as of independent rows have a warning", {
  set.seed(9)
  smooth <- function(n, p, a) as.matrix(stats::filter(matrix(rnorm((n + 50) * p), n + 50), a, "recursive"))[-(1:50), ]
  x <- smooth(100, 8, 0.9)
  calls <- list(function(...) gpuCorTest(x, ...), function(...) gpuCorNetwork(x, p.value = 0.01, ...),
                function(...) gpuCorCompare(x, smooth(100, 8, 0.9), ...),
                function(...) gpuCorTest(x, groups = rep(1:4, 2), method = "distance", ...),
                function(...) gpuCorTest(x, adjust = "maxT", n_perm = 9, ...),
                function(...) gpuCorTest(stats::ts(smooth(100, 8, 0.6)), ...),
                function(...) gpuCorTest(stats::ts(x), smooth(100, 3, 0.9), ...))
  for (call in calls) expect_warning(call(), "df = \"bartlett\" counts the independent", class = "gpuCorSeries")
  expect_silent(gpuCorTest(x, df = "bartlett"))
  expect_silent(gpuCorTest(smooth(100, 8, 0.4))) # samples are often alike in the order of a table
  expect_silent(gpuCorTest(stats::ts(x), normal(100, 3))) # of independent rows on one side
  expect_silent(gpuCor(x))
})
