# Images and maps in files: NIfTI.

number_at <- function(file, at, what, n, size) {
  connection <- gzfile(file, "rb")
  on.exit(close(connection))
  bytes <- readBin(connection, "raw", at + n * size)
  readBin(bytes[at + seq_len(n * size)], what, n, size = size, endian = "little")
}

test_that("voxels of every type, in both byte orders, are read", {
  file <- file.path(temporary_folder(), "series.nii")
  small <- (seq(0, 119) * 37L) %% 251L
  word <- function(values) suppressWarnings(as.integer(values - 2^32 * (values >= 2^31))) # NA: 0x80000000
  far <- c(-2^62, seq(-2^40, by = 2^33 - 3, length.out = 119))
  types <- list( # code, bytes of a number, values, what writeBin() writes
    list(2L, 1, small), list(256L, 1, small - 125L), list(4L, 2, small - 125L), list(512L, 2, small * 200L),
    list(8L, 4, replace(small * 8000000L - 1000000000L, 7, NA)), list(16L, 4, small / 8),
    list(64L, 8, replace(small / 7, 1:3, c(NA, NaN, Inf))), list(768L, 4, small * 2^24, word(small * 2^24)),
    list(1024L, 4, far, list(little = rbind(word(far %% 2^32), far %/% 2^32),
                             big = rbind(far %/% 2^32, word(far %% 2^32)))))
  for (endian in c("little", "big")) for (type in types) for (scale in list(c(1, 0), c(0, 9), c(0.5, -3))) {
    written <- type[[length(type)]]
    if (is.list(written)) written <- as.integer(written[[endian]])
    write_voxel_bytes(file, type[[1]], scale, endian, writeBin(written, raw(), size = type[[2]], endian = endian))
    truth <- array(if (scale[1] == 0.5) type[[3]] * 0.5 - 3 else type[[3]], c(4, 3, 2, 5))
    expect_identical(array(readVoxels(file), dim(truth)), truth, label = paste(endian, type[[1]], scale[1]))
    expect_identical(unclass(voxelMatrix(file))[2:4, ], t(matrix(truth, 24))[2:4, ])
  }
})

test_that("a map comes back from its file", {
  folder <- temporary_folder()
  img <- image_with_affine()
  mask <- img[, , , 1] > 300
  x <- voxelMatrix(img, mask)
  n <- ncol(x)
  k <- 0
  kinds <- list(seq_len(n), seq_len(n) / 7, seq_len(n) %% 2 == 0, cbind(a = seq_len(n), b = -seq_len(n)),
                c(NaN, seq_len(n - 1)))
  for (values in kinds) {
    for (ending in c(".nii", ".nii.gz")) {
      file <- file.path(folder, paste0(k <- k + 1, ending))
      expect_identical(withVisible(writeVoxels(values, file, x)), list(value = file, visible = FALSE))
      back <- readVoxels(file)
      want <- voxelImage(values, x)
      if (is.logical(values)) storage.mode(want) <- "integer"
      expect_identical(back[seq_along(want)], as.vector(want))
      expect_identical(dim(back), dim(want))
      expect_identical(typeof(back), typeof(want))
      # The place is what it was: of the file a matrix can be made that fits the first one.
      expect_equal(voxelCoords(voxelImage(rep(1, n), attr(x, "mask"))), voxelCoords(x))
      place <- c("srow_x", "srow_y", "srow_z", "sform_code", "qform_code")
      expect_equal(attr(back, "header")[place], attr(img, "header")[place])
      expect_equal(attr(back, "header")$pixdim[1:4], attr(img, "header")$pixdim[1:4], tolerance = 1e-7)
    }
  }
  unlink(file)
  writeVoxels(structure(array(3L, dim(mask)), header = NULL), file, voxelMatrix(img)) # an image, the place of another
  expect_identical(attr(readVoxels(file), "header")$srow_x, some_affine()[1, ])
  file <- file.path(folder, "0.nii.gz")
  writeVoxels(rep(1L, n), file, attr(x, "mask"))
  expect_identical(unclass(voxelMatrix(img, file))[, ], unclass(x)[, ])
  expect_length(dir(folder, all.files = TRUE, no.. = TRUE), k + 1L) # nothing unfinished is left
})

