# What all pictures share: pages and their style, axes, bars, points, labels that do not overlap, trees.

# ---- style: the arguments `text`, `palette` and `size` of every plot(), see summary.gpuCorNetwork

STYLE <- new.env(parent = emptyenv())
STYLE$colors <- grDevices::hcl.colors(101L, "Blue-Red 3")

# Colors of numbers of both signs, of numbers from 0, and of marks: negative ones or of no sign, and positive ones or
# highlighted.
diverging <- function() STYLE$colors
sequential <- function() STYLE$colors[51:101]
cold <- function() STYLE$colors[14L]
warm <- function() STYLE$colors[88L]
FAINT <- "grey70"

# Returns a color for each level: its own name, if all levels are names of colors, as modules are ("red.1" is red).
group_colors <- function(levels) {
  named <- sub("[.][0-9]+$", "", levels)
  if (all(named %in% grDevices::colors())) return(named)
  if (length(levels) > 8L) return(grDevices::hcl.colors(length(levels), "Dark 3"))
  grDevices::palette.colors(9L, "Okabe-Ito")[-1L][seq_along(levels)]
}

# Returns up to `max` positions among n, spread evenly without following a pattern.
drawn_places <- function(n, max = 2e5) {
  if (n <= max) return(seq_len(n))
  floor((seq_len(max) * (sqrt(5) - 1) / 2) %% 1 * n) + 1
}

# ---- pages

# Draws panels, functions of graphical parameters. `type`: the name of one, or "auto" for all of them, arranged by
# `page`, `heights` and `widths` as in layout(), by default side by side. `min_inches`: the inches across and up of
# the smallest panel, below which text is reduced. `...`: graphical parameters, for each.
draw_page <- function(panels, type = "auto", ..., page = matrix(seq_along(panels), 1L), heights = rep(1, nrow(page)),
                      widths = rep(1, ncol(page)), min_inches = c(2, 1.8), text = 1, palette = "Blue-Red 3",
                      size = NULL) {
  type <- check_choice(type, c("auto", names(panels)), "type")
  for (name in setdiff(...names(), c(PAGE_PARAMETERS, ""))) {
    fail("unused argument '", name, "'; besides those on its help page plot() takes 'text', 'palette', 'size' and ",
         "graphical parameters, such as 'main'")
  }
  if (type != "auto") panels <- panels[type]
  text <- check_within(text, "text", 0.1, 10)
  style <- STYLE$colors
  on.exit(STYLE$colors <- style)
  is_known <- is.character(palette) && length(palette) == 1L &&
    palette %in% c(grDevices::hcl.pals("diverging"), grDevices::hcl.pals("divergingx"))
  colors <- if (is_known) {
    grDevices::hcl.colors(101L, palette)
  } else if (length(palette) > 2L) {
    tryCatch(grDevices::colorRampPalette(palette)(101L), error = function(e) NULL)
  }
  STYLE$colors <- check_that(colors, "palette", !is.null(colors),
                             paste("the name of one of hcl.pals(\"diverging\"), or three colors or more, from",
                                   "negative to positive"), shown = show_value(palette))
  if (!is.null(size)) {
    check_that(size, "size", length(size) == 2L && are_finite(size) && all(size > 0), "width and height in inches")
    grDevices::dev.new(width = size[1L], height = size[2L], noRStudioGD = TRUE)
  }
  several <- length(panels) > 1L
  old <- graphics::par(c(if (several) "mfrow", "cex", "lab", "mar", "pty", TEXT_PARAMETERS)) # cex changes what mar is
  on.exit(graphics::par(old), add = TRUE)
  graphics::par(list(...)[intersect(...names(), TEXT_PARAMETERS)])
  smallest <- c(min(widths) / sum(widths), min(heights) / sum(heights)) # panel, a fraction of the page
  inches <- if (several) graphics::par("din") * smallest else graphics::par("fin")
  cex <- c(old$cex, 0.85, 0.7)[min(length(panels), 3L)] * min(1, inches / min_inches)
  if (any(c(2.8, 3.9) * min_inches * graphics::par("cin")[2L] * cex * text >= inches)) { # margins
    fail("'text' = ", format(text), " is too large for a device of ",
         paste(format(graphics::par("din"), digits = 2L), collapse = " x "), " inches; give a smaller one, or 'size'")
  }
  if (several) graphics::layout(page, widths, heights)
  for (panel in panels) {
    graphics::par(mar = c(3.8, 4.6, 3.2, 1), cex = cex * text, lab = if (several) c(4, 5, 7) else old$lab,
                  pty = old$pty)
    panel(...)
  }
  invisible()
}

