# Where voxels lie: what of a header tells it, be it of a file, of RNifti's images or of oro.nifti's, whose fields bear
# the same names. A header stays with the mask of a matrix, as its attribute "header", and goes back into files.

# Of an image in memory, or NULL.
image_header <- function(img) {
  own <- attr(img, "header", exact = TRUE)
  if (is.list(own)) return(own)
  if (inherits(img, "niftiImage")) return(if (requireNamespace("RNifti", quietly = TRUE)) RNifti::niftiHeader(img))
  if (!isS4(img) || !methods::.hasSlot(img, "srow_x")) return(NULL)
  names <- c("pixdim", "xyzt_units", "descrip", "qform_code", "sform_code", "quatern_b", "quatern_c", "quatern_d",
             "qoffset_x", "qoffset_y", "qoffset_z", "srow_x", "srow_y", "srow_z", "reoriented")
  names <- Filter(function(name) methods::.hasSlot(img, name), names)
  stats::setNames(lapply(names, function(name) methods::slot(img, name)), names)
}

# From indices that begin at 0 to mm, 4 x 4, by the header's sform or else its qform, the order of most tools; NULL
# where it has neither.
header_affine <- function(header) {
  if (!is.null(header$cifti)) return(header$cifti$affine)
  if (isTRUE(header$sform_code > 0)) {
    return(rbind(header$srow_x, header$srow_y, header$srow_z, c(0, 0, 0, 1), deparse.level = 0L))
  }
  if (isTRUE(header$qform_code > 0)) quaternion_affine(header)
}

# Seconds between volumes, by NIfTI's codes for seconds, their thousandths and millionths; NULL where nothing is said.
header_tr <- function(header) {
  if (!is.null(header$cifti)) return(header$cifti$tr)
  if (is.null(header$xyzt_units)) return(NULL)
  unit <- switch(as.character(bitwAnd(as.integer(header$xyzt_units), 56L)), `8` = 1, `16` = 1e-3, `24` = 1e-6)
  tr <- header$pixdim[5L] * unit
  if (isTRUE(tr > 0)) tr
}

# NIfTI's method 2.
quaternion_affine <- function(header) {
  b <- header$quatern_b
  c <- header$quatern_c
  d <- header$quatern_d
  a <- sqrt(max(0, 1 - b^2 - c^2 - d^2))
  rotation <- rbind(c(a^2 + b^2 - c^2 - d^2, 2 * (b * c - a * d), 2 * (b * d + a * c)),
                    c(2 * (b * c + a * d), a^2 + c^2 - b^2 - d^2, 2 * (c * d - a * b)),
                    c(2 * (b * d - a * c), 2 * (c * d + a * b), a^2 + d^2 - b^2 - c^2))
  handed <- if (header$pixdim[1L] < 0) -1 else 1
  scaled <- rotation %*% diag(header$pixdim[2:4] * c(1, 1, handed))
  rbind(cbind(scaled, c(header$qoffset_x, header$qoffset_y, header$qoffset_z)), c(0, 0, 0, 1))
}

# Two images have one grid if no corner of the one is farther from its like than this part of a voxel: headers are
# rounded to single precision.
SAME_PLACE <- 0.01

# `what` and `other` as messages call them.
check_same_grid <- function(header, reference, size, what, other) {
  affine <- header_affine(header)
  wanted <- header_affine(reference)
  if (is.null(affine) || is.null(wanted)) return(invisible())
  turned <- isTRUE(header$reoriented) != isTRUE(reference$reoriented)
  corners <- as.matrix(expand.grid(lapply(size - 1, function(last) c(0, last))))
  apart <- max(sqrt(rowSums((cbind(corners, 1) %*% t((affine - wanted)[1:3, ]))^2)))
  if (!turned && apart <= SAME_PLACE * min(sqrt(colSums(wanted[1:3, 1:3]^2)))) return(invisible())
  fail("'", what, "' is not on the grid of '", other, "': ",
       if (turned) "one of them was turned by oro.nifti, read both with reorient = FALSE. " else
         paste0("voxels of the same indices are up to ", format(apart, digits = 3), " mm apart. "),
       "The affine of '", what, "' is ", show_affine(affine), ", that of '", other, "' ", show_affine(wanted),
       ". Resample one to the other first (3dresample -master, nilearn's resample_to_img(), RNiftyReg); ",
       "if you know that the voxels are the same, take the affine away: array(", what, ", dim(", what, "))")
}

show_affine <- function(affine) {
  rows <- apply(affine[1:3, ], 1, function(row) paste(signif(zapsmall(row), 5), collapse = " "))
  paste0("[", paste(rows, collapse = "; "), "]")
}

#' Where voxels lie
#'
#' The centre of each voxel of a matrix from [voxelMatrix()], in millimetres: to the right, to the front and upwards of
#' the origin, as NIfTI has it. The affine is the image's sform or, where that has none, its qform.
#'
#' @param x A matrix from [voxelMatrix()], its mask (`attr(x, "mask")`), or a mask or image that has an affine.
#' @return A matrix with a row for each voxel and columns `x`, `y` and `z`; with a row for each grayordinate of CIFTI,
#'   `NA` for those on a surface, which have places on a mesh only.
#' @section Errors: an image without an affine, as any plain array is; one that oro.nifti has turned.
#' @seealso [voxelMatrix()]
#' @examples
#' file <- tempfile(fileext = ".nii.gz")
#' affine <- rbind(c(-3, 0, 0, 15), c(0, 3, 0, -10), c(0, 0, 4, 2))
#' header <- list(sform_code = 1, srow_x = affine[1, ], srow_y = affine[2, ], srow_z = affine[3, ],
#'                pixdim = c(1, 3, 3, 4, 2, 0, 0, 0), xyzt_units = 10)
#' img <- structure(array(rnorm(10 * 10 * 4 * 20), c(10, 10, 4, 20)), header = header)
#' x <- voxelMatrix(img)
#' head(voxelCoords(x))
#' @export
voxelCoords <- function(x) {
  mask <- read_mask(x, "x")
  affine <- header_affine(mask$header)
  if (isTRUE(mask$header$reoriented)) {
    fail("'x' was turned by oro.nifti and has lost its place; read it with reorient = FALSE")
  }
  if (!is.null(mask$header$cifti)) return(cifti_coords(mask$header$cifti)[inside_mask(mask), , drop = FALSE])
  if (is.null(affine)) fail("'x' has no affine; make it of an image that has one, such as of readVoxels()")
  mm <- cbind(arrayInd(inside_mask(mask), mask$size) - 1, 1) %*% t(affine[1:3, ])
  colnames(mm) <- c("x", "y", "z")
  mm
}
