# Two S3 classes of ordinary arrays: a voxelMatrix keeps its mask when rows or columns are selected, and a voxelImage
# (an image with a header, or the values of CIFTI and GIFTI) prints in a few lines.

# S4 methods, such as those of Matrix, treat a voxelMatrix as a matrix.
#' @importFrom methods setOldClass
#' @exportClass voxelMatrix
setOldClass(c("voxelMatrix", "matrix"))

#' @exportClass voxelImage
setOldClass(c("voxelImage", "array"))

#' @rdname readVoxels
#' @param x An image.
#' @param ... Not used.
#' @method print voxelImage
#' @export
print.voxelImage <- function(x, ...) {
  size <- dim(x)
  header <- attr(x, "header", exact = TRUE)
  on_surface <- !is.null(header$cifti)
  volumes <- if (on_surface) NCOL(x) else prod(size[-(1:3)])
  tr <- header_tr(header)
  cat("Image of ", if (on_surface) n_of(NROW(x), "grayordinate") else paste(show_size(size[1:3]), "voxels"),
      if (volumes > 1 || length(size) > 3L) paste0(", ", n_of(volumes, "volume")),
      if (volumes > 1 && !is.null(tr)) paste0(" ", format(tr), " s apart"), ": ", typeof(x),
      if (is.logical(x)) paste0(", ", format_count(sum(x, na.rm = TRUE)), " of ", format_count(length(x)), " TRUE"),
      "\n", sep = "")
  if (on_surface) {
    print(header$cifti$models[MODEL_COLUMNS], row.names = FALSE)
    return(invisible(x))
  }
  affine <- header_affine(header)
  if (is.null(affine)) return(invisible(x))
  cat("voxels of ", show_size(signif(sqrt(colSums(affine[1:3, 1:3]^2)), 4)), " mm, axes to the ", toward(affine), "\n",
      "affine ", show_affine(affine), "\n", sep = "")
  invisible(x)
}

# Columns of the table of brain models that are printed.
MODEL_COLUMNS <- c("structure", "kind", "count")

# Returns the direction that each axis of an image is closest to, such as "left, front, top".
toward <- function(affine) {
  names <- rbind(c("right", "front", "top"), c("left", "back", "bottom"))
  directions <- apply(affine[1:3, 1:3], 2L, function(step) {
    main <- which.max(abs(step))
    names[if (step[main] > 0) 1L else 2L, main]
  })
  paste(directions, collapse = ", ")
}

#' @method [ voxelMatrix
#' @export
`[.voxelMatrix` <- function(x, i, j, ..., drop = TRUE) {
  picked <- NextMethod()
  is_part <- is.matrix(picked) && nargs() - !missing(drop) == 3L
  if (!is_part || !knows_voxels(x)) return(picked)
  mask <- attr(x, "mask", exact = TRUE)
  if (!missing(j)) {
    columns <- unname(stats::setNames(seq_len(ncol(x)), colnames(x))[j])
    if (!isFALSE(is.unsorted(columns, strictly = TRUE))) return(picked) # a mask has each voxel once, in order
    inside <- which(mask)
    mask[inside] <- seq_along(inside) %in% columns
  }
  attr(picked, "mask") <- mask
  rows <- seq_len(nrow(x))
  if (all(diff(if (missing(i)) rows else rows[i]) == 1)) attr(picked, "tr") <- attr(x, "tr", exact = TRUE)
  class(picked) <- class(x)
  picked
}

# Returns FALSE if the columns are no longer the mask's voxels, as in a transpose.
knows_voxels <- function(x) {
  mask <- attr(x, "mask", exact = TRUE)
  !is.null(mask) && sum(mask) == ncol(x)
}

describe_series <- function(x) {
  mask <- attr(x, "mask", exact = TRUE)
  tr <- attr(x, "tr", exact = TRUE)
  is_volume <- is.null(attr(mask, "header")$cifti)
  paste0(n_of(nrow(x), "time point"), if (!is.null(tr)) paste0(" ", format(tr), " s apart"), " of ",
         format_count(ncol(x)), " of ", n_of(length(mask), if (is_volume) "voxel" else "grayordinate"),
         if (is_volume) paste0(" (", show_size(dim(mask)), ")"))
}

#' @method print voxelMatrix
#' @export
print.voxelMatrix <- function(x, ...) {
  if (!knows_voxels(x)) {
    attr(x, "mask") <- NULL
    return(invisible(print(unclass(x), ...)))
  }
  cat(describe_series(x), "\n", sep = "")
  header <- attr(attr(x, "mask"), "header")
  if (!is.null(header$cifti)) {
    print(header$cifti$models[MODEL_COLUMNS], row.names = FALSE)
  } else if (!is.null(header_affine(header))) {
    cat("affine ", show_affine(header_affine(header)), "\n", sep = "")
  }
  invisible(x)
}

# The summary of a matrix would have a block for each voxel.
#' @rdname voxelMatrix
#' @param object,x A matrix that `voxelMatrix()` returned; for `plot()` also an image with a header, such as one of
#'   `voxelImage()` or [readVoxels()].
#' @param ... For `plot()`: graphical parameters. Otherwise not used.
#' @method summary voxelMatrix
#' @export
summary.voxelMatrix <- function(object, ...) {
  if (!knows_voxels(object)) return(NextMethod())
  missing <- if (anyNA(object)) sum(is.na(object)) else 0
  range <- if (length(object) > missing) range(object, na.rm = TRUE) else c(NA_real_, NA_real_)
  new_summary(list(time_points = nrow(object), voxels = ncol(object), tr = attr(object, "tr"), missing = missing,
                   mean = mean(object, na.rm = TRUE), range = range), describe_series(object), object)
}
