# Tests of factors with several levels: one-way analysis of variance, adjusted for covariates as coefficients are.

# Returns the result of gpuCorTest() with the columns of `factors` replaced by their F tests, and with df and num_df of
# all pairs. `factors`: a list of factors, named by their columns' numbers; run$y has their codes.
with_factors <- function(test, factors, run) {
  design <- run$settings$design
  weights <- if (is.null(design$weights)) rep(1, nrow(run$x)) else design$weights
  if (test$use %in% c("complete.obs", "na.or.complete")) {
    both <- c(column_blocks(run$x, function(values) rowSums(is.na(values))), list(rowSums(is.na(run$y))))
    weights[Reduce(`+`, both) > 0] <- 0
  }
  test$num_df <- replace(test$r, TRUE, 1)
  test$df <- replace(test$r, TRUE, df_of_pairs(test))
  for (name in names(factors)) {
    k <- as.integer(name)
    fit <- factor_fits(run$x, factors[[name]], weights, design$basis)
    df <- test$df[, k] + 1 - fit$rank
    statistic <- (fit$explained / fit$rank) / ((1 - fit$explained) / df)
    none <- is.na(test$r[, k]) | fit$rank == 0
    untested <- none | is.na(test$p.value[, k]) | df < 1
    test$r[, k] <- replace(sqrt(fit$explained), none, NA)
    test$statistic[, k] <- replace(statistic, untested, NA)
    test$p.value[, k] <- replace(stats::pf(statistic, fit$rank, df, lower.tail = FALSE), untested, NA)
    test$num_df[, k] <- fit$rank
    test$df[, k] <- df
  }
  test
}

# Returns the degrees of freedom of each pair, or one number.
df_of_pairs <- function(test) {
  if (is.null(test$df) && is_t_distributed(test$method)) test$n - measure_of(test$method)$df_taken else test$df
}

# Returns for each column of x the fraction of its variance that a factor explains, after regression on the basis, and
# the factor's degrees of freedom: list(explained, rank).
factor_fits <- function(x, factor, weights, basis) {
  found <- lapply(column_blocks(x, function(values) {
    values[is.infinite(values)] <- NA # such columns have no coefficient
    fits <- matrix(0, 2L, ncol(values))
    for (set in sets_of_rows(values)) {
      rows <- set$rows[weights[set$rows] > 0 & !is.na(factor[set$rows])]
      if (length(rows)) {
        fits[, set$columns] <- factor_fit(values[rows, set$columns, drop = FALSE], factor[rows], sqrt(weights[rows]),
                                          basis[rows, , drop = FALSE])
      }
    }
    fits
  }), t)
  found <- do.call(rbind, found)
  list(explained = found[, 1L], rank = found[, 2L])
}

# Returns two rows: explained and rank. `root`: roots of weights, with which the basis has been multiplied already. The
# squared effects of a QR decomposition are the sums of squares of lm().
factor_fit <- function(values, factor, root, basis) {
  levels <- outer(as.integer(factor), unique(as.integer(factor)), `==`)
  whole <- qr(cbind(root, basis, levels * root), tol = SAME_SPAN)
  taken <- qr(cbind(root, basis), tol = SAME_SPAN)$rank
  effects <- qr.qty(whole, values * root)^2
  sum_of <- function(at) colSums(effects[at, , drop = FALSE])
  at <- seq_along(root)
  of_factor <- sum_of(at > taken & at <= whole$rank)
  rbind(of_factor / (of_factor + sum_of(at > whole$rank)), whole$rank - taken)
}
