# The two orders of a triangle, and the arithmetic of positions.

# All pairs of n variables, in order.
all_pairs <- function(n, order) {
  pairs <- which(upper.tri(diag(n)), arr.ind = TRUE) # column by column
  if (order == "row") pairs <- pairs[order(pairs[, 1], pairs[, 2]), , drop = FALSE]
  matrix(as.numeric(pairs), ncol = 2, dimnames = list(NULL, c("i", "j")))
}

# From the last pair of row k (column k + 1) to the first of the next.
steps_over_ends <- function(k, n, order) {
  position <- function(i, j) trianglePosition(i, j, n, order)
  if (order == "row") position(k + 1, k + 2) - position(k, n) else position(1, k + 2) - position(k, k + 1)
}

test_that("gpuCorTriangle() is cor()'s triangle, row by row or column by column", {
  x <- rounded(12, 70)
  for (backend in backends()) for (method in all_methods) {
    truth <- cor(x, method = method)
    rows <- gpuCorTriangle(x, method = method, order = "row", backend = backend)
    columns <- gpuCorTriangle(x, method = method, order = "column", backend = backend)
    expect_equal(rows, t(truth)[lower.tri(truth)], tolerance = tolerance[[method]])
    expect_equal(columns, truth[upper.tri(truth)], tolerance = tolerance[[method]])
    expect_null(attributes(rows))
    expect_null(attributes(columns))
    expect_identical(rows, as.vector(gpuCor(x, method = method, backend = backend)))
  }
})

test_that("gpuCorTriangle() treats missing and infinite values as cor() does", {
  x <- with_missing(with_infinite(normal(15, 10)), 0.1)
  for (backend in backends()) for (method in all_methods) for (use in c("everything", "pairwise.complete.obs")) {
    truth <- suppressWarnings(cor(x, use = use, method = method))
    columns <- suppressWarnings(gpuCorTriangle(x, method, use, "column", backend = backend))
    expect_equal(columns, truth[upper.tri(truth)], tolerance = tolerance[[method]])
    expect_identical(is.nan(columns), is.nan(truth[upper.tri(truth)]))
  }
  expect_length(gpuCorTriangle(normal(5, 1)), 0)
  expect_length(gpuCorTriangle(matrix(0, 5, 0)), 0)
  expect_error(gpuCorTriangle(1:5), "'x' must be matrix-like, with a variable in each column; it is a vector")
  expect_error(gpuCorTriangle(array(1, 2:4)), "'x' must be matrix-like, .*; it has 3 dimensions")
  expect_error(gpuCorTriangle(mean), "'x' must be numeric, not of class function", fixed = TRUE)
})

test_that("the columns' order does not change over tiles' edges", {
  x <- normal(5, 2100)
  for (backend in backends()) {
    pairs <- sample_pairs(2100)
    columns <- gpuCorTriangle(x, method = "kendall", order = "column", backend = backend)
    expect_pairs_like_cor(columns[trianglePosition(pairs$i, pairs$j, 2100, "column")], pairs, x, method = "kendall")
  }
})

test_that("positions and pairs of small triangles are those counted out", {
  for (order in c("row", "column")) for (n in c(2:12, 50)) {
    pairs <- all_pairs(n, order)
    k <- seq_len(nrow(pairs))
    expect_identical(triangleIndex(k, n, order), pairs)
    expect_identical(trianglePosition(pairs[, "i"], pairs[, "j"], n, order), as.numeric(k))
    expect_identical(trianglePosition(pairs[, "j"], pairs[, "i"], n, order), as.numeric(k)) # either way round
  }
})

test_that("triangles of any size up to 2^53 pairs are exact", {
  set.seed(5)
  for (n in c(46340, 46341, 65535, 65536, 65537, 1e5, 1e6, 2^26, 2^27)) for (order in c("row", "column")) {
    last <- n * (n - 1) / 2
    k <- c(1, 2, n - 1, n, last - 1, last, floor(runif(300) * last) + 1)
    pairs <- triangleIndex(k, n, order)
    expect_true(all(pairs[, "i"] >= 1 & pairs[, "i"] < pairs[, "j"] & pairs[, "j"] <= n))
    expect_identical(trianglePosition(pairs[, "i"], pairs[, "j"], n, order), k)
    expect_identical(triangleIndex(last, n, order)[1, ], c(i = n - 1, j = n))
    # Where a rounded square root goes wrong.
    expect_identical(steps_over_ends(floor(runif(200) * (n - 2)) + 1, n, order), rep(1, 200))
  }
})

