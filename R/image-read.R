# Reads any kind of image (files, arrays, lists of volumes) in one way. The formats are in image-nifti.R and, for CIFTI
# and GIFTI, in image-grayordinates.R; image-mask.R says which voxels are columns, image-matrix.R makes the matrix.
# open_image() returns
#   size, times  dimensions of a volume, number of volumes
#   header       NIfTI fields by name, or NULL
#   whole        TRUE if values are integers
#   format       how voxels are stored, see with_nifti(), if it is a file
#   in_memory    TRUE if it can be read twice
#   each         function(voxels, times, put): calls put() with one block after the other of the matrix of these times
#                (rows) and voxels (columns)

# Returns a block of a matrix, whose first element is at row, column: element i, j is values[1 + rows[i] + columns[j]].
# Values are integers, doubles, or those of read_blocks(), where columns = NULL stands for 0, 1, ... of all values.
new_block <- function(values, row, rows, column, columns) {
  list(values = values, row = row, rows = as.double(rows), column = column,
       columns = if (!is.null(columns)) as.double(columns))
}

# Returns an array of zeros, integers if `whole`. Nothing else refers to it, as R would copy it when it changes: the
# handler is no function of this call's environment, and tryCatch() would keep that.
new_zeros <- function(whole, size) {
  zeros <- withCallingHandlers(.Call(r_zeros, whole, prod(size)), error = image_without_memory(size))
  dim(zeros) <- size
  zeros
}
image_without_memory <- function(size) {
  force(size)
  function(condition) {
    fail_as("memory", "an image of ", show_size(size), " voxels does not fit in memory: ", conditionMessage(condition))
  }
}

# Writes a block to x, in place: nothing else may refer to x.
put_block <- function(x, block) {
  .Call(r_put_block, x, block$row - 1 + (block$column - 1) * nrow(x), nrow(x), block)
}

open_image <- function(img) {
  if (is_file_name(img) && length(img) != 1L) img <- lapply(img, readVoxels)
  if (is.list(img) && !is.object(img)) {
    check_that(img, "img", length(img) > 0L, "a volume for each time point", shown = "an empty list")
    volumes <- lapply(img, as_image, "img")
    grids <- Map(img, volumes, f = function(img, volume) {
      list(size = as.integer(proper_size(dim(volume), 3L)), header = image_header(img))
    })
    first <- grids[[1L]]
    if (length(first$size) != 3L) fail_dimensions("img[[1]]", first$size)
    for (k in seq_along(img)[-1L]) check_same_grid(grids[[k]], first, paste0("img[[", k, "]]"), "img[[1]]")
    whole <- all(vapply(volumes, typeof, "") == "integer")
    opened <- image_in_memory(first$size, length(img), first$header, whole, function(times, voxels) {
      matrix(unlist(lapply(volumes[times], .subset, voxels)), length(voxels))
    })
  } else if (!is_file_name(img)) {
    opened <- open_array(img)
  } else {
    if (grepl("[.]gii([.]gz)?$", img, ignore.case = TRUE)) {
      values <- read_gifti(img)
      opened <- image_in_memory(nrow(values), ncol(values), attr(values, "header"), is.integer(values),
                                function(times, vertices) values[vertices, times, drop = FALSE])
    } else {
      found <- with_nifti(img)
      opened <- if (is.null(found)) open_array(read_by_rnifti(img)) else open_series(img, add_cifti(found))
    }
    opened$entities <- file_entities(img)
  }
  n <- prod(opened$size)
  size <- show_size(c(opened$size, opened$times))
  if (n == 0) fail("'img' has no voxels: its dimensions are ", size)
  if (opened$times > 1L) return(opened)
  fail("'img' has ", n_of(opened$times, "time point"), " of ", n_of(n, "voxel"), " (", size, "); a correlation needs ",
       "two time points or more")
}

open_array <- function(img) {
  header <- image_header(img)
  img <- as_image(img, "img")
  check_that(img, "img", typeof(img) != "logical", "a numeric array", shown = "a logical one")
  size <- series_size(dim(img))
  places <- prod(size[1:3])
  # Uses positions: dim(img) <- would copy the image; .subset() ignores its class.
  image_in_memory(size[1:3], size[4L], header, typeof(img) == "integer", function(times, voxels) {
    matrix(.subset(img, rep((times - 1) * places, each = length(voxels)) + voxels), length(voxels))
  })
}

