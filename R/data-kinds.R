# The kinds of data that a call can have.

is_variables <- function(x) is_numeric(x) || is.logical(x)

is_sparse <- function(x) isS4(x) && is(x, "sparseMatrix")

is_network <- function(x) isS4(x) && is(x, "gpuNetwork")

# Returns TRUE for data that are read in blocks, by R (data-outside.R) or by the engine.
is_outside <- function(x) inherits(x, c("gpuCorFile", "DelayedMatrix", "big.matrix"))

is_matrix <- function(x) is.matrix(x) || is_outside(x) || (isS4(x) && is(x, "dgCMatrix"))

# is_subjects() is TRUE for the user's data of several subjects, is_combined() for their form in the engine.
is_subjects <- function(x) is.function(x) || (is.list(x) && !is.object(x))

is_combined <- function(x) inherits(x, "gpuCorSubjects")

# ---- blocks

# Max number of values in a block of several columns.
BLOCK_VALUES <- 2^22

# Returns the range of column indices of each block.
column_ranges <- function(n_col, n_row) {
  width <- max(1, BLOCK_VALUES %/% max(1, n_row))
  first <- seq(1, by = width, length.out = ceiling(n_col / width))
  lapply(first, function(from) from:min(from + width - 1, n_col))
}

# Returns the row of each entry in compressed rows that start at p (or the column, in compressed columns).
row_numbers <- function(p) rep.int(seq_len(length(p) - 1L), diff(p))
