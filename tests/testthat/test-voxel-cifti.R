# Grayordinates: dense series read, dense scalars written.

skip_if_not_installed("xml2")

test_that("a dense series is time x grayordinates", {
  file <- file.path(temporary_folder(), "rest.dtseries.nii")
  values <- grayordinate_series()
  write_dtseries(values, file)
  expect_message(x <- voxelMatrix(file), "^1 of 20 voxels dropped") # a constant grayordinate
  expect_identical(unclass(x)[, ], values[, -4])
  mask <- attr(x, "mask")
  expect_identical(which(!mask), 4L)
  expect_identical(attr(x, "tr"), 0.72)
  models <- attr(mask, "header")$cifti$models
  expect_identical(models$structure, c("CORTEX_LEFT", "CORTEX_RIGHT", "THALAMUS_LEFT"))
  expect_identical(models$kind, c("surface", "surface", "voxels"))
  expect_identical(models$first, c(1, 9, 17))
  expect_identical(models$count, c(8, 8, 4))
  expect_identical(models$vertices, c(10, 10, NA))
  expect_identical(attr(mask, "header")$cifti$places[[2]], c(1, 2, 3, 4, 6, 7, 8, 9))
  mm <- voxelCoords(x)
  expect_true(all(is.na(mm[1:15, ])))
  expect_equal(mm[16:19, ], (cbind(c(1, 1, 2, 2), c(1, 2, 1, 2), 1, 1) %*% t(some_affine()))[, 1:3], ignore_attr = TRUE)
  expect_output(print(x), "12 time points 0.72 s apart of 19 of 20 grayordinates")
  expect_identical(attr(x[3:9, ], "mask"), mask)
  expect_identical(unclass(suppressMessages(voxelMatrix(file, keep = -(1:3))))[, ], values[-(1:3), -4])
  expect_identical(without_call(gpuConnectivity(x, threshold = 0.3)),
                   without_call(gpuConnectivity(values[, -4], threshold = 0.3)))
  expect_identical(matrix(readVoxels(file), 20), t(values))
})

test_that("columns are read block by block", {
  file <- file.path(temporary_folder(), "rest.dtseries.nii")
  values <- grayordinate_series()
  write_dtseries(values, file)
  for (width in c(1, 3, 7, 20)) {
    read <- matrix(0, 12, 20)
    ends <- unique(c(seq(0, 20, by = width), 20))
    gpucor:::read_blocks(file, 12 * diff(ends), function(block, k) {
      gpucor:::put_block(read, gpucor:::new_block(block, 1, 0:11, ends[k] + 1, 12 * (seq_len(diff(ends)[k]) - 1)))
    })
    expect_identical(read, values)
  }
})

test_that("grayordinates are chosen by a value for each, or by another file", {
  folder <- temporary_folder()
  at <- function(name) file.path(folder, name)
  values <- grayordinate_series()
  values[1, 4] <- 1
  write_dtseries(values, at("rest.dtseries.nii"))
  x <- voxelMatrix(at("rest.dtseries.nii"))
  models <- attr(attr(x, "mask"), "header")$cifti$models
  cortex <- rep(grepl("CORTEX", models$structure), models$count)
  some <- voxelMatrix(at("rest.dtseries.nii"), cortex)
  expect_identical(unclass(some)[, ], values[, 1:16])
  writeVoxels(1:16, at("cortex.dscalar.nii"), some)
  expect_identical(c(readVoxels(at("cortex.dscalar.nii"))), c(1:16, 0, 0, 0, 0))
  expect_identical(voxelMatrix(at("rest.dtseries.nii"), at("cortex.dscalar.nii")), some)
  expect_identical(voxelMatrix(at("rest.dtseries.nii"), some), some)
  expect_identical(ncol(voxelMatrix(at("rest.dtseries.nii"), at("cortex.dscalar.nii"), above = 10)), 6L)

  expect_error(voxelMatrix(at("rest.dtseries.nii"), rep(TRUE, 19)),
               "'mask' has 19 values, but 'img' has 20 grayordinates")
  write_dtseries(values, at("other.dtseries.nii"), c(series_map(12), sub("0 1 3 4 6", "0 1 2 4 6", brain_map())))
  expect_error(voxelMatrix(at("other.dtseries.nii"), at("cortex.dscalar.nii")),
               "'mask' and 'img' have other brain models")
})

