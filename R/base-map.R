# Pictures in space: maps of values, and networks. Voxels, which are on a grid (possibly a rotated one), are shown as
# slices through the maximum; other variables as dots from three sides.

# Returns the coordinates of n variables. `names`: NULL, or those of the variables, by which rows with names are found.
check_coords <- function(coords, n, names = NULL) {
  coords <- as.matrix(check_that(coords, "coords", !is.language(coords) && !is.function(coords), "a numeric matrix"))
  known <- rownames(coords)
  if (is_numeric(coords) && any(names %in% known) && !anyDuplicated(known)) {
    lacking <- setdiff(names, known)
    if (length(lacking)) fail("'coords' has rows with names, but none named '", lacking[1L], "'")
    coords <- coords[names, , drop = FALSE]
  }
  check_that(coords, "coords", is_numeric(coords) && nrow(coords) == n && ncol(coords) %in% 2:3,
             paste("a matrix with a row for each of the", format_count(n), "variables and 2 or 3 numeric columns"),
             shown = show_size(dim(coords)))
}

# Returns the panel of a map, or NULL without `coords`.
map_panel <- function(values, name, title, coords, type, names) {
  if (is.null(coords)) {
    return(if (type == "map") {
      fail("type = \"map\" needs 'coords', such as of voxelCoords(), or attr(x, \"centers\") of parcelMeans()")
    })
  }
  coords <- check_coords(coords, length(values), names)
  known <- known_places(coords)
  function(main = title, ...) {
    map <- new_map(coords[known, , drop = FALSE], values[known]) # in the palette of the page
    graphics::par(mar = c(2.4, 1.6, 3.2, 4.8))
    draw_views(map, main, known, function(view, shift) {
      if (!is.null(map$grid)) {
        pixels <- slice_of(map, view)
        edges <- pixels$edges + rep(shift, each = 2L)
        graphics::rasterImage(grDevices::as.raster(pixels$colors), edges[1L], edges[3L], edges[2L], edges[4L],
                              interpolate = FALSE)
        if (length(map$peak) < 3L) return(invisible())
        at <- map$peak[view] + shift
        low <- map$low[view] + shift
        high <- map$high[view] + shift
        graphics::segments(c(low[1L], at[1L]), c(at[2L], low[2L]), c(high[1L], at[1L]), c(at[2L], high[2L]),
                           col = warm(), lwd = 0.5)
        return(invisible())
      }
      order <- order(abs(map$values), na.last = FALSE) # the strongest last, on top
      graphics::points(map$coords[order, view[1L]] + shift[1L], map$coords[order, view[2L]] + shift[2L], pch = 21,
                       lwd = 0.5, bg = colors_of(map$values[order], map$limits, map$colors), col = "grey40",
                       cex = if (length(order) > 500L) 0.6 else 1.1)
    }, ...)
    draw_key(map$limits, map$colors, name)
  }
}

known_places <- function(coords) {
  known <- rowSums(!is.finite(coords)) == 0
  if (any(known)) known else fail("'coords' has no row without missing values, so no variable has a position")
}

