#' From an image to a matrix of voxels, and back
#'
#' `voxelMatrix()` makes of a 4-D image the matrix that [gpuCor()] takes: a
#' column for each voxel, a row for each time point. `voxelImage()` puts a value
#' for each voxel, a degree or a correlation, back into the image.
#'
#' A voxel that does not vary over time has no correlation with anything:
#' columns whose finite values are all equal are left out, and a message says
#' how many. So are those without any finite value. A voxel that lacks some
#' values stays, and `use` says what to do about it ([gpuCor()]).
#'
#' As some voxels may have been left out, `voxelImage()` wants the mask of those
#' that stayed, and not the one given to `voxelMatrix()`. Either give it the
#' matrix itself, or keep `attr(x, "mask")` where the matrix is going to be
#' changed: subsetting, for example, drops attributes.
#'
#' Beside the image and the matrix there is memory for a few volumes only.
#'
#' @param img A 4-D image, x by y by z by time: an array, what
#'   `RNifti::readNifti()` or `oro.nifti::readNIfTI()` gives, or anything else
#'   that [as.array()] makes a numeric array of four dimensions.
#' @param mask Voxels to take. For `voxelMatrix()`: `NULL` for all, or a 3-D
#'   logical or numeric array or image with the first three dimensions of `img`;
#'   what is neither zero nor `NA` is inside. For `voxelImage()`: such an array,
#'   or a matrix from `voxelMatrix()`.
#' @param values A value for each voxel inside the mask, in the order of the
#'   columns; a matrix with a row for each voxel makes a volume of each column.
#'
#' @return `voxelMatrix()`: a matrix, time by voxels, without column names;
#'   integer if the image is, otherwise double. Voxels come in the order of the
#'   array: x changes fastest. Attribute `mask` is a 3-D logical array, `TRUE` at
#'   the voxels that are columns, so that `which(attr(x, "mask"), arr.ind = TRUE)`
#'   tells where they are. `voxelImage()`: a 3-D array, `NA` outside the mask; of
#'   a matrix with a row for each voxel a 4-D array.
#' @section Errors: an image that is not numeric, has other than four dimensions
#'   or a single time point; a mask that does not fit or is empty; no voxel that
#'   varies; another number of values than of voxels.
#' @seealso [gpuCor()]; `vignette("connectome", "gpucor")`
#' @examples
#' # 64 time points of 10 x 10 x 4 voxels; two corners share a signal
#' set.seed(1)
#' img <- array(rnorm(10 * 10 * 4 * 64, 100, 5), c(10, 10, 4, 64))
#' signal <- rep(8 * sin(1:64 / 5), each = 3 * 3 * 4)
#' img[1:3, 1:3, , ] <- img[1:3, 1:3, , ] + signal
#' img[8:10, 8:10, , ] <- img[8:10, 8:10, , ] + signal
#' img[5, 5, , ] <- 0
#'
#' x <- voxelMatrix(img)
#' dim(x)
#'
#' # How strongly each voxel goes with that in the corner
#' r <- gpuCor(x[, 1], x)
#' map <- voxelImage(r, x)
#' round(map[, , 2], 1)
#' image(map[, , 2], asp = 1, axes = FALSE)
#' @export
voxelMatrix <- function(img, mask = NULL) {
  img <- check_image(img)
  size <- dim(img)[1:3]
  inside <- if (is.null(mask)) seq_len(prod(size)) else mask_voxels(mask, size)
  if (!length(inside)) fail("'img' has no voxels: its dimensions are ", show_size(dim(img)))
  keep <- inside[varies(img, inside)]
  report_dropped(length(inside) - length(keep), length(inside))

  kept <- array(FALSE, size)
  kept[keep] <- TRUE
  x <- matrix(if (typeof(img) == "integer") 0L else 0, dim(img)[4L], length(keep))
  for (time in seq_len(nrow(x))) x[time, ] <- volume(img, time, keep)
  attr(x, "mask") <- kept
  x
}

