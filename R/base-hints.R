# What was probably meant by an argument or a value that there is not.

# The most similar of `names`, if at most a third of the letters differ.
nearest <- function(name, names) {
  distance <- utils::adist(name, names, ignore.case = TRUE)[1L, ]
  distance[startsWith(tolower(names), tolower(name))] <- 1
  near <- which.min(distance)
  if (length(near) && distance[near] <= max(1, nchar(name) %/% 3)) names[near]
}

# The same of a value.
meant_value <- function(value, choices) {
  if (!is.character(value) || length(value) != 1L || is.na(value) || nchar(value) < 2L) return(NULL)
  near <- nearest(value, choices)
  if (length(near)) paste0("; did you mean \"", near, "\"?")
}
