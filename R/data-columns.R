# Access to columns of any kind of data. R itself computes in blocks of columns: x is never copied as a whole.

pick_columns <- function(m, columns) {
  if (is_combined(m)) return(pick_subjects(m, columns))
  if (is_outside(m)) read_columns(m, columns) else m[, columns, drop = FALSE]
}

pick_subjects <- function(m, columns) {
  m$data <- lapply(m$data, pick_columns, columns)
  m$names <- m$names[columns]
  m
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
