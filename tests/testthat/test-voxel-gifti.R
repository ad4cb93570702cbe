# Surfaces: GIFTI files read and written.

skip_if_not_installed("xml2")

# By the definition: six bits a character.
base64_of <- function(bytes) {
  bits <- matrix(as.integer(rawToBits(bytes)), 8)[8:1, ]
  bits <- c(bits, integer(-length(bits) %% 6))
  text <- c(LETTERS, letters, 0:9, "+", "/")[colSums(matrix(bits, 6) * 2^(5:0)) + 1]
  paste0(c(text, rep("=", -length(text) %% 4)), collapse = "")
}

TYPE_BYTES <- c(UINT8 = 1L, INT32 = 4L, FLOAT32 = 4L, FLOAT64 = 8L)

# `values`: the numbers in the order of the file; `size`: dimensions of the array.
data_array <- function(values, encoding = "GZipBase64Binary", type = "FLOAT32", endian = "little",
                       size = length(values), intent = "TIME_SERIES", order = "RowMajorOrder") {
  values <- if (type %in% c("UINT8", "INT32")) as.integer(values) else as.double(values)
  bytes <- writeBin(values, raw(), size = TYPE_BYTES[[type]], endian = endian)
  data <- switch(encoding, ASCII = paste("\n", paste(format(values, digits = 17), collapse = " \n"), "\n"),
                 Base64Binary = gsub("(.{20})", "\\1\n", base64_of(bytes)),
                 GZipBase64Binary = base64_of(memCompress(bytes, "gzip")), "")
  dims <- paste0("Dim", seq_along(size) - 1, "=\"", size, "\"", collapse = " ")
  sprintf(paste0("<DataArray Intent=\"NIFTI_INTENT_%s\" DataType=\"NIFTI_TYPE_%s\" ArrayIndexingOrder=\"%s\"\n",
                 "Dimensionality=\"%d\" %s Encoding=\"%s\" Endian=\"%sEndian\" ExternalFileName=\"\"",
                 " ExternalFileOffset=\"\"><MetaData/><Data>%s</Data></DataArray>"),
          intent, type, order, length(size), dims, encoding, c(little = "Little", big = "Big")[[endian]], data)
}

write_gifti_arrays <- function(arrays, file, structure = "CortexLeft") {
  writeLines(c("<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
               "<!DOCTYPE GIFTI SYSTEM \"http://www.nitrc.org/frs/download.php/1594/gifti.dtd\">",
               sprintf("<GIFTI Version=\"1.0\" NumberOfDataArrays=\"%d\"><MetaData>", length(arrays)),
               sprintf("<MD><Name><![CDATA[AnatomicalStructurePrimary]]></Name><Value><![CDATA[%s]]></Value></MD>",
                       structure),
               "</MetaData><LabelTable/>", arrays, "</GIFTI>"), file)
}

# Eleven vertices at six times; floats.
surface_series <- function() {
  set.seed(4)
  values <- matrix(round(rnorm(66) * 64) / 64, 6, 11)
  values[, 3] <- 1
  values
}

