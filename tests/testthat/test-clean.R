# gpuClean(): the residuals that gpuCor() correlates.

set.seed(11)
x <- matrix(rnorm(60 * 7), 60, dimnames = list(paste0("t", 1:60), letters[1:7])) + 100
z <- cbind(motion = rnorm(60), drift = (1:60) / 60)
x <- x + outer(z[, 2], 1:7)
good <- !(1:60 %in% c(5, 20:24))
band <- c(0.02, 0.15)

test_that("residuals are those of lm(), and keep names", {
  found <- gpuClean(x, z)
  expect_equal(found, residuals(lm(x ~ z)), tolerance = 1e-12, ignore_attr = TRUE)
  expect_identical(dimnames(found), dimnames(x))
  expect_equal(gpuClean(x, ~ motion, data = data.frame(z)), residuals(lm(x ~ z[, 1])), tolerance = 1e-12,
               ignore_attr = TRUE)
  kept <- gpuClean(x, z, keep = good)
  expect_equal(kept, residuals(lm(x ~ z, subset = good)), tolerance = 1e-12, ignore_attr = TRUE)
  expect_identical(dimnames(kept), dimnames(x[good, ]))
  expect_identical(gpuClean(x, z, keep = which(good)), kept)
  expect_identical(gpuClean(x, z, keep = -which(!good)), kept)
  a <- gpuAdjust(covariates = z, bandpass = band, tr = 2)
  expect_identical(gpuClean(x, adjustment = a), gpuClean(x, z, bandpass = band, tr = 2))
  expect_identical(gpuClean(x, z[, 1], adjustment = a), gpuClean(x, z[, 1], bandpass = band, tr = 2))
  expect_error(gpuClean(x, adjustment = gpuAdjust(weights = good)), "'adjustment' has 'weights'")
})

test_that("arguments that change nothing are refused", {
  y <- matrix(rnorm(60), 20)
  expect_error(gpuClean(y, covariates = 1:20, tr = 2), "'tr' needs 'bandpass'", class = "gpucor_error_input")
  expect_error(gpuClean(y, data = mtcars, runs = rep(1:2, 10)), "'data' needs a formula", class = "gpucor_error_input")
})

test_that("their correlations are gpuCor()'s with the same arguments", {
  for (given in list(list(covariates = z), list(bandpass = band, tr = 2), list(bandpass = c(0, 0.2), tr = 2),
                     list(covariates = z, bandpass = band, tr = 2))) {
    for (keep in list(NULL, good)) {
      theirs <- do.call(gpuCor, c(list(x, weights = keep, precision = "double"), given))
      expect_equal(cor(do.call(gpuClean, c(list(x, keep = keep), given))), as.matrix(theirs), tolerance = 1e-12)
    }
  }
})

test_that("cosines belong to all rows, so that a gap does not shift them", {
  number <- 1:59
  out <- number / (2 * 60 * 2) < band[1] | number / (2 * 60 * 2) > band[2]
  cosines <- cos(outer(1:60 - 0.5, number[out]) * pi / 60)
  expect_equal(gpuClean(x, z, bandpass = band, tr = 2, keep = good),
               residuals(lm(x ~ z + cosines, subset = good)), tolerance = 1e-9, ignore_attr = TRUE)
})

test_that("columns without residuals are zero, and those with missing or infinite values NA", {
  odd <- cbind(x, fixed = 3, drift = 1e6 * z[, 2] + 7, gap = c(NA, x[-1, 1]), endless = c(x[-60, 2], Inf))
  found <- gpuClean(odd, z)
  expect_identical(unname(found[, c("fixed", "drift")]), matrix(0, 60, 2))
  expect_true(all(is.na(found[, c("gap", "endless")])))
  expect_identical(found[, 1:7], gpuClean(x, z))
  for (unit in 2^c(-1000, 1000)) expect_identical(gpuClean(x * unit, z), gpuClean(x, z) * unit)
  expect_false(anyNA(gpuClean(odd, z, keep = 2:59)))
  r <- suppressWarnings(as.matrix(gpuCor(odd, covariates = z, precision = "double")))
  expect_equal(suppressWarnings(cor(found))[1:7, ], r[1:7, ], tolerance = 1e-12)
})

test_that("residuals do not depend on the blocks of columns", {
  table <- data.frame(x)
  expect_identical(with_values(list(BLOCK_VALUES = 130), gpuClean(table, z, bandpass = band, tr = 2)),
                   with_values(list(BLOCK_VALUES = 1e6), gpuClean(table, z, bandpass = band, tr = 2)))
  expect_identical(gpuClean(x, z, bandpass = band, tr = 2, threads = 2),
                   gpuClean(x, z, bandpass = band, tr = 2, threads = 1))
})

test_that("images stay images, and series series", {
  img <- array(rnorm(3 * 3 * 2 * 60), c(3, 3, 2, 60))
  voxels <- voxelMatrix(img)
  attr(voxels, "tr") <- 2
  cleaned <- gpuClean(voxels, z, bandpass = band)
  expect_s3_class(cleaned, "voxelMatrix")
  for (name in c("mask", "tr", "class")) expect_identical(attr(cleaned, name), attr(voxels, name))
  expect_equal(unclass(cleaned), gpuClean(unclass(voxels), z, bandpass = band, tr = 2), ignore_attr = TRUE)
  expect_null(attr(gpuClean(voxels, z, keep = good), "tr"))
  expect_identical(attr(gpuClean(voxels, z, keep = 3:50), "tr"), 2)
  series <- ts(unname(x), start = 4, frequency = 12)
  expect_identical(tsp(gpuClean(series, z)), tsp(series))
  expect_false(is.ts(gpuClean(series, z, keep = good)))
})

test_that("a file is read in blocks, and one is written", {
  raw <- tempfile()
  writeBin(as.vector(x), raw, endian = "little")
  source <- gpuCorFile(raw, dim(x), dimnames = dimnames(x))
  expect_identical(gpuClean(source, z), gpuClean(x, z))
  folder <- tempfile("clean")
  dir.create(folder)
  made <- file.path(folder, "made")
  written <- with_values(list(BLOCK_VALUES = 130), gpuClean(source, z, keep = good, file = made))
  expect_s3_class(written, "gpuCorFile")
  expect_identical(as.matrix(written), gpuClean(x, z, keep = good))
  expect_error(gpuClean(x, z, file = made), "which exists")
  expect_identical(dir(folder), "made")
  unlink(c(raw, folder), recursive = TRUE)
})

test_that("wrong arguments are named", {
  expect_error(gpuClean(x), "'covariates', 'bandpass' and 'runs' are missing; give at least one")
  expect_error(gpuClean(x, z[-1, ]), "'covariates' has 59 rows; there are 60 observations")
  expect_error(gpuClean(x, replace(z, 3, NA)),
               "missing in column \"motion\", row 3; leave such observations out by 'keep'", fixed = TRUE)
  expect_identical(gpuClean(x, replace(z, 3, NA), keep = -3), gpuClean(x, z, keep = -3))
  expect_error(gpuClean(x, z, keep = 1:3 > 0), "'keep' must be a logical value for each of the 60 rows of 'x'")
  expect_error(gpuClean(x, z, keep = 2), "'keep' leaves 1 of 60 rows of 'x'")
  expect_error(gpuClean(x[, 1], z), "matrix-like")
  expect_error(gpuClean(x, bandpass = band), "'bandpass' needs 'tr'")
  expect_error(gpuClean(list(x, x), z), "'x'")
  expect_error(gpuClean(x, "confounds.tsv"), "the name of a file")
})