test_that("maps are written as dense scalars, with names", {
  folder <- temporary_folder()
  at <- function(name) file.path(folder, name)
  write_dtseries(grayordinate_series(), at("rest.dtseries.nii"))
  x <- suppressMessages(voxelMatrix(at("rest.dtseries.nii")))
  maps <- cbind(degree = 1:19, `a < b & "c"` = 1:19 / 8)
  full <- voxelImage(maps, x)
  expect_identical(dim(full), c(20L, 2L))
  expect_identical(full[-4, "degree"], as.numeric(1:19))
  expect_identical(full[4, ], c(degree = 0, `a < b & "c"` = 0))
  expect_identical(voxelImage(1:19, x, outside = NA)[4], NA_integer_)
  writeVoxels(maps, at("maps.dscalar.nii"), x)
  back <- readVoxels(at("maps.dscalar.nii"))
  expect_identical(matrix(back, 20), matrix(full, 20))
  kept <- c("models", "places", "affine", "volume")
  cifti <- attr(attr(x, "mask"), "header")$cifti
  expect_identical(attr(back, "header")$cifti[kept], cifti[kept])
  # What is written once more is the same.
  writeVoxels(back, at("again.dscalar.nii"))
  expect_identical(matrix(readVoxels(at("again.dscalar.nii")), 20), matrix(back, 20))
  text <- rawToChar(Filter(function(byte) byte != 0, readBin(at("maps.dscalar.nii"), "raw", 1e5)[561:1200]))
  expect_match(text, "<MapName>a &lt; b &amp; \"c\"</MapName>", fixed = TRUE)

  named <- "><NamedMap><MapName>a</MapName></NamedMap><NamedMap /></MatrixIndicesMap>"
  some_named <- sub(" />", named, sub("TYPE_SERIES", "TYPE_SCALARS", series_map(2)))
  write_dtseries(grayordinate_series()[1:2, ], at("some.dscalar.nii"), c(some_named, brain_map()))
  expect_identical(matrix(readVoxels(at("some.dscalar.nii")), 20), t(grayordinate_series()[1:2, ]))
  expect_null(colnames(readVoxels(at("some.dscalar.nii"))))

  expect_error(writeVoxels(1:19, at("map.nii.gz"), x), "the name of CIFTI's dense scalars, which ends in .dscalar.nii")
  expect_error(writeVoxels(1:20, at("map.dscalar.nii"), x), "for each of the 19 voxels inside 'reference', not 20")
  expect_error(writeVoxels(structure(1:5, header = attr(back, "header")), at("map.dscalar.nii")),
               "'values' has 5 values, but 'reference' has 20 grayordinates in 3 structures")
})

test_that("what is no dense series is an error that says so", {
  file <- file.path(temporary_folder(), "rest.dtseries.nii")
  values <- grayordinate_series()
  said <- function(...) {
    write_dtseries(values, file, ...)
    tryCatch(voxelMatrix(file), error = conditionMessage)
  }
  expect_match(said(version = "1"), "has version 1 of CIFTI, not 2")
  points <- sub("BRAIN_MODELS", "POINTS", brain_map())
  expect_match(said(c(series_map(12), points)), "has series x points; series, scalars and labels of grayordinates")
  expect_match(said(series_map(12)), "has series x nothing")
  for (change in list(c("IndexCount=\"4\"", "IndexCount=\"5\""), c("IndexOffset=\"8\"", "IndexOffset=\"9\""))) {
    expect_match(said(c(series_map(12), sub(change[1], change[2], brain_map()))), "leave gaps or overlap")
  }
  expect_match(said(c(series_map(12), sub("</BrainModel>", "", brain_map()))), "has broken XML")
  two <- sub("<BrainModel [^>]*THALAMUS.*</BrainModel>", "", brain_map())
  expect_match(said(c(series_map(12), two)), "has 20 columns, but its XML says 16 grayordinates in 2 structures")
  values <- values[1, , drop = FALSE]
  expect_match(said(), "has 1 time point")
})

