# What users have: images of several kinds, masks with a place of their own, volumes left out.

test_that("rows can be chosen, and the matrix still knows its voxels", {
  img <- image_with_affine()
  x <- voxelMatrix(img)
  good <- c(TRUE, FALSE, TRUE, TRUE, TRUE, FALSE, TRUE, TRUE)
  for (rows in list(good, which(good), -c(2, 6))) {
    some <- x[rows, ]
    expect_identical(attr(some, "mask"), attr(x, "mask"))
    expect_identical(unclass(some)[, ], unclass(x)[rows, ])
    expect_identical(voxelImage(some[1, ], some), voxelImage(x[1, ], x))
    expect_identical(x[rows, , drop = FALSE], some)
  }
  expect_identical(attr(x[3, , drop = FALSE], "mask"), attr(x, "mask"))
  expect_identical(x[good, ][2:3, ], structure(x[c(3, 4), ], tr = NULL))
  # Seconds between rows stay where the rows follow one another.
  for (rows in list(-(1:3), 2:8, c(FALSE, rep(TRUE, 5), FALSE, FALSE))) expect_identical(attr(x[rows, ], "tr"), 2)
  expect_identical(attr(x[, , drop = FALSE], "tr"), 2)
  for (rows in list(good, 8:2, c(1, 3), c(1, 1))) expect_null(attr(x[rows, ], "tr"))
  plain <- matrix(as.vector(x), nrow(x))
  # Columns are voxels.
  for (columns in list(3:7, -(1:2), seq_len(ncol(x)) %in% 4:9)) {
    some <- x[, columns]
    expect_identical(unclass(some)[, ], plain[, columns])
    expect_identical(voxelCoords(some), voxelCoords(x)[columns, ])
    expect_identical(voxelImage(some[1, ], some)[attr(some, "mask")], plain[1, columns])
    expect_identical(attr(some, "tr"), 2)
  }
  expect_identical(x[2:3, 3:7], x[2:3, ][, 3:7])
  named <- `colnames<-`(x, paste0("v", seq_len(ncol(x))))
  expect_identical(attr(named[, c("v3", "v7")], "mask"), attr(x[, c(3, 7)], "mask"))
  # All else is as of any matrix.
  expect_identical(x[3, ], plain[3, ])
  expect_identical(x[, 3], plain[, 3])
  expect_identical(x[, 7:3], plain[, 7:3])
  expect_identical(x[, c(3, 3)], plain[, c(3, 3)])
  expect_identical(x[5], plain[5])
  expect_identical(x[cbind(1:2, 3:4)], plain[cbind(1:2, 3:4)])
  expect_identical(x[plain > 500], plain[plain > 500])
  turned <- t(x)[1:4, ]
  expect_identical(matrix(as.vector(turned), 4), t(plain)[1:4, ])
  expect_identical(dim(as.data.frame(x)), dim(plain))
  expect_identical(crossprod(x), crossprod(plain))
  expect_equal(as.matrix(Matrix::crossprod(Matrix::Diagonal(8), x)), plain + 0)
  expect_identical(attr(scale(x), "mask"), attr(x, "mask"))
  x[] <- plain + 1
  expect_identical(attr(x[good, ], "mask"), attr(x, "mask"))
})

test_that("all functions take it as the matrix that it is", {
  x <- voxelMatrix(image_with_affine(c(5, 4, 3, 20)))
  plain <- matrix(as.vector(x), nrow(x))
  for (backend in backends()) {
    expect_identical(as.vector(gpuCor(x, backend = backend)), as.vector(gpuCor(plain, backend = backend)))
    expect_identical(gpuCor(x[, 1], x, backend = backend), gpuCor(plain[, 1], plain, backend = backend))
    expect_identical(without_call(gpuConnectivity(x, density = 0.1, backend = backend)),
                     without_call(gpuConnectivity(plain, density = 0.1, backend = backend)))
    expect_identical(slots_of(gpuCorNetwork(x, k = 3, method = "spearman", backend = backend)),
                     slots_of(gpuCorNetwork(plain, k = 3, method = "spearman", backend = backend)))
  }
})

