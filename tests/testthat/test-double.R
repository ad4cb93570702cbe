# precision = "double": coefficients within 1e-13 of cor()'s, which sums in long double, and the same bits on every back
# end, of any instruction set, by any number of threads and in any rounds.

in_double <- function(...) suppressWarnings(gpuCor(..., precision = "double"))

# Means that are large to the deviations, ties, copies, constants and very large and small values.
hard_data <- function(n_obs, n_var) {
  x <- with_constants(with_duplicates(normal(n_obs, n_var)))
  x[, 1] <- x[, 1] + 1e8
  x[, 2] <- round(x[, 2]) - 1e8
  x[, 3] <- 1e120 * x[, 3]
  x[, 4] <- 1e-120 * x[, 4]
  x
}

test_that("coefficients are cor()'s within 1e-13, whatever is missing", {
  for (backend in backends()) for (method in all_methods) for (use in all_uses) {
    for (share in c(0, 0.02)) {
      x <- with_missing(hard_data(40, 13), share)
      y <- with_missing(normal(40, 5, seed = 3), share)
      label <- paste("double,", share, "missing")
      expect_like_cor(x, NULL, use, method, backend, label, precision = "double", within = 1e-13)
      expect_like_cor(x, y, use, method, backend, label, precision = "double", within = 1e-13)
    }
  }
  expect_nothing_live()
})

test_that("and of any number of observations and of columns, one off a run, a slice, a block and a tile", {
  for (backend in backends()) for (method in c("pearson", "spearman")) {
    for (n_obs in c(0, 1, 2, 3, 15, 17, 127, 128, 129, 255, 257, 2047, 2049)) {
      expect_like_cor(hard_data(n_obs, 9), NULL, "everything", method, backend, paste("double,", n_obs),
                      precision = "double", within = 1e-13)
    }
    for (n_var in c(1, 2, 15, 17, 63, 64, 65, 129, 257, if (full_tier() || method == "pearson") 2049)) {
      x <- normal(if (n_var < 2049) 20 else 7, n_var)
      wrong <- differences(in_double(x, method = method, output = "matrix", backend = backend), quick_cor(x, method),
                           1e-13)
      expect(length(wrong) == 0, paste(c(backend, method, n_var, wrong), collapse = " "))
    }
  }
})

test_that("bits are the same on all back ends and instruction sets, by any threads and memory", {
  for (method in c("pearson", "spearman")) for (n_obs in c(3, 129, 2200)) {
    x <- hard_data(n_obs, 300)
    truth <- in_double(x, method = method, output = "matrix", backend = "cpu", threads = 1)
    expect_true(all(truth[!is.na(truth)] >= -1 & truth[!is.na(truth)] <= 1))
    for (set in gpuInfo()$instructions) {
      with_env(c(GPUCOR_CPU = set), expect_identical(in_double(x, method = method, output = "matrix", backend = "cpu"),
                                                     truth, label = paste(method, n_obs, set)))
    }
    for (backend in backends()) {
      expect_identical(in_double(x, method = method, output = "matrix", backend = backend, memory = 1), truth)
      upper <- suppressWarnings(gpuCorTriangle(x, method = method, order = "column", backend = backend,
                                               precision = "double"))
      expect_identical(upper, truth[upper.tri(truth)])
      lower <- in_double(x, method = method, backend = backend) # so many pairs would be compact in single precision
      expect_identical(as.vector(lower), truth[lower.tri(truth)])
      distance <- suppressWarnings(gpuDist(t(x), method = method, backend = backend, precision = "double"))
      expect_identical(as.vector(distance), 1 - truth[lower.tri(truth)])
      rectangle <- in_double(x[, 1:70], x[, 65:300], method = method, backend = backend)
      off <- row(rectangle) != col(rectangle) + 64 # a column with itself is 1 by definition
      expect_identical(rectangle[off], truth[1:70, 65:300][off])
    }
  }
  expect_nothing_live()
})

test_that("a column and its copy have exactly 1, and its mirror image -1", {
  x <- normal(77, 2)
  both <- cbind(x, x, -x)
  for (backend in backends()) for (method in c("pearson", "spearman")) {
    r <- in_double(both, method = method, output = "matrix", backend = backend)
    expect_identical(diag(r[1:2, 3:4]), c(1, 1))
    expect_identical(diag(r[1:2, 5:6]), c(-1, -1))
  }
})

