# Checks a call's data before any work. x and y become matrices, or data that are read in blocks.

# Returns a numeric, integer or logical matrix, a dgCMatrix, or data that are read in blocks; a vector stays a vector.
# `method`: the measure for which x is checked, if there is one.
check_variables <- function(x, name, assay = NULL, method = "") {
  if (method == "given") refuse_given()
  x <- as_variables(x, name, assay, method)
  check_not_coefficients(x, name)
  x
}

# Classes of data beside matrices and vectors; the first that x has counts. A row reads their variables: it returns a
# matrix, a dgCMatrix or data that are read in blocks, or stops. Others' experiments are rows of `experiments`, and data
# outside memory rows of OUTSIDE.
READERS <- list(
  gpuNetwork = function(x, name, assay, method) { # users rarely want correlations of a network's columns
    fail("'", name, "' is a network (of class ", class(x)[1L], "), not data; to correlate its columns give as(", name,
         ", \"generalMatrix\")")
  },
  experiment = function(x, name, assay, method) {
    own <- check_slots(picked_assay(x, name, assay), name) # not within t(), whose dispatch would wrap the error
    as_variables(Matrix::t(own), name, NULL, method)
  },
  outside = function(x, name, assay, method) {
    x <- check_outside(x, name)
    if (is_outside(x)) x else as_variables(x, name, NULL, method)
  },
  data.frame = function(x, name, assay, method) {
    x <- as_numbers(x)
    bad <- which(!vapply(x, is_variables, NA))
    if (length(bad)) {
      fail("'", name, "' must be numeric, but ", column_names(bad, names(x)), if (length(bad) > 1L) " are" else " is",
           " of class ", class(x[[bad[1L]]])[1L], "; leave such columns out, or make them row names")
    }
    check_copy_memory(x, name)
    as.matrix(x)
  },
  sparseMatrix = function(x, name, assay, method) {
    x <- as(as(as(x, "dMatrix"), "generalMatrix"), "CsparseMatrix")
    tell_sparse(x, method)
    x
  }
)

# Works like check_variables(), but also for values of pairs.
as_variables <- function(x, name, assay = NULL, method = "") {
  if (!is.object(x) && is_variables(x)) return(x)
  check_one(x, name)
  x <- check_slots(x, name)
  kind <- if (is_experiment(x)) "experiment" else if (is_outside(x)) "outside"
  if (is.null(kind)) kind <- Find(function(class) inherits(x, class), names(READERS))
  if (!is.null(kind)) return(READERS[[kind]](x, name, assay, method))
  x <- as_ordinary(x, name)
  if (is_variables(x)) return(x)
  is_plain <- is.matrix(x) && !is.object(x)
  kind <- if (is_plain) paste("a matrix of", typeof(x), "values") else paste("of class", class(x)[1L])
  fail("'", name, "' must be numeric, not ", kind, input_hint(x, name))
}

# Stops if x is a list of subjects: this function takes one data set.
check_one <- function(x, name) {
  if (!is_subjects(x)) return(invisible())
  fail_value("'", name, "' ", if (is.list(x) && length(dim(x[["data"]])) == 2L) {
    paste0("is a list with the matrix 'data', as in WGCNA; give lapply(", name, ", `[[`, \"data\")")
  } else {
    paste0("must be numeric, not of class ", class(x)[1L],
           "; many subjects' data are for gpuCor(), gpuCorNetwork(), gpuConnectivity() and gpuCorCompare()")
  })
}

# Stops if x has values of pairs, such as correlations, whose columns would be correlated again. Such a matrix is
# symmetric, has ones on its diagonal, and no larger values. Integers, as in an identity matrix, may be data. Up to 100
# rows and the columns of the same indices are checked. Missing values are allowed, as columns without variance have
# them.
# Of several subjects any symmetric matrix is one of values of pairs, such as Fisher's z (`of_subjects`).
check_not_coefficients <- function(x, name, of_subjects = FALSE) {
  if (!is_matrix(x) || nrow(x) != ncol(x) || nrow(x) < 3L) return(invisible())
  some <- spread_over(nrow(x), 100)
  values <- dense_columns(x, some)[some, ]
  own <- diag(values)
  has_ones <- mean(is.na(own)) < 0.5 && all(abs(own - 1) <= 1e-6, na.rm = TRUE) &&
    max(abs(values), na.rm = TRUE) <= 1 + 1e-6
  are_values_of_pairs <- is.double(values) && (has_ones || of_subjects) && isSymmetric(unname(values), tol = 1e-6) &&
    any(abs(values - round(values)) > 1e-6, na.rm = TRUE)
  if (!are_values_of_pairs) return(invisible())
  fail("'", name, "' is a matrix of ", if (has_ones) "coefficients, symmetric with ones on its diagonal",
       if (!has_ones) "values of pairs, as it is symmetric", "; give the data from which they were computed, ",
       "method = \"given\" to take these", if (has_ones) ", or twice the values to correlate these themselves")
}

