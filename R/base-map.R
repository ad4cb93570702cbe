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
    draw_views(map, main, known, function(view) {
      if (!is.null(map$grid)) {
        pixels <- slice_of(map, view)
        edges <- pixels$edges
        graphics::rasterImage(grDevices::as.raster(pixels$colors), edges[1L], edges[3L], edges[2L], edges[4L],
                              interpolate = FALSE)
        if (length(map$peak) < 3L) return(invisible())
        graphics::abline(v = map$peak[view[1L]], h = map$peak[view[2L]], col = warm(), lwd = 0.5)
        return(invisible())
      }
      order <- order(abs(map$values), na.last = FALSE) # the strongest last, on top
      graphics::points(map$coords[order, view], pch = 21, lwd = 0.5, col = "grey40", xpd = NA,
                       bg = colors_of(map$values[order], map$limits, map$colors),
                       cex = if (length(order) > 500L) 0.6 else 1.1)
    }, ...)
    draw_key(map$limits, map$colors, name)
  }
}

known_places <- function(coords) {
  known <- rowSums(!is.finite(coords)) == 0
  if (any(known)) known else fail("'coords' has no row without missing values, so no variable has a position")
}

# The outline of the brain in MNI space, mm, seen from the right, from behind and from above: contours of projections of
# Colin27 (Holmes and others 1998; ch2bet of Debian's mricron-data, BSD license), of voxels above 40 that are at least 4
# mm deep, mirrored at x = 0 and simplified within 0.5 mm.
MNI_OUTLINES <- local({
  mirrored <- function(x, y) list(x = c(x, -rev(x)), y = c(y, rev(y)))
  list(
    list(x = c(-106, -105, -100, -94, -81, -72, -66, -61, -48, -42, -17, 4, 25, 37, 49, 61, 69, 74, 70, 67, 63, 44, 31,
               29, 26, 23, 19, 6, -8, -18, -23, -26, -35, -37, -40, -44, -50, -60, -64, -72, -80, -90, -93, -94, -102),
         y = c(-4, 7, 23, 35, 56, 67, 71, 76, 83, 84, 82, 77, 68, 61, 52, 38, 24, 5, -14, -19, -23, -30, -29, -31, -38,
               -42, -45, -51, -51, -49, -49, -52, -64, -66, -67, -66, -62, -63, -62, -58, -53, -39, -34, -24, -15)),
    mirrored(c(0, 12, 23, 44, 54, 63, 67, 70, 72, 72, 72, 71, 60, 54, 48, 41, 36, 11, 8, 5, 0),
             c(82, 84, 80, 68, 58, 45, 36, 14, 5, -8, -16, -21, -37, -49, -55, -60, -61, -60, -62, -66, -67)),
    mirrored(c(0, 9, 17, 27, 42, 48, 57, 63, 64, 71, 72, 72, 68, 52, 41, 31, 20, 14, 0),
             c(70, 73, 73, 68, 60, 55, 41, 24, 13, -14, -29, -43, -52, -78, -93, -100, -105, -105, -103))
  )
})
MNI_BOX <- cbind(c(-72, -106, -67), c(72, 74, 84))

# True if points may be places in the MNI brain: inside its box, and not all in a small part of it.
are_in_mni <- function(coords) {
  ncol(coords) == 3L && all(t(coords) >= MNI_BOX[, 1L] - 5 & t(coords) <= MNI_BOX[, 2L] + 5) &&
    max(apply(coords, 2L, function(at) diff(range(at)))) >= 40
}

# Returns a map. `values`: NULL, or those of slices or dots; `background`: NULL for the outline of the MNI brain or of
# the space around points in mm, FALSE for none, or points to outline. `views`: the horizontal and the vertical column
# of `coords` of each; `low`, `high`: bounds of each column; `outlines`: of each view, a list of list(x, y).
new_map <- function(coords, values = NULL, background = NULL) {
  axes <- if (is.null(colnames(coords))) c("x", "y", "z")[seq_len(ncol(coords))] else colnames(coords)
  is_anatomy <- identical(sub("[._]?mni[._]?", "", tolower(axes)), c("x", "y", "z"))
  grid <- if (!is.null(values)) grid_of(coords)
  has_outline <- is.null(grid) && is_anatomy && is.null(background)
  is_mni <- has_outline && are_in_mni(coords)
  around <- if (is_mni) t(MNI_BOX) else if (is.matrix(background)) background
  ranges <- apply(rbind(coords, around), 2L, range)
  size <- max(ranges[2L, ] - ranges[1L, ], 1e-6)
  half <- if (is.null(grid)) (if (has_outline && !is_mni) 0.07 else 0.03) * size else rowSums(abs(grid$steps)) / 2
  views <- if (ncol(coords) == 2L) list(1:2) else list(2:3, c(1L, 3L), 1:2)
  is_signed <- any(values < 0, na.rm = TRUE)
  limits <- if (is_signed) span_of(values) else if (any(is.finite(values))) range(values, finite = TRUE) else 0:1
  if (diff(limits) == 0) limits <- limits + c(-0.5, 0.5)
  outlines <- if (is_mni) {
    lapply(MNI_OUTLINES, list)
  } else if (has_outline) {
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
       peak = coords[c(which.max(values), 1L)[1L], ], low = ranges[1L, ] - half, high = ranges[2L, ] + half,
       views = views, limits = limits, outlines = outlines,
       colors = if (is_signed) diverging() else sequential()[-(1:15)]) # omits colors that look white
}

