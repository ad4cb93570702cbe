# method = "given": matrices of coefficients that one has are looked up in the place of products.

set.seed(1)
data <- lapply(1:9, function(i) {
  x <- matrix(rnorm(30 * 7), 30) %*% (diag(7) + 0.2)
  colnames(x) <- letters[1:7]
  x
})
r <- lapply(data, cor)
z_of <- function(r) vapply(r, function(m) atanh(m[lower.tri(m)]), numeric(21))
plain <- function(x) as.vector(x)

test_that("groups of given matrices are compared as those of the data that they are of", {
  for (backend in backends()) {
    given <- gpuCorCompare(r[1:4], r[5:9], method = "given", backend = backend)
    each <- apply(z_of(r), 1, function(z) unlist(t.test(z[1:4], z[5:9], var.equal = TRUE)[c("statistic", "p.value")]))
    expect_equal(plain(given$statistic), unname(each[1, ]), tolerance = 1e-10)
    expect_equal(plain(given$p.value), unname(each[2, ]), tolerance = 1e-10)
    expect_true(all(is.na(unlist(given$n))))
    expect_output(print(given), "Given coefficients, differences of z of 4 subjects against 5 subjects, 21 tests")
  }
  as_dist <- gpuCorCompare(lapply(r, as.dist)[1:4], lapply(r, as.dist)[5:9], method = "given")
  expect_identical(plain(as_dist$p.value), plain(given$p.value))
  expect_identical(attr(as_dist$p.value, "Labels"), letters[1:7])
  expect_identical(plain(gpuCorCompare(function(i) r[[i]], function(i) r[[i + 4]], method = "given",
                                       subjects = c(4, 5))$p.value), plain(given$p.value))
  net <- gpuCorCompare(r[1:4], r[5:9], method = "given", p.value = 0.3, output = "edges")
  expect_identical(nrow(net), sum(plain(given$p.value) <= 0.3))
  threshold <- gpuCorCompare(r[1:4], r[5:9], method = "given", threshold = 1, n_perm = 9, components = "size")
  expect_identical(threshold@components$table$size[1] > 0, TRUE)
})

test_that("Fisher's z and other numbers are compared as they are", {
  z <- lapply(r, function(m) `diag<-`(atanh(m), 0))
  given <- gpuCorCompare(r[1:4], r[5:9], method = "given")
  as_z <- gpuCorCompare(z[1:4], z[5:9], method = "given", options = list(values = "z"))
  expect_equal(plain(as_z$difference), plain(given$difference), tolerance = 1e-12)
  large <- lapply(z, function(m) 7.9 * m / max(abs(unlist(z))))
  expect_warning(of_large <- gpuCorCompare(large, method = "given", options = list(values = "z")),
                 "2 pairs have a coefficient of 1 or -1, or nearly, in many subjects")
  expect_equal(plain(of_large$p.value),
               apply(z_of(r), 1, function(z) t.test(z)$p.value), tolerance = 1e-8)
  expect_error(gpuCorCompare(lapply(z, `*`, 5), method = "given"),
               "values up to .*; options = list\\(values = \"z\"\\)")
  expect_error(gpuCorCompare(lapply(z, `*`, 99), method = "given", options = list(values = "z")),
               "subject 1: .* must have none above 8; divide them by a number")
})

test_that("other functions take given coefficients of one subject or several", {
  mean_r <- Reduce(`+`, r) / 9
  for (backend in backends()) {
    expect_equal(plain(gpuCor(r, method = "given", combine = "mean", backend = backend)),
                 mean_r[lower.tri(mean_r)], tolerance = 1e-12)
  }
  expect_identical(plain(gpuCor(r[[1]], method = "given")), r[[1]][lower.tri(r[[1]])])
  expect_equal(plain(gpuCor(split(r, rep(1:3, each = 3)), method = "given", combine = "icc2")),
               plain(gpuCor(split(data, rep(1:3, each = 3)), combine = "icc2")), tolerance = 1e-5)
  for (arguments in list(list(threshold = 0.3), list(density = 0.2), list(k = 2), list(p.value = 0.1, df = 28))) {
    own <- do.call(gpuCorNetwork, c(list(r[[2]], method = "given", output = "edges"), arguments))
    expect_equal(own, do.call(gpuCorNetwork, c(list(data[[2]], output = "edges"), arguments)), tolerance = 1e-6)
  }
  expect_equal(gpuCorNetwork(r, method = "given", combine = "fisher", p.value = 0.2)@i,
               gpuCorNetwork(data, combine = "fisher", p.value = 0.2)@i)
  mask <- pairMask(c(1, 2, 1, 2, 1, 2, 2), same = TRUE)
  expect_equal(gpuCorNetwork(r[[3]], method = "given", threshold = 0, pairs = mask, output = "edges"),
               gpuCorNetwork(data[[3]], threshold = 0, pairs = mask, output = "edges"), tolerance = 1e-6)
  expect_equal(gpuConnectivity(r[[1]], method = "given", density = 0.3)$degree,
               gpuConnectivity(data[[1]], density = 0.3)$degree)
  expect_equal(plain(gpuTOM(r[[1]], method = "given")), plain(gpuTOM(data[[1]])), tolerance = 1e-6)
  expect_equal(pickPower(r[[1]], method = "given")$fitIndices, pickPower(data[[1]])$fitIndices, tolerance = 1e-4)
  many <- cor(matrix(rnorm(20 * 300), 20))
  expect_identical(plain(gpuCor(many, method = "given", memory = 1e6)), many[lower.tri(many)])
})

