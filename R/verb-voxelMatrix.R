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
#' that stayed, and not the one given to `voxelMatrix()`. Give it the matrix
#' itself, also after its values were changed (`x[] <- `) or rows were chosen
#' (`x[good, ]`). What makes a matrix anew, such as a product or `rbind()`, drops
#' attributes: keep `attr(x, "mask")` there.
#'
#' A mask whose affine is another than the image's is an error: the same indices
#' are other places there. An image or a mask without affine, such as a plain
#' array, is taken to be on the other's grid, and only its dimensions are
#' compared. oro.nifti's `readNIfTI()` turns images unless `reorient = FALSE`
#' says otherwise; one that was turned has lost its affine.
#'
#' A dense series of CIFTI (`.dtseries.nii`) has grayordinates instead of voxels,
#' vertices of the cortex' surface and voxels below it; they become the columns.
#' Its mask is a value for each grayordinate, and `attr(x, "mask")` is a logical
#' array of one dimension, which knows the brain models.
#'
#' Beside the image and the matrix there is memory for a few volumes only; of a
#' file only the matrix is in memory, with all voxels inside the mask at first.
#'
#' @order 1
#' @aliases voxelMatrix-class voxelImage-class
#' @param img A 4-D image, x by y by z by time: the name of a file, which
#'   [readVoxels()] knows how to read; an array, what `RNifti::readNifti()` (also
#'   with `internal = TRUE`) or `oro.nifti::readNIfTI()` gives, or anything else
#'   that [as.array()] makes a numeric array of four dimensions; or a list of 3-D
#'   images, or names of files, one for each time point. Dimensions of 1 beyond
#'   these do not count.
#' @param mask Voxels to take. For `voxelMatrix()`: `NULL` for all, or a 3-D
#'   logical or numeric array, image or file with the first three dimensions of
#'   `img`; what is neither zero nor `NA` is inside. For `voxelImage()`: such a
#'   mask. For both: a matrix from `voxelMatrix()`, for its voxels.
#' @param keep Volumes to take, in their order: `NULL` for all, a logical vector
#'   with a value for each, or their numbers (negative ones are left out).
#' @param above A number: voxels are inside where the mask is larger, as with the
#'   probabilities of a tissue.
#' @param values A value for each voxel inside the mask, in the order of the
#'   columns; a matrix with a row for each voxel makes a volume of each column.
#' @param outside The value of voxels outside the mask, `NA` for example. With 0,
#'   integers stay integers; files have no missing ones.
#'
#' @return `voxelMatrix()`: a matrix, time by voxels, without column names;
#'   integer if the image is, otherwise double. Voxels come in the order of the
#'   array: x changes fastest. Attribute `mask` is a 3-D logical array, `TRUE` at
#'   the voxels that are columns, so that `which(attr(x, "mask"), arr.ind = TRUE)`
#'   tells where they are, and [voxelCoords()] where that is in millimetres; of an
#'   image with a header it has an attribute `header`, NIfTI's fields by name, among
#'   them `pixdim`, whose values 2 to 4 are the size of a voxel. Attribute `tr` are
#'   the seconds from one volume to the next, where the image tells them and no
#'   volume between others was left out, here or later by rows (`x[-(1:4), ]` keeps
#'   it). `voxelImage()`: a 3-D array, `outside` the mask; of a matrix with a row for
#'   each voxel a 4-D array. If the image was a `niftiImage`, so is this. It is a
#'   vector or a matrix of all grayordinates if it was CIFTI. `summary()` of a matrix from `voxelMatrix()`: a list of
#'   its `time_points`, `voxels`, `of` how many, `tr`, how many values are `missing`, and their `mean` and `range`.
#' @section Errors: an image that is not numeric, has other than four dimensions
#'   or a single time point; a mask that does not fit, has another affine or is
#'   empty; no voxel that varies; another number of values than of voxels.
#' @seealso [readVoxels()], [voxelCoords()], [gpuCor()]; `vignette("connectome", "gpucor")`
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
#' x
#'
#' # How strongly each voxel goes with that in the corner, without the first volumes
#' x <- x[-(1:4), ]
#' r <- gpuCor(x[, 1], x)
#' map <- voxelImage(r, x)
#' round(map[, , 2], 1)
#' image(map[, , 2], asp = 1, axes = FALSE)
#' @export
voxelMatrix <- function(img, mask = NULL, keep = NULL, above = NULL) {
  img <- open_image(img)
  if (!is.null(above) && is.null(mask)) fail("'above' has a meaning with 'mask' only; leave it out")
  mask <- if (!is.null(mask)) read_mask(mask, "mask", flat = TRUE)
  inside <- if (is.null(mask)) seq_len(prod(img$size)) else inside_mask(check_mask(mask, img), above)
  if (!length(inside)) fail("'img' has no voxels: its dimensions are ", show_size(c(img$size, img$times)))
  times <- kept_times(keep, img$times)
  x <- img$read(inside, times, function(whole, inside) {
    x <- matrix(if (whole) 0L else 0, length(times), length(inside))
    kept <- array(FALSE, img$size)
    kept[inside] <- TRUE
    attr(kept, "header") <- if (is.null(img$header)) mask$header else img$header
    class(kept) <- image_class(kept)
    attr(x, "mask") <- kept
    if (all(diff(times) == 1)) attr(x, "tr") <- header_tr(img$header)
    class(x) <- VOXEL_CLASS
    x
  })
  report_dropped(length(inside) - ncol(x), length(inside))
  x
}

