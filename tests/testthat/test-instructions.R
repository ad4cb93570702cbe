# The CPU back end's kernels for each instruction set that this machine has: the same to the last bit, as products of
# two floats are exact in double, and signs are counted. Sizes are one off a panel, a block, a slice and a tile.

sets <- gpuInfo()$instructions
with_set <- function(set, code) with_env(c(GPUCOR_CPU = set), code)

expect_same_on_all <- function(run, label = "") {
  first <- with_set(sets[1], run())
  for (set in sets[-1]) expect_identical(with_set(set, run()), first, label = paste(set, label))
  first
}
cpu_cor <- function(...) suppressWarnings(gpuCor(..., backend = "cpu"))

some_data <- function(n_obs, n_var) {
  x <- normal(n_obs, n_var)
  list(distinct = x, ties = round(x, 1), holes = with_missing(round(x, 1), 0.02), constants = with_constants(x))
}

test_that("all instruction sets give the same triangle, in both orders, and rectangle", {
  rows <- covering(n_obs = c(2, 3, 11, 12, 13, 64, 65, 129), n_var = c(2, 15, 17, 33, 65, 257), method = all_methods,
                   kind = c("distinct", "ties", "holes", "constants"))
  for_rows(rows, function(n_obs, n_var, method, kind, label) {
    data <- some_data(n_obs, n_var)[[kind]]
    r <- expect_same_on_all(function() cpu_cor(data, method = method, output = "matrix"), label)
    column <- with_set(sets[1], suppressWarnings(gpuCorTriangle(data, method = method, order = "column",
                                                                backend = "cpu")))
    expect_identical(as.vector(column), r[upper.tri(r)], label = label)
    expect_same_on_all(function() cpu_cor(data, data[, 1:2], method = method), label)
  })
  expect_nothing_live()
})

test_that("all instruction sets give the same where rows are missing pair by pair", {
  for (n_obs in c(3, 12, 65)) for (n_var in c(2, 17, 300)) {
    data <- with_missing(rounded(n_obs, n_var), 0.1)
    truth <- suppressWarnings(cor(data[, 1:2], data, "pairwise", "kendall"))
    r <- expect_same_on_all(function() cpu_cor(data, use = "pairwise", method = "kendall", output = "matrix"))
    expect_equal(r[1:2, ], truth, tolerance = 1e-12)
    expect_same_on_all(function() cpu_cor(data, use = "pairwise", method = "distance"))
  }
  expect_same_on_all(function() cpu_cor(with_missing(normal(3100, 10), 0.1), use = "pairwise", method = "distance"))
})

test_that("all instruction sets give the same for columns that are opened in slices", {
  for (n_obs in c(256, 257, 400)) for (data in some_data(n_obs, 70)) { # 512 words are a slice
    r <- expect_same_on_all(function() cpu_cor(data, method = "kendall", output = "matrix"), n_obs)
    truth <- suppressWarnings(cor(data[, 1:3], data[, 69:70], method = "kendall"))
    expect_equal(r[1:3, 69:70], truth, tolerance = 1e-12)
  }
  for (n_obs in c(2048, 2049, 4100)) for (method in c("pearson", "spearman")) { # 2,048 observations are one
    data <- normal(n_obs, 70)
    r <- expect_same_on_all(function() cpu_cor(data, method = method, output = "matrix"), n_obs)
    expect_equal(r, cor(data, method = method), tolerance = 1e-7)
    expect_same_on_all(function() gpuCorNetwork(data, threshold = 0.03, method = method, backend = "cpu"), n_obs)
  }
})

test_that("tiles with and without ties stand side by side", {
  data <- normal(9, 2048 + 40)
  data[, 2048 + 1:40] <- round(data[, 2048 + 1:40])
  r <- expect_same_on_all(function() cpu_cor(data, method = "kendall", output = "matrix"))
  some <- c(1:20, 2000, 2048, 2049, 2088)
  expect_equal(r[some, some], suppressWarnings(cor(data[, some], method = "kendall")), tolerance = 1e-12)
})

test_that("all instruction sets give the same networks and sums", {
  data <- round(normal(40, if (full_tier()) 700 else 300), 1)
  for (method in all_methods) {
    expect_same_on_all(function() gpuCorNetwork(data, threshold = 0.3, method = method, backend = "cpu"), method)
    expect_same_on_all(function() gpuCorNetwork(data, density = 0.01, method = method, backend = "cpu"), method)
    expect_same_on_all(function() gpuCorNetwork(data, k = 3, method = method, backend = "cpu"), method)
    sums <- function() gpuConnectivity(data, threshold = 0.3, power = c(1, 6, 40), method = method, backend = "cpu")
    expect_same_on_all(sums, method)
  }
})

# Bytes lose most of columns with few large values; with too many of those, floats rule out pairs.
test_that("all instruction sets give the same networks of columns that are rounded to bytes", {
  for (power in c(1, 3, 9)) for (n_obs in c(7, 30, 130)) {
    data <- normal(n_obs, 300)^power
    data[, 1:150] <- data[, 1:150] + rowMeans(data)
    data[, 3] <- 0
    network <- expect_same_on_all(function() {
      suppressWarnings(gpuCorNetwork(data, threshold = 0.5, backend = "cpu"))
    }, paste(power, n_obs))
    r <- suppressWarnings(cor(data))
    expect_identical(length(network@x), sum(abs(r[upper.tri(r)]) >= 0.5, na.rm = TRUE))
    expect_same_on_all(function() suppressWarnings(gpuCorNetwork(data, fdr = 0.01, backend = "cpu")))
    expect_same_on_all(function() {
      suppressWarnings(gpuCorCompare(data, normal(20, 300), density = 0.01, n_perm = 3, backend = "cpu"))
    })
  }
  expect_nothing_live()
})

test_that("an instruction set that the machine does not have is named with those that it has", {
  expect_error(with_set("mmx", gpuCor(normal(5, 3), backend = "cpu")),
               paste0("GPUCOR_CPU = \"mmx\".*", paste0("\"", sets, "\"", collapse = ", ")))
  expect_nothing_live()
})
