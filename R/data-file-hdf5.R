# Dense datasets of HDF5 files, and what is found in files of a known layout: AnnData's h5ad and those of 10x.

is_hdf5 <- function(file) {
  signature <- as.raw(c(0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a))
  identical(readBin(file, "raw", 8L), signature)
}

# A gpuCorFile of a dataset, or of a group that is a sparse matrix; dataset NULL: what the layout says.
hdf5_file <- function(file, dataset, transpose, dim, dimnames) {
  if (!is_hdf5(file)) fail("'file' is \"", file, "\", which is no HDF5 file; for a raw file leave 'dataset' out")
  need_package("rhdf5", "to read HDF5")
  if (is.null(dataset)) dataset <- known_dataset(file)
  if (!is.character(dataset) || length(dataset) != 1L || is.na(dataset)) {
    fail("'dataset' must be the name of a dataset, not ", show_value(dataset))
  }
  dataset <- gsub("^/+|/+$", "", dataset)
  kind <- h5_kind(file, dataset)
  if (kind == "none") {
    fail("'dataset' is \"", dataset, "\", which \"", file, "\" does not have; it has ", h5_contents(file))
  }
  names <- known_names(file, dataset)
  x <- if (kind == "group") sparse_file(file, dataset) else dense_file(file, dataset, is_anndata_matrix(file, dataset))
  x$dimnames <- fitting_names(names, x$dim)
  if (transpose) x <- transposed_file(x)
  if (!is.null(dim) && !identical(as.numeric(check_file_dim(dim)), as.numeric(x$dim))) {
    fail("'dim' is ", show_size(dim), ", but \"", dataset, "\" is ", show_size(x$dim), " (observations x variables)",
         "; leave it out, or give transpose = TRUE if variables are rows there")
  }
  if (!is.null(dimnames)) x$dimnames <- check_dimnames(dimnames, x$dim)
  x
}

# ---- what is in a file

# Open the object `name` of a file for f, and close all.
with_object <- function(file, name, f) {
  h5 <- rhdf5::H5Fopen(file, "H5F_ACC_RDONLY")
  on.exit(rhdf5::H5Fclose(h5))
  object <- rhdf5::H5Oopen(h5, name)
  on.exit(rhdf5::H5Oclose(object), add = TRUE, after = FALSE)
  f(object)
}

# Of a name in a file: "none", "group", or "dataset".
h5_kind <- function(file, name) {
  h5 <- rhdf5::H5Fopen(file, "H5F_ACC_RDONLY")
  on.exit(rhdf5::H5Fclose(h5))
  parts <- strsplit(name, "/+")[[1L]]
  if (!length(parts)) return("none")
  for (k in seq_along(parts)) { # an error where what is before is no group
    name_k <- paste(parts[seq_len(k)], collapse = "/")
    if (!tryCatch(rhdf5::H5Lexists(h5, name_k), error = function(condition) FALSE)) return("none")
  }
  object <- rhdf5::H5Oopen(h5, name)
  on.exit(rhdf5::H5Oclose(object), add = TRUE, after = FALSE)
  if (rhdf5::H5Iget_type(object) == "H5I_DATASET") "dataset" else "group"
}

has_object <- function(file, name) h5_kind(file, name) != "none"

h5_contents <- function(file) {
  all <- rhdf5::h5ls(file)
  names <- sub("^/+", "", paste(all$group, all$name, sep = "/"))[all$otype == "H5I_DATASET"]
  if (!length(names)) return("no dataset")
  paste0(paste0('"', utils::head(names, 10L), '"', collapse = ", "), if (length(names) > 10L) ", ...")
}

# Where the matrix of a file is whose layout is known.
known_dataset <- function(file) {
  if (is_anndata(file) && has_object(file, "X")) return("X")
  if (has_object(file, "matrix/indptr")) return("matrix")
  fail("'file' is \"", file, "\", neither of AnnData's nor of 10x's layout; say which dataset to read: it has ",
       h5_contents(file), "; give dataset =, or for a raw file dim =")
}

is_anndata <- function(file) has_object(file, "obs") && has_object(file, "var")

# X, a layer, or raw/X: these have a cell in each row for Python, and thus in each column for R.
is_anndata_matrix <- function(file, dataset) {
  grepl("^(X|layers/[^/]+|raw/X)$", dataset) && is_anndata(file)
}

