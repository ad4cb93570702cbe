# Maps written and read.

#' Read and write maps
#'
#' `readVoxels()` reads an image, `writeVoxels()` writes values of voxels, degrees or correlations, as an image that
#' other programs lay over the one that the matrix was made of. They need no other package.
#'
#' NIfTI-1 and NIfTI-2 (`.nii`, `.nii.gz`) are read and written; what RNifti reads beside them is read where that is
#' installed. The written header has the place of the reference: voxel size, sform and qform with their codes, units;
#' where that is a plain array, nothing is known of it, and voxels are of size 1.
#' Values become 8-bit integers (logical), 32-bit integers or doubles, as they are in R; integers with `NA` become
#' doubles with `NaN`, as no integer means missing there. It is NIfTI-1, or NIfTI-2 where a dimension exceeds 32,767.
#'
#' Of CIFTI-2, dense series, scalars and labels are read. Where the reference is CIFTI, `writeVoxels()` writes dense
#' scalars (`.dscalar.nii`), floats as there is custom, of all grayordinates of the brain models: those that are no
#' columns of the matrix get `outside`. Column names of `values` are the names of the maps.
#'
#' @param file The name of a file. One that is written must not exist yet; it ends in `.nii`, `.nii.gz` (which
#'   compresses it) or `.dscalar.nii`, and appears when it is complete.
#' @param values A value for each column of the matrix, or a matrix with a row for each and a column for each map; or an
#'   image, as from [voxelImage()].
#' @param reference What says where the voxels are: the matrix from [voxelMatrix()], its mask, or an image. `NULL` where
#'   `values` is an image that knows it.
#' @param outside The value of voxels that are not in the reference's mask.
#' @return `readVoxels()`: an array, integer if the file has unscaled integers, with the attribute `header`, a list of
#'   NIfTI's fields; [voxelMatrix()] takes it as an image or a mask. Its class `voxelImage` has a `print()` method only,
#'   which shows the size, the type, the seconds between volumes and the affine instead of all voxels. Of CIFTI a vector
#'   of a value for each grayordinate, or a matrix with a column for each time point or map;
#'   `attr(values, "header")$cifti$models` is a data frame of the brain models. `writeVoxels()`: the file's name,
#'   invisibly.
#' @section Errors: a file that is not there, is cut off, or has voxels that are no numbers, such as colours or complex
#'   ones; values that do not fit the reference; a file's name that does not say the reference's format.
#' @seealso [voxelMatrix()]
#' @examples
#' img <- array(rnorm(10 * 10 * 4 * 20, 100), c(10, 10, 4, 20))
#' x <- voxelMatrix(img)
#' degree <- gpuConnectivity(x, density = 0.1)$degree
#' file <- tempfile(fileext = ".nii.gz")
#' writeVoxels(as.integer(degree), file, x)
#' identical(c(readVoxels(file)), as.integer(degree))
#' unlink(file)
#' @export
readVoxels <- function(file) {
  check_file_name(file, "file")
  found <- with_nifti(file)
  if (is.null(found)) return(read_by_rnifti(file))
  cifti <- cifti_of(found)
  if (!is.null(cifti)) return(read_grayordinates(file, found$header, cifti))
  size <- proper_size(c(header_dim(found$header), 1L, 1L), 3L)
  img <- array(if (header_is_integer(found$header, found$shown)) 0L else 0, size)
  volume <- prod(size[1:3])
  read_blocks(file, rep(volume, prod(size) / volume), function(values, k) {
    img[(k - 1) * volume + seq_len(volume)] <<- values
  })
  attr(img, "header") <- found$header
  class(img) <- image_class(img)
  img
}

# A single column is a vector.
read_grayordinates <- function(file, header, cifti) {
  size <- header_dim(header)[5:6]
  values <- NULL
  read_blocks(file, prod(size), function(read, k) values <<- read)
  if (size[1L] > 1) values <- t(matrix(values, size[1L]))
  header$cifti <- cifti
  attr(values, "header") <- header
  values
}

check_file_name <- function(file, name) {
  if (!is.character(file) || length(file) != 1L || is.na(file)) {
    fail("'", name, "' must be one string, the name of a file, not ", show_value(file))
  }
}

