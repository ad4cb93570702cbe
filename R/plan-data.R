# The data of a plan: written into its folder once, and read from there by every process.

# x, y and how many subjects there are (NULL: x is no list of them), as they are written: matrices, or lists of many
# subjects' matrices, for which a function is called once.
plan_data <- function(x, y, n, assay) {
  if (is_subjects(x)) {
    n <- subjects_of(x, y, n)
    return(list(x = subject_matrices(x, n, "x", assay), y = if (!is.null(y)) subject_matrices(y, n, "y", assay),
                subjects = n))
  }
  check_has_assay(x, y, assay)
  list(x = as_column(check_variables(x, "x", assay)), y = if (!is.null(y)) as_column(check_variables(y, "y", assay)))
}

subject_matrices <- function(m, n, name, assay) {
  keeper <- new_keeper()
  lapply(seq_len(n), function(i) {
    in_subject(i, {
      given <- as_subject(m, i)
      check_has_assay(given, NULL, assay)
      own <- check_variables(given, name, assay)
      if (is.function(m)) keep_data(keeper, own) else own
    })
  })
}

# ---- written

# Descriptions of x's or y's files: one, or a list of one for each subject; of these the first has the names.
store_data <- function(m, plan, name) {
  if (is.null(m)) return(NULL)
  if (is.null(plan$subjects)) return(store_matrix(m, plan, name, colnames(m)))
  lapply(seq_along(m), function(k) {
    store_matrix(m[[k]], plan, paste0(name, ".", k), if (k == 1L) colnames(m[[k]]))
  })
}

# Columns as they are in R or in a file of their own, block by block; sparse ones as R has them.
store_matrix <- function(m, plan, name, names) {
  type <- stored_type(m)
  file <- data_file(plan, name, type)
  write_whole_file(file, function(partial) {
    if (type == "sparse") save_sparse(m, partial) else write_columns(m, partial, type)
  })
  list(type = type, dim = dim(m), names = names, bytes = file.size(file), time = as.numeric(file.mtime(file)),
       checksum = checksum(file))
}

# The plan has no names of files: none can lead out of its folder.
data_file <- function(plan, name, type) {
  file.path(plan$path, paste0(name, if (type == "sparse") ".rds" else ".columns"))
}

STORED_TYPES <- c("double", "float", "integer", "sparse")

stored_type <- function(m) {
  if (isS4(m) && is(m, "dgCMatrix")) return("sparse")
  if (inherits(m, "gpuCorFile") && m$kind == "raw") return(m$storage)
  if (!is_outside(m) && !is.double(m)) "integer" else "double" # logical ones are integers to the engine, too
}

# On a full disk saveRDS() may leave a part of the file without a word.
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
  wanted <- prod(dim(m)) * size
  if (file.size(file) != wanted) stop("it has ", file.size(file), " of ", wanted, " bytes")
}

# ---- read

# x or y as it was when the plan was made, or an error: a matrix, or a list of the subjects' matrices.
stored_data <- function(plan, name, check = FALSE) {
  data <- plan[[name]]
  if (is.null(data)) return(NULL)
  if (is.null(plan$subjects)) return(stored_matrix(plan, name, data, check))
  lapply(seq_along(data), function(k) stored_matrix(plan, paste0(name, ".", k), data[[k]], check))
}

# Not in memory, unless it is sparse. So that not every process reads all of it to see that it is the same, its checksum
# is taken only where the file was touched since, or with `check`, or before R reads an object from it.
stored_matrix <- function(plan, name, data, check) {
  file <- data_file(plan, name, data$type)
  touched <- !identical(as.numeric(file.mtime(file)), data$time)
  check <- check || touched || data$type == "sparse"
  if (!identical(file.size(file), data$bytes) || (check && !is_verified(file, data$checksum))) {
    fail("\"", file, "\" has other data than when the plan was made; make the plan again, in another folder")
  }
  if (data$type == "sparse") return(stored_sparse(file, data))
  raw_file(file, data$dim, data$type, if (!is.null(data$names)) list(NULL, data$names), 0)
}

stored_sparse <- function(file, data) {
  m <- readRDS(file)
  is_right <- isS4(m) && is(m, "dgCMatrix") && identical(dim(m), as.integer(data$dim)) &&
    isTRUE(methods::validObject(m, test = TRUE))
  if (!is_right) fail("\"", file, "\" is no sparse matrix of the plan's size; make the plan again, in another folder")
  m
}

# Whether the file has that checksum: read again where it seems to have changed since it was last found to.
is_verified <- function(file, wanted) {
  info <- file.info(file, extra_cols = FALSE)
  known <- paste(wanted, info$size, as.numeric(info$mtime))
  if (identical(state$verified[[file]], known)) return(TRUE)
  if (!identical(checksum(file), wanted)) return(FALSE)
  state$verified[[file]] <- known
  TRUE
}