test_that("an array for each time point becomes time x vertices, in every encoding", {
  values <- surface_series()
  file <- file.path(temporary_folder(), "rest_hemi-L.func.gii")
  encodings <- c("ASCII", "Base64Binary", "GZipBase64Binary")
  for (encoding in encodings) for (type in c("FLOAT32", "FLOAT64")) for (endian in c("little", "big")) {
    arrays <- apply(values, 1, data_array, encoding, type, endian)
    write_gifti_arrays(arrays, file)
    expect_message(x <- voxelMatrix(file), "^1 of 11 voxels dropped")
    expect_identical(unclass(x)[, ], values[, -3], label = paste(encoding, type, endian))
  }
  expect_output(print(x), "6 time points of 10 of 11 grayordinates")
  models <- attr(attr(x, "mask"), "header")$cifti$models
  expect_identical(models$structure, "CORTEX_LEFT")
  expect_identical(c(models$count, models$vertices), c(11L, 11L))
  expect_true(all(is.na(voxelCoords(x))))
  expect_identical(matrix(readVoxels(file), 11), t(values))
  expect_identical(unclass(voxelMatrix(file, seq_len(11) > 5, keep = -1))[, ], values[-1, 6:11])

  # One array of all times, in both orders.
  write_gifti_arrays(data_array(values, "Base64Binary", size = c(11, 6)), file) # a column is a vertex's series
  expect_identical(unclass(suppressMessages(voxelMatrix(file)))[, ], values[, -3])
  write_gifti_arrays(data_array(t(values), size = c(11, 6), order = "ColumnMajorOrder"), file)
  expect_identical(unclass(suppressMessages(voxelMatrix(file)))[, ], values[, -3])
})

test_that("labels are integers, and an atlas", {
  folder <- temporary_folder()
  at <- function(name) file.path(folder, name)
  values <- surface_series()
  write_gifti_arrays(apply(values, 1, data_array), at("rest.func.gii"))
  x <- suppressMessages(voxelMatrix(at("rest.func.gii")))
  label <- c(0, 1, 1, 1, 35, 35, 0, 35, 1, 35, 200)
  for (type in c("INT32", "UINT8")) {
    for (encoding in c("ASCII", "Base64Binary", "GZipBase64Binary")) {
      write_gifti_arrays(data_array(label, encoding, type, intent = "LABEL"), at("atlas.label.gii"))
      read <- readVoxels(at("atlas.label.gii"))
      expect_identical(as.vector(read), as.integer(label))
    }
  }
  found <- parcelMeans(x, at("atlas.label.gii"))
  expect_identical(colnames(found), c("1", "35", "200"))
  expect_equal(found[, "1"], rowMeans(values[, c(2, 4, 9)]), tolerance = 1e-14) # the third does not vary
  expect_equal(found[, "200"], values[, 11])

  write_gifti_arrays(data_array(label, type = "INT32"), at("right.label.gii"), "CortexRight")
  expect_error(parcelMeans(x, at("right.label.gii")), "'atlas' and 'x' have other brain models")
  write_gifti_arrays(data_array(label, type = "INT32"), at("any.label.gii"), "")
  expect_identical(parcelMeans(x, at("any.label.gii")), found)
  write_gifti_arrays(data_array(label[-1], type = "INT32"), at("short.label.gii"))
  expect_error(parcelMeans(x, at("short.label.gii")), "'atlas' has 10 values, but 'x' has 11 grayordinates in 1 struct")
})

test_that("maps are written and read back", {
  folder <- temporary_folder()
  at <- function(name) file.path(folder, name)
  write_gifti_arrays(apply(surface_series(), 1, data_array), at("rest.func.gii"))
  x <- suppressMessages(voxelMatrix(at("rest.func.gii")))
  maps <- cbind(degree = 1:10, `a < b` = 1:10 / 8)
  writeVoxels(maps, at("maps.func.gii"), x, outside = NA)
  back <- readVoxels(at("maps.func.gii"))
  expect_identical(matrix(back, 11)[-3, ], unname(maps))
  expect_true(all(is.nan(matrix(back, 11)[3, ])))
  expect_identical(attr(back, "header"), attr(attr(x, "mask"), "header"))
  expect_match(paste(readLines(at("maps.func.gii")), collapse = ""), "<Name>Name</Name>\\s*<Value>a &lt; b</Value>")
  writeVoxels(1:10, at("one.shape.gii"), x)
  expect_identical(as.vector(readVoxels(at("one.shape.gii"))), c(1, 2, 0, 3:10))
  expect_identical(sum(attr(voxelMatrix(at("rest.func.gii"), at("one.shape.gii"), above = 5), "mask")), 5L)
  expect_error(writeVoxels(1:10, at("map.dscalar.nii"), x), "GIFTI's maps, which ends in .func.gii or .shape.gii")
  expect_error(writeVoxels(1:10, at("map.func.gii"), x, tr = 2), "'voxel_size' and 'tr' are for NIfTI")
  expect_error(writeVoxels(1:10, at("one.shape.gii"), x), "exists")
})

