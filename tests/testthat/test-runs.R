# Runs of a scan, joined by rbind().

# Three runs of 60 voxels, of which some do not vary in one of them.
some_runs <- function() {
  runs <- Map(function(times, constant, run) {
    img <- image_with_affine(c(5, 4, 3, times))
    img[] <- img + times
    img[2, 3, constant, ] <- 7L
    x <- suppressMessages(voxelMatrix(img))
    structure(x, entities = c(sub = "01", task = "rest", run = run, space = "X"))
  }, c(8L, 11L, 9L), list(1, 2:3, integer()), c("1", "2", "3"))
  unname(runs)
}

# Confounds of 40 and 25 rows; the second has a cosine and an outlier less.
some_confounds <- function(columns = c("motion", "cosine*", "scrub")) {
  written <- list(write_confounds(40), write_confounds(25, drop = c("cosine02", "motion_outlier01")))
  lapply(written, function(own) readConfounds(own$file, columns))
}

test_that("rows follow one another, of the voxels that vary in all runs", {
  runs <- some_runs()
  expect_message(x <- do.call(rbind, runs), "^3 of 60 voxels dropped: not in every scan\n$")
  mask <- array(TRUE, c(5, 4, 3))
  mask[2, 3, ] <- FALSE
  expect_identical(which(attr(x, "mask")), which(mask))
  values <- lapply(runs, function(run) unclass(run)[, mask[attr(run, "mask")]])
  expect_identical(unclass(x)[, ], rbind(values[[1]], values[[2]], values[[3]]))
  expect_type(x, "integer")
  expect_identical(attr(x, "runs"), rep(1:3, c(8, 11, 9)))
  expect_identical(attr(x, "tr"), 2)
  expect_identical(attr(x, "entities"), c(sub = "01", task = "rest", space = "X"))
  expect_s3_class(x, "voxelMatrix")
  expect_output(print(x), "^sub-01_task-rest_space-X: 28 time points in 3 runs 2 s apart of 57 of 60 voxels")
  expect_silent(all <- rbind(runs[[3]], runs[[3]]))
  expect_identical(ncol(all), 60L)
  parcels <- lapply(runs, parcelMeans, array(rep(1:2, 30), c(5, 4, 3)))
  joined <- do.call(rbind, parcels)
  expect_identical(unclass(joined)[9:19, ], unclass(parcels[[2]])[, ])
  expect_identical(attr(joined, "coverage"), pmin(attr(parcels[[1]], "coverage"), attr(parcels[[2]], "coverage")))
  for (name in c("runs", "tr", "entities")) expect_identical(attr(joined, name), attr(x, name))
})

test_that("runs may be joined one after another", {
  voxels <- some_runs()
  confounds <- c(some_confounds(), some_confounds()[1])
  for (runs in list(voxels, lapply(voxels[c(3, 3, 3)], parcelMeans, rep(1:4, each = 15)), confounds)) {
    suppressMessages({
      at_once <- rbind(runs[[1]], runs[[2]], runs[[3]])
      expect_identical(rbind(rbind(runs[[1]], runs[[2]]), runs[[3]]), at_once)
      expect_identical(rbind(runs[[1]], NULL, rbind(first = runs[[2]], second = runs[[3]])), at_once)
    })
    expect_identical(rbind(runs[[1]]), runs[[1]])
  }
})

test_that("a run's own regressors are zero in the others, outliers are named by rows", {
  runs <- some_confounds()
  z <- do.call(rbind, runs)
  expect_identical(colnames(z)[1:9], c(gpucor:::CONFOUND_SETS$motion, sprintf("cosine%02d", 0:2)))
  expect_identical(colnames(z)[10:14], c("outlier_1", "outlier_7", "outlier_12", "outlier_41", "outlier_47"))
  expect_identical(z[, "cosine02"], c(runs[[1]][, "cosine02"], rep(0, 25)))
  expect_identical(z[, "cosine01"], c(runs[[1]][, "cosine01"], runs[[2]][, "cosine01"]))
  expect_identical(unname(which(unclass(z)[, 10:14] == 1)), c(1L, 7L, 12L, 41L, 47L) + 65L * 0:4)
  expect_identical(which(!attr(z, "keep")), c(1L, 7L, 12L, 41L, 47L))
  other <- readConfounds(write_confounds(25)$file, "wm_csf")
  expect_error(rbind(runs[[1]], other), "run 1 has no column \"white_matter\", which another run has")
})

