#' Read and write images
#'
#' `readVoxels()` reads an image from a file. `writeVoxels()` writes a value for each voxel, such as a degree or a
#' correlation, as an image that other programs can overlay on the original one.
#'
#' NIfTI-1, NIfTI-2 (`.nii`, `.nii.gz`) and, with package xml2, CIFTI-2 and GIFTI are read and written. Other formats,
#' under other names, are read by package RNifti, if it is installed.
#'
#' The image has the voxel size, sform, qform and units of the reference. If the reference is a plain array, voxels have
#' size 1, or `voxel_size`. Integers are stored as int32, logical values as 8-bit integers, other values as doubles;
#' integers with `NA` become doubles with `NaN`. `datatype = "float32"` stores all as single precision, in half the
#' space. The file is NIfTI-1, or NIfTI-2 if a dimension exceeds 32,767.
#'
#' CIFTI-2 files of dense series, scalars and labels are read. If the reference is CIFTI, `writeVoxels()` writes dense
#' scalars (`.dscalar.nii`) in single precision for all grayordinates; those that are not columns of the matrix get
#' `outside`. Column names of `values` are the names of the maps, and those in a file become column names. NIfTI has no
#' names of volumes.
#'
#' GIFTI files have values of the vertices of one surface: series (`.func.gii`), maps (`.shape.gii`) or labels
#' (`.label.gii`), in any encoding but external files; a compressed one (`.func.gii.gz`) is unpacked. They are treated
#' as CIFTI with one brain model, of all vertices. The file does not say in which unit the time between volumes is, so
#' give `tr` where it is needed. If the reference is GIFTI, `writeVoxels()` writes `.func.gii` or `.shape.gii` in single
#' precision.
#'
#' @param file A string: the name of a file. A new file must not exist yet. Its name ends in `.nii`, `.nii.gz`
#'   (compressed), `.dscalar.nii`, `.func.gii` or `.shape.gii`. It appears when it is complete.
#' @param values A vector with a value for each column of the matrix, or a matrix with a row for each and a column for
#'   each map; or an image, such as of [voxelImage()].
#' @param reference A matrix from [voxelMatrix()], its mask, or an image: where the voxels are. `NULL` if `values` is an
#'   image with a header.
#' @param outside A number or `NA`: the value of voxels outside the mask.
#' @param voxel_size Three numbers: the size of a voxel in mm, where the reference does not say where voxels are.
#' @param tr A number: the seconds between volumes, if the columns of `values` are time points. `NULL`: the columns are
#'   maps, or `values` is a series with a header that says it.
#' @param datatype A string: `"auto"` for the type of `values`, or `"float32"`. Maps on surfaces are always `"float32"`.
#' @return `readVoxels()`: an array, of integers if the file has unscaled integers, with the attribute `header`, a
#'   list of NIfTI's fields; [voxelMatrix()] takes it as an image or a mask. Its class `voxelImage` only has methods of
#'   `print()` and, for volumes, [plot()][plot.voxelImage]. For CIFTI and GIFTI the array is a vector with a value for
#'   each grayordinate, or a matrix with a column for each time point or map; `attr(values, "header")$cifti$models` is a
#'   data frame of the brain models. The name of a single map is attribute `map`.
#'
#'   `writeVoxels()`: the name of the file, invisibly.
#' @section Errors: a file that does not exist, is no regular file, is cut off or damaged (the checksums of compressed
#'   files are compared), or has voxels that are not numbers, such as colors; a `.gii.gz` file that unpacks to very
#'   many more bytes than it has; values that do not fit the reference; a name without the ending of the format.
#' @seealso [voxelMatrix()]
#' @examples
#' img <- array(rnorm(10 * 10 * 4 * 20, 100), c(10, 10, 4, 20))
#' x <- voxelMatrix(img)
#' degree <- gpuConnectivity(x, density = 0.1)$degree
#' file <- tempfile(fileext = ".nii.gz")
#' writeVoxels(as.integer(degree), file, x)
#' identical(c(readVoxels(file)), as.integer(degree))
#' unlink(file)
#' @order 1
#' @export
readVoxels <- function(file) read_image(file)
