# The tree of gpuModules(), its modules' colours and numbers.

#' @rdname gpuModules-methods
#' @export
plot.gpuModules <- function(x, main = NULL, ...) {
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
  invisible(x)
}

# Lines, as hclust's own plot has them, but for thousands of leaves that have no names.
plot_tree <- function(tree, main, ylab) {
  n <- length(tree$order)
  graphics::plot.default(c(0.5, n + 0.5), range(tree$height), type = "n", xaxt = "n", xaxs = "i", xlab = "", bty = "n",
                         ylab = ylab, main = main)
  lines <- tree_lines(tree)
  graphics::segments(lines$x0, lines$y0, lines$x1, lines$y1, lwd = if (n > 500) 0.5 else 1)
}

# Each join: two uprights and what joins them. A leaf hangs a little below its join.
tree_lines <- function(tree) {
  place <- order(tree$order)
  hang <- 0.02 * diff(range(tree$height))
  n <- nrow(tree$merge)
  x <- matrix(0, n, 2L)
  y <- matrix(0, n, 2L)
  middle <- numeric(n)
  for (join in seq_len(n)) { # those that are joined come before
    for (side in 1:2) {
      part <- tree$merge[join, side]
      x[join, side] <- if (part < 0) place[-part] else middle[part]
      y[join, side] <- if (part < 0) tree$height[join] - hang else tree$height[part]
    }
    middle[join] <- mean(x[join, ])
  }
  top <- tree$height
  list(x0 = c(x, x[, 1L]), y0 = c(y, top), x1 = c(x, x[, 2L]), y1 = c(top, top, top))
}

# Genes in the order of the tree, their modules' colours, and below each module's number.
plot_bar <- function(x) {
  at <- x$tree$order
  colours <- unname(x$colours[x$genes])[at]
  runs <- rle(unname(x$labels[x$genes])[at])
  end <- cumsum(runs$lengths)
  start <- end - runs$lengths
  graphics::plot.default(c(0.5, length(at) + 0.5), 0:1, type = "n", axes = FALSE, xlab = "", ylab = "", xaxs = "i",
                         yaxs = "i")
  graphics::rect(start + 0.5, BAR_BOTTOM, end + 0.5, 1, col = sub("[.][0-9]+$", "", colours[end]), border = NA)
  graphics::mtext("module", 2L, line = 0.5, at = (1 + BAR_BOTTOM) / 2)
  graphics::mtext(paste(format_count(length(at)), "genes in the order of the tree; grey: in no module"), 1L,
                  line = 0.5)
  plot_numbers(runs$values, (start + end + 1) / 2, runs$lengths)
}

# What of the bar's panel is below it, for numbers.
BAR_BOTTOM <- 0.5

# Of each module, below the widest of its runs; numbers that would overlap stand side by side, as long as there is room.
plot_numbers <- function(module, middle, width) {
  widest <- order(-width)
  widest <- widest[module[widest] > 0]
  widest <- sort(widest[!duplicated(module[widest])])
  if (!length(widest)) return(invisible())
  range <- graphics::par("usr")[1:2]
  room <- 1.25 * graphics::strwidth(max(module), cex = 0.8)
  cex <- 0.8 * min(1, diff(range) / (room * length(widest)))
  if (cex < 0.4) return(invisible()) # nobody could read them
  place <- side_by_side(middle[widest], room * cex / 0.8, range)
  graphics::segments(middle[widest], BAR_BOTTOM, place, 0.28, lwd = 0.5)
  graphics::text(place, 0.12, module[widest], cex = cex, xpd = NA)
}

# Ascending places, moved by the least squares that it takes to be `room` apart, within the range.
side_by_side <- function(place, room, range) {
  step <- room * (seq_along(place) - 1)
  place <- stats::isoreg(place - step)$yf + step
  place <- pmin(place, range[2L] - room * rev(seq_along(place) - 0.5))
  pmax(place, range[1L] + room / 2 + step)
}
