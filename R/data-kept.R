# Argument `keep`: which observations of a series stay.

# Returns the indices of the observations to keep, ascending. `what`: a word for several of them, and whose they are.
kept_times <- function(keep, times, what) {
  if (is.null(keep)) return(seq_len(times))
  if (!are_times(keep, times)) {
    fail("'keep' must be a logical value for each of the ", times, " ", what, ", or numbers of these, not ",
         if (is.logical(keep) && !anyNA(keep)) paste(length(keep), "values") else show_value(keep))
  }
  kept <- sort(unique(seq_len(times)[keep]))
  if (length(kept) < 2L) {
    fail("'keep' leaves ", length(kept), " of ", times, " ", what, "; a correlation needs two or more")
  }
  kept
}

are_times <- function(keep, times) {
  if (!is_variables(keep) || anyNA(keep)) return(FALSE)
  if (is.logical(keep)) return(length(keep) == times)
  all(keep == floor(keep)) && all(abs(keep) <= times) && (all(keep > 0) || all(keep < 0))
}
