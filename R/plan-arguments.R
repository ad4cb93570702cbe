# What a plan may hold beside its data: the name of a function, and arguments that are nothing but data. Both are
# checked when the plan is made and whenever it is opened, as whoever can write to a plan's folder could otherwise have
# any function run in the processes that open it.

# The functions that a plan can stand for.
PLANNABLE <- c("gpuCorNetwork", "gpuConnectivity", "gpuCor")

# Arguments of the function that do not belong in a plan: data, settings of a process, and where the result goes.
OUTSIDE_PLANS <- c("x", "y", "...", "control", "file", "compression", "shards", "pairs")

plan_arguments <- function(verb) {
  setdiff(names(formals(get(check_choice(verb, PLANNABLE, "verb"), topenv()))), OUTSIDE_PLANS)
}

check_verb_arguments <- function(given, verb) {
  if ("pairs" %in% names(given)) fail("'pairs' cannot be in a plan; call ", verb, "() on one machine")
  known <- plan_arguments(verb)
  unknown <- setdiff(names(given), known)
  if (is.null(names(given)) && length(given)) unknown <- "an argument without a name"
  if (!length(unknown)) return(invisible())
  fail(verb, "() takes no ", show_value(unknown[1L]), " in a plan; ",
       if (unknown[1L] %in% c("file", "compression")) paste0("gpuCorCollect(", unknown[1L], " = ) does; "),
       "it takes ", toString(known))
}

# Whether a value is nothing but data: a vector, or a list of such, with attributes that are. No function, expression,
# environment, pointer or S4 object.
is_data <- function(value) {
  if (isS4(value) || !(is.null(value) || is.atomic(value) || is.list(value))) return(FALSE)
  parts <- c(if (is.list(value)) unclass(value), attributes(value))
  all(vapply(unname(parts), is_data, NA))
}

# ---- evaluated

# For each subject's argument that is a function, the list of what it returns: it is called once.
called_for_subjects <- function(given, n) {
  if (is.null(n)) return(given)
  for (name in intersect(names(given), c("weights", "covariates", "data"))) {
    if (is.function(given[[name]])) given[[name]] <- lapply(seq_len(n), given[[name]])
  }
  given
}

# Arguments as the plan holds them: covariates as numbers, as a formula would be evaluated in each process anew.
evaluated_arguments <- function(given, n) {
  if (!is.null(given$covariates)) {
    method <- check_method(if (is.null(given$method)) engine$methods else given$method)
    centred <- measure_of(method)$centred
    numbers_of <- function(asked) unname_rows(covariate_matrix(asked$covariates, asked$data, centred))
    given$covariates <- if (is.null(n)) {
      numbers_of(given)
    } else {
      lapply(seq_len(n), function(i) {
        asked <- asked_of_subject(given[names(given) %in% c("covariates", "data")], i, n)
        if (!is.null(asked$covariates)) numbers_of(asked)
      })
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

unname_rows <- function(m) {
  rownames(m) <- NULL
  m
}

# ---- of a plan that is opened

check_contents <- function(plan, file) {
  wrong <- wrong_contents(plan)
  if (is.null(wrong)) return(invisible())
  fail("\"", file, "\" has ", wrong, ", which no plan has; it was changed since it was made. Make the plan again, in ",
       "another folder")
}

# In words, the first thing that gpuCorPlan() would not have written; NULL: nothing.
wrong_contents <- function(plan) {
  if (!is.character(plan$verb) || !isTRUE(plan$verb %in% PLANNABLE)) return(paste("function", show_value(plan$verb)))
  if (!are_arguments(plan$arguments, plan_arguments(plan$verb))) return("arguments that are more than data")
  if (!is_count(plan$shards)) return(paste(show_value(plan$shards), "shards"))
  if (!is_count(if (is.null(plan$subjects)) 1 else plan$subjects)) return(paste(show_value(plan$subjects), "subjects"))
  if (!is.call(plan$call)) return("another call") # shown with the result, never evaluated
  if (!all(vapply(list(plan$x, plan$y), is_description, NA, plan$subjects))) return("other data")
}

# A list of data under some of these names, each once.
are_arguments <- function(arguments, known) {
  names <- names(arguments)
  is.list(arguments) && length(names) == length(arguments) && all(names %in% known) && !anyDuplicated(names) &&
    is_data(arguments)
}

is_count <- function(value) is.numeric(value) && length(value) == 1L && isTRUE(value >= 1 && value == floor(value))

# Whether this can be what store_data() returns.
is_description <- function(data, subjects) {
  if (is.null(data)) return(TRUE)
  if (!is_data(data)) return(FALSE)
  each <- if (is.null(subjects)) list(data) else data
  is_one <- function(one) {
    is.list(one) && isTRUE(one$type %in% STORED_TYPES) && is.numeric(one$dim) && length(one$dim) == 2L
  }
  length(each) == (if (is.null(subjects)) 1 else subjects) && all(vapply(each, is_one, NA))
}