# Returns a map with its views side by side. `values`: NULL, or those of slices or dots; `background`: NULL for an
# outline around points in mm, FALSE for none, or points to outline. `views`: the horizontal and the vertical column of
# `coords` of each; `low`, `high`: bounds of each column; `left`, `bottom`: edges of each view; `outlines`: of each
# view, a list of list(x, y).
new_map <- function(coords, values = NULL, background = NULL) {
  axes <- if (is.null(colnames(coords))) c("x", "y", "z")[seq_len(ncol(coords))] else colnames(coords)
  is_anatomy <- identical(sub("[._]?mni[._]?", "", tolower(axes)), c("x", "y", "z"))
  grid <- if (!is.null(values)) grid_of(coords)
  has_hull <- is.null(grid) && is_anatomy && is.null(background)
  ranges <- apply(rbind(coords, if (is.matrix(background)) background), 2L, range)
  size <- max(ranges[2L, ] - ranges[1L, ], 1e-6)
  half <- if (is.null(grid)) (if (has_hull) 0.07 else 0.03) * size else rowSums(abs(grid$steps)) / 2
  low <- ranges[1L, ] - half
  high <- ranges[2L, ] + half
  views <- if (ncol(coords) == 2L) list(1:2) else list(2:3, c(1L, 3L), 1:2)
  width <- (high - low)[vapply(views, `[`, 0L, 1L)]
  height <- (high - low)[vapply(views, `[`, 0L, 2L)]
  gap <- 0.16 * max(width)
  is_signed <- any(values < 0, na.rm = TRUE)
  limits <- if (is_signed) span_of(values) else if (any(is.finite(values))) range(values, finite = TRUE) else 0:1
  if (diff(limits) == 0) limits <- limits + c(-0.5, 0.5)
  outlines <- if (has_hull) {
    angle <- seq(0, 2 * pi, length.out = 41L)
    lapply(views, function(view) { # the convex hull of discs around the points
      x <- as.vector(outer(half * cos(angle), coords[, view[1L]], "+"))
      y <- as.vector(outer(half * sin(angle), coords[, view[2L]], "+"))
      at <- grDevices::chull(x, y)
      list(list(x = x[at], y = y[at]))
    })
  } else if (is.matrix(background)) {
    pixel <- max(size / 80, 1.2 * (prod(ranges[2L, ] - ranges[1L, ]) / nrow(background))^(1 / 3)) # at least a voxel
    lapply(views, function(view) { # the smoothed outlines of the pixels that have a point
      start <- apply(background[, view], 2L, min) - 5 * pixel
      index <- 1 + floor(t((t(background[, view]) - start) / pixel))
      n <- apply(index, 2L, max) + 5
      filled <- matrix(0, n[1L], n[2L])
      filled[index] <- 1
      for (side in 1:2) {
        filled <- t(stats::filter(filled, c(1, 2, 3, 2, 1) / 9))
        filled[is.na(filled)] <- 0 # at the ends
      }
      at <- lapply(1:2, function(axis) start[axis] + (seq_len(n[axis]) - 0.5) * pixel)
      grDevices::contourLines(at[[1L]], at[[2L]], filled, levels = 0.5)
    })
  }
  list(values = values, coords = coords, axes = axes, is_anatomy = is_anatomy, grid = grid,
       peak = coords[c(which.max(values), 1L)[1L], ], low = low, high = high, views = views,
       width = width, height = height, gap = gap, left = cumsum(c(0, width + gap))[seq_along(views)],
       bottom = (max(height) - height) / 2, limits = limits, outlines = outlines,
       colors = if (is_signed) diverging() else sequential()[-(1:15)]) # omits colors that look white
}

# Starts a plot of the views. `known`: which variables have coordinates; `draw`: a function of the columns of a view's
# coordinates and of the shift that makes them positions in the plot.
draw_views <- function(map, main, known, draw, ...) {
  start_plot(c(0, sum(map$width) + map$gap * (length(map$views) - 1)), c(-0.12, 1.12) * max(map$height),
             list(main = main, asp = 1, axes = FALSE), ...)
  if (!all(known)) note(paste(format_count(sum(!known)), "of", n_of(length(known), "variable"), "without coordinates"))
  for (v in seq_along(map$views)) {
    view <- map$views[[v]]
    shift <- c(map$left[v], map$bottom[v]) - map$low[view]
    for (line in map$outlines[[v]]) {
      graphics::polygon(line$x + shift[1L], line$y + shift[2L], col = "grey97", border = "grey75")
    }
    draw(view, shift)
    # A caption below, and at the sides of views of a brain the letters of RAS directions.
    middle <- map$left[v] + map$width[v] / 2
    through <- setdiff(seq_along(map$axes), view)
    caption <- if (length(through) && !is.null(map$grid)) {
      paste0(map$axes[through], " = ", signif(map$peak[[through]], 3L), if (map$is_anatomy) " mm")
    } else if (length(through) && map$is_anatomy) {
      c("from the right", "from behind", "from above")[through]
    } else {
      paste(map$axes[view[2L]], "over", map$axes[view[1L]])
    }
    size <- min(0.9, min(map$width) / graphics::strwidth(caption, cex = 1))
    graphics::text(middle, -0.12 * max(map$height), caption, pos = 1, cex = size, xpd = NA)
    if (!map$is_anatomy) next
    ends <- list(c("L", "R"), c("P", "A"), c("I", "S"))
    size <- min(0.8, 0.45 * map$gap / graphics::strwidth("M", cex = 1)) # of letters between two views
    graphics::text(map$left[v] + c(-0.25 * map$gap, map$width[v] + 0.25 * map$gap), max(map$height) / 2,
                   ends[[view[1L]]], cex = size, xpd = NA)
    line <- graphics::strheight("M", cex = 0.9)
    graphics::text(middle, map$bottom[v] + c(-line, map$height[v] + line), ends[[view[2L]]], cex = size, xpd = NA)
  }
}

