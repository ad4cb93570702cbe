# Numbers that go wrong easily: sums in single precision lose digits with every term, and values
# that it merges are not tied.

# Pairs from independent to all but equal.
graded <- function(n_obs, n_var) {
  noise <- normal(n_obs, n_var, seed = 4) * rep(10^runif(n_var, -4, 0.5), each = n_obs)
  noise + rnorm(n_obs)
}

for (backend in backends()) {
  # 64, 513: where sums are cut into slices and where scores stop to be whole numbers.
  test_that(paste(backend, "near-equal columns keep six digits at any length"), {
    for (n_obs in c(63, 64, 65, 100, 128, 512, 513, 514, 1000, 2000, 5000)) for (method in c("pearson", "spearman")) {
      expect_like_cor(graded(n_obs, 150), method = method, backend = backend, label = paste(n_obs, "rows"))
    }
  })

  test_that(paste(backend, "errors of one sign do not add up"), {
    # One observation makes most of the sum; what follows is small and rounded the same way
    # each time.
    for (n_obs in c(64, 128, 193, 500, 2048, 5000)) for (method in c("pearson", "spearman")) {
      ties <- round(1.5 * normal(n_obs, 1, seed = 4)[, 1] + 0.2 * normal(n_obs, 30))
      expect_like_cor(ties, method = method, backend = backend, label = paste(n_obs, "rows, ties"))
      outlier <- round(0.7 * normal(n_obs, 30))
      outlier[1, ] <- outlier[1, ] + 3 * sqrt(n_obs)
      expect_like_cor(outlier, method = method, backend = backend, label = paste(n_obs, "rows, an outlier"))
      spikes <- matrix(0, n_obs, 6)
      spikes[cbind(1:6, 1:6)] <- 1
      spikes[3, ] <- 5
      expect_like_cor(spikes, method = method, backend = backend, label = paste(n_obs, "rows, spikes"))
    }
  })

  test_that(paste(backend, "the smallest numbers stay beside the largest, which a pair does not have"), {
    k <- c(3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8)
    y <- c(2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5)
    x <- cbind(c(k * 2^-1074, 1e307, -1.7e308, 1.7e308), c(y, NA, NA, NA), c(y, 1, 2, 3))
    for (method in c("pearson", "spearman", "bicor")) {
      # Of all rows of column 1 the median absolute deviation is zero beside 1e308, which is a warning.
      r <- suppressWarnings(gpuCor(x, use = "pairwise", method = method, backend = backend, precision = "double"))
      expect_equal(r[1, 2], gpuCor(k, y, method = method, backend = "cpu", precision = "double"), tolerance = 1e-13,
                   label = method)
    }
    expect_equal(gpuCor(x, use = "pairwise", backend = backend)[1, 3], cor(x[, 1] / 2^64, x[, 3]), tolerance = 1e-6)
    infinite <- cbind(c(NA, -Inf, 3, 4), c(NA, 1, 0, 0) * 2^-1074)
    r <- suppressWarnings(gpuCor(infinite, use = "pairwise", output = "matrix", backend = backend))
    expect_true(is.nan(r[1, 2])) # infinite, not constant
  })

  test_that(paste(backend, "long columns"), {
    # From 5,794 observations on, n(n-1)/2 has no exact float32.
    x <- heavy_ties(6000, 2)
    x[, 2] <- x[, 2] + 0.3 * x[, 1]
    expect_like_cor(x[, 1], x[, 2], "everything", "kendall", backend, "6000 rows")
    x <- cbind(heavy_ties(50000, 2), normal(50000, 2))
    for (method in c("pearson", "spearman")) {
      expect_like_cor(x, NULL, "everything", method, backend, "50000 rows")
      expect_like_cor(with_missing(x[, 2:3], 0.1), NULL, "pairwise.complete.obs", method, backend,
                      "50000 rows, missing")
    }
  })

  test_that(paste(backend, "values as large or as small as doubles get do not overflow or vanish"), {
    x <- round(normal(30, 10) * 100)
    for (scale in c(1e300, 1e-300, 1e-160, 2^-1074 * 1000)) for (method in all_methods) {
      # The truth is free of scale, and so out of cor()'s own trouble.
      expect_equal(gpuCor(x * scale, method = method, output = "matrix", backend = backend), cor(x, method = method),
                   tolerance = tolerance[[method]])
      missing <- x * scale
      missing[2, 1] <- NA
      expect_equal(gpuCor(missing, use = "pairwise", method = method, output = "matrix", backend = backend)[-1, -1],
                   cor(x[, -1], method = method), tolerance = tolerance[[method]])
    }
  })

  test_that(paste(backend, "values that single precision merges are not tied"), {
    x <- 1 + rounded(40, 8) * 2^-40
    expect_gt(length(unique(x[, 1])), 3)
    zeros <- cbind(c(0, -0, 1, 2, -0), c(-0, 0, 2, 1, 3), 5:1)
    for (method in all_methods) {
      expect_like_cor(x, method = method, backend = backend, label = "merged")
      expect_like_cor(with_missing(x, 0.1), NULL, "pairwise.complete.obs", method, backend, "merged, missing")
      expect_like_cor(zeros, method = method, backend = backend, label = "zeros of both signs")
    }
  })

  test_that(paste(backend, "nothing leaves [-1, 1], and copies correlate fully"), {
    x <- normal(50, 40)
    for (method in all_methods) {
      r <- gpuCor(cbind(x, x * 4, -x), method = method, output = "matrix", backend = backend)
      expect_lte(max(abs(r)), 1)
      off <- abs(c(r[cbind(1:40, 41:80)] - 1, r[cbind(1:40, 81:120)] + 1))
      expect_lte(max(off), if (method == "pearson") 1e-6 else 0)
    }
  })
}

