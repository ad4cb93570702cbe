# Plots of sums over each variable's pairs.

#' @rdname gpuConnectivity
#' @param measure,hubs For `plot()`: a column of `as.data.frame()`, or `NULL` for the first power's connectivity, else
#'   the degree, else the first map; and how many hubs to show.
#' @param coords For `plot()`: `NULL`, or a numeric matrix of 2 or 3 columns with the position of each variable, such as
#'   [voxelCoords()] returns, to draw a map. Positions on a grid, which may be rotated, are voxels: the map shows three
#'   slices through the voxel with the highest value. Other positions, such as centers of regions, are dots, seen from
#'   three sides. Columns named `x`, `y` and `z`, or without names, are millimeters in RAS orientation, and left is on
#'   the left. Rows with `NA` are left out.
#' @export
plot.gpuConnectivity <- function(x, type = c("auto", "fit", "hubs", "histogram"), measure = NULL, coords = NULL,
                                 hubs = 20, ...) {
  type <- check_panel(type, c("fit", "hubs", "histogram"))
  if (!has_sums(x) && type %in% c("auto", "histogram")) {
    draw_counts(x$histogram, ...)
    return(invisible(x))
  }
  if (!has_sums(x)) {
    fail("type = \"", type, "\": 'x' has no sums of variables' pairs, only a histogram, which plot(x) draws; ",
         "gpuConnectivity(power = ), or threshold =, density =, sums")
  }
  frame <- as.data.frame(x)
  if (!nrow(frame)) fail("there is no variable to plot: 'x' has none")
  name <- shown_measure(measure, frame)
  hubs <- check_whole(hubs, "hubs", 1, 200)
  values <- stats::setNames(frame[[name]], if (is.character(attr(frame, "row.names"))) row.names(frame))
  if (!is.null(coords)) coords <- check_coords(coords, length(values))
  if (type == "histogram" && is.null(x$histogram)) {
    fail("type = \"histogram\": 'x' has none; gpuConnectivity(histogram = TRUE) counts coefficients")
  }
  panels <- connectivity_panels(x, values, name, coords, hubs, type)
  if (type == "auto" && !is.null(coords)) draw_below(panels, ...) else draw_panels(panels, type, ...)
  invisible(x)
}

# Maps have no fit, as voxels and regions are no scale-free network; names are then beside the histogram.
connectivity_panels <- function(x, values, name, coords, hubs, type) {
  has_map <- !is.null(coords)
  panels <- list(
    fit = if (type == "fit" || (!has_map && can_fit(values))) function(...) draw_fit(values, name, ...),
    hubs = function(...) draw_hubs(values, name, coords, hubs, ...),
    names = if (has_map && !is.null(names(values))) function(...) draw_hubs(values, name, NULL, min(hubs, 10), ...),
    histogram = if (!is.null(x$histogram)) function(...) draw_counts(x$histogram, ...)
  )
  Filter(Negate(is.null), panels)
}

# Draws the first panel, a map, across the page, and the others side by side below it.
draw_below <- function(panels, ...) {
  if (length(panels) == 1L) return(panels[[1L]](...))
  with_layout({
    graphics::par(mar = c(3.8, 4.6, 3.2, 1), cex = 0.85)
    for (panel in panels) panel(...)
  }, rbind(1L, seq_along(panels)[-1L]), heights = c(1.6, 1))
}

check_coords <- function(coords, n) {
  if (is.language(coords) || is.function(coords)) fail("'coords' must be a numeric matrix, not ", show_value(coords))
  coords <- as.matrix(coords)
  if (!is_numeric(coords) || nrow(coords) != n || !ncol(coords) %in% 2:3) {
    fail("'coords' must have a row for each of the ", format_count(n), " variables and 2 or 3 numeric columns, not ",
         nrow(coords), " x ", ncol(coords))
  }
  coords
}

draw_fit <- function(values, name, ...) {
  if (!can_fit(values)) {
    fail("type = \"fit\": '", name, "' is negative somewhere, or the same everywhere; type = \"hubs\" shows the ",
         "highest")
  }
  fit <- scale_free_points(values)
  there <- fit$fraction > 0 # the fit counts empty bins as 1e-9
  start_plot(fit$k[there], fit$fraction[there], list(xlab = paste0("connectivity k (", name, ")"),
                                                  ylab = "fraction of variables p(k)", main = "Scale-free fit",
                                                  log = "xy", axes = FALSE), ...)
  log_axis(1L, fit$k[there])
  log_axis(2L, fit$fraction[there])
  graphics::box(bty = "l")
  at <- 10^seq(log10(min(fit$k[there])), log10(max(fit$k[there])), length.out = 50L)
  graphics::lines(at, 10^(fit$intercept + fit$slope * log10(at)), col = VERMILION, lwd = 2)
  graphics::points(fit$k[there], fit$fraction[there], pch = 19, col = BLUE)
  empty <- if (!all(there)) paste0("; ", sum(!there), " of ", length(there), " bins empty")
  note(bquote(R^2 == .(format(round(fit$r_squared, 2), nsmall = 2)) * ", slope" ~ .(signif(fit$slope, 3)) * .(empty)))
}

draw_hubs <- function(values, name, coords, hubs, ...) {
  if (!is.null(coords)) return(draw_map(values, name, coords, ...))
  names <- names(values)
  if (is.null(names)) names <- as.character(seq_along(values))
  best <- utils::head(order(-values, na.last = NA), hubs)
  place <- rev(seq_along(best))
  fitting <- 0.4 * graphics::par("fin")[1L] / graphics::strwidth("n", "inches", cex = 0.8) # characters
  names <- shorten(names[best], as.integer(min(40, max(12, fitting))))
  old <- graphics::par(mar = c(3.8, names_margin(names, 2), 3.2, 1))
  on.exit(graphics::par(old))
  main <- if (length(best) == 1) "The strongest hub" else paste("The", length(best), "strongest hubs")
  start_plot(range(0, values[best]), range(place),
             list(xlab = paste0("connectivity (", name, ")"), main = main, yaxt = "n"), ...)
  size <- max(0.35, names_size(names, graphics::par("pin")[2L] / length(names)))
  graphics::axis(2L, place, names, las = 1, cex.axis = size, tick = FALSE, mgp = c(3, 0.3, 0), gap.axis = -1)
  graphics::segments(0, place, values[best], place, col = FAINT)
  graphics::points(values[best], place, pch = 19, col = BLUE)
}

draw_counts <- function(counted, ...) {
  draw_bars(counted$breaks, counted$counts, "pairs", list(xlab = counted$xname, main = "Coefficients"), ...)
  graphics::abline(v = 0, lty = 3L)
}
