# Matrices drawn as cells in colors of numbers, with a key: their order, groups, names and marks.

colors_of <- function(values, limits, colors) {
  fraction <- (values - limits[1L]) / max(diff(limits), .Machine$double.xmin)
  found <- colors[1L + round(pmin(pmax(fraction, 0), 1) * (length(colors) - 1))]
  found[is.na(values)] <- "grey85"
  found
}

# Draws the color key in the right margin. `at`: ticks; `labels`: their texts; `part`: its ends, as fractions of the
# height.
draw_key <- function(limits, colors, title, at = pretty(limits, 5L), labels = format(at, digits = 2L),
                     part = 0:1) {
  usr <- graphics::par("usr")
  inch <- graphics::xinch()
  left <- usr[2L] + 0.12 * inch
  right <- left + 0.14 * inch
  room <- (1 - graphics::par("plt")[2L]) * graphics::par("fin")[1L] - 0.2 # inches to the edge of the figure
  y <- function(fraction) usr[3L] + (part[1L] + diff(part) * fraction) * diff(usr[3:4])
  edges <- y(seq(0, 1, length.out = length(colors) + 1L))
  graphics::rect(left, edges[-length(edges)], right, edges[length(edges)], col = colors, border = NA, xpd = NA)
  graphics::rect(left, edges[1L], right, edges[length(edges)], border = "grey40", xpd = NA)
  keep <- at >= limits[1L] & at <= limits[2L]
  graphics::text(right + 0.05 * inch, y((at[keep] - limits[1L]) / diff(limits)), labels[keep], adj = c(0, 0.5),
                 cex = 0.75, xpd = NA)
  graphics::text(left, y(1) + 0.17 * graphics::yinch(), title, adj = c(0, 0.5), xpd = NA,
                 cex = 0.8 * min(1, room / graphics::strwidth(title, "inches", cex = 0.8)))
}

# Reduces a matrix to at most `max` rows, means of blocks of rows: a plot cannot show more.
reduce_rows <- function(m, max) {
  if (nrow(m) <= max) return(m)
  block <- ceiling(seq_len(nrow(m)) / nrow(m) * max)
  there <- !is.na(m)
  m[!there] <- 0
  rowsum(m, block) / rowsum(there + 0, block)
}

# Stops if a picture of n variables is asked for with argument `max` below n. `why`: what it would be; `instead`: a
# hint.
check_drawable <- function(n, max, what = "heat map", why = "variables would show less than a pixel of each",
                           instead = "draw some of the variables, such as a module's") {
  if (n <= max) return(invisible())
  fail("a ", what, " of ", format_count(n), " ", why, "; 'max' is ", format_count(max), ": raise it, or ", instead)
}

# Draws a matrix as an image, its first row at y[2]. `x`, `y`: edges in user coordinates. Their defaults need the
# original size of `m`, so they are evaluated first.
draw_cells <- function(m, limits, colors, x = c(0.5, ncol(m) + 0.5), y = c(nrow(m) + 0.5, 0.5)) {
  force(x)
  force(y)
  m <- t(reduce_rows(t(reduce_rows(m, 600L)), 600L))
  found <- matrix(colors_of(m, limits, colors), nrow(m))
  if (length(found) > 2500L) {
    graphics::rasterImage(grDevices::as.raster(found), x[1L], y[1L], x[2L], y[2L], interpolate = FALSE)
  } else { # rectangles are sharp in vector graphics
    at_x <- seq(x[1L], x[2L], length.out = ncol(m) + 1L)
    at_y <- seq(y[2L], y[1L], length.out = nrow(m) + 1L)
    graphics::rect(at_x[col(m)], at_y[row(m)], at_x[col(m) + 1L], at_y[row(m) + 1L], col = found, border = NA)
  }
}

# Returns names for cells, shortened to a quarter of the figure. names_margin() returns the margin lines that they need.
cell_names <- function(names, inches = 0.25 * min(graphics::par("fin"))) {
  if (is.null(names)) return(NULL)
  fitting <- inches / graphics::strwidth("n", "inches", cex = 0.8) # characters
  distinct_names(names, as.integer(min(40, max(12, fitting))))
}

