# The position of voxels. Headers of files, RNifti and oro.nifti use the same field names. The mask of a voxelMatrix has
# the header as attribute "header", which is written to new files.

# Returns the header of an image in memory, or NULL.
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

# Returns the 4 x 4 matrix from indices (from 0) to mm: the sform, else the qform, else NULL. One that is not finite, as
# in a damaged header, is no position.
header_affine <- function(header) {
  if (!is.null(header$cifti)) return(header$cifti$affine)
  affine <- if (isTRUE(header$sform_code > 0)) {
    rbind(header$srow_x, header$srow_y, header$srow_z, c(0, 0, 0, 1), deparse.level = 0L)
  } else if (isTRUE(header$qform_code > 0)) {
    quaternion_affine(header)
  }
  if (all(is.finite(affine))) affine
}

# Returns the seconds between volumes, or NULL. NIfTI has codes for s, ms and us.
header_tr <- function(header) {
  if (!is.null(header$cifti)) return(header$cifti$tr)
  if (is.null(header$xyzt_units)) return(NULL)
  unit <- switch(as.character(bitwAnd(as.integer(header$xyzt_units), 56L)), `8` = 1, `16` = 1e-3, `24` = 1e-6)
  tr <- header$pixdim[5L] * unit
  if (isTRUE(tr > 0) && is.finite(tr)) tr
}

# Implements NIfTI's method 2.
quaternion_affine <- function(header) {
  b <- header$quatern_b
  c <- header$quatern_c
  d <- header$quatern_d
  a <- sqrt(max(0, 1 - b^2 - c^2 - d^2))
  rotation <- rbind(c(a^2 + b^2 - c^2 - d^2, 2 * (b * c - a * d), 2 * (b * d + a * c)),
                    c(2 * (b * c + a * d), a^2 + c^2 - b^2 - d^2, 2 * (c * d - a * b)),
                    c(2 * (b * d - a * c), 2 * (c * d + a * b), a^2 + d^2 - b^2 - c^2))
  handed <- if (isTRUE(header$pixdim[1L] < 0)) -1 else 1
  scaled <- rotation %*% diag(header$pixdim[2:4] * c(1, 1, handed))
  rbind(cbind(scaled, c(header$qoffset_x, header$qoffset_y, header$qoffset_z)), c(0, 0, 0, 1))
}

# Max distance between corners of images on the same grid, in voxels: headers are rounded to single precision.
SAME_PLACE <- 0.01

# `what`, `other`: names of the two images in a message.
check_same_grid <- function(header, reference, size, what, other) {
  affine <- header_affine(header)
  wanted <- header_affine(reference)
  if (is.null(affine) || is.null(wanted)) return(invisible())
  turned <- isTRUE(header$reoriented) != isTRUE(reference$reoriented)
  corners <- as.matrix(expand.grid(lapply(size - 1, function(last) c(0, last))))
  apart <- max(sqrt(rowSums((cbind(corners, 1) %*% t((affine - wanted)[1:3, ]))^2)))
  if (!turned && isTRUE(apart <= SAME_PLACE * min(sqrt(colSums(wanted[1:3, 1:3]^2))))) return(invisible())
  if (turned) fail("'", what, "' or '", other, "' was turned by oro.nifti; read both with reorient = FALSE")
  fail("'", what, "' is not on the grid of '", other, "': voxels of the same indices are up to ",
       format(apart, digits = 3), " mm apart (the affine of '", what, "' is ", show_affine(affine), ", that of '",
       other, "' ", show_affine(wanted), "); resample one of them")
}

show_affine <- function(affine) {
  rows <- apply(affine[1:3, ], 1, function(row) paste(signif(zapsmall(row), 5), collapse = " "))
  paste0("[", paste(rows, collapse = "; "), "]")
}

# ---- classes of arrays

VOXEL_CLASS <- c("voxelMatrix", "matrix", "array")

# Returns the class of an image with a header, or NULL. The caller sets it: a function that did would copy the image.
# Those of CIFTI and GIFTI are vectors or matrices.
image_class <- function(img) {
  header <- attr(img, "header", exact = TRUE)
  if (!is.null(header) && (length(dim(img)) > 2L || !is.null(header$cifti))) c("voxelImage", class(img))
}