test_that("covariates and a band are those of each run", {
  set.seed(4)
  x <- apply(matrix(rnorm(65 * 60), 65), 2, cumsum) + 100
  as_run <- function(rows) {
    img <- image_with_affine(c(5, 4, 3, length(rows)))
    img[] <- t(x[rows, ])
    voxelMatrix(img)
  }
  joined <- rbind(as_run(1:40), as_run(41:65))
  z <- do.call(rbind, some_confounds("motion"))
  left <- rbind(residuals(lm(x[1:40, ] ~ z[1:40, ])), residuals(lm(x[41:65, ] ~ z[41:65, ])))
  r <- function(data, ...) gpuCor(data, ..., precision = "double", output = "matrix")[, ]
  expect_equal(r(joined, covariates = z), cor(left), tolerance = 1e-9, ignore_attr = TRUE)
  expect_equal(unclass(gpuClean(joined, z))[, ], left, tolerance = 1e-9, ignore_attr = TRUE)
  expect_mapequal(attributes(gpuClean(joined, z)), attributes(joined))
  labels <- rep(1:2, c(40, 25))
  own <- r(unclass(joined)[, ], bandpass = c(0.02, 0.2), tr = 2, runs = labels)
  expect_identical(r(joined, bandpass = c(0.02, 0.2)), own)
  expect_identical(r(list(joined, joined), bandpass = c(0.02, 0.2), combine = "min"), own)
  expect_identical(r(function(i) joined, subjects = 2, bandpass = c(0.02, 0.2), combine = "min"), own)
  # Labels that are given count, and nothing is regressed that is not asked for.
  expect_equal(r(joined, covariates = z, runs = rep(1, 65)), cor(residuals(lm(x ~ z))), tolerance = 1e-9,
               ignore_attr = TRUE)
  expect_equal(r(joined), cor(x), tolerance = 1e-9, ignore_attr = TRUE)
  expect_equal(gpuCor(joined[, 1], joined, covariates = z, precision = "double")[, ], cor(left)[1, ], tolerance = 1e-9,
               ignore_attr = TRUE)
  expect_error(suppressWarnings(gpuCorCompare(joined, joined, covariates = z, n_perm = 9)),
               "'several runs', as rows of series")
})

test_that("rows that are selected keep their runs, and tr if none in between is left out", {
  x <- suppressMessages(do.call(rbind, some_runs()))
  without_first <- x[-c(1, 2, 9, 20, 21), ] # the first volumes of each run
  expect_identical(attr(without_first, "runs"), rep(1:3, c(6, 10, 7)))
  expect_identical(attr(without_first, "tr"), 2)
  expect_null(attr(x[-5, ], "tr"))
  expect_identical(attr(x[-5, ], "runs"), rep(1:3, c(7, 11, 9)))
  expect_identical(attr(x[attr(x, "runs") != 2, ], "tr"), 2)
  expect_identical(attr(x[3:20, 5:9], "runs"), rep(1:3, c(6, 11, 1)))
  z <- do.call(rbind, some_confounds())
  expect_identical(attr(z[5:50, 2:3], "keep"), attr(z, "keep")[5:50])
  expect_identical(z[3, ], unclass(z)[3, ])
  expect_identical(z[, 2], unclass(z)[, 2])
  expect_identical(z[4:5], unclass(z)[4:5])
  parcels <- parcelMeans(x, rep(c("a", "b", "c"), 19))
  expect_null(attr(parcels, "coverage"))
  expect_identical(attr(parcels[1:10, "b", drop = FALSE], "runs"), rep(1:2, c(8, 2)))
})

test_that("what are no runs of one scan is an error, and other matrices make an ordinary one", {
  runs <- some_runs()
  expect_error(rbind(runs[[1]], structure(runs[[3]], tr = 0.72)), "the runs have 'tr' of 2, 0.72 s, and")
  expect_null(attr(suppressMessages(rbind(runs[[1]], structure(runs[[3]], tr = NULL))), "tr"))
  expect_error(rbind(runs[[1]], voxelMatrix(image_with_affine(c(4, 4, 3, 8)))), "'run 2' is 4 x 4 x 3, .* 'run 1' is")
  moved <- some_affine()
  moved[1, 4] <- moved[1, 4] + 3
  expect_error(rbind(runs[[1]], voxelMatrix(image_with_affine(affine = moved))), "'run 2' is not on the grid of")
  apart <- lapply(c(2, 5), function(k) voxelMatrix(image_with_affine(), array(1:60 == k, c(5, 4, 3))))
  expect_error(rbind(apart[[1]], apart[[2]]), "no voxel is in every scan")
  expect_identical(rbind(runs[[3]], 0L), rbind(unclass(runs[[3]])[, ], 0L))
  parcels <- parcelMeans(runs[[3]], rep(1:4, each = 15))
  expect_error(rbind(parcels, parcels[, 1:3]), "run 2 has no column \"4\", which another run has")
  expect_identical(rbind(parcels, x = 1), rbind(unclass(parcels)[, ], x = 1))
})

test_that("confounds and parcels are matrices", {
  z <- some_confounds()[[1]]
  plain <- matrix(z, nrow(z), dimnames = dimnames(z))
  expect_output(print(z[1:2, 1:2]), "^ +trans_x +trans_y *\n\\[1,\\][^a]+$")
  for (f in list(t, cor, as.data.frame, summary, scale, function(z) apply(z, 2, sd), function(z) cbind(z, 1), head)) {
    expect_identical(structure(f(z), keep = NULL, class = NULL, dim = NULL),
                     structure(f(plain), class = NULL, dim = NULL))
  }
  x <- normal(40, 3)
  expect_identical(coef(lm(x ~ z)), structure(coef(lm(x ~ plain)), dimnames = dimnames(coef(lm(x ~ z)))))
  expect_identical(c(gpuCor(z)), c(gpuCor(plain)))
  expect_identical(c(gpuCor(x, covariates = ~ z)), c(gpuCor(x, covariates = plain)))
  expect_identical(gpuCorNetwork(z, threshold = 0.2)@x, gpuCorNetwork(plain, threshold = 0.2)@x)
})