names_margin <- function(names, min_lines) {
  if (is.null(names)) return(min_lines)
  line <- graphics::par("cin")[2L] * graphics::par("mex") * graphics::par("cex")
  max(min_lines, 0.8 + max(graphics::strwidth(names, "inches", cex = 0.8)) / line)
}

# Returns the size of names beside cells of `inches`, or 0 if they would be illegible.
names_size <- function(names, inches) {
  size <- min(0.8, 0.7 * inches / graphics::strheight("M", "inches", cex = 1))
  if (is.null(names) || size * graphics::par("cex") * graphics::par("ps") < 4.5) 0 else size # in points
}

# ---- order and groups

# Orders variables whose distances are the dist `d`. `order`: "auto", "tree", "given", or positions or names; `groups`:
# NULL, or as group_factor() takes them. By default variables are in their groups, and within each in the order of a
# tree. Returns list(order; groups: a factor in that order, or NULL; how: words).
ordered_by <- function(d, order, groups) {
  n <- attr(d, "Size")
  labels <- attr(d, "Labels")
  groups <- group_factor(groups, n, labels)
  how <- "as given"
  if (length(order) != 1L) {
    if (is.factor(order)) order <- as.character(order)
    at <- if (is.character(order)) match(order, labels) else order
    if (is.character(order) && anyNA(at)) fail("'order' has '", order[is.na(at)][1L], "', which is no variable of 'x'")
    check_that(order, "order", is_numeric(at) && identical(sort(as.numeric(at)), as.numeric(seq_len(n))),
               paste("\"auto\", \"tree\", \"given\", or all", n_of(n, "variable"), "by number or name"),
               shown = paste(length(order), "values, not each of them once"))
  } else {
    order <- check_choice(order, c("auto", "tree", "given"), "order")
    at <- if (order == "given") seq_len(n) else order_by_tree(d)$order
    if (order != "given") how <- "ordered by hierarchical clustering"
    if (order == "auto" && !is.null(groups)) {
      at <- at[order(groups[at])]
      how <- "by group, then clustering"
    }
  }
  list(order = at, groups = groups[at], how = how)
}

# Returns the elements of x in the order of `labels`, if both have names that differ among themselves.
by_name <- function(x, labels, name) {
  known <- names(x)
  if (is.null(known) || is.null(labels) || anyDuplicated(known) || anyDuplicated(labels)) return(x)
  lacking <- setdiff(labels, known)
  if (length(lacking)) {
    fail("the names of '", name, "' lack '", lacking[1L], "'", if (length(lacking) > 1L) {
      paste(" and", format_count(length(lacking) - 1L), "others")
    }, "; without names its values are in the order of the variables")
  }
  x[match(labels, known)]
}

# Returns a factor of n variables, its used levels only. `groups`: a vector or factor with a value for each, in their
# order or with their names; or modules of gpuModules(), the largest first.
group_factor <- function(groups, n, labels, name = "groups") {
  if (is.null(groups)) return(NULL)
  if (inherits(groups, "gpuModules")) {
    groups <- factor(groups$colors, unique(groups$colors[order(groups$labels == 0, groups$labels)]))
  }
  what <- paste("modules, or a vector with a value for each of the", n_of(n, "variable"))
  check_type(groups, name, is.atomic(groups), what)
  groups <- by_name(groups, labels, name)
  check_that(groups, name, length(groups) == n, what, shown = n_of(length(groups), "value"))
  droplevels(addNA(as.factor(groups), ifany = TRUE))
}

# ---- the picture

# Returns the margins of a matrix's picture in lines. `names`: shortened ones of columns and of rows, or NULL; `left`:
# the min margin of rows; `blocks`: NULL, or the names of the rows' groups, see block_names().
matrix_margins <- function(names, groups, main, left, blocks = NULL) {
  bars <- BAR_LINES * (lengths(groups) > 0)
  if (!is.null(blocks)) {
    names[[2L]] <- blocks
    bars[2L] <- bars[2L] + 1.8 # for lines to them, and a title
  }
  keyed <- if (is.null(blocks)) Find(has_key, groups)
  legend <- if (!is.null(keyed)) names_margin(shorten(levels(keyed), 14L), 0) + 1.5
  c(names_margin(names[[1L]], 2) + bars[1L], names_margin(names[[2L]], left) + bars[2L],
    if (is.null(main)) 1.6 else 3.2, max(4.2, legend))
}