test_that("base 64 of every length and every byte comes back", {
  for (n in c(0:9, 256)) {
    bytes <- as.raw((seq_len(n) * 37) %% 256)
    text <- gpucor:::base64_text(bytes)
    if (n) expect_identical(text, base64_of(bytes))
    expect_identical(gpucor:::base64_bytes(text, ""), bytes)
  }
})

test_that("what is no file of values is an error that says so", {
  file <- file.path(temporary_folder(), "lh.func.gii")
  values <- surface_series()
  said <- function(arrays) {
    write_gifti_arrays(arrays, file)
    tryCatch(voxelMatrix(file), error = conditionMessage)
  }
  expect_match(said(data_array(1:9, size = c(3, 3), intent = "POINTSET")), "has coordinates of a surface; files of")
  expect_match(said(c(data_array(1:3), data_array(1:4))), "has arrays of 3 to 4 vertices")
  expect_match(said(data_array(1:3, "Base64Binary", size = 4)), "has an array of 3 values, not 4")
  expect_match(said(data_array(1:3, "ExternalFileBinary")), "encoding ExternalFileBinary, which is not read")
  expect_match(said(sub("<Data>....", "<Data>AAAA", data_array(1:3))), "has a damaged array")
  expect_match(said(sub("FLOAT32", "COMPLEX64", data_array(1:3))), "values of type NIFTI_TYPE_COMPLEX64, which is not")
  expect_match(said(data_array(1:3)), "has 1 time point")
  expect_match(said(character()), "has no data arrays")
  expect_match(said("<DataArray>"), "has broken XML")
  expect_error(voxelMatrix("none.func.gii"), "the file 'none.func.gii' does not exist")
})

test_that("nibabel reads what is written, and its files are read", {
  folder <- temporary_folder()
  at <- function(name) file.path(folder, name)
  values <- surface_series()
  write_gifti_arrays(apply(values, 1, data_array), at("rest.func.gii"))
  x <- suppressMessages(voxelMatrix(at("rest.func.gii")))
  writeVoxels(cbind(degree = 1:10, half = 1:10 / 2), at("maps.shape.gii"), x)
  said <- run_python("nibabel, numpy", c(
    "import sys, numpy as np, nibabel as nb",
    "at = sys.argv[1] + '/'",
    "i = nb.load(at + 'maps.shape.gii')",
    "print(len(i.darrays), i.meta['AnatomicalStructurePrimary'], *(a.meta['Name'] for a in i.darrays))",
    "print(*('%g' % v for a in i.darrays for v in a.data))",
    "s = nb.load(at + 'rest.func.gii')",
    "for code in ('ASCII', 'B64BIN', 'B64GZ'):",
    "    out = nb.gifti.GiftiImage()",
    "    for a in s.darrays:",
    "        out.add_gifti_data_array(nb.gifti.GiftiDataArray((a.data * 2).astype('float32'),",
    "            intent='NIFTI_INTENT_TIME_SERIES', encoding='GIFTI_ENCODING_' + code, datatype='NIFTI_TYPE_FLOAT32'))",
    "    nb.save(out, at + code + '.func.gii')"
  ), folder)
  expect_identical(said, c("2 CortexLeft degree half",
                           paste(c(1, 2, 0, 3:10, 0.5, 1, 0, 3:10 / 2), collapse = " ")))
  for (code in c("ASCII", "B64BIN", "B64GZ")) {
    theirs <- suppressMessages(voxelMatrix(at(paste0(code, ".func.gii"))))
    expect_identical(unclass(theirs)[, ], 2 * values[, -3], label = code)
  }
})

