# Files instead of matrices, as gpuCorFile() describes them.

raw_file <- function(file, dim, storage, dimnames, offset) {
  check_byte_order()
  x <- new_file(file, "raw", dim, dimnames, storage = storage, pointer = NULL,
                offset = check_whole(offset, "offset", 0, 2^53))
  x[["pointer"]] <- .Call(r_file_open, x)
  x
}

# Returns a gpuCorFile of a kind of data-outside.R. `...`: whatever else is needed to read the file.
new_file <- function(file, kind, dim, dimnames, ...) {
  is_size <- are_finite(dim, 2L, 0, .Machine$integer.max) && all(dim == floor(dim))
  check_that(dim, "dim", is_size, "two integers up to 2^31 - 1, of observations and of variables")
  structure(list(file = file, kind = kind, dim = as.integer(dim), dimnames = dimnames, ...), class = "gpuCorFile")
}

# Returns TRUE for dimnames of a matrix of that size.
are_names <- function(dimnames, dim) {
  fits <- function(k) is.null(dimnames[[k]]) || (is.character(dimnames[[k]]) && length(dimnames[[k]]) == dim[k])
  is.null(dimnames) || (is.list(dimnames) && length(dimnames) == 2L && fits(1L) && fits(2L))
}

check_data_file <- function(file) {
  check_string(file, "file", "the name of a file")
  check_regular(file, paste0("'file' is \"", file, "\", which"))
  normalizePath(file, "/")
}

# ---- HDF5 files

# Package rhdf5 reads them, but is slow to load, so the signature is checked without it.

is_hdf5 <- function(file) {
  signature <- as.raw(c(0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a))
  identical(readBin(file, "raw", 8L), signature)
}

# Runs code that reads the file. rhdf5 raises errors of its own where a file is damaged.
reading_hdf5 <- function(file, code) {
  with_our_errors(code, paste0("the HDF5 file \"", file, "\" cannot be read: "), fail_file)
}

# Returns NULL if the file has no object `name`, otherwise a list of is_dataset; and, for a dataset, `dim`, its
# dimensions as R sees them, and `chunk`, those of its chunks (0 if contiguous).
h5_object <- function(file, name) {
  h5 <- rhdf5::H5Fopen(file, "H5F_ACC_RDONLY")
  on.exit(rhdf5::H5Fclose(h5))
  # H5Lexists() raises an error if a parent does not exist or is a dataset.
  paths <- Reduce(function(parent, part) paste(parent, part, sep = "/"), strsplit(name, "/+")[[1L]], accumulate = TRUE)
  exists <- function(path) tryCatch(rhdf5::H5Lexists(h5, path), error = function(condition) FALSE)
  if (!length(paths) || !is.null(Find(Negate(exists), paths))) return(NULL)
  object <- rhdf5::H5Oopen(h5, name)
  on.exit(rhdf5::H5Oclose(object), add = TRUE, after = FALSE)
  if (rhdf5::H5Iget_type(object) != "H5I_DATASET") return(list(is_dataset = FALSE))
  space <- rhdf5::H5Dget_space(object)
  on.exit(rhdf5::H5Sclose(space), add = TRUE, after = FALSE)
  properties <- rhdf5::H5Dget_create_plist(object)
  on.exit(rhdf5::H5Pclose(properties), add = TRUE, after = FALSE)
  size <- rhdf5::H5Sget_simple_extent_dims(space)$size
  is_chunked <- rhdf5::H5Pget_layout(properties) == "H5D_CHUNKED"
  list(is_dataset = TRUE, dim = size, chunk = if (is_chunked) rev(rhdf5::H5Pget_chunk(properties)) else 0 * size)
}

# HDF5 files as data: dense datasets, and the layouts of AnnData (h5ad) and 10x.

