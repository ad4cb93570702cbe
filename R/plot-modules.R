# Plots the tree of gpuModules(), with the colors and numbers of modules, or the stability of their genes.

draw_modules <- function(x, main) {
  old <- graphics::par("mar", "las", "cex")
  on.exit({
    graphics::layout(1)
    graphics::par(old)
  })
  graphics::layout(matrix(1:2), heights = c(3, 1))
  graphics::par(mar = c(0.3, 4.2, if (is.null(main)) 0.8 else 2.2, 0.8), las = 1, cex = 0.9)
  several <- inherits(x, "gpuConsensusModules")
  plot_tree(x$tree, main, if (several) "1 - consensus overlap" else "1 - topological overlap")
  graphics::par(mar = c(1.8, 4.2, 0.2, 0.8), cex = 0.9)
  plot_bar(x)
}

# Draws a box of the genes' stability for each module.
plot_stability <- function(x, main, ...) {
  if (is.null(x$stability)) fail("'x' has no stability; give gpuModules() 'stability', a number of resamples")
  sizes <- module_sizes(x)
  if (!length(sizes)) fail("'x' has no modules")
  old <- graphics::par(mar = c(3.8, 4.2, if (is.null(main)) 0.8 else 2.2, 0.8), las = 1, mgp = c(2.6, 0.7, 0))
  on.exit(graphics::par(old))
  graphics::boxplot(split(unname(x$stability), factor(x$labels, seq_along(sizes))), ylim = 0:1, frame.plot = FALSE,
                    col = module_fills(names(sizes)), xlab = "module, the largest first", main = main, cex = 0.4,
                    ylab = "fraction of resamples in its module", ...)
  invisible(x)
}

# WGCNA numbers the colors of further modules, as in "red.1".
module_fills <- function(colors) sub("[.][0-9]+$", "", colors)

# Draws lines like plot.hclust(), but thinner for thousands of leaves, and without names.
plot_tree <- function(tree, main, ylab) {
  n <- length(tree$order)
  graphics::plot.default(c(0.5, n + 0.5), range(tree$height), type = "n", xaxt = "n", xaxs = "i", xlab = "", bty = "n",
                         ylab = ylab, main = main)
  top <- tree$height
  joins <- tree_joins(tree, 0.02 * diff(range(top)))
  x <- joins$x
  graphics::segments(c(x, x[, 1L]), c(joins$low, top), c(x, x[, 2L]), c(top, top, top), lwd = if (n > 500) 0.5 else 1)
}

# Draws genes in the order of the tree in their modules' colors, with each module's number below.
plot_bar <- function(x) {
  at <- x$tree$order
  colors <- unname(x$colors[x$genes])[at]
  runs <- rle(unname(x$labels[x$genes])[at])
  end <- cumsum(runs$lengths)
  start <- end - runs$lengths
  graphics::plot.default(c(0.5, length(at) + 0.5), 0:1, type = "n", axes = FALSE, xlab = "", ylab = "", xaxs = "i",
                         yaxs = "i")
  graphics::rect(start + 0.5, BAR_BOTTOM, end + 0.5, 1, col = module_fills(colors[end]), border = NA)
  graphics::mtext("module", 2L, line = 0.5, at = (1 + BAR_BOTTOM) / 2)
  graphics::mtext(paste(format_count(length(at)), "genes in the order of the tree; grey: in no module"), 1L,
                  line = 0.5)
  plot_numbers(runs$values, (start + end + 1) / 2, runs$lengths)
}

# The fraction of the panel below the bar, for numbers.
BAR_BOTTOM <- 0.5

# Writes the number of each module below its widest run; overlapping numbers are moved apart if they fit.
plot_numbers <- function(module, middle, width) {
  widest <- order(-width)
  widest <- widest[module[widest] > 0]
  widest <- sort(widest[!duplicated(module[widest])])
  if (!length(widest)) return(invisible())
  range <- graphics::par("usr")[1:2]
  room <- 1.25 * graphics::strwidth(max(module), cex = 0.8)
  cex <- 0.8 * min(1, diff(range) / (room * length(widest)))
  if (cex < 0.4) return(invisible()) # too small to read
  place <- side_by_side(middle[widest], room * cex / 0.8, range)
  graphics::segments(middle[widest], BAR_BOTTOM, place, 0.28, lwd = 0.5)
  graphics::text(place, 0.12, module[widest], cex = cex, xpd = NA)
}

# Returns ascending positions, moved by least squares to be `room` apart within the range.
side_by_side <- function(place, room, range) {
  step <- room * (seq_along(place) - 1)
  place <- stats::isoreg(place - step)$yf + step
  place <- pmin(place, range[2L] - room * rev(seq_along(place) - 0.5))
  pmax(place, range[1L] + room / 2 + step)
}
