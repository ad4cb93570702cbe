#' @rdname gpuGradients
#' @param type A string: `"scatter"` draws the second gradient over the first, `"lambda"` the eigenvalues, `"map"` a
#'   gradient in space, and `"auto"` what there is.
#' @param gradient An integer: the gradient of the map.
#' @param coords `NULL`, or a matrix with the position of each variable, as [gpuConnectivity()] takes it for `plot()`.
#' @export
plot.gpuGradients <- function(x, type = c("auto", "scatter", "lambda", "map"), gradient = 1, coords = NULL, ...) {
  type <- check_panel(type, c("scatter", "lambda", "map"))
  gradient <- check_whole(gradient, "gradient", 1, ncol(x$gradients))
  if (!is.null(coords)) coords <- check_coords(coords, nrow(x$gradients))
  if (type == "map" && is.null(coords)) fail("type = \"map\" needs 'coords', such as of voxelCoords()")
  panels <- list(
    map = if (!is.null(coords)) function(...) {
      draw_map(x$gradients[, gradient], colnames(x$gradients)[gradient], coords, "Gradient", ...)
    },
    scatter = function(...) draw_gradients(x, ...),
    lambda = function(...) draw_lambda(x, ...)
  )
  panels <- Filter(Negate(is.null), panels)
  if (type == "auto" && !is.null(coords)) draw_below(panels, ...) else draw_panels(panels, type, ...)
  invisible(x)
}

# A single gradient is drawn over the variables' order.
draw_gradients <- function(x, ...) {
  names <- colnames(x$gradients)
  is_single <- length(names) == 1L
  across <- if (is_single) seq_len(nrow(x$gradients)) else x$gradients[, 1L]
  up <- x$gradients[, if (is_single) 1L else 2L]
  start_plot(range(across, na.rm = TRUE), range(up, na.rm = TRUE),
             list(xlab = if (is_single) "variable" else names[1L], ylab = names[if (is_single) 1L else 2L],
                  main = "Gradients"), ...)
  graphics::points(across, up, pch = 19, cex = if (length(up) > 500L) 0.4 else 0.8, col = BLUE)
}

draw_lambda <- function(x, ...) {
  at <- seq_along(x$lambda)
  start_plot(range(at), c(0, max(x$lambda)), list(xlab = "gradient", ylab = "lambda", main = "Eigenvalues",
                                                  xaxt = "n"), ...)
  graphics::axis(1L, at)
  graphics::lines(at, x$lambda, col = BLUE)
  graphics::points(at, x$lambda, pch = 19, col = BLUE)
}