# What a user may give to any picture beside its own arguments: what is set for the page, and what its axes take.
TEXT_PARAMETERS <- c("cex.axis", "cex.lab", "cex.main", "col.axis", "col.lab", "col.main", "family", "fg", "font",
                     "font.axis", "font.lab", "font.main", "tck", "tcl")
PAGE_PARAMETERS <- c(TEXT_PARAMETERS, "main", "xlab", "ylab", "xlim", "ylim", "log", "asp", "axes", "frame.plot", "bty",
                     "las", "mgp", "xaxp", "xaxs", "xaxt", "yaxp", "yaxs", "yaxt")

# Draws panels, of which the first may be a map: with type = "auto" across the page, and the others below it. Panels may
# be NULL.
draw_below <- function(panels, type, has_map, ...) {
  panels <- Filter(Negate(is.null), panels)
  if (type != "auto" || !has_map) return(draw_page(panels, type, ...))
  draw_page(panels, ..., page = rbind(1L, if (length(panels) > 1L) seq_along(panels)[-1L]), heights = c(1.6, 1))
}

# Draws the last panel, a map or a graph, at the right, and the others one below another beside it.
draw_beside <- function(panels, ...) {
  n <- length(panels) - 1L
  draw_page(panels, ..., page = matrix(c(seq_len(n), rep(n + 1L, n)), n), widths = c(1, 1.8))
}

# ---- axes

# Starts an empty plot, with titles placed clear of upright tick labels. `parameters`: xlab, ylab, main and others,
# which the user's arguments override.
start_plot <- function(x, y, parameters, ...) {
  given <- list(...)
  parameters[names(given)] <- given
  titles <- c("xlab", "ylab", "main")
  usual <- list(bty = "l", las = 1)
  own <- parameters[setdiff(names(parameters), titles)]
  usual[names(own)] <- own
  do.call(graphics::plot.default, c(list(x, y, type = "n", ann = FALSE), usual))
  title_at("main", parameters$main, TITLE_LINE)
  title_at("xlab", parameters$xlab, 2.2)
  title_at("ylab", parameters$ylab, 3.1)
}

# Margin line of titles, which leaves space for note().
TITLE_LINE <- 1.9

# Adds a title of the plot or of an axis, reduced if the figure would clip it, and returns its size. `what`: an argument
# of title().
title_at <- function(what, text, line) {
  if (!length(text)) return(invisible())
  kind <- if (what == "main") "main" else "lab"
  usual <- graphics::par(paste0("cex.", kind))
  width <- graphics::strwidth(text, "inches", cex = usual, font = graphics::par(paste0("font.", kind)))
  is_upright <- what == "ylab"
  ends <- graphics::par("mai")[if (is_upright) c(1L, 3L) else c(2L, 4L)]
  room <- graphics::par("pin")[1L + is_upright] + 2 * min(ends)
  size <- usual * min(1, 0.98 * room / max(width, 1e-6))
  do.call(graphics::title, stats::setNames(list(text, size, line), c(what, paste0("cex.", kind), "line")))
  invisible(size)
}

