#' From an image to a matrix of voxels, and back
#'
#' `voxelMatrix()` makes a matrix of a 4-D image: a row for each time point and a column for each voxel, as [gpuCor()]
#' takes it. `voxelImage()` puts a value for each voxel, such as a degree or a correlation, back into an image.
#' `voxelCoords()` returns the center of each voxel in millimeters, to find where the edges of a network are
#' (`vignette("connectome", "gpucor")`).
#'
#' Voxels that do not vary over time have no correlation with anything. They are dropped, with a message, but not those
#' with missing values.
#'
#' `voxelImage()` needs the mask of the voxels that stayed. Give it the matrix itself, also after its values were
#' changed (`x[] <- `) or rows or columns were selected (`x[good, ]`, `x[, cortex]`; columns in ascending order).
#' `rbind()` joins [runs]. Functions that make a new matrix, such as `cbind()`, drop attributes: keep `attr(x, "mask")`.
#'
#' `voxelCoords()` needs an affine, the image's sform or, without one, its qform. Its `x` may also be a mask, an image
#' or the name of a file. A mask whose affine differs from the image's is an error. If one of them has no affine, only
#' their dimensions are compared. oro.nifti's `readNIfTI()` reorients images unless `reorient = FALSE`; a reoriented
#' image no longer has a valid affine.
#'
#' For a dense series of CIFTI (`.dtseries.nii`) the columns are grayordinates, vertices of the cortex and subcortical
#' voxels, and `attr(x, "mask")` is a logical array of one dimension. For a parcellated series (`.ptseries.nii`) they
#' are parcels, by name. For GIFTI see [readVoxels()].
#'
#' `plot()` of a matrix draws a carpet: a column for each time point and a row for each voxel, or for the mean of
#' neighboring ones, in standard deviations from its mean. What all voxels share at one time, such as a movement, is a
#' stripe. Of more than 20,000 voxels, 20,000 are drawn.
#'
#' `plot()` of an image draws slices, over a `background` such as the mean image. The affine says which side is which:
#' left is on the left, and letters mark the sides. An image without an affine is drawn as it is stored, without
#' letters; an oblique image is drawn along its own axes. Maps with negative values have blue and red colors.
#'
#' @order 1
#' @aliases voxelMatrix-class voxelImage-class
#' @param img A 4-D image, x by y by z by time: the name of a file that [readVoxels()] reads; an array; an image of
#'   `RNifti::readNifti()` or `oro.nifti::readNIfTI()`; or a list of 3-D images, or of names of files, one for each time
#'   point. Trailing dimensions of 1 are ignored.
#' @param mask,above An image, an array or a file with the dimensions of a volume: voxels that are neither zero nor `NA`
#'   are inside, or those where it is larger than `above`, as for a probability of gray matter. Or a matrix from
#'   `voxelMatrix()`, for its voxels; or `NULL`, in `voxelMatrix()`, for all voxels. `plot()` of an image outlines the
#'   voxels whose value, such as a probability, is at least `above`.
#' @param keep `NULL` for all volumes, a logical vector, or integers: their numbers (negative: dropped).
#' @param values A vector with a value for each voxel inside the mask, in the order of the columns; or a matrix with a
#'   row for each voxel and a column for each volume. If `mask` is an atlas, also a value, or a row, for each of its
#'   labels, ascending, as [parcelMeans()] has its columns.
#' @param outside A number or `NA`: the value of voxels outside the mask. With 0, integers stay integers.
#'
#' @return `voxelMatrix()`: a matrix of integers if the image has integers, otherwise of doubles. Voxels are in the
#'   order of the array: x changes fastest. Its attributes are
#'   * `mask`: a 3-D logical array, `TRUE` for the voxels that are columns. Of an image with a header it has an
#'     attribute `header`, a list of NIfTI's fields.
#'   * `tr`: seconds between volumes, if the image has them and no volume in between was left out.
#'   * `entities`: of a file that is named as in BIDS, `c(sub = "01", ses = "1", task = "rest", ...)`. Results with a
#'     row or an element for each subject, such as `attr(gpuISC(x), "r")`, are named by them,
#'     `"sub-01_ses-1_task-rest"`, unless the list has names.
#'
#'   `voxelImage()`: a 3-D array, or a 4-D array if `values` is a matrix. It is a `niftiImage` if the image was one. For
#'   CIFTI it is a vector or a matrix of all grayordinates or parcels.
#'
#'   `voxelCoords()`: a matrix with a row for each voxel and columns `x`, `y` and `z`, millimeters to the right, to the
#'   front and upwards of the origin (RAS). For CIFTI vertices of a surface are `NA`, and parcels have the mean of
#'   their voxels, or `NA` if they have vertices.
#' @examples
#' # 64 time points of 10 x 10 x 4 voxels; two corners share a signal
#' set.seed(1)
#' img <- array(rnorm(10 * 10 * 4 * 64, 100, 5), c(10, 10, 4, 64))
#' signal <- rep(8 * sin(1:64 / 5), each = 3 * 3 * 4)
#' img[1:3, 1:3, , ] <- img[1:3, 1:3, , ] + signal
#' img[8:10, 8:10, , ] <- img[8:10, 8:10, , ] + signal
#'
#' # The correlation of each voxel with the corner, without the first volumes
#' header <- list(sform_code = 1, srow_x = c(-3, 0, 0, 15), srow_y = c(0, 3, 0, -10),
#'                srow_z = c(0, 0, 4, 2))
#' x <- voxelMatrix(structure(img, header = header), keep = -(1:4))
#' x
#' plot(voxelImage(gpuCor(x[, 1], x), x), from = 0.3, label = "r")
#' edges <- gpuCorNetwork(x, density = 1e-4, output = "edges")
#' head(voxelCoords(x)[edges$from, ]) # where the strongest edges begin
#' @export
voxelMatrix <- function(img, mask = NULL, keep = NULL, above = NULL) {
  img <- open_image(img)
  check_that(above, "above", is.null(above) || !is.null(mask), "left out without 'mask'")
  mask <- if (!is.null(mask)) check_mask(read_mask(mask, "mask", flat = TRUE), img)
  inside <- if (is.null(mask)) seq_len(prod(img$size)) else inside_mask(mask, above)
  times <- kept_times(keep, img$times, "volumes of 'img'")
  parcels <- image_parcels(img$header)
  new_series <- function(voxels) { # with all attributes: R would copy the matrix if they were set later
    x <- new_zeros(img$whole, c(length(times), length(voxels)))
    attr(x, "mask") <- new_mask(img, mask$header, voxels)
    if (!is.null(parcels)) colnames(x) <- parcels[voxels]
    if (all(diff(times) == 1)) attr(x, "tr") <- header_tr(img$header)
    attr(x, "entities") <- img$entities
    class(x) <- c("voxelMatrix", "scanMatrix", "matrix", "array")
    x
  }
  first <- rep(NA_real_, length(inside))
  varies <- logical(length(inside)) # TRUE for voxels with two different finite values
  see <- function(block) .Call(r_add_variation, first, varies, block) # changes both in place
  # An image in memory is read twice, so that no memory is used for constant voxels.
  if (img$in_memory) img$each(inside, times, see)
  voxels <- if (img$in_memory) inside[varies] else inside
  x <- new_series(voxels)
  img$each(voxels, times, function(block) {
    put_block(x, block)
    if (!img$in_memory) see(block)
  })
  n_varying <- sum(varies)
  if (!n_varying) {
    fail("none of the ", format_count(length(inside)), " voxels varies over time; is 'mask' the right one?")
  }
  if (n_varying == length(inside)) return(x)
  message(format_count(length(inside) - n_varying), " of ", n_of(length(inside), "voxel"),
          " dropped: constant over time or all NA")
  if (img$in_memory) return(x)
  some <- new_series(inside[varies])
  put_block(some, new_block(x, 1L, seq_len(nrow(x)) - 1, 1L, (which(varies) - 1) * nrow(x)))
  some
}

