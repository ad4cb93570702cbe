# Uncompressed NIfTI files as data: voxels of an image, or grayordinates of CIFTI, are read in blocks.

# Returns a gpuCorFile. Its elements: mask, see columns_mask(); voxels: the indices of its columns in a volume; offset
# and size: bytes; step: from one time point to the next and from one voxel to the next, in values; format: see
# new_values(); bytes: size of the file.
image_file <- function(file, mask) {
  if (is_gzip(file)) {
    fail_file("'file' is \"", file, "\", which is compressed: voxelMatrix() reads it, or decompress it by gunzip -k")
  }
  found <- with_nifti(file)
  if (is.null(found)) fail_file("'file' is \"", file, "\", which is not a NIfTI file")
  img <- open_image(file)
  header <- found$header
  type <- header_type(header, found$shown)
  mask <- if (!is.null(mask)) check_mask(read_mask(mask, "mask", flat = TRUE), img)
  voxels <- if (is.null(mask)) seq_len(prod(img$size)) else inside_mask(mask)
  x <- new_file(file, "image", c(img$times, length(voxels)), NULL, mask = new_mask(img, mask$header, voxels),
                voxels = voxels, offset = header$vox_offset, size = type$size,
                step = if (is.null(img$header$cifti)) c(prod(img$size), 1) else c(1, img$times),
                format = new_values(NULL, header, type), bytes = file.size(file))
  attr(x, "tr") <- header_tr(img$header)
  x
}

check_image_file <- function(x) {
  if (identical(file.size(x$file), x$bytes)) return(invisible())
  fail_file("the file \"", x$file, "\" is absent or has changed since gpuCorFile() read its header; call it again")
}

# Users may change the elements of a gpuCorFile.
read_image_columns <- function(x, columns) {
  words <- paste0("a gpuCorFile of \"", x$file, "\" cannot be read; make it again with gpuCorFile(): ")
  with_our_errors(read_voxels(x, columns), words, fail_file)
}

# Reads columns from the smallest to the largest voxel: one piece of the file for each time point, or one for all.
read_voxels <- function(x, columns) {
  voxels <- x$voxels[columns]
  first <- min(voxels)
  span <- max(voxels) - first + 1
  is_by_time <- x$step[2L] == 1
  starts <- if (is_by_time) (seq_len(nrow(x)) - 1) * x$step[1L] + first - 1 else (first - 1) * x$step[2L]
  values <- x$format
  values$bytes <- read_pieces(x, starts, span * x$step[2L])
  read <- matrix(0, nrow(x), length(columns))
  rows <- (seq_len(nrow(x)) - 1) * if (is_by_time) span else 1
  put_block(read, new_block(values, 1L, rows, 1L, (voxels - first) * x$step[2L]))
  read
}

# Returns the bytes of n values from each of these positions on.
read_pieces <- function(x, starts, n) {
  check_image_file(x)
  ok <- all(is.finite(starts) & starts >= 0) && x$offset >= 0 && x$offset + (max(starts) + n) * x$size <= x$bytes
  if (!ok) fail_short(paste0("'", x$file, "'"))
  connection <- file(x$file, "rb")
  on.exit(close(connection))
  pieces <- lapply(starts, function(start) {
    seek(connection, x$offset + start * x$size)
    readBin(connection, "raw", n * x$size)
  })
  if (length(pieces) == 1L) pieces[[1L]] else do.call(c, pieces)
}
