# Linear models of the subjects' Fisher z: two groups with one variance, paired groups, one group, or a design with a
# contrast. The engine tests them by the numbers that a model has here (src/sink/groups/group_tests.h), and permutes
# them by the weights that label_weights() makes.
#
# A model is a list: `terms`, orthonormal columns with a row for each subject (or pair of them): first `steady` ones
# that no permutation changes, then others that are not tested, last the `tested` ones; `scale`, times the coefficient
# of the only tested term is the contrast; `weights`, which turn the subjects' z into it; `df`; `flips`: TRUE if
# permutations are sign flips; `compared`: see what_is_compared(); `alike`: equal numbers for equal rows of the design.

# A model for subjects with the matrix `design`, by least squares. `contrast`: a matrix with a row for each column of
# the design; the hypothesis is that its products with the coefficients are 0. `units`: see exchange().
linear_model <- function(design, contrast, compared, units) {
  n <- nrow(design)
  rows <- apply(design, 1L, paste, collapse = " ")
  decomposed <- qr(design)
  weights <- qr.Q(decomposed) %*% backsolve(qr.R(decomposed), contrast, transpose = TRUE)
  scale <- if (ncol(weights) == 1L) sqrt(sum(weights^2)) else 1
  tested <- if (ncol(weights) == 1L) weights / scale else qr.Q(qr(weights))
  others <- qr.Q(qr(cbind(tested, design)))[, seq_len(ncol(design))[-seq_len(ncol(tested))], drop = FALSE]
  # Residuals sum to 0, in any order, if the other terms have an intercept.
  one <- rep(1, n)
  flips <- sum((one - others %*% crossprod(others, one))^2) >= 1e-9 * n
  steady <- 0L
  if (!flips) {
    check_exchange(tested, units)
    # a term stays if it is the same for all subjects that may take one another's place
    moved <- svd(others - means_within(others, units), nu = 0L)
    others <- others %*% moved$v[, rev(seq_len(ncol(others))), drop = FALSE]
    steady <- sum(moved$d < 1e-7)
  }
  list(terms = cbind(others, tested, deparse.level = 0L), tested = ncol(tested), steady = steady, scale = scale,
       weights = if (ncol(weights) == 1L) drop(weights) else one, df = n - ncol(design), flips = flips,
       compared = compared, alike = match(rows, unique(rows)))
}

# ---- exchangeable subjects

# Returns the numbers of the subjects that take the places 1 to n, or with `flips` the places with random signs. `units`
# is a list of matrices: a column is a unit, the subjects that move together, and units move within their matrix.
exchange <- function(units, n, flips = FALSE) {
  at <- seq_len(n)
  for (m in units) {
    if (flips) {
      at[m] <- m * rep(sample(c(-1L, 1L), ncol(m), replace = TRUE), each = nrow(m))
    } else {
      at[m] <- m[, sample.int(ncol(m))]
    }
  }
  at
}

# Returns these units of n subjects: each subject; with `blocks`, labels, subjects move within their block; `whole`:
# blocks move among those of their size.
units_of <- function(blocks, whole, n) {
  if (is.null(blocks)) return(list(matrix(seq_len(n), 1L)))
  check_that(blocks, "blocks", is.atomic(blocks) && length(blocks) == n && !anyNA(blocks),
             paste("a label for each of the", n_of(n, "subject"), "or pairs of them, without missing values, or a",
                   "formula such as ~ site, with data ="))
  members <- unname(split(seq_len(n), factor(blocks)))
  if (!whole) return(lapply(members, matrix, nrow = 1L))
  lapply(unname(split(members, lengths(members))), function(alike) matrix(unlist(alike), ncol = length(alike)))
}

# Stops if no permutation changes the tested terms, or labels.
check_exchange <- function(tested, units) {
  if (sum((tested - means_within(as.matrix(tested), units))^2) >= 1e-9 * sum(tested^2)) return(invisible())
  whole <- any(vapply(units, nrow, 0L) > 1L)
  fail("no exchange within 'blocks' changes what is tested: ", if (whole) {
    "whole = TRUE needs blocks of equal size that differ in it"
  } else {
    "all subjects of a block are alike in it; whole = TRUE exchanges blocks"
  })
}