#' @rdname readVoxels
#' @export
writeVoxels <- function(values, file, reference = NULL, outside = 0) {
  img <- values
  if (!is_map(values)) img <- image_of_values(values, need_reference(reference, values), outside, "reference")
  header <- map_header(img, reference)
  if (!is.null(header$cifti)) return(invisible(write_scalars(img, check_map_file(file, TRUE), header$cifti)))
  if (!is.null(reference) || length(dim(img)) < 4L) header <- without_time(header)
  invisible(write_image(as_image(img, "values"), check_map_file(file, FALSE), header))
}

# Whether values are an image, and not some for each voxel.
is_map <- function(values) {
  length(dim(values)) > 2L || !is.null(attr(values, "header", exact = TRUE)) || inherits(values, "niftiImage")
}

need_reference <- function(reference, values) {
  if (!is.null(reference)) return(reference)
  fail("'reference' says where the voxels are, and 'values' do not: give the matrix that voxelMatrix() returned",
       if (inherits(values, "voxelMatrix")) "; as 'values' its transpose, t(values), if it is to be written itself")
}

# The header of what is written, and whether it fits.
map_header <- function(img, reference) {
  own <- image_header(img)
  if (is.null(reference)) return(own)
  if (is.matrix(reference) && is.null(image_header(reference))) reference <- columns_mask(reference, "reference")
  if (is_file_name(reference)) reference <- readVoxels(reference)
  header <- image_header(reference)
  size <- dim(as_image(reference, "reference"))
  if (is.null(header$cifti) && !identical(as.integer(dim(img)[1:3]), as.integer(size[1:3]))) {
    fail("'values' are ", show_size(dim(img)), ", but 'reference' is ", show_size(size))
  }
  if (is.null(header)) own else header
}

check_map_file <- function(file, cifti) {
  file <- check_new_file(file)
  ends <- if (cifti) "\\.dscalar\\.nii$" else "\\.nii(\\.gz)?$"
  is_cifti <- grepl("\\.d[a-z]+\\.nii$", file)
  if (grepl(ends, file) && (cifti || !is_cifti)) return(file)
  fail("'file' is ", show_value(basename(file)), "; the name of ",
       if (cifti) "CIFTI's dense scalars ends in .dscalar.nii" else "an image of NIfTI ends in .nii or .nii.gz")
}

# Fields of a header that say where voxels are.
PLACE_FIELDS <- c("qform_code", "sform_code", "quatern_b", "quatern_c", "quatern_d", "qoffset_x", "qoffset_y",
                  "qoffset_z", "srow_x", "srow_y", "srow_z")

# Of an image whose volumes are maps, not times.
without_time <- function(header) {
  if (!is.null(header$pixdim)) header$pixdim[-(1:4)] <- 1
  if (!is.null(header$xyzt_units)) header$xyzt_units <- bitwAnd(as.integer(header$xyzt_units), 7L)
  header
}

write_image <- function(img, file, header) {
  if (isTRUE(header$reoriented)) {
    fail("the image was turned by oro.nifti, whose affine is not that of its array; read it with reorient = FALSE")
  }
  values <- as.vector(unclass(img))
  if (is.integer(values) && anyNA(values)) values <- as.double(values)
  if (is.logical(values)) values <- if (anyNA(values)) as.double(values) else as.integer(values)
  code <- if (is.double(values)) 64L else if (typeof(img) == "logical") 2L else 8L
  size <- dim(img)
  pixdim <- if (is.null(header$pixdim)) rep(1, 8) else as.numeric(header$pixdim)
  pixdim[pixdim == 0] <- 1
  units <- if (is.null(header$xyzt_units)) 0L else as.integer(header$xyzt_units)
  fields <- list(dim = c(length(size), size, rep(1L, 7L - length(size))), datatype = code, pixdim = pixdim,
                 scl_slope = 1, xyzt_units = units, descrip = "gpucor")
  write_nifti(file, c(fields, header[intersect(PLACE_FIELDS, names(header))]), if (max(size) > 32767L) 2L else 1L,
              raw(4L), values)
  file
}

write_scalars <- function(values, file, cifti) {
  values <- if (is.matrix(values)) values else matrix(values, ncol = 1L)
  if (nrow(values) != grayordinates(cifti)) {
    fail("'values' have ", n_of(nrow(values), "row"), ", but 'reference' has ", show_models(cifti))
  }
  names <- colnames(values)
  if (is.null(names)) names <- paste("map", seq_len(ncol(values)))
  storage.mode(values) <- "double"
  write_cifti(file, cifti, unname(values), names)
  file
}
