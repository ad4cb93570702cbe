# Arguments that a function does not have: which was probably meant.

# What other packages and tools call the arguments here.
OTHER_NAMES <- c(cutoff = "threshold", thresh = "threshold", rThreshold = "threshold", cut = "threshold",
                 sparsity = "density", powerVector = "powers", softPower = "power", networkType = "type",
                 RsquaredCut = "r_squared", nBreaks = "breaks", corFnc = "method", corType = "method", type = "method",
                 nThreads = "threads", cores = "threads", ncores = "threads", n_jobs = "threads", mc.cores = "threads",
                 confounds = "covariates", t_r = "tr", B = "n_perm", nperm = "n_perm", top = "k", pvalue = "p.value",
                 pval = "p.value", qvalue = "fdr", p.adjust = "adjust", device = "devices", gpu = "devices",
                 verbose = "progress")

# Whether the names of further arguments are all `known`.
check_names <- function(names, known) {
  unknown <- names[!names %in% known]
  if (!length(unknown)) return(invisible())
  first <- unknown[1L]
  verb <- calling_verb()
  fail(if (nzchar(first)) paste0("there is no '", first, "'", meant(first, verb, known)) else "an argument is unnamed",
       "; further arguments", if (!is.null(verb)) paste0(" of ", verb, "()"), " are ",
       paste0("'", known, "'", collapse = ", "))
}

# The function of the package that the user called, or that stands for it.
calling_verb <- function() {
  space <- topenv()
  verbs <- mget(intersect(getNamespaceExports(space), ls(space)), space, mode = "function", ifnotfound = list(NULL))
  for (frame in rev(seq_len(sys.nframe()))) {
    found <- vapply(verbs, identical, NA, sys.function(frame))
    if (any(found)) return(names(verbs)[found][1L])
  }
  NULL
}

own_arguments <- function(verb) setdiff(names(formals(get(verb, topenv()))), c("...", "x", "y"))

# In words, what somebody may have meant by `name`; nothing if that is not known.
meant <- function(name, verb, known) {
  here <- c(if (!is.null(verb)) own_arguments(verb), known)
  other <- OTHER_NAMES[[match(name, names(OTHER_NAMES), nomatch = 1L)]]
  if (name %in% names(OTHER_NAMES) && other %in% here) return(paste0(", which is '", other, "' here"))
  near <- nearest(name, here)
  if (length(near)) return(paste0("; did you mean '", near, "'?"))
  having <- having_argument(name)
  if (!length(having)) return(NULL)
  paste0(", which ", paste0(having, "()", collapse = ", "), if (length(having) > 1L) " have" else " has")
}

# The most similar of `names`, if it is similar: a third of the letters may differ.
nearest <- function(name, names) {
  distance <- utils::adist(name, names, ignore.case = TRUE)[1L, ]
  begins <- startsWith(tolower(names), tolower(name)) | startsWith(tolower(name), tolower(names))
  distance[begins & nchar(names) > 2L] <- 1
  near <- which.min(distance)
  if (length(near) && distance[near] <= max(1, nchar(name) %/% 3)) names[near]
}

having_argument <- function(name) {
  verbs <- c("gpuCor", "gpuCorNetwork", "gpuConnectivity", "gpuCorTest", "gpuCorWindows", "gpuCorCompare", "pickPower")
  verbs[vapply(verbs, function(verb) name %in% own_arguments(verb), NA)]
}

# A single number in the place of a second matrix: somebody meant a threshold.
check_not_threshold <- function(x, y) {
  if (!is_number(y) || is_subjects(x) || NROW(x) == 1L) return(invisible())
  fail("'y' is ", show_value(y), ", a single number, and would be a second matrix; for a threshold write threshold = ",
       show_value(y))
}
