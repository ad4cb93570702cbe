#' Data in a file, larger than memory
#'
#' `gpuCorFile()` describes a raw, HDF5, NIfTI or PLINK file that takes the place of a matrix. [gpuCor()],
#' [gpuCorNetwork()], [gpuConnectivity()] and others read it in blocks of columns, so that the data are never in memory
#' as a whole.
#'
#' **Raw files** are read fastest. They contain only values, of one type and little-endian: all observations of the
#' first variable, then those of the second, and so on. `writeBin(as.vector(x), file)` writes such a file of a matrix
#' with observations in rows. Do not write to a file that is in use. A machine with another order of bytes refuses them.
#'
#' **HDF5 files** are read by package rhdf5, and `dataset` names the dataset. Observations are the rows as R sees them;
#' Python and others see rows and columns exchanged. Use `transpose = TRUE` if variables are R's rows. Datasets that are
#' contiguous, or have chunks of a few columns, are read fastest.
#'
#' **AnnData (h5ad) and 10x files** need no `dataset`: cells are the observations, genes are the variables, and names
#' are read from the file. In AnnData, `dataset` may also be `"layers/..."` or `"raw/X"`. A sparse matrix is read into a
#' `dgCMatrix` each time it is used: 12 bytes an entry, twice that while it is read, and at most 2^31 - 1 entries.
#'
#' **Uncompressed NIfTI images** (`.nii`, also CIFTI's) need only `mask`: time points are the observations, and voxels
#' inside the mask are the variables. Values are scaled as the header says. Voxels that do not vary are not dropped, as
#' by [voxelMatrix()], but have no coefficients. [voxelImage()], [voxelCoords()] and [parcelMeans()] take the file, too.
#'
#' **Genotypes of PLINK 1** (`.bed`, with `.bim` and `.fam` beside it) need no further argument: samples are the
#' observations, variants are the variables, and the value is the number of A1 alleles, 0, 1, 2 or `NA`. With
#' `use = "pairwise"`, r^2 is that of `plink --r2`. Samples have their individual ids as names, and variants theirs;
#' one without (`.`) is named by chromosome and position. Element `variants` is a data frame of the `.bim` file:
#' `chromosome`, `id`, `cm`, `bp`, `a1` and `a2`. Chromosome 0, positions up to 0, and a column `cm` of zeros are `NA`.
#' `pairMask(x$variants[c("chromosome", "bp")], within_distance = 1e6)` is a window in base pairs, with `"cm"` one in
#' centimorgans ([pairMask()], `vignette("ld", "gpucor")`).
#'
#' A `DelayedMatrix` (such as an `HDF5Matrix`) and a `big.matrix` of package bigmemory, with observations in rows, are
#' also read in blocks of columns. They need no `gpuCorFile()`, nor do experiments: see [gpucor-containers].
#'
#' **How often data are read.** Once in each pass over the data, and once more unless `use` is `"everything"`. Most
#' functions take one pass, a network by `fdr` two, and tests up to two more. If the prepared columns exceed `memory`
#' ([gpuControl()]), columns are read repeatedly; [gpuCorPlan()] says how often.
#'
#' [saveRDS()] saves the name of the file, not its values. The next use opens the file again and checks its size.
#'
#' @param file A string: the name of a file.
#' @param dim Two integers: numbers of observations and of variables. Optional for HDF5; `NULL` for images
#'   and PLINK.
#' @param storage,offset A string: the type of the values of a raw file, `"double"` (8 bytes), `"float"` (4) or
#'   `"integer"` (4); and the bytes before the first value. `NA`, `NaN` and `NA_integer_` (-2^31) are missing.
#' @param dimnames `NULL`, or a list of the names of observations and of variables, each possibly `NULL`.
#' @param dataset,transpose The name of an HDF5 dataset, or of a group that is a sparse matrix, `NULL` for raw files,
#'   AnnData and 10x; and `TRUE` if it has variables in its rows, as R sees them.
#' @param mask `NULL` or the mask of an image, as of [voxelMatrix()].
#' @return An object of class `gpuCorFile`, observations x variables, with `dim()` and `dimnames()`. `x[i, j]` reads
#'   observations and variables, by number, name or logical vector, as an ordinary matrix, and `as.matrix(x)` all.
#' @examples
#' x <- as.matrix(mtcars)
#' file <- tempfile()
#' writeBin(as.vector(x), file, endian = "little")
#' gpuCorNetwork(gpuCorFile(file, dim(x), dimnames = dimnames(x)), threshold = 0.8)
#' unlink(file)
#'
#' if (requireNamespace("rhdf5", quietly = TRUE)) {
#'   file <- tempfile(fileext = ".h5")
#'   rhdf5::h5createFile(file)
#'   rhdf5::h5write(x, file, "cars")
#'   print(gpuCorNetwork(gpuCorFile(file, dataset = "cars"), threshold = 0.8))
#'   unlink(file)
#' }
#' @order 1
#' @export
gpuCorFile <- function(file, dim = NULL, storage = c("double", "float", "integer"), dimnames = NULL, offset = 0,
                       dataset = NULL, transpose = FALSE, mask = NULL) {
  given <- file
  file <- check_data_file(given)
  transpose <- check_flag(transpose, "transpose")
  if (is.null(dim) && is_image_name(file)) return(image_file(file, mask))
  if (!is.null(mask)) fail("'mask' is for images (.nii), which need no 'dim'")
  x <- if (!is.null(dataset) || (is.null(dim) && is_hdf5(file))) {
    hdf5_file(file, dataset, transpose, dim)
  } else {
    if (is.null(dim) && !is_plink_name(given)) {
      fail_file("'file' is \"", file, "\", which is no HDF5 file; for a raw one give 'dim'")
    }
    check_that(transpose, "transpose", !transpose, "FALSE for a raw file or PLINK's",
               ", as they have one variable after the other")
    if (is.null(dim)) {
      plink_file(file, given)
    } else {
      raw_file(file, dim, check_choice(storage, c("double", "float", "integer"), "storage"), NULL, offset)
    }
  }
  if (is.null(dimnames)) return(x)
  x$dimnames <- check_that(dimnames, "dimnames", are_names(dimnames, x$dim), paste0(
    "a list of ", n_of(nrow(x), "name"), " of observations and ", ncol(x), " of variables, either of them possibly NULL"
  ))
  x
}

