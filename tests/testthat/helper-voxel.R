# Images in files, made and looked at without the package.

# NIfTI-1 of 16-bit integers, little endian, without scaling.
read_int16 <- function(file) {
  connection <- gzfile(file, "rb")
  on.exit(close(connection))
  header <- readBin(connection, "raw", 348L)
  size <- readBin(header[43:50], "integer", 4L, size = 2L, endian = "little")
  type <- readBin(header[71:72], "integer", 1L, size = 2L, endian = "little")
  stopifnot(type == 4L)
  readBin(connection, "raw", readBin(header[109:112], "double", 1L, size = 4L, endian = "little") - 348)
  array(readBin(connection, "integer", prod(size), size = 2L, endian = "little"), size)
}

# A python that has the modules, or the test is skipped.
python_with <- function(modules) {
  has <- function(python) {
    nzchar(python) && system2(python, c("-c", shQuote(paste("import", modules))), stdout = FALSE, stderr = FALSE) == 0
  }
  python <- Find(has, unique(c(Sys.which("python3"), "/usr/bin/python3")))
  skip_if(is.null(python), paste("no python3 with", modules))
  python
}

run_python <- function(modules, lines, ...) {
  script <- tempfile(fileext = ".py")
  writeLines(lines, script)
  said <- suppressWarnings(system2(python_with(modules), c(script, ...), stdout = TRUE, stderr = TRUE))
  if (!is.null(attr(said, "status"))) stop(paste(said, collapse = "\n"))
  said
}

temporary_folder <- function() {
  folder <- tempfile("voxel")
  dir.create(folder)
  folder
}

# Radiological: x falls to the right. Voxels of 3 x 3 x 3.5 mm, the last axis tilted.
some_affine <- function() rbind(c(-3, 0, 0.25, 90), c(0, 3, 0, -126), c(0, 0.5, 3.5, -72), c(0, 0, 0, 1))

affine_header <- function(affine = some_affine()) {
  list(pixdim = c(1, sqrt(colSums(affine[1:3, 1:3]^2)), 2, 0, 0, 0), xyzt_units = 10L, sform_code = 4L, qform_code = 0L,
       srow_x = affine[1, ], srow_y = affine[2, ], srow_z = affine[3, ])
}

# A series with an affine, in memory, and as a file.
image_with_affine <- function(size = c(5, 4, 3, 8), affine = some_affine()) {
  set.seed(5)
  structure(array(sample(1000L, prod(size), TRUE), size), header = affine_header(affine))
}

# A file of 4 x 3 x 2 voxels at 5 times, from the bytes of its voxels.
write_voxel_bytes <- function(file, code, scale, endian, voxels) {
  put <- function(bytes, at, value, size) {
    piece <- writeBin(value, raw(), size = size, endian = endian)
    replace(bytes, at + seq_along(piece), piece)
  }
  header <- put(put(raw(352), 0, 348L, 4), 40, c(4L, 4L, 3L, 2L, 5L, 1L, 1L, 1L), 2)
  header <- put(put(put(header, 70, code, 2), 108, 352, 4), 112, scale, 4)
  writeBin(c(replace(header, 345:347, charToRaw("n+1")), voxels), file)
}

# ---- confounds

# A file as fMRIPrep 23 writes it: tabs, n/a, derivatives and squares, outliers.
write_confounds <- function(n = 40, drop = character(), change = identity) {
  set.seed(8)
  base <- c(gpucor:::CONFOUND_SETS$motion, "csf", "white_matter", "global_signal")
  frame <- list()
  for (name in base) {
    value <- cumsum(rnorm(n))
    frame[[name]] <- value
    frame[[paste0(name, "_derivative1")]] <- c(NA, diff(value))
    frame[[paste0(name, "_derivative1_power2")]] <- c(NA, diff(value)^2)
    frame[[paste0(name, "_power2")]] <- value^2
  }
  frame$std_dvars <- c(NA, runif(n - 1))
  frame$framewise_displacement <- c(NA, seq_len(n - 1) / n)
  for (k in 0:2) frame[[sprintf("cosine%02d", k)]] <- cos(pi * (k + 1) * (seq_len(n) - 0.5) / n)
  for (k in 0:6) frame[[sprintf("a_comp_cor_%02d", k)]] <- rnorm(n)
  frame$non_steady_state_outlier00 <- as.numeric(seq_len(n) == 1)
  frame$motion_outlier00 <- as.numeric(seq_len(n) == 7)
  frame$motion_outlier01 <- as.numeric(seq_len(n) == 12)
  frame <- change(as.data.frame(frame[setdiff(names(frame), drop)]))
  file <- tempfile(fileext = ".tsv")
  write.table(frame, file, sep = "\t", quote = FALSE, row.names = FALSE, na = "n/a")
  list(file = file, frame = frame)
}

# ---- CIFTI: two surfaces of ten vertices each, four voxels; 20 grayordinates

