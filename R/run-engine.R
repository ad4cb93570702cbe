# All runs of the engine start in this file.

# Returns all coefficients of x (and y) in a layout. The engine sets the attributes, as R would copy the values.
values_of_pairs <- function(x, y, method, use, layout, settings, attributes = list(), by_row = FALSE) {
  layout <- engine$constants[[layout]]
  result <- checked(if (is.null(settings$replay)) { # bypasses engine_pass(), which costs more than a small run
    .Call(r_cor, x, y, method_code(method), use, layout, by_row, attributes, settings)
  } else {
    engine_pass("r_cor", list(x = x, y = y, method = method, use = use), list(layout, by_row, attributes), settings)
  })
  if (result$zero_sd > 0 || result$flags > 0L || uses[use] == "pairwise.complete.obs") {
    warn_of_run(result, if (by_row) rownames(x) else colnames(x), colnames(y), method, use,
                if (by_row) "rows" else "columns")
  }
  result$values
}

# Like stats::cor(), checks single columns only in pairwise computations.
warn_of_run <- function(result, names_x, names_y, method, use, what) {
  is_looked_at <- result$zero_sd > 0 || uses[use] == "pairwise.complete.obs"
  if (is_looked_at) warn_constant(result, names_x, names_y, what) else warn_fallback(result, names_x, names_y, what)
  warn_infinite(result, names_x, names_y, method, what)
}

# Runs the engine over all pairs of the run's x (and y). `entry`: the engine's function; `arguments`: its arguments
# between `use` and the settings. In a plan, the shards' results replace the run.
engine_pass <- function(entry, run, arguments, settings) {
  if (!is.null(settings$replay)) return(settings$replay$run_pass(entry, run, arguments, settings))
  call_engine(entry, run, arguments, settings)
}

# The engine's functions that run over all pairs.
ENTRIES <- c("r_cor", "r_edges", "r_neighbours", "r_histogram", "r_connectivity")

call_engine <- function(entry, run, arguments, settings) {
  stopifnot(entry %in% ENTRIES)
  do.call(.Call, c(list(get(entry), run$x, run$y, method_code(run$method), run$use), arguments, list(settings)))
}

# Returns the call that a result shows; in a plan, the user's call that the plan was made from.
call_of <- function(call, settings) if (is.null(settings$replay)) call else settings$replay$call

# Returns f(); in a plan, the value of f() when the plan was made. `kind`: "design" or "sample".
noted <- function(settings, kind, f) if (is.null(settings$replay)) f() else settings$replay$take_note(kind, f)

# Returns the engine's result, or raises its error as an R error.
checked <- function(result) {
  if (is.list(result) && !is.null(result$status)) stop_run(result)
  lost <- attr(result, "lost")
  if (!is.null(lost)) warning("a GPU failed, and others did its work: ", lost, call. = FALSE)
  result
}

# An interrupt that the engine noticed is raised as R's own.
stop_run <- function(result) {
  if (result$status == constant("interrupted")) {
    signalCondition(structure(class = c("interrupt", "condition"), list(message = "interrupted", call = NULL)))
    invokeRestart("abort")
  }
  classes <- c(`bad input` = "input", `no memory` = "memory", `bad file` = "file")
  class <- classes[match(result$status, vapply(names(classes), constant, 0))]
  fail_as(if (is.na(class)) "run" else class, result$message)
}

# Returns a text with the number of variables that have `flag` and the first three of them, or NULL if there are none.
describe_flagged <- function(flags, flag, labels, what, name) {
  which <- which((flags & as.raw(constant(flag))) != 0)
  if (!length(which)) return(NULL)
  first <- utils::head(which, 3L)
  if (!is.null(labels)) first <- ifelse(nzchar(labels[first]) & !is.na(labels[first]), labels[first], first)
  paste0(length(which), " of ", length(flags), " ", what, " of '", name, "': ",
         paste(printable(first), collapse = ", "), if (length(which) > 3L) ", ...")
}

# Warns about columns for which another measure was used. "fell back" is the highest flag, hence >=.
warn_fallback <- function(result, names_x, names_y, what = "columns") {
  flag <- as.raw(constant("fell back"))
  if (!any(result$x_flags >= flag) && !any(result$y_flags >= flag)) return(invisible())
  text <- c(describe_flagged(result$x_flags, "fell back", names_x, what, "x"),
            describe_flagged(result$y_flags, "fell back", names_y, what, "y"))
  if (length(text)) {
    warning("the median absolute deviation is zero, and Pearson's correlation stands in (",
            paste(text, collapse = "; "), ")", call. = FALSE)
  }
}