# Adds a line below the title, reduced if the figure would clip it. `more`: NULL, or what it adds if that is legible.
note <- function(text, more = NULL) {
  middle <- mean(graphics::par("plt")[1:2])
  room <- 2 * min(middle, 1 - middle) * graphics::par("fin")[1L]
  fitting <- function(text) 0.98 * room / graphics::strwidth(text, "inches", cex = 0.75)
  if (length(more) && fitting(paste0(text, more)) > 0.75) text <- paste0(text, more)
  graphics::mtext(text, 3L, 0.3, cex = 0.75 * min(1, fitting(text)) * graphics::par("cex"))
}

# Returns equally spaced ticks of a logarithmic axis; below one decade, those of a linear axis.
log_ticks <- function(values) {
  range <- range(values)
  decades <- diff(log10(range))
  if (decades < 1) return(pretty(range, 4L))
  step <- ceiling(decades / 6)
  exponents <- seq(floor(log10(range[1L])), ceiling(log10(range[2L])), by = if (decades < 2.5) 0.5 else step)
  signif(10^exponents, 1L)
}

# Returns integer ticks of counts, including 1 if the axis starts there.
count_ticks <- function(values) {
  ticks <- log_ticks(values)
  sort(unique(c(if (min(values) <= 1) 1, ticks[ticks == round(ticks) & ticks >= 1])))
}

# Starts an empty plot with logarithmic axes. `titles`: see start_plot(); `ticks`: a function of values.
start_log_plot <- function(x, y, titles, ..., ticks = log_ticks) {
  start_plot(x, y, c(titles, list(log = "xy", axes = FALSE)), ...)
  log_axis(1L, x, ticks(x))
  log_axis(2L, y, ticks(y))
  graphics::box(bty = "l")
}

log_axis <- function(side, values, ticks = log_ticks(values)) {
  graphics::axis(side, ticks, vapply(ticks, format, "", digits = 3L, big.mark = ",", scientific = max(ticks) > 1e6),
                 las = 1)
}

# Draws bars of counts of the values, or of a sample of them.
draw_histogram <- function(values, breaks, what, parameters, ...) {
  drawn <- .subset(values, drawn_places(length(values)))
  counts <- graphics::hist(drawn[is.finite(drawn)], breaks, plot = FALSE)$counts
  draw_bars(breaks, counts * (length(values) / max(1, length(drawn))), what, parameters, ...)
}

# Returns the unit of the axis; its ticks are integers if the unit is 1.
draw_bars <- function(breaks, counts, what, parameters, ..., fill = FAINT) {
  units <- stats::setNames(c(1, 1e3, 1e6, 1e9), c("", " (thousands)", " (millions)", " (billions)"))
  unit <- units[max(1L, findInterval(max(counts, 1) / 2, units))]
  parameters$ylab <- paste0(what, names(unit))
  top <- 1.05 * max(counts, 1) / unit
  start_plot(range(breaks), c(0, top), c(parameters, list(yaxs = "i", bty = "n", yaxt = "n")), ...)
  ticks <- pretty(c(0, top), 5L)
  if (unit == 1) ticks <- ticks[ticks == round(ticks)]
  if (!any(c("yaxt", "axes") %in% names(list(...)))) graphics::axis(2L, ticks, las = 1)
  graphics::rect(breaks[-length(breaks)], 0, breaks[-1L], counts / unit, col = fill,
                 border = if (50 * min(diff(breaks)) >= diff(range(breaks))) "white" else NA)
  invisible(unit)
}

draw_nothing <- function(text, xlab, ylab, ...) {
  start_plot(0:1, 0:1, list(xlab = xlab, ylab = ylab, axes = FALSE), ...)
  graphics::box(bty = "l")
  graphics::text(0.5, 0.5, text)
}