# ---- uncompressed NIfTI files as data: voxels of an image, or columns of CIFTI, are read in blocks

# Returns a gpuCorFile. Its elements: voxels: the indices of its columns in a volume; offset and size: bytes; step: from
# one time point to the next and from one voxel to the next, in values; format: see with_nifti(); bytes: of the file.
image_file <- function(file, mask) {
  if (is_gzip(file)) {
    fail_file("'file' is \"", file, "\", which is compressed: voxelMatrix() reads it, or decompress it by gunzip -k")
  }
  img <- open_image(file)
  mask <- if (!is.null(mask)) check_mask(read_mask(mask, "mask", flat = TRUE), img)
  voxels <- if (is.null(mask)) seq_len(prod(img$size)) else inside_mask(mask)
  parcels <- image_parcels(img$header)
  names <- if (!is.null(parcels)) list(NULL, parcels[voxels])
  x <- new_file(file, "image", c(img$times, length(voxels)), names, voxels = voxels,
                offset = img$header$vox_offset, size = img$format$size,
                step = if (is.null(img$header$cifti)) c(prod(img$size), 1) else c(1, img$times),
                format = img$format, bytes = file.size(file))
  attr(x, "mask") <- new_mask(img, mask$header, voxels)
  attr(x, "tr") <- header_tr(img$header)
  attr(x, "entities") <- img$entities
  x
}

check_image_file <- function(x) {
  if (identical(file.size(x$file), x$bytes)) return(invisible())
  fail_file("the file \"", x$file, "\" is absent or has changed since gpuCorFile() read its header; call it again")
}