test_that("what readVoxels() returns is printed in a few lines, and stays an ordinary vector or matrix", {
  values <- surface_series()
  file <- file.path(temporary_folder(), "rest_hemi-L.func.gii")
  for (times in c(6, 1)) {
    write_gifti_arrays(apply(values[seq_len(times), , drop = FALSE], 1, data_array), file)
    img <- readVoxels(file)
    expect_identical(capture.output(print(img)),
                     c(paste0("Image of 11 grayordinates", if (times > 1) ", 6 volumes", ": double"),
                       "   structure    kind count", " CORTEX_LEFT surface    11"))
    expect_identical(c(img), c(t(values[seq_len(times), ])))
    expect_identical(NROW(as.data.frame(img)), 11L)
    expect_error(plot(img), "plot() draws slices of volumes, and 'x' has values of 11 grayordinates", fixed = TRUE)
  }
})

test_that("a compressed file is unpacked", {
  file <- file.path(temporary_folder(), "rest.func.gii")
  write_gifti_arrays(apply(surface_series(), 1, data_array), file)
  packed <- paste0(file, ".gz")
  connection <- gzfile(packed, "wb")
  writeBin(readBin(file, "raw", file.size(file)), connection)
  close(connection)
  expect_identical(readVoxels(packed), readVoxels(file))
  expect_identical(suppressMessages(voxelMatrix(packed)), suppressMessages(voxelMatrix(file)))
  x <- suppressMessages(voxelMatrix(file))
  expect_error(writeVoxels(1:10, sub("rest", "new", packed), x), "ends in .func.gii or .shape.gii")
})

test_that("damaged arrays are errors, whatever their encoding", {
  file <- file.path(temporary_folder(), "lh.func.gii")
  fails <- function(array, words) {
    write_gifti_arrays(array, file)
    expect_error(readVoxels(file), words, class = "gpucor_error_file")
  }
  values <- 1:11 / 8
  # Text
  fails(sub("0.125", "abc", data_array(values, "ASCII"), fixed = TRUE), "has \"abc\" where numbers are expected")
  fails(sub("0.125", "NA", data_array(values, "ASCII"), fixed = TRUE), "where numbers are expected")
  fails(sub("0.125", "0x1", data_array(values, "ASCII"), fixed = TRUE), "where numbers are expected")
  fails(sub(" 3 ", " 3.5 ", data_array(1:11, "ASCII", "INT32")), "has the value 3.5 in an array of integers")
  fails(sub(" 3 ", " 256 ", data_array(1:11, "ASCII", "UINT8")), "has the value 256 in an array of integers")
  # Base 64
  packed <- sub("\n</Data>", "</Data>", data_array(values, "Base64Binary"))
  for (odd in c("abcd", "a", "====", "\u00e9", "!", "-")) {
    fails(sub("</Data>", paste0(odd, "</Data>"), packed), "damaged array|has an array of 1. values, not 11")
  }
  fails(sub("..</Data>", "</Data>", packed), "damaged array")
  fails(sub("=</Data>", "</Data>", packed), "damaged array: its values are not in base 64")
  # Compressed: cut off, longer, shorter, damaged, no stream at all
  stream <- memCompress(writeBin(values, raw(), size = 4), "gzip")
  array_of <- function(bytes, array = data_array(values)) {
    sub("<Data>.*</Data>", paste0("<Data>", base64_of(bytes), "</Data>"), array)
  }
  n <- length(stream)
  for (size in c(0, 1, 8, 20, n - 1)) fails(array_of(stream[seq_len(size)]), "has a damaged array")
  for (at in c(1, 2, 12, n %/% 2, n)) {
    fails(array_of(replace(stream, at, xor(stream[at], as.raw(3)))), "has a damaged array")
  }
  fails(array_of(memCompress(raw(1e6), "gzip")), "damaged array")
  fails(sub("Dim0=\"11\"", "Dim0=\"12\"", data_array(values)), "damaged array")
  write_gifti_arrays(array_of(stream), file)
  expect_identical(as.vector(readVoxels(file)), values)
})

