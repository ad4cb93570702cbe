# The rows of a sparse matrix that is in memory, for a file: block after block.

# A block of rows has 1/16 of a matrix's entries or these, whichever are more: to
# find a block's entries, all of the matrix are looked through.
BLOCK_ENTRIES <- 2e6
BLOCKS <- 16

# All rows of a dgCMatrix or dsCMatrix, the symmetric one with both triangles.
write_network <- function(h5, matrix, block = max(BLOCK_ENTRIES, length(matrix@i) / BLOCKS)) {
  read <- if (is(matrix, "dsCMatrix")) symmetric_rows else general_rows
  last <- 0
  for (end in block_ends(entries_by_row(matrix), block)) {
    rows <- read(matrix, last + 1, end)
    append_rows(h5, rows$lengths, rows$columns, rows$values)
    last <- end
    rm(rows)
    gc(full = FALSE) # or blocks pile up until R sees fit
  }
  invisible(h5)
}

# Entries in each row; in those of a symmetric matrix the diagonal's is counted twice.
entries_by_row <- function(matrix) {
  n_row <- nrow(matrix)
  counts <- numeric(n_row)
  from <- 0
  while (from < length(matrix@i)) { # by pieces: i + 1 is a copy
    to <- min(from + BLOCK_ENTRIES, length(matrix@i))
    counts <- counts + tabulate(matrix@i[(from + 1):to] + 1L, n_row)
    from <- to
    gc(full = FALSE)
  }
  if (is(matrix, "dsCMatrix")) counts + diff(matrix@p) else counts
}

# The last rows of blocks of about that many entries.
block_ends <- function(counts, block) {
  if (!length(counts)) return(integer())
  number <- cumsum(counts) %/% block
  c(which(diff(number) > 0), length(counts))
}

# Rows first to last; the columns of the transpose are the rows.
general_rows <- function(matrix, first, last) {
  rows <- Matrix::t(matrix[first:last, , drop = FALSE])
  list(lengths = diff(rows@p), columns = rows@i, values = rows@x)
}

# The same of both triangles. Row r is what is stored in column r, and what is
# stored in row r: with the upper triangle in this order, else the other way round.
# The diagonal is in both.
symmetric_rows <- function(matrix, first, last) {
  stored <- methods::new("dgCMatrix", i = matrix@i, p = matrix@p, x = matrix@x, Dim = matrix@Dim) # no copy
  along <- general_rows(stored, first, last)
  down <- off_diagonal(stored, first, last)
  if (matrix@uplo == "U") interleave(down, along) else interleave(along, down)
}

# Columns first to last without the diagonal.
off_diagonal <- function(matrix, first, last) {
  ends <- matrix@p[first:(last + 1)]
  entries <- seq.int(ends[1L] + 1, length.out = ends[length(ends)] - ends[1L])
  rows <- matrix@i[entries]
  column <- row_numbers(ends)
  keep <- which(rows != column + (first - 2L))
  list(lengths = tabulate(column[keep], length(ends) - 1L), columns = rows[keep], values = matrix@x[entries[keep]])
}

# Rows that have the entries of a, then those of b.
interleave <- function(a, b) {
  at_a <- seq_along(a$columns) + rep(cumsum(b$lengths) - b$lengths, a$lengths)
  at_b <- seq_along(b$columns) + rep(cumsum(a$lengths), b$lengths)
  columns <- integer(length(at_a) + length(at_b))
  values <- numeric(length(columns))
  columns[at_a] <- a$columns
  columns[at_b] <- b$columns
  values[at_a] <- a$values
  values[at_b] <- b$values
  list(lengths = a$lengths + b$lengths, columns = columns, values = values)
}

# The row of each entry of compressed rows that begin at p; of compressed columns the column.
row_numbers <- function(p) rep.int(seq_len(length(p) - 1L), diff(p))
