# Class gpuISC: the inter-subject correlation of each column, a data frame of tests.

# `found`: from subject_coefficients(); `subjects`: their names, or NULL.
new_isc <- function(found, run, subjects) {
  tests <- isc_tests(found$r, run, found$is_shared)
  frame <- list(isc = if (run$x$name == "fisher") tanh(tests$mean) else tests$mean, subjects = tests$n,
                statistic = tests$statistic, p.value = tests$p.value, fdr = stats::p.adjust(tests$p.value, "BH"))
  if (!is.null(found$maxima)) frame$p.adjusted <- p_of_maxima(tests$mean, found$maxima)
  names <- colnames(run$x)
  dimnames(found$r) <- if (!is.null(names) || !is.null(subjects)) list(subjects, names)
  isc_frame(frame, found$flags, "gpuISC", r = found$r, run = run)
}

# `found`: a list of means (of the kinds of pairs x columns), difference, p, flags and maxima; `size_of`: the size of a
# difference.
new_isc_groups <- function(found, run, group, size_of) {
  if (run$x$name == "fisher") found$means <- tanh(found$means)
  frame <- list(difference = found$difference, isc.x = found$means[1L, ], isc.y = found$means[2L, ],
                isc.between = found$means[3L, ], p.value = found$p, fdr = stats::p.adjust(found$p, "BH"),
                p.adjusted = p_of_maxima(size_of(found$difference), found$maxima))
  isc_frame(frame, found$flags, c("gpuISCGroups", "gpuISC"), groups = table(group), run = run)
}

# Returns a table of tests of the columns, and warns of those without coefficients. `flags`: from blocks_of_subjects().
isc_frame <- function(frame, flags, class, ..., run) {
  n_obs <- nrow(run$x$data[[1L]])
  warn_without(list(x_flags = flags, y_flags = raw(), n_obs = n_obs), run)
  structure(variable_frame(colnames(run$x), frame), class = c(class, "gpuTests", "data.frame"), ...,
            adjusted = adjustment_of(run), n_obs = n_obs, call = run$call)
}

# Returns the fraction of the maxima, and the value itself, that are as large as each value.
p_of_maxima <- function(values, maxima) {
  as_large <- length(maxima) - findInterval(values - SAME_COEFFICIENT, sort(maxima))
  (1 + as_large) / (1 + length(maxima))
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
  values <- effect_of(x)
  words <- if (is.null(x$isc)) "difference of ISC" else "inter-subject correlation"
  panels <- list(
    map = map_panel(values, words, "Inter-subject correlation", coords, type, as.character(x$variable)),
    isc = function(...) {
      draw_histogram(values, pretty(range(0, values, finite = TRUE), 20L), "columns",
                     list(xlab = words, main = n_of(nrow(x), "column")), ...)
      graphics::abline(v = 0, lty = 3L)
    },
    p.value = function(...) draw_p_values(log(x$p.value), NULL, ...)
  )
  draw_below(panels, type, !is.null(coords), ...)
  invisible(x)
}
