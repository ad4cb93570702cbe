# Data without pairs, and results without edges.

test_that("the threshold of a density without pairs is NA everywhere", {
  for (n_var in 0:1) for (backend in backends()) {
    x <- normal(6, n_var)
    expect_identical(gpuCorNetwork(x, density = 0.5, backend = backend)@threshold, NA_real_)
    expect_identical(gpuConnectivity(x, density = 0.5, backend = backend)$threshold, NA_real_)
    expect_identical(gpuConnectivity(x, density = 0.5, power = 2, backend = backend)$threshold, NA_real_)
    windows <- function(...) gpuCorWindows(x, width = 5, density = 0.5, backend = backend, ...)
    expect_identical(windows(output = "connectivity")$threshold, c(NA_real_, NA_real_))
    expect_identical(vapply(unclass(windows(output = "network")), slot, 0, "threshold"), c(NA_real_, NA_real_))
    expect_identical(summary(windows(output = "network"))$threshold, c(NA_real_, NA_real_))
  }
  expect_output(print(gpuConnectivity(normal(6, 1), density = 0.5)), "\n0 edges\n")
  expect_output(print(summary(gpuConnectivity(normal(6, 1), density = 0.5))), "\n0 edges\n")
  expect_output(print(summary(gpuCorNetwork(normal(6, 1), density = 0.5))), "density = 0.5")
})

test_that("several densities of data without pairs make networks without edges", {
  for (x in list(normal(6, 1), normal(6, 0))) {
    networks <- gpuCorNetwork(x, density = c(0.5, 0.1))
    expect_named(networks, c("0.5", "0.1"))
    for (net in networks) expect_identical(list(net@edges, net@threshold), list(0, NA_real_))
  }
})

test_that("several values are an error where one network is made", {
  x <- normal(20, 5)
  for (keep in c("network", "connectivity")) {
    expect_error(gpuCorWindows(x, width = 10, output = keep, density = c(0.5, 0.1)),
                 "'density' must be a number above 0 and up to 1, not c\\(0.5, 0.1\\)")
  }
  expect_error(gpuCorWindows(x, width = 10, output = "moments", k = 1:2), "'k' must be a whole number .*, not 1:2")
  expect_error(gpuCorCompare(x, -x, density = c(0.5, 0.1)), "'density' must be a number")
})

test_that("products of coefficients of all pairs are those of the matrix", {
  r <- gpuCor(normal(20, 5))
  m <- as.matrix(r)
  v <- matrix(1:10, 5)
  for (both in list(list(r, v), list(t(v), r), list(r, r))) {
    full <- lapply(both, function(x) if (inherits(x, "dist")) as.matrix(x) else x)
    expect_identical(do.call(gpucor:::`%*%.allPairs`, both), full[[1]] %*% full[[2]])
    if (getRversion() >= "4.3.0") expect_identical(both[[1]] %*% both[[2]], full[[1]] %*% full[[2]])
    if (nrow(full[[1]]) == nrow(full[[2]])) {
      expect_identical(product("crossprod", both[[1]], both[[2]]), base::crossprod(full[[1]], full[[2]]))
    }
  }
  expect_identical(product("crossprod", r), base::crossprod(m))
  expect_identical(product("tcrossprod", r), base::tcrossprod(m))
  expect_identical(product("tcrossprod", r, t(v)), base::tcrossprod(m, t(v)))
})

test_that("eigenvector centrality of no columns is empty", {
  expect_identical(gpuConnectivity(normal(6, 0), maps = "eigenvector")$eigenvector, numeric())
  several <- gpuConnectivity(normal(6, 0), threshold = c(0.1, 0.5), maps = "eigenvector")
  expect_identical(dim(several$eigenvector), c(0L, 2L))
})

test_that("summaries of associations without tests have no warning and no negative degrees of freedom", {
  for (data in list(list(normal(6, 2), normal(6, 0)), list(normal(1, 3), normal(1, 2)))) {
    said <- warnings_of(found <- summary(gpuAssociation(data[[1]], data[[2]], use = "everything", output = "matrix")))
    expect_identical(setdiff(said, grep("missing|zero", said, value = TRUE)), character())
    expect_no_match(capture.output(print(found)), "-[0-9]+ degree")
  }
})
