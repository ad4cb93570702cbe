# Uncompressed images as data: the same results as of their matrices.

# The voxels inside vary, so that voxelMatrix() has the same columns.
image_data <- function() {
  img <- image_with_affine(c(7, 6, 5, 40))
  mask <- structure(array(rep(c(FALSE, TRUE, TRUE), length.out = 210), c(7, 6, 5)), header = attr(img, "header"))
  list(img = img, mask = mask)
}

test_that("an image gives what its matrix gives", {
  data <- image_data()
  file <- tempfile(fileext = ".nii")
  for (k in 1:2) {
    writeVoxels(if (k == 1) data$img else data$img + 0.5, file)
    for (mask in list(NULL, data$mask)) {
      x <- voxelMatrix(file, mask)
      y <- gpuCorFile(file, mask = mask)
      expect_identical(dim(y), dim(x))
      plain <- matrix(as.vector(x), nrow(x)) + 0
      expect_identical(y[, ], plain)
      expect_identical(y[, c(9, 2, 100)], plain[, c(9, 2, 100)])
      expect_identical(attr(y, "tr"), 2)
      expect_identical(as.vector(gpuCor(y)), as.vector(gpuCor(x)))
      expect_identical(slots_of(gpuCorNetwork(y, density = 0.05, method = "spearman")),
                       slots_of(gpuCorNetwork(x, density = 0.05, method = "spearman")))
      expect_identical(gpuCor(y[, 3], y, bandpass = c(0, 0.1))[1, ], gpuCor(x[, 3], x, bandpass = c(0, 0.1))[1, ])
      values <- seq_len(ncol(x))
      expect_identical(voxelImage(values, y), voxelImage(values, x))
      expect_identical(voxelCoords(y), voxelCoords(x))
      atlas <- voxelImage(values %/% 50, x)
      expect_identical(parcelMeans(y, atlas), parcelMeans(x, atlas))
      map <- tempfile(fileext = ".nii")
      writeVoxels(values, map, y)
      expect_identical(as.vector(readVoxels(map)), as.vector(voxelImage(values, x)))
    }
    unlink(file)
  }
  writeVoxels(data$img, file)
  expect_output(print(gpuCorFile(file)), "40 observations x 210 variables in .*NIfTI, 7 x 6 x 5 voxels")
  again <- unserialize(serialize(gpuCorFile(file), NULL))
  expect_identical(as.vector(gpuCor(again)), as.vector(gpuCor(voxelMatrix(file))))
})

test_that("every type of voxels, both byte orders and scaling are read", {
  file <- tempfile(fileext = ".nii")
  values <- (seq_len(4 * 3 * 2 * 5) * 37L) %% 127L
  for (endian in c("little", "big")) {
    for (type in list(c(2, 1), c(4, 2), c(8, 4), c(256, 1), c(512, 2))) { # NIfTI's code, bytes
      voxels <- writeBin(values, raw(), size = type[2], endian = endian)
      write_voxel_bytes(file, as.integer(type[1]), c(0.5, -3), endian, voxels)
      expect_identical(gpuCorFile(file)[, ], t(matrix(values * 0.5 - 3, 24)), label = paste(endian, type[1]))
    }
    write_voxel_bytes(file, 16L, c(0, 0), endian, writeBin(values / 8, raw(), size = 4, endian = endian))
    expect_identical(gpuCorFile(file)[, 5:20], t(matrix(values / 8, 24))[, 5:20])
  }
})

test_that("dense series are read by grayordinates", {
  skip_if_not_installed("xml2")
  file <- tempfile(fileext = ".dtseries.nii")
  values <- grayordinate_series()
  write_dtseries(values, file)
  x <- gpuCorFile(file, mask = c(rep(FALSE, 4), rep(TRUE, 16)))
  expect_identical(x[, ], values[, -(1:4)])
  expect_identical(x[, 7:3], values[, 11:7])
  expect_identical(attr(x, "tr"), 0.72)
  expect_identical(without_call(gpuConnectivity(x, density = 0.2)),
                   without_call(gpuConnectivity(values[, -(1:4)], density = 0.2)))
  expect_identical(voxelImage(1:16, x)[1:6], c(0L, 0L, 0L, 0L, 1L, 2L))
})

