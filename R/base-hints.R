# Suggestions for misspelled arguments and values, and for names that other packages use.

# Returns the most similar of `names`, or NULL if more than a third of the letters differ, or `name` is a single letter.
nearest <- function(name, names) {
  if (!length(names) || !all(validEnc(c(name, names))) || nchar(name) < 2L) return(NULL)
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

# Names that other packages use for common arguments. If a function has several of the arguments, the first is meant.
OTHER_NAMES <- c(cutoff = "threshold", sparsity = "density", sparsity = "fraction", softPower = "power",
                 networkType = "type", powerVector = "power", RsquaredCut = "r_squared", nBreaks = "breaks",
                 corType = "method", corFnc = "method", nThreads = "threads", n_jobs = "threads",
                 confounds = "covariates", nperm = "n_perm", verbose = "progress", gpu = "backend",
                 high_pass = "bandpass", low_pass = "bandpass", t_r = "tr", censor = "weights", censor = "keep",
                 sample_mask = "weights", sample_mask = "keep", groups = "design", group = "design",
                 n_components = "n", zlim = "from")

# Returns the argument, one of `known`, that other packages call `name`; NA if there is none.
other_name <- function(name, known) intersect(OTHER_NAMES[names(OTHER_NAMES) == name], known)[1L]
