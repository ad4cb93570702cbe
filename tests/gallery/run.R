# Draws every kind of picture in three sizes, and writes a page of them. Fails if one has ink at its border, text beyond
# it, texts that cover each other, or several pages; or if readers with color blindness cannot tell its colors.
#   Rscript --vanilla tests/gallery/run.R FOLDER IMAGE
suppressMessages(library(gpucor))
arguments <- commandArgs(TRUE)
folder <- arguments[1L]
image_file <- arguments[2L]
source("tests/gallery/pictures.R")
dir.create(folder, showWarnings = FALSE, recursive = TRUE)
sizes <- list("7 inches" = c(7, 5), "12 inches" = c(12, 8), "1,000 px" = c(1000, 700) / 72)
dpi <- c(100, 72, 72)

# Fewer points than this are no overlap: letters do not fill their boxes.
OVERLAP <- 1.5

# Returns a data frame of the texts of an uncompressed PDF with the boxes that they fill, in points.
text_boxes <- function(file) {
  lines <- readLines(file, warn = FALSE)
  pattern <- "/F([0-9]+) 1 Tf ([-0-9. ]+) Tm [(](.*)[)] Tj"
  found <- regmatches(lines, regexec(pattern, lines, useBytes = TRUE))
  found <- do.call(rbind, found[lengths(found) > 0])
  if (is.null(found)) return(data.frame())
  numbers <- do.call(rbind, lapply(strsplit(found[, 3L], " +"), as.numeric))
  text <- gsub("\\\\([()\\\\])", "\\1", found[, 4L])
  Encoding(text) <- "latin1"
  size <- sqrt(numbers[, 1L]^2 + numbers[, 2L]^2)
  grDevices::pdf(NULL)
  graphics::plot.new()
  wide <- 72 * mapply(function(text, size, font) graphics::strwidth(text, "inches", cex = size / 12, font = font), text,
                      size, ifelse(found[, 2L] == "3", 2L, 1L))
  grDevices::dev.off()
  is_upright <- abs(numbers[, 2L]) > abs(numbers[, 1L])
  x <- numbers[, 5L]
  y <- numbers[, 6L]
  data.frame(text, left = ifelse(is_upright, x - 0.7 * size, x), right = ifelse(is_upright, x, x + wide),
             bottom = ifelse(is_upright, y, y), top = ifelse(is_upright, y + wide, y + 0.7 * size))
}

# Returns what is wrong with the texts of a page of `inches`.
text_faults <- function(file, inches) {
  box <- text_boxes(file)
  if (!nrow(box)) return(NULL)
  outside <- box$left < 0 | box$bottom < 0 | box$right > 72 * inches[1L] | box$top > 72 * inches[2L]
  across <- outer(box$right, box$right, pmin) - outer(box$left, box$left, pmax)
  up <- outer(box$top, box$top, pmin) - outer(box$bottom, box$bottom, pmax)
  pair <- which(across > OVERLAP & up > OVERLAP & upper.tri(across), arr.ind = TRUE)
  c(if (any(outside)) paste("beyond the page:", box$text[outside]),
    if (nrow(pair)) paste0("'", box$text[pair[, 1L]], "' covers '", box$text[pair[, 2L]], "'"))
}

# Draws a picture as a bitmap and as a PDF, and returns what is wrong with it.
look_at <- function(code, name, inches, dpi) {
  file <- file.path(folder, name)
  grDevices::png(file, inches[1L] * dpi, inches[2L] * dpi, res = dpi, type = "cairo")
  seconds <- tryCatch(system.time(eval(code, globalenv()))[["elapsed"]], finally = grDevices::dev.off())
  pixels <- png::readPNG(file)[, , 1:3]
  is_ink <- apply(pixels, 1:2, min) < 0.98
  edge <- c(1:2, nrow(is_ink) - 0:1)
  pdf <- tempfile(fileext = ".pdf")
  on.exit(unlink(pdf))
  grDevices::pdf(pdf, inches[1L], inches[2L], compress = FALSE, useKerning = FALSE)
  tryCatch(eval(code, globalenv()), finally = grDevices::dev.off())
  pages <- sum(grepl("/Type /Page$|/Type /Page ", readLines(pdf, warn = FALSE), useBytes = TRUE))
  c(if (any(is_ink[edge, ], is_ink[, c(1:2, ncol(is_ink) - 0:1)])) "ink at the border",
    if (pages > 1) paste(pages, "pages"), text_faults(pdf, inches), if (seconds > 30) paste(round(seconds), "s"))
}

faults <- character()
rows <- character()
for (k in seq_along(pictures)) {
  title <- names(pictures)[k]
  drawn <- pictures[[k]]
  if (identical(drawn[[1L]], as.name("plot"))) drawn[[2L]] <- eval(drawn[[2L]]) # computes the result once
  names <- sprintf("%02d-%s-%d.png", k, gsub("[^a-z0-9]+", "-", tolower(title)), seq_along(sizes))
  found <- unlist(lapply(seq_along(sizes), function(s) {
    wrong <- tryCatch(look_at(drawn, names[s], sizes[[s]], dpi[s]), error = conditionMessage)
    if (length(wrong)) paste0(title, ", ", names(sizes)[s], ": ", wrong)
  }))
  if (length(found)) cat(found, sep = "\n")
  faults <- c(faults, found)
  code <- paste(deparse(pictures[[k]], 100), collapse = "\n")
  escaped <- gsub("<", "&lt;", gsub("&", "&amp;", code, fixed = TRUE), fixed = TRUE)
  rows <- c(rows, paste0("<h2>", title, "</h2>\n<pre>", escaped, "</pre>\n",
                         paste0("<img src=\"", names, "\" alt=\"", title, ", ", names(sizes), "\">", collapse = "\n")))
}

# ---- colors: of negative and positive numbers, and of groups, as readers with each kind of color blindness see them

lab <- function(colors) grDevices::convertColor(t(grDevices::col2rgb(colors)) / 255, "sRGB", "Lab")
seen <- list(everybody = identity, deuteranopia = colorspace::deutan, protanopia = colorspace::protan,
             tritanopia = colorspace::tritan)
tones <- c(gpucor:::cold(), gpucor:::warm())
scale <- gpucor:::diverging()
groups <- gpucor:::group_colors(letters[1:8])
for (who in names(seen)) {
  apart <- c(signs = dist(lab(seen[[who]](tones))), ends = dist(lab(seen[[who]](scale[c(15, 87)]))),
             groups = min(dist(lab(seen[[who]](groups)))))
  light <- lab(seen[[who]](scale))[, 1L]
  steady <- all(diff(light[1:51]) > -0.1, diff(light[51:101]) < 0.1)
  cat(sprintf("%s: differences of colors: signs %.0f, groups at least %.0f\n", who, apart["signs"], apart["groups"]))
  if (apart["signs"] < 25 || apart["ends"] < 25 || apart["groups"] < 7 || !steady) {
    faults <- c(faults, paste("colors are too alike with", who))
  }
}

writeLines(c("<!doctype html><meta charset=\"utf-8\"><title>Pictures of gpucor</title>",
             "<style>body { font-family: sans-serif } img { border: 1px solid #ddd; max-width: 100% }</style>",
             "<h1>Pictures of gpucor</h1>", rows), file.path(folder, "index.html"))
cat(length(pictures), "pictures in", length(sizes), "sizes:", length(faults), "faults;",
    file.path(folder, "index.html"), "\n")
quit(status = as.integer(length(faults) > 0))
