# From 4-D images to matrices and back.

# Values that tell where they are from: voxel number + time / 1000.
numbered <- function(size) {
  places <- prod(size[1:3])
  array(rep(seq_len(places), size[4]) + rep(seq_len(size[4]), each = places) / 1000, size)
}

small_image <- function() {
  set.seed(21)
  array(sample(1000L, 4 * 3 * 2 * 6), c(4, 3, 2, 6))
}

test_that("columns are voxels in the array's order, rows are time points", {
  img <- numbered(c(3, 4, 2, 5))
  x <- voxelMatrix(img)
  expect_identical(dim(x), c(5L, 24L))
  expect_null(dimnames(x))
  for (t in 1:5) expect_identical(x[t, ], as.vector(img[, , , t]))
  expect_identical(attr(x, "mask"), array(TRUE, c(3, 4, 2)))

  at <- which(attr(x, "mask"), arr.ind = TRUE)
  expect_identical(x[, 17], img[at[17, 1], at[17, 2], at[17, 3], ])
})

test_that("an image comes back from its matrix", {
  img <- small_image()
  x <- voxelMatrix(img)
  expect_identical(voxelImage(t(x), x), img)
  expect_identical(voxelImage(x[2, ], x), img[, , , 2])
  expect_identical(voxelImage(x[2, ], attr(x, "mask")), img[, , , 2])

  mask <- img[, , , 1] > 500L
  x <- voxelMatrix(img, mask)
  back <- voxelImage(t(x), mask)
  img[rep(!mask, 6)] <- 0L
  expect_identical(back, img)
})

test_that("masks are logical or numbers; zero and NA are outside", {
  img <- numbered(c(4, 3, 2, 6))
  mask <- array(c(TRUE, FALSE, FALSE), c(4, 3, 2))
  x <- voxelMatrix(img, mask)
  expect_identical(attr(x, "mask"), mask)
  expect_identical(x[1, ], img[, , , 1][mask])
  for (other in list(mask * 1L, mask * -0.5, ifelse(mask, TRUE, NA), ifelse(mask, 7, NaN))) {
    expect_identical(voxelMatrix(img, other), x)
    expect_identical(voxelImage(x[1, ], other), voxelImage(x[1, ], x))
  }
  expect_identical(is.na(voxelImage(x[1, ], x, outside = NA)), !mask)
  expect_identical(voxelImage(x[1, ], x) == 0, !mask)
  one <- array(seq_along(mask) == 5, dim(mask))
  expect_identical(dim(voxelMatrix(img, one)), c(6L, 1L))
  expect_identical(dim(voxelImage(matrix(1:3, 1), one)), c(4L, 3L, 2L, 3L))
})

test_that("voxels that do not vary are dropped, and counted", {
  img <- small_image() + 0
  img[1, 1, 1, ] <- 0
  img[2, 1, 1, ] <- 0.1
  img[3, 1, 1, ] <- NA
  img[4, 1, 1, ] <- c(NA, 3, 3, NaN, 3, NA)
  img[1, 2, 1, ] <- c(NA, 3, 3, 3, 3, 4)      # stays
  img[2, 2, 1, ] <- c(5, 5, 5, 5, 5 + 1e-9, 5) # stays
  img[3, 2, 1, ] <- c(Inf, 1, 1, 1, 1, 1)
  expect_message(x <- voxelMatrix(img), "^5 of 24 voxels dropped: constant over time or all NA\n$")
  gone <- rbind(c(1, 1, 1), c(2, 1, 1), c(3, 1, 1), c(4, 1, 1), c(3, 2, 1))
  kept <- array(TRUE, c(4, 3, 2))
  kept[gone] <- FALSE
  expect_identical(attr(x, "mask"), kept)
  expect_identical(unclass(x)[, 1:2], cbind(img[1, 2, 1, ], img[2, 2, 1, ]))

  # Only those inside the mask count.
  mask <- array(FALSE, c(4, 3, 2))
  mask[, , 2] <- TRUE
  expect_silent(voxelMatrix(img, mask))
  mask[1, 1, 1] <- TRUE
  expect_message(x <- voxelMatrix(img, mask), "^1 of 13 voxels dropped")
  expect_identical(which(attr(x, "mask")), 13:24)
})