# Returns for each subject and column of `values` the mean over the subjects that may take its place.
means_within <- function(values, units) {
  for (m in units) {
    for (i in seq_len(nrow(m))) values[m[i, ], ] <- rep(colMeans(values[m[i, ], , drop = FALSE]), each = ncol(m))
  }
  values
}

# ---- checks

# Returns the model of the subjects, or NULL for two independent groups with variances of their own. `sizes`: those of
# the groups, one or two; `groups`: list(paired, design, contrast, variance); `units`: see exchange().
group_model <- function(sizes, groups, units) {
  if (!is.null(groups$design)) return(design_model(groups$design, groups$contrast, sizes, units))
  n <- sizes[1L]
  if (length(sizes) == 2L && !groups$paired) {
    if (groups$variance == "unequal") return(NULL)
    is_x <- rep(1:0, sizes)
    return(linear_model(cbind(1, is_x, deparse.level = 0L), matrix(0:1), "groups", units))
  }
  is_paired <- length(sizes) == 2L
  unequal <- is_paired && n != sizes[2L]
  if (unequal) fail_value("paired = TRUE pairs the subjects of 'x' and 'y', which are ", n, " and ", sizes[2L])
  if (n < 2L) check_facts(c("group of one subject", if (is_paired) "paired"))
  model <- linear_model(matrix(1, n, 1L), matrix(1), if (is_paired) "pairs" else "mean", units)
  if (is_paired) model$weights <- c(model$weights, -model$weights) # subjects of the first group come first
  model
}

# Returns the model of n subjects with the matrix `design`; see contrasts_of().
design_model <- function(design, contrast, n, units) {
  absent <- if (is.matrix(design) && is.numeric(design)) which(is.na(design), arr.ind = TRUE)
  if (length(absent)) {
    fail("'design' has no value of ", column_names(absent[1L, 2L], colnames(design)), " for subject ", absent[1L, 1L],
         "; leave such subjects out of the lists and of 'data'")
  }
  check_that(design, "design", is.matrix(design) && are_finite(design),
             paste("a numeric matrix with a row for each subject and finite values only, or a formula such as",
                   "~ group + age, with data ="))
  check_as_many(nrow(design), "design", "row", n, of = "subject")
  rank <- qr(design)$rank
  if (rank < ncol(design) || n <= rank) {
    fail_value("'design' has ", if (rank < ncol(design)) {
      paste0(n_of(ncol(design), "column"), " of rank ", rank, "; leave out those that others determine")
    } else {
      paste0(n_of(rank, "term"), " for ", n_of(n, "subject"), "; there must be more subjects")
    })
  }
  contrasts <- contrasts_of(contrast, design)
  linear_model(unname(design), contrasts, if (ncol(contrasts) == 1L) "contrast" else "effects", units)
}

# Returns a matrix with a column for each contrast that is tested, of the columns of the design. `contrast`: a number
# for each column, a matrix of such rows, or names of columns or of terms of the formula; NULL: the only term, or those
# that the design has as attribute `contrasts`.
contrasts_of <- function(contrast, design) {
  own <- attr(design, "contrasts", exact = TRUE)
  if (is.null(contrast) && is.matrix(own)) return(own)
  names <- colnames(design)
  terms <- attr(design, "term_labels")
  if (is.null(contrast) && length(terms) == 1L) contrast <- terms
  numbers <- if (is.character(contrast) && length(contrast)) {
    columns <- lapply(contrast, function(name) {
      if (name %in% names) match(name, names) else which(attr(design, "assign") %in% match(name, terms))
    })
    if (all(lengths(columns) > 0L)) diag(ncol(design))[, unique(unlist(columns)), drop = FALSE]
  } else if (are_finite(contrast)) {
    if (is.matrix(contrast)) t(unname(contrast)) else matrix(as.numeric(contrast))
  }
  is_valid <- !is.null(numbers) && nrow(numbers) == ncol(design) && qr(numbers)$rank == ncol(numbers)
  quoted <- function(names) paste0(" (", paste0('"', names, '"', collapse = ", "), ")")
  check_that(contrast, "contrast", is_valid,
             paste0("a number for each of the ", ncol(design), " columns of 'design', not all 0, a matrix of such ",
                    "rows, or the name of one of them", if (!is.null(names)) quoted(names),
                    if (length(terms)) paste0(" or of a term", quoted(terms))))
  numbers
}
