# Arguments are checked here, before any work. An error names the argument, its
# value and the way out.

# An error of a class: of arguments and data unless another function below says otherwise.
fail <- function(...) fail_as("input", ...)

# A result or data that do not fit into memory or on the disk.
fail_memory <- function(...) fail_as("memory", ...)

# The engine, or a GPU, while it computed.
fail_run <- function(...) fail_as("run", ...)

# A file that is missing, damaged or not what it was taken for.
fail_file <- function(...) fail_as("file", ...)

fail_as <- function(kind, ...) {
  stop(errorCondition(paste0(...), class = c(paste0("gpucor_error_", kind), "gpucor_error")))
}

# An error again, with other words: its class stays.
fail_again <- function(condition, words) {
  condition$message <- words
  condition["call"] <- list(NULL)
  stop(condition)
}

# A warning of a class, by which each_subject() gives it once.
warn <- function(class, ...) warning(warningCondition(paste0(...), class = c(class, "gpuCorWarning")))

# A message that a session shows once.
tell_once <- function(...) {
  text <- paste0(...)
  if (text %in% state$told) return(invisible())
  state$told <- c(state$told, text)
  message(text)
}

# A value as it can stand in a message.
show_value <- function(value) {
  text <- paste(deparse(value, nlines = 1L), collapse = "")
  if (nchar(text) > 60L) paste0(substr(text, 1L, 57L), "...") else text
}

# way_out: for the message; it is made only if there is one.
check_choice <- function(value, choices, name, way_out = "") {
  if (identical(value, choices)) return(choices[1L])
  found <- if (is.character(value) && length(value) == 1L) pmatch(value, choices) else NA
  if (is.na(found)) {
    fail("'", name, "' must be one of ", paste0('"', choices, '"', collapse = ", "), ", not ", show_value(value),
         way_out, meant_value(value, choices))
  }
  choices[found]
}

check_flag <- function(value, name, way_out = "") {
  if (!is.logical(value) || length(value) != 1L || is.na(value)) {
    fail("'", name, "' must be TRUE or FALSE, not ", show_value(value), way_out)
  }
  value
}

check_whole <- function(value, name, least, most = Inf, way_out = "") {
  ok <- is.numeric(value) && length(value) == 1L && is.finite(value) && value == floor(value) &&
    value >= least && value <= most
  if (!ok) {
    range <- if (is.finite(most)) paste(" between", least, "and", format(most)) else paste(" of at least", least)
    fail("'", name, "' must be a whole number", range, ", not ", show_value(value), way_out)
  }
  as.numeric(value)
}

# In the order of the numbers by which stats::cor and the engine know a rule for missing values.
uses <- c("all.obs", "complete.obs", "pairwise.complete.obs", "everything", "na.or.complete")

check_use <- function(use) {
  found <- if (is.character(use) && length(use) == 1L) pmatch(use, uses) else NA
  if (is.na(found)) {
    fail("invalid 'use' argument: it must be one of ", paste0('"', uses, '"', collapse = ", "), ", not ",
         show_value(use), meant_value(use, uses))
  }
  found
}

is_number <- function(value) is.numeric(value) && length(value) == 1L && is.null(dim(value))

# A number between 0 and 1; zero: 0 is allowed.
check_share <- function(value, name, zero) {
  ok <- is.numeric(value) && length(value) == 1L && !is.na(value) && value <= 1 && (value > 0 || (zero && value == 0))
  if (!ok) {
    fail("'", name, "' must be a number ", if (zero) "in [0, 1]" else "above 0 and up to 1", ", not ",
         show_value(value))
  }
  as.numeric(value)
}

# `what` needs the package.
need_package <- function(package, what) {
  if (requireNamespace(package, quietly = TRUE)) return(invisible())
  fail(what, " takes package ", package, ", which is not installed: BiocManager::install(\"", package, "\")")
}

# `what` needs all of the packages.
need_packages <- function(packages, what) {
  there <- vapply(packages, requireNamespace, NA, quietly = TRUE)
  if (all(there)) return(invisible())
  names <- paste0('"', packages[!there], '"')
  fail(what, " takes ", if (sum(!there) > 1L) "packages " else "package ", paste(packages[!there], collapse = " and "),
       ", not installed here: BiocManager::install(", if (length(names) > 1L) "c(", toString(names),
       if (length(names) > 1L) ")", ")")
}

need_cran_package <- function(package, what) {
  if (requireNamespace(package, quietly = TRUE)) return(invisible())
  fail(what, " takes package ", package, ": install.packages(\"", package, "\")")
}

check_within <- function(value, name, least, most) {
  ok <- is.numeric(value) && length(value) == 1L && !is.na(value) && value >= least && value <= most
  if (!ok) {
    range <- if (is.finite(most)) paste(" between", least, "and", most) else paste(" of at least", least)
    fail("'", name, "' must be a number", range, ", not ", show_value(value))
  }
  as.numeric(value)
}

# After the message that a setting's value is none: where it comes from if not from an argument, and then what `without`
# it is done. found: of run_settings(), NULL if there is no argument. Looked at where there is an error only.
where_from <- function(name, found, without) {
  if (name %in% attr(found, "given")) return(paste0("; leave it out for ", without))
  option <- paste0("gpucor.", name)
  variable <- paste0("GPUCOR_", toupper(name))
  is_option <- !is.null(getOption(option))
  paste0(", as ", if (is_option) "option " else "environment variable ", if (is_option) option else variable, " says; ",
         if (is_option) paste0("options(", option, " = NULL)") else paste0("Sys.unsetenv(\"", variable, "\")"),
         " ends that, for ", without)
}
