#' @rdname gpuCorWindows
#' @param max For `plot()`: a number: the max number of rows; more rows are averaged in blocks.
#' @param main For `plot()`: the title.
#' @section Plots: a carpet with a column for each window and a row for each pair (its coefficient) or variable (its
#'   degree), ordered by their means over the windows. For `"moments"`: histograms of means and standard deviations.
#' @export
plot.gpuCorWindows <- function(x, max = 500, main = "", ...) {
  max <- check_whole(max, "max", 1, 1e4)
  if (attr(x, "output") == "moments") {
    draw_moments(x, ...)
    return(invisible(x))
  }
  carpet <- carpet_of(x, max)
  draw_carpet(carpet, main, ...)
  invisible(x)
}

# Returns list(values: rows x windows, largest mean first; time, xlab, ylab, limits, colors, title).
carpet_of <- function(x, max) {
  of_pairs <- attr(x, "output") == "dist"
  values <- if (of_pairs) {
    unclass(x)[drawn_places(nrow(x), 20000), , drop = FALSE]
  } else if (attr(x, "output") == "connectivity") {
    x$degree
  } else {
    vapply(unclass(x), function(net) as.numeric(unlist(degrees_of_network(net))), numeric(attr(x, "Size")))
  }
  values <- matrix(as.vector(values), ncol = count_windows(x))
  values <- values[order(-rowMeans(values, na.rm = TRUE)), , drop = FALSE]
  n <- if (of_pairs) nrow(x) else nrow(values)
  values <- reduce_rows(values, max)
  windows <- attr(x, "windows")
  list(values = values, time = if (is.null(windows$time)) windows$centre else windows$time,
       xlab = paste("center of the window:", time_title(windows)),
       ylab = paste0(n_of(n, if (of_pairs) "pair" else "variable"), ", by their mean", if (!of_pairs) " degree"),
       limits = if (of_pairs) c(-1, 1) else c(0, max(values, 1, na.rm = TRUE)),
       colors = if (of_pairs) diverging() else sequential(), title = if (of_pairs) "r" else "degree")
}

time_title <- function(windows) {
  if (is.null(windows$time)) return("observation")
  paste0("time", if (!is.null(attr(windows, "unit"))) paste0(" (", attr(windows, "unit"), ")"))
}

draw_carpet <- function(carpet, main, ...) {
  rows <- nrow(carpet$values)
  half <- if (length(carpet$time) > 1L) diff(carpet$time[1:2]) / 2 else 0.5
  span <- range(carpet$time) + c(-half, half)
  old <- graphics::par(mar = c(3.8, 3, 3.2, 4.2))
  on.exit(graphics::par(old))
  graphics::plot.default(span, c(0.5, rows + 0.5), type = "n", xaxs = "i", yaxs = "i", yaxt = "n", ann = FALSE, ...)
  draw_cells(carpet$values, carpet$limits, carpet$colors, span, c(0.5, rows + 0.5))
  graphics::box()
  title_at("main", main, TITLE_LINE)
  title_at("xlab", carpet$xlab, 2.2)
  title_at("ylab", carpet$ylab, 1)
  draw_key(carpet$limits, carpet$colors, carpet$title)
}

draw_moments <- function(x, ...) {
  sd <- if (isS4(x$sd)) x$sd@x else as.vector(x$sd)
  draw_sd <- function(...) {
    values <- sd[drawn_places(length(sd))]
    draw_histogram(values, pretty(range(0, values, na.rm = TRUE), 40L), "pairs", length(sd),
                   list(xlab = "sd over the windows", main = n_of(length(sd), "pair")), ...)
  }
  if (isS4(x$sd)) return(draw_sd(...))
  draw_mean <- function(...) {
    values <- as.vector(x$mean)[drawn_places(length(x$mean))]
    draw_histogram(values, seq(-1, 1, length.out = 81L), "pairs", length(x$mean),
                   list(xlab = "mean over the windows", main = n_of(length(x$mean), "pair")), ...)
    graphics::abline(v = 0, lty = 3L)
  }
  draw_panels(list(mean = draw_mean, sd = draw_sd), "auto", ...)
}
