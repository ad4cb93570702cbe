# Access to columns of any kind of data. R itself computes in blocks of columns: x is never copied as a whole.

pick_columns <- function(m, columns) {
  if (is_combined(m)) {
    m$data <- lapply(m$data, pick_columns, columns)
    m$names <- m$names[columns]
    return(m)
  }
  if (is_outside(m)) read_columns(m, columns) else m[, columns, drop = FALSE]
}

# Returns some columns as an ordinary matrix without names.
dense_columns <- function(m, columns) unname(as.matrix(pick_columns(m, columns)))

# Returns a list of the column indices of each block.
block_columns <- function(m) column_ranges(ncol(m), nrow(m))

# Returns a list of f(block) for each block.
column_blocks <- function(m, f) lapply(block_columns(m), function(columns) f(dense_columns(m, columns)))

has_missing <- function(m) any(unlist(column_blocks(m, anyNA)))

# ---- a sample of the columns

# Returns `count` of the indices 1, ..., n at equal distances, or all.
spread_over <- function(n, count) unique(round(seq(1, n, length.out = count)))

# Returns column indices, or NULL for all. Multiples of the golden ratio, modulo 1, are spread evenly and follow no
# pattern of the columns. No column appears twice, as their min distance is a third of the mean.
sampled_columns <- function(m, size) {
  if (is.null(m) || size == ncol(m)) return(NULL)
  floor((seq_len(size) * (sqrt(5) - 1) / 2) %% 1 * ncol(m)) + 1
}

sample_columns <- function(m, size) {
  columns <- sampled_columns(m, size)
  if (is.null(columns)) m else pick_columns(m, columns)
}

# ---- data outside memory

# Data that are read in blocks, by R or by the engine (src/r/asked.c). Classes are recognized by name, so that a package
# is loaded only if needed.

# Returns x in a readable form, or stops.
check_outside <- function(x, name) {
  if (inherits(x, "gpuCorFile")) return(if (check_file(x, name)$kind == "sparse") read_sparse(x) else x)
  package <- if (inherits(x, "DelayedMatrix")) "DelayedArray" else "bigmemory"
  need_packages(package, paste0("'", name, "' is a ", class(x)[1L], ", which"))
  words <- paste0("'", name, "' cannot be read: ")
  if (package == "bigmemory") {
    return(with_our_errors(new_file(NULL, "big.matrix", dim(x), dimnames(x), data = x), words))
  }
  type <- with_our_errors(DelayedArray::type(x), words)
  if (type %in% c("double", "integer", "logical")) return(x)
  fail("'", name, "' must be numeric, not a ", class(x)[1L], " of type ", type)
}

# Exchanges observations and variables, if rows can be read.
transposed_outside <- function(x) {
  if (inherits(x, "DelayedMatrix")) return(Matrix::t(x))
  if (inherits(x, "gpuCorFile") && x$kind == "hdf5") return(transposed_file(x))
  what <- if (inherits(x, "gpuCorFile")) paste(x$kind, "gpuCorFile") else class(x)[1L]
  fail("'x' is a ", what, ", which is read by columns, and gpuDist() compares rows; give the transposed data to ",
       "1 - gpuCor(x)")
}

# Reads columns by index, in any order, as an ordinary matrix without names.
read_columns <- function(x, columns) {
  if (inherits(x, "gpuCorFile") && x$kind == "raw") return(.Call(r_file_columns, x, as.integer(columns)))
  ranges <- ranges_to_read(columns, nrow(x))
  if (length(ranges) == 1L && identical(as.numeric(columns), as.numeric(ranges[[1L]]))) return(read_run(x, columns))
  values <- matrix(0, nrow(x), length(columns))
  for (range in ranges) {
    at <- which(columns >= range[1L] & columns <= range[length(range)])
    values[, at] <- read_run(x, range)[, columns[at] - range[1L] + 1]
  }
  values
}

# Max gap between columns that are read together: a chunk of a file often contains parts of several columns.
MAX_GAP <- 8

# Returns ranges of columns that contain the given ones, each of about a block at most.
ranges_to_read <- function(columns, n_obs) {
  columns <- sort(unique(columns))
  width <- max(1, BLOCK_VALUES %/% max(1, n_obs))
  is_first <- c(TRUE, diff(columns) > MAX_GAP)
  first <- columns[which(is_first)][cumsum(is_first)]
  ranges <- split(columns, list(cumsum(is_first), (columns - first) %/% width), drop = TRUE)
  unname(lapply(ranges, function(range) range[1L]:range[length(range)]))
}

read_run <- function(x, columns) {
  if (!length(columns)) return(matrix(0, nrow(x), 0L))
  if (inherits(x, "DelayedMatrix")) {
    read <- with_our_errors(DelayedArray::extract_array(x, list(NULL, as.integer(columns))),
                            "the DelayedMatrix cannot be read: ")
    return(unname(read))
  }
  switch(x$kind,
    big.matrix = unname(with_our_errors(x$data[, columns, drop = FALSE], "the big.matrix cannot be read: ")),
    image = read_image_columns(x, columns),
    read_dense(x, columns)
  )
}

# ---- called by the engine

# Returns the number of observations, of variables, and the grain: blocks of columns start at its multiples.
ask_size <- function(x) {
  grain <- 1
  if (inherits(x, "DelayedMatrix")) grain <- DelayedArray::chunkdim(x)[2L]
  if (inherits(x, "gpuCorFile") && x$kind == "hdf5") {
    check_dataset(x)
    grain <- max(1, x$chunk[if (x$by_rows) 1L else 2L])
  }
  if (inherits(x, "gpuCorFile") && x$kind == "image") check_image_file(x)
  as.numeric(c(dim(x), if (is.null(grain)) 1 else grain))
}

# Returns columns first, ..., first + n - 1; the text of an error; or NULL after an interrupt. Errors must not jump over
# C code.
ask_columns <- function(x, first, n) {
  tryCatch(read_run(x, seq(first, length.out = n)), error = conditionMessage, interrupt = function(condition) NULL)
}