test_that("the bytes of a header are where NIfTI-1 has them", {
  file <- file.path(temporary_folder(), "map.nii.gz")
  img <- image_with_affine()
  writeVoxels(voxelImage(1:60, voxelMatrix(img)), file)
  expect_identical(number_at(file, 0, "integer", 1, 4), 348L)
  expect_identical(number_at(file, 40, "integer", 8, 2), c(3L, 5L, 4L, 3L, 1L, 1L, 1L, 1L))
  expect_identical(number_at(file, 70, "integer", 2, 2), c(8L, 32L)) # signed int
  expect_equal(number_at(file, 76, "double", 8, 4), c(1, sqrt(c(9, 9.25, 12.3125)), 1, 1, 1, 1), tolerance = 1e-7)
  expect_identical(number_at(file, 108, "double", 3, 4), c(352, 1, 0))
  expect_identical(number_at(file, 123, "integer", 1, 1), 2L) # mm
  expect_identical(number_at(file, 252, "integer", 2, 2), c(0L, 4L)) # only a sform, in MNI space
  expect_identical(number_at(file, 280, "double", 12, 4), as.vector(t(some_affine()[1:3, ])))
  expect_identical(number_at(file, 344, "integer", 4, 1), c(utf8ToInt("n+1"), 0L))
  expect_identical(number_at(file, 348, "integer", 61, 4), 0:60)
})

test_that("a missing integer is no number in a file", {
  file <- file.path(temporary_folder(), "map.nii")
  x <- voxelMatrix(image_with_affine())
  writeVoxels(c(NA, 2:60), file, x)
  expect_identical(c(readVoxels(file)), c(NA, 2:60) + 0)
  mask <- array(c(TRUE, FALSE, TRUE), c(5, 4, 3))
  unlink(file)
  writeVoxels(1:40, file, mask)
  expect_identical(readVoxels(file)[!mask], rep(0L, 20))
  unlink(file)
  writeVoxels(1:40, file, mask, outside = NA)
  expect_identical(readVoxels(file)[!mask], rep(NA_real_, 20))
  expect_identical(number_at(file, 70, "integer", 1, 2), 64L)
})

test_that("large dimensions take NIfTI-2", {
  file <- file.path(temporary_folder(), "long.nii.gz")
  img <- array(1:66000, c(33000, 2, 1))
  writeVoxels(voxelImage(1:66000, array(TRUE, dim(img))), file, array(TRUE, dim(img)))
  expect_identical(number_at(file, 0, "integer", 1, 4), 540L)
  expect_identical(number_at(file, 16, "integer", 8, 4), c(3L, 0L, 33000L, 0L, 2L, 0L, 1L, 0L))
  expect_identical(c(readVoxels(file)), c(img))
})

test_that("a series is read from its file, only what is wanted of it", {
  folder <- temporary_folder()
  img <- image_with_affine()
  img[1, 3, 1, ] <- 5L
  file <- file.path(folder, "img.nii.gz")
  writeVoxels(img, file)
  mask <- array(seq_len(60) %% 3 > 0, c(5, 4, 3))
  for (keep in list(NULL, c(2:4, 8), -1)) {
    expect_message(x <- voxelMatrix(file, mask, keep), "^1 of 40 voxels dropped")
    want <- suppressMessages(voxelMatrix(img, mask, keep))
    expect_identical(unclass(x)[, ], unclass(want)[, ])
    expect_identical(which(attr(x, "mask")), which(attr(want, "mask")))
    expect_equal(voxelCoords(x), voxelCoords(want))
  }
  expect_identical(voxelMatrix(readVoxels(file)[, , 2:3, ]), voxelMatrix(img[, , 2:3, ]))
  # A file for each volume.
  files <- file.path(folder, paste0("v", 1:8, ".nii"))
  for (k in 1:8) writeVoxels(structure(img[, , , k], header = attr(img, "header")), files[k])
  found <- suppressMessages(list(voxelMatrix(files, mask), voxelMatrix(img, mask)))
  expect_identical(unclass(found[[1]])[, ], unclass(found[[2]])[, ])
})

test_that("values are scaled as the header says", {
  file <- file.path(temporary_folder(), "map.nii")
  writeVoxels(structure(array(1:24, 4:2), header = affine_header()), file)
  plain <- readBin(file, "raw", 1e4)
  scaled_by <- function(slope, inter) {
    writeBin(replace(plain, 113:120, writeBin(c(slope, inter), raw(), size = 4L)), file)
    c(readVoxels(file))
  }
  expect_identical(scaled_by(0.5, 10), 1:24 * 0.5 + 10)
  expect_identical(scaled_by(1, -3), 1:24 - 3)
  expect_identical(scaled_by(-2, 0), 1:24 * -2)
  for (none in list(c(1, 0), c(0, 0), c(0, 5), c(NaN, 0))) expect_identical(scaled_by(none[1], none[2]), 1:24)
})

