# Argument checks, done before any work. An error names the argument, its value and one hint.

# Raises an error about arguments or data; the functions below raise other classes.
fail <- function(...) fail_as("input", ...)

# Raises an error about the value of one argument, or about data.
fail_value <- function(...) fail_as(c("value", "input"), ...)

# Raises an error about a file that is missing, damaged or of another kind than expected.
fail_file <- function(...) fail_as("file", ...)

# `kind`: also "memory", for a result or data that do not fit into memory or on the disk, and "run", for an error of the
# engine or of a GPU during a run.
fail_as <- function(kind, ...) {
  class <- c(paste0("gpucor_error_", kind), "gpucor_error")
  stop(errorCondition(printable(paste0(...)), class = class, call = users_call()))
}

# Returns the outermost call of a function of the package, which the user wrote; without arguments if it has data in
# them, as do.call() makes it.
users_call <- function() {
  call <- sys.call(outermost_frame())
  is_data <- function(part) is.function(part) || (!is.language(part) && length(part) > 10L)
  are_data <- vapply(as.list(call), is_data, NA)
  if (are_data[1L]) NULL else if (any(are_data)) call[1L] else call
}

# Returns the number of the frame of the outermost function of the package on the stack.
outermost_frame <- function() {
  own <- topenv()
  Find(function(k) identical(environment(sys.function(k)), own), seq_len(sys.nframe()))
}

# Runs code of another package, whose errors become ours: these words, and the error's message.
with_our_errors <- function(code, words, raise = fail) {
  tryCatch(code, error = function(e) if (inherits(e, "gpucor_error")) stop(e) else raise(words, conditionMessage(e)))
}

# Returns text with bytes that are not of its encoding as "<e9>": names that were read with another encoding stop
# nchar(), substr() and gsub().
printable <- function(text) {
  if (!is.character(text)) return(text)
  bad <- !validEnc(text)
  text[bad] <- iconv(text[bad], "UTF-8", "UTF-8", sub = "byte")
  text
}

# Raises `condition` again with another message; its class is unchanged.
fail_again <- function(condition, words) {
  condition$message <- words
  condition["call"] <- list(users_call())
  stop(condition)
}

# Runs code whose errors and warnings are to name argument `called` as `name`.
naming <- function(code, called, name) {
  called <- paste0("'", called, "'")
  words <- function(condition) gsub(called, paste0("'", name, "'"), conditionMessage(condition), fixed = TRUE)
  withCallingHandlers(tryCatch(code, error = function(e) fail_again(e, words(e))), warning = function(w) {
    if (!grepl(called, conditionMessage(w), fixed = TRUE)) return(invisible())
    warning(words(w), call. = FALSE)
    invokeRestart("muffleWarning")
  })
}

# Warns with a class, by which each_subject() recognizes repeated warnings.
warn <- function(class, ...) warning(warningCondition(printable(paste0(...)), class = c(class, "gpuCorWarning")))

# Runs code that repeats an earlier computation, without the warnings and the message that the user has already seen.
repeated <- function(code) suppressWarnings(suppressMessages(code, classes = "gpuCorFewValues"))

# Shows a message once per session.
tell_once <- function(...) {
  text <- paste0(...)
  if (text %in% state$told) return(invisible())
  state$told <- c(state$told, text)
  message(text)
}

# Shows a message if several variables (or observations) have the same name, and names are used to look them up.
tell_same_names <- function(names) {
  twice <- names[anyDuplicated(names)]
  if (!length(twice)) return(invisible())
  tell_once("the name ", if (is.na(twice)) "<NA>" else show_value(twice), " occurs ", sum(names %in% twice), " times; ",
            "looking it up finds the first; make.unique() makes names differ (this message is shown once a session)")
}

# Returns `value` as text for a message, at most 60 characters; objects, and lists of objects, are shown by their class.
show_value <- function(value) {
  if (inherits(value, "integer64")) return("of class integer64; as.double() makes numbers of it")
  text <- paste(deparse(value, nlines = 1L), collapse = "")
  if (isS4(value) || grepl("^(list[(].*)?(structure|function|new) ?[(]", text)) return(of_class(value))
  if (nchar(text) > 60L) paste0(substr(text, 1L, 57L), "...") else text
}

