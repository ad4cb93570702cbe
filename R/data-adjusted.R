# The adjustment that affects a result's coefficients: covariates, a band, weights, options, subjects. It is the
# attribute or slot "adjusted" of results, and their headers print it.

# Returns the adjustment of a run: the list of adjustment_of_design(), with further elements. Those of
# several subjects are lioness (the sample of a single-sample network); or ranges over all subjects, and subjects (their
# number), combined (how, unless groups are compared), left (degrees of freedom of a subject, if not n - 2).
adjustment_of <- function(run) {
  settings <- run$settings
  x <- run$x
  if (!is_combined(x)) {
    return(c(settings$design$adjusted, if (!is.null(settings$information)) list(normalize = "clr"),
             if (!is.null(settings$lag)) list(lag = settings$lag),
             if (!is.null(settings$max_t)) list(max_t = settings$max_t)))
  }
  if (!is.null(x$lioness)) return(c(x$designs[[1L]]$adjusted, list(lioness = x$lioness$sample)))
  own <- Filter(Negate(is.null), lapply(x$designs, `[[`, "adjusted"))
  found <- if (length(own)) own[[1L]] else list()
  for (name in c("covariates", "runs", "zeros", "lost", "effective", "shrinkage")) {
    found[[name]] <- range_if_any(unlist(lapply(own, `[[`, name)))
  }
  if (length(c(found$lost, found$effective)) && !is_random(x)) found$left <- range_if_any(x$counted$n - 2)
  is_one_value <- x$n_first == length(x$data) && is.null(x$model)
  c(found, list(subjects = length(x$data) / x$sessions, combined = if (is_one_value) combined_words(x)))
}

range_if_any <- function(values) if (length(values)) unique(range(values))

combined_words <- function(x) {
  switch(x$name, mean = "by the mean", fisher = "by Fisher's z", min = "by the minimum",
         quantile = paste("by the", format(x$level), "quantile"),
         fraction = paste("by the fraction above", format(x$level)), icc2 = "by ICC(2,1) of their sessions",
         icc3 = "by ICC(3,1) of their sessions", t = "by Student's t", sd = "by the standard deviation",
         argmax = "by which is the largest")
}
