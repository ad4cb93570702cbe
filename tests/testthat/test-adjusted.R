# Headers say what changed the coefficients, and the degrees of freedom where they are not n - 2.

header_of <- function(object) gsub("\n", " ", paste(utils::capture.output(print(object)), collapse = " "))
expect_header <- function(object, text) expect_match(header_of(object), text, fixed = TRUE)
expect_plain <- function(object) {
  expect_no_match(header_of(object), "adjusted|filtered|weighted|of weight|Outliers|of freedom|combined")
}

x <- normal(60, 5)
z <- normal(60, 6, seed = 2)
confounds <- list(covariates = z, bandpass = c(0.01, 0.2), tr = 2)
both <- "adjusted for 6 covariates, filtered to 0.01-0.2 Hz (TR 2 s): 39 degrees of freedom"
with_confounds <- function(f, ...) do.call(f, c(list(x, ...), confounds))

test_that("every result of covariates and a band says so", {
  expect_header(with_confounds(gpuCor), paste("10 pairs, 60 observations", both))
  expect_header(summary(with_confounds(gpuCor)), both)
  network <- with_confounds(gpuCorNetwork, threshold = 0.1)
  expect_header(network, paste("|r| >= 0.1", both))
  expect_header(summary(network), both)
  expect_header(with_confounds(gpuCorNetwork, x[, 1:2], k = 1), both)
  expect_header(with_confounds(gpuConnectivity, threshold = 0.1), paste("60 observations", both))
  expect_header(with_confounds(gpuConnectivity, histogram = TRUE), both)
  expect_header(with_confounds(gpuCorTest), paste("alternative two.sided,", both))
  expect_header(summary(with_confounds(gpuCorTest)), both)
  expect_header(with_confounds(gpuTOM), both)
  expect_header(with_confounds(gpuTOM, output = "network", k = 1), both)
  expect_header(with_confounds(pickPower, power = 1:3), "adjusted for 6 covariates, filtered to 0.01-0.2 Hz (TR 2 s)")
  associated <- gpuAssociation(x, z[, 1:2], covariates = z[, 3:4], output = "matrix")
  expect_header(associated, "adjusted for 2 covariates: 56 degrees of freedom")
  expect_header(summary(associated), "adjusted for 2 covariates: 56 degrees of freedom")
  windows <- gpuCorWindows(x, 20, covariates = z[, 1:2])
  expect_header(windows, "adjusted for 2 covariates coefficients") # a window has other degrees of freedom
  expect_header(windows[[1]], "20 observations adjusted for 2 covariates ")
})

test_that("headers of what nothing has changed say nothing", {
  for (object in list(gpuCor(x), gpuCorNetwork(x, k = 1), gpuConnectivity(x, threshold = 0.1), gpuCorTest(x), gpuTOM(x),
                      gpuCorCompare(x[1:30, ], x[31:60, ]), gpuCorWindows(x, 20), gpuCor(x, weights = rep(2, 60)),
                      gpuCor(x, method = "bicor", options = list(maxPOutliers = 1)))) {
    expect_plain(object)
  }
  expect_null(attributes(gpuCor(x))$adjusted)
  expect_identical(gpuCorNetwork(x, k = 1)@adjusted, list())
})

