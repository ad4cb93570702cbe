# Stability of edges: the networks of resamples, one call for each.

# Returns for each edge of the network of x, in the order of slot x, the fraction of the draws whose network has it.
# draw(): the data of the next resample.
stability_by_hand <- function(x, n, draw, ...) {
  found <- 0
  for (b in seq_len(n)) found <- found + (as.matrix(suppressWarnings(gpuCorNetwork(draw(), ...))) != 0)
  net <- suppressWarnings(gpuCorNetwork(x, ...))
  found[cbind(net@i + 1L, rep(seq_len(ncol(net)), diff(net@p)))] / n
}

rows_of <- function(x, fraction = 0.63) {
  function() x[sort(sample.int(nrow(x), round(fraction * nrow(x)))), ]
}

factor_data <- function(n_obs = 40, n_var = 60, seed = 1) {
  set.seed(seed)
  matrix(rnorm(n_obs * 4), n_obs) %*% matrix(rnorm(4 * n_var), 4) + 2 * matrix(rnorm(n_obs * n_var), n_obs)
}

test_that("stability is the fraction of networks by cor() that have the edge", {
  x <- factor_data()
  set.seed(2)
  found <- Reduce(`+`, lapply(1:20, function(b) abs(cor(rows_of(x)())) >= 0.5)) / 20
  set.seed(2)
  net <- gpuCorNetwork(x, threshold = 0.5, resample = 20)
  edges <- as.data.frame(net)
  expect_identical(edges$stability, found[cbind(edges$from, edges$to)])
  expect_gt(length(unique(edges$stability)), 10)
})

test_that("resamples have the networks of their rows, by every criterion and with adjustments", {
  x <- factor_data()
  x[3, 5] <- x[30, 9] <- NA
  cases <- list(list(density = 0.05, use = "pairwise.complete.obs"), list(k = 2, use = "complete.obs"),
                list(p.value = 0.001, method = "spearman", use = "complete.obs"),
                list(fdr = 0.05, method = "kendall", use = "pairwise.complete.obs"),
                list(threshold = 0.4, method = "bicor"), list(density = 0.1, sign = "negative", precision = "double"))
  for (case in cases) {
    set.seed(3)
    expected <- do.call(stability_by_hand, c(list(x, 6, rows_of(x)), case))
    set.seed(3)
    net <- suppressWarnings(do.call(gpuCorNetwork, c(list(x, resample = 6), case)))
    expect_identical(net@stability, expected, label = deparse1(case))
  }
})

test_that("context likelihoods, pairs of x and y and several values have stabilities", {
  x <- factor_data()
  set.seed(3)
  expected <- stability_by_hand(x, 5, rows_of(x), threshold = 3, normalize = "clr")
  set.seed(3)
  expect_identical(gpuCorNetwork(x, threshold = 3, normalize = "clr", resample = 5)@stability, expected)
  values <- c(0.1, 0.05)
  set.seed(3)
  several <- gpuCorNetwork(x[, 1:20], x[, 21:60], density = values, resample = 5)
  for (v in 1:2) {
    set.seed(3)
    one <- gpuCorNetwork(x[, 1:20], x[, 21:60], density = values[v], resample = 5)
    expect_identical(as.data.frame(several[[v]]), as.data.frame(one))
  }
})

test_that("weights and covariates are those of a resample's rows, and rows of weight 0 are not drawn", {
  x <- factor_data()
  age <- rnorm(40)
  weights <- c(0, 0, runif(38, 0.5, 1))
  found <- 0
  set.seed(4)
  for (b in 1:6) {
    rows <- (3:40)[sort(sample.int(38, 24))]
    found <- found + (as.matrix(gpuCorNetwork(x[rows, ], threshold = 0.4, weights = weights[rows],
                                              covariates = age[rows])) != 0)
  }
  set.seed(4)
  edges <- gpuCorNetwork(x, threshold = 0.4, weights = weights, covariates = age, resample = 6, output = "edges")
  expect_identical(edges$stability, found[cbind(edges$from, edges$to)] / 6)
})