test_that("volumes are kept by number or by a logical value for each", {
  img <- image_with_affine()
  img[2, 2, 2, 3:8] <- 7L # varies in the first volumes only
  x <- voxelMatrix(img)
  expect_identical(voxelMatrix(img, keep = rep(TRUE, 8)), x)
  expect_message(kept <- voxelMatrix(img, keep = 3:8), "^1 of 60 voxels dropped")
  expect_false(attr(kept, "mask")[2, 2, 2])
  expect_identical(suppressMessages(voxelMatrix(img, keep = -(1:2))), kept)
  expect_identical(suppressMessages(voxelMatrix(img, keep = c(8, 3, 5:7, 4, 4))), kept)
  expect_identical(voxelMatrix(img, keep = c(1:3, 5)), x[c(1:3, 5), ])
  expect_error(voxelMatrix(img, keep = 1), "'keep' leaves 1 of 8 volumes")
  expect_error(voxelMatrix(img, keep = rep(TRUE, 7)),
               "for each of the 8 volumes of 'img', or numbers .* [(]7 values[)]")
  for (wrong in list(9, 1.5, c(-1, 2), c(TRUE, NA), NA, "all", 0:3, quote(z), sum)) {
    expect_error(voxelMatrix(img, keep = wrong), "'keep' must be")
  }
})

test_that("a mask of probabilities is cut where it is told to be", {
  img <- image_with_affine()
  set.seed(2)
  probability <- array(runif(60), c(5, 4, 3))
  probability[3] <- 0.5
  probability[4] <- NA
  x <- voxelMatrix(img, probability, above = 0.5)
  expect_identical(which(attr(x, "mask")), which(probability > 0.5))
  expect_identical(ncol(voxelMatrix(img, probability)), 59L)
  expect_error(voxelMatrix(img, probability, above = 2), "each of its 60 voxels is at most 2 or NA")
  expect_error(voxelMatrix(img, above = 0.5), "'above' must be left out without 'mask', not 0.5")
  expect_error(voxelMatrix(img, probability, above = "half"), "'above' must be a number")
})

test_that("lists of volumes and dimensions of 1 are images", {
  img <- image_with_affine()
  x <- voxelMatrix(img)
  volumes <- lapply(1:8, function(k) structure(img[, , , k], header = attr(img, "header")))
  expect_identical(voxelMatrix(volumes), x)
  volumes[[3]] <- array(volumes[[3]], c(5, 4, 3, 1))
  expect_identical(voxelMatrix(volumes), x)
  volumes[[2]] <- volumes[[2]] + 0
  expect_type(voxelMatrix(volumes), "double")
  expect_equal(voxelMatrix(volumes)[, ], x[, ])
  longer <- structure(array(img, c(5, 4, 3, 8, 1, 1)), header = attr(img, "header"))
  expect_identical(voxelMatrix(longer), x)
  expect_identical(voxelMatrix(img, array(TRUE, c(5, 4, 3, 1))), x)
  expect_identical(voxelImage(x[1, ], array(1, c(5, 4, 3, 1)))[, , ], img[, , , 1])

  expect_error(voxelMatrix(list()), "'img' must be a volume for each time point, not an empty list")
  expect_error(voxelMatrix(volumes[1]), "'img' has 1 time point of 60 voxels (5 x 4 x 3 x 1)", fixed = TRUE)
  volumes[[5]] <- array(0, c(5, 4, 2))
  expect_error(voxelMatrix(volumes), "'img[[5]]' is 5 x 4 x 2, but a volume of 'img[[1]]' is 5 x 4 x 3", fixed = TRUE)
  expect_error(voxelMatrix(list(1:3, 1:3)), "'img[[1]]' must have 3 dimensions, x, y and z, not 1 (3)", fixed = TRUE)
})

test_that("a mask that lies elsewhere is an error with both affines", {
  img <- image_with_affine()
  mask <- structure(array(1L, c(5, 4, 3)), header = affine_header())
  expect_identical(voxelMatrix(img, mask), voxelMatrix(img))
  flipped <- some_affine()
  flipped[1, ] <- c(3, 0, 0.25, 78)
  attr(mask, "header") <- affine_header(flipped)
  said <- tryCatch(voxelMatrix(img, mask), error = conditionMessage)
  for (part in c("'mask' is not on the grid of 'img': voxels of the same indices are up to 12 mm apart",
                 "of 'mask' is [3 0 0.25 78; 0 3 0 -126; 0 0.5 3.5 -72], that of 'img' [-3 0 0.25 90;")) {
    expect_match(said, part, fixed = TRUE)
  }
  expect_identical(voxelMatrix(img, array(mask, dim(mask))), voxelMatrix(img)) # the way out that it names
  # Headers are rounded; a hundredth of a voxel is no other place.
  near <- some_affine()
  near[, 4] <- near[, 4] + c(0.02, 0, 0, 0)
  attr(mask, "header") <- affine_header(near)
  expect_identical(voxelMatrix(img, mask), voxelMatrix(img))
  near[1, 1] <- near[1, 1] + 0.05
  attr(mask, "header") <- affine_header(near)
  expect_error(voxelMatrix(img, mask), "is not on the grid")
  volumes <- list(structure(img[, , , 1], header = affine_header()),
                  structure(img[, , , 2], header = affine_header(flipped)))
  expect_error(voxelMatrix(volumes), "'img[[2]]' is not on the grid of 'img[[1]]'", fixed = TRUE)
  # The mask's place serves where the image has none.
  attr(img, "header") <- NULL
  expect_identical(attr(attr(voxelMatrix(img, mask), "mask"), "header"), attr(mask, "header"))
})

