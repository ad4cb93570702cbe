# The data of a plan, which are written into its folder once and read by every process. x and y are lists of one matrix
# per subject, or of one matrix; y is an empty list if there is none.

# Returns the list of matrices of x or y.
matrices_of <- function(m) if (is_combined(m)) m$data else if (!is.null(m)) list(m)

# ---- writing

# Writes matrices and returns a list of their descriptions; the first has the column names. Columns keep their storage
# type and are written in blocks; a sparse matrix is written as its slots p, i and x.
store_data <- function(m, plan, name) {
  lapply(seq_along(m), function(k) {
    own <- m[[k]]
    type <- stored_type(own)
    file <- data_file(plan, name, k, type)
    write_whole_file(file, function(partial) {
      if (type == "sparse") write_sparse(own, partial) else write_columns(own, partial, type)
    })
    list(type = type, dim = dim(own), names = if (k == 1L) colnames(own), bytes = file.size(file),
         time = as.numeric(file.mtime(file)), checksum = checksum(file))
  })
}

# The plan does not store file names, so that none can point outside its folder.
data_file <- function(plan, name, k, type) {
  number <- if (!is.null(plan$subjects)) paste0(".", k)
  file.path(plan$path, paste0(name, number, if (type == "sparse") ".sparse" else ".columns"))
}

stored_type <- function(m) {
  if (isS4(m) && is(m, "dgCMatrix")) return("sparse")
  if (inherits(m, "gpuCorFile") && m$kind == "raw") return(m$storage)
  if (!is_outside(m) && !is.double(m)) "integer" else "double" # the engine reads logicals as integers
}

write_sparse <- function(m, file) {
  append_bytes(file, 4 * length(m@p) + 12 * length(m@x), function(connection) {
    write_pieces(connection, m@p, 4L)
    write_pieces(connection, m@i, 4L)
    write_pieces(connection, m@x, 8L)
  })
}

write_columns <- function(m, file, type) {
  size <- if (type == "double") 8L else 4L
  append_bytes(file, prod(dim(m)) * size, function(connection) {
    for (columns in block_columns(m)) {
      block <- dense_columns(m, columns)
      storage.mode(block) <- if (type == "integer") "integer" else "double"
      write_pieces(connection, as.vector(block), size)
    }
  })
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

# The checksum requires reading all data, so it is only compared with `check`, or if the file's time has changed.
check_unchanged <- function(file, data, check) {
  check <- check || !identical(as.numeric(file.mtime(file)), data$time)
  same_size <- identical(file.size(file), data$bytes)
  if (!same_size || (check && !is_verified(file, data$checksum))) fail_changed(file)
}

stored_sparse <- function(file, data) {
  n_entries <- (data$bytes - 4 * (data$dim[2L] + 1)) / 12
  if (n_entries < 0) fail_changed(file)
  connection <- file(file, "rb")
  on.exit(close(connection))
  read <- function(type, n, size) readBin(connection, type, n, size, endian = "little")
  no_matrix <- function(condition) fail_changed(file)
  tryCatch(error = no_matrix, warning = no_matrix, {
    methods::new("dgCMatrix", p = read("integer", data$dim[2L] + 1, 4L), i = read("integer", n_entries, 4L),
                 x = read("double", n_entries, 8L), Dim = as.integer(data$dim), Dimnames = list(NULL, data$names))
  })
}
