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
    infinite <- holes
    infinite[2:3, 5:6] <- c(Inf, -Inf, 1, 1)
    bytes <- lapply(c("cpu", backend), function(backend) {
      suppressWarnings(gpuCor(infinite, use = "pairwise", method = "cosine", output = "matrix", backend = backend))
    })
    expect_identical(bytes[[2]], bytes[[1]])
    expect_true(is.na(bytes[[1]][5, 6]))
  }
  r <- gpuCor(x[, 1], x[, 2], method = "cosine", precision = "double") # independent: t with n - 1 degrees of freedom
  expect_equal(gpuCorTest(x[, 1:2], method = "cosine", precision = "double", df = 32)$p.value[1],
               2 * pt(-abs(r) * sqrt(32 / (1 - r^2)), 32))
})

test_that("p values of cosines need the word that columns have a mean of zero", {
  x <- normal(40, 6)
  refused <- function(code) expect_error(code, "hold for columns whose expected value is zero", fixed = TRUE)
  refused(gpuCorTest(x, method = "cosine"))
  refused(gpuCorNetwork(x, method = "cosine", p.value = 0.1))
  refused(gpuCorNetwork(x, method = "cosine", fdr = 0.1))
  refused(gpuAssociation(x, x[, 1:2], method = "cosine"))
  refused(gpuAssociation(x, x[, 1:2], method = "cosine", p.value = 0.1))
  refused(gpuCor(x, method = "cosine", test = TRUE))
  refused(gpuCor(x, method = "cosine")$p.value)
  refused(gpuCorPairs(x, threshold = 0, method = "cosine", test = TRUE))
  p <- gpuCorTest(x, method = "cosine", df = 39)$p.value
  expect_equal(gpuCorNetwork(x, method = "cosine", p.value = 0.3, df = 39)@edges, sum(p <= 0.3))
  expect_identical(gpuCor(x, method = "cosine")$pairs[1, 2], 40)
})

test_that("weights are worth the observations that 'weights_are' says", {
  x <- weighed_data(41, 30)
  w <- some_weights(41)
  kish <- sum(w)^2 / sum(w^2)
  test <- function(...) suppressWarnings(gpuCorTest(x, precision = "double", ...))
  default <- test(weights = w)
  expect_equal(c(default$df, default$n[1]), c(kish - 2, sum(w > 0)))
  expect_equal(test(weights = 7 * w, weights_are = "importance")$p.value, default$p.value)
  expect_equal(test(weights = w, weights_are = "precision")$df, sum(w > 0) - 2)
  expect_equal(test(weights = w, method = "spearman")$df, kish - 2)
  expect_equal(test(weights = w, covariates = cbind(sin(1:41), 1:41))$df, kish - 4)
  t <- default$r * sqrt((kish - 2) / (1 - default$r^2))
  expect_equal(as.vector(default$p.value), as.vector(2 * pt(-abs(t), kish - 2)))
  kept <- rep(c(0, 1), c(4, 37))
  for (kind in c("importance", "precision")) {
    expect_equal(test(weights = 3 * kept, weights_are = kind)$p.value, test(weights = kept)$p.value)
  }
  expect_equal(test(weights = 3 * kept, weights_are = "frequency")$df, 3 * 37 - 2)
  expect_equal(test(weights = rep(2, 41), weights_are = "frequency")$df, 80)
})

test_that("frequencies have the p values of as many copies", {
  x <- normal(30, 20, seed = 8)
  x[, 2] <- round(x[, 2])
  times <- rep_len(c(3, 0, 1, 2), 30)
  z <- cbind(sin(1:30), cos(2 * 1:30))
  copies <- rep(1:30, times)
  holes <- with_missing(x, 0.1)
  same <- function(f, part, x, ..., covariates = NULL) {
    expect_equal(part(f(x, ..., covariates = covariates, weights = times, weights_are = "frequency")),
                 part(f(x[copies, ], ..., covariates = covariates[copies, ])), tolerance = 1e-9)
  }
  p <- function(test) as.vector(test$p.value)
  for (backend in backends()) for (method in c("pearson", "spearman")) {
    test <- function(x, ...) { # weighted ranks are tested by t
      gpuCorTest(x, ..., method = method, precision = "double", backend = backend, exact = FALSE)
    }
    same(test, p, x)
    same(test, p, x, covariates = z)
    same(test, p, holes, use = "pairwise")
    same(test, p, holes[, 1:5], use = "complete.obs")
  }
  for (data in list(x, holes)) {
    same(gpuCorNetwork, function(net) net@edges, data, fdr = 0.3, use = "pairwise")
    same(gpuCorNetwork, function(net) net@edges, data, p.value = 0.1, use = "pairwise")
  }
})

