# Slices of images: which side is which.

# An image whose values are numbers of its voxels, with a header.
image_on <- function(affine, size = c(5, 6, 4)) {
  structure(array(seq_len(prod(size)), size), header = affine_header(affine), class = c("voxelImage", "array"))
}

# Affines of images stored in any order of the axes, in either direction, somewhat oblique.
affines <- function() {
  orders <- list(1:3, c(2, 1, 3), c(3, 1, 2), c(2, 3, 1))
  flips <- list(c(1, 1, 1), c(-1, 1, 1), c(1, -1, -1), c(-1, -1, -1))
  tilt <- qr.Q(qr(diag(3) + 0.15 * matrix(c(0, 1, -1, -1, 0, 1, 1, -1, 0), 3)))
  tilts <- list(diag(3), tilt %*% diag(sign(diag(tilt))))
  found <- list()
  for (order in orders) for (flip in flips) for (tilt in tilts) {
    m <- tilt %*% diag(3)[, order] %*% diag(flip * c(3, 2, 4))
    found <- c(found, list(rbind(cbind(m, c(10, -20, 5)), c(0, 0, 0, 1))))
  }
  found
}

test_that("images are turned upright whatever their affine is", {
  for (affine in affines()) {
    img <- image_on(affine)
    map <- gpucor:::upright(img)
    at <- arrayInd(seq_along(map$values), dim(map$values)) - 1
    mm <- cbind(at, 1) %*% t(map$affine[1:3, ])
    # Each voxel's number stays where the image's affine says that it is.
    where <- cbind(arrayInd(as.vector(map$values), dim(img)) - 1, 1) %*% t(affine[1:3, ])
    expect_equal(mm, where)
    for (axis in 1:3) expect_gt(cor(at[, axis], mm[, axis]), 0.8)
    expect_equal(sort(map$step), c(2, 3, 4))
  }
})

test_that("the right side is drawn on the right, the front and the top upwards", {
  for (affine in affines()[c(1, 4, 7, 14, 19, 30)]) {
    img <- image_on(affine, c(9, 9, 9))
    img[] <- 1L
    mm <- cbind(arrayInd(seq_along(img), dim(img)) - 1, 1) %*% t(affine[1:3, ])
    corner <- which.max(mm %*% c(1, 1.01, 0.99))
    img[corner] <- 9L
    map <- gpucor:::upright(img)
    box <- rbind(1L, dim(map$values))
    colors <- gpucor:::slice_colors(map$values, 0, FALSE)
    strongest <- colors$colors[length(colors$colors)]
    for (axis in 1:3) {
      pixels <- gpucor:::slice_pixels(9, map, NULL, box, axis, colors)
      expect_identical(unname(which(pixels == strongest, arr.ind = TRUE)), cbind(1L, 9L)) # top right
    }
  }
  # The same on paper, beside the key.
  img <- image_on(some_affine(), c(20, 20, 3)) # radiological
  img[] <- 10L
  img[1:5, , ] <- 60L # the first index is on the right
  drawn <- pixels_of(plot(img, slices = 1))[, 1:330]
  at <- function(color) range(which(colSums(drawn == color) > 0))
  colors <- gpucor:::sequential()[-(1:15)]
  expect_gt(at(colors[length(colors)])[1], at(colors[1])[2])
})

test_that("letters, positions and the key are there", {
  img <- image_on(some_affine())
  texts <- texts_of(plot(img, slices = 2, label = "degree", main = "Map"))
  expect_identical(sum(texts == "L"), 2L)
  expect_identical(sum(texts == "R"), 2L)
  expect_true(all(c("degree", "Map") %in% texts))
  expect_identical(sum(startsWith(texts, "z = ")), 2L)
  texts <- texts_of(plot(img, plane = "sagittal", at = c(84, 81.2)))
  expect_true(all(c("P", "A", "x = 84 mm", "x = 81 mm") %in% texts))
  expect_false("L" %in% texts)
  expect_identical(sum(startsWith(texts_of(plot(img, plane = "coronal", slices = 3)), "y = ")), 3L)
  # Without an affine nothing says which side is which.
  plain <- structure(unclass(img), header = list(pixdim = rep(1, 8)), class = class(img))
  texts <- texts_of(plot(plain, slices = 2))
  expect_false(any(c("L", "R") %in% texts))
  expect_true("slice 2" %in% texts)
})

