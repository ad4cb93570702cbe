# Class gpuISC: the inter-subject correlation of each column, a data frame of tests.

# `found`: from subject_coefficients(); `subjects`: their names, or NULL.
new_isc <- function(found, run, subjects) {
  tests <- isc_tests(found$r, run, found$is_shared)
  frame <- list(isc = if (run$x$name == "fisher") tanh(tests$mean) else tests$mean, subjects = tests$n,
                statistic = tests$statistic, p.value = tests$p.value, fdr = stats::p.adjust(tests$p.value, "BH"))
  if (!is.null(found$maxima)) {
    as_large <- length(found$maxima) - findInterval(tests$mean - SAME_COEFFICIENT, sort(found$maxima))
    frame$p.adjusted <- (1 + as_large) / (1 + length(found$maxima))
  }
  names <- colnames(run$x)
  dimnames(found$r) <- if (!is.null(names) || !is.null(subjects)) list(subjects, names)
  flags <- as.raw(constant("missing") * found$missing + constant("constant") * found$constant)
  warn_without(list(x_flags = flags, y_flags = raw(), n_obs = nrow(run$x$data[[1L]])), run)
  structure(variable_frame(names, frame), class = c("gpuISC", "gpuTests", "data.frame"), r = found$r,
            adjusted = adjustment_of(run), n_obs = nrow(run$x$data[[1L]]))
}

# Returns list(mean, n, statistic, p.value) of each column of r, subjects x columns. `is_shared`: TRUE if all subjects
# are correlated with the same target.
isc_tests <- function(r, run, is_shared) {
  z <- isc_scores(r, run$x$name)
  n <- colSums(!is.na(z))
  mean <- colMeans(z, na.rm = run$x$skips)
  mean[is.nan(mean)] <- NA
  variance <- colSums((z - rep(mean, each = nrow(z)))^2, na.rm = TRUE) / (n - 1)
  # If subjects are independent, the z of any two have the correlation 1 / (n - 1). The mean of n then has the variance
  # 2 v / n, and the variance among them has the expected value v (n - 2) / (n - 1).
  # With a target they are independent.
  statistic <- mean / sqrt(variance / n * if (is_shared) 1 else 2 * (n - 1) / (n - 2))
  statistic[n < if (is_shared) 2 else 3] <- NA
  list(mean = mean, n = n, statistic = statistic, p.value = stats::pt(statistic, pmax(n - 1, 1), lower.tail = FALSE))
}

# Returns what is averaged over subjects: coefficients, or Fisher's z, in which 1 counts as 1 - 2^-24.
isc_scores <- function(r, combine) {
  if (combine == "mean") return(r)
  bound <- 1 - 2^-24
  atanh(pmin(pmax(r, -bound), bound))
}

#' @rdname gpuISC
#' @param type,coords For `plot()`: `"isc"`, a histogram of the coefficients; `"p.value"` or `"volcano"`, as in
#'   [gpuCorTest()]; `"map"`, at the positions `coords` of [gpuConnectivity()]; or `"auto"`, all but the volcano.
#' @export
plot.gpuISC <- function(x, type = c("auto", "isc", "p.value", "volcano", "map"), coords = NULL, ...) {
  type <- check_choice(type, c("auto", "isc", "p.value", "volcano", "map"), "type")
  if (!has_tests(x) || type %in% c("p.value", "volcano")) return(plot.gpuTests(x, type, ...))
  if (!nrow(x)) fail("there is no column to plot: 'x' has none")
  panels <- list(
    map = map_panel(x$isc, "r", "Inter-subject correlation", coords, type, as.character(x$variable)),
    isc = function(...) {
      draw_histogram(x$isc, pretty(range(0, x$isc, finite = TRUE), 20L), "columns",
                     list(xlab = "inter-subject correlation", main = n_of(nrow(x), "column")), ...)
      graphics::abline(v = 0, lty = 3L)
    },
    p.value = function(...) draw_p_values(log(x$p.value), NULL, ...)
  )
  draw_below(panels, type, !is.null(coords), ...)
  invisible(x)
}