test_that("files that cannot be read or written say why", {
  folder <- temporary_folder()
  at <- function(name) file.path(folder, name)
  x <- voxelMatrix(image_with_affine())
  writeVoxels(1:60, at("map.nii"), x)
  expect_error(writeVoxels(1:60, at("map.nii"), x), "which exists; remove it or choose another name")
  expect_error(writeVoxels(1:60, at("map.img"), x), "the name of an image of NIfTI, which ends in .nii or .nii.gz")
  expect_error(writeVoxels(1:60, at("map.dscalar.nii"), x), "the name of an image of NIfTI, which ends in .nii")
  expect_error(writeVoxels(1:59, at("a.nii"), x), "for each of the 60 voxels inside 'reference', not 59")
  expect_error(writeVoxels(1:60, at("a.nii")), "'reference' must be what says where the voxels of 'values' are")
  expect_error(writeVoxels(x, at("a.nii")), "such as the matrix that voxelMatrix() returned", fixed = TRUE)
  expect_error(writeVoxels(x, at("a.nii"), x), "inside 'reference', not .*; give t\\(values\\)")
  expect_identical(c(readVoxels(writeVoxels(t(x), at("series.nii"), x))), c(image_with_affine()))
  expect_error(writeVoxels(1:60, at("a.nii"), at("series.nii")),
               "'reference' must have 3 dimensions.*voxelMatrix\\(\\)")
  sums <- gpuConnectivity(x, power = 1:2)
  expect_error(writeVoxels(sums, at("a.nii"), x), "as.matrix(as.data.frame(values)[-1])", fixed = TRUE)
  expect_identical(dim(readVoxels(writeVoxels(as.matrix(as.data.frame(sums)[-1]), at("sums.nii"), x))),
                   c(5L, 4L, 3L, 2L))
  expect_error(writeVoxels(array(1, c(5, 4, 2)), at("a.nii"), x), "is 5 x 4 x 2, but a volume of 'reference' is 5 x")
  expect_error(readVoxels(at("none.nii")), "the file '.*none.nii' does not exist")
  expect_error(readVoxels(folder), "is a folder")
  expect_error(readVoxels(1), "'file' must be one string")

  bytes <- readBin(at("map.nii"), "raw", 1e4)
  cut <- function(name, bytes) {
    writeBin(bytes, at(name))
    at(name)
  }
  expect_error(readVoxels(cut("short.nii", bytes[-length(bytes)])), "'.*short.nii' ends before its last voxel")
  expect_error(readVoxels(cut("header.nii", bytes[1:200])), "ends before its last voxel")
  expect_error(voxelMatrix(at("map.nii")), "'img' must have 4 dimensions, x, y, z and time, not 3 \\(5 x 4 x 3\\)")
  bytes[71:72] <- as.raw(c(128, 0)) # RGB
  expect_error(readVoxels(cut("colors.nii", bytes)), "voxels of NIfTI's type 128")
  for (other in list(raw(0), charToRaw("no image"), replace(bytes, 345:348, charToRaw("ni1 ")))) {
    expect_error(readVoxels(cut("other.nii", other)), "is not a NIfTI file .*; package RNifti reads")
    expect_error(readVoxels(cut("other.MGZ", other)), "is not a NIfTI file; FreeSurfer's mri_convert makes one of it")
  }
})