# ---- coefficients that one has: method = "given"

refuse_given <- function() check_facts(c("given coefficients", "call of observations"))

# Fisher's z that have a coefficient which differs enough from 1: that of 8 is 1 - 2.3e-7, where z has 9 digits.
MAX_GIVEN_Z <- 8

# Returns a matrix of coefficients that the engine looks up, from those or values of pairs that `options` describe.
given_coefficients <- function(x, options) {
  names <- if (inherits(x, "dist")) attr(x, "Labels") else if (is.null(colnames(x))) rownames(x) else colnames(x)
  if (inherits(x, "dist")) x <- as.matrix(x)
  x <- as_variables(x, "x")
  is_square <- is.matrix(x) && nrow(x) == ncol(x)
  if (is_square && !is.double(x)) storage.mode(x) <- "double"
  names <- if (!is.null(names)) list(NULL, names)
  copy <- if (is_square) checked(.Call(r_given, x, names, choose_threads(setting(NULL, "threads"))))
  if (!isTRUE(copy$is_symmetric)) {
    fail("'x' must be a symmetric matrix or a dist with method = \"given\", not ",
         if (is_square) "one that is not symmetric" else if (is.matrix(x)) paste(nrow(x), "x", ncol(x)) else "a vector")
  }
  x <- copy$values
  are_z <- identical(options$values, "z")
  max <- copy$largest
  if (max > if (are_z) MAX_GIVEN_Z else 1 + 1e-6) {
    fail("'x' has values up to ", format(max, digits = 3L), if (are_z) {
      paste0(" as z, and must have none above ", MAX_GIVEN_Z, "; divide them by a number, the same for all subjects")
    } else {
      ", which are no coefficients; options = list(values = \"z\") takes Fisher's z and other numbers"
    })
  }
  if (!are_z) return(if (max > 1) pmax(pmin(x, 1), -1) else x)
  x <- tanh(x)
  diag(x) <- 1
  x
}

as_ordinary <- function(x, name) {
  if (isS4(x) && is(x, "Matrix")) {
    check_copy_memory(x, name)
    return(as.matrix(x))
  }
  as_numbers(x)
}

# Returns columns as text, at most three: "columns 1 (probe), 2 (symbol)".
column_names <- function(bad, names) {
  first <- utils::head(bad, 3L)
  paste0(if (length(bad) > 1L) "columns " else "column ",
         toString(if (is.null(names)) first else paste0(first, " (", names[first], ")")),
         if (length(bad) > 3L) ", ...")
}

# Returns a hint at the function that reads x, for an error message.
input_hint <- function(x, name) {
  if (length(dim(x)) > 2L || inherits(x, c("niftiImage", "internalImage", "nifti"))) {
    return(paste0("; voxelMatrix(", name, ") makes time x voxels of an image",
                  if (length(dim(x)) == 3L) ", epochMatrix() times x channels of epochs"))
  }
  if (inherits(x, "dist")) {
    return("; it has values of pairs already: give the data that they are of, or method = \"given\"")
  }
  if (is.character(x) && is.matrix(x)) return("; leave columns of text out, or make them row names")
  if (inherits(x, "formula")) return(paste0("; covariates = ", deparse1(x), " regresses these out"))
  if (!is.character(x) || length(x) != 1L) return(NULL)
  if (grepl("[.]nii([.]gz)?$", x)) return("; voxelMatrix() reads this file")
  if (grepl("[.](h5|h5ad|hdf5|bed|bin|raw)$", x, ignore.case = TRUE)) return("; gpuCorFile() takes this file")
  if (grepl("[.][[:alnum:]]+$", x)) "; read the file first"
}

COLUMNS <- "a variable in each column"

# For functions that take no vector; `variables`: text that says where x has its variables.
check_matrix_like <- function(x, variables) {
  check_slots(x, "x")
  size <- dim(x)
  if (!is_variables(x) || length(size) == 2L) return(invisible()) # check_variables() checks the rest
  fail("'x' must be matrix-like, with ", variables, "; it ",
       if (is.null(size)) "is a vector" else paste("has", length(size), "dimensions"), input_hint(x, "x"))
}