test_that("weights, options, factors and degrees of freedom are told of", {
  graded <- "weighted (effective n 45.37): 43.37 degrees of freedom"
  expect_header(gpuCor(x, weights = seq_len(60)), paste("60 observations", graded))
  expect_header(gpuCorTest(x, weights = seq_len(60)), graded)
  expect_header(gpuCorNetwork(x, weights = seq_len(60), p.value = 0.5), graded)
  expect_header(gpuCor(x, weights = seq_len(60), weights_are = "precision"), "60 observations weighted ")
  expect_header(gpuCor(x, weights = rep(2, 60), weights_are = "frequency"), "weighted (effective n 120): 118 degrees")
  holed <- replace(x, 51:60, NA)
  expect_header(gpuCor(holed, weights = seq_len(60), use = "complete.obs"),
                "50 observations weighted (effective n 37.87)")
  expect_header(gpuCorWindows(x, 20, weights = seq_len(60)), "weighted coefficients")
  expect_header(gpuCor(list(x, x), weights = list(1:60, 60:1), combine = "fisher"), "each weighted (effective n 45.37)")
  keep <- rep(c(TRUE, FALSE), c(50, 10))
  expect_header(gpuCor(x, weights = keep), "50 observations without 10 observations of weight 0 ")
  expect_header(gpuCor(x, weights = keep, method = "kendall"), "without 10 observations of weight 0 ")
  expect_header(gpuCor(x, method = "bicor", options = list(maxPOutliers = 0.1)), "maxPOutliers = 0.1 ")
  expect_header(gpuCor(x, covariates = ~ batch, data = data.frame(batch = gl(3, 20))),
                "adjusted for 2 covariates: 56 degrees of freedom")
  expect_header(gpuCor(x, covariates = cbind(z[, 1], z[, 1])), "adjusted for 2 covariates: 57 degrees of freedom")
  expect_header(gpuCor(x, bandpass = c(0.1, Inf), tr = 2), "filtered to at least 0.1 Hz (TR 2 s): ")
  expect_header(gpuCor(x, covariates = z, method = "spearman"), "adjusted for 6 covariates: 52 degrees of freedom")
  expect_header(gpuCor(x, method = "cosine"), "60 observations 59 degrees of freedom")
  expect_header(gpuCorTest(x, df = 20.5), "20.5 degrees of freedom")
  expect_header(gpuCorTest(x, df = "bartlett"), "degrees of freedom of each pair by Bartlett's formula")
  expect_warning(left <- gpuCor(x[1:9, ], covariates = z[1:9, ]), "leaves 1, ")
  expect_header(left, "adjusted for 6 covariates: 1 degree of freedom ")
})

test_that("results of many subjects say how they were combined", {
  subjects <- list(x, x[1:40, ] + 1:40 / 9, x[21:60, ] + sqrt(1:40))
  own <- list(z, z[1:40, 1:2], z[1:40, 1:4])
  expect_header(gpuCor(subjects, combine = "mean"), "140 observations 3 subjects combined by the mean ")
  fisher <- gpuCorNetwork(subjects, threshold = 0.1, combine = "fisher", covariates = own)
  expect_header(fisher, paste("3 subjects combined by Fisher's z, each adjusted for 2 to 6 covariates:",
                              "34 to 52 degrees of freedom"))
  expect_header(gpuConnectivity(subjects, threshold = 0.1, combine = "quantile", probs = 0.3),
                "3 subjects combined by the 0.3 quantile ")
  compared <- gpuCorCompare(subjects[1:2], subjects[3], covariates = own, effects = "fixed")
  expect_header(compared, paste("2 subjects (100 observations) against 40 observations, 10 tests,",
                                "each adjusted for 2 to 6 covariates: 34 to 52 degrees of freedom;"))
  expect_header(gpuCorCompare(subjects[1:2], subjects[3], covariates = own, threshold = 0.1, effects = "fixed"),
                "each adjusted for 2 to 6 covariates")
  expect_plain(gpuCorCompare(subjects[1:2], subjects[3], effects = "fixed"))
  expect_header(gpuCor(list(x), covariates = z, combine = "fisher"), "60 observations adjusted for 6 covariates: 52")
})

test_that("a network in a file says it, too", {
  skip_if_not_installed("rhdf5")
  file <- tempfile(fileext = ".h5ad")
  on.exit(unlink(file))
  expect_header(gpuCorNetwork(x, threshold = 0.1, file = file, covariates = z), "adjusted for 6 covariates: 52 degrees")
})

test_that("arithmetic takes the description away", {
  expect_null(attr(1 - gpuCor(x, covariates = z), "adjusted"))
  expect_null(attr(gpuCorTest(x, covariates = z)$p.value, "adjusted"))
})

test_that("a fitted null distribution is told instead of its degrees of freedom", {
  fitted <- ": p values by a null distribution fitted to the coefficients"
  test <- gpuCorTest(x, partial = TRUE, shrinkage = 0.5)
  expect_header(test, paste0("(shrinkage 0.5)", fitted))
  expect_header(gpuCorNetwork(x, partial = TRUE, shrinkage = 0.5, p.value = 0.5), fitted)
  for (result in list(test, gpuCor(x, partial = TRUE, shrinkage = 0.5))) {
    expect_false(any(grepl("degrees of freedom", capture.output(print(result)))))
  }
})
