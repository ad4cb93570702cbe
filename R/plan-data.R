# The data of a plan, which are written into its folder once and read by every process. x and y are lists of one matrix
# per subject, or of one matrix; y is an empty list if there is none.

# Returns the list of matrices of x or y.
matrices_of <- function(m) if (is_combined(m)) m$data else if (!is.null(m)) list(m)

# ---- writing

# Writes matrices and returns a list of their descriptions; the first has the column names. Columns keep their storage
# type and are written in blocks; sparse matrices are written as R objects.
store_data <- function(m, plan, name) {
  lapply(seq_along(m), function(k) {
    own <- m[[k]]
    type <- stored_type(own)
    file <- data_file(plan, name, k, type)
    write_whole_file(file, function(partial) {
      if (type == "sparse") save_sparse(own, partial) else write_columns(own, partial, type)
    })
    list(type = type, dim = dim(own), names = if (k == 1L) colnames(own), bytes = file.size(file),
         time = as.numeric(file.mtime(file)), checksum = checksum(file))
  })
}

# The plan does not store file names, so that none can point outside its folder.
data_file <- function(plan, name, k, type) {
  number <- if (!is.null(plan$subjects)) paste0(".", k)
  file.path(plan$path, paste0(name, number, if (type == "sparse") ".rds" else ".columns"))
}

stored_type <- function(m) {
  if (isS4(m) && is(m, "dgCMatrix")) return("sparse")
  if (inherits(m, "gpuCorFile") && m$kind == "raw") return(m$storage)
  if (!is_outside(m) && !is.double(m)) "integer" else "double" # the engine reads logicals as integers
}

# On a full disk saveRDS() may write an incomplete file without an error.
save_sparse <- function(m, file) {
  saveRDS(m, file, compress = FALSE)
  tryCatch(readRDS(file), error = function(condition) stop("it was not written to its end"))
}

write_columns <- function(m, file, type) {
  size <- if (type == "double") 8L else 4L
  connection <- file(file, "wb")
  on.exit(close(connection))
  for (columns in block_columns(m)) {
    block <- dense_columns(m, columns)
    storage.mode(block) <- if (type == "integer") "integer" else "double"
    writeBin(as.vector(block), connection, size = size, endian = "little")
  }
  flush(connection)
  if (file.size(file) != prod(dim(m)) * size) stop("it was not written to its end")
}

# ---- reading

# Returns the matrices of x or y, or stops if they have changed since the plan was made. Only sparse ones are loaded.
stored_data <- function(plan, name, check = FALSE) {
  lapply(seq_along(plan[[name]]), function(k) {
    data <- plan[[name]][[k]]
    file <- data_file(plan, name, k, data$type)
    check_unchanged(file, data, check)
    if (data$type == "sparse") return(stored_sparse(file, data))
    raw_file(file, data$dim, data$type, if (!is.null(data$names)) list(NULL, data$names), 0)
  })
}

# The checksum requires reading all data, so it is only compared with `check`, if the file's time has changed, or before
# R reads an object from the file.
check_unchanged <- function(file, data, check) {
  check <- check || data$type == "sparse" || !identical(as.numeric(file.mtime(file)), data$time)
  same_size <- identical(file.size(file), data$bytes)
  if (!same_size || (check && !is_verified(file, data$checksum))) fail_changed(file)
}

stored_sparse <- function(file, data) {
  m <- readRDS(file)
  is_right <- isS4(m) && is(m, "dgCMatrix") && identical(dim(m), as.integer(data$dim)) &&
    isTRUE(methods::validObject(m, test = TRUE))
  if (!is_right) fail_changed(file)
  m
}