# Stops on empty input if stats::cor() does: n_obs observations of n_x variables, and of n_y unless NULL. stats::cor()
# checks y only for pairwise ranks.
check_filled <- function(n_obs, n_x, n_y, use, method) {
  use <- uses[use]
  if (use == "everything" || use == "na.or.complete") return(invisible())
  is_empty <- n_obs == 0L || n_x == 0L
  of_pairs <- use == "pairwise.complete.obs" && measure_of(method)$ranked
  if (of_pairs) is_empty <- if (is.null(n_y)) n_x == 0L else is_empty || n_y == 0L
  if (!is_empty) return(invisible())
  fail(if (use == "complete.obs") {
    "no complete element pairs"
  } else if (of_pairs && !is.null(n_y)) {
    "both 'x' and 'y' must be non-empty"
  } else {
    "'x' is empty"
  })
}

# Returns list(x, y: matrices for the engine; scalar: TRUE if both were vectors; observations: names of x's
# observations, or NULL if they are row names of the returned x). `assay`: of an experiment; `options`: of the measure.
check_input <- function(x, y, use, method, assay = NULL, options = NULL) {
  if (method == "given") {
    check_facts(c("given coefficients", if (!is.null(y)) "y"))
    return(list(x = given_coefficients(x, options), y = NULL, scalar = FALSE))
  }
  if (inherits(assay, "gpuPseudobulk")) {
    return(check_input(read_pseudobulk(x, assay), y, use, method, options = options))
  }
  is_plain <- is.null(y) && is.null(assay) && is.matrix(x) && !is.object(x) && (is_numeric(x) || is.logical(x))
  if (is_plain) { # the common case, which takes less time
    check_not_coefficients(x, "x")
    if (nrow(x) >= MIN_ROWS) warn_transposed(x)
    if (!length(x)) check_filled(nrow(x), ncol(x), NULL, use, method)
    return(list(x = x, y = NULL, scalar = FALSE))
  }
  check_has_assay(x, y, assay)
  given <- list(x = x, y = y)
  x <- check_variables(x, "x", assay, method)
  if (is.null(y)) warn_transposed(given$x, x)
  if (!is.null(y)) y <- check_variables(y, "y", assay, method)
  if (!is_matrix(x) && is.null(y)) fail("supply both 'x' and 'y' or a matrix-like 'x'", input_hint(x, "x"))
  scalar <- !is_matrix(x) && !is_matrix(y)
  if (!is_matrix(x)) x <- matrix(x, ncol = 1L)
  if (!is.null(y) && !is_matrix(y)) y <- matrix(y, ncol = 1L)
  if (!is.null(y) && nrow(x) != nrow(y)) {
    fail("incompatible dimensions: 'x' has ", nrow(x), " rows (observations), 'y' has ", nrow(y))
  }
  check_filled(nrow(x), ncol(x), if (!is.null(y)) ncol(y), use, method)
  observations <- observations_of(given$x)
  if (!is.null(y)) check_observations(given$y, "y", observations)
  list(x = x, y = y, scalar = scalar && !is.null(y), observations = observations)
}

# Returns a matrix, label x gene, of log2(counts per million + 1), whose counts are summed over the cells of x with each
# label. `assay`: from assay_of().
read_pseudobulk <- function(x, assay) {
  check_has_assay(x, NULL, assay$assay)
  labels <- labels_of_observations(assay$labels, "pseudobulk", x)
  if (is_experiment(x)) {
    own <- if (is.null(assay$assay)) experiment_of(x)$counts(x) else assay$assay
    x <- Matrix::t(check_slots(picked_assay(x, "x", own), "x"))
  }
  if (!is(x, "sparseMatrix")) x <- as_variables(x, "x")
  cells <- which(!is.na(labels))
  is_of <- Matrix::sparseMatrix(cells, as.integer(labels)[cells], x = 1, dims = c(length(labels), nlevels(labels)))
  sum_cells <- function(values) as.matrix(crossprod(is_of, values))
  sums <- if (is(x, "sparseMatrix")) sum_cells(x) else do.call(cbind, column_blocks(x, sum_cells))
  if (!all(is.finite(sums)) || any(sums < 0)) {
    fail_value("'pseudobulk' sums counts, and 'x' has negative, missing or infinite values; give counts without ",
               "logarithm")
  }
  depth <- rowSums(sums)
  if (any(depth == 0)) {
    fail_value("'pseudobulk' has the label ", levels(labels)[depth == 0][1L], ", whose cells have no counts")
  }
  structure(log2(1e6 * sums / depth + 1), dimnames = list(levels(labels), colnames(x)))
}

# A single number instead of a second matrix is probably a threshold.
check_not_threshold <- function(x, y) {
  if (!is_number(y) || is_subjects(x) || NROW(x) == 1L) return(invisible())
  fail("'y' is ", show_value(y), ", a single number, and would be a second matrix; for a threshold write threshold = ",
       show_value(y))
}
