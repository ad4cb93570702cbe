# The contents of an HDF5 file. Package rhdf5 reads them, but is slow to load, so the signature is checked without it.

is_hdf5 <- function(file) {
  signature <- as.raw(c(0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a))
  identical(readBin(file, "raw", 8L), signature)
}

# Runs code that reads the file. rhdf5 raises errors of its own where a file is damaged.
reading_hdf5 <- function(file, code) {
  with_our_errors(code, paste0("the HDF5 file \"", file, "\" cannot be read: "), fail_file)
}

# Returns f(object) of the opened object `name`, and closes everything.
with_object <- function(file, name, f) {
  h5 <- rhdf5::H5Fopen(file, "H5F_ACC_RDONLY")
  on.exit(rhdf5::H5Fclose(h5))
  object <- rhdf5::H5Oopen(h5, name)
  on.exit(rhdf5::H5Oclose(object), add = TRUE, after = FALSE)
  f(object)
}

h5_kind <- function(file, name) {
  if (!has_object(file, name)) return("none")
  with_object(file, name, function(object) {
    if (rhdf5::H5Iget_type(object) == "H5I_DATASET") "dataset" else "group"
  })
}

# Checks each parent first: H5Lexists() raises an error if a parent does not exist or is a dataset.
has_object <- function(file, name) {
  h5 <- rhdf5::H5Fopen(file, "H5F_ACC_RDONLY")
  on.exit(rhdf5::H5Fclose(h5))
  parts <- strsplit(name, "/+")[[1L]]
  for (k in seq_along(parts)) {
    path <- paste(parts[seq_len(k)], collapse = "/")
    if (!tryCatch(rhdf5::H5Lexists(h5, path), error = function(condition) FALSE)) return(FALSE)
  }
  length(parts) > 0L
}

# Returns the names of a file's datasets for a message.
h5_contents <- function(file) {
  all <- rhdf5::h5ls(file)
  names <- sub("^/+", "", paste(all$group, all$name, sep = "/"))[all$otype == "H5I_DATASET"]
  if (!length(names)) return("no dataset")
  paste0(paste0('"', utils::head(names, 10L), '"', collapse = ", "), if (length(names) > 10L) ", ...")
}

# Returns the dimensions of a dataset as R sees it, and of its chunks (0 if contiguous).
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

# Reads a whole dataset without dimensions; 64-bit integers become doubles.
read_vector <- function(file, name) as.vector(rhdf5::h5read(file, name, bit64conversion = "double"))
