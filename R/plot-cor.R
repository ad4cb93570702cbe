# Plots of coefficients of all pairs, and of topological overlap.

#' @rdname gpuCor-class
#' @param type For `plot()`: `"histogram"` of all coefficients; `"heatmap"` of the matrix; of coefficients with `lag`
#'   also `"lag"`, a histogram of the lags; or `"auto"`, all of them (a heat map of up to `max` variables).
#' @param max A number: the max number of variables in a heat map.
#' @param groups,order For heat maps: the group of each variable, which a bar of colors and names show: a vector or
#'   factor, in the order of the variables or with their names, or what [gpuModules()] returned; and their order,
#'   `"tree"` (by hierarchical clustering), `"given"`, or their names or numbers. By default variables are sorted by
#'   group, with lines between groups, and within each by a tree.
#' @param zlim For heat maps: the values at both ends of the color key. By default -1 and 1; if no coefficient is below
#'   0.5, as among samples, the range of the data.
#' @param upper For a heat map: coefficients of the same variables from [gpuCor()], such as those of another group of
#'   observations, which are drawn above the diagonal.
#' @export
plot.gpuCor <- function(x, type = c("auto", "histogram", "heatmap", "lag"), max = 1000, groups = NULL, order = "auto",
                        zlim = NULL, upper = NULL, ...) {
  n <- size_of(x)
  lag <- attr(x, "lag")
  has_sign <- !is_never_negative(attr(x, "method"))
  panels <- list(
    histogram = function(...) {
      breaks <- seq(if (has_sign) -1 else 0, 1, length.out = c(21, 41, 101)[findInterval(length(x), c(0, 500, 5000))])
      what <- paste0(method_title(attr(x, "method")), if (!is.null(lag)) " at the best lag")
      titles <- list(xlab = what, main = n_of(length(x), "pair"))
      draw_histogram(x, breaks, "pairs", titles, ...)
      graphics::abline(v = 0, lty = 3L)
    },
    heatmap = function(...) {
      key <- if (has_sign) "r" else tolower(method_title(attr(x, "method")))
      draw_pairs(x, key, ..., groups = groups, order = order, zlim = zlim, upper = upper)
    },
    lag = function(...) draw_lags(lag, "pairs", "gpuCor", ...)
  )
  asks <- missing(type) && !all(missing(groups), missing(order), missing(zlim), missing(upper))
  type <- if (asks) "heatmap" else check_choice(type, c("auto", names(panels)), "type")
  max <- check_whole(max, "max", 2, 20000)
  if (type == "heatmap") check_drawable(n, max)
  if (n < 2) fail("there is no pair to plot: 'x' has ", n_of(n, "variable"))
  has_map <- n >= 3 && n <= max
  if (type == "auto") panels <- panels[c("histogram", if (!is.null(lag)) "lag", if (has_map) "heatmap")]
  if (type == "auto" && has_map) draw_beside(panels, ...) else draw_page(panels, type, ...)
  invisible(x)
}

# ---- topological overlap

#' @rdname gpuTOM
#' @param max,tree,groups For `plot()`: the max number of variables to draw (more are an error); `NULL`, or a tree that
#'   [stats::hclust()] returned, by default of `1 - overlap` by average linkage; and the groups of the variables, such
#'   as what [gpuModules()] returned, as in [gpuCor-class].
#' @export
plot.gpuTOM <- function(x, max = 3000, tree = NULL, groups = NULL, ...) {
  max <- check_whole(max, "max", 2, 20000)
  n <- attr(x, "Size")
  if (n < 3) fail("there is no tree to plot: 'x' has ", n_of(n, "variable"), "; it takes 3 or more")
  check_drawable(n, max)
  d <- structure(1 - as.vector(x), Size = n, Labels = attr(x, "Labels"), class = "dist")
  if (is.null(tree)) tree <- order_by_tree(d)
  check_type(tree, "tree", inherits(tree, "hclust"), "a tree of hclust()")
  check_that(tree, "tree", length(tree$order) == n, paste("a tree of the", format_count(n), "variables of 'x'"),
             shown = paste("of", length(tree$order)))
  overlap <- sqrt(pmax(1 - as.matrix(d), 0))[tree$order, tree$order]
  diag(overlap) <- NA
  limits <- c(0, max(overlap, 0, na.rm = TRUE))
  if (limits[2L] == 0) limits[2L] <- 1
  at <- pretty(limits^2, 4L)
  names <- if (n <= 60) cell_names(attr(x, "Labels")[tree$order])
  groups <- group_factor(groups, n, attr(x, "Labels"))[tree$order]
  draw_page(list(
    tree = function(main = "Topological overlap", ...) {
      graphics::par(mar = replace(matrix_margins(list(NULL, names), list(NULL, groups), "", 4.6), 1L, 0.4))
      draw_tree(tree, "1 - overlap", main)
    },
    cells = function(main, ...) {
      draw_matrix(overlap, limits, "overlap", ..., groups = list(NULL, groups), left = 4.6,
                  names = list(NULL, names), titles = list(ylab = n_of(n, "variable")), at = sqrt(at),
                  ticks = format(at))
    }
  ), ..., page = matrix(1:2), heights = c(1, 2.6), min_inches = c(2, 1.2))
  invisible(x)
}
