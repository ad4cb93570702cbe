# Means of parcels.

labeled <- function() {
  set.seed(3)
  structure(array(sample(c(0L, 2L, 5L, 17L), 60, TRUE), c(5, 4, 3)), header = affine_header())
}

# The definition: for each label the mean over its voxels, time by time.
means_by_hand <- function(img, atlas, labels) {
  vapply(labels, function(label) {
    vapply(seq_len(dim(img)[4]), function(t) mean(img[, , , t][!is.na(atlas) & atlas == label]), 0)
  }, numeric(dim(img)[4]))
}

test_that("means are those of each label's voxels", {
  img <- image_with_affine()
  atlas <- labeled()
  x <- voxelMatrix(img)
  found <- parcelMeans(x, atlas)
  expect_identical(colnames(found), c("2", "5", "17"))
  expect_identical(attr(found, "tr"), 2)
  expect_equal(found, means_by_hand(img, atlas, c(2, 5, 17)), ignore_attr = TRUE, tolerance = 1e-14)
  # The atlas may be of another type, have NA, be in a file, or be a label of each column.
  holed <- replace(atlas + 0, atlas == 0, NA)
  attr(holed, "header") <- attr(atlas, "header")
  expect_identical(parcelMeans(x, holed), found)
  file <- file.path(temporary_folder(), "atlas.nii.gz")
  writeVoxels(atlas, file)
  expect_identical(parcelMeans(x, file), found)
  expect_identical(attr(found, "coverage"), c(`2` = 1, `5` = 1, `17` = 1))
  expect_identical(parcelMeans(x, as.vector(atlas)), structure(found, coverage = NULL))
  expect_identical(parcelMeans(x[3:6, ], atlas)[, ], found[3:6, ])
})

test_that("columns left out of the mask leave their parcels", {
  img <- image_with_affine()
  atlas <- labeled()
  img[, , , ][rep(atlas == 5, 8)] <- 7L
  x <- suppressMessages(voxelMatrix(img))
  expect_warning(found <- parcelMeans(x, atlas), "^1 of 3 parcels with no column in 'x', thus NA: 5$")
  expect_identical(colnames(found), c("2", "5", "17"))
  expect_true(all(is.na(found[, "5"])))
  expect_equal(found[, -2], means_by_hand(img, atlas, c(2, 17)), ignore_attr = TRUE, tolerance = 1e-14)
  # Some voxels of a parcel are dropped: the others count.
  mask <- atlas == 17 & slice.index(atlas, 3) > 1
  expect_warning(some <- parcelMeans(voxelMatrix(img, mask), atlas), "^2 of 3 parcels .*: 2, 5$")
  expect_equal(some[, "17"], apply(img, 4, function(volume) mean(volume[mask])), tolerance = 1e-14)
  covered <- sum(mask) / sum(atlas == 17)
  expect_equal(attr(some, "coverage"), c(`2` = 0, `5` = 0, `17` = covered))
  expect_warning(none <- parcelMeans(voxelMatrix(img, mask), atlas, min_coverage = covered + 0.01),
                 "^3 of 3 parcels with less than .* % of its voxels in 'x', thus NA: 2, 5, 17$")
  expect_true(all(is.na(none)))
})

test_that("missing values are those of rowMeans()", {
  x <- matrix(c(1, NA, 3, 4, 5, NA, 7, 8, 9), 3, dimnames = list(letters[1:3], NULL))
  expect_identical(parcelMeans(x, c(1, 1, 2)), cbind(`1` = c(a = 2.5, b = NA, c = NA), `2` = c(7, 8, 9)))
  expect_identical(parcelMeans(x, c(1, 1, 2), na.rm = TRUE), cbind(`1` = c(a = 2.5, b = 5, c = 3), `2` = c(7, 8, 9)))
  x[2, 2] <- NA
  expect_true(is.na(parcelMeans(x, c(1, 1, 2), na.rm = TRUE)["b", "1"])) # none is left
})

