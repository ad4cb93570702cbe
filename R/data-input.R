# The data of a call, checked before any work: x and y as matrices, or what is read from outside.

tell_sparse <- function() {
  tell_once("a sparse matrix is made dense, a block of columns at a time (this message is shown once a session)")
}

is_variables <- function(x) is.numeric(x) || is.logical(x)

is_sparse <- function(x) isS4(x) && is(x, "sparseMatrix")

# Many subjects' data are taken where they are asked for.
check_one <- function(x, name) {
  if (!is_subjects(x)) return(invisible())
  if (is.list(x) && length(dim(x[["data"]])) == 2L) {
    fail("'", name, "' is a list with the matrix 'data', as WGCNA has a data set; a list of such takes ",
         "lapply(", name, ", `[[`, \"data\")")
  }
  fail("'", name, "' must be numeric, not of class ", class(x)[1L],
       "; many subjects' data are for gpuCor(), gpuCorNetwork(), gpuConnectivity() and gpuCorCompare()")
}

# Numeric, integer or logical matrix, dgCMatrix, or what is read from outside; a data frame or another
# Matrix becomes one of them, a vector stays a vector.
check_variables <- function(x, name, assay = NULL) {
  if (!is.object(x) && is_variables(x)) return(x)
  check_not_network(x, name)
  check_one(x, name)
  if (is_experiment(x)) {
    picked <- picked_assay(x, name, assay) # before t() is chosen by its class, which would wrap its errors
    x <- Matrix::t(picked)
  }
  if (is_outside(x)) x <- check_outside(x, name)
  if (is_outside(x)) return(x)
  if (is.data.frame(x)) return(check_frame(x, name))
  if (is_sparse(x)) {
    tell_sparse()
    return(as(as(as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix"))
  }
  x <- as_ordinary(x, name)
  if (!is_variables(x)) not_numeric(x, name)
  x
}

as_ordinary <- function(x, name) {
  if (isS4(x) && is(x, "Matrix")) {
    check_copy_memory(x, name)
    return(as.matrix(x))
  }
  if (inherits(x, "integer64")) numbers_of_integer64(x) else x
}

not_numeric <- function(x, name) {
  if (is.character(x) && is.matrix(x)) {
    fail("'", name, "' must be numeric, not a matrix of character values", text_in(x, name))
  }
  plain <- is.matrix(x) && !is.object(x)
  fail("'", name, "' must be numeric, not ", if (plain) paste("a matrix of", typeof(x), "values"),
       if (!plain) paste("of class", class(x)[1L]), other_way_in(x, name))
}

# A network in the place of the data that it is of. Its columns could be correlated, which is hardly ever meant.
check_not_network <- function(x, name) {
  if (!is_network(x)) return(invisible())
  fail("'", name, "' is a network (of class ", class(x)[1L], "), not data; give the matrix that it was made of. ",
       "Degrees are rowSums(", name, " != 0), gpuTOM() and as_igraph() take networks, and to correlate its columns ",
       "give as(", name, ", \"generalMatrix\")")
}

# How text came into a matrix, and what to do.
text_in <- function(x, name) {
  is_text <- function(k) !is.na(x[, k]) & is.na(suppressWarnings(as.numeric(x[, k])))
  bad <- which(vapply(seq_len(ncol(x)), function(k) any(is_text(k)), NA))
  if (!length(bad)) return(paste0("; they are numbers: storage.mode(", name, ") <- \"double\""))
  several <- length(bad) > 1L
  paste0(", such as ", show_value(unname(x[is_text(bad[1L]), bad[1L]][1L])), " in ", column_names(bad, colnames(x)),
         if (length(bad) < ncol(x)) {
           paste0("; as.matrix() turns all of a data frame to text where one column is: leave ",
                  if (several) "these columns" else "this column", " out first, or make row names of ",
                  if (several) "one" else "it")
         })
}

# Columns in words: "columns 1 (probe), 2 (symbol)"; the first few of them.
column_names <- function(bad, names) {
  first <- utils::head(bad, 3L)
  paste0(if (length(bad) > 1L) "columns " else "column ",
         toString(if (is.null(names)) first else paste0(first, " (", names[first], ")")),
         if (length(bad) > 3L) ", ...")
}

# First columns of names, as files have them: the first of these tells rows apart.
check_no_names <- function(x, bad, name) {
  is_text <- vapply(x[bad], function(column) is.character(column) || is.factor(column), NA)
  are_first <- identical(unname(bad), seq_along(bad)) && length(x) > length(bad)
  if (!are_first || !all(is_text) || mean(duplicated(x[[1L]])) > 0.5) return(invisible())
  unique <- if (anyDuplicated(x[[1L]])) "make.unique(as.character(" else ""
  several <- length(bad) > 1L
  fail("'", name, "' must be numeric, and its first ", if (several) "columns" else "column", " (",
       toString(utils::head(names(x)[bad], 3L)), if (length(bad) > 3L) ", ...", if (several) ") are" else ") is",
       " names, such as ", show_value(as.character(x[[1L]][1L])), "; they belong to the rows: ", name,
       " <- data.frame(", without_columns(x, bad, name), ", row.names = ", unique, name, "[[1]]",
       if (nzchar(unique)) "))", "). If they are the variables', then t(", name, "), as variables go by columns")
}

# R's words for a data frame without some columns; a data.table's `[` takes rows by one index.
without_columns <- function(x, bad, name) {
  frame <- if (inherits(x, "data.table")) paste0("as.data.frame(", name, ")") else name
  if (length(bad) > 5L) return(paste0(frame, "[vapply(", name, ", is.numeric, NA)]"))
  are_first <- length(bad) > 1L && identical(unname(bad), seq_along(bad))
  paste0(frame, "[-", if (are_first) paste0("(1:", length(bad), ")") else deparse1(as.numeric(bad)), "]")
}

# Class integer64 of package bit64, as data.table's fread() has large numbers, keeps integers in the bits of doubles.
numbers_of_integer64 <- function(x) {
  need_package("bit64", "class integer64")
  if (is.null(dim(x))) as.double(x) else array(as.double(x), dim(x), dimnames(x))
}

check_frame <- function(x, name) {
  bad <- which(!vapply(x, is_variables, NA))
  if (!length(bad)) {
    for (k in which(vapply(x, inherits, NA, "integer64"))) x[[k]] <- numbers_of_integer64(x[[k]])
    check_copy_memory(x, name)
    return(as.matrix(x))
  }
  check_no_names(x, bad, name)
  several <- length(bad) > 1L
  fail("'", name, "' must be numeric: ", column_names(bad, names(x)), if (several) " are" else " is", " of class ",
       toString(unique(vapply(x[utils::head(bad, 3L)], function(column) class(column)[1L], ""))), "; leave ",
       if (several) paste0("them out, ", without_columns(x, bad, name)) else "it out",
       if (is_tall(x)) transposed_way_out(without_columns(x, bad, name)))
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

# x and y as matrices ready for the engine; scalar: both were vectors; observations: those of x, by their names, NULL if
# they are the rows of x as it is returned. assay: of an experiment.
check_input <- function(x, y, use, method, assay = NULL) {
  if (is_alone_and_plain(x, y, assay)) {
    warn_transposed(x)
    check_filled(nrow(x), ncol(x), NULL, use, method)
    return(list(x = x, y = NULL, scalar = FALSE))
  }
  check_has_assay(x, y, assay)
  given <- list(x = x, y = y)
  x <- check_variables(x, "x", assay)
  if (is.null(y)) warn_transposed(given$x)
  check_not_words(y)
  if (!is.null(y)) y <- check_variables(y, "y", assay)
  if (!is_matrix(x) && is.null(y)) fail("supply both 'x' and 'y' or a matrix-like 'x'", other_way_in(x, "x"))
  scalar <- !is_matrix(x) && !is_matrix(y)
  x <- as_column(x)
  if (!is.null(y)) y <- as_column(y)
  if (!is.null(y) && nrow(x) != nrow(y)) {
    fail("incompatible dimensions: 'x' has ", nrow(x), " rows (observations), 'y' has ", nrow(y))
  }
  check_filled(nrow(x), ncol(x), if (!is.null(y)) ncol(y), use, method)
  observations <- observations_of(given$x)
  if (!is.null(y)) check_observations(given$y, "y", observations)
  list(x = x, y = y, scalar = scalar && !is.null(y), observations = observations)
}

is_network <- function(x) isS4(x) && is(x, "gpuNetwork")

# Words in the place of a second matrix.
check_not_words <- function(y) {
  if (!is.character(y) || length(y) != 1L || is.na(y)) return(invisible())
  method <- method_named(y)
  way_out <- if (!is.na(method)) method_way_out(method) else if (y %in% uses) paste0("; write use = \"", y, "\"")
  if (!is.null(way_out)) fail("'y' is \"", y, "\", and would be a second matrix", way_out)
}

# A single number in the place of a second matrix: somebody meant a threshold.
check_not_threshold <- function(x, y) {
  if (!is_number(y) || is_subjects(x) || NROW(x) == 1L) return(invisible())
  fail("'y' is ", show_value(y), ", a single number, and would be a second matrix; for a threshold write threshold = ",
       show_value(y))
}

# Where a number in the place of y is taken for a threshold.
check_as_threshold <- function(y) {
  if (isTRUE(y >= 0 && y <= 1)) return(y)
  fail("'y' must be a second matrix, or in its place a threshold in [0, 1], not ", show_value(y),
       "; for a power write power = ", show_value(y))
}
