#' @rdname gpuCorNetwork-class
#' @param type For `plot()`: the distribution of `"degree"`s, a histogram of the `"weight"`s (coefficients) of the
#'   edges, the `"layout"` of the graph (Fruchterman and Reingold, by package igraph), or `"auto"`, all of them; with
#'   `resample` also the `"stability"` of the edges, and with `lag` the `"lag"`s of the edges. In a layout, strong edges
#'   are drawn wider, darker and last, positive ones in a warm color, and a dot's area is proportional to its degree.
#'   Edges of components ([gpuCorCompare()]) with `p.value` at most 0.05 have a color for each, others are gray.
#' @param max,labels Numbers: the max number of variables in a layout, and how many of the best connected to name.
#' @param coords For a layout on a glass brain, seen from three sides: a matrix or data frame of 2 or 3 columns, the
#'   positions of the variables (of those of `x`, then of `y`), by name if its rows have names. See
#'   [gpuConnectivity()]. Centers of parcels are `attr(x, "centers")` of the matrix of [parcelMeans()], or
#'   `voxelCoords(x)` of a parcellated series of CIFTI.
#' @param groups For a layout: the group of each variable, such as its lobe or module, which the color of its dot shows:
#'   a vector, a factor or modules, as in [gpuCor-class].
#' @param background What is outlined behind `coords`: `NULL` for the brain in MNI space, if `coords` may be places in
#'   it, else for the space around them; an image of the same space (an array with a header or a file), such as a mask
#'   or a template; or `FALSE` for nothing.
#' @export
plot.gpuNetwork <- function(x, type = c("auto", "degree", "weight", "layout", "stability", "lag"), max = 3000,
                            labels = 20, coords = NULL, background = NULL, groups = NULL, ...) {
  panels <- list(
    degree = function(...) draw_degrees(x, ...),
    weight = function(...) draw_weights(x, ...),
    layout = function(...) {
      net <- drawn_network(x, groups)
      if (is.null(coords)) draw_layout(net, labels, ...) else draw_brain(net, labels, coords, background, ...)
    },
    stability = function(...) {
      if (!length(x@stability)) fail("'x' has no stability; give gpuCorNetwork() 'resample', a number of resamples")
      draw_histogram(x@stability, seq(0, 1, length.out = 21L), "edges",
                     list(xlab = "fraction of the resamples with the edge", main = "Stability"), ...)
      mark_median(x@stability)
    },
    lag = function(...) draw_lags(x@tests$lag, "edges", "gpuCorNetwork", ...)
  )
  type <- check_choice(type, c("auto", names(panels)), "type")
  max <- check_whole(max, "max", 1, 1e5)
  labels <- check_whole(labels, "labels", 0, 1000)
  degree <- unlist(degrees_of_network(x))
  size <- sum(degree > 0)
  has_map <- !is.null(coords)
  names <- vertex_names(x@Dimnames, dim(x), is(x, "gpuCorNetwork"))
  groups <- group_factor(groups, length(degree), names)
  if (has_map) {
    coords <- check_coords(coords, length(degree), names)
    if (!is.null(background) && !isFALSE(background) && ncol(coords) == 3L) {
      background <- bright_places(background)
      ends <- apply(background, 2L, range)
      inside <- colSums(t(coords) >= ends[1L, ] & t(coords) <= ends[2L, ]) == 3
      if (mean(inside, na.rm = TRUE) < 0.5) {
        warn("gpuCorCoords", "most of 'coords' are outside 'background'; are both in millimeters of the same space?")
      }
    }
  }
  if (type == "layout") {
    if (!has_map) need_packages("igraph", "type = \"layout\"")
    if (size == 0) fail("the network has no edge, and no layout; a higher 'density' or a lower 'threshold' has edges")
    check_drawable(size, max, "layout", "variables with edges would be a hairball", "ask for fewer edges")
  }
  histograms <- c("degree", "weight", if (!is.null(x@tests$lag)) "lag", if (length(x@stability)) "stability")
  if (type != "auto") {
    draw_page(panels, type, ...)
  } else if (size == 0 || size > max || !(has_map || requireNamespace("igraph", quietly = TRUE))) {
    draw_page(panels[histograms], ...)
  } else if (has_map) {
    draw_below(panels[c("layout", histograms)], type, has_map, ...)
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
  span <- function(values) range(values, if (length(unique(values)) == 1L) values[1L] * c(0.5, 2))
  above <- if (length(counts) > 1L) 4 else 1 # a factor that leaves space for the legend
  titles <- list(xlab = "degree", ylab = "variables", main = "Degrees", ylim = span(all$variables) * c(1, above))
  start_log_plot(span(all$degree), span(all$variables), titles, ..., ticks = count_ticks)
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
  draw_histogram(net@x, weight_breaks(net@x, net@threshold), "edges",
                 list(xlab = title, main = n_of(length(net@x), "edge")), ...)
  if (is.finite(net@threshold)) {
    sides <- net@threshold * switch(net@sign, absolute = c(-1, 1), positive = 1, negative = -1)
    graphics::abline(v = sides, lty = 2L, col = warm())
  }
}

# Returns the edges of bars over the range of the values, one at the threshold and its negative; between these are no
# weights.
weight_breaks <- function(values, threshold) {
  ends <- range(pretty(range(values)))
  bars <- c(20, 40, 80)[findInterval(length(values), c(0, 500, 5000))]
  if (!isTRUE(threshold > 0)) return(seq(ends[1L], ends[2L], length.out = bars + 1))
  signs <- c(-1, 1)[c(any(values < 0), any(values > 0))]
  step <- max(diff(range(values, signs * threshold)) / (length(signs) * bars), 1e-3 * threshold)
  unlist(lapply(signs, function(sign) {
    outer <- threshold + step * seq(0, 1 + floor((max(sign * values) - threshold) / step))
    outer[1L] <- outer[1L] - 1e-3 * step # hist() counts a value at an edge as below it
    sort(sign * outer)
  }))
}

# ---- layouts

# Returns what is drawn of a network: list(from, to, value, width, group: of the edges, the strongest last; colors, key:
# of the groups of edges; degree, name, is_y, fill: of the vertices, those of x before those of y; value_name; levels:
# names of the groups of vertices, NULL without `groups`, a factor).
drawn_network <- function(net, groups = NULL) {
  ends <- network_ends(net)
  degrees <- degrees_of_network(net)
  is_y <- rep(c(FALSE, TRUE), c(length(degrees[[1L]]), length(unlist(degrees[-1L]))))
  group <- 2L - (net@x > 0)
  key <- paste(value_name(net), c("> 0", "< 0"))
  colors <- c(warm(), cold())
  component <- net@tests$component
  shown <- NULL
  if (!is.null(component)) {
    table <- net@components$table
    shown <- which(table$p.value <= 0.05)
    group <- match(component, shown, length(shown) + 1L)
    named <- paste0("component ", table$component, " (p = ", signif(table$p.value, 2L), ")")[shown]
    key <- c(named, if (length(shown)) "other components" else "no component has p <= 0.05")
    colors <- c(group_colors(key[-length(key)]), "grey50")
  }
  order <- order(group <= length(shown), abs(net@x)) # other components first
  name <- vertex_names(net@Dimnames, dim(net), is(net, "gpuCorNetwork"))
  weight <- abs(net@x)[order]
  span <- range(weight, if (!length(weight)) 0)
  width <- (0.7 + 2 * (weight - span[1L]) / max(diff(span), 1e-12)) / (1 + length(weight) / 1e4)
  list(from = ends$from[order], to = (ends$to + sum(!is_y) * any(is_y))[order], value = net@x[order], width = width,
       group = group[order], colors = colors, key = key, degree = unlist(degrees, use.names = FALSE), is_y = is_y,
       fill = if (is.null(groups)) ifelse(is_y, "white", "grey35") else group_colors(levels(groups))[groups],
       levels = levels(groups), value_name = value_name(net),
       name = if (is.null(name)) as.character(seq_along(is_y)) else name)
}

draw_layout <- function(net, labels, main = NULL, ...) {
  graphics::par(mar = c(2.6 + KEY_LINES * !is.null(net$levels), 0.6, if (length(main)) 3.2 else 1.6, 0.6))
  start_plot(c(0, graphics::par("pin")[1L]), c(0, graphics::par("pin")[2L]), list(main = main, axes = FALSE), ...)
  box <- graphics::par("usr")
  # Positions of the vertices, NA of those without an edge. Each component has a part of the box, the largest at the
  # left or top. The session's random number generator is unaffected.
  there <- which(net$degree > 0)
  graph <- igraph::make_graph(rbind(match(net$from, there), match(net$to, there)), length(there), directed = FALSE)
  igraph::E(graph)$weight <- pmax(abs(net$value) / max(abs(net$value), 1e-300), 1e-6)
  part <- igraph::components(graph)$membership
  part <- match(part, order(-tabulate(part)))
  boxes <- divide_box(tabulate(part)^1.15, box)
  at <- matrix(NA_real_, length(net$degree), 2L)
  for (k in seq_len(nrow(boxes))) {
    inside <- which(part == k)
    place <- withr::with_seed(1L, igraph::layout_with_fr(igraph::induced_subgraph(graph, inside)))
    sides <- diff(boxes[k, ])[c(1L, 3L)]
    sides <- pmin(sides, 1.3 * sqrt(prod(sides))) # narrow parts are not filled
    for (axis in 1:2) {
      ends <- mean(boxes[k, 2L * axis - 1:0]) + c(-0.5, 0.5) * sides[axis]
      spread <- function(values) (values - min(values)) / max(diff(range(values)), 1e-12)
      fraction <- 0.5 * spread(place[, axis]) + 0.5 * spread(rank(place[, axis])) # dense parts have more space
      at[there[inside], axis] <- ends[1L] + diff(ends) * (0.06 + 0.88 * fraction)
    }
  }
  draw_graph(net, at, labels, 0.7)
  if (any(net$degree == 0)) note(paste(format_count(sum(net$degree == 0)), "without edges"))
  draw_graph_key(net, 0.4)
}

# Divides a box, as par("usr"), into parts of these sizes, which decrease: a matrix with a row for each.
divide_box <- function(sizes, box) {
  if (length(sizes) == 1L) return(matrix(box, 1L))
  first <- seq_len(which.min(abs(cumsum(sizes[-length(sizes)]) - sum(sizes) / 2)))
  fraction <- sum(sizes[first]) / sum(sizes)
  one <- other <- box
  if (box[2L] - box[1L] > box[4L] - box[3L]) {
    one[2L] <- other[1L] <- box[1L] + fraction * (box[2L] - box[1L])
  } else {
    one[3L] <- other[4L] <- box[4L] - fraction * (box[4L] - box[3L])
  }
  rbind(divide_box(sizes[first], one), divide_box(sizes[-first], other))
}

draw_brain <- function(net, labels, coords, background, main = NULL, ...) {
  known <- known_places(coords)
  coords[!known, ] <- NA
  map <- new_map(coords[known, , drop = FALSE], background = background)
  below <- 3.2 + KEY_LINES * !is.null(net$levels)
  graphics::par(mar = c(below, 1.6, if (length(main) || !all(known)) 3.2 else 1.2, 1.6))
  draw_views(map, main, known, function(view) { # half of the names in each
    draw_graph(net, coords[, view], ceiling(labels / 2), 0.6)
  }, ...)
  draw_graph_key(net, 1.4)
}

# Draws edges and vertices, and names the best connected ones. `at`: positions of the vertices, or NA. Of many edges the
# weak ones fade.
draw_graph <- function(net, at, labels, cex) {
  n <- length(net$value)
  rank <- seq_len(n)
  # The strongest hundreds are seen.
  shade <- pmax(min(0.35, 40 / n), 0.85 * (0.4 + 0.6 * rank / n) / (1 + (n - rank) / 400))
  rgb <- grDevices::col2rgb(net$colors[net$group]) / 255
  graphics::segments(at[net$from, 1L], at[net$from, 2L], at[net$to, 1L], at[net$to, 2L], lwd = net$width,
                     col = grDevices::rgb(rgb[1L, ], rgb[2L, ], rgb[3L, ], shade))
  there <- which(!is.na(at[, 1L]))
  there <- there[order(net$degree[there])] # hubs on top
  degree <- net$degree[there]
  radius <- min(0.1, 0.35 * sqrt(prod(graphics::par("pin")) / length(there))) * pmax(0.3, sqrt(degree / max(degree, 1)))
  graphics::points(at[there, , drop = FALSE], pch = ifelse(net$is_y[there], 22L, 21L),
                   cex = radius * 72 / (0.375 * graphics::par("cex") * graphics::par("ps")), lwd = 0.5,
                   bg = ifelse(degree == 0, "white", net$fill[there]),
                   col = ifelse(degree == 0, "grey75", "black"))
  best <- utils::head(rev(which(degree > 0)), labels)
  radius[degree == 0] <- -Inf # names may cover them
  draw_labels(best, distinct_names(net$name[there[best]], 16L), at[there, 1L], at[there, 2L], radius, cex)
}

# Draws the key of edges with the widths of the weakest and the strongest, and of the vertices of x and y, at a line of
# the margin below; and below it that of the vertices' groups.
draw_graph_key <- function(net, line) {
  row <- function(text, color, width, dot, fill) data.frame(text, color, width, dot, fill)
  used <- sort(unique(net$group))
  edges <- row(net$key[used], net$colors[used], 2, NA, NA)
  ends <- range(abs(net$value))
  if (diff(ends) > 0) edges <- rbind(edges, row(paste0("|", net$value_name, "| = ", signif(ends, 2L)), "grey50",
                                                range(net$width), NA, NA))
  if (any(net$is_y)) {
    is_gray <- is.null(net$levels)
    edges <- rbind(edges, row(c("x", "y"), "black", NA, 21:22, if (is_gray) c("grey35", "white") else "white"))
  }
  draw_key_row(edges, line)
  if (is.null(net$levels)) return(invisible())
  draw_key_row(row(shorten(net$levels, 14L), "black", NA, 21, group_colors(net$levels)), line + KEY_LINES)
}

KEY_LINES <- 1.2 # from one row of a key to the next

# Draws a row of lines (`width`) and dots with their texts, no wider than the page.
draw_key_row <- function(row, line) {
  usr <- graphics::par("usr")
  inch <- graphics::xyinch()
  y <- usr[3L] - line * graphics::par("mai")[1L] / graphics::par("mar")[1L] * inch[2L]
  draw <- function(cex, plot) {
    # legend() leaves little space after a text.
    graphics::legend(mean(usr[1:2]), y, paste0(row$text, "  "), col = row$color, lty = ifelse(is.na(row$width), NA, 1),
                     pch = row$dot, pt.bg = row$fill, lwd = row$width, pt.lwd = 0.5,
                     seg.len = if (all(is.na(row$width))) 0.5 else 1.4, horiz = TRUE, xjust = 0.5, yjust = 1, xpd = NA,
                     bty = "n", cex = cex, plot = plot)$rect$w
  }
  page <- 0.95 * graphics::par("fin")[1L] * inch[1L]
  cex <- 0.8
  for (step in 1:3) cex <- cex * min(1, page / draw(cex, FALSE)) # small texts are wider than in proportion
  draw(cex, TRUE)
}