# Draws a bar for each lag, or for several if there are more than 100. `verb`: the function that computes lags.
draw_lags <- function(lag, what, verb, ...) {
  if (is.null(lag)) fail("'x' has no lags; give ", verb, "() 'lag', such as -10:10")
  lag <- lag[!is.na(lag)]
  if (!length(lag)) return(draw_nothing(paste("no", what), "lag", what, ...))
  range <- range(lag, -1, 1)
  step <- ceiling((diff(range) + 1) / 100)
  breaks <- seq(range[1L] - 0.5, range[2L] + step, step)
  middles <- breaks[-1L] - step / 2
  draw_histogram(lag, breaks, what, list(xlab = "lag (rows)", main = "Lags", xaxt = "n"), ...,
                 fill = ifelse(middles < 0, cold(), ifelse(middles > 0, warm(), FAINT)))
  graphics::axis(1L, unique(round(pretty(range))))
  mark_median(lag)
}

mark_median <- function(values) {
  middle <- stats::median(values)
  graphics::abline(v = middle, lwd = 2)
  note(paste("median", format(middle, digits = 3L)))
}

# ---- labels of points

# Places labels of some of the points. Returns list(x, y: the middle of each label, NA where none fits; wide, high: half
# their sizes). Earlier labels take precedence. No label covers another one, the line from it to its point, or part of a
# point; among more than 500 points it may cover those without a label. `radius`: radius of each point in inches, -Inf
# if labels may cover it.
place_labels <- function(which, labels, x, y, radius, cex) {
  inch <- graphics::xyinch(warn.log = FALSE)
  x <- x / inch[1L]
  y <- y / inch[2L]
  edges <- graphics::par("usr") / rep(inch, each = 2L)
  em <- graphics::strheight("M", "inches", cex = cex)
  wide <- graphics::strwidth(labels, "inches", cex = cex) / 2 + 0.25 * em
  high <- 0.8 * em
  ring <- data.frame(across = c(0, 0, 1, -1, 1, -1, -1, 1), up = c(1, -1, 0, 0, 1, 1, -1, -1),
                     far = rep(c(0.2, 1, 2, 4, 6), each = 8L)) # heights of letters
  lines <- list(x = NULL, y = NULL) # points on the lines of labels that have a place
  found <- list(x = rep(NA_real_, length(which)), y = rep(NA_real_, length(which)))
  for (k in seq_along(which)) {
    reach <- radius[which[k]] + ring$far * em
    at_x <- x[which[k]] + ring$across * (wide[k] + reach)
    at_y <- y[which[k]] + ring$up * (high + reach)
    free <- at_x - wide[k] > edges[1L] & at_x + wide[k] < edges[2L] & at_y - high > edges[3L] & at_y + high < edges[4L]
    line_to <- function(at) {
      part <- seq(0.05, 1, 0.05)
      list(x = x[which[k]] + part * (at_x[at] - x[which[k]]), y = y[which[k]] + part * (at_y[at] - y[which[k]]))
    }
    covers <- function(at, points) {
      line <- line_to(at)
      any(abs(x - at_x[at])[points] < wide[k] + radius[points] & abs(y - at_y[at])[points] < high + radius[points],
          na.rm = TRUE) ||
        any(abs(found$x - at_x[at]) < wide + wide[k] & abs(found$y - at_y[at]) < 2 * high, na.rm = TRUE) ||
        any(abs(lines$x - at_x[at]) < wide[k] & abs(lines$y - at_y[at]) < high) ||
        any(abs(outer(found$x, line$x, "-")) < wide & abs(outer(found$y, line$y, "-")) < high, na.rm = TRUE)
    }
    at <- Find(function(at) !covers(at, seq_along(x)), base::which(free))
    if (is.null(at) && length(x) > 500L) at <- Find(function(at) !covers(at, which), base::which(free))
    if (is.null(at)) next
    found$x[k] <- at_x[at]
    found$y[k] <- at_y[at]
    lines <- Map(c, lines, line_to(at))
  }
  list(x = found$x * inch[1L], y = found$y * inch[2L], wide = wide * inch[1L], high = high * inch[2L])
}

# Returns the positions nearest to `at`, ascending, by least squares, that are at least `room` apart and within a range.
spread_out <- function(at, room, range) {
  step <- room * (seq_along(at) - 1)
  place <- stats::isoreg(at - step)$yf + step
  pmax(pmin(place, range[2L] - room * rev(seq_along(at) - 0.5)), range[1L] + room / 2 + step)
}

