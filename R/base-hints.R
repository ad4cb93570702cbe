# What was probably meant by an argument or a value that there is not.

# What other packages call the commonest arguments.
OTHER_NAMES <- c(cutoff = "threshold", sparsity = "density", softPower = "power", networkType = "type",
                 corType = "method", nThreads = "threads", n_jobs = "threads", confounds = "covariates",
                 nperm = "n_perm", verbose = "progress", gpu = "backend", maxPOutliers = "options")

# verb: the function that was called with the argument `name`.
refuse_unused <- function(name, verb) {
  if (!nzchar(name)) fail("an unnamed argument is left over")
  known <- setdiff(union(names(formals(verb)), RUN_SETTINGS), c("...", "control"))
  meant <- if (OTHER_NAMES[name] %in% known) OTHER_NAMES[[name]] else nearest(name, known)
  fail("unused argument '", name, "'", if (length(meant)) paste0("; did you mean '", meant, "'?"))
}

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
