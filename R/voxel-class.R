# The matrix that voxelMatrix() returns is an ordinary one. Its class has one purpose: rows can be chosen, and it still
# knows its voxels.

VOXEL_CLASS <- c("voxelMatrix", "matrix", "array")

# For methods of S4, such as Matrix's, it is a matrix.
#' @importFrom methods setOldClass
#' @exportClass voxelMatrix
setOldClass(VOXEL_CLASS[1:2])

#' @method [ voxelMatrix
#' @export
`[.voxelMatrix` <- function(x, i, j, ..., drop = TRUE) {
  picked <- NextMethod()
  by_rows <- missing(j) && nargs() - !missing(drop) == 3L
  if (!by_rows || !is.matrix(picked)) return(picked)
  mask <- attr(x, "mask", exact = TRUE)
  if (is.null(mask) || sum(mask) != ncol(picked)) return(picked) # transposed, for example
  attr(picked, "mask") <- mask
  class(picked) <- class(x)
  picked
}

#' @method print voxelMatrix
#' @export
print.voxelMatrix <- function(x, ...) {
  mask <- attr(x, "mask", exact = TRUE)
  if (is.null(mask) || sum(mask) != ncol(x)) {
    attr(x, "mask") <- NULL
    return(invisible(print(unclass(x), ...)))
  }
  cifti <- attr(mask, "header")$cifti
  cat(n_of(nrow(x), "time point"), " of ", format_count(ncol(x)), " of ",
      n_of(length(mask), if (is.null(cifti)) "voxel" else "grayordinate"),
      if (is.null(cifti)) paste0(" (", show_size(dim(mask)), ")"), "\n", sep = "")
  if (!is.null(cifti)) print(cifti$models[c("structure", "kind", "count")], row.names = FALSE)
  affine <- header_affine(attr(mask, "header"))
  if (is.null(cifti) && !is.null(affine)) cat("affine ", show_affine(affine), "\n", sep = "")
  invisible(x)
}

#' @rdname voxelMatrix
#' @param most Of `plot()`: rows of the picture at most; more voxels are averaged in as many blocks.
#' @param main Of `plot()`: the title.
#' @section Pictures: `plot()` draws the series as a carpet: a column for each time point, a row for each voxel, or the
#'   mean of voxels that follow one another, each in standard deviations from its own mean, so that what all voxels share
#'   at a time, such as a movement, is a stripe. Of more than 20,000 voxels as many are drawn, spread evenly.
#' @export
plot.voxelMatrix <- function(x, most = 500, main = "", ...) {
  most <- check_whole(most, "most", 1, 1e4)
  values <- t(scale(unclass(x)[, sort(drawn_places(ncol(x), 20000)), drop = FALSE]))
  values <- reduce_rows(values, most)
  top <- stats::quantile(abs(values), 0.99, na.rm = TRUE, names = FALSE)
  limits <- c(-1, 1) * if (is.finite(top) && top > 0) top else 1
  draw_carpet(list(values = values, time = seq_len(nrow(x)), xlab = "time point", ylab = n_of(ncol(x), "voxel"),
                   limits = limits, colours = diverging(), title = "sd"), main, ...)
  invisible(x)
}
