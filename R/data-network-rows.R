# Writes a sparse matrix from memory to a file, in blocks of rows.

# Min number of entries in a block, and max number of blocks: each block searches all entries.
BLOCK_ENTRIES <- 2e6
BLOCKS <- 16

# `matrix`: a dgCMatrix or dsCMatrix. Both triangles of the latter are written.
write_network <- function(h5, matrix, block = max(BLOCK_ENTRIES, length(matrix@i) / BLOCKS)) {
  read <- if (is(matrix, "dsCMatrix")) symmetric_rows else general_rows
  last <- 0
  for (end in block_ends(entries_by_row(matrix), block)) {
    rows <- read(matrix, last + 1, end)
    append_rows(h5, rows$lengths, rows$columns, rows$values)
    last <- end
    rm(rows)
    gc(full = FALSE) # otherwise blocks accumulate
  }
  invisible(h5)
}

# The diagonal of a symmetric matrix is counted twice, which is harmless.
entries_by_row <- function(matrix) {
  counts <- as.numeric(tabulate(matrix@i + 1L, nrow(matrix)))
  if (is(matrix, "dsCMatrix")) counts + diff(matrix@p) else counts
}

# Returns the last row of each block.
block_ends <- function(counts, block) {
  if (!length(counts)) return(integer())
  c(which(diff(cumsum(counts) %/% block) > 0), length(counts))
}

# The rows are the columns of the transposed block.
general_rows <- function(matrix, first, last) {
  rows <- Matrix::t(matrix[first:last, , drop = FALSE])
  list(lengths = diff(rows@p), columns = rows@i, values = rows@x)
}

# Row r consists of the stored row r and column r, without counting their diagonal entry twice.
symmetric_rows <- function(matrix, first, last) {
  stored <- methods::new("dgCMatrix", i = matrix@i, p = matrix@p, x = matrix@x, Dim = matrix@Dim) # no copy
  along <- Matrix::t(stored[first:last, , drop = FALSE])
  down <- stored[, first:last, drop = FALSE]
  row <- c(row_numbers(along@p), row_numbers(down@p))
  columns <- c(along@i, down@i)
  keep <- c(rep(TRUE, length(along@i)), down@i != row_numbers(down@p) + (first - 2L))
  order <- order(row, columns, method = "radix")
  order <- order[keep[order]]
  list(lengths = tabulate(row[order], last - first + 1L), columns = columns[order], values = c(along@x, down@x)[order])
}
