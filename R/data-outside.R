# What stands in the place of a matrix without being one in memory. It is read here, by blocks of columns, for R and for
# the engine (src/r/asked.c), and known by its class: packages that make such things are asked only where they did.

is_outside <- function(x) inherits(x, c("gpuCorFile", "DelayedMatrix", "big.matrix"))

# What is outside as it can be read, or an error.
check_outside <- function(x, name) {
  if (inherits(x, "gpuCorFile")) return(if (x$kind == "sparse") read_sparse(x) else x)
  package <- if (inherits(x, "DelayedMatrix")) "DelayedArray" else "bigmemory"
  need_package(package, paste0("'", name, "' is a ", class(x)[1L], ", which"))
  type <- if (package == "DelayedArray") DelayedArray::type(x) else "double"
  if (!type %in% c("double", "integer", "logical")) {
    fail("'", name, "' must be numeric, not a ", class(x)[1L], " of type ", type)
  }
  # Its dimensions are doubles, where all others' are integers.
  if (package == "bigmemory") new_file(NULL, "big.matrix", dim(x), dimnames(x), data = x) else x
}

# The same with observations and variables exchanged, where what was a row can be read.
transposed_outside <- function(x) {
  if (inherits(x, "DelayedMatrix")) return(Matrix::t(x))
  if (inherits(x, "gpuCorFile") && x$kind == "hdf5") return(transposed_file(x))
  what <- if (inherits(x, "gpuCorFile")) paste(x$kind, "gpuCorFile") else class(x)[1L]
  fail("'x' is a ", what, ", which is read by columns, and gpuDist() compares rows; 1 - gpuCor(x) compares columns: ",
       "give it the transposed data")
}

# Columns by their numbers, in any order, as an ordinary matrix without names.
read_columns <- function(x, columns) {
  if (inherits(x, "gpuCorFile") && x$kind == "raw") return(.Call(r_file_columns, x, as.integer(columns)))
  runs <- column_runs(columns, nrow(x))
  if (length(runs) == 1L && identical(as.numeric(columns), as.numeric(runs[[1L]]))) return(read_run(x, columns))
  values <- matrix(0, nrow(x), length(columns))
  for (run in runs) {
    at <- which(columns >= run[1L] & columns <= run[length(run)])
    values[, at] <- read_run(x, run)[, columns[at] - run[1L] + 1]
  }
  values
}

# Columns that are not far apart are read together with those between them: what a file has of a column is seldom in one
# piece, but some columns' pieces are side by side.
RUN_GAP <- 8

# The runs of columns to read so that all are among them, none much more than a block.
column_runs <- function(columns, n_obs) {
  columns <- sort(unique(columns))
  width <- max(1, BLOCK_VALUES %/% max(1, n_obs))
  new_run <- c(TRUE, diff(columns) > RUN_GAP)
  start <- columns[which(new_run)][cumsum(new_run)]
  runs <- split(columns, list(cumsum(new_run), (columns - start) %/% width), drop = TRUE)
  unname(lapply(runs, function(run) run[1L]:run[length(run)]))
}

# Columns side by side.
read_run <- function(x, columns) {
  if (!length(columns)) return(matrix(0, nrow(x), 0L))
  if (inherits(x, "DelayedMatrix")) return(unname(DelayedArray::extract_array(x, list(NULL, as.integer(columns)))))
  if (x$kind == "big.matrix") unname(x$data[, columns, drop = FALSE]) else read_dense(x, columns)
}

# ---- asked by the engine

# Observations, variables, and in what numbers columns are best read: blocks begin at a multiple of this.
ask_size <- function(x) {
  if (inherits(x, "gpuCorFile") && x$kind == "hdf5") check_dataset(x)
  as.numeric(c(dim(x), column_grain(x)))
}

column_grain <- function(x) {
  if (inherits(x, "gpuCorFile")) return(if (x$kind == "hdf5") dense_grain(x) else 1)
  chunk <- if (inherits(x, "DelayedMatrix")) DelayedArray::chunkdim(x)
  if (is.null(chunk)) 1 else chunk[2L]
}

# Columns first to first + n - 1; the text of an error; NULL after an interrupt. Nothing may jump from here.
ask_columns <- function(x, first, n) {
  tryCatch(read_run(x, seq(first, length.out = n)), error = conditionMessage, interrupt = function(condition) NULL)
}
