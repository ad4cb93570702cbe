# Arguments are checked here, before any work. An error names the argument, its
# value and the way out.

fail <- function(...) stop(..., call. = FALSE)

# A value as it can stand in a message.
show_value <- function(value) {
  text <- paste(deparse(value, nlines = 1L), collapse = "")
  if (nchar(text) > 60L) paste0(substr(text, 1L, 57L), "...") else text
}

check_choice <- function(value, choices, name) {
  if (identical(value, choices)) return(choices[1L])
  found <- if (is.character(value) && length(value) == 1L) pmatch(value, choices) else NA
  if (is.na(found)) {
    fail("'", name, "' must be one of ", paste0('"', choices, '"', collapse = ", "), ", not ", show_value(value))
  }
  choices[found]
}

check_flag <- function(value, name) {
  if (!is.logical(value) || length(value) != 1L || is.na(value)) {
    fail("'", name, "' must be TRUE or FALSE, not ", show_value(value))
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
         show_value(use))
  }
  found
}

is_variables <- function(x) is.numeric(x) || is.logical(x)

# Many subjects' data are taken where they are asked for.
check_one <- function(x, name) {
  if (!is_subjects(x)) return(invisible())
  fail("'", name, "' must be numeric, not of class ", class(x)[1L],
       "; many subjects' data are for gpuCor(), gpuCorNetwork(), gpuConnectivity() and gpuCorCompare()")
}

# Numeric, integer or logical matrix, dgCMatrix, or what is read from outside; a data frame or another
# Matrix becomes one of them, a vector stays a vector.
check_variables <- function(x, name, assay = NULL) {
  if (!is.object(x) && is_variables(x)) return(x)
  check_one(x, name)
  if (is_experiment(x)) x <- Matrix::t(picked_assay(x, name, assay))
  if (is_outside(x)) x <- check_outside(x, name)
  if (is_outside(x)) return(x)
  if (is.data.frame(x)) return(check_frame(x, name))
  if (isS4(x) && is(x, "sparseMatrix")) {
    message("'", name, "' is a sparse matrix; its columns are made dense, a block at a time")
    return(as(as(as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix"))
  }
  if (isS4(x) && is(x, "Matrix")) x <- as.matrix(x)
  if (!is_variables(x)) fail("'", name, "' must be numeric, not of class ", class(x)[1L], other_way_in(x, name))
  x
}

# A first column of names, as files have it.
check_no_names <- function(x, bad, name) {
  is_text <- is.character(x[[1L]]) || is.factor(x[[1L]])
  if (!identical(unname(bad), 1L) || length(x) < 2L || !is_text || mean(duplicated(x[[1L]])) > 0.5) return(invisible())
  unique <- if (anyDuplicated(x[[1L]])) "make.unique(as.character(" else ""
  fail("'", name, "' must be numeric, and its first column (", names(x)[1L], ") is names, such as ",
       show_value(as.character(x[[1L]][1L])), "; they belong to the rows: ", name, " <- data.frame(", name,
       "[-1], row.names = ", unique, name, "[[1]]", if (nzchar(unique)) "))", "). If they are the variables', then t(",
       name, "), as variables go by columns")
}

check_frame <- function(x, name) {
  bad <- which(!vapply(x, is_variables, NA))
  if (!length(bad)) return(as.matrix(x))
  check_no_names(x, bad, name)
  fail("'", name, "' must be numeric: column ", bad[1L], " (", names(x)[bad[1L]], ") is of class ",
       class(x[[bad[1L]]])[1L], "; leave it out", if (is_tall(x)) transposed_way_out(name, bad))
}

is_matrix <- function(x) is.matrix(x) || is_outside(x) || (isS4(x) && is(x, "dgCMatrix"))

COLUMNS <- "a variable in each column"

# For functions that have no use for a vector; `variables` says where it has them.
check_matrix_like <- function(x, variables) {
  size <- dim(x)
  if (!is_variables(x) || length(size) == 2L) return(invisible()) # check_variables() sees to the rest
  fail("'x' must be matrix-like, with ", variables, "; it ",
       if (is.null(size)) "is a vector" else paste("has", length(size), "dimensions"), other_way_in(x, "x"))
}

as_column <- function(x) if (is_matrix(x)) x else matrix(x, ncol = 1L)

# Empty input is an error where it is one for stats::cor: of n_obs observations of n_x variables, and of n_y
# unless that is NULL. It asks whether there is any y for ranks of pairs only, for which it does without
# observations.
check_filled <- function(n_obs, n_x, n_y, use, method) {
  use <- uses[use]
  if (use == "everything" || use == "na.or.complete") return(invisible())
  x_is_empty <- n_obs == 0L || n_x == 0L
  if (use == "pairwise.complete.obs" && measure_of(method)$ranked) {
    if (is.null(n_y) && n_x == 0L) fail("'x' is empty")
    if (!is.null(n_y) && (x_is_empty || n_y == 0L)) fail("both 'x' and 'y' must be non-empty")
  } else if (x_is_empty) {
    fail(if (use == "complete.obs") "no complete element pairs" else "'x' is empty")
  }
}

# What there is nothing to be made of; known at once, as a small run takes no longer.
is_alone_and_plain <- function(x, y, assay) {
  is.null(y) && is.null(assay) && is.matrix(x) && !is.object(x) && is_variables(x)
}

# x and y as matrices ready for the engine; scalar: both were vectors. assay: of an experiment.
check_input <- function(x, y, use, method, assay = NULL) {
  if (is_alone_and_plain(x, y, assay)) {
    if (is_tall(x)) warn_transposed(x)
    check_filled(nrow(x), ncol(x), NULL, use, method)
    return(list(x = x, y = NULL, scalar = FALSE))
  }
  check_has_assay(x, y, assay)
  given <- x
  x <- check_variables(x, "x", assay)
  if (is.null(y) && is_tall(given)) warn_transposed(given)
  if (!is.null(y)) y <- check_variables(y, "y", assay)
  if (!is_matrix(x) && is.null(y)) fail("supply both 'x' and 'y' or a matrix-like 'x'", other_way_in(x, "x"))
  scalar <- !is_matrix(x) && !is_matrix(y)
  x <- as_column(x)
  if (!is.null(y)) y <- as_column(y)
  if (!is.null(y) && nrow(x) != nrow(y)) {
    fail("incompatible dimensions: 'x' has ", nrow(x), " rows (observations), 'y' has ", nrow(y))
  }
  check_filled(nrow(x), ncol(x), if (!is.null(y)) ncol(y), use, method)
  list(x = x, y = y, scalar = scalar && !is.null(y))
}