test_that("what cannot be read is an error that says so", {
  data <- image_data()
  file <- tempfile(fileext = ".nii")
  packed <- paste0(file, ".gz")
  writeVoxels(data$img, file)
  writeVoxels(data$img, packed)
  expect_error(gpuCorFile(packed), "which is compressed: voxelMatrix\\(\\) reads it")
  expect_error(gpuCorFile(file, mask = data$mask[1:3, , ]), "'mask' is 3 x 6 x 5, but a volume of 'img' is 7 x 6 x 5")
  expect_error(gpuCorFile(file, mask = data$mask & FALSE), "'mask' is empty")
  expect_error(gpuCorFile(file, c(40, 210), mask = data$mask), "'mask' is for images")
  x <- gpuCorFile(file)
  bytes <- readBin(file, "raw", file.size(file))
  writeBin(bytes[seq_len(length(bytes) - 4)], file)
  expect_error(gpuCor(x), "is absent or has changed since gpuCorFile\\(\\) read its header")
  expect_error(gpuCorFile(file), "ends before its last voxel")
  writeBin(raw(400), file)
  expect_error(gpuCorFile(file), "is not a NIfTI file")
})

test_that("a changed object reads nothing outside its values", {
  data <- image_data()
  file <- tempfile(fileext = ".nii")
  writeVoxels(data$img, file)
  x <- gpuCorFile(file)
  changes <- list(voxels = rep(1e9, 210), voxels = rep(-5, 210), voxels = rep(NA_real_, 210), step = c(-210, 1),
                  step = c(210, -1), step = c(1, 1e6), size = 1L, offset = 1e9, voxels = "a", format = list(),
                  format = replace(x$format, "type", 64L), format = replace(x$format, "type", 3L),
                  format = replace(x$format, "type", NA))
  for (k in seq_along(changes)) {
    changed <- unclass(x)
    changed[[names(changes)[k]]] <- changes[[k]]
    changed <- structure(changed, class = class(x))
    expect_error(changed[, ], class = "gpucor_error", label = paste(names(changes)[k], k))
  }

  # The entries check blocks themselves.
  values <- as.double(1:6)
  block <- function(rows, columns, column = 1, of = values) {
    list(values = of, row = 1, rows = rows, column = column, columns = columns)
  }
  put <- function(to, first, step, block) .Call(gpucor:::r_put_block, to, first, step, block)
  to <- numeric(6)
  put(to, 0, 2, block(c(0, 1), c(0, 2, 4)))
  expect_identical(to, values)
  bad <- list(block(6, 0), block(-1, 0), block(NaN, 0), block(0, 6), block(3, 3), block(1e300, 0), block(0L, 0),
              block(0, 0L), block(0, 0, 0), block(0, 0, NA), block("0", 0), block(0, 0, of = "a"),
              block(0, NULL, of = list(bytes = 1, type = 2L, swapped = FALSE, slope = 1, inter = 0)))
  for (one in bad) {
    expect_error(put(to + 0, 0, 2, one))
    expect_error(.Call(gpucor:::r_add_variation, rep(NA_real_, 2), logical(2), one))
  }
  good <- block(c(0, 1), c(0, 2, 4))
  for (where in list(c(1, 2), c(-1, 2), c(0, 3), c(0, -1), c(0, 1e300), c(NaN, 2), c(0, NA), c(2^60, 2))) {
    expect_error(put(to + 0, where[1], where[2], good), label = toString(where))
  }
  expect_error(put("a", 0, 2, good))
  expect_error(.Call(gpucor:::r_add_variation, rep(NA_real_, 2), logical(2), good))
  expect_error(.Call(gpucor:::r_add_variation, rep(NA_real_, 3), logical(2), good))
  expect_error(.Call(gpucor:::r_add_variation, rep(NA_real_, 3), logical(3), block(0, c(0, 1), 3)))
})