test_that("each pair has the effective number of its own observations", {
  holes <- with_missing(normal(50, 40, seed = 4), 0.2)
  w <- exp(normal(50, 1, seed = 5))[, 1]
  test <- gpuCorTest(holes, weights = w, use = "pairwise", output = "matrix", precision = "double")
  known <- !is.na(holes)
  kish <- crossprod(known * w, known)^2 / crossprod(known * w^2, known)
  expect_equal(off_diagonal(test$df), off_diagonal(kish) - 2)
  expect_equal(off_diagonal(test$n), off_diagonal(crossprod(known)))
  own <- gpuCorTest(holes[, 1:15], holes[, 16:40], weights = w, use = "pairwise")
  expect_equal(own$df, test$df[1:15, 16:40])
  p <- off_diagonal(test$p.value)
  for (backend in backends()) {
    net <- function(...) {
      gpuCorNetwork(holes, weights = w, use = "pairwise", backend = backend, precision = "double", ...)@edges
    }
    expect_equal(net(p.value = 0.2), sum(p <= 0.2))
    expect_equal(net(fdr = 0.9), sum(p.adjust(p, "BH") <= 0.9))
  }
  few <- gpuAssociation(holes[, 1:20], holes[, 21:22], weights = w, p.value = 0.3)
  expect_equal(sort(few$p.value), sort(test$p.value[1:20, 21:22][test$p.value[1:20, 21:22] <= 0.3]))
  whole <- normal(50, 12)
  of_traits <- gpuAssociation(whole[, 1:10], whole[, 11:12], weights = w, p.value = 0.5)
  truth <- as.vector(gpuCorTest(whole[, 1:10], whole[, 11:12], weights = w, precision = "double")$p.value)
  expect_equal(of_traits$p.value, sort(truth[truth <= 0.5]))
})

test_that("subjects' weights count by their effective number", {
  x <- list(normal(60, 5), normal(50, 5, seed = 2))
  w <- list(exp(normal(60, 1, seed = 3))[, 1], exp(normal(50, 1, seed = 4))[, 1])
  r <- gpuCor(x, weights = w, combine = "fisher", precision = "double")
  n <- vapply(w, function(w) sum(w)^2 / sum(w^2), 0)
  z <- Map(function(x, w) atanh(cov.wt(x, w, cor = TRUE)$cor[lower.tri(diag(5))]), x, w)
  expect_equal(as.vector(r), tanh((z[[1]] * (n[1] - 3) + z[[2]] * (n[2] - 3)) / (sum(n) - 6)), tolerance = 1e-6)
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
      expect_identical(as.vector(all(gpuCorTest, x, df = 20)$r), t(truth)[lower.tri(truth)])
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
  expect_error(gpuCor(x, weights_are = "precision"), "says what 'weights' are, and there are none", fixed = TRUE)
  expect_error(gpuCor(x, weights = 1:6, weights_are = "counts"), "'weights_are' must be one of", fixed = TRUE)
  expect_error(gpuCor(x, weights = 1:6 / 2, weights_are = "frequency"), "'weights' is 0.5 at observation 1",
               fixed = TRUE)
  expect_error(gpuCorTest(x, weights = rep(2, 6), weights_are = "frequency", method = "kendall"),
               "has no meaning for method = \"kendall\"", fixed = TRUE)
  expect_error(gpuCorTest(x, weights = 1:6, weights_are = "frequency", df = "bartlett"), "a place in time",
               fixed = TRUE)
  heavy <- c(1e4, 1, 1, 1, 1, 1) # worth one observation
  expect_error(gpuCorTest(x, weights = heavy), "p values need at least 3 observations; there are 1", fixed = TRUE)
  expect_error(gpuCorNetwork(x, weights = heavy, p.value = 0.1), "there are 1 effective ones", fixed = TRUE)
  expect_error(gpuCorTest(x, weights = rep(2, 6), weights_are = "frequency", method = "spearman", exact = TRUE),
               "there is no exact distribution", fixed = TRUE)
  expect_error(gpuCor(x, weight_are = "precision"), "did you mean 'weights_are'", fixed = TRUE)
  expect_error(gpuCor(x, waits = 1:6), "unused argument 'waits'", fixed = TRUE)
  one <- suppressWarnings(gpuCor(x, weights = c(1, 0, 0, 0, 0, 0), output = "matrix"))
  expect_true(all(is.na(one)))
  expect_equal(dim(gpuCor(x[, 0], weights = 1:6, output = "matrix")), c(0, 0))
})
