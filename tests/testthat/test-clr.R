# Context likelihood of relatedness (argument normalize).

factors_of <- function(n_obs, n_var) {
  set.seed(1)
  x <- matrix(rnorm(n_obs * 10), n_obs) %*% matrix(rnorm(10 * n_var, sd = 0.3), 10) + rnorm(n_obs * n_var)
  colnames(x) <- paste0("g", seq_len(n_var))
  x
}

test_that("a pair with a likelihood of 0 is no edge, whatever density or k ask for", {
  set.seed(4)
  x <- matrix(rnorm(600), 30)
  for (net in list(gpuCorNetwork(x, density = 0.9, normalize = "clr"), gpuCorNetwork(x, k = 15, normalize = "clr"),
                   gpuCorNetwork(x, threshold = 0, normalize = "clr"),
                   gpuCorNetwork(x[, 1:5], x[, 6:20], density = 0.9, normalize = "clr"))) {
    expect_true(all(net@x > 0))
    expect_gt(length(net@x), 20)
  }
})

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

# Regulators are five of the genes, and seven that no gene is named like.
regulators_of <- function(genes) {
  x <- cbind(genes[, c(60, 3, 17, 118, 2)], factors_of(nrow(genes), 7)[, 7:1] + genes[, 21:27])
  colnames(x)[6:12] <- paste0("r", 1:7)
  x
}

test_that("context likelihoods of 'x' with 'y' are those of the definition, by every criterion", {
  genes <- factors_of(40, 120)
  regulators <- regulators_of(genes)
  is_self <- outer(colnames(regulators), colnames(genes), "==")
  expect_equal(sum(is_self), 5)
  strongest <- function(values, k) t(apply(values, 1, function(one) one >= sort(one, decreasing = TRUE)[k]))
  for (method in c("pearson", "spearman", "kendall")) {
    expected <- clr_by_hand(cor(regulators, genes, method = method), colnames(regulators), colnames(genes))
    near <- strongest(expected, 2)
    back <- t(strongest(t(expected), 2))
    wanted <- list(list(threshold = 2.5, is_edge = expected >= 2.5),
                   list(density = 0.1, is_edge = expected >= sort(expected, decreasing = TRUE)[144]),
                   list(k = 2, is_edge = near | back), list(k = 2, mutual = TRUE, is_edge = near & back))
    for (way in wanted) for (in_blocks in c(FALSE, TRUE)) {
      criterion <- c(way[names(way) != "is_edge"], if (in_blocks) list(memory = 1))
      net <- do.call(gpuCorNetwork, c(list(regulators, genes, method = method, normalize = "clr",
                                           precision = "double", backend = "cpu"), criterion))
      found <- as.matrix(net)
      expect_identical(unname(found > 0), unname(way$is_edge), label = paste(method, toString(criterion)))
      expect_equal(found[way$is_edge & !is_self], expected[way$is_edge & !is_self], tolerance = 1e-10)
    }
  }
  expect_output(print(net), "12 x 120 variables.*context likelihood")
})

test_that("neither order, nor side, nor other columns' names change context likelihoods of 'x' with 'y'", {
  genes <- factors_of(40, 300)
  regulators <- regulators_of(genes)
  of <- function(x, y, ...) gpuCorNetwork(x, y, normalize = "clr", ...)
  for (ways in list(list(density = 0.05), list(threshold = 2), list(k = 3))) {
    net <- as.matrix(do.call(of, c(list(regulators, genes), ways)))
    expect_gt(sum(net > 0), 20)
    expect_identical(t(as.matrix(do.call(of, c(list(genes, regulators), ways)))), net)
    shuffled <- as.matrix(do.call(of, c(list(regulators[, 12:1], genes[, c(151:300, 150:1)]), ways)))
    expect_identical(shuffled[colnames(regulators), colnames(genes)], net)
    reversed <- as.matrix(do.call(of, c(list(regulators[40:1, ], genes[40:1, ]), ways)))
    expect_equal(reversed, net, tolerance = 1e-4) # sums in another order
    expect_identical(as.matrix(do.call(of, c(list(regulators, genes, threads = 3), ways))), net)
  }
  # Without a name in common, all pairs count: one of 300 that is far above all others makes the background wide.
  named <- as.matrix(of(regulators, genes, threshold = 0))
  alone <- as.matrix(of(regulators, unname(genes), threshold = 0))
  expect_lt(sum(alone[1:5, ]), sum(named[1:5, ]) / 1.2)
  unnamed <- regulators
  colnames(unnamed)[2] <- ""
  colnames(genes)[9] <- ""
  expect_equal(unname(as.matrix(of(unnamed, genes, threshold = 0))[-2, -3]), unname(named[-2, -3]))
})

# Of so many columns a sample bounds the weights, and each column keeps its background in the sample.
test_that("the edges of a density between many columns are the strongest of all pairs, to the byte", {
  genes <- cbind(factors_of(40, 900), 1)
  regulators <- factors_of(40, 700)[, 700:1] + genes[, 1:700]
  of <- function(...) suppressWarnings(gpuCorNetwork(regulators, genes, normalize = "clr", ...))
  values <- as.matrix(of(density = 1))
  for (density in c(0.001, 0.02, 0.3)) {
    net <- of(density = density)
    expect_identical(as.matrix(net), values * (values >= net@threshold))
    expect_equal(length(net@x), round(density * 700 * 900), tolerance = 0.01)
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
  y <- cbind(x[, 21:30], factors_of(40, 90)[, 81:90])
  between <- gpuCorNetwork(x, y, density = 0.02, normalize = "clr")
  planned <- function(...) {
    path <- tempfile()
    on.exit(unlink(path, recursive = TRUE))
    suppressMessages(utils::capture.output({
      gpuCorPlan(path, ..., density = 0.02, normalize = "clr", shards = 2)
      for (round in 1:4) for (shard in 1:2) gpuCorRun(path, shard)
    }))
    gpuCorCollect(path)
  }
  expect_identical(planned(x)@x, net@x)
  expect_identical(planned(x, y)@x, between@x)
})

test_that("every back end gives the same bytes", {
  x <- factors_of(105, 700)
  sides <- list(NULL, regulators_of(x), unname(x[, 1:200]))
  for (y in sides) for (method in c("pearson", "spearman", "kendall", "mi")) {
    nets <- lapply(backends(), function(backend) {
      net <- gpuCorNetwork(x, y, density = 0.02, normalize = "clr", method = method, backend = backend)
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
  expect_error(gpuCorNetwork(x, density = 0.1, normalize = "clr", pairs = pairMask(1:30, same = TRUE)),
               "leave out 'pairs'")
  expect_error(gpuCorNetwork(list(x, x), density = 0.1, normalize = "clr", combine = "mean"), "lists of subjects")
  expect_error(gpuCorNetwork(x, density = 0.1, normalize = "clr", sign = "positive"), "no sign")
  expect_error(gpuCorNetwork(x, density = 0.1, normalize = "clr", method = "distance"), "use method = \"mi\"")
  expect_error(gpuCorNetwork(x, threshold = -1, normalize = "clr"), "at least 0")
  expect_error(gpuCorNetwork(x, density = 0.1, normalize = "clr", file = tempfile()), "leave out 'file'")
  expect_error(gpuCorNetwork(x, density = 0.1, normalize = "z"), "'normalize'")
  expect_error(gpuPrune(gpuCorNetwork(x, density = 0.1, normalize = "clr")), "no coefficients")
})
