# Sparse matrices in HDF5 files: a group with the datasets "data", "indices" (from 0) and "indptr" (the start of each
# row or column). They are read into a dgCMatrix.

# Element by_rows is TRUE if entries are ordered by observations, FALSE if by variables.
sparse_file <- function(file, dataset) {
  parts <- paste0(dataset, "/", c("data", "indices", "indptr"))
  is_there <- vapply(parts, function(name) h5_kind(file, name) == "dataset", NA)
  if (!all(is_there)) {
    fail_file("'dataset' is \"", dataset, "\", a group without \"", parts[!is_there][1L], "\" and so no sparse matrix")
  }
  layout <- sparse_layout(file, dataset)
  check_file_dim(layout$dim)
  new_file(file, "sparse", layout$dim, NULL, dataset = dataset, by_rows = layout$by_rows)
}

# AnnData stores order and size as attributes, whose names have changed once. 10x has a column per barcode, which is an
# observation, and stores the size as a dataset.
sparse_layout <- function(file, dataset) {
  attributes <- rhdf5::h5readAttributes(file, dataset)
  attribute <- function(names) Find(Negate(is.null), attributes[names])
  encoding <- attribute(c("encoding-type", "h5sparse_format"))
  shape <- as.numeric(attribute(c("shape", "h5sparse_shape")))
  if (is.null(encoding) && has_object(file, paste0(dataset, "/shape"))) {
    return(list(dim = rev(as.numeric(read_vector(file, paste0(dataset, "/shape")))), by_rows = TRUE))
  }
  if (length(shape) != 2L || !grepl("^cs[rc]", encoding)) {
    fail_file("'dataset' is \"", dataset, "\", a group that neither AnnData nor 10x wrote as a sparse matrix")
  }
  list(dim = shape, by_rows = grepl("^csr", encoding))
}

# Max number of entries of a dgCMatrix.
SPARSE_LIMIT <- .Machine$integer.max

# Reads the whole matrix, observations x variables. Matrix::t() also sorts the entries of each column.
read_sparse <- function(x) {
  need_packages("rhdf5", "to read HDF5")
  check_data_file(x$file)
  reading_hdf5(x$file, sparse_matrix(x))
}

sparse_matrix <- function(x) {
  starts <- sparse_starts(x)
  n_index <- if (x$by_rows) ncol(x) else nrow(x)
  indices <- read_part(x, "indices")
  if (!are_whole(indices) || any(indices < 0 | indices >= n_index)) {
    damaged(x, paste0("an index is not in 0 to ", n_index - 1, ", or no whole number"))
  }
  m <- methods::new("dgCMatrix")
  m@Dim <- if (x$by_rows) rev(x$dim) else x$dim
  m@p <- as.integer(starts)
  m@i <- as.integer(indices)
  m@x <- as.numeric(read_part(x, "data"))
  m <- Matrix::t(m)
  if (!x$by_rows) m <- Matrix::t(m)
  if (!isTRUE(methods::validObject(m, test = TRUE))) damaged(x, "two entries have the same indices")
  if (!is.null(x$dimnames)) dimnames(m) <- x$dimnames
  m
}

# Returns the starts of rows (or columns), from 0, and the end of the last one.
sparse_starts <- function(x) {
  lengths <- vapply(c("data", "indices"), function(part) {
    as.numeric(prod(dataset_size(x$file, paste0(x$dataset, "/", part))$dim))
  }, 0)
  starts <- as.numeric(read_part(x, "indptr"))
  n <- if (x$by_rows) nrow(x) else ncol(x)
  are_starts <- length(starts) == n + 1 && are_whole(starts) && starts[1L] == 0 && !is.unsorted(starts)
  if (!are_starts || any(lengths != starts[n + 1])) damaged(x, "its starts do not fit its entries")
  if (starts[n + 1] > SPARSE_LIMIT) {
    fail_file("\"", x$dataset, "\" of \"", x$file, "\" has ", format_count(starts[n + 1]), " entries, and a sparse ",
              "matrix of R can have ", format_count(SPARSE_LIMIT), "; write it as a dense dataset")
  }
  starts
}

# Returns the values of a part; `name`: "data", "indices" or "indptr".
read_part <- function(x, name) {
  values <- read_vector(x$file, paste0(x$dataset, "/", name))
  if (!is_variables(values)) damaged(x, paste0("its ", name, " are of type ", typeof(values)))
  values
}

are_whole <- function(values) !anyNA(values) && all(values == floor(values))

damaged <- function(x, why) fail_file("\"", x$dataset, "\" of \"", x$file, "\" is no sparse matrix: ", why)

# The engine multiplies the entries of a matrix with fewer of them.
tell_sparse <- function(m, method) {
  if (length(m@x) <= constant("max sparse") * length(m)) return(invisible())
  is_never <- length(m@x) <= constant("max sparse signs") * length(m)
  if (is_never && method == "kendall") return(invisible())
  tell_once("a sparse matrix is made dense, a block of columns at a time", if (is_never) ", except for Kendall's tau",
            " (this message is shown once a session)")
}