# Stops if `given`, the names of arguments that a function passes on, include another name of one of its own, `known`.
refuse_other_names <- function(given, known) {
  for (name in given) {
    meant <- other_name(name, known)
    if (!is.na(meant)) fail("unused argument '", name, "'; did you mean '", meant, "'?")
  }
}

# Returns `value`, or stops unless `ok`. `what`: words for what it must be; `hint`: the end of the message; `shown`: the
# value in the message. These are evaluated only if there is an error, as in the checks below.
check_that <- function(value, name, ok, what, hint = "", shown = show_value(value)) {
  if (isTRUE(ok)) return(value)
  fail_value("'", name, "' must be ", what, ", not ", shown, hint)
}

# Shows an object in a message by its class.
of_class <- function(value) paste("of class", class(value)[1L])

# Works like check_that() for an object of the wrong class.
check_type <- function(value, name, ok, what, hint = "") check_that(value, name, ok, what, hint, of_class(value))

check_choice <- function(value, choices, name, hint = "") {
  if (identical(value, choices)) return(choices[1L])
  found <- choice_of(value, choices)
  if (!is.na(found)) return(choices[found])
  meant <- meant_value(value, choices) # replaces the hint's advice, but not where the value came from
  if (!is.null(meant)) hint <- paste0(sub(";.*", "", hint), meant)
  check_that(value, name, FALSE, paste("one of", toString(paste0('"', choices, '"'))), hint)
}

# Returns the index in `choices` of a string, which may be abbreviated, or NA. match() is faster than pmatch().
choice_of <- function(value, choices) {
  if (!is.character(value) || length(value) != 1L) return(NA)
  found <- match(value, choices)
  if (is.na(found)) pmatch(value, choices) else found
}

is_one_string <- function(value) is.character(value) && length(value) == 1L && !is.na(value)

# Checks a nonempty string; `what`: what it names.
check_string <- function(value, name, what) {
  check_that(value, name, is_one_string(value) && nzchar(value), paste("one string,", what))
}

check_flag <- function(value, name, hint = "") {
  check_that(value, name, is.logical(value) && length(value) == 1L && !is.na(value), "TRUE or FALSE", hint)
}

check_whole <- function(value, name, min, max = Inf, hint = "") {
  ok <- is_number_within(value, min, max) && is.finite(value) && value == floor(value)
  as.numeric(check_that(value, name, ok, show_range("a whole number", min, max), hint))
}

check_within <- function(value, name, min, max) {
  as.numeric(check_that(value, name, is_number_within(value, min, max), show_range("a number", min, max)))
}

# Returns TRUE for finite numbers from `min` to `max`. `n`: how many; NULL: any number but none.
are_finite <- function(value, n = NULL, min = -Inf, max = Inf) {
  is_numeric(value) && length(value) > 0L && (is.null(n) || length(value) == n) && all(is.finite(value)) &&
    all(value >= min & value <= max)
}

is_number_within <- function(value, min, max) {
  is_numeric(value) && length(value) == 1L && !is.na(value) && value >= min && value <= max
}

# Returns words such as "a number between 0 and 1", or the only number of the range.
show_range <- function(thing, min, max) {
  if (min == max) return(format(max))
  paste(thing, if (is.finite(max)) paste("between", min, "and", format(max)) else paste("of at least", min))
}

# The order is that of the codes of stats::cor() and the engine.
uses <- c("all.obs", "complete.obs", "pairwise.complete.obs", "everything", "na.or.complete")

check_use <- function(use) {
  found <- choice_of(use, uses)
  if (is.na(found)) {
    fail("invalid 'use' argument: it must be one of ", paste0('"', uses, '"', collapse = ", "), ", not ",
         show_value(use), meant_value(use, uses))
  }
  found
}