brain_map <- function() {
  model <- function(offset, count, type, structure, more, content) {
    sprintf(paste0("<BrainModel IndexOffset=\"%d\" IndexCount=\"%d\" ModelType=\"CIFTI_MODEL_TYPE_%s\" ",
                   "BrainStructure='CIFTI_STRUCTURE_%s'%s>%s</BrainModel>"),
            offset, count, type, structure, more, content)
  }
  vertices <- "\n SurfaceNumberOfVertices=\"10\""
  paste0(
    "<MatrixIndicesMap AppliesToMatrixDimension=\"1\" IndicesMapToDataType=\"CIFTI_INDEX_TYPE_BRAIN_MODELS\">",
    "<Volume VolumeDimensions=\"5,4,3\"><TransformationMatrixVoxelIndicesIJKtoXYZ MeterExponent=\"-3\">\n",
    paste(t(some_affine()), collapse = " "), "</TransformationMatrixVoxelIndicesIJKtoXYZ></Volume>",
    model(0, 8, "SURFACE", "CORTEX_LEFT", vertices, "<VertexIndices>0 1 3 4 6 7 8 9</VertexIndices>"),
    model(8, 8, "SURFACE", "CORTEX_RIGHT", vertices, "<VertexIndices>1 2 3 4  6 7 8 9</VertexIndices>"),
    model(16, 4, "VOXELS", "THALAMUS_LEFT", "", "<VoxelIndicesIJK>1 1 1\n1 2 1\n2 1 1\n2 2 1\n</VoxelIndicesIJK>"),
    "</MatrixIndicesMap>"
  )
}

# Four parcels on these surfaces and in this volume.
parcel_map <- function() {
  vertices <- function(structure, numbers) {
    paste0("<Vertices BrainStructure=\"CIFTI_STRUCTURE_CORTEX_", structure, "\">", numbers, "</Vertices>")
  }
  voxels <- function(indices) paste0("<VoxelIndicesIJK>", indices, "</VoxelIndicesIJK>")
  parcel <- function(name, ...) paste0("<Parcel Name=\"", name, "\">", ..., "</Parcel>")
  paste0(
    "<MatrixIndicesMap AppliesToMatrixDimension=\"1\" IndicesMapToDataType=\"CIFTI_INDEX_TYPE_PARCELS\">",
    "<Surface BrainStructure=\"CIFTI_STRUCTURE_CORTEX_LEFT\" SurfaceNumberOfVertices=\"10\" />",
    "<Surface BrainStructure='CIFTI_STRUCTURE_CORTEX_RIGHT'\n SurfaceNumberOfVertices='10'/>",
    regmatches(brain_map(), regexpr("<Volume .*</Volume>", brain_map())),
    parcel("a &amp; b", vertices("LEFT", "0 1 3"), vertices("RIGHT", "5")),
    parcel("thalamus", voxels("1 1 1\n1 2 1\n2 1 1\n")),
    parcel("both", voxels("4 3 2"), vertices("LEFT", "7")),
    parcel("one", voxels("0 0 0")),
    "</MatrixIndicesMap>"
  )
}

NAMES_OF_PARCELS <- c("a & b", "thalamus", "both", "one")

series_map <- function(times) {
  sprintf(paste0("<MatrixIndicesMap AppliesToMatrixDimension=\"0\" IndicesMapToDataType=\"CIFTI_INDEX_TYPE_SERIES\" ",
                 "NumberOfSeriesPoints=\"%d\" SeriesExponent=\"0\" SeriesStart=\"0\" SeriesStep=\"0.72\" ",
                 "SeriesUnit=\"SECOND\" />"), times)
}

# A file of floats, times x grayordinates; the metadata have what XML must not trip over.
write_dtseries <- function(values, file, maps = c(series_map(nrow(values)), brain_map()), version = "2") {
  xml <- charToRaw(paste0("<?xml version=\"1.0\"?>\n<CIFTI Version=\"", version, "\"><Matrix><MetaData><MD>",
                          "<Name>\u00e9</Name><Value>a &lt; b</Value></MD></MetaData>", paste(maps, collapse = "\n"),
                          "</Matrix></CIFTI>"))
  size <- 16 * ceiling((8 + length(xml)) / 16)
  put <- function(bytes, at, value, type = "integer", size = 4L) {
    piece <- writeBin(as(value, type), raw(), size = size, endian = "little")
    replace(bytes, at + seq_along(piece), piece)
  }
  header <- raw(540)
  header <- put(header, 0, 540)
  header[4 + 1:8] <- as.raw(c(0x6e, 0x2b, 0x32, 0, 0x0d, 0x0a, 0x1a, 0x0a))
  header <- put(header, 12, c(16, 32), size = 2L)
  header <- put(header, 16, as.vector(rbind(c(6, 1, 1, 1, 1, dim(values), 1), 0)))
  header <- put(header, 104, rep(1, 8), "double", 8L)
  header <- put(header, 168, 544 + size)
  header <- put(header, 504, 3002)
  connection <- file(file, "wb")
  on.exit(close(connection))
  writeBin(c(header, as.raw(c(1, 0, 0, 0)), writeBin(as.integer(c(size, 32)), raw(), endian = "little"), xml,
             raw(size - 8 - length(xml))), connection)
  writeBin(as.vector(values), connection, size = 4L, endian = "little")
}

grayordinate_series <- function() {
  set.seed(6)
  values <- matrix(round(rnorm(12 * 20), 2) * 128 / 128, 12, 20)
  values <- matrix(readBin(writeBin(as.vector(values), raw(), size = 4L), "double", 240, size = 4L), 12) # floats
  values[, 4] <- 0
  values
}