test_that("larger triangles come in 64-bit integers", {
  skip_if_not_installed("bit64")
  n <- 2^31
  last <- bit64::as.integer64("2305843008139952128") # as many pairs as n have
  set.seed(6)
  i <- c(1, 1, n - 1, n / 2, floor(runif(300) * (n - 1)) + 1)
  j <- c(2, n, n, n / 2 + 1, floor(runif(300) * n) + 1)
  j[i == j] <- j[i == j] + 1
  for (order in c("row", "column")) {
    k <- trianglePosition(i, j, n, order)
    expect_s3_class(k, "integer64", exact = TRUE)
    expect_true(all(k >= bit64::as.integer64(1) & k <= last))
    expect_identical(unname(triangleIndex(k, n, order)), cbind(pmin(i, j), pmax(i, j)))
    expect_true(trianglePosition(n - 1, n, n, order) == last)
    expect_identical(triangleIndex(last, n, order)[1, ], c(i = n - 1, j = n))
    expect_true(all(steps_over_ends(floor(runif(200) * (n - 2)) + 1, n, order) == bit64::as.integer64(1)))
    expect_identical(triangleIndex(bit64::as.integer64(3), n, order), triangleIndex(3, n, order))
  }
  # Where all positions asked for fit a double, they are doubles.
  expect_identical(trianglePosition(1, 3, n), 2)
})

test_that("positions are vectors like any other", {
  expect_identical(trianglePosition(1, 2:5, 5), as.numeric(1:4))
  expect_identical(trianglePosition(2:5, 1L, 5), as.numeric(1:4))
  expect_identical(trianglePosition(integer(), 1, 5), numeric())
  expect_identical(triangleIndex(integer(), 5), matrix(numeric(), 0, 2, dimnames = list(NULL, c("i", "j"))))
  expect_identical(triangleIndex(4L, 5L, "row"), triangleIndex(4, 5))
})

test_that("what is outside a triangle is an error that names it", {
  for (k in list(0, 11, -1, 1e10, 0L, 11L)) {
    expect_error(triangleIndex(k, 5), "'k' is .* at element 1; it must be a whole number from 1 to 10$")
  }
  expect_error(triangleIndex(c(1, 11), 5), "'k' is 11 at element 2; it must be a whole number from 1 to 10$")
  expect_error(triangleIndex(0, 1e6), "from 1 to 499999500000$")
  expect_error(trianglePosition(1, 1e5 + 1, 1e5), "from 1 to 100000$")
  expect_error(triangleIndex(2, 2, "column"), "'k' is 2 at element 1; it must be a whole number from 1 to 1$")
  expect_error(triangleIndex(1.5, 5), "'k' is 1.5 at element 1; it must be a whole number")
  expect_error(triangleIndex(NA, 5), "'k' ")
  expect_error(triangleIndex(NA_real_, 5), "'k' is NA")
  expect_error(triangleIndex(NaN, 5), "'k' is NaN")
  expect_error(triangleIndex(2^53 + 2, 2^31), "'k' is 9007199254740994 at element 1; .* 9007199254740992; .* integer64")
  expect_error(triangleIndex("1", 5), "'k' must be numeric, not of class character")
  for (n in list(1, 0, 2.5, 2^31 + 1, NA, "5", 2:3)) {
    expect_error(triangleIndex(1, n), "'n' must be a whole number")
    expect_error(trianglePosition(1, 2, n), "'n' must be a whole number")
  }
  expect_error(trianglePosition(3, 3, 5), "'i' and 'j' are both 3 at element 1", fixed = TRUE)
  expect_error(trianglePosition(1, 6, 5), "'j' is 6 at element 1; it must be a whole number from 1 to 5", fixed = TRUE)
  expect_error(trianglePosition(0, 2, 5), "'i' is 0")
  expect_error(trianglePosition(c(1, NA), 2, 5), "'i' is NA at element 2")
  expect_error(triangleIndex(1, 5, "diagonal"), "'order' must be one of")
})

test_that("positions in 64-bit integers are checked, too", {
  skip_if_not_installed("bit64")
  expect_error(triangleIndex(bit64::as.integer64(11), 5), "'k' is 11")
  expect_error(triangleIndex(bit64::as.integer64(0), 5), "'k' is 0")
  expect_error(triangleIndex(bit64::as.integer64(NA), 5), "'k' is ")
})

test_that("numbers of variables are recycled whole", {
  expect_identical(trianglePosition(1, 2:4, 5), c(1, 2, 3))
  expect_identical(trianglePosition(1:4, c(5, 5), 5), trianglePosition(1:4, rep(5, 4), 5))
  expect_error(trianglePosition(1:2, 3:5, 5), "'i' has 2 values and 'j' has 3; give as many of both, or one for all")
})
