# Slices of an image, turned so that left is on the left, without resampling: an oblique image is drawn along its own
# axes, each called after the nearest direction.

#' @rdname voxelMatrix
#' @param x A matrix of `voxelMatrix()`, or an image with a header, as of `voxelImage()` or [readVoxels()].
#' @param background `NULL`, or an image on the grid of `x` (an array or a file) to draw in gray; of a series its mean.
#' @param from A number: voxels whose value has a smaller size are transparent; 0: all that are not 0.
#' @param plane,slices,at The plane of the slices, `"axial"`, `"coronal"` or `"sagittal"`; their number, evenly spaced;
#'   or their positions in mm (without an affine: indices).
#' @param volume,label,main The number of the volume to draw; the titles of the color key and of the picture.
#' @param ... Graphical parameters.
#' @export
plot.voxelImage <- function(x, background = NULL, from = 0, plane = c("axial", "coronal", "sagittal"), slices = 10,
                            at = NULL, volume = 1, label = "", main = "", above = NULL, ...) {
  refuse_other_names(...names(), names(formals()))
  if (!is.null(image_header(x)$cifti)) {
    fail("plot() draws slices of volumes, and 'x' has values of ", show_models(image_header(x)$cifti), "; write them ",
         "by writeVoxels() for a viewer of surfaces")
  }
  from <- check_within(from, "from", 0, Inf)
  if (!is.null(above)) above <- check_within(above, "above", -Inf, Inf)
  axis <- match(check_choice(plane, rev(names(PLANES)), "plane"), names(PLANES))
  size <- dim(x)[1:3]
  volume <- check_whole(volume, "volume", 1, prod(dim(x)[-(1:3)]))
  values <- array(.subset(x, (volume - 1) * prod(size) + seq_len(prod(size))), size)
  map <- upright(structure(values, header = image_header(x)))
  gray <- if (!is.null(background)) gray_volume(background, x)
  inside <- is_drawn(map$values, 0)
  if (!any(inside)) fail("'x' has no voxel to draw: all are 0 or NA")
  # The first and last index along each axis, in columns.
  bounds <- function(inside) vapply(1:3, function(axis) range(which(apply(inside, axis, any))), integer(2L))
  ends <- bounds(inside)[, axis]
  slices <- check_whole(slices, "slices", 1, 200)
  places <- if (is.null(at)) {
    span <- ends[2L] - ends[1L] + 1
    n <- min(slices, span)
    floor(ends[1L] + (seq_len(n) - 0.5) * span / n)
  } else { # the slices whose middles are nearest
    check_that(at, "at", are_finite(at), "positions of slices")
    mm <- slice_position(map, seq_len(dim(map$values)[axis]), axis)
    unique(vapply(at, function(wanted) which.min(abs(mm - wanted)), 0L))
  }
  box <- bounds(if (is.null(gray)) inside else inside | gray > 0.1)
  box <- rbind(pmax(box[1L, ] - 1L, 1L), pmin(box[2L, ] + 1L, dim(map$values))) # with a margin
  draw_page(list(function(...) {
    draw_montage(map, gray, box, axis, places, slice_colors(map$values, from, !is.null(gray)), label, main, above, ...)
  }), ...)
  invisible(x)
}

# The letters at the left and right end of a slice. The plane's position is the axis across its slices; of the two
# others the first is horizontal.
PLANES <- list(sagittal = c("P", "A"), coronal = c("L", "R"), axial = c("L", "R"))

# Returns list(values: the array with axes to the right, to the front and upwards; step: mm of a voxel; affine: of these
# indices from 0, or NULL). Without an affine the axes stay.
upright <- function(img) {
  affine <- header_affine(image_header(img))
  attributes(img) <- list(dim = dim(img))
  if (is.null(affine)) return(list(values = img, step = c(1, 1, 1), affine = NULL))
  # For each direction (right, front, top) the array's axis that is nearest to it; each axis once.
  cosine <- abs(sweep(affine[1:3, 1:3], 2L, sqrt(colSums(affine[1:3, 1:3]^2)), "/"))
  order <- integer(3L)
  for (k in 1:3) {
    best <- arrayInd(which.max(cosine), c(3L, 3L))
    order[best[1L]] <- best[2L]
    cosine[best[1L], ] <- cosine[, best[2L]] <- -1
  }
  affine <- affine[, c(order, 4L)]
  img <- aperm(img, order)
  for (axis in which(diag(affine)[1:3] < 0)) {
    last <- dim(img)[axis]
    affine[, 4L] <- affine[, 4L] + (last - 1) * affine[, axis]
    affine[, axis] <- -affine[, axis]
    index <- lapply(dim(img), seq_len)
    index[[axis]] <- rev(index[[axis]])
    img <- do.call(`[`, c(list(img), index, drop = FALSE))
  }
  list(values = img, step = sqrt(colSums(affine[1:3, 1:3]^2)), affine = affine)
}

