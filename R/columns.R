# What R itself computes of the columns of x goes over them block by block, through these functions and no others:
# x need not be in memory twice, nor, but for what the engine reads, once.

# Values of a block, but for a single column of more.
BLOCK_VALUES <- 2^22

# Some columns as x has them, for the engine.
pick_columns <- function(m, columns) if (is_outside(m)) read_columns(m, columns) else m[, columns, drop = FALSE]

# The same as an ordinary matrix without names; rows: which observations, NULL for all.
dense_columns <- function(m, columns, rows = NULL) {
  block <- unname(as.matrix(pick_columns(m, columns)))
  if (is.null(rows)) block else block[rows, , drop = FALSE]
}

# The numbers of the columns of each block.
block_columns <- function(m) {
  width <- max(1, BLOCK_VALUES %/% max(1, nrow(m)))
  first <- seq(1, by = width, length.out = ceiling(ncol(m) / width))
  lapply(first, function(from) from:min(from + width - 1, ncol(m)))
}

# f of each block, in a list.
column_blocks <- function(m, f, rows = NULL) {
  lapply(block_columns(m), function(columns) f(dense_columns(m, columns, rows)))
}

# f of each column, numbers like `value`, as a matrix with a column for each.
column_values <- function(m, f, value, rows = NULL) {
  values <- column_blocks(m, function(block) vapply(seq_len(ncol(block)), function(j) f(block[, j]), value), rows)
  matrix(as.numeric(unlist(values)), length(value), ncol(m), dimnames = list(names(value), NULL))
}

has_missing <- function(m) any(unlist(column_blocks(m, anyNA)))

# Which observations miss no value in any of the matrices.
complete_rows <- function(matrices) {
  complete <- rep(TRUE, nrow(matrices[[1L]]))
  for (m in matrices) {
    for (present in column_blocks(m, function(block) rowSums(is.na(block)) == 0)) complete <- complete & present
  }
  which(complete)
}

# f of pairs of columns, i of x and j of y, in pieces: it gets two matrices with a column for each pair of the piece.
# What it returns, a matrix with a column for each pair, is put together.
pair_pieces <- function(x, y, i, j, f) {
  piece <- max(1, BLOCK_VALUES %/% max(1, nrow(x)))
  first <- seq(1, by = piece, length.out = ceiling(length(i) / piece))
  do.call(cbind, lapply(first, function(from) {
    at <- from:min(from + piece - 1, length(i))
    f(dense_columns(x, i[at]), dense_columns(y, j[at]))
  }))
}
