# What the data of a call can be.

is_variables <- function(x) is.numeric(x) || is.logical(x)

is_sparse <- function(x) isS4(x) && is(x, "sparseMatrix")

is_network <- function(x) isS4(x) && is(x, "gpuNetwork")

# Data that are read block by block, in R (data-outside.R) or by the engine.
is_outside <- function(x) inherits(x, c("gpuCorFile", "DelayedMatrix", "big.matrix"))

is_matrix <- function(x) is.matrix(x) || is_outside(x) || (isS4(x) && is(x, "dgCMatrix"))

# Several subjects' data as the user gives them, and as the engine gets them.
is_subjects <- function(x) is.function(x) || (is.list(x) && !is.object(x))

is_combined <- function(x) inherits(x, "gpuCorSubjects")

# ---- blocks

# Max. number of values of a block, unless it is a single column.
BLOCK_VALUES <- 2^22

# Ranges of column numbers, each of a block.
column_ranges <- function(n_col, n_row) {
  width <- max(1, BLOCK_VALUES %/% max(1, n_row))
  first <- seq(1, by = width, length.out = ceiling(n_col / width))
  lapply(first, function(from) from:min(from + width - 1, n_col))
}

# The row of each entry of a sparse matrix in compressed rows that start at p (or the column, in compressed columns).
row_numbers <- function(p) rep.int(seq_len(length(p) - 1L), diff(p))
