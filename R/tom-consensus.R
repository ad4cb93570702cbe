# Topological overlap of several data sets, combined pair by pair.

# list(how, share), or NULL for one data set.
check_consensus <- function(x, combine, probs, output) {
  if (!is_subjects(x)) {
    if (!is.null(combine)) fail("'combine' says how several data sets are combined, and 'x' is one; leave it out")
    return(NULL)
  }
  if (is.function(x)) fail("'x' must be a list of data sets, not a function")
  if (!length(x)) fail("'x' is a list without data sets")
  if (is.null(combine)) fail("'x' is a list of ", length(x), "; say how to combine: \"min\", \"mean\" or \"quantile\"")
  if (output == "network") fail("output = \"network\" is of one data set; with 'combine' take \"dist\" or \"matrix\"")
  combine <- check_choice(combine, c("min", "mean", "quantile"), "combine")
  if (combine != "quantile" && !is.null(probs)) fail("'probs' has a meaning with combine = \"quantile\" only")
  if (combine == "quantile" && is.null(probs)) fail("combine = \"quantile\" takes 'probs', a number in [0, 1]")
  if (combine == "quantile") probs <- check_share(probs, "probs", zero = TRUE)
  list(how = combine, share = if (combine == "min") 0 else probs)
}

check_same_variables <- function(sets) {
  first <- sets[[1L]]
  for (s in seq_along(sets)[-1L]) {
    if (ncol(sets[[s]]) != ncol(first)) {
      fail("data set ", s, " has ", ncol(sets[[s]]), " columns, and the first one ", ncol(first))
    }
    if (!identical(colnames(sets[[s]]), colnames(first))) {
      fail("data set ", s, " has other column names than the first one; bring the columns into the same order")
    }
  }
}

consensus_overlap <- function(x, how, rule, method, use, output, backend, call, ...) {
  settings <- settings_of(backend, ...)
  sets <- lapply(x, function(set) check_input(set, NULL, check_use(use), method, settings$assay)$x)
  check_same_variables(sets)
  overlaps <- lapply(seq_along(sets), function(s) {
    tom_of_all(sets[[s]], rule, method, use, "dist", at_pass(settings, s, length(sets)), call)
  })
  attributes <- attributes(overlaps[[1L]])
  attributes$n_obs <- sum(vapply(overlaps, attr, 0, "n_obs"))
  tom <- checked(.Call(r_combine_overlaps, overlaps, how$share, attr(overlaps[[1L]], "Size"), attributes,
                       settings$threads))
  if (output == "matrix") as.matrix(tom) else tom
}