test_that("a missing value is that of its pair alone", {
  some <- r
  some[[3]][2, 5] <- some[[3]][5, 2] <- NA
  diag(some[[4]]) <- NA
  given <- gpuCorCompare(some[1:4], some[5:9], method = "given", use = "complete.obs")
  expect_identical(is.na(as.matrix(given$difference)), is.na(some[[3]]))
  kept <- as.matrix(gpuCor(some, method = "given", combine = "mean", na.rm = TRUE))
  expect_equal(kept["b", "e"], mean(vapply(r[-3], `[`, 0, 2, 5)), tolerance = 1e-12)
  some[[3]][2, ] <- some[[3]][, 2] <- NA
  expect_warning(gpuCorNetwork(some, method = "given", combine = "mean", threshold = 0.1), "1 of 7 columns of 'x': b")
})

test_that("matrices of values are not correlated in silence, and others are not taken", {
  expect_error(gpuCorCompare(r[1:4], r[5:9]), "subject 1 of 'x': .* coefficients.* method = \"given\" to take these")
  expect_error(gpuCorCompare(lapply(r[1:4], atanh), r[5:9]), "subject 1 of 'x': .*infinite|symmetric")
  z <- lapply(r, function(m) `diag<-`(atanh(m), 0))
  expect_error(gpuCor(z, combine = "mean"),
               "values of pairs, as it is symmetric; give the data .*, method = \"given\" to take these")
  expect_error(gpuCor(lapply(r, as.dist), combine = "mean"), "give the data that they are of, or method = \"given\"")
  refused <- function(...) expect_error(gpuCor(..., method = "given"))
  refused(r[[1]][, 1:5])
  refused(replace(r[[1]], 2, 0.9))
  refused(r[[1]], r[[2]])
  refused(r[[1]], partial = TRUE)
  refused(r[[1]], covariates = 1:7)
  for (arguments in list(list(lag = -1:1), list(weights = rep(1:0, 4:3)), list(test = TRUE))) {
    expect_error(do.call(gpuCor, c(list(r[[1]], method = "given"), arguments)), "method = \"given\"")
  }
  for (arguments in list(list(resample = 3, k = 1), list(lioness = 1, k = 1), list(adjust = "maxT", p.value = 0.1))) {
    expect_error(do.call(gpuCorNetwork, c(list(r[[1]], method = "given"), arguments)),
                 "of observations, and method = \"given\" has none")
  }
  expect_error(gpuCorNetwork(r[[1]], method = "given", p.value = 0.1), "need 'df', n - 2")
  expect_error(gpuCorPlan(tempfile(), r[[1]], method = "given", k = 1), "method = \"given\" cannot be in a plan")
  expect_error(gpuCorCompare(r[[1]], r[[2]], method = "given"), "effects = \"fixed\" needs the numbers")
  for (f in list(gpuCorTest, gpuDist, gpuCorTriangle)) {
    expect_error(f(r[[1]], method = "given"), "method = \"given\" is for gpuCor\\(\\)")
  }
  expect_error(gpuCorWindows(r[[1]], width = 4, method = "given"), "which need no observations")
})

test_that("partial correlations of each subject are compared, each with its own shrinkage", {
  own <- lapply(data, function(x) as.matrix(gpuCor(x, partial = TRUE)))
  for (backend in backends()) {
    compared <- gpuCorCompare(data[1:4], data[5:9], partial = TRUE, backend = backend)
    expect_equal(plain(compared$p.value), plain(gpuCorCompare(own[1:4], own[5:9], method = "given")$p.value),
                 tolerance = 1e-5)
  }
  exact <- lapply(data, function(x) `diag<-`(-cov2cor(solve(cor(x))), 1))
  expect_equal(plain(gpuCorCompare(data[1:4], data[5:9], partial = TRUE, shrinkage = 0)$p.value),
               plain(gpuCorCompare(exact[1:4], exact[5:9], method = "given")$p.value), tolerance = 1e-5)
  expect_error(gpuCorCompare(data[[1]], data[[2]], partial = TRUE), "partial = TRUE is each subject's own")
})
