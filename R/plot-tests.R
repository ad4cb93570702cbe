#' @rdname gpuCorTest
#' @param type For `plot()`: `"p.value"`, a histogram of the p values with the counts expected under the null;
#'   `"volcano"`, p on a logarithmic axis against the effect; or `"auto"`, both. Of many pairs a sample is drawn.
#' @export
plot.gpuTests <- function(x, type = c("auto", "p.value", "volcano"), ...) {
  effect <- as.vector(effect_of(x))
  if (is.null(x$p.value)) fail("there is no p value to plot")
  p <- as.vector(x$p.value)
  if (inherits(x, "gpuCorCompare")) {
    range <- range(0, effect, finite = TRUE)
    log_p <- if (is.null(x$df)) log_p_of_z(x$statistic) else log(p)
    return(draw_tests(x, type, effect, log_p, "difference of z", range, ...))
  }
  draw_tests(x, type, effect, if (isTRUE(x[["log.p"]])) p else log(p), method_title(x$method), c(-1, 1), ...)
}

# Returns two-sided log p values, which are finite even if p underflows to 0.
log_p_of_z <- function(z) log(2) + stats::pnorm(-abs(as.vector(z)), log.p = TRUE)

draw_tests <- function(x, type, effect, log_p, xlab, xlim, ...) {
  panels <- list(p.value = function(...) draw_p_values(log_p, ...),
                 volcano = function(...) draw_volcano(effect, log_p, xlab, xlim, ...))
  type <- check_panel(type, names(panels))
  if (!any(is.finite(effect) & !is.na(log_p))) fail("there is no p value to plot")
  draw_panels(panels, type, ...)
  invisible(x)
}

draw_p_values <- function(log_p, ...) {
  at <- drawn_places(length(log_p))
  p <- exp(log_p[at])
  total <- length(log_p) * mean(!is.na(p))
  breaks <- seq(0, 1, 0.05)
  unit <- draw_histogram(p, breaks, "pairs", total,
                         list(xlab = "p value", main = n_of(length(log_p), "test")), ...)
  graphics::abline(h = total / (length(breaks) - 1) / unit, lty = 2L, col = VERMILION)
  note("dashed: expected under the null")
}

# Returns the positions of the tests to draw: a sample, and the smallest p values.
volcano_places <- function(log_p, max = 20000, smallest = 1000) {
  n <- length(log_p)
  if (n <= max) return(seq_len(n))
  known <- log_p[!is.na(log_p)]
  if (length(known) <= max) return(which(!is.na(log_p)))
  bound <- sort(known, partial = smallest)[smallest]
  unique(c(drawn_places(n, max), utils::head(which(log_p <= bound), 2 * smallest)))
}

draw_volcano <- function(effect, log_p, xlab, xlim, ...) {
  at <- volcano_places(log_p)
  y <- -log_p[at] / log(10)
  top <- max(y[is.finite(y)], 1)
  parameters <- list(xlab = xlab, ylab = expression(-log[10] * " p"), main = "Volcano", yaxs = "i")
  start_plot(xlim, c(0, 1.04 * top), parameters, ...)
  colors <- grDevices::adjustcolor(c(VERMILION, BLUE), 0.5)
  graphics::points(effect[at], pmin(y, top), pch = 16, cex = if (length(at) > 2000L) 0.4 else 0.7,
                   col = colors[1L + (effect[at] > 0)])
  graphics::abline(v = 0, lty = 3L)
}
