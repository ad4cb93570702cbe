# Suggestions for misspelled arguments and values.

# Returns the most similar of `names`, or NULL if more than a third of the letters differ, or `name` is a single letter.
nearest <- function(name, names) {
  if (nchar(name) < 2L || !length(names)) return(NULL)
  distance <- utils::adist(name, names, ignore.case = TRUE)[1L, ]
  distance[startsWith(tolower(names), tolower(name))] <- 1
  near <- which.min(distance)
  if (length(near) && distance[near] <= max(1, nchar(name) %/% 3)) names[near]
}

# Returns the end of a message that suggests one of `choices` for a misspelled value, or NULL.
meant_value <- function(value, choices) {
  if (!is.character(value) || length(value) != 1L || is.na(value)) return(NULL)
  near <- nearest(value, choices)
  if (length(near)) paste0("; did you mean \"", near, "\"?")
}
