# Pictures of coefficients of all pairs, and of topological overlap.

#' @rdname gpuCor-class
#' @param type Which panel to draw: of `gpuCor` a `"histogram"` of all coefficients, or a `"heatmap"` of the matrix with
#'   its variables in the order of a tree by average linkage of `1 - r`. `"auto"`: both side by side, or the histogram
#'   alone where there are more than `most` variables.
#' @param most The most variables that a heat map is drawn of.
#' @section Pictures: `plot()` uses package graphics alone; colours are told apart without red and green, and missing
#'   coefficients are light grey. Of more than 200,000 values a histogram is drawn by as many of them, spread evenly,
#'   its counts being those of all. With `type` other than `"auto"` there is one panel, `par()` stays as it is, and
#'   `...` are graphical parameters such as `main` and `xlab`. For ggplot2, `as.data.frame()` of any result is the data.
#' @export
plot.gpuCor <- function(x, type = c("auto", "histogram", "heatmap"), most = 1000, ...) {
  n <- size_of(x)
  panels <- list(histogram = function(...) draw_coefficients(x, ...), heatmap = function(...) draw_heatmap(x, ...))
  type <- check_panel(type, names(panels))
  most <- check_whole(most, "most", 2, 20000)
  if (type == "heatmap") check_drawable(n, most)
  if (n < 2) fail("there is no pair to plot: 'x' has ", n_of(n, "variable"))
  if (n < 3 || n > most) panels$heatmap <- if (type == "heatmap") panels$heatmap
  draw_panels(panels, type, ...)
  invisible(x)
}

check_drawable <- function(n, most) {
  if (n <= most) return(invisible())
  fail("a heat map of ", format_count(n), " variables would show less than a pixel of each; 'most' is ",
       format_count(most), ": raise it, or draw some of the variables, such as a module's")
}

draw_coefficients <- function(x, ...) {
  at <- drawn_places(length(x))
  breaks <- seq(-1, 1, length.out = if (length(at) < 500) 21 else 101)
  draw_histogram(.subset(x, at), breaks, "pairs", length(x),
                 list(xlab = method_title(attr(x, "method")), main = n_of(length(x), "pair")), ...)
  graphics::abline(v = 0, lty = 3L)
}

draw_heatmap <- function(x, main = "", ...) {
  tree <- order_by_tree(1 - x)
  values <- as.matrix(x)[tree$order, tree$order]
  draw_square(values, c(-1, 1), diverging(), "r", main, tree$labels[tree$order], ...)
}

# A square matrix with its key, names where there is room, else what the axes are.
draw_square <- function(values, limits, colours, title, main, names, ...) {
  n <- nrow(values)
  names <- if (n <= 100L) cell_names(names)
  margin <- names_margin(names, 3)
  old <- graphics::par(pty = "s", mar = c(margin, margin, 3.2, 4.2))
  on.exit(graphics::par(old))
  graphics::plot.default(c(0.5, n + 0.5), c(0.5, n + 0.5), type = "n", ylim = c(n + 0.5, 0.5), xaxs = "i", yaxs = "i",
                         axes = FALSE, ann = FALSE, ...)
  title_at("main", main, TITLE_LINE)
  draw_cells(values, limits, colours)
  graphics::box(col = "grey40")
  size <- names_size(names, graphics::par("pin")[2L] / n)
  if (size > 0) {
    for (side in 1:2) name_cells(side, names, size)
  } else {
    title_at("xlab", n_of(n, "variable"), 1)
    title_at("ylab", "ordered by hierarchical clustering", 1)
  }
  draw_key(limits, colours, title)
}

# ---- topological overlap

#' Picture of topological overlap
#'
#' The matrix of overlaps with its variables in the order of a tree, and the tree above: WGCNA's `TOMplot()`. Modules
#' are the dark squares on the diagonal, branches of the tree.
#'
#' The tree is by average linkage of one less the overlap. Overlaps are mostly small: colours go with their square root,
#' and the key has the overlaps themselves.
#'
#' @param x An object of class `gpuTOM`: a `dist` whose values are overlaps, 1 for the most alike.
#' @param most The most variables to draw: a tree takes time that grows with their square, and more are not seen.
#' @param tree `NULL`, or the tree if it has been made: what [stats::hclust()] returns.
#' @param main The title.
#' @param ... Not used.
#' @return `x`, invisibly.
#' @section Errors: more than `most` variables.
#' @references Langfelder P, Horvath S (2008). WGCNA: an R package for weighted correlation network analysis. *BMC
#'   Bioinformatics* 9, 559.
#' @examples
#' # overlaps of 30 variables, by hand
#' set.seed(1)
#' x <- matrix(rnorm(40 * 30), 40) + matrix(rnorm(40 * 3), 40)[, rep(1:3, 10)]
#' a <- abs(cor(x))^4
#' diag(a) <- 0
#' k <- rowSums(a)
#' overlap <- (a %*% a + a) / (outer(k, k, pmin) + 1 - a)
#' plot(structure(overlap[lower.tri(overlap)], Size = 30L, class = c("gpuTOM", "allPairs", "dist")))
#' @export
plot.gpuTOM <- function(x, most = 3000, tree = NULL, main = "Topological overlap", ...) {
  most <- check_whole(most, "most", 2, 20000)
  n <- attr(x, "Size")
  if (n < 3) fail("there is no tree to plot: 'x' has ", n_of(n, "variable"), "; it takes 3 or more")
  check_drawable(n, most)
  d <- structure(1 - as.vector(x), Size = n, Labels = attr(x, "Labels"), class = "dist")
  if (is.null(tree)) tree <- order_by_tree(d)
  if (!inherits(tree, "hclust")) fail("'tree' must be a tree of hclust(), not of class ", class(tree)[1L])
  if (!identical(length(tree$order), as.integer(n))) {
    fail("'tree' has ", length(tree$order), " leaves, and 'x' ", format_count(n), " variables")
  }
  overlap <- sqrt(pmax(1 - as.matrix(d), 0))[tree$order, tree$order]
  diag(overlap) <- NA
  names <- if (n <= 100) cell_names(attr(x, "Labels")[tree$order])
  old <- graphics::par(c("mar", "mfrow"))
  graphics::layout(matrix(1:2), heights = c(1, 2.6))
  on.exit({
    graphics::layout(1)
    graphics::par(old)
  })
  margin <- names_margin(names, 4.8)
  graphics::par(mar = c(0.4, margin, 3.2, 4.4), cex = 0.85)
  draw_tree(tree, "1 - overlap")
  title_at("main", main, TITLE_LINE)
  graphics::par(mar = c(2, margin, 0.4, 4.4))
  draw_overlap(overlap, names)
  invisible(x)
}

# overlap: square roots, NA on the diagonal.
draw_overlap <- function(overlap, names) {
  n <- nrow(overlap)
  limits <- c(0, max(overlap, 0, na.rm = TRUE))
  if (limits[2L] == 0) limits[2L] <- 1
  graphics::plot.default(c(0.5, n + 0.5), c(0.5, n + 0.5), type = "n", ylim = c(n + 0.5, 0.5), xaxs = "i", yaxs = "i",
                         axes = FALSE, xlab = "", ylab = "")
  draw_cells(overlap, limits, sequential())
  graphics::box(col = "grey40")
  size <- names_size(names, graphics::par("pin")[2L] / n)
  if (size > 0) name_cells(2L, names, size) else title_at("ylab", n_of(n, "variable"), 1)
  at <- pretty(limits^2, 4L)
  draw_key(limits, sequential(), "overlap", sqrt(at), format(at))
}