test_that("nibabel and Connectome Workbench read the scalars, and write series that are read", {
  folder <- temporary_folder()
  at <- function(name) file.path(folder, name)
  values <- grayordinate_series()
  write_dtseries(values, at("rest.dtseries.nii"))
  x <- suppressMessages(voxelMatrix(at("rest.dtseries.nii")))
  writeVoxels(cbind(degree = 1:19, half = 1:19 / 2), at("maps.dscalar.nii"), x)
  if (nzchar(Sys.which("wb_command"))) {
    said <- system2("wb_command", c("-file-information", at("maps.dscalar.nii")), stdout = TRUE, stderr = FALSE,
                    env = paste0("TMPDIR=", tempdir())) # it leaves a folder
    for (line in c("Type: +CIFTI - Dense Scalar", "ALONG_ROW map type: +SCALARS", "CortexLeft: +8 out of 10 vertices",
                   "ThalamusLeft: +4 voxels", "1 +0.000 +19.000 +9.500 .* degree", "2 +0.000 +9.500 +4.750 .* half")) {
      expect_true(any(grepl(line, said)), label = line)
    }
  }
  said <- run_python("nibabel, numpy", c(
    "import sys, numpy as np, nibabel as nb",
    "at = sys.argv[1] + '/'",
    "i = nb.load(at + 'maps.dscalar.nii')",
    "scalars, brain = (i.header.get_axis(k) for k in (0, 1))",
    "print(type(i).__name__, i.shape, i.get_data_dtype(), '%.9g' % i.get_fdata().sum())",
    "print(*scalars.name)",
    "print(*(name for name, _, _ in brain.iter_structures()))",
    "print(*brain.vertex[:16], *brain.voxel[16:].ravel(), '%.9g' % brain.affine[0, 3])",
    "s = nb.load(at + 'rest.dtseries.nii')",
    "series = nb.cifti2.SeriesAxis(0, 0.72, 12)",
    "nb.save(nb.Cifti2Image(s.get_fdata(dtype='float32') * 2, header=(series, brain)), at + 'theirs.dtseries.nii')"
  ), folder)
  expect_identical(said, c("Cifti2Image (2, 20) float32 285", "degree half",
                           "CIFTI_STRUCTURE_CORTEX_LEFT CIFTI_STRUCTURE_CORTEX_RIGHT CIFTI_STRUCTURE_THALAMUS_LEFT",
                           "0 1 3 4 6 7 8 9 1 2 3 4 6 7 8 9 1 1 1 1 2 1 2 1 1 2 2 1 90"))
  theirs <- suppressMessages(voxelMatrix(at("theirs.dtseries.nii")))
  expect_identical(unclass(theirs)[, ], values[, -4] * 2)
  expect_equal(voxelCoords(theirs), voxelCoords(x))
})

test_that("names of maps are kept where the format has them", {
  folder <- temporary_folder()
  series <- file.path(folder, "rest.dtseries.nii")
  write_dtseries(grayordinate_series(), series)
  x <- suppressMessages(voxelMatrix(series))
  models <- data.frame(structure = "CORTEX_LEFT", kind = "surface", first = 1, count = 8, vertices = 8)
  surface <- structure(array(1, 8), header = list(cifti = list(models = models, places = list(0:7))))
  references <- list(.dscalar.nii = x, .func.gii = surface)
  for (end in names(references)) {
    n <- if (end == ".func.gii") 8 else 19
    maps <- cbind(degree = seq_len(n), "a & b" = seq_len(n) / 2)
    at <- function(name) file.path(folder, paste0(name, end))
    writeVoxels(maps, at("two"), references[[end]])
    two <- readVoxels(at("two"))
    expect_identical(colnames(two), colnames(maps))
    writeVoxels(two, at("again"))
    expect_identical(readVoxels(at("again")), two)
    writeVoxels(maps[, 1, drop = FALSE], at("one"), references[[end]])
    one <- readVoxels(at("one"))
    expect_null(dim(one))
    writeVoxels(one * 2, at("double"))
    expect_identical(attr(readVoxels(at("double")), "map"), "degree")
    writeVoxels(seq_len(n), at("other"), references[[end]])
    expect_identical(attr(readVoxels(at("other")), "map"), "map 1")
  }
  whole <- readVoxels(file.path(folder, "one.dscalar.nii")) # not the name of the reference
  writeVoxels(voxelImage(1:19, x), file.path(folder, "new.dscalar.nii"))
  expect_identical(attr(readVoxels(file.path(folder, "new.dscalar.nii")), "map"), "map 1")
  writeVoxels(rep(1, sum(whole != 0)), file.path(folder, "newer.dscalar.nii"), whole)
  expect_identical(attr(readVoxels(file.path(folder, "newer.dscalar.nii")), "map"), "map 1")
})

