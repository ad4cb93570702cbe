#' @rdname voxelMatrix
#' @param max An integer: max. rows of the picture of `plot()`; more voxels are averaged in so many groups.
#' @param main A string: the title of the picture.
#' @section Pictures: `plot()` of a matrix draws a carpet: a column for each time point and a row for each voxel, or for
#'   the mean of neighboring ones, in standard deviations from its mean. What all voxels share at one time, such as a
#'   movement, is a stripe. Of more than 20,000 voxels, 20,000 are drawn.
#'
#'   `plot()` of an image draws slices, over a `background` such as the mean image. The affine says which side is which:
#'   left is on the left, and letters mark the sides. An image without an affine is drawn as it is stored, without
#'   letters; an oblique image is drawn along its own axes. Maps with negative values have blue and red colors.
#' @export
plot.voxelMatrix <- function(x, max = 500, main = "", ...) {
  max <- check_whole(max, "max", 1, 1e4)
  values <- t(scale(unclass(x)[, sort(drawn_places(ncol(x), 20000)), drop = FALSE]))
  values <- reduce_rows(values, max)
  top <- stats::quantile(abs(values), 0.99, na.rm = TRUE, names = FALSE)
  limits <- c(-1, 1) * if (is.finite(top) && top > 0) top else 1
  tr <- attr(x, "tr", exact = TRUE)
  draw_carpet(list(values = values, time = if (is.null(tr)) seq_len(nrow(x)) else (seq_len(nrow(x)) - 1) * tr,
                   xlab = if (is.null(tr)) "time point" else "time (s)", ylab = n_of(ncol(x), "voxel"),
                   limits = limits, colors = diverging(), title = "sd"), main, ...)
  invisible(x)
}