test_that("integer images stay integer, others are double", {
  img <- small_image()
  expect_type(voxelMatrix(img), "integer")
  img[1, 1, 1, 2] <- NA
  expect_type(voxelMatrix(img), "integer")
  expect_identical(voxelMatrix(img)[, 1], img[1, 1, 1, ])
  expect_type(voxelMatrix(img + 0), "double")
  expect_type(voxelImage(1:24, array(TRUE, c(4, 3, 2))), "integer")
  expect_type(voxelImage(1:24 > 3, array(TRUE, c(4, 3, 2))), "logical")
})

test_that("images of other classes are arrays, too", {
  img <- small_image()
  x <- voxelMatrix(img)
  # As RNifti's: an array with a class and attributes of its own.
  classed <- structure(img, class = c("niftiImage", "array"), pixdim = rep(2, 4), .nifti_image_ptr = NULL)
  expect_identical(voxelMatrix(classed), x)
  # As oro.nifti's: S4, with slots beside the data.
  where <- environment()
  methods::setClass("imageOfTest", contains = "array", slots = c(pixdim = "numeric"), where = where)
  on.exit(methods::removeClass("imageOfTest", where = where))
  s4 <- methods::new("imageOfTest", img, pixdim = rep(2, 4))
  expect_identical(voxelMatrix(s4), x)
  mask <- methods::new("imageOfTest", img[, , , 1] %% 2, pixdim = 1)
  expect_identical(voxelMatrix(img, mask), voxelMatrix(img, img[, , , 1] %% 2))
  # What as.array() knows.
  registerS3method("as.array", "imageElsewhere", function(x, ...) img, envir = asNamespace("base"))
  expect_identical(voxelMatrix(structure("elsewhere", class = "imageElsewhere")), x)
})

test_that("values and volumes go back into the image", {
  x <- voxelMatrix(small_image(), small_image()[, , , 1] > 300L)
  n <- ncol(x)
  inside <- attr(x, "mask")
  map <- voxelImage(seq_len(n) / 2, x)
  expect_identical(dim(map), c(4L, 3L, 2L))
  expect_identical(map[inside], seq_len(n) / 2)
  expect_true(all(map[!inside] == 0))
  expect_true(all(is.na(voxelImage(seq_len(n) / 2, x, outside = NA)[!inside])))

  # A single row, as of one column with all, is a value for each voxel.
  r <- gpuCor(x[, 1], x)
  expect_identical(dim(r), c(1L, n))
  expect_identical(voxelImage(r, x)[inside], as.vector(r))

  two <- voxelImage(cbind(a = seq_len(n), b = -seq_len(n)), x)
  expect_identical(dim(two), c(4L, 3L, 2L, 2L))
  expect_identical(two[, , , 2], voxelImage(-seq_len(n), x))
  expect_identical(dim(voxelImage(matrix(1, n, 1), x)), c(4L, 3L, 2L, 1L))
  expect_identical(dim(voxelImage(matrix(1, n, 0), x)), c(4L, 3L, 2L, 0L))
  expect_identical(voxelImage(stats::setNames(seq_len(n), paste0("v", seq_len(n))), x), voxelImage(seq_len(n), x))
})

