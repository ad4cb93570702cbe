# Windows of several subjects: each is a call for the same rows of all subjects.

set.seed(3)
subjects <- lapply(1:3, function(i) {
  matrix(rnorm(50 * 7), 50, dimnames = list(NULL, letters[1:7])) + outer(sin(1:50 / i), 1:7 / 3)
})
rows_of <- function(w, k) with(attr(w, "windows")[k, ], start:end)
slices <- function(w, k, data = subjects) lapply(data, function(x) x[rows_of(w, k), ])

test_that("coefficients are the combined ones of each window", {
  for (given in list(list(combine = "mean", subject_weights = 1:3), list(combine = "fisher"),
                     list(combine = "quantile", probs = 0.3, method = "spearman"),
                     list(combine = "min", precision = "double"))) {
    w <- do.call(gpuCorWindows, c(list(subjects, 20, step = 7), given))
    expect_identical(dim(w), c(21L, 5L))
    for (k in 1:5) {
      r <- do.call(gpuCor, c(list(slices(w, k)), given))
      expect_equal(as.vector(w[[k]]), as.vector(r), tolerance = 1e-12)
    }
    expect_output(print(w), "3 subjects combined")
  }
  asked <- gpuCorWindows(function(i) subjects[[i]], 20, step = 7, combine = "mean", subjects = 3)
  expect_identical(asked[, ], gpuCorWindows(subjects, 20, step = 7, combine = "mean")[, ])
  expect_message(gpuCorWindows(subjects, 40), "'combine' is not given")
  tapered <- gpuCorWindows(subjects, 20, step = 7, taper = "gaussian", combine = "mean")
  weights <- gpucor:::taper_weights("gaussian", NULL, 20)
  expect_equal(as.vector(tapered[[2]]), as.vector(gpuCor(slices(tapered, 2), weights = weights, combine = "mean")))
  alone <- gpuCorWindows(subjects[1], 20, step = 7, combine = "mean")
  expect_equal(alone[, ], gpuCorWindows(subjects[[1]], 20, step = 7)[, ], tolerance = 1e-6)
})

test_that("networks and degrees are, too, with masks", {
  mask <- pairMask(rep(1:2, c(4, 3)), same = TRUE)
  for (pairs in list(NULL, mask)) {
    w <- gpuCorWindows(subjects, 25, step = 12, density = 0.3, combine = "fisher", output = "network", pairs = pairs)
    d <- gpuCorWindows(subjects, 25, step = 12, threshold = 0.2, combine = "fisher", output = "connectivity",
                       pairs = pairs)
    for (k in 1:3) {
      net <- gpuCorNetwork(slices(w, k), density = 0.3, combine = "fisher", pairs = pairs)
      expect_identical(as.data.frame(w[[k]]), as.data.frame(net))
      sums <- gpuConnectivity(slices(w, k), threshold = 0.2, combine = "fisher", pairs = pairs)
      expect_equal(d$degree[, k], sums$degree, ignore_attr = TRUE)
      expect_equal(d$strength[, k], sums$strength, ignore_attr = TRUE)
    }
    expect_identical(rownames(d$degree), letters[1:7])
    expect_identical(nrow(summary(d)), 3L)
    expect_output(print(w), paste("of", if (is.null(pairs)) 21 else 9, "pairs"))
  }
})

test_that("each subject is adjusted over all rows", {
  z <- lapply(1:3, function(i) rnorm(50))
  w <- gpuCorWindows(subjects, 20, step = 15, covariates = z, combine = "mean", precision = "double")
  clean <- Map(gpuClean, subjects, z)
  expect_equal(w[, ], gpuCorWindows(clean, 20, step = 15, combine = "mean", precision = "double")[, ],
               tolerance = 1e-12)
  expect_error(gpuCorWindows(subjects, 20, covariates = z, combine = "mean", method = "spearman"),
               "subject 1: .* makes ranks in each window")
})

test_that("what the windows of subjects do not take is an error", {
  expect_error(gpuCorWindows(subjects, 20, combine = "mean", output = "moments"), "for one subject")
  expect_error(gpuCorWindows(subjects, 20, combine = "mean", weights = 1:50), "'weights' is for the windows of one")
  expect_error(gpuCorWindows(c(subjects, list(subjects[[1]][-1, ])), 20, combine = "mean"),
               "subject 4: there are 49 rows, and 50 of the first subject")
  expect_error(gpuCorWindows(subjects, 60, combine = "mean"), "'width' must be a whole number between 3 and 50")
  constant <- lapply(subjects, function(x) {
    x[1:30, 2] <- 1
    x
  })
  expect_length(testthat::capture_warnings(gpuCorWindows(constant, 20, step = 5, combine = "mean")), 1L)
})