# Returns the background upright, from 0 to 1.
gray_volume <- function(background, x) {
  mask <- read_background(background)
  check_mask(mask, list(size = dim(x)[1:3], header = image_header(x)), "x")
  gray <- upright(structure(array(mask$values, mask$size), header = image_header(x)))$values
  top <- stats::quantile(gray[gray > 0], 0.995, na.rm = TRUE, names = FALSE)
  array(pmin(pmax(ifelse(is.na(gray), 0, gray) / max(top, 1e-300, na.rm = TRUE), 0), 1), dim(gray))
}

is_drawn <- function(values, from) is.finite(values) & values != 0 & abs(values) >= from

# Returns the mm of the middle of each slice, or its index.
slice_position <- function(map, places, axis) {
  if (is.null(map$affine)) return(places)
  middle <- (dim(map$values) - 1) / 2
  vapply(places, function(place) sum(map$affine[axis, ] * c(replace(middle, axis, place - 1), 1)), 0)
}

# Returns list(limits, colors, from). Maps with negative values have colors of both signs.
slice_colors <- function(values, from, on_gray) {
  top <- max(abs(values[is_drawn(values, from)]), from, 0)
  if (top == 0) top <- 1
  if (any(values[is_drawn(values, from)] < 0)) { # each half of the palette, without its pale end, for what is drawn
    at <- seq(-1, 1, length.out = 101L)
    strength <- pmax(0, (abs(at) - from / top) / max(1 - from / top, 1e-9))
    colors <- replace(diverging()[51 + sign(at) * round(15 + 35 * strength)], abs(at) < from / top, "grey85")
    return(list(limits = c(-top, top), colors = colors, from = from))
  }
  colors <- if (on_gray) grDevices::hcl.colors(101L, "Inferno")[-(1:20)] else sequential()[-(1:15)]
  low <- if (from > 0) from else min(values[is_drawn(values, from)], top)
  list(limits = if (low < top) c(low, top) else c(0, top), colors = colors, from = from)
}

# Returns the values of one slice, its top row first.
slice_values <- function(img, place, box, axis) {
  index <- Map(seq, box[1L, ], box[2L, ])
  index[[axis]] <- place
  plane <- array(do.call(`[`, c(list(img), index)), lengths(index)[-axis])
  t(plane)[rev(seq_len(ncol(plane))), , drop = FALSE]
}

# Returns the colors of one slice, its top row first; NA where nothing is.
slice_pixels <- function(place, map, gray, box, axis, colors) {
  values <- slice_values(map$values, place, box, axis)
  pixels <- array(if (is.null(gray)) NA_character_ else grDevices::gray(slice_values(gray, place, box, axis)),
                  dim(values))
  over <- is_drawn(values, colors$from)
  pixels[over] <- colors_of(values[over], colors$limits, colors$colors)
  pixels
}

# Draws lines between the cells of a matrix that are TRUE and others, its first row at the top of a box of this size.
draw_outline <- function(inside, left, bottom, size) {
  inside <- rbind(FALSE, cbind(FALSE, inside, FALSE), FALSE)
  step <- size / (rev(dim(inside)) - 2)
  top <- bottom + size[2L]
  lines <- function(...) graphics::segments(..., col = "black", lwd = 1.2, lend = 2L)
  at <- which(inside[, -1L] != inside[, -ncol(inside)], arr.ind = TRUE)
  x <- left + (at[, 2L] - 1) * step[1L]
  lines(x, top - (at[, 1L] - 2) * step[2L], x, top - (at[, 1L] - 1) * step[2L])
  at <- which(inside[-1L, ] != inside[-nrow(inside), ], arr.ind = TRUE)
  y <- top - (at[, 1L] - 1) * step[2L]
  lines(left + (at[, 2L] - 2) * step[1L], y, left + (at[, 2L] - 1) * step[1L], y)
}