# Groups of one member each are named beside their colors.
has_key <- function(groups) nlevels(groups) > 0L && nlevels(groups) < length(groups)

# Returns the names of groups whose members are together, in their order, if they fit beside the rows; else NULL.
block_names <- function(groups) {
  runs <- rle(as.integer(groups))$values
  step <- 1.5 * graphics::strheight("M", "inches", cex = 0.8)
  is_named <- has_key(groups) && !anyDuplicated(runs) && length(runs) * step < graphics::par("pin")[2L]
  if (is_named) shorten(levels(groups), 14L)[runs]
}

BAR_LINES <- 0.9 # of a bar of groups, with its space

# Draws a matrix, its first row at the top. `names`: those of columns and of rows, each may be NULL; `groups`: factors
# of columns and of rows, each may be NULL, drawn as bars of colors; `marks`, `stars`: NULL, or see draw_marks();
# `span`: NULL, or both ends of a horizontal axis of numbers; `titles`: `note`; `marks`, a further note if marks are
# legible; and those that the user's replace: `main`, and `xlab` and `ylab` of sides without legible names; `unsigned`:
# columns of numbers from 0 to 1 without a sign, which are drawn in grays and have a key of their own; `left`: the least
# margin of rows in lines. `at`, `ticks`: see draw_key().
draw_matrix <- function(m, limits, key, ..., names = list(colnames(m), rownames(m)), groups = list(NULL, NULL),
                        marks = NULL, stars = NULL, span = NULL, titles = list(), square = FALSE, left = 2,
                        unsigned = NULL, at = pretty(limits, 5L), ticks = format(at, digits = 2L)) {
  size <- dim(m)
  if (!length(m)) fail("there is nothing to plot: 'x' has ", show_size(size), " cells")
  colors <- if (limits[1L] < 0) diverging() else sequential()
  own <- list(...)[intersect(...names(), c("main", "xlab", "ylab"))]
  titles[names(own)] <- own
  main <- titles$main
  graphics::plot.new() # par("fin") is then that of this figure
  graphics::par(pty = if (square) "s" else "m", new = TRUE)
  names <- lapply(names, cell_names)
  blocks <- NULL
  for (pass in 1:2) { # names that are not legible take no space
    margins <- matrix_margins(names, groups, main, left, blocks)
    if (!is.null(span)) margins[1:2] <- c(3.8, 3)
    graphics::par(mar = margins)
    cex <- vapply(1:2, function(side) names_size(names[[side]], graphics::par("pin")[side] / size[3L - side]), 0)
    names[cex == 0] <- list(NULL)
    if (pass == 1L && square && cex[2L] == 0) blocks <- block_names(groups[[2L]])
  }
  across <- if (is.null(span)) c(0.5, size[2L] + 0.5) else span
  graphics::plot.new()
  graphics::plot.window(across, c(size[1L] + 0.5, 0.5), xaxs = "i", yaxs = "i")
  draw_cells(m, limits, colors, across)
  grays <- grDevices::hcl.colors(51L, "Grays", rev = TRUE)
  for (column in unsigned) draw_cells(m[, column, drop = FALSE], 0:1, grays, column + c(-0.5, 0.5))
  for (side in which(lengths(groups) > 0)) draw_group_bar(groups[[side]], side)
  draw_block_names(blocks, groups[[2L]])
  graphics::box(col = "grey40")
  if (!is.null(span)) graphics::axis(1L, lwd = 0, lwd.ticks = 1)
  bars <- BAR_LINES * (lengths(groups) > 0)
  lines <- c(if (is.null(span)) 0.8 + bars[1L] else 2.2, if (is.null(blocks)) 0.8 + bars[2L] else margins[2L] - 1.2)
  draw_sides(names, cex, bars, titles, lines)
  title_at("main", main, TITLE_LINE)
  is_dark <- colMeans(grDevices::col2rgb(colors_of(m, limits, colors))) < 130
  are_marked <- !is.null(marks) && draw_marks(marks, ifelse(is_dark, "white", "black"), stars)
  words <- c(if (are_marked) titles$marks, titles$note)
  if (length(words)) note(paste(words, collapse = "; "))
  groups <- if (is.null(blocks)) Find(has_key, groups)
  upper_half <- c(if (is.null(groups)) 0.55 else 0.62, 1)
  draw_key(limits, colors, key, at, ticks, if (is.null(groups) && !length(unsigned)) 0:1 else upper_half)
  if (length(unsigned)) draw_key(0:1, grays, "R", part = c(0, 0.4))
  if (!is.null(groups)) draw_group_key(levels(groups))
}

