# Besides its data, a plan may contain the name of a function, and arguments that are pure data. Both are checked when
# the plan is made and whenever it is opened: otherwise anyone who can write to the folder could run code in the
# processes that open it. For the same reason the bytes of every R object in the folder are checked before R reads it.

PLANNABLE <- c("gpuCorNetwork", "gpuConnectivity", "gpuCor")

# Arguments that do not belong in a plan: data, settings of a process, and the destination of the result.
OUTSIDE_PLANS <- c("x", "y", "...", "file", "compression", "shards")

# Storage types of a plan's data.
STORED_TYPES <- c("double", "float", "integer", "sparse")

plan_arguments <- function(verb) {
  verb <- check_choice(verb, PLANNABLE, "verb")
  setdiff(c(names(formals(get(verb, topenv()))), OFFERED[[verb]]), OUTSIDE_PLANS)
}

check_verb_arguments <- function(given, verb) {
  if (length(given) && is.null(names(given))) names(given) <- rep("", length(given))
  known <- plan_arguments(verb)
  unknown <- setdiff(names(given), known)
  if (!length(unknown)) return(invisible())
  name <- if (nzchar(unknown[1L])) paste0("'", unknown[1L], "'") else "an argument without a name"
  fail(name, " cannot be in a plan of ", verb, "(); ", if (unknown[1L] %in% c("file", "compression")) {
    "give it to gpuCorCollect()"
  } else {
    paste("it takes", toString(known))
  })
}

# Types of data; the only ones that src/r/plain.c lets R read from a file.
DATA_TYPES <- c("NULL", "logical", "integer", "double", "complex", "character", "raw", "list")

# Returns TRUE if a value is pure data: a vector, or a list of vectors, whose attributes are data, too. Functions,
# expressions, environments, pointers and S4 objects are not.
is_data <- function(value) {
  if (isS4(value) || !typeof(value) %in% DATA_TYPES || !has_own_size(value)) return(FALSE)
  parts <- c(if (is.list(value)) unclass(value), attributes(value))
  all(vapply(unname(parts), is_data, NA))
}

# Returns TRUE if a vector's dimensions and names have its length. unserialize() does not check them.
has_own_size <- function(value) {
  n <- length(unclass(value))
  size <- attr(value, "dim", exact = TRUE)
  names <- attr(value, "names", exact = TRUE)
  (is.null(size) || (is.integer(size) && isTRUE(all(size >= 0L) && prod(size) == n))) &&
    (is.null(names) || length(names) == n)
}

# ---- making a plan

# Replaces functions of a subject's index by lists of their values. `n`: number of subjects, or NULL for one data set.
called_for_subjects <- function(given, n) {
  if (is.null(n)) return(given)
  for (name in intersect(names(given), c("weights", "covariates", "data", "runs"))) {
    if (is.function(given[[name]])) given[[name]] <- lapply(seq_len(n), given[[name]])
  }
  given
}

# Returns the arguments that the plan stores. Covariates become numbers, so that no process evaluates a formula.
evaluated_arguments <- function(given, n) {
  if (!is.null(given$covariates)) {
    centred <- measure_of(check_method(if (is.null(given$method)) engine$methods else given$method))$centred
    numbers_of <- function(asked) {
      if (is.null(asked$covariates)) return(NULL)
      numbers <- covariate_matrix(asked$covariates, asked$data, centred)
      rownames(numbers) <- NULL
      numbers
    }
    asked <- given[names(given) %in% c("covariates", "data")]
    given$covariates <- if (is.null(n)) {
      numbers_of(asked)
    } else {
      lapply(seq_len(n), function(i) numbers_of(asked_of_subject(asked, i, n)))
    }
  }
  given <- given[setdiff(names(given), c("data", if (!is.null(n)) "subjects"))]
  for (name in names(given)) {
    if (!is_data(given[[name]])) {
      fail("'", name, "' must be numbers, text or TRUE or FALSE in a plan, not of class ", class(given[[name]])[1L])
    }
  }
  given
}

# Max bytes of a value in the place of an expression, as do.call() puts it there.
MAX_VALUE_IN_CALL <- 10000

# Returns a call as text, as a file of a plan has only data. Values that are too large, or cannot be read back, are
# replaced by their class.
call_text <- function(call) {
  exactly <- c("keepNA", "keepInteger", "niceNames", "showAttributes", "digits17")
  as_text <- function(call) paste(deparse(call, control = exactly), collapse = "\n")
  for (k in seq_along(call)[-1L]) { # an element may be empty
    is_kept <- is.language(call[[k]]) ||
      (utils::object.size(call[[k]]) <= MAX_VALUE_IN_CALL && !is.null(call_of_text(as_text(call[c(1L, k)]))))
    if (!is_kept) call[[k]] <- as.name(paste0("<", class(call[[k]])[1L], ">"))
  }
  as_text(call)
}

# Returns the call that text describes, or NULL. Reading it evaluates nothing.
call_of_text <- function(text) {
  call <- tryCatch(str2lang(text), error = function(condition) NULL)
  if (is.call(call)) call
}

# ---- opening a plan

# Returns the object in bytes from a file of a plan, or NULL unless it is pure data. R before 4.4 runs code that other
# objects contain while it reads them.
read_object <- function(bytes) {
  if (!.Call(r_is_plain, bytes)) return(NULL)
  object <- tryCatch(unserialize(bytes), error = function(condition) NULL)
  if (is_data(object)) object
}

# Returns TRUE if gpuCorPlan() could have written this.
is_plan <- function(plan) {
  has_call(plan) && has_sizes(plan) && are_descriptions(plan$x, plan$subjects) &&
    (!length(plan$y) || are_descriptions(plan$y, plan$subjects))
}

has_call <- function(plan) {
  is.character(plan$verb) && isTRUE(plan$verb %in% PLANNABLE) &&
    are_arguments(plan$arguments, plan_arguments(plan$verb)) &&
    is.call(plan$call) # part of the result, never evaluated
}

has_sizes <- function(plan) is_count(plan$shards) && (is.null(plan$subjects) || is_count(plan$subjects))

# Returns TRUE for a list of data with unique, known names.
are_arguments <- function(arguments, known) {
  names <- names(arguments)
  is.list(arguments) && length(names) == length(arguments) && all(names %in% known) && !anyDuplicated(names)
}

is_count <- function(value) is_numeric(value) && length(value) == 1L && isTRUE(value >= 1 && value == floor(value))

# Returns TRUE for a result of store_data(): one matrix description per subject.
are_descriptions <- function(data, subjects) {
  is_description <- function(one) {
    is.list(one) && isTRUE(one$type %in% STORED_TYPES) && is_numeric(one$dim) && length(one$dim) == 2L &&
      isTRUE(all(one$dim >= 0 & one$dim == floor(one$dim))) &&
      (is.null(one$names) || (is.character(one$names) && length(one$names) == one$dim[2L]))
  }
  is.list(data) && length(data) == max(1, subjects) && all(vapply(data, is_description, NA))
}
