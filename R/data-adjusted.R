# What changed the coefficients of a result, beside the data and the measure: covariates, a band, weights, options,
# subjects. Results carry it as attribute or slot "adjusted", and their headers print it.

# Returns the adjustment of a task with data x, of one subject or of many.
adjustment_of <- function(settings, x) {
  if (is_combined(x)) adjustment_of_subjects(x) else settings$design$adjusted
}

# As adjustment_of_design(), with numbers from the smallest to the largest of all subjects, and
#   subjects (their number), combined (how, unless groups are compared), left (degrees of freedom of a subject where
#   they are not n - 2).
adjustment_of_subjects <- function(x) {
  own <- Filter(Negate(is.null), lapply(x$designs, `[[`, "adjusted"))
  found <- if (length(own)) own[[1L]] else list()
  for (name in c("covariates", "zeros", "lost", "effective")) {
    found[[name]] <- range_if_any(unlist(lapply(own, `[[`, name)))
  }
  if (length(c(found$lost, found$effective)) && !is_random(x)) found$left <- range_if_any(x$counted$n - 2)
  c(found, list(subjects = length(x$data), combined = if (is.null(x$counted$groups)) combined_words(x)))
}

range_if_any <- function(values) if (length(values)) unique(range(values))

combined_words <- function(x) {
  switch(x$name, mean = "by the mean", fisher = "by Fisher's z", min = "by the minimum",
         quantile = paste("by the", format(x$share), "quantile"))
}
