#' Data in a file, larger than memory
#'
#' A file in the place of a matrix: what [gpuCor()], [gpuCorNetwork()], [gpuConnectivity()] and their relatives take as
#' `x` or `y` and read a block of columns at a time. The data are never in memory as a whole.
#'
#' A raw file holds nothing but values, of one type and little-endian: `dim[1]` observations of the first variable, then
#' those of the second, and so on, as `writeBin(as.vector(x), file)` leaves a matrix with observations in rows. All
#' threads read it. Do not write to the file while it is in use. A file that is cut off, before a call or during it, is
#' an error.
#'
#' An HDF5 file is read by package rhdf5, and `dataset` says which of its datasets. What counts is how R (that is rhdf5)
#' sees it: observations in rows and variables in columns, as for [stats::cor()]. Python and others see the same dataset
#' the other way round. `transpose = TRUE` is for one that has variables in R's rows. Blocks of columns are read that
#' begin where the dataset's chunks do; one that is in chunks of a few columns, or contiguous, is read fastest.
#'
#' A file in the layout of AnnData (h5ad) needs no `dataset`: that is `"X"`, and can be `"layers/..."` or `"raw/X"`.
#' Cells are observations and genes are variables, whether it is dense or sparse, and names come from `obs` and `var`.
#' So it is with a 10x file, whose barcodes are the observations. `transpose = TRUE` takes genes as observations of
#' cells. A sparse matrix is read into a `dgCMatrix`, observations x variables, whenever it is used: 12 bytes an
#' entry. It is never dense as a whole, and can have 2^31 - 1 entries.
#'
#' Also taken in the place of a matrix, without `gpuCorFile()`: a `DelayedMatrix` (an `HDF5Matrix`, for example) and a
#' `big.matrix` of package bigmemory, observations in rows, which are read by blocks of columns, too; and a
#' `SummarizedExperiment` or `SingleCellExperiment`, whose rows (genes) are the variables and whose columns are the
#' observations. Of its assays that is the first, or the one that `assay` names, as in `gpuCor(x, assay = "logcounts")`.
#'
#' How often data are read: once by each pass over them, and once more where `use` is other than `"everything"`. Where
#' the prepared columns are more than `memory` (see [gpucor-package]) allows, there are several rounds, and in each of
#' them columns are read again; [gpuCorPlan()] says how often. A network by `density` takes one pass after a look at a
#' sample of the columns, or two where that misled, as do its degrees in [gpuConnectivity()], where further sums take
#' one more; by `fdr` it takes two. P values of Kendall's tau-b with ties, and pairwise ones, take one more, and
#' [gpuCorTest()] two.
#'
#' Memory: the block that is read, at 4 to 64 MiB, the next one, and what the back end makes of them, which `memory`
#' bounds; beside the result. Reading R objects and HDF5 files is R's own thread's business, while the other threads
#' work on the block before; a raw file is read by all of them, and is the fastest.
#'
#' An object can be saved by [saveRDS()]: it has the file's name, not its values. The file is opened again, and its size
#' checked, when it is next used.
#'
#' @param file The name of a file.
#' @param dim Numbers of observations and of variables. With a dataset they need not be given, and are checked.
#' @param storage Of a value: `"double"` (8 bytes), `"float"` (4) or `"integer"` (4). May be abbreviated. Missing are, of
#'   the first two, `NA` and `NaN`, and of integers `NA_integer_`, that is -2^31.
#' @param dimnames `NULL`, or a list of names of observations and of variables, either of them possibly `NULL`.
#' @param offset How many bytes there are before the first value.
#' @param dataset `NULL`, or the name of an HDF5 dataset, or of a group that is a sparse matrix.
#' @param transpose Whether variables are where observations would be.
#' @param x An object of class `gpuCorFile`.
#' @param i,j Observations and variables, by number (negative ones are left out), name or logical vector.
#' @param drop Drop dimensions of length one?
#' @param ... Not used.
#'
#' @return An object of class `gpuCorFile`, observations x variables, with `dim()` and `dimnames()`. `x[, j]` reads
#'   these columns: an ordinary matrix, of integers if the file has them, and otherwise of doubles. `as.matrix(x)`
#'   reads all.
#' @section Errors: a file that is not there, not readable, a folder, or of another size than `dim`, `storage` and
#'   `offset` make; also in a later call, or during one, if the file has been cut off. A dataset that is
#'   not there, is not numeric or has other than two dimensions. An error while R reads ends the run with its message;
#'   an interrupt ends it as any other.
#' @seealso [gpuCor()]
#' @examples
#' x <- as.matrix(mtcars)
#' file <- tempfile()
#' writeBin(as.vector(x), file, endian = "little")
#' cars <- gpuCorFile(file, dim(x), dimnames = dimnames(x))
#' cars
#' identical(cars[, c("mpg", "wt")], x[, c("mpg", "wt")])
#' gpuCorNetwork(cars, threshold = 0.8)
#' unlink(file)
#'
#' if (requireNamespace("rhdf5", quietly = TRUE)) {
#'   file <- tempfile(fileext = ".h5")
#'   rhdf5::h5createFile(file)
#'   rhdf5::h5write(x, file, "cars")
#'   print(gpuCorFile(file, dataset = "cars"))
#'   print(gpuCorNetwork(gpuCorFile(file, dataset = "cars"), threshold = 0.8))
#'   unlink(file)
#' }
#' @export
gpuCorFile <- function(file, dim = NULL, storage = c("double", "float", "integer"), dimnames = NULL, offset = 0,
                       dataset = NULL, transpose = FALSE) {
  file <- check_data_file(file)
  transpose <- check_flag(transpose, "transpose")
  if (!is.null(dataset) || (is.null(dim) && is_hdf5(file))) {
    return(hdf5_file(file, dataset, transpose, dim, dimnames))
  }
  if (is.null(dim)) fail("'file' is \"", file, "\", which is no HDF5 file; for a raw one give 'dim'")
  if (transpose) fail("'transpose' is TRUE, and a raw file has its variables one after the other; write it that way")
  raw_file(file, dim, check_choice(storage, c("double", "float", "integer"), "storage"), dimnames, offset)
}

# ---- as a matrix

#' @export
dim.gpuCorFile <- function(x) x$dim

#' @export
dimnames.gpuCorFile <- function(x) x$dimnames

#' @rdname gpuCorFile
#' @export
`[.gpuCorFile` <- function(x, i, j, ..., drop = FALSE) {
  if (nargs() - (!missing(drop)) != 3L) fail("a file's columns are picked by x[, j], with a comma")
  columns <- if (missing(j)) seq_len(ncol(x)) else picked(j, ncol(x), colnames(x), "column")
  values <- if (x$kind == "sparse") suppressMessages(sparse_columns(x, columns)) else read_columns(x, columns)
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
  size <- vapply(dim(x), format_count, "")
  cat(n_of(size[1L], "observation"), " x ", n_of(size[2L], "variable"), " in ", x$file, " (", describe_file(x), ")\n",
      sep = "")
  invisible(x)
}

describe_file <- function(x) {
  if (x$kind != "raw") return(paste0("HDF5, ", x$dataset, if (x$kind == "sparse") ", sparse"))
  paste0("raw, ", x$storage, if (x$offset > 0) paste(", from byte", format(x$offset, scientific = FALSE), "on"))
}