test_that("voxels begin where vox_offset says, at the first possible byte if it is 0", {
  folder <- temporary_folder()
  at <- function(name) file.path(folder, name)
  img <- image_with_affine()
  mask <- img[, , , 1] > 0
  writeVoxels(structure(unclass(img), header = affine_header()), at("one.nii"))
  two <- array(seq_len(2 * 33000), c(33000, 1, 1, 2))
  writeVoxels(two, at("two.nii"))
  with_offset <- function(name, offset, version = 1L) {
    bytes <- readBin(at(c("one.nii", "two.nii")[version]), "raw", 1e6)
    piece <- if (version == 1L) writeBin(offset, raw(), size = 4L, endian = "little") else writeBin(
      as.integer(c(offset, -(offset < 0))), raw(), endian = "little")
    where <- if (version == 1L) 108 else 168
    connection <- if (endsWith(name, ".gz")) gzfile(at(name), "wb") else file(at(name), "wb")
    writeBin(replace(bytes, where + seq_along(piece), piece), connection)
    close(connection)
    at(name)
  }
  for (name in c("zero.nii", "zero.nii.gz")) {
    file <- with_offset(name, 0)
    expect_identical(c(readVoxels(file)), c(readVoxels(at("one.nii"))))
    expect_identical(unclass(voxelMatrix(file, mask))[, ], unclass(voxelMatrix(at("one.nii"), mask))[, ])
    if (name == "zero.nii") expect_identical(gpuCorFile(file)[, ], gpuCorFile(at("one.nii"))[, ])
    unlink(file)
  }
  file <- with_offset("zero.nii", 0, 2L)
  expect_identical(c(readVoxels(file)), c(two))
  expect_identical(gpuCorFile(file)[, 7:9], t(matrix(two, 33000)[7:9, ]) + 0)
  for (offset in c(NaN, -Inf, -4, 100, 348, 352.5, Inf)) {
    file <- with_offset("bad.nii", offset)
    for (read in list(readVoxels, voxelMatrix, gpuCorFile)) {
      expect_error(read(file),
                   paste0("'.*bad.nii' has vox_offset ", offset, ", .* integer of at least 352, or 0 for 352"))
    }
  }
  for (offset in c(-4, 352)) expect_error(readVoxels(with_offset("bad.nii", offset, 2L)), "at least 544, or 0 for 544")
  bytes <- replace(readBin(at("one.nii"), "raw", 1e6), 41:42, as.raw(c(9, 0)))
  writeBin(bytes, at("bad.nii"))
  expect_error(readVoxels(at("bad.nii")), "has a damaged header: its dimensions are 9, 5, 4, 3, 8")
})

test_that("a fifth dimension after one of 1 is kept, and no time", {
  file <- file.path(temporary_folder(), "vectors.nii")
  vectors <- array(seq_len(180), c(5, 4, 3, 1, 3))
  writeVoxels(vectors, file)
  expect_identical(number_at(file, 40, "integer", 8, 2), c(5L, 5L, 4L, 3L, 1L, 3L, 1L, 1L))
  expect_identical(c(readVoxels(file)), 1:180)
  expect_identical(dim(readVoxels(file)), dim(vectors))
  for (img in list(file, vectors)) expect_error(voxelMatrix(img), "not 5 \\(5 x 4 x 3 x 1 x 3\\)")
  expect_error(gpuCorFile(file), "not 5 \\(5 x 4 x 3 x 1 x 3\\)")
})

test_that("a write that fails leaves no file", {
  folder <- temporary_folder()
  x <- voxelMatrix(image_with_affine())
  for (file in file.path(folder, c("map.nii", "map.nii.gz"))) {
    with_values(list(write_pieces = function(...) stop("no reason")), {
      expect_error(writeVoxels(1:60, file, x), "^cannot write \".*/map.nii.*\": no reason$")
    })
    with_values(list(write_pieces = function(...) NULL), { # as on a full disk
      expect_error(writeVoxels(1:60, file, x), "^cannot write \".*/map.nii.*\": it was not written to its end$")
    })
  }
  expect_identical(dir(folder), character())
})

