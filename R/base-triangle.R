# Pairs of n columns by their numbers.

pairs_of <- function(n) n * (n - 1) / 2
