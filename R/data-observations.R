# Whatever is given beside x (y, weights, covariates, data, traits) must have its observations in the order of x. This
# is checked by the names of observations, if both have them.

# Returns list(names); names is NULL if x has none.
observations_of <- function(x) list(names = observation_names(x))

# Automatic row names of a data frame do not count as names.
observation_names <- function(x) {
  names <- if (is_experiment(x)) {
    colnames(x)
  } else if (is.null(dim(x))) {
    if (is.atomic(x)) names(x)
  } else if (!is.data.frame(x) || .row_names_info(x) > 0L) {
    rownames(x)
  }
  if (all(is.na(names) | !nzchar(names))) NULL else names
}

# Removes names, for a function that compares them again. Data outside memory keep them.
without_observation_names <- function(x) {
  if (is.null(dim(x))) return(unname(x))
  if (is.matrix(x)) rownames(x) <- NULL
  x
}

# Stops if names are permuted, and warns if they differ. `own`: the argument `name`; `observations`: from
# observations_of(x), or list(are_compared = TRUE) if the names have been compared before.
check_observations <- function(own, name, observations) {
  if (isTRUE(observations$are_compared)) return(invisible())
  names <- observations$names
  theirs <- observation_names(own)
  if (is.null(names)) return(check_not_moved(theirs, name))
  if (is.null(theirs) || length(theirs) != length(names) || identical(theirs, names)) return(invisible())
  is_permuted <- identical(sort(theirs, na.last = TRUE), sort(names, na.last = TRUE))
  if (!is_permuted && are_numbers(theirs) != are_numbers(names)) return(invisible()) # row numbers of a data frame
  at <- which(theirs != names | is.na(theirs) != is.na(names))[1L]
  first <- paste0(" (number ", at, " is \"", theirs[at], "\", and \"", names[at], "\" in 'x'); ")
  if (is_permuted) {
    fail("'", name, "' has the observations of 'x' in another order", first, "reorder it by name, or remove the names")
  }
  warn("gpuCorObservations", "'", name, "' has other names of observations than 'x'", first,
       "give both the same observations, or remove the names")
}

# Stops if names are the numbers of rows in another order. The rows were then moved, as by own[order(own$age), ], and x
# has no names to compare.
check_not_moved <- function(names, name) {
  if (!any(names != seq_along(names)) || !setequal(names, seq_along(names))) return(invisible())
  at <- which(names != seq_along(names))[1L]
  fail("'", name, "' has rows in another order than their numbers (number ", at, " is \"", names[at], "\"), and 'x' ",
       "has no names of observations to compare; name those of both, or remove these names if 'x' has this order")
}
