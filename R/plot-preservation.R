# Plots of gpuPreservation(): summaries by the size of modules, as in Langfelder and others (2011).

#' @rdname gpuPreservation
#' @param y A string: `"Zsummary"` or `"medianRank"`, the panel to draw; by default both.
#' @export
plot.gpuPreservation <- function(x, y = "auto", ...) {
  panels <- list(medianRank = function(...) draw_ranks(x, ...), Zsummary = function(...) draw_z(x, ...))
  if (x$n_perm < 2) panels$Zsummary <- NULL
  draw_panels(panels, check_choice(y, c("auto", names(panels)), "y"), ...)
  invisible(x)
}

draw_z <- function(x, ...) {
  z <- x$modules$Zsummary
  draw_by_size(x, z, range(0, Z_LIMITS, z, na.rm = TRUE), list(ylab = "Zsummary", main = "Preservation Zsummary"), ...)
  graphics::abline(h = Z_LIMITS, lty = 2L, col = c(BLUE, VERMILION))
}

# The best preserved module is at the top.
draw_ranks <- function(x, ...) {
  rank <- x$modules$medianRank
  draw_by_size(x, rank, rev(range(1, rank, na.rm = TRUE)),
               list(ylab = "median rank", main = "Preservation median rank"), ...)
}

# Modules that are named by colors have these colors.
draw_by_size <- function(x, values, ylim, parameters, ...) {
  name <- x$modules$module
  size <- log10(x$modules$size)
  start_plot(range(size), ylim, c(list(xlab = "module size", xaxt = "n", ylim = ylim), parameters), ...)
  ticks <- count_ticks(x$modules$size)
  graphics::axis(1L, log10(ticks), format_count(ticks))
  color <- ifelse(name %in% grDevices::colors(), name, FAINT)
  graphics::points(size, values, pch = 21L, bg = color, cex = 1.4)
  there <- which(!is.na(values))
  draw_labels(there, name[there], size, values, rep(0.07, length(size)), cex = 0.7)
}