test_that("pairs with missing values lose no digits to the rows that they do not share", {
  set.seed(91)
  x <- with_missing(matrix(rnorm(150 * 24), 150) + rnorm(150), 0.08)
  x[3, 1] <- 1e9 # most of the variance of column 1, in a row that others miss
  x[3, 5:9] <- NA
  x[c(4, 9), 2] <- c(1e300, -1e300)
  x[c(4, 9), 10:12] <- NA
  x[, 13] <- ifelse(is.na(x[, 14]), rnorm(150), 7) # constant in the rows that both have
  x[, 15] <- replace(x[, 16], 20:30, NA) # equal where both have values
  x[, 17] <- replace(-x[, 16], 50:60, NA)
  x[-(1:2), 18] <- NA # two values
  x[7, 19] <- Inf
  x[7, 20:22] <- NA
  x[, 23] <- x[, 23] * 1e-300
  keep <- setdiff(seq_len(24), c(2, 19)) # cor() overflows, or has no value
  for (backend in backends()) {
    r <- suppressWarnings(gpuCor(x, use = "pairwise", output = "matrix", backend = backend, precision = "double"))
    expected <- suppressWarnings(cor(x[, keep], use = "pairwise"))
    expect_identical(is.na(unname(r[keep, keep])), is.na(unname(expected)), label = backend)
    expect_equal(r[keep, keep], expected, tolerance = 1e-13, ignore_attr = TRUE, label = backend)
    scaled <- cbind(x[, 2] / 2^600, x[, 10:12])
    expect_equal(r[2, 10:12], cor(scaled, use = "pairwise")[1, -1], tolerance = 1e-13, ignore_attr = TRUE)
    expect_equal(r[19, 20:22], cor(x[-7, 19:22], use = "pairwise")[1, -1], tolerance = 1e-13, ignore_attr = TRUE)
    expect_identical(r[15, 16], 1)
    expect_identical(r[16, 17], -1)
    cosine <- gpuCor(x[, 3:9], use = "pairwise", method = "cosine", output = "matrix", backend = backend)
    both <- !is.na(x[, 4]) & !is.na(x[, 6])
    expect_equal(cosine[2, 4], sum(x[both, 4] * x[both, 6]) / sqrt(sum(x[both, 4]^2) * sum(x[both, 6]^2)),
                 tolerance = 1e-6)
    for (threads in c(1, 3)) {
      again <- suppressWarnings(gpuCor(x[, 24:1], use = "pairwise", output = "matrix", backend = backend,
                                       precision = "double", threads = threads))
      expect_identical(again[24:1, 24:1], r)
    }
  }
  cpu <- suppressWarnings(gpuCor(x, use = "pairwise", backend = "cpu", precision = "double"))
  each <- lapply(backends(), function(backend) {
    as.vector(suppressWarnings(gpuCor(x, use = "pairwise", backend = backend, precision = "double")))
  })
  for (values in each) expect_identical(values, as.vector(cpu))
})

# An outlier in a row that the other column misses is in the sums of all rows, of which little is then left.
test_that("rows that a pair misses leave no trace of their values", {
  set.seed(6)
  x <- matrix(rnorm(480), 60)
  x[1, 1] <- 3e6
  x[1, 2:8] <- NA
  x[2, 3] <- NA
  for (backend in backends()) {
    r <- gpuCor(x, use = "pairwise", output = "matrix", backend = backend)
    expect_equal(r, cor(x, use = "pairwise"), tolerance = 1e-9)
  }
})
