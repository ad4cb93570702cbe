# Context likelihood of relatedness (argument normalize).

factors_of <- function(n_obs, n_var) {
  set.seed(1)
  x <- matrix(rnorm(n_obs * 10), n_obs) %*% matrix(rnorm(10 * n_var, sd = 0.3), 10) + rnorm(n_obs * n_var)
  colnames(x) <- paste0("g", seq_len(n_var))
  x
}

test_that("context likelihoods are those of the definition", {
  x <- factors_of(40, 120)
  for (method in c("pearson", "spearman", "kendall")) {
    expected <- clr_by_hand(cor(x, method = method))
    values <- sort(expected[upper.tri(expected)], decreasing = TRUE)
    edges <- gpuCorNetwork(x, density = 0.05, normalize = "clr", method = method, precision = "double",
                           output = "edges")
    expect_equal(edges$clr, values[seq_len(nrow(edges))], tolerance = 1e-10)
    expect_equal(edges$clr, expected[cbind(edges$from, edges$to)], tolerance = 1e-10)
  }
})

test_that("thresholds are those of context likelihoods, in the network and what it prints", {
  x <- factors_of(40, 120)
  expected <- clr_by_hand(cor(x))
  net <- gpuCorNetwork(x, threshold = 2.5, normalize = "clr")
  expect_equal(length(net@x), sum(expected[upper.tri(expected)] >= 2.5))
  expect_identical(net@value, 2.5)
  expect_equal(net@threshold, 2.5)
  expect_output(print(net), "threshold = 2.5: clr >= 2.5")
  expect_named(as.data.frame(net), c("from", "to", "clr"))
  expect_true("context likelihood" %in% texts_of(plot(net)))
  several <- gpuCorNetwork(x, threshold = c(2.5, 4), normalize = "clr")
  expect_named(several, c("2.5", "4"))
  expect_identical(several[[2]]@value, 4)
  expect_equal(several[[1]]@x, net@x)
  expect_true(all(several[[2]]@x >= 4))
  k <- gpuCorNetwork(x, k = 2, normalize = "clr")
  best <- apply(expected, 1, max, na.rm = TRUE)
  full <- as.matrix(k)
  expect_equal(unname(apply(full, 1, max)), unname(best), tolerance = 1e-5)
})

# A large threshold screens pairs by a bound; density = 1 needs the likelihood of each.
test_that("the edges of a threshold are those of all pairs that reach it, to the byte", {
  for (n_obs in c(5, 40)) {
    x <- cbind(factors_of(n_obs, 220), 1)
    x <- cbind(x, x[, 1:3], -x[, 4], x[, 5] + 1e-5 * x[, 6])
    for (method in c("pearson", "kendall")) {
      all <- suppressWarnings(gpuCorNetwork(x, density = 1, normalize = "clr", method = method))
      values <- as.matrix(all)
      for (threshold in c(0.1, 1, 2.5, 6, quantile(all@x, 0.999))) {
        net <- suppressWarnings(gpuCorNetwork(x, threshold = threshold, normalize = "clr", method = method))
        expect_identical(as.matrix(net), values * (values >= threshold))
      }
    }
  }
})

# Of so many columns a sample bounds the weights.
test_that("the edges of a density are the strongest of all pairs, to the byte", {
  x <- cbind(factors_of(40, 600), 1)
  values <- as.matrix(suppressWarnings(gpuCorNetwork(x, density = 1, normalize = "clr")))
  for (density in c(0.001, 0.02, 0.3)) {
    net <- suppressWarnings(gpuCorNetwork(x, density = density, normalize = "clr"))
    expect_identical(as.matrix(net), values * (values >= net@threshold))
    expect_equal(length(net@x), round(density * 600 * 599 / 2), tolerance = 0.01)
  }
})

test_that("the result does not depend on threads, and a plan gives the same", {
  x <- factors_of(40, 450)
  net <- gpuCorNetwork(x, density = 0.02, normalize = "clr", threads = 1)
  expect_identical(gpuCorNetwork(x, density = 0.02, normalize = "clr", threads = 3)@x, net@x)
  path <- tempfile()
  suppressMessages(utils::capture.output({
    gpuCorPlan(path, x, density = 0.02, normalize = "clr", shards = 2)
    for (round in 1:4) for (shard in 1:2) gpuCorRun(path, shard)
  }))
  expect_identical(gpuCorCollect(path)@x, net@x)
  unlink(path, recursive = TRUE)
})

test_that("every back end gives the same bytes", {
  x <- factors_of(105, 700)
  for (method in c("pearson", "spearman", "kendall", "mi")) {
    nets <- lapply(backends(), function(backend) {
      net <- gpuCorNetwork(x, density = 0.02, normalize = "clr", method = method, backend = backend)
      list(net@i, net@p, net@x, net@threshold)
    })
    for (net in nets) expect_identical(net, nets[[1]])
  }
})

test_that("columns without coefficients have no edges", {
  x <- cbind(factors_of(40, 60), flat = 1)
  expect_warning(net <- gpuCorNetwork(x, density = 0.05, normalize = "clr"), "standard deviation is zero")
  expect_equal(sum(as.matrix(net)["flat", ]), 0)
  expected <- clr_by_hand(cor(x[, -61]))
  expect_equal(max(net@x), max(expected, na.rm = TRUE), tolerance = 1e-5)
})

test_that("what has no context likelihood is an error", {
  x <- factors_of(20, 30)
  expect_error(gpuCorNetwork(x, p.value = 0.01, normalize = "clr"), "no p values")
  expect_error(gpuCorNetwork(x, x, density = 0.1, normalize = "clr"), "leave out 'y'")
  expect_error(gpuCorNetwork(list(x, x), density = 0.1, normalize = "clr", combine = "mean"), "lists of subjects")
  expect_error(gpuCorNetwork(x, density = 0.1, normalize = "clr", sign = "positive"), "no sign")
  expect_error(gpuCorNetwork(x, density = 0.1, normalize = "clr", method = "distance"), "use method = \"mi\"")
  expect_error(gpuCorNetwork(x, threshold = -1, normalize = "clr"), "at least 0")
  expect_error(gpuCorNetwork(x, density = 0.1, normalize = "clr", file = tempfile()), "leave out 'file'")
  expect_error(gpuCorNetwork(x, density = 0.1, normalize = "z"), "'normalize'")
  expect_error(gpuPrune(gpuCorNetwork(x, density = 0.1, normalize = "clr")), "no coefficients")
})
