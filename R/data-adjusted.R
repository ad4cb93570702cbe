# What changed the coefficients of a result, beside the data and the measure: covariates, a band, weights, options,
# subjects. Results carry it as attribute or slot "adjusted", and their headers print it.

# Returns the adjustment of one design: NULL if nothing changed the coefficients, otherwise a list of those that apply:
#   covariates (number of regressors), bandpass and tr, graded (weights other than 0 and 1), zeros (observations of
#   weight 0), effective (how many observations the weighted ones are worth), options (named texts), lost (degrees of
#   freedom that regression takes), df (a number or "bartlett").
# weights: as check_weights() returns them; regressors: as regressors_of() does.
adjustment_of_design <- function(asked, method, regressors, weights, lost, effective) {
  options <- changed_options(asked, method)
  found <- list(covariates = ncol(regressors$covariates), bandpass = asked$bandpass, tr = asked$tr,
                graded = if (any(weights > 0 & weights < 1)) TRUE, zeros = if (any(weights == 0)) sum(weights == 0),
                effective = effective, options = if (length(options)) options, lost = if (lost > 0) lost, df = asked$df)
  found <- Filter(Negate(is.null), found)
  if (length(found)) found
}

# Options of the measure with another value than the default, as texts.
changed_options <- function(asked, method) {
  known <- measure_of(method)$options[[1L]]
  given <- asked[intersect(names(asked), names(known))]
  changed <- vapply(names(given), FUN.VALUE = NA, function(name) {
    check_option(given[[name]], name, known[[name]]) != known[[name]]$value
  })
  vapply(given[changed], format, "")
}

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