# Places views of these sizes on a page of so many inches: in a row of one scale; or, on a page that this leaves half
# empty, the first two one above the other, and the third at the right at a larger scale. `pad`: inches for letters,
# across and up. Returns a data frame: x, y (of the middle, in inches), scale (inches of a unit).
arrange_views <- function(wide, high, page, pad) {
  scale <- min((page[1L] - length(wide) * pad[1L]) / sum(wide), (page[2L] - pad[2L]) / max(high))
  found <- data.frame(scale = rep(scale, length(wide)), column = seq_along(wide), y = page[2L] / 2)
  if (length(wide) == 3L) {
    small <- (page[2L] / 2 - pad[2L]) / max(high[1:2])
    large <- min((page[2L] - pad[2L]) / high[3L], (page[1L] - 2 * pad[1L] - small * max(wide[1:2])) / wide[3L])
    stacked <- c(small, small, large)
    if (min(stacked) > 0.8 * scale && sum(stacked^2 * wide * high) > sum(scale^2 * wide * high)) {
      found <- data.frame(scale = stacked, column = c(1L, 1L, 2L), y = c(0.75, 0.25, 0.5) * page[2L])
    }
  }
  across <- as.vector(tapply(found$scale * wide + pad[1L], found$column, max))
  spare <- (page[1L] - sum(across)) / length(across)
  found$x <- (cumsum(across + spare) - (across + spare) / 2)[found$column]
  found
}

# Draws the views, each in coordinates of its own. `known`: which variables have coordinates; `draw`: a function of the
# columns of a view's coordinates.
draw_views <- function(map, main, known, draw, ...) {
  start_plot(0:1, 0:1, list(main = main, axes = FALSE, xaxs = "i", yaxs = "i"), ...)
  if (!all(known)) note(paste(format_count(sum(!known)), "of", n_of(length(known), "variable"), "without coordinates"))
  frame <- graphics::par(c("plt", "usr"))
  line <- graphics::par("csi") # inches
  size <- map$high - map$low
  wide <- size[vapply(map$views, `[`, 0L, 1L)]
  high <- size[vapply(map$views, `[`, 0L, 2L)]
  places <- arrange_views(wide, high, graphics::par("pin"), line * c(2, if (map$is_anatomy) 3.6 else 2))
  up <- if (map$is_anatomy) 0.7 else 0.9 # lines from the middle of the place to that of the view
  for (v in seq_along(map$views)) {
    view <- map$views[[v]]
    half <- c(wide[v], high[v]) * places$scale[v] / 2
    inches <- graphics::par("mai")[2:1] + c(places$x[v], places$y[v] + up * line)
    graphics::par(plt = c(inches[1L] + c(-1, 1) * half[1L], inches[2L] + c(-1, 1) * half[2L]) /
                    rep(graphics::par("fin"), each = 2L))
    graphics::par(usr = rbind(map$low, map$high)[, view])
    for (outline in map$outlines[[v]]) graphics::polygon(outline, col = "grey97", border = "grey75")
    draw(view)
    # A caption below, and at the sides of views of a brain the letters of RAS directions.
    through <- setdiff(seq_along(map$axes), view)
    caption <- if (length(through) && !is.null(map$grid)) {
      paste0(map$axes[through], " = ", signif(map$peak[[through]], 3L), if (map$is_anatomy) " mm")
    } else if (length(through) && map$is_anatomy) {
      c("from the right", "from behind", "from above")[through]
    } else {
      paste(map$axes[view[2L]], "over", map$axes[view[1L]])
    }
    cex <- graphics::par("cex")
    room <- 2 * half[1L] + line
    graphics::mtext(caption, 1L, if (map$is_anatomy) 1.2 else 0.2,
                    cex = cex * min(0.9, room / graphics::strwidth(caption, "inches")))
    if (!map$is_anatomy) next
    ends <- list(c("L", "R"), c("P", "A"), c("I", "S"))
    letters <- c(ends[[view[2L]]][1L], ends[[view[1L]]][1L], ends[[view[2L]]][2L], ends[[view[1L]]][2L])
    for (side in 1:4) graphics::mtext(letters[side], side, 0.1, cex = 0.8 * cex, las = 1)
  }
  graphics::par(frame)
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