test_that("the qform is the affine where there is no sform", {
  # 90 degrees about z, x reversed: by NIfTI's formulas.
  header <- list(pixdim = c(-1, 2, 3, 4, 1, 0, 0, 0), qform_code = 1L, sform_code = 0L, quatern_b = 0, quatern_c = 0,
                 quatern_d = sqrt(0.5), qoffset_x = 5, qoffset_y = 6, qoffset_z = 7)
  img <- structure(array(rnorm(2 * 3 * 2 * 4), c(2, 3, 2, 4)), header = header)
  x <- voxelMatrix(img)
  expect_equal(voxelCoords(x)[1, ], c(x = 5, y = 6, z = 7))
  expect_equal(voxelCoords(x)[2, ], c(x = 5, y = 8, z = 7))  # one on in x: 2 mm to the front
  expect_equal(voxelCoords(x)[3, ], c(x = 2, y = 6, z = 7))  # one on in y: 3 mm to the left
  expect_equal(voxelCoords(x)[7, ], c(x = 5, y = 6, z = 3))  # one on in z: 4 mm down
  header$sform_code <- 2L
  header[c("srow_x", "srow_y", "srow_z")] <- list(c(1, 0, 0, 0), c(0, 1, 0, 0), c(0, 0, 1, 0))
  attr(img, "header") <- header
  expect_identical(unname(voxelCoords(voxelMatrix(img))[8, ]), c(1, 0, 1))
  expect_error(voxelCoords(voxelMatrix(array(rnorm(24), c(2, 3, 2, 2)))), "'x' has no affine")
})

test_that("images of oro.nifti tell their place by their slots", {
  where <- environment()
  slots <- c(pixdim = "numeric", xyzt_units = "numeric", qform_code = "numeric", sform_code = "numeric",
             srow_x = "numeric", srow_y = "numeric", srow_z = "numeric", reoriented = "logical")
  methods::setClass("niftiOfTest", contains = "array", slots = slots, where = where)
  on.exit(methods::removeClass("niftiOfTest", where = where))
  of <- function(values, affine, reoriented = FALSE) {
    do.call(methods::new, c(list("niftiOfTest", values), affine_header(affine), reoriented = reoriented))
  }
  values <- image_with_affine()
  attr(values, "header") <- NULL
  img <- of(values, some_affine())
  x <- voxelMatrix(img)
  expect_equal(voxelCoords(x), voxelCoords(voxelMatrix(image_with_affine())))
  other <- some_affine()
  other[1, 4] <- -90
  mask <- array(1, c(5, 4, 3))
  expect_error(voxelMatrix(img, of(mask, other)), "is not on the grid of 'img'")
  expect_identical(voxelMatrix(img, of(mask, some_affine())), x)
  expect_error(voxelMatrix(img, of(mask, some_affine(), TRUE)), "turned by oro.nifti; read both with reorient = FALSE")
  turned <- voxelMatrix(of(values, some_affine(), TRUE), of(mask, some_affine(), TRUE))
  expect_error(voxelCoords(turned), "turned by oro.nifti")
  expect_error(writeVoxels(turned[1, ], tempfile(fileext = ".nii"), turned), "turned by oro.nifti")
})

test_that("RNifti's images are read with their place and given back", {
  skip_if_not_installed("RNifti")
  folder <- temporary_folder()
  file <- file.path(folder, "img.nii.gz")
  writeVoxels(image_with_affine(), file)
  x <- voxelMatrix(file)
  for (internal in c(FALSE, TRUE)) {
    img <- RNifti::readNifti(file, internal = internal)
    found <- voxelMatrix(img)
    expect_identical(unclass(found)[, ], unclass(x)[, ])
    expect_equal(voxelCoords(found), voxelCoords(x))
    map <- voxelImage(seq_len(ncol(x)), found)
    expect_s3_class(map, "niftiImage")
    expect_equal(RNifti::xform(map), some_affine(), ignore_attr = TRUE)
    expect_identical(as.vector(map), seq_len(ncol(x)))
  }
  RNifti::writeNifti(RNifti::readNifti(file), file.path(folder, "pair.hdr"))
  expect_identical(unclass(voxelMatrix(file.path(folder, "pair.hdr")))[, ], unclass(x)[, ])
})

