# All runs of the engine start in perform(), but shards and rounds of plans, which plan-*.R call by call_engine().

# Returns all coefficients of a run in a layout. The engine sets the attributes, as R would copy the values.
values_of_pairs <- function(run, layout, attributes = list()) {
  layout <- engine$constants[[layout]]
  result <- perform(run, "cor", layout, attributes)
  # Like stats::cor(), checks single columns only in pairwise computations.
  is_looked_at <- result$zero_sd > 0 || uses[run$use] == "pairwise.complete.obs"
  if (is_looked_at || result$flags > 0L) {
    warn_constant(result, run, is_looked_at)
    warn_infinite(result, run)
  }
  result$values
}

# Returns what the engine computes of a run, or raises its error. `what`: a computation, a row of src/r/call.h; `...`:
# its own arguments. Its function, r_ and the name, says what it takes and returns: perform(run, "observations") counts
# the observations that the run uses (src/r/job.c). In a plan, results of shards stand for those of ENTRIES.
perform <- function(run, what, ...) {
  replay <- run$place$replay
  is_divided <- !is.null(replay) && what %in% ENTRIES
  checked(if (is_divided) replay$run_pass(what, run, list(...)) else call_engine(what, run, list(...)))
}

# The engine's computations that a plan may divide into shards.
ENTRIES <- c("cor", "edges", "neighbours", "histogram", "connectivity")

call_engine <- function(entry, run, arguments) {
  .Call(r_run, entry, run, arguments)
}

# Returns f(); in a plan, the value of f() when the plan was made. `kind`: "design" or "sample".
noted <- function(place, kind, f) if (is.null(place$replay)) f() else place$replay$take_note(kind, f)

# Returns the engine's result, or raises its error as an R error. An interrupt that it noticed is R's own.
checked <- function(result) {
  if (!is.list(result) || is.null(result$status)) {
    lost <- attr(result, "lost")
    if (!is.null(lost)) warning("a GPU failed, and others did its work: ", lost, call. = FALSE)
    return(result)
  }
  if (result$status == constant("interrupted")) {
    signalCondition(structure(class = c("interrupt", "condition"), list(message = "interrupted", call = NULL)))
    invokeRestart("abort")
  }
  classes <- c(`bad input` = "input", `no memory` = "memory", `bad file` = "file")
  class <- classes[match(result$status, vapply(names(classes), constant, 0))]
  fail_as(if (is.na(class)) "run" else class, result$message)
}

# Returns texts with the number of variables of x and of y that have `flag`, and the first three of them, or NULL.
describe_flagged <- function(result, flag, run) {
  what <- if (run$distance) " rows" else " columns"
  unlist(lapply(c("x", "y"), function(name) {
    flags <- result[[paste0(name, "_flags")]]
    which <- which((flags & as.raw(constant(flag))) != 0)
    if (!length(which)) return(NULL)
    first <- utils::head(which, 3L)
    labels <- colnames(run[[name]])
    if (!is.null(labels)) first <- ifelse(nzchar(labels[first]) & !is.na(labels[first]), labels[first], first)
    paste0(length(which), " of ", length(flags), what, " of '", name, "': ",
           paste(printable(first), collapse = ", "), if (length(which) > 3L) ", ...")
  }))
}

# Warns about columns without coefficients, for results that cannot hold NA.
warn_without <- function(result, run) {
  warn_constant(result, run)
  warn_infinite(result, run)
  if (inherits(run$x, "gpuCorSubjects") && isTRUE(run$x$skips)) return(invisible()) # others have coefficients
  whole <- uses[run$use] == "everything" # one missing value leaves the column without coefficients
  text <- describe_flagged(result, if (whole) "missing" else "few", run)
  if (!length(text)) { # too few rows, such as one, which no single column explains
    n_obs <- max(result$n_obs, -Inf)
    if (!isTRUE(n_obs >= 0 && n_obs < measure_of(run$method)$min_obs) || run$pairs == 0) return(invisible())
    return(warning(n_of(n_obs, "observation"), if (n_obs == 1) " leaves" else " leave", " no coefficient",
                   call. = FALSE))
  }
  hint <- na_rm_hint(run$x)
  if (is.null(hint) && whole) hint <- paste0(empty_row_words(run$x), "; see 'use'")
  warning(if (whole) "missing values" else few_words(run$method), " leave no coefficient (",
          paste(text, collapse = "; "), ")", hint, call. = FALSE)
}