# Names of observations and of variables, as far as the layout has any.
known_names <- function(file, dataset) {
  if (is_anndata_matrix(file, dataset)) {
    var <- if (dataset == "raw/X") "raw/var" else "var"
    return(list(frame_names(file, "obs"), frame_names(file, var)))
  }
  features <- paste0(dataset, c("/features/id", "/genes"))
  found <- features[vapply(features, function(name) has_object(file, name), NA)]
  list(read_names(file, paste0(dataset, "/barcodes")), if (length(found)) read_names(file, found[1L]))
}

# The index of one of AnnData's data frames.
frame_names <- function(file, frame) {
  if (h5_kind(file, frame) != "group") return(NULL)
  index <- rhdf5::h5readAttributes(file, frame)[["_index"]]
  read_names(file, paste0(frame, "/", if (is.character(index)) index[1L] else "_index"))
}

read_names <- function(file, name) {
  if (h5_kind(file, name) != "dataset") return(NULL)
  as.character(rhdf5::h5read(file, name))
}

# NULL where there are none, or where they do not fit.
fitting_names <- function(names, dim) {
  for (k in 1:2) if (length(names[[k]]) != dim[k]) names[k] <- list(NULL)
  if (is.null(names[[1L]]) && is.null(names[[2L]])) NULL else names
}

# ---- dense ones

# A dataset as R sees it: its dimensions, and those of a chunk, 0 where it is in one piece.
dataset_size <- function(file, dataset) {
  with_object(file, dataset, function(object) {
    space <- rhdf5::H5Dget_space(object)
    on.exit(rhdf5::H5Sclose(space))
    properties <- rhdf5::H5Dget_create_plist(object)
    on.exit(rhdf5::H5Pclose(properties), add = TRUE)
    size <- rhdf5::H5Sget_simple_extent_dims(space)$size
    is_chunked <- rhdf5::H5Pget_layout(properties) == "H5D_CHUNKED"
    list(dim = size, chunk = if (is_chunked) rev(rhdf5::H5Pget_chunk(properties)) else 0 * size)
  })
}

# by_rows: variables are the rows that R sees.
dense_file <- function(file, dataset, by_rows) {
  size <- dataset_size(file, dataset)
  if (length(size$dim) != 2L) {
    fail("'dataset' is \"", dataset, "\", which has ", n_of(length(size$dim), "dimension"), " (", show_size(size$dim),
         "); a matrix has two")
  }
  x <- new_file(file, "hdf5", size$dim, NULL, dataset = dataset, by_rows = FALSE, chunk = size$chunk)
  if (by_rows) x <- transposed_file(x)
  if (all(x$dim > 0) && !is_variables(read_dense(x, 1L))) {
    fail("'dataset' is \"", dataset, "\", whose values are of type ", typeof(read_dense(x, 1L)), ", not numbers")
  }
  x
}

# What were observations are variables, and the other way round.
transposed_file <- function(x) {
  x$dim <- rev(x$dim)
  if (!is.null(x$dimnames)) x$dimnames <- rev(x$dimnames)
  x$by_rows <- !x$by_rows
  x
}

# Columns side by side.
read_dense <- function(x, columns) {
  start <- c(1, columns[1L])
  count <- c(nrow(x), length(columns))
  if (any(count == 0)) return(matrix(0, nrow(x), length(columns)))
  if (!x$by_rows) return(rhdf5::h5read(x$file, x$dataset, start = start, count = count, bit64conversion = "double"))
  t(rhdf5::h5read(x$file, x$dataset, start = rev(start), count = rev(count), bit64conversion = "double"))
}

# Before every run: whether the dataset is still there, and as large.
check_dataset <- function(x) {
  need_package("rhdf5", "to read HDF5")
  file <- check_data_file(x$file)
  if (!is_hdf5(file) || !has_object(file, x$dataset)) {
    fail("\"", file, "\" has no dataset \"", x$dataset, "\" any more; make the gpuCorFile anew")
  }
  dim <- dataset_size(file, x$dataset)$dim
  if (x$by_rows) dim <- rev(dim)
  if (!identical(as.numeric(dim), as.numeric(x$dim))) {
    fail("\"", x$dataset, "\" of \"", file, "\" is ", show_size(dim), " by now, and was ", show_size(x$dim),
         " (observations x variables); make the gpuCorFile anew")
  }
}

# Columns of a chunk, if several are in one.
dense_grain <- function(x) max(1, x$chunk[if (x$by_rows) 1L else 2L])