# Returns TRUE for numbers. is.numeric() is also TRUE for class integer64 of package bit64, whose doubles hold the bits
# of 64-bit integers.
is_numeric <- function(value) is.numeric(value) && !inherits(value, "integer64")

# Returns x with numbers for values of class integer64, which data.table's fread() makes: a vector, an array, or columns
# of a data frame. Other objects are returned as they are.
as_numbers <- function(x) {
  if (is.data.frame(x)) for (k in which(vapply(x, inherits, NA, "integer64"))) x[[k]] <- as_numbers(x[[k]])
  if (!inherits(x, "integer64")) return(x)
  need_packages("bit64", "class integer64")
  if (is.null(dim(x))) as.double(x) else array(as.double(x), dim(x), dimnames(x))
}

is_number <- function(value) is_numeric(value) && length(value) == 1L && is.null(dim(value))

# Checks a fraction; `zero`: TRUE if 0 is allowed.
check_fraction <- function(value, name, zero) {
  ok <- is_number_within(value, 0, 1) && (value > 0 || zero)
  as.numeric(check_that(value, name, ok, paste("a number", if (zero) "in [0, 1]" else "above 0 and up to 1")))
}

# Stops unless all `packages` are installed. BiocManager installs packages of CRAN and of Bioconductor. Packages such as
# WGCNA use R's random numbers, which are the user's, while they are loaded.
need_packages <- function(packages, what) {
  absent <- packages[!withr::with_preserve_seed(vapply(packages, requireNamespace, NA, quietly = TRUE))]
  if (!length(absent)) return(invisible())
  fail(what, " needs ", ngettext(length(absent), "package ", "packages "), paste(absent, collapse = " and "),
       ", not installed here: BiocManager::install(", show_value(absent), ")")
}

# Returns the end of a message about an invalid setting: the option or environment variable that set it, and what
# happens `without` it. `found`: all settings of a run, or NULL if the setting has no argument.
where_from <- function(name, found, without) {
  if (name %in% attr(found, "given")) return(paste0("; leave it out for ", without))
  option <- paste0("gpucor.", name)
  variable <- paste0("GPUCOR_", toupper(name))
  is_option <- !is.null(getOption(option))
  paste0(", as ", if (is_option) "option " else "environment variable ", if (is_option) option else variable, " says; ",
         if (is_option) paste0("options(", option, " = NULL)") else paste0("Sys.unsetenv(\"", variable, "\")"),
         " ends that, for ", without)
}

# ---- suggestions for misspelled arguments and values, and for names that other packages use

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
  near <- other_name(value, choices, OTHER_VALUES)
  if (is.na(near)) near <- nearest(value, choices)
  if (length(near)) paste0("; did you mean \"", near, "\"?")
}

# Names that other packages use for common arguments. If a function has several of the arguments, the first is meant.
OTHER_NAMES <- c(cutoff = "threshold", sparsity = "density", softPower = "power",
                 networkType = "type", powerVector = "power", RsquaredCut = "r_squared", nBreaks = "breaks",
                 corType = "method", corFnc = "method", cor_method = "method", corMethod = "method",
                 top = "k", alpha = "p.value", alpha = "fdr", nThreads = "threads", n_jobs = "threads",
                 batch = "covariates", confounds = "covariates", nperm = "n_perm", verbose = "progress",
                 gpu = "backend", high_pass = "bandpass", low_pass = "bandpass", t_r = "tr", sfreq = "rate",
                 fsample = "rate", srate = "rate", censor = "weights", censor = "keep",
                 sample_mask = "weights", sample_mask = "keep",
                 n_components = "n", zlim = "from", window = "width", window = "pairs")

# Strings that other programs use for values of arguments.
OTHER_VALUES <- c(gpu = "cuda", float64 = "double", float32 = "float", float32 = "single", int32 = "integer",
                  median = "quantile", average = "mean", rho = "spearman", tau = "kendall",
                  ccc = "concordance")

# Returns the argument (or value), one of `known`, that others call `name`; NA if there is none.
other_name <- function(name, known, table = OTHER_NAMES) intersect(table[names(table) == name], known)[1L]