test_that("dimensions and attributes that are not possible are errors, at once", {
  file <- file.path(temporary_folder(), "lh.func.gii")
  fails <- function(from, to, words) {
    array <- data_array(1:11)
    stopifnot(grepl(from, array))
    write_gifti_arrays(sub(from, to, array), file)
    expect_error(readVoxels(file), words, class = "gpucor_error_file")
  }
  fails("Dimensionality=\"1\"", "Dimensionality=\"100000000\"", "has an array of 1e\\+08 dimensions")
  for (n in c("0", "-1", "NaN", "1.5", "x", "", "99999999999")) {
    fails("Dimensionality=\"1\"", paste0("Dimensionality=\"", n, "\""), "has Dimensionality .*must be an integer")
    fails("Dim0=\"11\"", paste0("Dim0=\"", n, "\""), "has Dim0 .*must be an integer of at least 1")
  }
  fails("Dim0=\"11\"", "", "has Dim0 .*must be an integer")
  fails("Dim0=\"11\"", "Dim0=\"2000000000\"", "has a damaged array")
  fails("LittleEndian", "LitleEndian", "has Endian \"LitleEndian\", which must be LittleEndian or BigEndian")
  fails("RowMajorOrder", "RowOrder", "has ArrayIndexingOrder \"RowOrder\", which must be")
  fails("NIFTI_TYPE_FLOAT32", "NIFTI_TYPE_FLOAT3", "has values of type NIFTI_TYPE_FLOAT3, which is not read")
  fails("<Data>.*</Data>", "", "has an element DataArray without Data")
})

test_that("hostile XML ends soon, and large arrays are read", {
  folder <- temporary_folder()
  file <- file.path(folder, "lh.func.gii")
  fails <- function(text) {
    writeLines(text, file)
    expect_error(readVoxels(file), "has broken XML", class = "gpucor_error_file")
  }
  levels <- paste0("<!ENTITY ", letters[2:9], " \"", vapply(letters[1:8], function(name) {
    strrep(paste0("&", name, ";"), 20)
  }, ""), "\">", collapse = "")
  fails(paste0("<!DOCTYPE GIFTI [<!ENTITY a \"aaaaaaaaaa\">", levels, "]><GIFTI>&i;</GIFTI>"))
  fails(paste0("<GIFTI>", strrep("<a>", 1e5), strrep("</a>", 1e5), "</GIFTI>")) # R has no stack for such a tree
  long <- strrep("AAAA", 2.6e6)
  fails(paste0("<GIFTI>", strrep("<a>", 1e5), long, strrep("</a>", 1e5), "</GIFTI>"))

  # A text above 10 MB, in lines, which libxml2 would refuse.
  text <- paste0(strrep("AAAA", 1.3e6), "\n", strrep("AAAA", 1.3e6))
  array <- data_array(raw(), "Base64Binary", "UINT8", size = 7.8e6)
  write_gifti_arrays(sub("<Data>", paste0("<Data>", text), sub("7.8e+06", "7800000", array, fixed = TRUE)), file)
  expect_silent(read <- readVoxels(file))
  expect_identical(c(length(read), range(read)), c(7800000L, 0L, 0L))
})

test_that("a name that could be XML is the name of a file", {
  skip_on_os("windows") # it has no such names
  folder <- temporary_folder()
  before <- setwd(folder)
  on.exit(setwd(before))
  write_gifti_arrays(data_array(1:11), "<a>.gii")
  expect_identical(as.vector(readVoxels("<a>.gii")), as.double(1:11))
  expect_error(readVoxels("<b>.gii"), "the file '<b>.gii' does not exist", class = "gpucor_error_file")
})