# Returns a gpuCorFile of a dataset, or of a group that is a sparse matrix; dataset NULL: the matrix of a known layout.
hdf5_file <- function(file, dataset, transpose, dim) {
  contents <- function() { # names of its datasets, for a message
    all <- rhdf5::h5ls(file)
    names <- sub("^/+", "", paste(all$group, all$name, sep = "/"))[all$otype == "H5I_DATASET"]
    if (!length(names)) return("no dataset")
    paste0(paste0('"', utils::head(names, 10L), '"', collapse = ", "), if (length(names) > 10L) ", ...")
  }
  # Returns list(observations, variables), each NULL if the layout has no such names, or not as many; NULL without any.
  # AnnData's names are the index of a data frame.
  names_of <- function(dim) {
    read <- function(name) if (isTRUE(h5_object(file, name)$is_dataset)) as.character(rhdf5::h5read(file, name))
    index_of <- function(frame) {
      if (!isFALSE(h5_object(file, frame)$is_dataset)) return(NULL)
      index <- rhdf5::h5readAttributes(file, frame)[["_index"]]
      read(paste0(frame, "/", if (is.character(index)) index[1L] else "_index"))
    }
    names <- if (is_anndata_matrix(file, dataset)) {
      list(index_of("obs"), index_of(if (dataset == "raw/X") "raw/var" else "var"))
    } else {
      features <- paste0(dataset, c("/features/id", "/genes"))
      list(read(paste0(dataset, "/barcodes")), read(features[if (is.null(h5_object(file, features[1L]))) 2L else 1L]))
    }
    for (k in 1:2) if (length(names[[k]]) != dim[k]) names[k] <- list(NULL)
    if (!all(vapply(names, is.null, NA))) names
  }
  if (!is_hdf5(file)) fail_file("'file' is \"", file, "\", which is no HDF5 file; for a raw file leave 'dataset' out")
  need_packages("rhdf5", "to read HDF5")
  reading_hdf5(file, {
    if (is.null(dataset)) {
      is_known <- is_anndata_matrix(file, "X") && !is.null(h5_object(file, "X"))
      dataset <- if (is_known) "X" else if (!is.null(h5_object(file, "matrix/indptr"))) "matrix"
    }
    if (is.null(dataset)) {
      fail_file("'file' is \"", file, "\", neither of AnnData's nor of 10x's layout; name a 'dataset': it has ",
                contents())
    }
    dataset <- gsub("^/+|/+$", "", check_string(dataset, "dataset", "the name of a dataset"))
    object <- h5_object(file, dataset)
    if (is.null(object)) {
      fail_file("'dataset' is \"", dataset, "\", which \"", file, "\" does not have; it has ", contents())
    }
    x <- if (object$is_dataset) dense_file(file, dataset, object) else sparse_file(file, dataset)
    x$dimnames <- names_of(x$dim)
    if (transpose) x <- transposed_file(x)
    if (!is.null(dim) && !(is_numeric(dim) && identical(as.numeric(dim), as.numeric(x$dim)))) {
      fail("'dim' is ", show_size(dim), ", but \"", dataset, "\" is ", show_size(x$dim), " (observations x variables)")
    }
    x
  })
}

# AnnData's matrices are X, layers and raw/X. Cells are rows in Python, hence columns in R.
is_anndata_matrix <- function(file, dataset) {
  grepl("^(X|layers/[^/]+|raw/X)$", dataset) && !is.null(h5_object(file, "obs")) && !is.null(h5_object(file, "var"))
}

# ---- dense datasets

