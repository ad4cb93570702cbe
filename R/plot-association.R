# Plots variables against traits as cells, with r and p in each, as WGCNA draws modules and traits.

#' @rdname gpuAssociation
#' @param type For `plot()`: `"heatmap"`, a cell for each variable and trait, with r and, in parentheses, p if there is
#'   space for them; `"p.value"` and `"volcano"`, see [gpuCorTest()]; or `"auto"`, the last two.
#' @export
plot.gpuAssociation <- function(x, type = c("auto", "p.value", "volcano", "heatmap"), ...) {
  type <- check_panel(type, c("p.value", "volcano", "heatmap"))
  if (type != "heatmap") return(NextMethod(type = type))
  draw_associations(x, ...)
  invisible(x)
}

draw_associations <- function(x, main = NULL, max = 1000, ...) {
  size <- dim(x$r)
  check_drawable(max(size), max)
  names <- lapply(1:2, function(side) cell_names(dimnames(x$r)[[side]]))
  above <- if (is.null(main)) 1.6 else 3.2
  old <- graphics::par(mar = c(names_margin(names[[2L]], 2), names_margin(names[[1L]], 2), above, 4.2))
  on.exit(graphics::par(old))
  graphics::plot.default(c(0.5, size[2L] + 0.5), c(0.5, size[1L] + 0.5), type = "n", ylim = c(size[1L] + 0.5, 0.5),
                         xaxs = "i", yaxs = "i", axes = FALSE, ann = FALSE, ...)
  title_at("main", main, TITLE_LINE)
  draw_cells(x$r, c(-1, 1), diverging())
  graphics::box(col = "grey40")
  cell <- graphics::par("pin") / rev(size)
  for (side in 1:2) {
    legible <- names_size(names[[3L - side]], cell[side])
    if (legible > 0) name_cells(side, names[[3L - side]], legible)
  }
  write_cells(x$r, x$p.value, cell)
  draw_key(c(-1, 1), diverging(), "r")
}

# Writes r and, below it, p into cells of `inches` (width, height), if the text is legible; white in dark cells.
write_cells <- function(r, p, inches) {
  text <- ifelse(is.na(r), "", paste0(formatC(r, 2L, format = "f"), "\n(", vapply(p, format, "", digits = 1L), ")"))
  needed <- c(max(graphics::strwidth(text, "inches", cex = 1)), max(graphics::strheight(text, "inches", cex = 1)))
  size <- min(0.85, 0.9 * inches / needed)
  if (size < 0.35) return(invisible())
  graphics::text(col(r), row(r), text, cex = size, col = ifelse(abs(r) > 0.65, "white", "black"))
}
