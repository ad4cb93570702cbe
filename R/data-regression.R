# Regression on covariates in R, for functions that need the adjusted values themselves.

# Returns list(x: the residuals of lm(x ~ covariates), a matrix that is NA where x or a covariate is; covariates: as a
# numeric matrix). `asked`: list(covariates, data); `observations`: those of the user's x.
residuals_of <- function(x, asked, observations) {
  for (name in names(asked)) check_observations(asked[[name]], name, observations)
  z <- check_covariates(asked$covariates, asked$data, list(centred = TRUE), nrow(x))
  known <- rowSums(is.na(z)) == 0
  check_left(sum(known) - 1, decompose(z[known, , drop = FALSE])$rank - 1, "'covariates'")
  values <- as.matrix(pick_columns(x, seq_len(ncol(x))))
  dimnames(values) <- dimnames(x)
  values[!known, ] <- NA
  for (set in sets_of_rows(values)) {
    values[set$rows, set$columns] <- left_by(decompose(z[set$rows, , drop = FALSE]),
                                             values[set$rows, set$columns, drop = FALSE])
  }
  rownames(z) <- NULL
  list(x = values, covariates = z)
}

# Decomposes an intercept and covariates. These are centered, as qr() would count large ones that vary little as
# constant.
decompose <- function(z) {
  root <- rep(1, nrow(z))
  qr(cbind(root, centred_columns(z, root, centred = TRUE)), tol = SAME_SPAN)
}

# Returns residuals; columns that are explained except for rounding errors become 0.
left_by <- function(decomposed, values) {
  without_rounding_errors(qr.resid(decomposed, values), values, 1e-10)
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