test_that("nibabel writes what is read here, and reads what is written here", {
  python_with("nibabel, numpy")
  folder <- temporary_folder()
  img <- image_with_affine()
  x <- voxelMatrix(img)
  writeVoxels(cbind(1:60, 60:1), file.path(folder, "ours.nii.gz"), x)
  writeVoxels((1:60) / 7, file.path(folder, "real.nii"), x)
  writeVoxels((1:60) %% 2 == 0, file.path(folder, "mask.nii.gz"), x)
  writeVoxels(1:33000, file.path(folder, "two.nii"), array(TRUE, c(33000, 1, 1)))
  said <- run_python("nibabel, numpy", c(
    "import sys, numpy as np, nibabel as nb",
    "at = sys.argv[1] + '/'",
    "for name in ('ours.nii.gz', 'real.nii', 'mask.nii.gz', 'two.nii'):",
    "    i = nb.load(at + name)",
    "    print(name, i.shape, i.get_data_dtype(), type(i).__name__, '%.9g' % i.get_fdata().sum())",
    "    print(' '.join('%.9g' % v for v in i.affine.ravel()), int(i.header['sform_code']),",
    "          i.header.get_xyzt_units()[0])",
    "affine = np.array([[-3., 0, 0.25, 90], [0, 3, 0, -126], [0, 0.5, 3.5, -72], [0, 0, 0, 1]])",
    "base = (np.arange(5 * 4 * 3 * 4) * 37 % 251).reshape((5, 4, 3, 4), order='F')",
    "kinds = {'uint8': base, 'int8': base - 125, 'int16': base - 125, 'uint16': base * 200,",
    "         'int32': base * 8000000 - 10**9, 'uint32': base * 17000000, 'int64': base * 2**44 - 2**50,",
    "         'float32': base / 8, 'float64': base / 7}",
    "for kind, values in kinds.items():",
    "    for version, make in (('1', nb.Nifti1Image), ('2', nb.Nifti2Image)):",
    "        for end in '<>':",
    "            header = make.header_class(endianness=end)",
    "            header.set_data_dtype(np.dtype(kind).newbyteorder(end))",
    "            ending = '.nii.gz' if version == '1' and end == '>' else '.nii'",
    "            nb.save(make(values.astype(kind), affine, header=header),",
    "                    at + '_'.join((kind, version, 'le' if end == '<' else 'be')) + ending)",
    "oblique = np.array([[-1.95034038, -0.19568692, -0.59600942, 10], [-0.0739138, 1.91285018, -0.86888851, -20],",
    "                    [-0.43670224, 0.55019166, 2.80887975, 5], [0, 0, 0, 1]])",
    "turned = nb.Nifti1Image(base.astype('int16'), None)",
    "turned.header.set_qform(oblique, code=1)",
    "nb.save(turned, at + 'qform.nii.gz')"
  ), folder)
  expect_identical(said[c(1, 3, 5, 7)], c("ours.nii.gz (5, 4, 3, 2) int32 Nifti1Image 3660",
                                          "real.nii (5, 4, 3) float64 Nifti1Image 261.428571",
                                          "mask.nii.gz (5, 4, 3) uint8 Nifti1Image 30",
                                          "two.nii (33000, 1, 1) int32 Nifti2Image 544516500"))
  expect_identical(said[c(2, 4, 6)], rep(paste(paste(t(some_affine()), collapse = " "), "4 mm"), 3))

  base <- array((seq(0, 239) * 37) %% 251, c(5, 4, 3, 4))
  kinds <- list(uint8 = base, int8 = base - 125, int16 = base - 125, uint16 = base * 200, int32 = base * 8e6 - 1e9,
                uint32 = base * 17e6, int64 = base * 2^44 - 2^50, float32 = base / 8, float64 = base / 7)
  for (kind in names(kinds)) {
    files <- Sys.glob(file.path(folder, paste0(kind, "_*.nii*")))
    expect_length(files, 4L)
    for (file in files) {
      found <- readVoxels(file)
      expect_type(found, if (kind %in% c("uint8", "int8", "int16", "uint16", "int32")) "integer" else "double")
      expect_equal(found + 0, kinds[[kind]], tolerance = 0, ignore_attr = TRUE)
    }
  }
  oblique <- rbind(c(-1.95034038, -0.19568692, -0.59600942, 10), c(-0.0739138, 1.91285018, -0.86888851, -20),
                   c(-0.43670224, 0.55019166, 2.80887975, 5))
  last <- voxelCoords(voxelMatrix(file.path(folder, "qform.nii.gz")))[60, ]
  expect_equal(unname(last), as.vector(oblique %*% c(4, 3, 2, 1)), tolerance = 1e-6)
})

test_that("the file of a real series is the image", {
  file <- real_image()
  scale <- readBin(readBin(file, "raw", 120)[113:120], "double", 2, size = 4, endian = "little")
  img <- read_int16(file) * scale[1] + scale[2]
  found <- readVoxels(file)
  expect_identical(array(found, dim(found)), img)
  mask <- rowMeans(img, dims = 3) > 3500
  x <- voxelMatrix(file, mask)
  expect_identical(unclass(x)[, ], unclass(voxelMatrix(img, mask))[, ])
})

