#' @rdname gpuCorNetwork-class
#' @param type For `plot()`: the distribution of `"degree"`s, a histogram of the `"weight"`s (coefficients) of the
#'   edges, the `"layout"` of the graph (needs package igraph), or `"auto"`, all of them; with `resample` also the
#'   `"stability"` of the edges, and with `lag` the `"lag"`s of the edges.
#' @param max,labels Numbers: the max number of variables with edges in a layout (Fruchterman and Reingold), and how
#'   many of the best connected ones to name, if they fit. Positive edges are blue, negative ones vermilion, and
#'   stronger ones thicker. The area of a dot is proportional to its degree.
#' @export
plot.gpuNetwork <- function(x, type = c("auto", "degree", "weight", "layout", "stability", "lag"), max = 300,
                            labels = 20, ...) {
  panels <- list(
    degree = function(...) draw_degrees(x, ...),
    weight = function(...) draw_weights(x, ...),
    layout = function(...) draw_layout(x, labels, ...),
    stability = function(...) {
      if (!length(x@stability)) fail("'x' has no stability; give gpuCorNetwork() 'resample', a number of resamples")
      draw_histogram(x@stability, seq(0, 1, length.out = 21L), "edges",
                     list(xlab = "fraction of the resamples with the edge", main = "Stability"), ...)
    },
    lag = function(...) draw_lags(x@tests$lag, "edges", "gpuCorNetwork", ...)
  )
  type <- check_choice(type, c("auto", names(panels)), "type")
  max <- check_whole(max, "max", 1, 1e5)
  labels <- check_whole(labels, "labels", 0, 1000)
  size <- sum(unlist(degrees_of_network(x)) > 0)
  if (type == "layout") {
    need_packages("igraph", "type = \"layout\"")
    if (size == 0) fail("the network has no edge, and no layout")
    check_drawable(size, max, "layout", "variables with edges would be a hairball", "ask for fewer edges")
  }
  if (type != "auto") {
    draw_page(panels, type, ...)
    return(invisible(x))
  }
  histograms <- c("degree", "weight", if (!is.null(x@tests$lag)) "lag")
  if (size == 0 || size > max || !requireNamespace("igraph", quietly = TRUE)) {
    draw_page(panels[histograms], ...)
  } else {
    draw_beside(panels[c(histograms, "layout")], ...)
  }
  invisible(x)
}

draw_degrees <- function(net, ...) {
  degrees <- degrees_of_network(net)
  counts <- lapply(degrees, function(degree) {
    counts <- table(degree[degree > 0])
    data.frame(degree = as.numeric(names(counts)), variables = as.vector(counts))
  })
  all <- do.call(rbind, counts)
  if (!nrow(all)) return(draw_nothing("no edges", "degree", "variables", ...))
  span <- function(values) range(values, if (length(unique(values)) == 1L) values * c(0.5, 2))
  room <- if (length(counts) > 1L) 4 else 1 # space for the legend
  start_plot(span(all$degree), span(all$variables) * c(1, room),
             list(xlab = "degree", ylab = "variables", main = "Degrees", log = "xy", axes = FALSE), ...)
  log_axis(1L, span(all$degree), count_ticks(span(all$degree)))
  log_axis(2L, span(all$variables), count_ticks(span(all$variables)))
  graphics::box(bty = "l")
  for (side in seq_along(counts)) {
    graphics::points(counts[[side]]$degree, counts[[side]]$variables, pch = c(19, 17)[side], cex = 0.8,
                     col = c(cold(), warm())[side])
  }
  if (length(counts) > 1L) {
    graphics::legend("topright", names(counts), pch = c(19, 17), col = c(cold(), warm()), bty = "n", horiz = TRUE,
                     cex = 0.9)
  }
  without <- sum(unlist(degrees) == 0)
  if (without > 0) note(paste(format_count(without), "without edges"))
}