test_that("edges of a network are decided by coefficients in double, and have these as values", {
  x <- with_constants(normal(60, 150))
  y <- normal(60, 40, seed = 4)
  for (method in all_methods) {
    r <- in_double(x, method = method, output = "matrix", backend = "cpu")
    diag(r) <- 0
    r[is.na(r)] <- 0
    weights <- sort(abs(r[upper.tri(r)]), decreasing = TRUE)
    for (backend in backends()) for (k in c(1, 100, 2000)) {
      network <- function(...) {
        suppressWarnings(gpuCorNetwork(x, ..., method = method, backend = backend, precision = "double"))
      }
      kept <- r * (abs(r) >= weights[k])
      expect_identical(as.matrix(network(threshold = weights[k])), kept, ignore_attr = TRUE) # to the last bit
      density <- network(density = k / choose(150, 2))
      expect_identical(as.matrix(density), kept, ignore_attr = TRUE)
      expect_identical(density@threshold, weights[k])
      sums <- suppressWarnings(gpuConnectivity(x, threshold = weights[k], power = 2, method = method,
                                               backend = backend, precision = "double"))
      expect_identical(sums$degree, colSums(kept != 0))
      expect_equal(sums$strength, colSums(abs(kept)), tolerance = 1e-14)
      expect_equal(as.vector(sums$soft), colSums(r^2), tolerance = 1e-13)
      other <- suppressWarnings(gpuCorNetwork(x, y, threshold = 0.3, method = method, backend = backend,
                                              precision = "double"))
      truth <- in_double(x, y, method = method, backend = "cpu")
      truth[is.na(truth) | abs(truth) < 0.3] <- 0
      expect_identical(as.matrix(other), truth, ignore_attr = TRUE)
    }
  }
  expect_nothing_live()
})

test_that("single precision would decide some pairs otherwise, and is what is had without asking", {
  x <- normal(50, 80)
  truth <- cor(x)
  single <- gpuCor(x, output = "matrix", backend = "cpu")
  expect_identical(gpuCor(x, output = "matrix", backend = "cpu", precision = "single"), single)
  expect_gt(max(abs(single - truth)), 1e-10)
  expect_lt(max(abs(in_double(x, output = "matrix", backend = "cpu") - truth)), 1e-14)
  expect_identical(gpuCor(x, method = "kendall", precision = "double"), gpuCor(x, method = "kendall"),
                   ignore_attr = "call")
})

test_that("distances and tests have it, too, and what is not a precision is an error", {
  x <- hard_data(30, 12)
  for (backend in backends()) {
    d <- suppressWarnings(gpuDist(t(x), method = "pearson", backend = backend, precision = "double"))
    r <- in_double(x, backend = backend)
    expect_identical(as.vector(d), 1 - as.vector(r))
    test <- suppressWarnings(gpuCorTest(x, backend = backend, precision = "double"))
    expect_identical(as.vector(test$r), as.vector(r))
  }
  expect_error(gpuCor(x, precision = "half"), "'precision' must be one of \"single\", \"double\"", fixed = TRUE)
})

test_that("a plan has its precision, whoever runs its shares", {
  x <- normal(40, 300)
  for (backend in backends()) for (method in c("pearson", "spearman")) {
    path <- quiet_plan(tempfile("plan"), x, density = 0.01, method = method, precision = "double", shards = 2,
                       backend = backend)
    quiet_run(path, "free", backend = backend)
    expect_collected(path, gpuCorNetwork(x, density = 0.01, method = method, precision = "double", backend = "cpu"))
    unlink(path, recursive = TRUE)
    path <- quiet_plan(tempfile("plan"), x, method = method, verb = "gpuCor", precision = "double", shards = 2,
                       backend = backend)
    quiet_run(path, "free", backend = backend)
    expect_identical(as.vector(gpuCorCollect(path)), as.vector(in_double(x, method = method, backend = "cpu")))
    unlink(path, recursive = TRUE)
  }
  invisible(gc()) # edges that a round had found before its plan ended there
  expect_nothing_live()
})