#' @rdname voxelMatrix
#' @export
voxelImage <- function(values, mask) {
  if (!is_variables(values)) fail("'values' must be numeric or logical, not of class ", class(values)[1L])
  if (is.matrix(mask)) mask <- columns_mask(mask)
  inside <- mask_voxels(mask)
  volumes <- if (is.matrix(values) && nrow(values) == length(inside)) ncol(values)
  if (is.null(volumes) && length(values) != length(inside)) fail_values(values, length(inside))

  img <- array(.subset(values, 1L)[NA_integer_], c(dim(mask), volumes))
  places <- prod(dim(mask))
  for (k in seq_len(if (is.null(volumes)) 1L else volumes)) {
    img[inside + (k - 1) * places] <- .subset(values, seq_along(inside) + (k - 1) * length(inside))
  }
  img
}

show_size <- function(size) paste(size, collapse = " x ")

# A numeric array as it came, whatever its class, for it may be large; anything else made one.
as_image <- function(img, name) {
  if (is.array(img) && typeof(img) %in% c("integer", "double", "logical")) return(img)
  class <- class(img)[1L]
  img <- tryCatch(as.array(img), error = function(condition) NULL)
  if (!is.array(img) || !is_variables(img)) fail("'", name, "' must be a numeric array, not of class ", class)
  img
}

check_image <- function(img) {
  img <- as_image(img, "img")
  if (typeof(img) == "logical") fail("'img' must be a numeric array, not a logical one")
  if (length(dim(img)) != 4L) {
    fail("'img' must have 4 dimensions, x, y, z and time, not ", length(dim(img)), " (", show_size(dim(img)), ")")
  }
  if (dim(img)[4L] < 2L) {
    fail("'img' has ", dim(img)[4L], " time point (", show_size(dim(img)), "); a correlation needs two or more")
  }
  img
}

# The mask that voxelMatrix() left with its matrix.
columns_mask <- function(x) {
  mask <- attr(x, "mask", exact = TRUE)
  if (is.null(mask)) {
    fail("'mask' is a matrix (", show_size(dim(x)), ") without the attribute \"mask\" that voxelMatrix() sets; ",
         "give the matrix as it was returned, or its mask")
  }
  mask
}

# Where the mask is neither zero nor NA, in the array's order.
mask_voxels <- function(mask, size = NULL) {
  mask <- as_image(mask, "mask")
  if (length(dim(mask)) != 3L) {
    fail("'mask' must have 3 dimensions, x, y and z, not ", length(dim(mask)), " (", show_size(dim(mask)), ")")
  }
  if (!is.null(size) && !identical(as.integer(dim(mask)), as.integer(size))) {
    fail("'mask' is ", show_size(dim(mask)), ", but a volume of 'img' is ", show_size(size))
  }
  inside <- which(.subset(mask, seq_len(prod(dim(mask)))) != 0)
  if (!length(inside)) fail("'mask' is empty: each of its ", format_count(prod(dim(mask))), " voxels is 0 or NA")
  inside
}

# Values of some voxels at one time. By positions, as dim(img) <- would copy the whole image;
# .subset() is the same for an image of any class.
volume <- function(img, time, voxels) {
  .subset(img, voxels + (time - 1) * prod(dim(img)[1:3]))
}

# Whether a voxel has two finite values that differ.
varies <- function(img, voxels) {
  first <- rep(NA_real_, length(voxels))
  varies <- logical(length(voxels))
  for (time in seq_len(dim(img)[4L])) {
    values <- volume(img, time, voxels)
    finite <- is.finite(values)
    new <- finite & is.na(first)
    first[new] <- values[new]
    varies <- varies | (finite & values != first)
  }
  varies
}

report_dropped <- function(dropped, all) {
  if (dropped == all) fail("none of the ", format_count(all), " voxels varies over time; is 'mask' the right one?")
  if (dropped > 0L) {
    message(format_count(dropped), " of ", format_count(all), " voxels dropped: constant over time or all NA")
  }
}

fail_values <- function(values, n) {
  given <- if (is.matrix(values)) show_size(dim(values)) else format_count(length(values))
  fail("'values' must have one value, or one row, for each of the ", format_count(n), " voxels inside 'mask', not ",
       given, "; voxelMatrix() drops voxels that do not vary: as 'mask' give the matrix x that it returned, ",
       "or attr(x, \"mask\")")
}