test_that("a series keeps the time between its volumes, and maps have none", {
  header <- list(pixdim = c(1, 2, 3, 4, 2.5, 0, 0, 0), xyzt_units = 10, sform_code = 1, srow_x = c(2, 0, 0, 0),
                 srow_y = c(0, 3, 0, 0), srow_z = c(0, 0, 4, 0))
  img <- structure(array(rnorm(5 * 4 * 3 * 6), c(5, 4, 3, 6)), header = header)
  file <- tempfile(fileext = ".nii.gz")
  writeVoxels(img, file)
  x <- voxelMatrix(file)
  expect_equal(attr(x, "tr"), 2.5)
  expect_equal(readVoxels(file), img, ignore_attr = TRUE)
  maps <- tempfile(fileext = ".nii")
  writeVoxels(t(x[1:2, ]), maps, reference = x)
  expect_null(attr(voxelMatrix(maps), "tr"))
  again <- tempfile(fileext = ".nii")
  writeVoxels(voxelImage(t(x[1:2, ]), x), again)
  expect_identical(readBin(again, "raw", 1e5), readBin(maps, "raw", 1e5))
  series <- tempfile(fileext = ".nii")
  writeVoxels(t(x), series, reference = x, tr = 2.5)
  expect_identical(attributes(voxelMatrix(series)), attributes(x))
})

test_that("voxels of a plain array have a size and a time when these are given", {
  img <- array(rnorm(5 * 4 * 3 * 6), c(5, 4, 3, 6))
  file <- function() tempfile(fileext = ".nii")
  header <- attr(readVoxels(writeVoxels(img, file(), voxel_size = c(2, 3, 4), tr = 0.75)), "header")
  expect_identical(header$pixdim[2:5], c(2, 3, 4, 0.75))
  expect_identical(header$xyzt_units, 10L)
  expect_identical(attr(readVoxels(writeVoxels(img, file())), "header")$xyzt_units, 0L)
  expect_error(writeVoxels(img, file(), voxel_size = 2), "'voxel_size' must be three lengths in mm, not 2")
  expect_error(writeVoxels(img, file(), tr = -1), "'tr' must be the seconds from one observation to the next")
  expect_error(writeVoxels(image_with_affine(), file(), voxel_size = c(2, 2, 2)), "reference has an affine")
})

test_that("values are stored in single precision by choice", {
  img <- image_with_affine()
  values <- list(real = img + 0.1, whole = array(1:60, dim(img)[1:3]), missing = replace(img, 3, NA),
                 logical = img[, , , 1] > 0)
  folder <- temporary_folder()
  for (name in names(values)) {
    file <- file.path(folder, paste0(name, ".nii"))
    writeVoxels(structure(values[[name]], header = attr(img, "header")), file, datatype = "float32")
    expect_identical(file.size(file), 352 + 4 * length(values[[name]]))
    single <- readBin(writeBin(as.double(values[[name]]), raw(), size = 4), "double", length(values[[name]]), size = 4)
    expect_identical(replace(c(readVoxels(file)), is.na(single), NA), replace(single, is.na(single), NA))
  }
  expect_error(writeVoxels(img, tempfile(fileext = ".nii"), datatype = "int16"),
               "'datatype' must be one of \"auto\", \"float32\", not \"int16\"", fixed = TRUE)
})

# Changes bytes of a file of 4 x 3 x 2 voxels at 5 times.
damage <- function(file, at, bytes) {
  all <- readBin(file, "raw", 1e6)
  writeBin(replace(all, at + seq_along(bytes), bytes), file)
  file
}

int16_file <- function(file) {
  write_voxel_bytes(file, 4L, c(1, 0), "little", writeBin((seq_len(120) * 37L) %% 1000L, raw(), size = 2))
  file
}

