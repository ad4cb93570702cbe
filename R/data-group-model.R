# Linear models of the subjects' Fisher z: paired groups, one group, or a design with a contrast. The engine tests them
# by the numbers that a model has here (src/sink/group_tests.h), and permutes them by the weights that
# permuted_weights() makes.
#
# A model is a list: `weights`, which turn the subjects' z into the tested contrast; `basis`, a column of weights of the
# subjects for each value that is left without the terms that are not tested (NULL: the z themselves); `effect`, a unit
# vector, whose product with these values, times `scale`, is the contrast; `df`. And for permutations: `residuals`, a
# row for each subject (or pair of them), which turns the values into residuals without the tested term; `terms`, a
# column for the tested term, and for each other one that permutations change; `flips`: TRUE if they are sign flips.

# A contrast of a linear model for n subjects with the matrix `design`, by least squares.
linear_model <- function(design, contrast) {
  n <- nrow(design)
  weights <- drop(qr.Q(qr(design)) %*% backsolve(qr.R(qr(design)), contrast, transpose = TRUE))
  scale <- sqrt(sum(weights^2))
  # Returns an orthonormal basis of the columns of m without the direction `unit`, which lies within them.
  without <- function(m, unit) qr.Q(qr(cbind(unit, m)))[, seq_len(ncol(m))[-1L], drop = FALSE]
  others <- without(design, weights / scale)
  residuals <- if (ncol(others)) qr.Q(qr(others), complete = TRUE)[, -seq_len(ncol(others)), drop = FALSE] else diag(n)
  # Residuals sum to 0, in any order, if the other terms have an intercept.
  one <- rep(1, n)
  flips <- sum((one - others %*% crossprod(others, one))^2) >= 1e-9 * n
  changing <- if (flips) others else without(others, rep(1 / sqrt(n), n))
  list(weights = weights, basis = if (ncol(others)) residuals, effect = drop(crossprod(residuals, weights / scale)),
       scale = scale, df = n - ncol(design), residuals = residuals, terms = cbind(weights / scale, changing),
       flips = flips)
}

# Returns a column of weights for each permutation of a model's residuals (Freedman and Lane 1983), or of their signs;
# number 0 are the data as they are.
permuted_weights <- function(model, numbers) {
  n <- nrow(model$residuals)
  terms <- t(model$terms)
  permuted <- vapply(numbers, FUN.VALUE = terms, function(b) {
    if (b == 0) return(terms)
    if (!model$flips) return(terms[, sample.int(n), drop = FALSE])
    terms * rep(sample(c(-1, 1), n, replace = TRUE), each = nrow(terms))
  })
  size <- c(nrow(terms), n, length(numbers))
  all <- matrix(aperm(array(permuted, size), c(1L, 3L, 2L)), ncol = n) %*% model$residuals # by terms and permutations
  matrix(aperm(array(all, c(size[-2L], ncol(all))), c(3L, 1L, 2L)), ncol = length(numbers))
}

# ---- checks

# Returns the model of the subjects, or NULL for two independent groups. `sizes`: those of the groups, one or two. Its
# `is_mean` says that the contrast is a mean of z, or a difference of means.
group_model <- function(sizes, paired, design, contrast) {
  if (!is.null(design)) return(design_model(design, contrast, sizes))
  n <- sizes[1L]
  is_paired <- length(sizes) == 2L
  if (is_paired && !paired) return(NULL)
  unequal <- is_paired && n != sizes[2L]
  if (unequal || n < 2L) {
    fail(if (unequal) {
      paste("paired = TRUE pairs the subjects of 'x' and 'y', which are", n, "and", sizes[2L])
    } else if (is_paired) {
      "paired = TRUE needs at least two pairs of subjects"
    } else {
      "one group needs at least two subjects, whose z vary"
    })
  }
  model <- c(linear_model(matrix(1, n, 1L), 1), is_mean = TRUE)
  if (is_paired) { # subjects of the first group come first
    model$weights <- c(model$weights, -model$weights)
    model$basis <- rbind(diag(n), -diag(n))
  }
  model
}

# `contrast`: a number for each column of the design, or the name of a column.
design_model <- function(design, contrast, n) {
  check_that(design, "design", is.matrix(design) && are_finite(design),
             "a numeric matrix with a row for each subject and finite values only, such as model.matrix(~ group + age)")
  check_as_many(nrow(design), "design", "row", n, of = "subject")
  rank <- qr(design)$rank
  if (rank < ncol(design) || n <= rank) {
    fail("'design' has ", if (rank < ncol(design)) {
      paste0(n_of(ncol(design), "column"), " of rank ", rank, "; leave out those that others determine")
    } else {
      paste0(n_of(rank, "term"), " for ", n_of(n, "subject"), "; there must be more subjects")
    })
  }
  names <- colnames(design)
  is_name <- is.character(contrast) && length(contrast) == 1L && contrast %in% names
  if (is_name) contrast <- as.numeric(names == contrast)
  check_that(contrast, "contrast", are_finite(contrast, ncol(design)) && any(contrast != 0),
             paste0("a number for each of the ", ncol(design), " columns of 'design', not all 0, or the name of one ",
                    "of them", if (!is.null(names)) paste0(" (", paste0('"', names, '"', collapse = ", "), ")")))
  linear_model(unname(design), as.numeric(contrast))
}
