# HDF5 files as data: dense datasets, and the layouts of AnnData (h5ad) and 10x.

# Returns a gpuCorFile of a dataset, or of a group that is a sparse matrix; dataset NULL: the matrix of a known layout.
hdf5_file <- function(file, dataset, transpose, dim, dimnames) {
  if (!is_hdf5(file)) fail_file("'file' is \"", file, "\", which is no HDF5 file; for a raw file leave 'dataset' out")
  need_packages("rhdf5", "to read HDF5")
  reading_hdf5(file, opened_dataset(file, dataset, transpose, dim, dimnames))
}

opened_dataset <- function(file, dataset, transpose, dim, dimnames) {
  if (is.null(dataset)) dataset <- known_dataset(file)
  dataset <- gsub("^/+|/+$", "", check_string(dataset, "dataset", "the name of a dataset"))
  x <- switch(h5_kind(file, dataset), group = sparse_file(file, dataset), dataset = dense_file(file, dataset),
              fail_file("'dataset' is \"", dataset, "\", which \"", file, "\" does not have; it has ",
                        h5_contents(file)))
  x$dimnames <- fitting_names(known_names(file, dataset), x$dim)
  if (transpose) x <- transposed_file(x)
  if (!is.null(dim) && !identical(as.numeric(check_file_dim(dim)), as.numeric(x$dim))) {
    fail("'dim' is ", show_size(dim), ", but \"", dataset, "\" is ", show_size(x$dim), " (observations x variables)")
  }
  if (!is.null(dimnames)) x$dimnames <- check_dimnames(dimnames, x$dim)
  x
}

# ---- known layouts

known_dataset <- function(file) {
  if (is_anndata(file) && has_object(file, "X")) return("X")
  if (has_object(file, "matrix/indptr")) return("matrix")
  fail_file("'file' is \"", file, "\", neither of AnnData's nor of 10x's layout; name a 'dataset': it has ",
            h5_contents(file))
}

is_anndata <- function(file) has_object(file, "obs") && has_object(file, "var")

# AnnData's matrices are X, layers and raw/X. Cells are rows in Python, hence columns in R.
is_anndata_matrix <- function(file, dataset) grepl("^(X|layers/[^/]+|raw/X)$", dataset) && is_anndata(file)

# Returns list(observations, variables), each NULL if the layout has no names.
known_names <- function(file, dataset) {
  if (is_anndata_matrix(file, dataset)) {
    return(list(frame_names(file, "obs"), frame_names(file, if (dataset == "raw/X") "raw/var" else "var")))
  }
  features <- Filter(function(name) has_object(file, name), paste0(dataset, c("/features/id", "/genes")))
  list(read_names(file, paste0(dataset, "/barcodes")), if (length(features)) read_names(file, features[1L]))
}

# Returns the index of one of AnnData's data frames.
frame_names <- function(file, frame) {
  if (h5_kind(file, frame) != "group") return(NULL)
  index <- rhdf5::h5readAttributes(file, frame)[["_index"]]
  read_names(file, paste0(frame, "/", if (is.character(index)) index[1L] else "_index"))
}

read_names <- function(file, name) if (h5_kind(file, name) == "dataset") as.character(rhdf5::h5read(file, name))

fitting_names <- function(names, dim) {
  for (k in 1:2) if (length(names[[k]]) != dim[k]) names[k] <- list(NULL)
  if (!all(vapply(names, is.null, NA))) names
}

# ---- dense datasets

# Element by_rows is TRUE if variables are the rows that R sees.
dense_file <- function(file, dataset) {
  size <- dataset_size(file, dataset)
  if (length(size$dim) != 2L) {
    fail_file("'dataset' is \"", dataset, "\", which has ", n_of(length(size$dim), "dimension"), " (",
              show_size(size$dim), "), not two")
  }
  check_file_dim(size$dim)
  x <- new_file(file, "hdf5", size$dim, NULL, dataset = dataset, by_rows = FALSE, chunk = size$chunk)
  if (is_anndata_matrix(file, dataset)) x <- transposed_file(x)
  if (all(x$dim > 0) && !is_variables(read_dense(x, 1L))) {
    fail_file("'dataset' is \"", dataset, "\", whose values are of type ", typeof(read_dense(x, 1L)), ", not numbers")
  }
  x
}

transposed_file <- function(x) {
  x$dim <- rev(x$dim)
  if (!is.null(x$dimnames)) x$dimnames <- rev(x$dimnames)
  x$by_rows <- !x$by_rows
  x
}

read_dense <- function(x, columns) {
  start <- c(1, columns[1L])
  count <- c(nrow(x), length(columns))
  if (any(count == 0)) return(matrix(0, nrow(x), length(columns)))
  order <- if (x$by_rows) 2:1 else 1:2
  values <- reading_hdf5(x$file, rhdf5::h5read(x$file, x$dataset, start = start[order], count = count[order],
                                               bit64conversion = "double"))
  if (x$by_rows) t(values) else values
}

# Stops unless the dataset still exists with the same size, at the start of a run.
check_dataset <- function(x) {
  need_packages("rhdf5", "to read HDF5")
  file <- check_data_file(x$file)
  size <- reading_hdf5(file, if (is_hdf5(file) && has_object(file, x$dataset)) dataset_size(file, x$dataset))
  if (is.null(size)) {
    fail_file("\"", file, "\" has no dataset \"", x$dataset, "\" any more; call gpuCorFile() again")
  }
  dim <- size$dim
  if (x$by_rows) dim <- rev(dim)
  if (!identical(as.numeric(dim), as.numeric(x$dim))) {
    fail_file("\"", x$dataset, "\" of \"", file, "\" is ", show_size(dim), " now, and was ", show_size(x$dim),
              "; call gpuCorFile() again")
  }
}

# Returns the number of variables in a chunk.
dense_grain <- function(x) max(1, x$chunk[if (x$by_rows) 1L else 2L])
