# Two tiers of tests. Quick, the default: every capability, every definition, boundary sizes, in under three minutes on
# two cores. Full, where the environment variable GPUCOR_TESTS is "full", as `make check` sets it: more data, every step
# of a walk over failures, what needs several processes or much time.

full_tier <- function() identical(Sys.getenv("GPUCOR_TESTS"), "full")

# Skips the rest of the test in the quick tier.
skip_unless_full <- function() skip_if_not(full_tier(), "GPUCOR_TESTS is not \"full\"")

# Rows of combinations that cover every combination of any two factors (of any `strength`) at least once, as a data
# frame. ...: the levels of each factor, by name. The rows are the same at every call.
covering <- function(..., strength = 2L) {
  factors <- list(...)
  n_levels <- lengths(factors)
  sets <- utils::combn(length(factors), min(strength, length(factors)), simplify = FALSE)
  open <- lapply(sets, function(set) array(TRUE, n_levels[set])) # combinations that no row has yet
  gain <- function(row) sum(mapply(function(set, left) left[matrix(row[set], 1)], sets, open))
  state <- 1
  random_row <- function() {
    vapply(n_levels, function(n) {
      state <<- (16807 * state) %% 2147483647
      1 + state %% n
    }, 0)
  }
  rows <- list()
  while (any(unlist(open))) {
    # A row with the first open combination, of 20 the one that covers most.
    s <- which(vapply(open, any, NA))[1]
    first <- arrayInd(which(open[[s]])[1], dim(open[[s]]))
    tries <- lapply(seq_len(20), function(try) replace(random_row(), sets[[s]], first))
    row <- tries[[which.max(vapply(tries, gain, 0))]]
    open <- mapply(function(set, left) replace(left, matrix(row[set], 1), FALSE), sets, open, SIMPLIFY = FALSE)
    rows <- c(rows, list(row))
  }
  index <- do.call(rbind, rows)
  columns <- lapply(seq_along(factors), function(f) factors[[f]][index[, f]])
  structure(columns, names = names(factors), class = "data.frame", row.names = seq_len(nrow(index)))
}