# volumes(times, voxels): returns a voxels x times matrix.
image_in_memory <- function(size, times, header, whole, volumes) {
  each <- function(voxels, times, put) {
    for (rows in column_ranges(length(times), length(voxels))) {
      put(new_block(volumes(times[rows], voxels), rows[1L], (seq_along(rows) - 1) * length(voxels), 1L,
                    seq_along(voxels) - 1))
    }
  }
  list(size = size, times = times, header = header, whole = whole, in_memory = TRUE, each = each)
}

# Opens a series in a file, which is read once. `found`: from add_cifti(). An image stores the voxels of a time point
# together, a dense series of CIFTI the time points of a column.
open_series <- function(file, found) {
  by_column <- !is.null(found$header$cifti)
  size <- if (by_column) rev(found$size) else series_size(found$dim)
  last <- length(size)
  together <- if (by_column) size[last] else prod(size[-last])
  each <- function(voxels, times, put) {
    wanted <- if (by_column) voxels else times
    blocks <- column_ranges(max(wanted), together)
    read_blocks(file, together * lengths(blocks), function(values, k) {
      here <- which(wanted %in% blocks[[k]])
      if (!length(here)) return(invisible())
      from <- (wanted[here] - blocks[[k]][1L]) * together
      put(if (by_column) {
        new_block(values, 1L, times - 1, here[1L], from)
      } else {
        new_block(values, here[1L], from, 1L, voxels - 1)
      })
    })
  }
  list(size = size[-last], times = size[last], header = found$header, whole = found$whole && !by_column,
       format = found$format, in_memory = FALSE, each = each)
}

# ---- an image

# RNifti's internal images are strings with a class.
is_file_name <- function(value) is.character(value) && !is.object(value) && is.null(dim(value))

# Programs that convert formats of images, by the ends of files' names.
CONVERTERS <- c("[.]mnc(2|[.]gz)?$" = "mnc2nii", "[.](HEAD|BRIK([.]gz)?)$" = "AFNI's 3dAFNItoNIFTI",
                "[.](mgh|mgz)$" = "FreeSurfer's mri_convert", "[.](PAR|REC|dcm|IMA)$" = "dcm2niix")

# A file named as NIfTI with another header is damaged: RNifti would read its header as voxels.
read_by_rnifti <- function(file) {
  by <- CONVERTERS[vapply(names(CONVERTERS), grepl, NA, file, ignore.case = TRUE)]
  if (length(by)) fail_file("'", file, "' is not a NIfTI file; ", by, " makes one of it")
  if (is_image_name(file) || !requireNamespace("RNifti", quietly = TRUE)) {
    fail_file("'", file, "' is not a NIfTI file (.nii or .nii.gz); package RNifti reads pairs of files (.hdr, .img)")
  }
  with_our_errors(RNifti::readNifti(file), paste0("'", file, "' cannot be read by package RNifti: "), fail_file)
}

is_image_name <- function(file) grepl("[.]nii([.]gz)?$", file)

# Returns numeric arrays unchanged, whatever their class; converts anything else.
as_image <- function(img, name) {
  if (is.array(img) && typeof(img) %in% c("integer", "double", "logical")) return(as_numbers(img))
  check_slots(img, name)
  values <- tryCatch(as.array(img), error = function(condition) NULL)
  check_that(values, name, is.array(values) && is_variables(values), "a numeric array", shown = of_class(img))
}

# Removes dimensions of 1 beyond the first n.
proper_size <- function(size, n) {
  while (length(size) > n && size[length(size)] == 1L) size <- size[-length(size)]
  size
}

# Returns four dimensions, or stops.
series_size <- function(size) {
  size <- proper_size(size, 4L)
  if (length(size) == 4L) return(size)
  fail_dimensions("img", size, "4 dimensions, x, y, z and time", if (length(size) == 3L) {
    "; several volumes may be a list of images, or the names of their files"
  })
}

fail_dimensions <- function(name, size, wanted = "3 dimensions, x, y and z", hint = "") {
  fail("'", name, "' must have ", wanted, ", not ", length(size), " (", show_size(size), ")", hint)
}