# Returns words for the first observation without any value, which leaves no column with coefficients.
empty_row_words <- function(x) {
  if (!is.matrix(x)) return(NULL)
  row <- which(is.na(x[, 1L]))
  row <- row[rowSums(!is.na(x[row, , drop = FALSE])) == 0][1L]
  if (is.na(row)) return(NULL)
  paste0("; row ", row, if (!is.null(rownames(x))) paste0(" (", rownames(x)[row], ")"), " has no value")
}

# Returns the hint for a list of subjects, unless the combination or fixed effects need all subjects.
na_rm_hint <- function(x) {
  needs_all <- c("spread", "icc2", "icc3")
  may_skip <- inherits(x, "gpuCorSubjects") && isFALSE(x$skips) && is.null(x$lioness) && !x$name %in% needs_all &&
    (identical(x$effects, "random") || x$n_first == length(x$data))
  if (may_skip) "; na.rm = TRUE combines the coefficients of the subjects that have one"
}

# Ranks handle infinite values like others.
warn_infinite <- function(result, run) {
  if (measure_of(run$method)$ranked) return(invisible())
  text <- describe_flagged(result, "infinite", run)
  if (!length(text)) return(invisible())
  warning("infinite values leave no coefficient (", paste(text, collapse = "; "), "); ", INFINITE_WAY_OUT,
          call. = FALSE)
}

INFINITE_WAY_OUT <- "log2(0) is -Inf, and log2(x + 1) of counts is finite"

# Warns about constant columns, if `is_looked_at`, and about columns for which another measure was used.
warn_constant <- function(result, run, is_looked_at = TRUE) {
  text <- if (is_looked_at) describe_flagged(result, "constant", run)
  if (is_looked_at && !length(text) && isTRUE(result$zero_sd > 0)) {
    text <- paste0(format_count(result$zero_sd), if (result$zero_sd > 1) " pairs" else " pair",
                   ": a column is constant in the rows that both have")
  }
  if (length(text)) {
    warning("the standard deviation is zero (", paste(text, collapse = "; "), ")", call. = FALSE)
  }
  text <- describe_flagged(result, "fell back", run)
  if (length(text)) {
    warning("the median absolute deviation is zero, and Pearson's correlation stands in (",
            paste(text, collapse = "; "), ")", call. = FALSE)
  }
}

# Returns TRUE if a missing value in any column drops the observation for all pairs.
drops_observations <- function(run) uses[run$use] %in% c("complete.obs", "na.or.complete")

# Returns TRUE for observations of which no variable misses its value.
complete_observations <- function(run) {
  counted <- perform(run, "observations")
  if (is.null(counted$observed)) return(rep(TRUE, nrow(run$x)))
  seq_len(nrow(run$x)) %in% (counted$observed[seq_len(counted$n_obs)] + 1L)
}

dist_attributes <- function(run) {
  list(Size = ncol(run$x), Labels = colnames(run$x), Diag = FALSE, Upper = FALSE, method = run$method, n_obs = NULL,
       diagonal = NULL, call = run$call, class = c("gpuCor", "allPairs", "dist"))
}

# Returns the attributes of values of pairs that are no coefficients.
plain_dist_attributes <- function(run) {
  list(Size = ncol(run$x), Labels = colnames(run$x), Diag = FALSE, Upper = FALSE, method = run$method,
       class = c("pairValues", "dist"))
}

matrix_attributes <- function(rows, columns) {
  if (is.null(rows) && is.null(columns)) list() else list(dimnames = list(rows, columns))
}