test_that("of a list, subjects are drawn", {
  subjects <- lapply(1:8, function(seed) factor_data(30, seed = seed) + factor_data(30))
  own <- list(density = 0.05, combine = "fisher", subject_weights = 1:8)
  found <- 0
  set.seed(5)
  for (b in 1:6) {
    at <- sort(sample.int(8, 5))
    own$subject_weights <- (1:8)[at]
    found <- found + (as.matrix(do.call(gpuCorNetwork, c(list(subjects[at]), own))) != 0)
  }
  set.seed(5)
  edges <- gpuCorNetwork(subjects, density = 0.05, combine = "fisher", subject_weights = 1:8, resample = 6,
                         output = "edges")
  expect_identical(edges$stability, found[cbind(edges$from, edges$to)] / 6)
  set.seed(5)
  tested <- gpuCorNetwork(subjects, p.value = 0.01, combine = "fisher", resample = 6)
  expect_true(all(tested@stability <= 1) && any(tested@stability > 0.5))
})

test_that("the same seed gives the same bytes, however the work is split", {
  x <- factor_data(20, 2500)
  at <- function(...) {
    set.seed(6)
    gpuCorNetwork(x, density = 0.001, resample = 2, ...)@stability
  }
  expected <- at(threads = 1)
  expect_gt(length(unique(expected)), 2)
  expect_identical(at(threads = 2, memory = 2^20), expected)
  skip_if_not_installed("future.apply")
  expect_identical(at(shards = 2), expected)
})

test_that("constant columns of a resample raise no warning, and pruned networks keep stabilities", {
  x <- factor_data()
  x[, 1] <- c(1, rep(0, 39))
  expect_silent(net <- gpuCorNetwork(x, threshold = 0.3, resample = 5))
  kept <- gpuPrune(net)
  expect_lt(kept@edges, net@edges)
  both <- merge(as.data.frame(kept), as.data.frame(net), c("from", "to"))
  expect_identical(both$stability.x, both$stability.y)
  expect_equal(summary(net)$stability, quantile(net@stability))
  expect_output(print(net), "stability in resamples: median")
  expect_null(summary(gpuCorNetwork(x, threshold = 0.3))$stability)
})

test_that("what makes no resample is an error", {
  x <- factor_data()
  expect_error(gpuCorNetwork(x, k = 1, resample = 2.5), "'resample' must be a whole number")
  expect_error(gpuCorNetwork(x, k = 1, resample = 2, fraction = 0), "'fraction' must be a number above 0", fixed = TRUE)
  expect_error(gpuCorNetwork(x, k = 1, resample = 2, fraction = 1), "40 of 40 observations; they need fewer than all")
  expect_error(gpuCorNetwork(x, k = 1, resample = 2, fraction = 0.05), "2 of 40 observations; they need at least 3")
  expect_error(gpuCorNetwork(x, k = 1, fraction = 0.5), "'fraction' has a meaning with 'resample' only")
  expect_error(gpuCorNetwork(x, k = 1, resample = 2, file = tempfile()), "leave out 'file'")
  expect_error(gpuCorNetwork(x, p.value = 0.1, df = 20, resample = 2), "'df' is of all observations")
})

test_that("resamples have the observations that p values need", {
  x <- factor_data(12, 6)
  run <- function(method, ...) gpuCorNetwork(x, method = method, resample = 2, ...)
  expect_error(run("distance", p.value = 0.2), "'fraction' is 0.63, .* 8 of 12 observations; they need at least 10")
  expect_error(run("bicor", fdr = 0.2, fraction = 0.3), "'fraction' is 0.3, .* 4 of 12 observations; .* at least 5")
  expect_error(run("pearson", p.value = 0.2, min_obs = 9), "'fraction' is 0.63, .* 8 of 12 .* at least 9")
  expect_length(run("distance", p.value = 0.3, fraction = 0.8)@stability, 6)
  expect_s4_class(run("distance", threshold = 0.3), "gpuCorNetwork")
  expect_s4_class(run("distance", p.value = 0.9, adjust = "maxT", n_perm = 9), "gpuCorNetwork")
})