# Writes the names of columns and of rows beyond their bars, or where they are not legible a title at so many lines.
draw_sides <- function(names, cex, bars, titles, lines) {
  for (side in 1:2) {
    if (cex[side] > 0) {
      graphics::axis(side, seq_along(names[[side]]), names[[side]], tick = FALSE, las = 2L, cex.axis = cex[side],
                     mgp = c(3, 0.2 + bars[side], 0), gap.axis = -1) # -1: axis() drops no names
    } else {
      what <- c("xlab", "ylab")[side]
      title_at(what, titles[[what]], lines[side])
    }
  }
}

# Draws the bar of a factor below the cells (side 1) or to the left of them (2); if the members of each group are
# together, also lines between groups.
draw_group_bar <- function(groups, side) {
  usr <- graphics::par("usr")
  line <- graphics::par("csi") * graphics::xyinch()
  runs <- rle(as.integer(groups))
  end <- cumsum(runs$lengths) + 0.5
  start <- end - runs$lengths
  color <- group_colors(levels(groups))[runs$values]
  if (side == 1L) {
    beside <- usr[3L] - c(0.2, 0.8) * line[2L]
    graphics::rect(start, beside[1L], end, beside[2L], col = color, border = NA, xpd = NA)
  } else {
    beside <- usr[1L] - c(0.2, 0.8) * line[1L]
    graphics::rect(beside[1L], start, beside[2L], end, col = color, border = NA, xpd = NA)
  }
  if (anyDuplicated(runs$values) || !has_key(groups)) return(invisible())
  inner <- end[-length(end)]
  if (side == 1L) graphics::abline(v = inner, lwd = 0.6) else graphics::abline(h = inner, lwd = 0.6)
}

# Writes the names of groups to the left of their bar, moved apart where they would overlap.
draw_block_names <- function(names, groups) {
  if (is.null(names)) return(invisible())
  runs <- rle(as.integer(groups))$lengths
  middle <- cumsum(runs) - (runs - 1) / 2
  place <- spread_out(middle, 1.5 * abs(graphics::strheight("M", cex = 0.8)), c(0.5, length(groups) + 0.5))
  x <- graphics::par("usr")[1L] - c(0.85, 1.2) * graphics::par("csi") * graphics::xinch()
  graphics::segments(x[1L], middle, x[2L], place, col = "grey50", lwd = 0.5, xpd = NA)
  graphics::text(x[2L], place, names, pos = 2L, offset = 0.15, cex = 0.8, xpd = NA)
}

# Draws squares with the names of groups in the lower half of the right margin, as many as fit.
draw_group_key <- function(levels) {
  usr <- graphics::par("usr")
  inch <- graphics::xyinch()
  step <- 1.15 * graphics::strheight("M", "inches", cex = 1)
  room <- max(1, floor(0.54 * graphics::par("pin")[2L] / step))
  color <- group_colors(levels)
  shown <- shorten(levels, 14L)
  if (length(levels) > room) {
    shown <- c(shown[seq_len(room - 1)], paste(length(levels) - room + 1, "more"))
    color <- c(color[seq_len(room - 1)], NA)
  }
  x <- usr[2L] + c(0.12, 0.12 + 0.75 * step) * inch[1L]
  y <- usr[3L] + (seq(length(shown), 1) - 0.5) * step * inch[2L]
  half <- 0.38 * step * inch[2L]
  graphics::rect(x[1L], y - half, x[2L], y + half, col = color, border = NA, xpd = NA)
  graphics::text(x[2L] + 0.05 * inch[1L], y, shown, adj = c(0, 0.5), cex = 0.75, xpd = NA)
}