test_that("outside is 0 unless told otherwise, of the values' type", {
  mask <- array(c(TRUE, FALSE), c(2, 3, 2))
  expect_identical(voxelImage(1:6, mask)[mask], 1:6)
  expect_identical(voxelImage(1:6, mask)[!mask], integer(6))
  expect_identical(voxelImage(1:6 > 2, mask)[!mask], logical(6))
  expect_identical(voxelImage(1:6 / 2, mask, outside = -1)[!mask], rep(-1, 6))
  expect_identical(voxelImage(1:6, mask, outside = NA)[!mask], rep(NA_integer_, 6))
  expect_identical(voxelImage(1:6, mask, outside = 0.5)[!mask], rep(0.5, 6))
  expect_error(voxelImage(1:6, mask, outside = "none"), "'outside' must be one number or NA")
  expect_error(voxelImage(1:6, mask, outside = 1:2), "'outside' must be one number or NA")
  expect_identical(attributes(voxelImage(1:6, mask)), list(dim = c(2L, 3L, 2L)))
})

test_that("the time between volumes is known as long as it is one time", {
  img <- image_with_affine()
  expect_identical(attr(voxelMatrix(img), "tr"), 2)
  expect_identical(attr(voxelMatrix(img, keep = 3:7), "tr"), 2)
  expect_null(attr(voxelMatrix(img, keep = c(1, 3, 5)), "tr"))
  expect_null(attr(voxelMatrix(img)[-3, ], "tr"))
  for (unit in list(c(16, 0.002), c(24, 2e-6), c(8, 2), c(0, NA))) {
    attr(img, "header")$xyzt_units <- unit[1] + 2
    expect_equal(attr(voxelMatrix(img), "tr"), if (!is.na(unit[2])) unit[2])
  }
  attr(img, "header") <- NULL
  expect_null(attr(voxelMatrix(img), "tr"))
})

test_that("an image prints what it is, not its voxels", {
  file <- file.path(temporary_folder(), "series.nii")
  writeVoxels(image_with_affine(), file)
  img <- readVoxels(file)
  shown <- paste0("^Image of 5 x 4 x 3 voxels, 8 volumes 2 s apart: integer\n",
                  "voxels of 3 x 3.041 x 3.509 mm, axes to the left, front, top\naffine \\[-3 0 0.25 90; .*\\]$")
  expect_output(print(img), shown)
  expect_output(print(img + 0.5), "2 s apart: double\n")
  x <- voxelMatrix(img)
  expect_output(print(attr(x, "mask")), "^Image of 5 x 4 x 3 voxels: logical, 60 of 60 TRUE\nvoxels of 3")
  expect_output(print(voxelImage(x[1, ], x)), "^Image of 5 x 4 x 3 voxels: integer\nvoxels of 3")
  expect_output(print(voxelImage(t(x), x)), "^Image of 5 x 4 x 3 voxels, 8 volumes: integer\n")
  # It is an array in all else.
  plain <- array(image_with_affine(), dim(img))
  expect_identical(img[, , , ], plain)
  expect_identical(img[, , 2, 1], plain[, , 2, 1])
  expect_identical(rowMeans(img, dims = 3), rowMeans(plain, dims = 3))
  expect_identical(apply(img, 4, max), apply(plain, 4, max))
  expect_identical(aperm(img), aperm(plain))
  expect_identical(img > 500, plain > 500)
  methods::setClass("holdsArray", contains = "array", where = environment()) # as oro.nifti's images do
  expect_s4_class(methods::new("holdsArray", img), "holdsArray")
  expect_error(gpuCor(img), conditionMessage(tryCatch(gpuCor(plain), error = identity)), fixed = TRUE)
})

test_that("a matrix says what it is", {
  x <- voxelMatrix(image_with_affine())
  expect_output(print(x), "^8 time points 2 s apart of 60 of 60 voxels \\(5 x 4 x 3\\)\naffine \\[-3 0")
  expect_output(print(unclass(voxelMatrix(image_with_affine()))[1:2, 1:3]), "[1,]", fixed = TRUE)
})

test_that("an image is in memory once while it is read", {
  skip_if_not(capabilities("profmem"), "R does not record allocations")
  file <- withr::local_tempfile(fileext = ".nii.gz")
  log <- withr::local_tempfile()
  writeVoxels(array(1:120000, c(30, 20, 20, 10)), file, array(0, c(30, 20, 20)))
  for (call in 1:3) readVoxels(file) # until it is compiled
  utils::Rprofmem(log, threshold = 4 * 120000)
  img <- readVoxels(file)
  utils::Rprofmem(NULL)
  made <- sub('.*? :"([^"]*)".*', "\\1", readLines(log)) # by which function
  expect_identical(sum(made %in% c(".Call", "withCallingHandlers", "new_zeros", "readVoxels")), 1L)
})
