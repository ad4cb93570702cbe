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
  expect_identical(parcelMeans(x, as.vector(atlas)), structure(found, coverage = NULL, centers = NULL))
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

test_that("parcels of a file have the names of the table beside it", {
  x <- voxelMatrix(image_with_affine())
  folder <- temporary_folder()
  at <- function(name) file.path(folder, name)
  atlas <- labeled()
  atlas[atlas == 17L] <- 100000L
  writeVoxels(atlas, at("atlas-A_res-2_dseg.nii.gz"))
  plain <- parcelMeans(x, atlas)
  named <- function() parcelMeans(x, at("atlas-A_res-2_dseg.nii.gz"))
  expect_identical(named(), plain)
  writeLines(c("index\tname\tcolor", "100000\tIt's\t#ff0000", "0\tnone\tn/a", "5\tV1\tn/a", "9\tV9\tn/a"),
             at("atlas-A_dseg.tsv"))
  expect_identical(colnames(named()), c("2", "V1", "It's"))
  expect_identical(unname(unclass(named())[, ]), unname(unclass(plain)[, ]))
  expect_named(attr(named(), "coverage"), c("2", "V1", "It's"))
  expect_warning(parcelMeans(x[, attr(x, "mask")[TRUE] & as.vector(atlas) != 5L], at("atlas-A_res-2_dseg.nii.gz")),
                 "thus NA: V1$")
  # The table of this resolution counts first; two parcels of one name stay two.
  writeLines(c("index\tname", "5\tV", "2\tV"), at("atlas-A_res-2_dseg.tsv"))
  expect_identical(colnames(named()), c("V", "V.1", "100000"))
  writeLines("name", at("atlas-A_res-2_dseg.tsv"))
  expect_identical(colnames(named()), colnames(plain))
})

test_that("dense labels and surfaces have the names of their label table", {
  skip_if_not_installed("xml2")
  file <- file.path(temporary_folder(), "atlas.dlabel.nii")
  labels <- paste0("<MatrixIndicesMap AppliesToMatrixDimension=\"0\" IndicesMapToDataType=\"CIFTI_INDEX_TYPE_LABELS\">",
                   "<NamedMap><MapName>atlas</MapName><LabelTable><Label Key=\"-1\">none</Label>",
                   "<Label Key=\"2\"> V2\n</Label><Label Key=\"1\">V1</Label></LabelTable></NamedMap>",
                   "</MatrixIndicesMap>")
  write_dtseries(matrix(rep(c(0, 2, 3, 1), each = 5), 1), file, c(labels, brain_map()))
  series <- sub("dlabel", "dtseries", file)
  write_dtseries(grayordinate_series(), series)
  x <- suppressMessages(voxelMatrix(series))
  expect_identical(colnames(parcelMeans(x, file)), c("V1", "V2", "3"))
  expect_identical(colnames(parcelMeans(x, readVoxels(file))), c("V1", "V2", "3"))
})

test_that("centers are the means of the voxels' places, of all voxels of a parcel", {
  img <- image_with_affine()
  atlas <- labeled()
  found <- attr(suppressWarnings(parcelMeans(voxelMatrix(img, slice.index(atlas, 3) > 1), atlas)), "centers")
  by_hand <- t(sapply(c(2, 5, 17), function(label) {
    rowMeans(some_affine() %*% rbind(t(which(atlas == label, arr.ind = TRUE)) - 1, 1))[1:3]
  }))
  expect_equal(found, by_hand, ignore_attr = TRUE, tolerance = 1e-12)
  expect_identical(dimnames(found), list(c("2", "5", "17"), c("x", "y", "z")))
  expect_null(attr(parcelMeans(voxelMatrix(img), array(atlas, dim(atlas))), "centers"))
  means <- parcelMeans(voxelMatrix(img), atlas)
  expect_identical(attr(means[3:5, c("17", "2")], "centers"), attr(means, "centers")[c("17", "2"), ])
  expect_identical(attr(rbind(means, means), "centers"), attr(means, "centers"))
})

test_that("values of parcels go back into the atlas", {
  atlas <- labeled()
  means <- parcelMeans(voxelMatrix(image_with_affine()), atlas)
  map <- voxelImage(means[1, ], atlas)
  by_hand <- array(0, dim(atlas))
  for (label in c(2, 5, 17)) by_hand[atlas == label] <- means[1, paste(label)]
  expect_identical(array(map, dim(atlas)), by_hand)
  expect_identical(attr(map, "header"), attr(atlas, "header"))
  two <- voxelImage(t(means[1:2, ]), atlas, outside = NA)
  expect_identical(is.na(two[, , , 2]), is.na(two[, , , 1]))
  expect_identical(two[, , , 1][atlas > 0], by_hand[atlas > 0])
  expect_identical(voxelImage(t(means[1, ]), atlas), map) # one row, as of one column with all
  expect_identical(voxelImage(rev(means[1, ]), atlas), map) # values are found by name
  expect_identical(voxelImage(t(means[1:2, 3:1]), atlas, outside = NA), two)
  expect_identical(voxelImage(unname(means[1, ]), atlas), map)
  expect_identical(voxelImage(c(a = 1, b = 2, c = 3), atlas), voxelImage(1:3 + 0, atlas)) # names of something else
  expect_error(voxelImage(c(`2` = 1, `5` = 2, x = 3), atlas), "'values' has no parcel \"17\" of the atlas")
  expect_error(voxelImage(1:2, atlas), "for each of the .* voxels inside 'mask', not 2, or for each of its 3 labels")
  expect_error(voxelImage(3, atlas == 2), "'values' must be one value, or one row")
})