# Element by_rows is TRUE if variables are the rows that R sees.
dense_file <- function(file, dataset, object) {
  dim <- object$dim
  if (length(dim) != 2L) {
    fail_file("'dataset' is \"", dataset, "\", which has ", n_of(length(dim), "dimension"), " (", show_size(dim),
              "), not two")
  }
  x <- new_file(file, "hdf5", dim, NULL, dataset = dataset, by_rows = FALSE, chunk = object$chunk)
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

# Returns the number of columns in a chunk. Stops unless the dataset still exists with the same size.
dataset_grain <- function(x) {
  need_packages("rhdf5", "to read HDF5")
  file <- check_data_file(x$file)
  found <- reading_hdf5(file, if (is_hdf5(file)) h5_object(file, x$dataset))
  if (is.null(found)) fail_file("\"", file, "\" has no dataset \"", x$dataset, "\" any more; call gpuCorFile() again")
  dim <- if (x$by_rows) rev(found$dim) else found$dim
  if (!identical(as.numeric(dim), as.numeric(x$dim))) {
    fail_file("\"", x$dataset, "\" of \"", file, "\" is ", show_size(dim), " now, and was ", show_size(x$dim),
              "; call gpuCorFile() again")
  }
  max(1, x$chunk[if (x$by_rows) 1L else 2L])
}

# ---- sparse matrices

# Sparse matrices in HDF5 files: a group with the datasets "data", "indices" (from 0) and "indptr" (the start of each
# row or column). They are read into a dgCMatrix.

# Element by_rows is TRUE if entries are ordered by observations, FALSE if by variables. AnnData stores order and size
# as attributes, whose names have changed once. 10x has a column per barcode, which is an observation, and stores the
# size as a dataset.
sparse_file <- function(file, dataset) {
  parts <- paste0(dataset, "/", c("data", "indices", "indptr"))
  is_there <- vapply(parts, function(part) isTRUE(h5_object(file, part)$is_dataset), NA)
  if (!all(is_there)) {
    fail_file("'dataset' is \"", dataset, "\", a group without \"", parts[!is_there][1L],
              "\" and so no sparse matrix")
  }
  attributes <- rhdf5::h5readAttributes(file, dataset)
  attribute <- function(names) Find(Negate(is.null), attributes[names])
  encoding <- attribute(c("encoding-type", "h5sparse_format"))
  dim <- as.numeric(attribute(c("shape", "h5sparse_shape")))
  shape <- paste0(dataset, "/shape")
  if (is.null(encoding) && !is.null(h5_object(file, shape))) {
    encoding <- "csr"
    dim <- rev(as.numeric(rhdf5::h5read(file, shape, bit64conversion = "double")))
  }
  if (length(dim) != 2L || !isTRUE(grepl("^cs[rc]", encoding))) {
    fail_file("'dataset' is \"", dataset, "\", a group that neither AnnData nor 10x wrote as a sparse matrix")
  }
  new_file(file, "sparse", dim, NULL, dataset = dataset, by_rows = grepl("^csr", encoding))
}

# Max number of entries of a dgCMatrix.
SPARSE_LIMIT <- .Machine$integer.max

# Reads the whole matrix, observations x variables. Matrix::t() also sorts the entries of each column.
read_sparse <- function(x) {
  need_packages("rhdf5", "to read HDF5")
  check_data_file(x$file)
  damaged <- function(why) fail_file("\"", x$dataset, "\" of \"", x$file, "\" is no sparse matrix: ", why)
  read <- function(part) { # 64-bit integers become doubles
    values <- as.vector(rhdf5::h5read(x$file, paste0(x$dataset, "/", part), bit64conversion = "double"))
    if (!is_variables(values)) damaged(paste0("its ", part, " are of type ", typeof(values)))
    values
  }
  are_whole <- function(values) !anyNA(values) && all(values == floor(values))
  reading_hdf5(x$file, {
    lengths <- vapply(c("data", "indices"), function(part) {
      as.numeric(prod(h5_object(x$file, paste0(x$dataset, "/", part))$dim))
    }, 0)
    starts <- as.numeric(read("indptr")) # of rows, or columns, from 0, and the end of the last one
    n <- if (x$by_rows) nrow(x) else ncol(x)
    are_starts <- length(starts) == n + 1 && are_whole(starts) && starts[1L] == 0 && !is.unsorted(starts)
    if (!are_starts || any(lengths != starts[n + 1])) damaged("its starts do not fit its entries")
    if (starts[n + 1] > SPARSE_LIMIT) {
      fail_file("\"", x$dataset, "\" of \"", x$file, "\" has ", format_count(starts[n + 1]), " entries, and a sparse ",
                "matrix of R can have ", format_count(SPARSE_LIMIT), "; write it as a dense dataset")
    }
    n_index <- if (x$by_rows) ncol(x) else nrow(x)
    indices <- read("indices")
    if (!are_whole(indices) || any(indices < 0 | indices >= n_index)) {
      damaged(paste0("an index is not in 0 to ", n_index - 1, ", or no whole number"))
    }
    m <- methods::new("dgCMatrix")
    m@Dim <- if (x$by_rows) rev(x$dim) else x$dim
    m@p <- as.integer(starts)
    m@i <- as.integer(indices)
    m@x <- as.numeric(read("data"))
    m <- Matrix::t(m)
    if (!x$by_rows) m <- Matrix::t(m)
    if (!isTRUE(methods::validObject(m, test = TRUE))) damaged("two entries have the same indices")
    if (!is.null(x$dimnames)) dimnames(m) <- x$dimnames
    m
  })
}

# The engine multiplies the entries of a matrix with fewer of them.
tell_sparse <- function(m, method) {
  if (length(m@x) <= constant("max sparse") * length(m)) return(invisible())
  is_never <- length(m@x) <= constant("max sparse signs") * length(m)
  if (is_never && method == "kendall") return(invisible())
  tell_once("a sparse matrix is made dense, a block of columns at a time", if (is_never) ", except for Kendall's tau",
            " (this message is shown once a session)")
}