test_that("values that are small, zero or missing are transparent", {
  img <- image_on(some_affine(), c(4, 4, 2)) + 0
  img[] <- c(0, NA, -3, 5, 0.5, 2, 1, -1)
  map <- gpucor:::upright(img)
  box <- rbind(1L, dim(map$values))
  pixels <- function(from, gray = NULL) {
    colors <- gpucor:::slice_colors(map$values, from, !is.null(gray))
    t(gpucor:::slice_pixels(1, map, gray, box, 3, colors))[4:1, 4:1] # as stored
  }
  values <- matrix(img[, , 1], 4)
  expect_identical(is.na(pixels(0)), is.na(values) | values == 0)
  expect_identical(is.na(pixels(1)), is.na(values) | abs(values) < 1)
  both <- gpucor:::slice_colors(map$values, 1, FALSE)
  expect_identical(both$limits, c(-5, 5))
  expect_identical(pixels(1)[3, 1], gpucor:::colors_of(-3, c(-5, 5), both$colors))
  # Small values are transparent; what is drawn has no pale color.
  expect_identical(both$colors[c(1, 51, 101)], c(gpucor:::diverging()[1], "grey85", gpucor:::diverging()[101]))
  expect_false(any(gpucor:::diverging()[37:65] %in% both$colors))
  positive <- gpucor:::slice_colors(pmax(map$values, 0), 1, FALSE)
  expect_identical(positive$limits, c(1, 5))
  gray <- gpucor:::gray_volume(array(1:32, c(4, 4, 2)), img)
  expect_identical(pixels(1, gray)[1, 1], grDevices::gray(gray[4, 1, 1]))
})

test_that("volumes of a series and backgrounds of all kinds are drawn; others are errors", {
  img <- image_with_affine()
  class(img) <- c("voxelImage", "array")
  draw <- function(...) invisible(pixels_of(plot(...)))
  expect_false(identical(draw(img, volume = 1), draw(img, volume = 2)))
  file <- file.path(temporary_folder(), "mean.nii.gz")
  average <- structure(rowMeans(img, dims = 3), header = affine_header())
  writeVoxels(average, file)
  map <- voxelImage(seq_len(60), voxelMatrix(img))
  expect_identical(draw(map, file, from = 30), draw(map, average, from = 30))
  expect_identical(draw(map, img, from = 30), draw(map, average, from = 30)) # a series by its mean
  writeVoxels(img, file <- file.path(temporary_folder(), "series.nii.gz"))
  expect_identical(draw(map, file, from = 30), draw(map, average, from = 30))
  expect_error(draw(map, average[, , 1:2]), "'background' is 5 x 4 x 2, but a volume of 'x' is 5 x 4 x 3")
  moved <- some_affine()
  moved[2, 4] <- 0
  expect_error(draw(map, structure(average, header = affine_header(moved))), "'background' is not on the grid of 'x'")
  expect_error(draw(img, volume = 9), "'volume' must be a whole number between 1 and 8")
  expect_error(draw(map, volume = 9), "'volume' must be 1, not 9")
  expect_error(draw(map, plane = "top"), "'plane' must be one of \"axial\", \"coronal\", \"sagittal\"")
  expect_error(draw(map, at = "z"), "'at' must be positions of slices")
  expect_error(draw(map, from = -1), "'from' must be a number")
  expect_error(draw(voxelImage(numeric(60), voxelMatrix(img))), "'x' has no voxel to draw")
  expect_silent(draw(voxelImage(rep(3, 60), voxelMatrix(img))))
  expect_silent(draw(voxelImage(rep(c(0, -3), 30), voxelMatrix(img)), from = 5))
})

test_that("voxels of a value or a larger one are outlined", {
  img <- image_on(some_affine(), c(9, 8, 3))
  img[] <- 0.2
  img[4:6, 3:5, ] <- 0.7
  ink <- function(...) sum(pixels_of(plot(img, slices = 1, ...), 300, 300) == "#000000")
  without <- ink()
  expect_identical(ink(above = 0.8), without) # nothing is above
  small <- ink(above = 0.7) - without
  expect_gt(small, 0)
  # Outlines of 6 x 6 voxels, and of 3 x 3 with a hole of one, are in proportion to their lengths.
  img[2:7, 2:7, ] <- 0.7
  expect_equal((ink(above = 0.7) - without) / small, 2, tolerance = 0.1)
  img[2:7, 2:7, ] <- 0.2
  img[4:6, 3:5, ] <- 0.7
  img[5, 4, ] <- NA
  expect_equal((ink(above = 0.7) - ink(above = 0.8)) / small, 16 / 12, tolerance = 0.1)
  expect_error(plot(img, above = "a"), "'above' must be a number")
})