test_that("damaged attributes of brain models are errors", {
  file <- file.path(temporary_folder(), "rest.dtseries.nii")
  values <- grayordinate_series()
  fails <- function(from, to, words) {
    maps <- c(series_map(12), brain_map())
    stopifnot(any(grepl(from, maps)))
    write_dtseries(values, file, sub(from, to, maps))
    for (read in c(readVoxels, voxelMatrix, gpuCorFile)) expect_error(read(file), words, class = "gpucor_error_file")
  }
  for (name in c("IndexOffset", "IndexCount", "SurfaceNumberOfVertices")) {
    fails(paste0(name, "=\"[0-9]*\""), "", paste0("has ", name, " NA.*, which must be an integer"))
    for (value in c("-1", "NaN", "1e3", "99999999999", "")) {
      fails(paste0(name, "=\"[0-9]*\""), paste0(name, "=\"", value, "\""), paste0("has ", name))
    }
  }
  fails("AppliesToMatrixDimension=\"1\"", "", "has series x nothing")
  fails("AppliesToMatrixDimension=\"1\"", "AppliesToMatrixDimension=\"a\"", "has \"a\" where numbers are expected")
  fails("IndicesMapToDataType=\"CIFTI_INDEX_TYPE_BRAIN_MODELS\"", "", "has series x")
  fails("CIFTI_MODEL_TYPE_SURFACE", "CIFTI_MODEL_TYPE_LINE", "has brain models of types LINE")
  fails("<BrainModel .*</BrainModel>", "", "has no brain models")
  fails("<VertexIndices>0 1", "<VertexIndices>0 10", "has brain models with the index 10, which is outside")
  fails("<VertexIndices>0 1", "<VertexIndices>0 -1", "has brain models with the index -1, which is outside")
  fails("<VoxelIndicesIJK>1 1 1", "<VoxelIndicesIJK>1 1 9", "has brain models with the index 9, which is outside")
  fails("<VoxelIndicesIJK>1 1 1", "<VoxelIndicesIJK>1 1", "has 11 indices of voxels, not three for each")
  fails("<VertexIndices>[^<]*</VertexIndices>", "", "has an element BrainModel without VertexIndices")
  fails("<Volume .*</Volume>", "", "has voxels, but no Volume")
  for (value in c("5,4", "5,4,NaN", "5,4,x", "")) {
    fails("VolumeDimensions=\"5,4,3\"", paste0("VolumeDimensions=\"", value, "\""), "damaged Volume|where numbers are")
  }
  fails("MeterExponent=\"-3\"", "", "has a damaged Volume")
  fails("SeriesStep=\"0.72\"", "SeriesStep=\"fast\"", "has \"fast\" where numbers are expected")

  # The XML is lost, or the dimensions are not those of the maps.
  write_dtseries(values, file)
  bytes <- readBin(file, "raw", 1e6)
  for (change in list(list(549, as.raw(0)), list(545:548, as.raw(c(0, 0, 0, 128))), list(17, as.raw(5)),
                      list(25, as.raw(2)), list(57, as.raw(11)), list(65, as.raw(19)))) {
    writeBin(replace(bytes, change[[1]], change[[2]]), file)
    for (read in c(readVoxels, voxelMatrix, gpuCorFile)) expect_error(read(file), class = "gpucor_error_file")
  }
})
