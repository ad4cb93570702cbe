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

# Stops if names are permuted, and warns if they differ. If one side alone has row numbers, warns if these are not
# ascending, and stops if they are 1 to n and x has no names. `own`: the argument `name`; `observations`: from
# observations_of(x), or list(are_compared = TRUE) if the names have been compared before.
check_observations <- function(own, name, observations) {
  if (isTRUE(observations$are_compared)) return(invisible())
  names <- observations$names
  theirs <- observation_names(own)
  are_numbered <- are_row_numbers(theirs)
  if (are_numbered != are_row_numbers(names)) {
    # Values without rows, such as a column of a data frame, were probably moved with x.
    if (!are_numbered && is.null(theirs) && !is.data.frame(own)) return(invisible())
    numbers <- if (are_numbered) theirs else names
    others <- if (are_numbered) names else theirs
    at <- which(diff(as.numeric(numbers)) < 0)[1L] # the rows were moved, as by own[order(own$age), ]
    if (is.na(at)) return(invisible())
    sides <- if (are_numbered) c(name, "x") else c("x", name)
    text <- paste0("'", sides[1L], "' has rows in another order than their numbers (\"", numbers[at], "\" is before \"",
                   numbers[at + 1L], "\"), and '", sides[2L], "' has no ", if (is.null(others)) "names" else "numbers",
                   " of observations to compare; name both alike, or remove these names if '", sides[2L],
                   "' has this order")
    if (are_numbered && is.null(names) && setequal(numbers, seq_along(numbers))) fail(text)
    return(warn("gpuCorObservations", text))
  }
  if (is.null(names) || length(theirs) != length(names) || identical(theirs, names)) return(invisible())
  is_permuted <- identical(sort(theirs, na.last = TRUE), sort(names, na.last = TRUE))
  at <- which(theirs != names | is.na(theirs) != is.na(names))[1L]
  first <- paste0(" (number ", at, " is \"", theirs[at], "\", and \"", names[at], "\" in 'x'); ")
  if (is_permuted) {
    fail("'", name, "' has the observations of 'x' in another order", first, "reorder it by name, or remove the names")
  }
  warn("gpuCorObservations", "'", name, "' has other names of observations than 'x'", first,
       "give both the same observations, or remove the names")
}

are_row_numbers <- function(names) !is.null(names) && all(grepl("^[0-9]*$", names))

# Returns a factor with the label of each observation of x. `labels`: a vector or factor, or the name of a column of an
# experiment's table of samples.
labels_of_observations <- function(labels, name, x) {
  if (is_experiment(x) && is_one_string(labels)) labels <- sample_columns(x, labels, name)[[1L]]
  check_type(labels, name, is.atomic(labels) && !is.null(labels) && is.null(dim(labels)),
             "a vector or factor with a label for each observation")
  check_as_many(length(labels), name, "label", if (is_experiment(x)) ncol(x) else NROW(x))
  check_observations(labels, name, observations_of(x))
  droplevels(as.factor(labels))
}