# Writes a text into each cell of the plot, its first row at the top, unless it would be illegible. `stars`: NULL, or of
# what p values the texts are stars, for a note; stars that do not fit become dots. Returns TRUE if texts are written.
draw_marks <- function(marks, ink, stars) {
  cell <- graphics::par("pin") / rev(dim(marks)) # width and height in inches
  needed <- c(max(graphics::strwidth(marks, "inches", cex = 1)), max(graphics::strheight(marks, "inches", cex = 1)))
  cex <- min(0.85, c(0.85, 0.7) * cell / needed)
  if (cex >= 0.35) {
    graphics::text(col(marks), row(marks), marks, cex = cex, col = ink)
    if (!is.null(stars)) note(paste0(stars, " <= ", toString(paste(STAR_LEVELS, strrep("*", seq_along(STAR_LEVELS))))))
  } else if (!is.null(stars) && min(cell) > 0.03) {
    at <- which(nzchar(marks))
    graphics::points(col(marks)[at], row(marks)[at], pch = 16, cex = 4 * min(cell), col = ink[at])
    note(paste("dots:", stars, "<=", STAR_LEVELS[1L]))
  }
  cex >= 0.35
}

# Stars of p values, and their explanation.
STAR_LEVELS <- c(0.05, 0.01, 0.001)

stars_of <- function(p) {
  found <- strrep("*", findInterval(-p, -STAR_LEVELS, left.open = FALSE))
  replace(found, is.na(p), "")
}

check_zlim <- function(zlim) {
  check_that(zlim, "zlim", are_finite(zlim, 2L) && zlim[1L] < zlim[2L], "two numbers, the smaller one first")
}

# Draws values of pairs, of class allPairs or a dist, as a square matrix. `key`: the title of the color key; `upper`:
# NULL, or values of the same pairs for the cells above the diagonal; `p`: NULL, or p values of the pairs, shown by
# stars; `stars`: their kind; other arguments: see plot.gpuCor() and draw_matrix(). The default `zlim` is for values
# of at most 1.
draw_pairs <- function(x, key, ..., groups = NULL, order = "auto", zlim = NULL, upper = NULL, p = NULL,
                       stars = "p") {
  n <- attr(x, "Size")
  if (n < 2) fail("there is no pair to plot: 'x' has ", n_of(n, "variable"))
  labels <- attr(x, "Labels")
  full <- function(values, diagonal) { # a matrix of values of pairs
    found <- as.matrix(structure(as.vector(values), Size = n, class = "dist"))
    diag(found) <- diagonal
    found
  }
  if (!is.null(upper)) {
    check_type(upper, "upper", inherits(upper, "dist"), "coefficients of the same variables, which gpuCor() returned")
    same <- attr(upper, "Size") == n && identical(attr(upper, "Labels"), labels)
    check_that(upper, "upper", same, "of the same variables as 'x', in the same order", shown = "of others")
  }
  limits <- zlim
  if (is.null(limits)) {
    low <- min(x, upper, 1, na.rm = TRUE)
    has_sign <- is.null(attr(x, "method")) || !is_never_negative(attr(x, "method"))
    limits <- if (low >= 0.5) c(min(0.95, floor(20 * low) / 20), 1) else c(if (has_sign) -1 else 0, 1)
  }
  check_zlim(limits)
  found <- ordered_by(structure(max(limits) - as.vector(x), Size = n, Labels = labels, class = "dist"), order, groups)
  at <- found$order
  diagonal <- attr(x, "diagonal") # of subjects, such as the ISC of an ISFC
  m <- full(x, if (!is.null(p)) NA else if (is.null(diagonal)) 1 else diagonal)[at, at]
  if (!is.null(upper)) m[upper.tri(m)] <- full(upper, 1)[at, at][upper.tri(m)]
  marks <- if (!is.null(p) && n <= 100L) array(stars_of(full(p, NA)[at, at]), dim(m))
  triangles <- if (!is.null(upper) && is.null(p)) "below the diagonal 'x', above it 'upper'"
  draw_matrix(m, limits, key, ..., names = list(labels[at], labels[at]), groups = list(found$groups, found$groups),
              marks = marks, stars = stars, square = TRUE,
              titles = list(xlab = n_of(n, "variable"), ylab = found$how, note = triangles))
}