# Finds the voxel of each pixel in the plane through the maximum. Returns list(colors: NA outside all voxels, top row
# first; edges: left, right, bottom, top). A voxel's side is an integer number of pixels; a view has about 300.
slice_of <- function(map, view) {
  side <- min(sqrt(colSums(map$grid$steps^2)))
  pixel <- side / ceiling(300 * side / max(map$high - map$low))
  low <- map$low[view]
  n <- pmax(1, round((map$high[view] - low) / pixel))
  place <- matrix(map$peak, n[1L] * n[2L], length(map$peak), byrow = TRUE)
  place[, view[1L]] <- rep(low[1L] + (seq_len(n[1L]) - 0.5) * pixel, each = n[2L])
  place[, view[2L]] <- rep(low[2L] + (rev(seq_len(n[2L])) - 0.5) * pixel, n[1L])
  index <- round(t(solve(map$grid$steps, t(place) - map$grid$origin)))
  voxel <- match(grid_key(map$grid, index), map$grid$key, incomparables = NA)
  colors <- colors_of(map$values[voxel], map$limits, map$colors)
  colors[is.na(voxel)] <- NA
  list(colors = matrix(colors, n[2L]), edges = c(low[1L] + c(0, n[1L] * pixel), low[2L] + c(0, n[2L] * pixel)))
}

# ---- grids

# Returns the grid of points if most of them have a neighbor, else NULL: list(origin; steps: one column per axis; low:
# min index; size; key: see grid_key(), of each point).
grid_of <- function(coords) {
  # The shortest steps between points in linearly independent directions, from a sample of points.
  from <- coords[unique(round(seq(1, nrow(coords), length.out = 9L))), , drop = FALSE]
  n <- ncol(coords)
  steps <- matrix(0, n, 0L)
  while (ncol(steps) < n) {
    known <- if (ncol(steps)) qr.Q(qr(steps)) else steps
    found <- do.call(cbind, lapply(seq_len(nrow(from)), function(k) { # shortest step outside the known ones' span
      apart <- t(coords) - from[k, ]
      size <- colSums(apart^2)
      across <- size - colSums(crossprod(known, apart)^2)
      new <- which(across > 1e-4 * size & size > 0)
      if (length(new)) apart[, new[which.min(size[new])]]
    }))
    if (is.null(found)) break
    steps <- cbind(steps, found[, which.min(colSums(found^2))])
  }
  if (ncol(steps) < 2L) return(NULL) # all points are on a line
  if (ncol(steps) < n) { # points in a plane, such as one slice, get a third step perpendicular to it
    normal <- qr.Q(qr(steps), complete = TRUE)[, 3L]
    steps <- cbind(steps, normal * sqrt(min(colSums(steps^2))))
  }
  grid <- list(origin = coords[1L, ], steps = steps)
  exact <- t(solve(steps, t(coords) - grid$origin)) # positions in steps from the origin
  index <- round(exact)
  if (max(abs(exact - index)) > 0.1) return(NULL)
  grid$low <- apply(index, 2L, min)
  grid$size <- apply(index, 2L, max) - grid$low + 1
  grid$key <- grid_key(grid, index)
  beside <- Reduce(`|`, lapply(seq_len(ncol(coords)), function(axis) {
    index[, axis] <- index[, axis] + 1
    !is.na(match(grid_key(grid, index), grid$key))
  }))
  if (mean(beside) > 0.5) grid
}

# Returns a number for each index, NA outside the grid.
grid_key <- function(grid, index) {
  at <- t(index) - grid$low
  inside <- colSums(at < 0 | at >= grid$size) == 0
  key <- colSums(at * cumprod(c(1, grid$size))[seq_along(grid$size)])
  replace(key, !inside, NA_real_)
}