#' Read and write images
#'
#' `readVoxels()` reads an image from a file. `writeVoxels()` writes a value for each voxel, such as a degree or a
#' correlation, as an image that other programs can overlay on the original one.
#'
#' NIfTI-1, NIfTI-2 (`.nii`, `.nii.gz`) and, with package xml2, CIFTI-2 and GIFTI are read and written. Pairs of files
#' (`.hdr`, `.img`) are read by package RNifti, if it is installed. Other formats are an error that names a converter.
#'
#' The image has the voxel size, sform, qform and units of the reference. Integers are stored as int32, logical values
#' as 8-bit integers, other values as doubles; integers with `NA` become doubles with `NaN`. `datatype = "float32"`
#' stores all as single precision, in half the space. The file is NIfTI-1, or NIfTI-2 if a dimension exceeds 32,767.
#'
#' Of CIFTI-2, dense series, scalars and labels are read. If the reference is CIFTI, `writeVoxels()` writes dense
#' scalars (`.dscalar.nii`) in single precision for all grayordinates; those that are not columns of the matrix get
#' `outside`. Column names of `values` are the names of the maps, and those in a file become column names.
#'
#' Parcellated CIFTI-2 is read and written likewise: series (`.ptseries.nii`, read only), scalars (`.pscalar.nii`) and
#' values of pairs of parcels (`.pconn.nii`). Values have the names of the parcels. A matrix of pairs is also what
#' [gpuCor()] takes with `method = "given"`. To write it, `values` is such a matrix, a `dist` or a network. For parcels
#' of [parcelMeans()] the reference is the atlas, a file of dense labels (`.dlabel.nii`):
#' `writeVoxels(gpuCor(means), "sub-01.pconn.nii", "atlas.dlabel.nii")`.
#'
#' GIFTI files have values of the vertices of one surface: series (`.func.gii`), maps (`.shape.gii`) or labels
#' (`.label.gii`), also compressed (`.func.gii.gz`). They are treated as CIFTI with one brain model, of all vertices.
#' The file does not say in which unit the time between volumes is, so give `tr` where it is needed.
#'
#' @param file A string: the name of a file. A new file must not exist yet. Its name ends in `.nii`, `.nii.gz`
#'   (compressed), `.dscalar.nii`, `.pscalar.nii`, `.pconn.nii`, `.func.gii` or `.shape.gii`. It appears when it is
#'   complete. A name that begins with `_`, such as `"_stat-degree_boldmap.nii.gz"`, follows the BIDS entities of the
#'   reference, without `desc`.
#' @param values A vector with a value for each column of the matrix, or a matrix with a row for each and a column for
#'   each map; or an image, such as of [voxelImage()]. For `.pconn.nii` a value for each pair.
#' @param reference A matrix from [voxelMatrix()], its mask, or an image; `NULL` if `values` is an image with a header.
#'   An image of parcels stands for all of them.
#' @param outside A number or `NA`: the value of voxels outside the mask.
#' @param voxel_size,tr The size of a voxel in mm, three numbers, if the reference is a plain array; and the seconds
#'   between volumes, if the columns of `values` are time points and no header says it.
#' @param datatype A string: `"auto"` for the type of `values`, or `"float32"`. Maps on surfaces are always `"float32"`.
#' @return `readVoxels()`: an array, of integers if the file has unscaled integers, with the attribute `header`, a
#'   list of NIfTI's fields; [voxelMatrix()] takes it as an image or a mask. Its class `voxelImage` only has methods of
#'   `print()` and, for volumes, [plot()][plot.voxelImage]. For CIFTI and GIFTI the array is a vector with a value for
#'   each grayordinate or parcel, or a matrix with a column for each time point or map, or for each parcel;
#'   `attr(values, "header")$cifti$models` is a data frame of the brain models or parcels. The name of a single map is
#'   attribute `map`.
#'
#'   `writeVoxels()`: the name of the file, invisibly.
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
readVoxels <- function(file) {
  check_string(file, "file", "the name of a file")
  if (grepl("[.]gii([.]gz)?$", file, ignore.case = TRUE)) {
    img <- read_gifti(file)
  } else {
    found <- with_nifti(file)
    if (is.null(found)) return(read_by_rnifti(file))
    found <- add_cifti(found)
    on_surface <- !is.null(found$header$cifti)
    img <- new_zeros(found$whole, if (on_surface) rev(found$size) else proper_size(c(found$dim, 1L, 1L), 3L))
    if (on_surface) { # one row per grayordinate: rows and columns of each block are exchanged
      open_series(file, found)$each(seq_len(nrow(img)), seq_len(ncol(img)), function(block) {
        put_block(img, new_block(block$values, block$column, block$columns, block$row, block$rows))
      })
      colnames(img) <- found$names
      rownames(img) <- image_parcels(found$header)
    } else {
      blocks <- column_ranges(length(img), 1)
      read_blocks(file, lengths(blocks), function(values, k) {
        .Call(r_put_block, img, blocks[[k]][1L] - 1, 1, new_block(values, 1L, 0, 1L, NULL))
      })
    }
    attr(img, "header") <- found$header
  }
  if (is.matrix(img) && ncol(img) == 1L) { # a single map
    name <- colnames(img)
    parcels <- rownames(img)
    dim(img) <- NULL
    names(img) <- parcels
    attr(img, "map") <- name
  }
  class(img) <- image_class(img)
  img
}