test_that("what is no image is an error that says so", {
  img <- small_image()
  expect_error(voxelMatrix(img[, , , 1]), "'img' must have 4 dimensions, x, y, z and time, not 3 (4 x 3 x 2)",
               fixed = TRUE)
  expect_error(voxelMatrix(array(0, rep(2, 5))), "not 5 (2 x 2 x 2 x 2 x 2)", fixed = TRUE)
  expect_error(voxelMatrix(1:10), "'img' must have 4 dimensions, x, y, z and time, not 1 (10)", fixed = TRUE)
  expect_error(voxelMatrix(img[, , , 1, drop = FALSE]),
               "'img' has 1 time point of 24 voxels (4 x 3 x 2 x 1)", fixed = TRUE)
  expect_error(voxelMatrix(array("a", c(2, 2, 2, 2))), "'img' must be a numeric array, not of class array")
  expect_error(voxelMatrix("file.nii"), "the file 'file.nii' does not exist")
  expect_error(voxelMatrix(mean), "'img' must be a numeric array, not of class function")
  expect_error(voxelMatrix(mtcars), "'img' must be a numeric array, not of class data.frame")
  expect_error(voxelMatrix(img > 3), "'img' must be a numeric array, not a logical one")
  expect_error(voxelMatrix(array(0, c(0, 3, 2, 6))), "'img' has no voxels: its dimensions are 0 x 3 x 2 x 6")
  expect_error(voxelMatrix(img * 0L), "none of the 24 voxels varies over time")
})

test_that("a mask that does not fit is an error that says so", {
  img <- small_image()
  expect_error(voxelMatrix(img, array(TRUE, c(4, 3, 3))), "'mask' is 4 x 3 x 3, but a volume of 'img' is 4 x 3 x 2")
  expect_error(voxelMatrix(img, array(TRUE, c(3, 4, 2))), "'mask' is 3 x 4 x 2")
  expect_error(voxelMatrix(img, img), "'mask' must have 3 dimensions, x, y and z, not 4 (4 x 3 x 2 x 6)", fixed = TRUE)
  expect_error(voxelMatrix(img, rep(TRUE, 24)), "'mask' must have 3 dimensions, x, y and z, not 1 (24)", fixed = TRUE)
  expect_error(voxelMatrix(img, array(c(0, NA), c(4, 3, 2))), "'mask' is empty: each of its 24 voxels is 0 or NA")
  expect_error(voxelMatrix(img, "all"), "the file 'all' does not exist")
  expect_error(voxelImage(1, array(FALSE, c(4, 3, 2))), "'mask' is empty")
  expect_error(voxelImage(1:6, matrix(TRUE, 2, 3)), "'mask' is a matrix (2 x 3) without the attribute", fixed = TRUE)
})

test_that("another number of values than of voxels is an error with both numbers", {
  img <- small_image()
  img[1, 1, 1, ] <- 0L
  mask <- array(TRUE, c(4, 3, 2))
  x <- suppressMessages(voxelMatrix(img, mask))
  expect_identical(dim(voxelImage(x[1, ], x)), c(4L, 3L, 2L))
  expect_error(voxelImage(x[1, ], mask), "for each of the 24 voxels inside 'mask', not 23; give as 'mask' the matrix")
  expect_error(voxelImage(t(x), mask), "for each of the 24 voxels inside 'mask', not 23 x 6;")
  expect_error(voxelImage(x, x), "for each of the 23 voxels inside 'mask', not 6 x 23; give t\\(values\\)")
  expect_error(pairMask(x, beyond_distance = 5), "not voxels' values; voxelCoords() has their places", fixed = TRUE)
  expect_error(voxelImage(numeric(), x), "for each of the 23 voxels inside 'mask', not 0;")
  expect_error(voxelImage(letters, x), "'values' must be numeric or logical, not of class character")
  expect_error(voxelImage(NULL, x), "'values' must be numeric or logical, not of class NULL")
})

test_that("a real image of 16-bit integers", {
  img <- read_int16(real_image())
  expect_identical(dim(img), c(17L, 21L, 3L, 20L))
  img[1:4, , , ] <- 0L # air
  expect_message(x <- voxelMatrix(img), "^252 of 1,071 voxels dropped")
  expect_type(x, "integer")
  expect_identical(ncol(x), 1071L - 252L)
  expect_identical(voxelImage(t(x), x), img)

  average <- rowMeans(img, dims = 3)
  mask <- average > 5000
  expect_silent(x <- voxelMatrix(img, mask))
  expect_identical(attr(x, "mask"), mask)
  expect_equal(colMeans(x), average[mask])
  columns <- seq(1, ncol(x), length.out = 40)
  expect_no_difference(gpuCor(x[, columns], output = "matrix"), cor(x[, columns]), "pearson")
})
