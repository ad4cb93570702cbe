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