# Draws each label on a pale field, to be legible among lines.
draw_labels <- function(which, labels, x, y, radius, cex) {
  at <- place_labels(which, labels, x, y, radius, cex)
  there <- base::which(!is.na(at$x))
  if (!length(there)) return(invisible())
  graphics::rect(at$x[there] - at$wide[there], at$y[there] - at$high, at$x[there] + at$wide[there],
                 at$y[there] + at$high, col = grDevices::adjustcolor("white", 0.8), border = NA)
  across <- x[which[there]] - at$x[there]
  up <- y[which[there]] - at$y[there]
  inside <- pmin(1, 1 / pmax(abs(across) / at$wide[there], abs(up) / at$high)) # of the way to the point
  graphics::segments(x[which[there]], y[which[there]], at$x[there] + inside * across, at$y[there] + inside * up,
                     col = "grey50", lwd = 0.5)
  graphics::text(at$x[there], at$y[there], labels[there], cex = cex)
}

# ---- points

# Draws points, those in color FAINT below the others, and names some. `titles`: see start_plot(); `color`: one, or of
# each point; `named`, `names`: positions and names of those to name, the most important first; `size`: NULL for
# one that suits their number; `below`: a function that draws lines below the points.
draw_points <- function(x, y, titles, ..., color = cold(), named = NULL, names = NULL, size = NULL, border = "white",
                        below = function() NULL) {
  n <- length(x)
  start_plot(range(x, finite = TRUE), range(y, finite = TRUE), titles, ...)
  below()
  color <- rep_len(color, n)
  faint <- color == FAINT
  if (is.null(size)) size <- c(1.1, 0.8, 0.6)[findInterval(n, c(0, 200, 2000))]
  size <- ifelse(faint, size, pmax(size, 0.8))
  last <- order(!faint)
  graphics::points(x[last], y[last], pch = 21, cex = size[last], lwd = 0.4, col = if (n > 200L) NA else border,
                   bg = grDevices::adjustcolor(color[last], if (n > 200L) 0.6 else 1))
  radius <- 0.375 * size * graphics::par("cex") * graphics::par("ps") / 72
  radius[setdiff(which(faint), named)] <- -Inf # labels may cover them
  if (length(named)) draw_labels(named, distinct_names(names, 30L), x, y, radius, cex = 0.7)
}

# Returns limits of values: both signs of the largest size, or from 0 if none is negative.
span_of <- function(values) {
  range <- range(0, values, finite = TRUE)
  if (range[1L] < 0) range <- c(-1, 1) * max(abs(range))
  if (diff(range) > 0) range else 0:1
}

# ---- trees

# Orders variables by average linkage, which places similar ones next to each other.
order_by_tree <- function(d) {
  d[is.na(d)] <- max(1, d[!is.na(d)]) # missing distances count as large
  n <- attr(d, "Size")
  if (n < 3) return(list(order = seq_len(n)))
  d <- structure(d, Size = as.integer(n)) # fastcluster requires an integer
  linkage <- if (requireNamespace("fastcluster", quietly = TRUE)) fastcluster::hclust else stats::hclust
  linkage(d, method = "average")
}

# Draws a tree without names above n columns of equal width. Lines down to 0 of many leaves would look solid black.
draw_tree <- function(tree, ylab, main = NULL) {
  n <- length(tree$order)
  graphics::plot.new() # par("pin") is then that of this figure
  half <- graphics::par("pin")[1L] / (2 * n) # of a column: the tree spans the middles
  graphics::par(new = TRUE, mai = graphics::par("mai") + c(0, half, 0, half))
  width <- if (n > 500L) 0.5 else 1
  graphics::plot(tree, labels = FALSE, hang = 0.03, ann = FALSE, axes = FALSE, xaxs = "i", lwd = width)
  title_at("ylab", ylab, 3.4)
  title_at("main", main, TITLE_LINE)
  graphics::axis(2L, las = 1)
}
