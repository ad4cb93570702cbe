#' Where voxels are
#'
#' `voxelCoords(x)` returns the center of each voxel of a matrix from [voxelMatrix()], in millimeters to the right, to
#' the front and upwards of the origin (RAS). Use it to tell left from right, and to find where the edges of a network
#' are.
#'
#' The affine is the image's sform or, without one, its qform.
#'
#' @param x A matrix from [voxelMatrix()], its mask (`attr(x, "mask")`), or an image or the name of a file with an
#'   affine.
#' @return A matrix with a row for each voxel and columns `x`, `y` and `z`. For CIFTI it has a row for each
#'   grayordinate, `NA` for vertices of a surface.
#' @section Errors: An image without an affine, such as a plain array; an image that oro.nifti reoriented.
#' @seealso [voxelMatrix()]
#' @examples
#' file <- tempfile(fileext = ".nii.gz")
#' affine <- rbind(c(-3, 0, 0, 15), c(0, 3, 0, -10), c(0, 0, 4, 2))
#' header <- list(sform_code = 1, srow_x = affine[1, ], srow_y = affine[2, ], srow_z = affine[3, ],
#'                pixdim = c(1, 3, 3, 4, 2, 0, 0, 0), xyzt_units = 10)
#' img <- structure(array(rnorm(10 * 10 * 4 * 20), c(10, 10, 4, 20)), header = header)
#' x <- voxelMatrix(img)
#' head(voxelCoords(x))
#'
#' # where the strongest edges begin
#' e <- gpuCorNetwork(x, density = 1e-4, output = "edges")
#' head(voxelCoords(x)[e$from, ])
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