#' @rdname voxelMatrix
#' @export
voxelImage <- function(values, mask, outside = 0) image_of_values(values, mask, outside, "mask")

# name: what the mask is called where it is given.
image_of_values <- function(values, mask, outside, name) {
  if (!is_variables(values)) {
    fail("'values' must be numeric or logical, not of class ", class(values)[1L], values_way_out(values))
  }
  outside <- check_outside_value(outside)
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

# What has maps, and how to take them from it.
values_way_out <- function(values) {
  if (inherits(values, "gpuConnectivity")) return("; as.matrix(as.data.frame(values)) has a column for each map")
  if (is.data.frame(values)) return("; as.matrix(values) has a column for each map")
  if (is_network(values)) "; degrees are rowSums(values != 0)"
}

check_outside_value <- function(outside) {
  if (length(outside) != 1L || !is_variables(outside)) {
    fail("'outside' must be one number or NA, not ", show_value(outside))
  }
  outside
}

# An image of the reference's kind: RNifti's where it was one, with what else is known where there is any.
as_reference <- function(img, header, names) {
  if (inherits(header, "niftiHeader")) return(RNifti::asNifti(img, header))
  if (!is.null(header$cifti)) {
    if (length(dim(img)) == 1L) dim(img) <- NULL else colnames(img) <- names
  }
  attr(img, "header") <- header
  class(img) <- image_class(img)
  img
}

# ---- masks

# A mask of any kind: list(size, header or NULL, values, name: what messages call it). flat: it may be a vector, which
# is for CIFTI.
read_mask <- function(mask, name, flat = FALSE) {
  if (is_file_name(mask)) {
    check_file_name(mask, name)
    mask <- readVoxels(mask)
  }
  header <- image_header(mask)
  if (is.matrix(mask) && is.null(header$cifti)) {
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

# The mask that voxelMatrix() left with its matrix.
columns_mask <- function(x, name) {
  mask <- attr(x, "mask", exact = TRUE)
  if (is.null(mask)) {
    fail("'", name, "' is a matrix (", show_size(dim(x)), ") without the attribute \"mask\" that voxelMatrix() sets; ",
         "give the matrix as it was returned, or its mask")
  }
  mask
}

check_mask <- function(mask, img) {
  cifti <- img$header$cifti
  if (is.null(cifti) && length(mask$size) != 3L) fail_dimensions("mask", mask$size)
  if (!identical(as.integer(mask$size), as.integer(img$size))) {
    if (is.null(cifti)) fail("'mask' is ", show_size(mask$size), ", but a volume of 'img' is ", show_size(img$size))
    fail("'mask' has ", show_size(mask$size), " values, but 'img' has ", show_models(cifti))
  }
  if (is.null(cifti)) {
    check_same_grid(mask$header, img$header, img$size, "mask", "img")
  } else if (!is.null(mask$header$cifti)) {
    check_same_brain(mask$header$cifti, cifti, "mask", "img")
  }
  mask
}

# Where the mask is neither zero nor NA, or above a number; in the array's order.
inside_mask <- function(mask, above = NULL) {
  inside <- which(if (is.null(above)) mask$values != 0 else mask$values > check_number(above, "above"))
  if (!length(inside)) {
    fail("'", mask$name, "' is empty: each of its ", format_count(length(mask$values)), " voxels is ",
         if (is.null(above)) "0 or NA" else paste("at most", format(above), "or NA"))
  }
  inside
}

check_number <- function(value, name) {
  if (!is.numeric(value) || length(value) != 1L || !is.finite(value)) {
    fail("'", name, "' must be a number, not ", show_value(value))
  }
  value
}

# Numbers of the volumes to keep, ascending.
kept_times <- function(keep, times) {
  if (is.null(keep)) return(seq_len(times))
  if (!are_times(keep, times)) {
    fail("'keep' must be a logical value for each of the ", times, " volumes of 'img', or numbers of volumes, not ",
         if (is.logical(keep) && !anyNA(keep)) paste(length(keep), "values") else show_value(keep))
  }
  kept <- sort(unique(seq_len(times)[keep]))
  if (length(kept) < 2L) {
    fail("'keep' leaves ", length(kept), " of ", times, " volumes; a correlation needs two or more")
  }
  kept
}

are_times <- function(keep, times) {
  if (!is_variables(keep) || anyNA(keep)) return(FALSE)
  if (is.logical(keep)) return(length(keep) == times)
  all(keep == floor(keep)) && all(abs(keep) <= times) && (all(keep > 0) || all(keep < 0))
}

report_dropped <- function(dropped, all) {
  if (dropped == all) fail("none of the ", format_count(all), " voxels varies over time; is 'mask' the right one?")
  if (dropped > 0L) {
    message(format_count(dropped), " of ", n_of(all, "voxel"), " dropped: constant over time or all NA")
  }
}

fail_values <- function(values, n, name) {
  given <- if (is.matrix(values)) show_size(dim(values)) else format_count(length(values))
  fail("'values' must have one value, or one row, for each of the ", format_count(n), " voxels inside '", name,
       "', not ", given,
       if (is.matrix(values) && ncol(values) == n) {
         "; maps, or volumes, go by columns: t(values)"
       } else {
         paste0("; voxelMatrix() drops voxels that do not vary: as '", name, "' give the matrix x that it returned, ",
                "or attr(x, \"mask\")")
       })
}
