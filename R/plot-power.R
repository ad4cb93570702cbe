#' @rdname pickPower
#' @export
plot.gpuCorPower <- function(x, ...) {
  with_panels(1L, 2L, {
    draw_power_fit(x)
    draw_power_connectivity(x)
  })
  invisible(x)
}

draw_power_fit <- function(x) {
  values <- signed_fit(x$fitIndices)
  draw_powers(x, values, range(0, 1, values, na.rm = TRUE),
              list(ylab = expression("signed " * R^2), main = "Scale-free fit"))
  graphics::abline(h = attr(x, "r_squared"), lty = 2L, col = "grey40")
  estimate <- x$powerEstimate
  cut <- attr(x, "r_squared")
  what <- if (is.na(estimate)) "no power has signed" else paste0("power ", format(estimate), ":")
  note(bquote(.(what) ~ R^2 > .(cut)))
}

draw_power_connectivity <- function(x) {
  values <- x$fitIndices$mean.k.
  is_log <- all(values > 0)
  draw_powers(x, values, range(values), c(list(ylab = "mean connectivity", main = "Connectivity"),
                                          if (is_log) list(log = "y", yaxt = "n")))
  if (is_log) log_axis(2L, values)
}

# Draws one dot per power, and highlights the estimate.
draw_powers <- function(x, values, ylim, parameters) {
  powers <- x$fitIndices$Power
  start_plot(range(powers), ylim, c(list(xlab = "power"), parameters))
  graphics::lines(powers, values, col = BLUE)
  chosen <- powers %in% x$powerEstimate
  graphics::abline(v = powers[chosen], lty = 3L, col = VERMILION)
  graphics::points(powers, values, pch = 19, cex = ifelse(chosen, 1.2, 0.7), col = ifelse(chosen, VERMILION, BLUE))
}
