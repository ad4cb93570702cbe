# Whatever has observations beside x (y, weights, covariates, data, traits) must have them in the order of x. Names of
# observations, where both sides have them, show whether that is so.

# The observations of x: list(names, side). names: NULL if there are none. side: where R keeps them, "row", "col", or ""
# for a vector.
observations_of <- function(x) list(names = observation_names(x), side = observation_side(x))

observation_side <- function(x) if (is_experiment(x)) "col" else if (is.null(dim(x))) "" else "row"

# NULL: none. Automatic row names of a data frame are none.
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

# The same values, for a function that compares names again. Data that are not in memory keep theirs.
without_observation_names <- function(x) {
  if (is.null(dim(x))) return(unname(x))
  if (is.matrix(x)) rownames(x) <- NULL
  x
}

# Names in another order are an error, other names a warning. own: the argument called `name`, as the user gave it;
# observations: those of x, or NULL.
check_observations <- function(own, name, observations) {
  names <- observations$names
  theirs <- if (!is.null(names)) observation_names(own)
  if (is.null(theirs) || length(theirs) != length(names) || identical(theirs, names)) return(invisible())
  is_permuted <- identical(sort(theirs, na.last = TRUE), sort(names, na.last = TRUE))
  # The numbers of rows of a data frame are no names of samples.
  if (!is_permuted && are_numbers(theirs) != are_numbers(names)) return(invisible())
  at <- which(theirs != names | is.na(theirs) != is.na(names))[1L]
  first <- paste0("number ", at, " is \"", theirs[at], "\" there and \"", names[at], "\" in 'x'; ")
  if (is_permuted) {
    fail("'", name, "' has the observations of 'x' in another order: ", first,
         order_hint(own, name, observations))
  }
  warn("gpuCorObservations", "'", name, "' has other names of observations than 'x': ", first,
       common_hint(own, name, observations))
}

are_numbers <- function(names) all(grepl("^[0-9]*$", names))

# What to type so that the order is that of x.
order_hint <- function(own, name, observations) {
  side <- observation_side(own)
  if (anyDuplicated(observations$names)) {
    return(paste0("names repeat, so the order is not known by them: make them unique, or if they are no names of ",
                  "observations, ", code_of_names(name, side), " <- NULL"))
  }
  paste0("give ", code_of_index(name, side, code_of_names("x", observations$side), ncol(own)), ", or ",
         code_of_names(name, side), " <- NULL if their order is right as it is")
}

# What to type so that both have the same observations.
common_hint <- function(own, name, observations) {
  side <- observation_side(own)
  if (!any(observation_names(own) %in% observations$names)) {
    return(paste0(code_of_names(name, side), " <- NULL ends this warning if they are the same observations"))
  }
  paste0("give ", code_of_index(name, side, "both", ncol(own)), " and ",
         code_of_index("x", observations$side, "both"), ", with both <- intersect(",
         code_of_names("x", observations$side), ", ", code_of_names(name, side), ")")
}

code_of_names <- function(name, side) paste0(side, "names(", name, ")")

# R code that picks observations; a single column stays one.
code_of_index <- function(name, side, index, columns = NULL) {
  where <- switch(side, row = paste0(index, ", "), col = paste0(", ", index), index)
  paste0(name, "[", where, if (side == "row" && identical(as.numeric(columns), 1)) ", drop = FALSE", "]")
}
