# Plots of coefficients of all pairs, and of topological overlap.

#' @rdname gpuCor-class
#' @param type For `plot()`: `"histogram"` of all coefficients; `"heatmap"` of the matrix, ordered by hierarchical
#'   clustering; of coefficients with `lag` also `"lag"`, a histogram of the lags; or `"auto"`, all of them, without the
#'   heat map if there are more than `max` variables.
#' @param max A number: the max number of variables in a heat map. Histograms of more than 200,000 values are drawn from
#'   a sample.
#' @export
plot.gpuCor <- function(x, type = c("auto", "histogram", "heatmap", "lag"), max = 1000, ...) {
  n <- size_of(x)
  lag <- attr(x, "lag")
  panels <- list(
    histogram = function(...) {
      breaks <- seq(-1, 1, length.out = if (length(x) < 500) 21 else 101)
      titles <- list(xlab = method_title(attr(x, "method")), main = n_of(length(x), "pair"))
      draw_histogram(x, breaks, "pairs", titles, ...)
      graphics::abline(v = 0, lty = 3L)
    },
    heatmap = function(...) draw_heatmap(x, ...),
    lag = function(...) draw_lags(lag, "pairs", "gpuCor", ...)
  )
  type <- check_choice(type, c("auto", names(panels)), "type")
  max <- check_whole(max, "max", 2, 20000)
  if (type == "heatmap") check_drawable(n, max)
  if (n < 2) fail("there is no pair to plot: 'x' has ", n_of(n, "variable"))
  if (type == "auto") panels <- panels[c(TRUE, n >= 3 && n <= max, !is.null(lag))]
  draw_panels(panels, type, ...)
  invisible(x)
}

# Draws the matrix with its key, and with names if there is space, else with titles of the axes.
draw_heatmap <- function(x, main = "", ...) {
  tree <- order_by_tree(1 - x)
  n <- size_of(x)
  names <- if (n <= 100L) cell_names(tree$labels[tree$order])
  margin <- names_margin(names, 3)
  old <- graphics::par(pty = "s", mar = c(margin, margin, 3.2, 4.2))
  on.exit(graphics::par(old))
  is_named <- draw_cell_plot(as.matrix(x)[tree$order, tree$order], c(-1, 1), diverging(), list(names, names), main, ...)
  if (!any(is_named)) {
    title_at("xlab", n_of(n, "variable"), 1)
    title_at("ylab", "ordered by hierarchical clustering", 1)
  }
  draw_key(c(-1, 1), diverging(), "r")
}

# ---- topological overlap

#' @rdname gpuTOM
#' @param max,tree,main For `plot()`: the max number of variables to draw (more are an error); `NULL`, or a tree that
#'   [stats::hclust()] returned, by default of `1 - overlap` by average linkage; and the title.
#' @export
plot.gpuTOM <- function(x, max = 3000, tree = NULL, main = "Topological overlap", ...) {
  max <- check_whole(max, "max", 2, 20000)
  n <- attr(x, "Size")
  if (n < 3) fail("there is no tree to plot: 'x' has ", n_of(n, "variable"), "; it takes 3 or more")
  check_drawable(n, max)
  d <- structure(1 - as.vector(x), Size = n, Labels = attr(x, "Labels"), class = "dist")
  if (is.null(tree)) tree <- order_by_tree(d)
  check_type(tree, "tree", inherits(tree, "hclust"), "a tree of hclust()")
  check_that(tree, "tree", length(tree$order) == n, paste("a tree of the", format_count(n), "variables of 'x'"),
             shown = paste("of", length(tree$order)))
  overlap <- sqrt(pmax(1 - as.matrix(d), 0))[tree$order, tree$order]
  diag(overlap) <- NA
  limits <- c(0, max(overlap, 0, na.rm = TRUE))
  if (limits[2L] == 0) limits[2L] <- 1
  names <- if (n <= 100) cell_names(attr(x, "Labels")[tree$order])
  with_layout({
    margin <- names_margin(names, 4.8)
    graphics::par(mar = c(0.4, margin, 3.2, 4.4), cex = 0.85)
    draw_tree(tree, "1 - overlap")
    title_at("main", main, TITLE_LINE)
    graphics::par(mar = c(2, margin, 0.4, 4.4))
    is_named <- draw_cell_plot(overlap, limits, sequential(), list(NULL, names), ann = TRUE, xlab = "", ylab = "")
    if (!is_named[2L]) title_at("ylab", n_of(n, "variable"), 1)
    at <- pretty(limits^2, 4L)
    draw_key(limits, sequential(), "overlap", sqrt(at), format(at))
  }, matrix(1:2), heights = c(1, 2.6))
  invisible(x)
}
