# Weights of observations, as cov.wt() has them, and 0 for those that do not count; the cosine, which is not centred.

# Weights of all sizes, some of them zero.
some_weights <- function(n, seed = 4) {
  set.seed(seed)
  w <- rexp(n)
  w[seq(3, n, by = 7)] <- 0
  w
}

# Means that are large to the deviations, ties, constants; what only an observation that does not count has.
weighed_data <- function(n_obs, n_var) {
  x <- with_constants(normal(n_obs, n_var))
  x[, 1] <- x[, 1] + 1e8
  x[, 3] <- round(x[, 3])
  x[, 4] <- 1e100 * x[, 4]
  x[, 5] <- 3
  x[3, 5] <- 4 # of weight 0: constant without it
  x
}

test_that("weighted correlations are those of cov.wt()", {
  for (backend in backends()) for (n_obs in c(10, 63, 65, 130)) {
    x <- weighed_data(n_obs, 12)
    w <- some_weights(n_obs)
    moderate <- x
    moderate[, 4] <- x[, 4] / 1e100 # whose squares cov.wt() can sum up
    truth <- suppressWarnings(cov.wt(moderate, w / sum(w), cor = TRUE)$cor)
    constant <- c(2, 5, 12)
    truth[constant, ] <- truth[, constant] <- NA
    for (precision in c("single", "double")) {
      ours <- suppressWarnings(gpuCor(x, weights = w, output = "matrix", backend = backend, precision = precision))
      wrong <- differences(off_diagonal(ours), off_diagonal(truth), c(single = 1e-6, double = 1e-7)[[precision]])
      expect(length(wrong) == 0, paste(c(backend, n_obs, precision, wrong), collapse = " ")) # 1e8 - mean, in cov.wt()
      near <- -c(1, constant)
      wrong <- differences(off_diagonal(ours[near, near]), off_diagonal(truth[near, near]),
                           c(single = 1e-6, double = 1e-13)[[precision]])
      expect(length(wrong) == 0, paste(c(backend, n_obs, precision, wrong), collapse = " "))
    }
    expect_warning(gpuCor(x, weights = w, backend = backend), "3 of 12 columns of 'x': 2, 5, 12", fixed = TRUE)
  }
})

test_that("whole weights are as good as copies of observations, ranked or not", {
  set.seed(5)
  for (backend in backends()) for (method in c("pearson", "spearman")) for (n_var in c(15, 65, 257)) {
    x <- rounded(50, n_var)
    w <- sample(0:4, 50, TRUE)
    copies <- x[rep(seq_len(50), w), ]
    ours <- suppressWarnings(gpuCor(x, method = method, weights = w, output = "matrix", backend = backend))
    expect_no_difference(ours, quick_cor(copies, method), method, paste(backend, n_var))
  }
})

test_that("weights of 0 and one other number are those of the rows left, to the last bit, by every method", {
  x <- with_missing(weighed_data(40, 9), 0.05)
  keep <- rep(c(TRUE, TRUE, FALSE, TRUE), 10)
  x[which(!keep)[1:4], 6] <- c(NA, Inf, -Inf, NaN) # not to be looked at
  for (backend in backends()) for (method in c("kendall", more_methods)) for (use in setdiff(all_uses, "all.obs")) {
    quiet <- function(...) {
      suppressWarnings(gpuCor(..., use = use, method = method, output = "matrix", backend = backend))
    }
    expect_identical(quiet(x, weights = 2.5 * keep), quiet(x[keep, ]), label = paste(backend, method, use))
  }
  x[keep, ] <- normal(30, 9)
  expect_identical(gpuCor(x, use = "all.obs", weights = keep, output = "matrix"), gpuCor(x[keep, ], output = "matrix"))
  infinite <- "infinite values leave no coefficient \\(1 of 9 columns of 'x': 6\\)" # now that they count
  expect_warning(weighed <- gpuCor(x, weights = rep(3, 40), use = "pair"), infinite)
  expect_warning(plain <- gpuCor(x, use = "pair"), infinite)
  expect_identical(weighed, plain, ignore_attr = "call")
})

test_that("coefficients are those of the definition whatever the data, the method and the rule for missing values", {
  data <- kinds_of_data(22, 8)
  w <- some_weights(22)
  for (backend in backends()) for (method in c("pearson", "spearman", "cosine")) for (name in names(data)) {
    for (use in c("everything", "pairwise.complete.obs")) {
      expect_designed(data[[name]], method, use, backend, weights = w)
    }
  }
  for (backend in backends()) for (method in c("pearson", "spearman", "cosine")) {
    for (precision in c("single", "double")) {
      expect_designed(data$missing_in_some_rows, method, "complete.obs", backend, weights = w, precision = precision)
    }
  }
  expect_nothing_live()
})

