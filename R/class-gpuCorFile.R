# A gpuCorFile behaves like a matrix.

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
  columns <- if (missing(j)) seq_len(ncol(x)) else picked(j, ncol(x), colnames(x), "column")
  if (x$kind == "sparse") x <- suppressMessages(read_sparse(x))
  values <- dense_columns(x, columns)
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
  kind <- if (x$kind == "image") {
    paste0("NIfTI, ", show_size(dim(x$mask)), if (length(dim(x$mask)) == 3L) " voxels")
  } else if (x$kind == "raw") {
    paste0("raw, ", x$storage, if (x$offset > 0) paste(", from byte", format(x$offset, scientific = FALSE), "on"))
  } else {
    paste0("HDF5, ", x$dataset, if (x$kind == "sparse") ", sparse")
  }
  cat(n_of(size[1L], "observation"), " x ", n_of(size[2L], "variable"), " in ", x$file, " (", kind, ")\n", sep = "")
  invisible(x)
}