# Draws slices in rows that fill the page best; below each its position, between the letters of left and right.
draw_montage <- function(map, gray, box, axis, places, colors, label, main, above, ...) {
  size <- ((box[2L, ] - box[1L, ] + 1) * map$step)[-axis]
  graphics::par(mar = c(0.6, 0.6, 3.2, 4.8))
  line <- 0.12 * size[2L] # for the caption
  cell <- c(1.04 * size[1L], size[2L] + 1.5 * line)
  page <- graphics::par("pin")
  columns <- seq_along(places)
  fit <- pmin(page[1L] / (columns * cell[1L]), page[2L] / (ceiling(length(places) / columns) * cell[2L]))
  across <- columns[which.max(fit)]
  down <- ceiling(length(places) / across)
  start_plot(c(0, across * cell[1L]), c(0, down * cell[2L]),
             list(main = main, asp = 1, axes = FALSE, xaxs = "i", yaxs = "i"), ...)
  left <- (columns - 1) %% across * cell[1L]
  bottom <- (down - 1 - (columns - 1) %/% across) * cell[2L] + 1.5 * line
  for (k in columns) {
    pixels <- slice_pixels(places[k], map, gray, box, axis, colors)
    graphics::rasterImage(grDevices::as.raster(pixels), left[k], bottom[k], left[k] + size[1L], bottom[k] + size[2L],
                          interpolate = FALSE)
    if (is.null(above)) next
    inside <- slice_values(map$values, places[k], box, axis) >= above
    draw_outline(inside & !is.na(inside), left[k], bottom[k], size)
  }
  below <- function(at, text) {
    text_size <- min(0.8, 0.8 * line / graphics::strheight("M", cex = 1))
    graphics::text(left + at * size[1L], bottom - 0.75 * line, text, cex = text_size)
  }
  if (is.null(map$affine)) {
    below(0.5, paste("slice", places))
  } else {
    below(0.5, paste0(c("x", "y", "z")[axis], " = ", round(slice_position(map, places, axis)), " mm"))
    below(0.06, PLANES[[axis]][1L])
    below(0.94, PLANES[[axis]][2L])
  }
  draw_key(colors$limits, colors$colors, label)
}

# ---- a carpet

#' @rdname voxelMatrix
#' @param max An integer: max. rows of the picture of a matrix; more voxels are averaged in so many groups.
#' @param confounds `NULL`, or a numeric matrix with a row for each time point, whose columns are drawn as lines above
#'   the picture of a matrix, such as `readConfounds(file, c("framewise_displacement", "dvars"))`. Where `x` has
#'   only the volumes of its attribute `keep`, the others are gaps.
#' @export
plot.voxelMatrix <- function(x, max = 500, confounds = NULL, ...) {
  max <- check_whole(max, "max", 1, 1e4)
  rows <- rep(TRUE, nrow(x))
  if (!is.null(confounds)) {
    confounds <- check_that(confounds, "confounds", is_variables(confounds), "a numeric matrix")
    keep <- attr(confounds, "keep", exact = TRUE)
    if (!is.null(keep) && sum(keep) == nrow(x)) rows <- keep
    confounds <- as.matrix(confounds)
    check_that(confounds, "confounds", nrow(confounds) == length(rows) && ncol(confounds) %in% 1:8,
               paste("of", n_of(length(rows), "row"), "and 1 to 8 columns"), shown = show_size(dim(confounds)))
  }
  values <- t(scale(unclass(x)[, sort(drawn_places(ncol(x), 20000)), drop = FALSE]))
  values <- reduce_rows(values, max)
  values <- values[, replace(rep(NA, length(rows)), rows, seq_len(nrow(x))), drop = FALSE] # NA: a gap
  top <- stats::quantile(abs(values), 0.99, na.rm = TRUE, names = FALSE)
  limits <- c(-1, 1) * if (is.finite(top) && top > 0) top else 1
  tr <- attr(x, "tr", exact = TRUE)
  draw_carpet(list(values = values, time = if (is.null(tr)) seq_along(rows) else (seq_along(rows) - 1) * tr,
                   xlab = if (is.null(tr)) "time point" else "time (s)", ylab = n_of(ncol(x), "voxel"),
                   limits = limits, title = "z score"), ..., lines = confounds)
  invisible(x)
}
