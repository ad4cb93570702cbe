# What is in an HDF5 file. It is read by package rhdf5, which is slow to load: whether a file is HDF5 is known without.

is_hdf5 <- function(file) {
  signature <- as.raw(c(0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a))
  identical(readBin(file, "raw", 8L), signature)
}

# f(object): `name` of a file, open. All is closed afterwards.
with_object <- function(file, name, f) {
  h5 <- rhdf5::H5Fopen(file, "H5F_ACC_RDONLY")
  on.exit(rhdf5::H5Fclose(h5))
  object <- rhdf5::H5Oopen(h5, name)
  on.exit(rhdf5::H5Oclose(object), add = TRUE, after = FALSE)
  f(object)
}

# "none", "group" or "dataset".
h5_kind <- function(file, name) {
  if (!has_object(file, name)) return("none")
  with_object(file, name, function(object) {
    if (rhdf5::H5Iget_type(object) == "H5I_DATASET") "dataset" else "group"
  })
}

# H5Lexists() raises an error where a folder of the name does not exist or is a dataset.
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

# The datasets of a file, for a message.
h5_contents <- function(file) {
  all <- rhdf5::h5ls(file)
  names <- sub("^/+", "", paste(all$group, all$name, sep = "/"))[all$otype == "H5I_DATASET"]
  if (!length(names)) return("no dataset")
  paste0(paste0('"', utils::head(names, 10L), '"', collapse = ", "), if (length(names) > 10L) ", ...")
}

# Dimensions of a dataset as R sees it, and of its chunks: 0 if it is contiguous.
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

# A whole dataset without dimensions; 64-bit integers are doubles.
read_vector <- function(file, name) as.vector(rhdf5::h5read(file, name, bit64conversion = "double"))
