# Masks, and images made from values of the voxels inside them.

# Reads any mask: list(size, header or NULL, values, name: the argument). `flat`: TRUE to allow a vector, as in CIFTI.
read_mask <- function(mask, name, flat = FALSE) {
  mask <- if (is_file_name(mask)) read_image(mask) else check_slots(mask, name)
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

# ---- values of voxels as an image

# `name`: the name of the mask's argument.
image_of_values <- function(values, mask, outside, name) {
  check_values(values, outside)
  mask <- read_mask(mask, name)
  inside <- inside_mask(mask)
  volumes <- if (is.matrix(values) && nrow(values) == length(inside)) ncol(values)
  if (is.null(volumes) && length(values) != length(inside)) fail_values(values, length(inside), name)

  like <- .subset(values, 0L)
  if (is.na(outside) || outside == floor(outside)) storage.mode(outside) <- typeof(like)
  img <- array(c(outside, like), c(mask$size, volumes))
  places <- prod(mask$size)
  for (k in seq_len(if (is.null(volumes)) 1L else volumes)) {
    img[inside + (k - 1) * places] <- .subset(values, seq_along(inside) + (k - 1) * length(inside))
  }
  header <- if (is.null(volumes) || inherits(mask$header, "niftiHeader")) mask$header else without_time(mask$header)
  as_reference(img, header, colnames(values))
}

check_values <- function(values, outside) {
  if (!is_variables(values)) {
    has_maps <- inherits(values, c("gpuConnectivity", "data.frame"))
    fail("'values' must be numeric or logical, not of class ", class(values)[1L],
         if (has_maps) "; as.matrix(as.data.frame(values)) has a column for each map")
  }
  if (length(outside) != 1L || !is_variables(outside)) {
    fail("'outside' must be one number or NA, not ", show_value(outside))
  }
}

fail_values <- function(values, n, name) {
  given <- if (is.matrix(values)) show_size(dim(values)) else format_count(length(values))
  is_turned <- is.matrix(values) && ncol(values) == n
  fail("'values' must have one value, or one row, for each of the ", format_count(n), " voxels inside '", name,
       "', not ", given, "; give ",
       if (is_turned) "t(values)" else paste0("as '", name, "' the matrix of voxelMatrix()"))
}

# Returns an image of the reference's kind.
as_reference <- function(img, header, names) {
  if (inherits(header, "niftiHeader")) return(RNifti::asNifti(img, header))
  if (!is.null(header$cifti)) {
    if (length(dim(img)) == 1L) dim(img) <- NULL else colnames(img) <- names
  }
  attr(img, "header") <- header
  class(img) <- image_class(img)
  img
}

# Returns the header of an image whose volumes are maps, not times.
without_time <- function(header) {
  if (!is.null(header$pixdim)) header$pixdim[-(1:4)] <- 1
  if (!is.null(header$xyzt_units)) header$xyzt_units <- bitwAnd(as.integer(header$xyzt_units), 7L)
  header
}
