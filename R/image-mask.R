# Masks: which voxels of an image are columns, and where they are.

# Reads any mask: list(size, header or NULL, values, name: the argument). `flat`: TRUE to allow a vector, as in CIFTI.
read_mask <- function(mask, name, flat = FALSE) {
  mask <- if (is_file_name(mask)) readVoxels(mask) else check_slots(mask, name)
  header <- image_header(mask)
  if (is_outside(mask) || (is.matrix(mask) && is.null(header$cifti))) {
    mask <- columns_mask(mask, name)
    header <- image_header(mask)
  }
  if (is.matrix(mask) && ncol(mask) > 1L) fail("'", name, "' has ", ncol(mask), " maps; choose a column of it")
  mask <- as_image(mask, name)
  size <- if (is.null(header$cifti)) proper_size(dim(mask), 3L) else length(mask)
  if (is.null(header$cifti) && length(size) != 3L && !(flat && length(size) == 1L)) fail_dimensions(name, size)
  list(size = size, header = header, values = .subset(mask, seq_len(prod(size))), name = name)
}

fail_dimensions <- function(name, size) {
  fail("'", name, "' must have 3 dimensions, x, y and z, not ", length(size), " (", show_size(size), ")",
       if (name == "reference") "; of a series give the matrix that voxelMatrix() makes of it")
}

# Returns the mask of a volume's voxels that are columns, with the header.
new_mask <- function(img, mask_header, voxels) {
  kept <- array(FALSE, img$size)
  kept[voxels] <- TRUE
  attr(kept, "header") <- if (is.null(img$header)) mask_header else img$header
  class(kept) <- image_class(kept)
  kept
}

own_mask <- function(x) if (inherits(x, "gpuCorFile")) x$mask else attr(x, "mask", exact = TRUE)

# Returns the mask that voxelMatrix() attached to its matrix, or gpuCorFile() to an image.
columns_mask <- function(x, name) {
  mask <- own_mask(x)
  if (is_variables(mask)) return(mask)
  fail("'", name, "' is a matrix (", show_size(dim(x)), ") without the attribute \"mask\"; give the matrix that ",
       "voxelMatrix() returned")
}

# `img`: list(size, header, ...) of the image, which messages call `name`.
check_mask <- function(mask, img, name = "img") {
  cifti <- img$header$cifti
  if (is.null(cifti) && length(mask$size) != 3L) fail_dimensions(mask$name, mask$size)
  if (!identical(as.integer(mask$size), as.integer(img$size))) {
    what <- paste0("'", mask$name, "' ")
    of <- paste0("'", name, "' ")
    if (is.null(cifti)) fail(what, "is ", show_size(mask$size), ", but a volume of ", of, "is ", show_size(img$size))
    fail(what, "has ", show_size(mask$size), " values, but ", of, "has ", show_models(cifti))
  }
  if (is.null(cifti)) {
    check_same_grid(mask$header, img$header, img$size, mask$name, name)
  } else if (!is.null(mask$header$cifti)) {
    check_same_brain(mask$header$cifti, cifti, mask$name, name)
  }
  mask
}

# Returns the positions where the mask is neither zero nor NA, or is above a number.
inside_mask <- function(mask, above = NULL) {
  inside <- which(if (is.null(above)) mask$values != 0 else mask$values > check_number(above, "above"))
  if (!length(inside)) {
    fail("'", mask$name, "' is empty: each of its ", format_count(length(mask$values)), " voxels is ",
         if (is.null(above)) "0 or NA" else paste("at most", format(above), "or NA"))
  }
  inside
}

check_number <- function(value, name) {
  if (!is_numeric(value) || length(value) != 1L || !is.finite(value)) {
    fail("'", name, "' must be a number, not ", show_value(value))
  }
  value
}

#' @rdname voxelMatrix
#' @export
voxelCoords <- function(x) {
  mask <- read_mask(x, "x")
  if (isTRUE(mask$header$reoriented)) fail("'x' was turned by oro.nifti; read it with reorient = FALSE")
  if (!is.null(mask$header$cifti)) return(cifti_coords(mask$header$cifti)[inside_mask(mask), , drop = FALSE])
  affine <- header_affine(mask$header)
  if (is.null(affine)) fail("'x' has no affine; make it of an image that has one, such as of readVoxels()")
  mm <- cbind(arrayInd(inside_mask(mask), mask$size) - 1, 1) %*% t(affine[1:3, ])
  colnames(mm) <- c("x", "y", "z")
  mm
}

# ---- uncompressed NIfTI files as data: voxels of an image, or grayordinates of CIFTI, are read in blocks

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
