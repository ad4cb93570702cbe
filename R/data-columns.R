# What R itself computes of the columns of x goes over them block by block, through these functions and no others:
# x need not be in memory twice, nor, but for what the engine reads, once.

# Values of a block, but for a single column of more.
BLOCK_VALUES <- 2^22

# Some columns as x has them, for the engine.
pick_columns <- function(m, columns) {
  if (is_combined(m)) return(pick_subjects(m, columns))
  if (is_outside(m)) read_columns(m, columns) else m[, columns, drop = FALSE]
}

# The same as an ordinary matrix without names.
dense_columns <- function(m, columns) unname(as.matrix(pick_columns(m, columns)))

# The numbers of the columns of each block.
block_columns <- function(m) {
  width <- max(1, BLOCK_VALUES %/% max(1, nrow(m)))
  first <- seq(1, by = width, length.out = ceiling(ncol(m) / width))
  lapply(first, function(from) from:min(from + width - 1, ncol(m)))
}

# f of each block, in a list.
column_blocks <- function(m, f) lapply(block_columns(m), function(columns) f(dense_columns(m, columns)))

has_missing <- function(m) any(unlist(column_blocks(m, anyNA)))

is_subjects <- function(x) is.function(x) || (is.list(x) && !is.object(x))

is_combined <- function(x) inherits(x, "gpuCorSubjects")

# The same of some columns.
pick_subjects <- function(m, columns) {
  m$data <- lapply(m$data, pick_columns, columns)
  m$names <- m$names[columns]
  m
}