test_that("the cosine is that of columns as they are", {
  x <- cbind(normal(33, 20), 0, 5, 1e200, 1e-200)
  scaled <- sweep(x, 2, pmax(apply(abs(x), 2, max), 1e-300), "/")
  truth <- crossprod(scaled) / sqrt(outer(colSums(scaled^2), colSums(scaled^2)))
  truth[21, ] <- truth[, 21] <- NA
  for (backend in backends()) for (precision in c("single", "double")) {
    ours <- suppressWarnings(gpuCor(x, method = "cosine", output = "matrix", backend = backend, precision = precision))
    within <- c(single = 1e-6, double = 1e-13)[[precision]]
    expect_identical(differences(off_diagonal(ours), off_diagonal(truth), within), NULL)
  }
  holes <- with_missing(x, 0.2)
  for (backend in backends()) {
    ours <- suppressWarnings(gpuCor(holes, use = "pairwise", method = "cosine", output = "matrix", backend = backend))
    one <- function(i, j) {
      both <- !is.na(holes[, i]) & !is.na(holes[, j])
      sum(scaled[both, i] * scaled[both, j]) / sqrt(sum(scaled[both, i]^2) * sum(scaled[both, j]^2))
    }
    truth <- outer(1:24, 1:24, Vectorize(one))
    truth[21, ] <- truth[, 21] <- NA
    expect_identical(differences(off_diagonal(ours), off_diagonal(truth), 1e-13), NULL)
    expect_equal(diag(ours), replace(rep(1, 24), 21, NA))
  }
  r <- gpuCor(x[, 1], x[, 2], method = "cosine", precision = "double") # independent: t with n - 1 degrees of freedom
  expect_equal(gpuCorTest(x[, 1:2], method = "cosine", precision = "double")$p.value[1],
               2 * pt(-abs(r) * sqrt(32 / (1 - r^2)), 32))
})

test_that("all functions take weights, with the same coefficients, on every back end to the last bit", {
  x <- weighed_data(41, 70)
  w <- some_weights(41)
  quiet <- suppressWarnings
  for (method in c("pearson", "spearman", "cosine")) {
    truth <- quiet(gpuCor(x, method = method, weights = w, output = "matrix", backend = "cpu", threads = 1))
    weights <- abs(off_diagonal(truth))
    for (backend in backends()) {
      all <- function(f, ...) quiet(f(..., method = method, weights = w, backend = backend))
      expect_identical(all(gpuCor, x, output = "matrix", memory = 1), truth)
      expect_identical(all(gpuCor, x[, 1:30], x[, 31:70]), truth[1:30, 31:70])
      expect_identical(all(gpuCorTriangle, x, order = "column"), off_diagonal(truth))
      expect_identical(as.vector(all(gpuDist, t(x))), 1 - t(truth)[lower.tri(truth)])
      expect_identical(as.vector(all(gpuCorTest, x)$coefficient), t(truth)[lower.tri(truth)])
      expect_equal(all(gpuCorNetwork, x, threshold = 0.3)@edges, sum(weights >= 0.3, na.rm = TRUE))
      expect_gte(all(gpuCorNetwork, x, density = 0.02)@edges, ceiling(0.02 * choose(70, 2)))
      expect_equal(sum(all(gpuConnectivity, x, threshold = 0.3)$degree), 2 * sum(weights >= 0.3, na.rm = TRUE))
    }
  }
  expect_equal(attr(gpuCor(x[, 6:9], weights = w), "n_obs"), sum(w > 0))
})

test_that("weights that are none are errors that say so", {
  x <- normal(6, 3)
  expect_error(gpuCor(x, weights = 1:5), "'weights' has 5 values; there are 6 observations", fixed = TRUE)
  expect_error(gpuCor(x, weights = c(1, NA, 1, 1, 1, 1)), "'weights' is NA at observation 2", fixed = TRUE)
  expect_error(gpuCor(x, weights = c(1, 1, -1, 1, 1, 1)), "'weights' is -1 at observation 3", fixed = TRUE)
  expect_error(gpuCor(x, weights = c(1, 1, Inf, 1, 1, 1)), "'weights' is Inf at observation 3", fixed = TRUE)
  expect_error(gpuCor(x, weights = rep(0, 6)), "no observation counts", fixed = TRUE)
  expect_error(gpuCor(x, weights = letters[1:6]), "'weights' must be a vector of numbers", fixed = TRUE)
  for (backend in backends()) {
    expect_error(gpuCor(x, weights = 1:6, method = "kendall", backend = backend), "use method = \"spearman\"",
                 fixed = TRUE)
    expect_error(gpuCor(x, weights = 1:6, method = "bicor", backend = backend), "it weighs observations itself",
                 fixed = TRUE)
  }
  expect_error(gpuCorTest(x, weights = 1:6, method = "spearman", exact = TRUE), "there is no exact distribution",
               fixed = TRUE)
  expect_error(gpuCorTest(x, weights = 1:6, adjust = "maxT"), "adjust = \"maxT\" permutes", fixed = TRUE)
  expect_error(gpuCor(x, waits = 1:6), "there is no 'waits'", fixed = TRUE)
  one <- suppressWarnings(gpuCor(x, weights = c(1, 0, 0, 0, 0, 0), output = "matrix"))
  expect_true(all(is.na(one)))
  expect_equal(dim(gpuCor(x[, 0], weights = 1:6, output = "matrix")), c(0, 0))
})
