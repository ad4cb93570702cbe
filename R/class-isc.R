# Class gpuISC: the inter-subject correlation of each column, a data frame.

# `found`: from subject_coefficients(); `subjects`: their names, or NULL.
new_isc <- function(found, run, subjects) {
  z <- isc_scores(found$r, run$x$name)
  n <- colSums(!is.na(z))
  mean <- colMeans(z, na.rm = run$x$skips)
  mean[is.nan(mean)] <- NA
  variance <- colSums((z - rep(mean, each = nrow(z)))^2, na.rm = TRUE) / (n - 1)
  # If subjects are independent, the z of any two have the correlation 1 / (n - 1). The mean of n then has the variance
  # 2 v / n, and the variance among them has the expected value v (n - 2) / (n - 1).
  statistic <- mean / sqrt(2 * variance * (n - 1) / (n * (n - 2)))
  statistic[n < 3] <- NA
  p <- stats::pt(statistic, pmax(n - 1, 1), lower.tail = FALSE)
  frame <- list(isc = if (run$x$name == "fisher") tanh(mean) else mean, subjects = n, statistic = statistic,
                p.value = p, fdr = stats::p.adjust(p, "BH"))
  if (!is.null(found$maxima)) {
    as_large <- length(found$maxima) - findInterval(mean - SAME_COEFFICIENT, sort(found$maxima))
    frame$p.adjusted <- (1 + as_large) / (1 + length(found$maxima))
  }
  names <- colnames(run$x)
  dimnames(found$r) <- if (!is.null(names) || !is.null(subjects)) list(subjects, names)
  flags <- as.raw(constant("missing") * found$missing + constant("constant") * found$constant)
  warn_without(list(x_flags = flags, y_flags = raw(), n_obs = nrow(run$x$data[[1L]])), run)
  structure(variable_frame(names, frame), class = c("gpuISC", "data.frame"), r = found$r,
            adjusted = adjustment_of(run), n_obs = nrow(run$x$data[[1L]]))
}

# Returns what is averaged over subjects: coefficients, or Fisher's z, in which 1 counts as 1 - 2^-24.
isc_scores <- function(r, combine) {
  if (combine == "mean") return(r)
  bound <- 1 - 2^-24
  atanh(pmin(pmax(r, -bound), bound))
}

#' @method print gpuISC
#' @export
print.gpuISC <- function(x, n = 10L, ...) {
  about <- attributes(x)
  adjusted <- about$adjusted
  adjusted[c("lost", "left")] <- NULL # t counts subjects
  cat("Inter-subject correlation of ", n_of(nrow(x), "column"), if (!is.null(about[["r"]])) {
    paste0(": ", n_of(nrow(about[["r"]]), "subject"), ", ", n_of(about$n_obs, "observation"))
  }, "\n", adjusted_line(adjusted, "pearson"), sep = "")
  print(utils::head(as.data.frame(x), n), ..., row.names = FALSE)
  if (nrow(x) > n) cat("... and ", n_of(nrow(x) - n, "more column"), "\n", sep = "")
  invisible(x)
}