test_that("any matrix takes labels of its columns", {
  x <- matrix(c(1, 2, 3, 4, 5, 6, 7, 8), 2)
  expect_identical(parcelMeans(x, c("b", "a", "", NA)), cbind(a = c(3, 4), b = c(1, 2)))
  expect_identical(parcelMeans(x[1, , drop = FALSE], c("b", "a", "b", NA)), cbind(a = 3, b = 3))
  expect_identical(colnames(suppressWarnings(parcelMeans(x, factor(c("v", "u", "v", "u"), c("w", "v", "u"))))),
                   c("w", "v", "u"))
  expect_identical(parcelMeans(x, c(100000, 0, 100000, NA)), cbind(`100000` = c(3, 4)))
  expect_identical(parcelMeans(Matrix::Matrix(x, sparse = TRUE), c(1, 1, 2, 2)), parcelMeans(x, c(1, 1, 2, 2)))
  file <- tempfile()
  writeBin(as.vector(x), file)
  expect_identical(parcelMeans(gpuCorFile(file, dim(x)), c(1, 2, 1, 2)), parcelMeans(x, c(1, 2, 1, 2)))
  unlink(file)
})

test_that("grayordinates take dense labels", {
  skip_if_not_installed("xml2")
  file <- file.path(temporary_folder(), "rest.dtseries.nii")
  values <- grayordinate_series()
  write_dtseries(values, file)
  x <- suppressMessages(voxelMatrix(file))
  label <- rep(1:4, each = 5)
  full <- voxelImage(label[-4], x)
  expect_equal(parcelMeans(x, full)[, ], sapply(1:4, function(k) rowMeans(values[, -4][, label[-4] == k])),
               ignore_attr = TRUE, tolerance = 1e-14)
  found <- parcelMeans(x, label) # a label of each grayordinate
  expect_identical(unclass(found)[, ], unclass(parcelMeans(x, full))[, ])
  expect_identical(attr(found, "coverage"), c(`1` = 0.8, `2` = 1, `3` = 1, `4` = 1))
  expect_error(parcelMeans(x, 1:7), "'atlas' has 7 values, but 'x' has 20 grayordinates")
})

test_that("an atlas that does not fit is an error that says so", {
  x <- voxelMatrix(image_with_affine())
  atlas <- labeled()
  moved <- some_affine()
  moved[1, 4] <- moved[1, 4] + 3
  other <- structure(unclass(atlas), header = affine_header(moved))
  expect_error(parcelMeans(x, other), "'atlas' is not on the grid of 'x': .* 3 mm apart .*; resample one of them")
  expect_error(parcelMeans(x, atlas[1:4, , ]), "'atlas' is 4 x 4 x 3, but a volume of 'x' is 5 x 4 x 3")
  expect_error(parcelMeans(x, atlas / 2), "'atlas' must be labels, integers or text, not 2.5; resample .* nearest n")
  expect_error(parcelMeans(x, atlas * 0), "no column of 'x' is in a parcel: 'atlas' has 0 labels")
  expect_error(parcelMeans(x, 1:7), "'atlas' must have 3 dimensions, x, y and z, not 1 (7)", fixed = TRUE)
  expect_error(parcelMeans(matrix(1:6, 2), 1:2), "'atlas' must be a label for each of the 3 columns of 'x', not 2")
  expect_error(parcelMeans(matrix(1:6, 2), atlas), "'x' is a matrix (2 x 3) without the attribute", fixed = TRUE)
  expect_error(parcelMeans(1:3, 1:3), "'x' must be matrix-like")
  expect_error(parcelMeans(cbind(x, 1:8), atlas), "'x' is a matrix .* without the attribute")
  expect_error(parcelMeans(x, "nowhere.nii"), "the file 'nowhere.nii' does not exist")
})

test_that("labels within 1e-4 of an integer are that label", {
  x <- matrix(c(1, 5, 2, 7, 3, 4, 8, 9), 2)
  near <- c(1, 1 - 5e-5, 2 + 9e-5, 6e-5)
  expect_identical(parcelMeans(x, near), parcelMeans(x, c(1, 1, 2, 0)))
  expect_identical(colnames(parcelMeans(x, near)), c("1", "2"))
  expect_error(parcelMeans(x, c(1, 1, 2.001, 0)), "'atlas' must be labels, integers or text, not 2.001")
  voxels <- voxelMatrix(image_with_affine())
  atlas <- labeled()
  expect_identical(parcelMeans(voxels, atlas * (1 + 1e-6)), parcelMeans(voxels, atlas * 1))
})
