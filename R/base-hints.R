# Arguments and values that a function does not have: which was probably meant.

# What other packages and tools call the arguments here.
OTHER_NAMES <- c(cutoff = "threshold", thresh = "threshold", rThreshold = "threshold", cut = "threshold",
                 sparsity = "density", powerVector = "powers", softPower = "power", networkType = "type",
                 RsquaredCut = "r_squared", nBreaks = "breaks", corFnc = "method", corType = "method", type = "method",
                 nThreads = "threads", cores = "threads", ncores = "threads", n_jobs = "threads", mc.cores = "threads",
                 confounds = "covariates", t_r = "tr", B = "n_perm", nperm = "n_perm", top = "k", pvalue = "p.value",
                 pval = "p.value", qvalue = "fdr", deviceId = "devices", device_id = "devices", gpu_id = "devices",
                 verbose = "progress", y = "traits")

# And the values.
OTHER_VALUES <- c(gpu = "cuda", nvidia = "cuda", processor = "cpu", tau = "kendall", rho = "spearman",
                  biweight = "bicor", na.omit = "complete.obs")

# What is done here otherwise than by an argument of such a name: words for after the message that there is none.
USE_WAY_OUT <- paste0("; use = \"pairwise.complete.obs\" leaves missing values out pair by pair, and ",
                      "use = \"complete.obs\" every row that has one")
COMPARE_WAY_OUT <- paste0("; with g the group of each row, gpuCorCompare(x[g == 1, ], x[g == 2, ]) compares the ",
                          "correlations of two groups")
ADJUST_WAY_OUT <- paste0("; p.adjust(test$p.value, \"BH\") adjusts the p values of a test afterwards, and ",
                         "gpuCorNetwork(fdr = ) chooses pairs by theirs")

# Patterns of names, an argument that the function has if this is for it, and the words.
ADVICE <- list(
  list("^(absolute|abs|signed|side)$", "mutual",
       "; sign = \"absolute\" (the default), \"positive\" or \"negative\" says of which sign edges are"),
  list("^shards$", "maps", "; gpuCorPlan(verb = \"gpuConnectivity\") cuts the pairs into shards"),
  list("^(p[._]?adj(ust)?([._]?methods?)?|adj(ust)?[._]?methods?)$", "x", ADJUST_WAY_OUT),
  list("^((use|with|on|is)[._]?)?(gpu|cuda|device)$", "devices",
       "; backend = \"cuda\" takes a GPU, and backend = \"cpu\" none; 'devices' says which, where there are several"),
  list("^(na[._]?rm|(rm|remove|skip)[._]?nas?)$", "use", USE_WAY_OUT),
  list("^(type|networkType)$", "mutual",
       paste0("; sign = \"positive\" has edges of positive coefficients only, as signed networks have; the measure is ",
              "'method'")),
  list("^(group(s|ing)?|conditions?)$", "x", COMPARE_WAY_OUT)
)

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

# The function of the package that the user called, which may have called another of them: the outermost one before
# code that is not the package's own.
calling_verb <- function() {
  space <- topenv()
  verbs <- mget(intersect(getNamespaceExports(space), ls(space)), space, mode = "function", ifnotfound = list(NULL))
  verb <- NULL
  for (frame in rev(seq_len(sys.nframe()))) {
    code <- sys.function(frame)
    if (!identical(topenv(environment(code)), space) && !isBaseNamespace(environment(code))) break
    found <- vapply(verbs, identical, NA, code)
    if (any(found)) verb <- names(verbs)[found][1L]
  }
  verb
}

own_arguments <- function(verb) setdiff(names(formals(get(verb, topenv()))), c("...", "x", "y"))

# In words, what somebody may have meant by `name`; nothing if that is not known.
meant <- function(name, verb, known) {
  here <- c(if (!is.null(verb)) own_arguments(verb), known)
  for (advice in ADVICE) {
    if (grepl(advice[[1L]], name, ignore.case = TRUE) && advice[[2L]] %in% c(here, "x")) return(advice[[3L]])
  }
  other <- OTHER_NAMES[[match(name, names(OTHER_NAMES), nomatch = 1L)]]
  if (name %in% names(OTHER_NAMES) && other %in% here) return(paste0(", which is '", other, "' here"))
  having <- having_argument(name) # that is no misspelling
  if (length(having)) {
    return(paste0(", which ", paste0(having, "()", collapse = ", "), if (length(having) > 1L) " have" else " has"))
  }
  near <- nearest(name, here)
  if (length(near)) paste0("; did you mean '", near, "'?")
}

# The most similar of `names`, if it is similar: a third of the letters may differ.
nearest <- function(name, names) {
  distance <- utils::adist(name, names, ignore.case = TRUE)[1L, ]
  begins <- startsWith(tolower(names), tolower(name)) | startsWith(tolower(name), tolower(names))
  distance[begins & nchar(names) > 2L] <- 1
  near <- which.min(distance)
  if (length(near) && distance[near] <= max(1, nchar(name) %/% 3)) names[near]
}

# The same of a value.
meant_value <- function(value, choices) {
  if (!is.character(value) || length(value) != 1L || is.na(value) || nchar(value) < 2L) return(NULL)
  other <- OTHER_VALUES[match(tolower(value), names(OTHER_VALUES))]
  near <- if (other %in% choices) other else nearest(value, choices)
  if (length(near)) paste0("; did you mean \"", near, "\"?")
}

having_argument <- function(name) {
  verbs <- c("gpuCor", "gpuCorNetwork", "gpuConnectivity", "gpuCorTest", "gpuCorWindows", "gpuCorCompare", "pickPower")
  verbs[vapply(verbs, function(verb) name %in% own_arguments(verb), NA)]
}

# The method that a value in the place of another argument names; NA: none.
method_named <- function(value) {
  if (!is.character(value) || length(value) != 1L || is.na(value) || nchar(value) < 3L) return(NA_character_)
  methods <- measures()$name
  methods[pmatch(tolower(value), methods)]
}

method_way_out <- function(method) paste0("; for the measure write method = \"", method, "\"")
