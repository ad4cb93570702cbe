# The one way from R into the engine.

# All coefficients of x (against y) in a layout, with the attributes given, which
# the engine sets itself: R would copy the values to do so.
run <- function(x, y, method, use, layout, settings, attributes = list(), by_row = FALSE) {
  layout <- engine$constants[[layout]]
  result <- checked(if (is.null(settings$replay)) { # engine_pass(), without what takes longer than a small run
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

# stats::cor() looks at a variable by itself in pairwise computations only.
warn_of_run <- function(result, names_x, names_y, method, use, what) {
  is_looked_at <- result$zero_sd > 0 || uses[use] == "pairwise.complete.obs"
  if (is_looked_at) warn_constant(result, names_x, names_y, what) else warn_fallback(result, names_x, names_y, what)
  warn_infinite(result, names_x, names_y, method, what)
}

# A run over all pairs of the task's x (and y). entry: the engine's entry point; arguments: what it takes between `use`
# and the settings. In a plan the shards' results replace the run.
engine_pass <- function(entry, task, arguments, settings) {
  if (!is.null(settings$replay)) return(settings$replay$run_pass(entry, task, arguments, settings))
  call_engine(entry, task, arguments, settings)
}

# The engine's functions that run over all pairs.
ENTRIES <- c("r_cor", "r_edges", "r_neighbours", "r_histogram", "r_connectivity")

call_engine <- function(entry, task, arguments, settings) {
  stopifnot(entry %in% ENTRIES)
  do.call(.Call, c(list(get(entry), task$x, task$y, method_code(task$method), task$use), arguments, list(settings)))
}

# The call that a result shows: in a plan, the one that the plan stands for.
call_of <- function(call, settings) if (is.null(settings$replay)) call else settings$replay$call

# The result of f(): in a plan, what f() returned when the plan was made. kind: "design" or "sample".
noted <- function(settings, kind, f) if (is.null(settings$replay)) f() else settings$replay$take_note(kind, f)

refuse_plan <- function(settings, what) {
  if (!is.null(settings$replay)) fail(what, " cannot be in a plan; call the function on one machine")
}

# An engine's result, or its error as R's.
checked <- function(result) {
  if (is.list(result) && !is.null(result$status)) stop_run(result)
  lost <- attr(result, "lost")
  if (!is.null(lost)) warning("a GPU failed, and others did its work: ", lost, call. = FALSE)
  result
}

# An interrupt that the engine noticed goes on as R's own.
stop_run <- function(result) {
  if (result$status == constant("interrupted")) {
    signalCondition(structure(class = c("interrupt", "condition"), list(message = "interrupted", call = NULL)))
    invokeRestart("abort")
  }
  fail_run(result$message)
}

# How many variables a flag is up for, and the first of them; NULL: none.
describe_flagged <- function(flags, flag, labels, what, name) {
  which <- which((flags & as.raw(constant(flag))) != 0)
  if (!length(which)) return(NULL)
  first <- utils::head(which, 3L)
  if (!is.null(labels)) first <- labels[first]
  paste0(length(which), " of ", length(flags), " ", what, " of '", name, "': ", paste(first, collapse = ", "),
         if (length(which) > 3L) ", ...")
}

# Columns that their measure could not be had of; it is the last flag.
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

# Of a result that cannot show which coefficients there are none of, as it has no place for them.
warn_without <- function(result, task) {
  warn_infinite(result, colnames(task$x), colnames(task$y), task$method)
  whole <- uses[task$use] == "everything" # a missing value costs the column
  flag <- if (whole) "missing" else "few"
  text <- c(describe_flagged(result$x_flags, flag, colnames(task$x), "columns", "x"),
            describe_flagged(result$y_flags, flag, colnames(task$y), "columns", "y"))
  if (!length(text)) return(warn_too_few(max(result$n_obs, -Inf), task$pairs))
  warning(if (whole) "missing values" else "fewer than two values", " leave no coefficient (",
          paste(text, collapse = "; "), ")", if (whole) "; see 'use'", call. = FALSE)
}

# Ranks take infinite values as they take others.
warn_infinite <- function(result, names_x, names_y, method, what = "columns") {
  if (measure_of(method)$ranked) return(invisible())
  text <- c(describe_flagged(result$x_flags, "infinite", names_x, what, "x"),
            describe_flagged(result$y_flags, "infinite", names_y, what, "y"))
  if (!length(text)) return(invisible())
  warning("infinite values leave no coefficient (", paste(text, collapse = "; "), "); ", INFINITE_WAY_OUT,
          call. = FALSE)
}

INFINITE_WAY_OUT <- "log2(0) is -Inf, and log2(x + 1) of counts is finite"

# Data of no row, or a single one, of which no column is to blame.
warn_too_few <- function(n_obs, pairs) {
  if (!n_obs %in% 0:1 || pairs == 0) return(invisible())
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

# Which observations count, and whether pairs have their own (r_observations).
count_observations <- function(x, y, method, use, settings) {
  checked(.Call(r_observations, x, y, method_code(method), use, settings))
}

dist_attributes <- function(x, method, call) {
  list(Size = ncol(x), Labels = colnames(x), Diag = FALSE, Upper = FALSE, method = method, n_obs = NULL,
       diagonal = NULL, call = call, class = c("gpuCor", "allPairs", "dist"))
}

matrix_attributes <- function(rows, columns) {
  if (is.null(rows) && is.null(columns)) list() else list(dimnames = list(rows, columns))
}
