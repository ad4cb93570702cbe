# Draws the picture of published.R from its record: seconds against N for all Pearson correlations of 100 observations.

# Colors and symbols of the methods. Lines may nearly coincide, so symbols differ, too.
HUES <- c("#000000", "#0072B2", "#CC79A7", "#D55E00", "#E69F00", "#009E73", "#7F7F7F", "#56B4E9", "#8C6D31")
SYMBOLS <- c(16, 1, 4, 2, 6, 15, 5, 3, 0)

# N and seconds (at least a millisecond, the resolution of R's clock) of a method's line. A method with fewer than two
# sizes has no line.
points_of <- function(table, label) {
  lines <- table$result == "pearson triangle" & table$n_obs == "100"
  own <- ifelse(table$own == "-", table$own_fresh, table$own)
  seconds <- if (label == "gpucor") own[lines] else ifelse(table$method == label, table$seconds, NA)[lines]
  points <- data.frame(n = as_number(table$n_var[lines]), seconds = pmax(1e-3, as_number(seconds)))
  points <- unique(points[!is.na(points$seconds), ])
  if (nrow(points) > 1) points[order(points$n), ]
}

lines_to_draw <- function(table) {
  labels <- c("gpucor", unique(table$method))
  lines <- Filter(Negate(is.null), stats::setNames(lapply(labels, points_of, table = table), labels))
  for (k in seq_along(lines)) {
    look <- (k - 1) %% length(HUES) + 1
    lines[[k]] <- list(label = names(lines)[k], points = lines[[k]], hue = HUES[look], symbol = SYMBOLS[look],
                       thick = names(lines)[k] == "gpucor")
  }
  lines
}

draw_axes <- function(points) {
  graphics::par(mar = c(4, 4.5, 2, 13.5), las = 1, mgp = c(3, 0.7, 0), cex = 1.1)
  graphics::plot(points, type = "n", log = "xy", xlab = "", ylab = "seconds", axes = FALSE,
                 main = "All Pearson correlations, 100 observations", font.main = 1, cex.main = 1)
  graphics::title(xlab = "variables", line = 2.5)
  ticks <- 10^seq(floor(log10(min(points$seconds))), ceiling(log10(max(points$seconds))))
  graphics::abline(h = ticks, col = "grey90")
  sizes <- unique(points$n)
  graphics::axis(1, sizes, vapply(sizes, number, "", digits = 8))
  graphics::axis(2, ticks, vapply(ticks, number, ""))
}

draw_line <- function(line) {
  graphics::lines(line$points, type = "o", pch = line$symbol, col = line$hue, lwd = if (line$thick) 4 else 1.7,
                  cex = if (line$thick) 1.3 else 1.1)
}

# Heights for labels, in the order of `y`, at least `apart` from one another; both in logarithms.
spread <- function(y, apart) {
  order <- order(y)
  at <- y[order]
  for (round in 1:200) { # moves labels that are too near apart, half the distance each
    near <- pmax(0, apart - diff(at)) / 2
    if (all(near < 1e-6)) break
    at <- at - c(near, 0) + c(0, near)
  }
  y[order] <- at
  y
}

# Labels lines at the right edge, in the order in which they end, each with its symbol.
label_lines <- function(lines) {
  limits <- graphics::par("usr") # in logarithms
  wide <- limits[2] - limits[1]
  last <- do.call(rbind, lapply(lines, function(line) utils::tail(line$points, 1)))
  hues <- vapply(lines, `[[`, "", "hue")
  thick <- vapply(lines, `[[`, NA, "thick")
  apart <- 1.8 * graphics::strheight("M", units = "inches") / graphics::par("pin")[2] * (limits[4] - limits[3])
  at <- 10^spread(log10(last$seconds), apart)
  beside <- 10^(limits[2] + 0.06 * wide) # of the symbols
  graphics::segments(last$n, last$seconds, 10^(limits[2] + 0.045 * wide), at, col = hues, lty = 3, xpd = NA)
  graphics::points(rep(beside, length(at)), at, pch = vapply(lines, `[[`, 0, "symbol"), col = hues, lwd = 1.7,
                   cex = ifelse(thick, 1.3, 1.1), xpd = NA)
  graphics::text(10^(limits[2] + 0.09 * wide), at, vapply(lines, `[[`, "", "label"), adj = c(0, 0.4), xpd = NA,
                 col = hues, font = ifelse(thick, 2, 1))
}

# Opens the PNG device; returns FALSE if that fails. R may have been built for libraries that the machine lacks, and
# then only warns.
open_png <- function(file) {
  before <- length(grDevices::dev.list())
  try(suppressWarnings({
    type <- if (capabilities("cairo")) "cairo" else getOption("bitmapType")
    grDevices::png(file, 1200, 760, res = 120, type = type)
  }), silent = TRUE)
  length(grDevices::dev.list()) > before
}

draw_record <- function() {
  from <- file.path(here, "results", "published.txt")
  if (!file.exists(from)) stop("there is no record to draw: ", from)
  lines <- lines_to_draw(read_record(from)$table)
  if (!length(lines)) return(say("There is nothing to draw."))
  if (!open_png(sub("txt$", "png", from))) {
    return(say("No picture is drawn, as R writes no PNG here; elsewhere, --draw makes it of results/published.txt."))
  }
  on.exit(grDevices::dev.off())
  draw_axes(do.call(rbind, lapply(lines, `[[`, "points")))
  for (line in rev(lines)) draw_line(line) # gpucor on top
  label_lines(lines)
}