# Reads columns from the smallest to the largest voxel: one piece of the file for each time point, or one for all.
read_image_columns <- function(x, columns) {
  read <- function() {
    voxels <- x$voxels[columns]
    first <- min(voxels)
    span <- max(voxels) - first + 1
    is_by_time <- x$step[2L] == 1
    starts <- if (is_by_time) (seq_len(nrow(x)) - 1) * x$step[1L] + first - 1 else (first - 1) * x$step[2L]
    n <- span * x$step[2L]
    check_image_file(x)
    is_inside <- all(is.finite(starts) & starts >= 0) && x$offset >= 0 &&
      x$offset + (max(starts) + n) * x$size <= x$bytes
    if (!is_inside) fail_short(paste0("'", x$file, "'"))
    connection <- file(x$file, "rb")
    on.exit(close(connection))
    pieces <- lapply(starts, function(start) {
      seek(connection, x$offset + start * x$size)
      readBin(connection, "raw", n * x$size)
    })
    values <- x$format
    values$bytes <- if (length(pieces) == 1L) pieces[[1L]] else do.call(c, pieces)
    found <- matrix(0, nrow(x), length(columns))
    rows <- (seq_len(nrow(x)) - 1) * if (is_by_time) span else 1
    put_block(found, new_block(values, 1L, rows, 1L, (voxels - first) * x$step[2L]))
    found
  }
  # Users may change the elements of a gpuCorFile.
  words <- paste0("a gpuCorFile of \"", x$file, "\" cannot be read; make it again with gpuCorFile(): ")
  with_our_errors(read(), words, fail_file)
}

# ---- classes

# S3 classes of ordinary arrays: a voxelMatrix is a scanMatrix with a mask (image-scan.R); a voxelImage, an image with a
# header or the values of CIFTI and GIFTI, prints in a few lines.

#' @exportClass voxelImage
setOldClass(c("voxelImage", "array"))

#' @method print voxelImage
#' @export
print.voxelImage <- function(x, ...) {
  size <- dim(x)
  header <- attr(x, "header", exact = TRUE)
  on_surface <- !is.null(header$cifti)
  volumes <- if (on_surface) NCOL(x) else prod(size[-(1:3)])
  tr <- header_tr(header)
  cat("Image of ", if (on_surface) n_of(NROW(x), element_word(header)) else paste(show_size(size[1:3]), "voxels"),
      if (volumes > 1 || length(size) > 3L) paste0(", ", n_of(volumes, "volume")),
      if (volumes > 1 && !is.null(tr)) paste0(" ", format(tr), " s apart"), ": ", typeof(x),
      if (is.logical(x)) paste0(", ", format_count(sum(x, na.rm = TRUE)), " of ", format_count(length(x)), " TRUE"),
      "\n", sep = "")
  if (on_surface) {
    print_models(header$cifti$models)
    return(invisible(x))
  }
  affine <- header_affine(header)
  if (is.null(affine)) return(invisible(x))
  names <- rbind(c("right", "front", "top"), c("left", "back", "bottom"))
  toward <- apply(affine[1:3, 1:3], 2L, function(step) { # the direction that an axis is closest to
    main <- which.max(abs(step))
    names[if (step[main] > 0) 1L else 2L, main]
  })
  cat("voxels of ", show_size(signif(sqrt(colSums(affine[1:3, 1:3]^2)), 4)), " mm, axes to the ", toString(toward),
      "\naffine ", show_affine(affine), "\n", sep = "")
  invisible(x)
}

# Parcels are too many for a table.
print_models <- function(models) {
  if (any(models$kind != "parcel")) print(models[c("structure", "kind", "count")], row.names = FALSE)
}

describe_series <- function(x) {
  mask <- attr(x, "mask", exact = TRUE)
  tr <- attr(x, "tr", exact = TRUE)
  entities <- attr(x, "entities", exact = TRUE)
  is_volume <- is.null(attr(mask, "header")$cifti)
  n_runs <- length(unique(attr(x, "runs", exact = TRUE)))
  paste0(if (!is.null(entities)) paste0(entity_name(entities), ": "), n_of(nrow(x), "time point"),
         if (n_runs > 1L) paste0(" in ", n_runs, " runs"),
         if (!is.null(tr)) paste0(" ", format(tr), " s apart"), " of ",
         format_count(ncol(x)), " of ", n_of(length(mask), element_word(attr(mask, "header"))),
         if (is_volume) paste0(" (", show_size(dim(mask)), ")"))
}

#' @method print voxelMatrix
#' @export
print.voxelMatrix <- function(x, ...) {
  if (!knows_voxels(x)) return(NextMethod())
  cat(describe_series(x), "\n", sep = "")
  header <- attr(attr(x, "mask"), "header")
  if (!is.null(header$cifti)) {
    print_models(header$cifti$models)
  } else if (!is.null(header_affine(header))) {
    cat("affine ", show_affine(header_affine(header)), "\n", sep = "")
  }
  invisible(x)
}

# The summary of a matrix would have a block for each voxel.
#' @method summary voxelMatrix
#' @export
summary.voxelMatrix <- function(object, ...) {
  if (!knows_voxels(object)) return(NextMethod())
  missing <- if (anyNA(object)) sum(is.na(object)) else 0
  range <- if (length(object) > missing) range(object, na.rm = TRUE) else c(NA_real_, NA_real_)
  numbers <- list(time_points = nrow(object), voxels = ncol(object), tr = attr(object, "tr"), missing = missing,
                  mean = mean(object, na.rm = TRUE), range = range)
  structure(numbers, title = describe_series(object), class = c(paste0("summary.", class(object)[1L]), "gpuCorSummary"))
}