# ---- a gpuCorFile behaves like a matrix

#' @export
dim.gpuCorFile <- function(x) x$dim

#' @export
dimnames.gpuCorFile <- function(x) x$dimnames

#' @rdname gpuCorFile
#' @usage NULL
#' @export
`[.gpuCorFile` <- function(x, i, j, ..., drop = FALSE) {
  check_file(x, "x")
  if (nargs() - (!missing(drop)) != 3L) fail("a file's columns are picked by x[, j], with a comma")
  picked <- function(index, n, names, what) {
    index <- as_numbers(index)
    if (is.character(index)) tell_same_names(names[names %in% index])
    at <- if (is.character(index)) match(index, names) else seq_len(n)[index]
    if (anyNA(at)) fail("there is no ", what, " ", show_value(index[is.na(at)][1L]), "; there are ", format_count(n))
    at
  }
  columns <- if (missing(j)) seq_len(ncol(x)) else picked(j, ncol(x), colnames(x), "column")
  values <- dense_columns(suppressMessages(check_outside(x, "x")), columns)
  names <- dimnames(x)
  if (!is.null(names)) dimnames(values) <- list(names[[1L]], names[[2L]][columns])
  if (!missing(i)) values <- values[picked(i, nrow(x), rownames(x), "row"), , drop = FALSE]
  if (drop) drop(values) else values
}

#' @export
as.matrix.gpuCorFile <- function(x, ...) x[, ]

#' @method print gpuCorFile
#' @export
print.gpuCorFile <- function(x, ...) {
  check_file(x, "x")
  size <- vapply(dim(x), format_count, "")
  cat(n_of(size[1L], "observation"), " x ", n_of(size[2L], "variable"), " in ", x$file, " (",
      outside_kind(x)$describe(x), ")\n", sep = "")
  invisible(x)
}
