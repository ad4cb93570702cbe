# Indices of the pairs of n columns, in the order of a dist.

pairs_of <- function(n) n * (n - 1) / 2

# Returns a matrix with the two variables of each pair at positions `at`.
variables_at <- function(at, n) {
  if (!length(at)) return(matrix(numeric(), 0L, 2L))
  .Call(r_triangle_index, as.double(at), as.double(n), FALSE)
}

# Returns the positions of pairs of different variables i and j.
positions_of <- function(i, j, n) .Call(r_triangle_position, as.double(i), as.double(j), as.double(n), FALSE)

# Returns list(from, to): the variables of all pairs.
all_pairs <- function(n) {
  if (n < 2) return(list(from = integer(), to = integer()))
  others <- as.integer(n) - seq_len(n - 1)
  list(from = rep.int(seq_len(n - 1), others), to = sequence(others, from = 2:n))
}