test_that("damaged headers are errors of their file, without memory for what they claim", {
  file <- file.path(temporary_folder(), "bold.nii")
  int16 <- function(...) writeBin(as.integer(c(...)), raw(), size = 2, endian = "little")
  float <- function(value) writeBin(value, raw(), size = 4, endian = "little")
  cases <- list( # the byte, what is written there, the message
    list(40, int16(-4), "damaged header: its dimensions"), list(40, int16(8), "damaged header: its dimensions"),
    list(42, int16(-4), "damaged header: its dimensions"), list(44, int16(0), "damaged header: its dimensions"),
    list(42, int16(32767, 32767, 32767, 32767), "ends before its last voxel"),
    list(40, int16(7, rep(32767, 7)), "ends before its last voxel"),
    list(108, float(1e10), "ends before its last voxel"), list(108, float(3), "vox_offset 3, the position"),
    list(108, float(NaN), "vox_offset NaN, the position"), list(108, float(-352), "vox_offset -352, the position"))
  for (case in cases) {
    damage(int16_file(file), case[[1]], case[[2]])
    packed <- paste0(file, ".gz")
    connection <- gzfile(packed, "wb")
    writeBin(readBin(file, "raw", 1e6), connection)
    close(connection)
    for (read in c(readVoxels, voxelMatrix, gpuCorFile)) {
      expect_error(read(file), case[[3]], class = "gpucor_error_file")
      expect_error(read(packed), paste(case[[3]], "is compressed", sep = "|"), class = "gpucor_error_file")
    }
  }
})

test_that("a compressed file that is damaged or cut off is an error", {
  file <- int16_file(file.path(temporary_folder(), "bold.nii"))
  packed <- paste0(file, ".gz")
  img <- readVoxels(file)
  pack <- function(bytes, mode = "wb") {
    connection <- gzfile(packed, mode)
    on.exit(close(connection))
    writeBin(bytes, connection)
  }
  pack(readBin(file, "raw", 1e6))
  bytes <- readBin(packed, "raw", 1e6)
  n <- length(bytes)
  fails <- function(bytes, label) {
    writeBin(bytes, packed)
    expect_error(readVoxels(packed), class = "gpucor_error_file", label = label)
    expect_error(voxelMatrix(packed, keep = 1:2), class = "gpucor_error_file", label = label)
  }
  # The last byte before the checksum has bits without a meaning.
  for (at in c(round(seq(11, n - 10, length.out = 60)), n - 7:4)) {
    fails(replace(bytes, at, xor(bytes[at], as.raw(8))), at)
  }
  for (size in c(0, 1, 5, 20, n %/% 2, n - 9, n - 8, n - 4, n - 1)) fails(bytes[seq_len(size)], size)

  # Valid: several streams, and some bytes after the last voxel, but not too many.
  plain <- readBin(file, "raw", 1e6)
  pack(plain[1:400])
  pack(plain[-(1:400)], "ab")
  expect_identical(readVoxels(packed), img)
  pack(raw(1000), "ab")
  expect_identical(readVoxels(packed), img)
  pack(raw(2^21), "ab")
  expect_error(readVoxels(packed), "has too many bytes after its last value", class = "gpucor_error_file")

  # A compressed file by another name has no voxels at vox_offset.
  file.rename(packed, file)
  expect_error(gpuCorFile(file), "which is compressed", class = "gpucor_error_file")
})

test_that("a position that is not finite is none", {
  file <- int16_file(file.path(temporary_folder(), "bold.nii"))
  mask <- structure(array(1L, 4:2), header = affine_header())
  expect_error(voxelMatrix(damage(file, 254, as.raw(c(1, 0))), mask), "'mask' is not on the grid of 'img'")
  for (value in c(NaN, Inf)) for (codes in list(c(0, 1), c(1, 0))) { # qform, sform
    forms <- writeBin(as.integer(codes), raw(), size = 2, endian = "little")
    damage(damage(file, 252, forms), 256, rep(writeBin(value, raw(), size = 4, endian = "little"), 18))
    img <- readVoxels(file)
    expect_identical(img[1:2], c(37L, 74L))
    expect_output(print(img), "Image of")
    expect_identical(ncol(voxelMatrix(file, mask)), 24L)
    expect_error(voxelCoords(voxelMatrix(file)), "has no affine", class = "gpucor_error")
  }
})

test_that("pipes and devices are not opened", {
  skip_on_os("windows")
  folder <- temporary_folder()
  for (name in c("pipe.nii", "pipe.nii.gz", "pipe.func.gii")) {
    pipe <- file.path(folder, name)
    skip_if_not(system2("mkfifo", shQuote(pipe)) == 0L, "mkfifo")
    for (read in c(readVoxels, voxelMatrix, gpuCorFile)) {
      expect_error(read(pipe), "no regular file", class = "gpucor_error_file")
    }
  }
  for (read in c(readVoxels, voxelMatrix)) {
    expect_error(read("/dev/zero"), "no regular file", class = "gpucor_error_file")
  }
})
