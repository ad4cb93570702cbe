# Residuals of columns, computed in R: for lags, windows and surrogates. The engine computes its own
# (src/measure/design.c), and those of gpuClean().

# Returns the residuals of a regression on an orthonormal basis; NULL: there is nothing to regress on. `removed`: NULL,
# or what is subtracted in the place of the basis (protecting_basis()). A second projection makes them orthogonal to the
# basis to all digits where the first removed much. Residuals of multiples of regressors are rounding errors and become
# 0. `keeps`: TRUE if the basis spans the residuals.
residual_columns <- function(m, basis, keeps, removed = NULL) {
  if (is.null(removed)) removed <- basis
  if (is.null(basis)) return(m)
  products <- crossprod(basis, m)
  if (keeps) return(without_rounding_errors(basis %*% products, m, 1e-10))
  left <- m - removed %*% products
  size <- colSums(left^2)
  few <- which(!(size > 1.01 * colSums(products^2))) # in others, more than half of the squares is left
  if (length(few)) {
    given <- m[, few, drop = FALSE]
    again <- few[which(size[few] < colSums(given^2) / 2)]
    some <- left[, again, drop = FALSE]
    left[, again] <- some - removed %*% crossprod(basis, some)
    left[, few] <- without_rounding_errors(left[, few, drop = FALSE], given, 1e-10)
  }
  left
}

# Returns the residuals of a robust regression, which can be permuted: least squares spread an outlier over the other
# residuals, whose tails are then lighter than those of the errors. It is Huber's (1981) M-estimate, the default of
# MASS::rlm(). Each step gives back what least squares took of the residuals beyond the bound. `basis`: orthonormal,
# with the intercept if there is one.
robust_residuals <- function(m, basis) {
  first <- left <- residual_columns(m, basis, FALSE)
  for (step in seq_len(ROBUST_STEPS)) {
    bound <- rep(1.345 / 0.6745 * column_medians(abs(left)), each = nrow(m))
    left <- first + basis %*% crossprod(basis, left - pmax(pmin(left, bound), -bound))
  }
  left
}

# Steps of the estimate: those of the simulations in ?"gpucor-p-values".
ROBUST_STEPS <- 20

# As apply(m, 2, median), with one sort for all columns; NA without rows.
column_medians <- function(m) {
  sorted <- matrix(m[order(col(m), m)], nrow(m))
  middle <- (nrow(m) + 1) / 2
  colMeans(sorted[c(floor(middle), ceiling(middle)), , drop = FALSE])
}

# Returns the residuals of the columns of an ordinary matrix; observations with weight 0 are unchanged.
residualize_columns <- function(x, design, is_centred) {
  if (!any(design$weights != 1)) {
    if (is_centred) x <- x - rep(colSums(x) / nrow(x), rep(nrow(x), ncol(x)))
    return(residual_columns(x, design$basis, design$keeps, design$removed))
  }
  root <- sqrt(design$weights)
  counts <- root > 0
  root <- root[counts]
  left <- x[counts, , drop = FALSE] * root
  if (is_centred) left <- left - outer(root, colSums(left * root) / sum(root^2))
  x[counts, ] <- residual_columns(left, design$basis[counts, , drop = FALSE], design$keeps,
                                  design$removed[counts, , drop = FALSE]) / root
  x
}

# ---- runs

is_adjusted_run <- function(run) !is.null(run$design$basis)

# Regresses on covariates over all observations, before the data are divided. `part`: the name of a part, for messages.
residualized_run <- function(run, part) {
  measure <- measure_of(run$method)
  given <- Filter(Negate(is.null), run[c("x", "y")])
  misses <- !measure$ranked && uses[run$use] == "pairwise.complete.obs" && any(vapply(given, has_missing, NA))
  facts <- c("regression before parts", if (measure$ranked) "measure of ranks",
             if (is_of_spectra(run$method)) "measure of spectra", if (misses) "pairs that miss some")
  check_facts(facts, list(method = run$method, part = part))
  values <- lapply(given, function(x) {
    residuals <- column_blocks(x, function(values) residualize_columns(values, run$design, measure$centred))
    residuals <- do.call(cbind, residuals)
    colnames(residuals) <- colnames(x)
    residuals
  })
  design <- run$design
  design[c("basis", "removed")] <- list(NULL)
  design$adjusted$lost <- NULL # counts all observations
  with_values(run, values$x, values$y, design)
}

# Returns the run with adjusted series, for its windows. Stops if a window has rows of two of the design's runs.
window_series <- function(run) {
  runs <- run$design$runs
  windows <- run$over$windows
  first <- (seq_len(windows$n) - 1) * windows$step + 1
  if (!is.null(runs) && any(runs[first] != runs[first + windows$width - 1])) {
    fail_value("'runs': windows of ", windows$width, " rows, ", windows$step, " apart, have rows of two runs; call ",
               "gpuCorWindows() once for the rows of each run")
  }
  if (is_adjusted_run(run)) residualized_run(run, "window") else run
}

# Loads data that are no ordinary matrix once.
dense_series <- function(x) {
  if (is.matrix(x)) return(x)
  names <- colnames(x)
  x <- dense_columns(x, seq_len(ncol(x)))
  colnames(x) <- names
  x
}

# ---- residuals of lm()

# Returns list(x: the residuals of lm(x ~ covariates), a matrix that is NA where x or a covariate is; covariates: as a
# numeric matrix). `asked`: list(covariates, data, protect); `observations`: those of the user's x.
residuals_of <- function(x, asked, observations) {
  for (name in names(asked)) check_observations(asked[[name]], name, observations)
  given <- covariates_of(asked, list(centred = TRUE), nrow(x))
  # Covariates are centered, as qr() would count large ones that vary little as constant.
  regression_on <- function(rows) {
    root <- rep(1, length(rows))
    z <- lapply(given, function(z) if (!is.null(z)) centred_columns(z[rows, , drop = FALSE], root, centred = TRUE))
    if (!is.null(z$protected)) {
      space <- protecting_basis(z$covariates, z$protected, root)
      return(list(lost = space$lost, residuals = function(values) {
        residual_columns(values - rep(colMeans(values), each = nrow(values)), space$basis, FALSE, space$removed)
      }))
    }
    space <- qr(cbind(root, z$covariates), tol = SAME_SPAN)
    list(lost = space$rank - 1, residuals = function(values) qr.resid(space, values))
  }
  known <- rowSums(is.na(do.call(cbind, given))) == 0
  check_left(sum(known) - 1, regression_on(which(known))$lost, "covariates")
  values <- as.matrix(pick_columns(x, seq_len(ncol(x))))
  dimnames(values) <- dimnames(x)
  values[!known, ] <- NA
  for (set in sets_of_rows(values)) {
    own <- values[set$rows, set$columns, drop = FALSE]
    left <- regression_on(set$rows)$residuals(own)
    values[set$rows, set$columns] <- without_rounding_errors(left, own, 1e-10)
  }
  z <- given$covariates
  rownames(z) <- NULL
  list(x = values, covariates = z)
}

# Returns a list of list(rows, columns): the columns of a matrix that have values in the same rows.
sets_of_rows <- function(values) {
  missing <- is.na(values)
  key <- character(ncol(values))
  some <- which(colSums(missing) > 0)
  key[some] <- apply(missing[, some, drop = FALSE], 2L, function(column) toString(which(column)))
  lapply(unname(split(seq_along(key), key)), function(columns) {
    list(rows = which(!missing[, columns[1L]]), columns = columns)
  })
}