# Warns about columns without coefficients, for results that cannot hold NA.
warn_without <- function(result, run) {
  warn_infinite(result, colnames(run$x), colnames(run$y), run$method)
  if (inherits(run$x, "gpuCorSubjects") && isTRUE(run$x$skips)) return(invisible()) # others have coefficients
  whole <- uses[run$use] == "everything" # one missing value leaves the column without coefficients
  flag <- if (whole) "missing" else "few"
  text <- c(describe_flagged(result$x_flags, flag, colnames(run$x), "columns", "x"),
            describe_flagged(result$y_flags, flag, colnames(run$y), "columns", "y"))
  if (!length(text)) return(warn_too_few(max(result$n_obs, -Inf), run))
  hint <- na_rm_hint(run$x)
  if (is.null(hint) && whole) hint <- "; see 'use'"
  warning(if (whole) "missing values" else few_words(run$method), " leave no coefficient (",
          paste(text, collapse = "; "), ")", hint, call. = FALSE)
}

# Returns the hint for a list of subjects, unless groups are compared or the combination needs all subjects.
na_rm_hint <- function(x) {
  may_skip <- inherits(x, "gpuCorSubjects") && isFALSE(x$skips) && is.null(x$model) && x$n_first == length(x$data) &&
    is.null(x$lioness) && !x$name %in% c("spread", "argmax", "icc2", "icc3")
  if (may_skip) "; na.rm = TRUE combines the coefficients of the subjects that have one"
}

# Ranks handle infinite values like others.
warn_infinite <- function(result, names_x, names_y, method, what = "columns") {
  if (measure_of(method)$ranked) return(invisible())
  text <- c(describe_flagged(result$x_flags, "infinite", names_x, what, "x"),
            describe_flagged(result$y_flags, "infinite", names_y, what, "y"))
  if (!length(text)) return(invisible())
  warning("infinite values leave no coefficient (", paste(text, collapse = "; "), "); ", INFINITE_WAY_OUT,
          call. = FALSE)
}

INFINITE_WAY_OUT <- "log2(0) is -Inf, and log2(x + 1) of counts is finite"

# Warns about data with too few rows, such as one, which no single column explains.
warn_too_few <- function(n_obs, run) {
  if (n_obs < 0 || n_obs >= measure_of(run$method)$min_obs || run$pairs == 0) return(invisible())
  warning(n_of(n_obs, "observation"), if (n_obs == 1) " leaves" else " leave", " no coefficient", call. = FALSE)
}

warn_constant <- function(result, names_x, names_y, what = "columns") {
  text <- c(describe_flagged(result$x_flags, "constant", names_x, what, "x"),
            describe_flagged(result$y_flags, "constant", names_y, what, "y"))
  if (!length(text) && isTRUE(result$zero_sd > 0)) {
    text <- paste0(format_count(result$zero_sd), if (result$zero_sd > 1) " pairs" else " pair",
                   ": a column is constant in the rows that both have")
  }
  if (length(text)) {
    warning("the standard deviation is zero (", paste(text, collapse = "; "), ")", call. = FALSE)
  }
  warn_fallback(result, names_x, names_y, what)
}

# Returns the number of observations, and whether it differs among pairs (see r_observations).
count_observations <- function(x, y, method, use, settings) {
  checked(.Call(r_observations, x, y, method_code(method), use, settings))
}

dist_attributes <- function(x, method, call) {
  list(Size = ncol(x), Labels = colnames(x), Diag = FALSE, Upper = FALSE, method = method, n_obs = NULL,
       diagonal = NULL, call = call, class = c("gpuCor", "allPairs", "dist"))
}

# Returns the attributes of values of pairs that are no coefficients.
plain_dist_attributes <- function(x, method) {
  list(Size = ncol(x), Labels = colnames(x), Diag = FALSE, Upper = FALSE, method = method,
       class = c("pairValues", "dist"))
}

matrix_attributes <- function(rows, columns) {
  if (is.null(rows) && is.null(columns)) list() else list(dimnames = list(rows, columns))
}