draw_weights <- function(net, ...) {
  title <- if (!is.null(net@adjusted$lioness)) {
    paste0("weight of a sample (LIONESS), ", method_title(net@method))
  } else {
    switch(value_name(net), difference = "difference of z", overlap = "topological overlap",
           clr = "context likelihood", method_title(net@method))
  }
  if (!length(net@x)) return(draw_nothing("no edges", title, "edges", ...))
  limits <- if (is(net, "gpuCorDifference") || !is.null(net@adjusted$lioness)) {
    c(-1, 1) * max(abs(pretty(range(net@x))))
  } else if (value_name(net) == "clr") {
    c(0, max(pretty(c(1, net@x))))
  } else { # only networks of signed overlaps have negative overlaps
    c(if (is(net, "gpuTOMNetwork") && all(net@x >= 0)) 0 else -1, 1)
  }
  draw_histogram(net@x, seq(limits[1L], limits[2L], length.out = 81L), "edges",
                 list(xlab = title, main = n_of(length(net@x), "edge")), ...)
  if (is.finite(net@threshold)) {
    sides <- net@threshold * switch(net@sign, absolute = c(-1, 1), positive = 1, negative = -1)
    graphics::abline(v = sides[sides >= limits[1L]], lty = 2L, col = warm())
  }
}

# ---- layout

# Line widths increase with the weight. The session's random number generator is unaffected.
draw_layout <- function(net, labels, main = "", ...) {
  graph <- graph_of(net, value_name(net))
  degree <- igraph::degree(graph)
  graph <- igraph::induced_subgraph(graph, which(degree > 0))
  degree <- unname(degree[degree > 0])
  at <- withr::with_seed(1L, igraph::layout_components(graph, layout = igraph::layout_with_fr))
  ends <- igraph::as_edgelist(graph, names = FALSE)
  value <- igraph::edge_attr(graph, value_name(net))
  old <- graphics::par(mar = c(2.6, 0.6, 2, 0.6))
  on.exit(graphics::par(old))
  extended <- function(values) range(values) + c(-0.06, 0.06) * max(diff(range(values)), 1)
  graphics::plot.default(extended(at[, 1L]), extended(at[, 2L]), type = "n", axes = FALSE, ann = FALSE, ...)
  graphics::title(main = main, line = 0.8)
  shade <- if (length(value) > 1000L) 0.3 else 0.65
  weight <- abs(value)
  strongest_last <- order(weight)
  widths <- 0.6 + 2.2 * (weight - min(weight)) / max(diff(range(weight)), 1e-12)
  colors <- grDevices::adjustcolor(ifelse(value > 0, warm(), cold()), shade)
  from <- at[ends[strongest_last, 1L], , drop = FALSE]
  to <- at[ends[strongest_last, 2L], , drop = FALSE]
  graphics::segments(from[, 1L], from[, 2L], to[, 1L], to[, 2L], col = colors[strongest_last],
                     lwd = widths[strongest_last])
  is_y <- if (is.null(igraph::V(graph)$type)) rep(FALSE, length(degree)) else igraph::V(graph)$type
  size <- (if (length(degree) > 60L) 0.7 else 1) * (0.6 + 1.4 * sqrt(degree / max(degree)))
  graphics::points(at, pch = ifelse(is_y, 22, 21), bg = ifelse(is_y, "white", "grey35"), col = "black", lwd = 0.5,
                   cex = size)
  names <- igraph::V(graph)$name
  if (is.null(names)) names <- as.character(which(unlist(degrees_of_network(net)) > 0))
  best <- utils::head(order(-degree), labels)
  radius <- 0.375 * size * graphics::par("cex") * graphics::par("ps") / 72 # of dots, in inches
  draw_labels(best, shorten(names[best], 16L), at[, 1L], at[, 2L], radius)
  layout_legend(value_name(net), value, any(is_y))
}

layout_legend <- function(name, value, has_y) {
  there <- c(any(value > 0), any(value < 0))
  text <- paste0(name, c(" > 0  ", " < 0  "))[there] # legend() leaves little space after a text
  graphics::legend("bottom", c(text, if (has_y) c("x", "y")), horiz = TRUE, inset = c(0, -0.06), xpd = NA, bty = "n",
                   cex = 0.8, col = c(c(warm(), cold())[there], if (has_y) c("black", "black")),
                   lty = c(rep(1, sum(there)), if (has_y) c(NA, NA)), lwd = 2,
                   pch = c(rep(NA, sum(there)), if (has_y) c(21, 22)), pt.lwd = 0.5,
                   pt.bg = c(rep(NA, sum(there)), if (has_y) c("grey35", "white")))
}
