#' Correlation distances between rows, and hierarchical clustering
#'
#' `gpuDist()` returns 1 - r for every pair of rows; as for [stats::dist()], items are in rows. `gpuHclust()` returns
#' the tree of [stats::hclust()], also of more than 65,536 items.
#'
#' `gpuHclust()`: distances are kept in single precision, those `1 - r` of coefficients or overlaps `r` as `r`. Heights
#' are within 1e-6 of those of [stats::hclust()], relative to the largest distance, and merges are the same, but of
#' nearly equal distances.
#'
#' Equal distances are treated as in package fastcluster: of equally near clusters the one whose last item comes first
#' is merged, and merges of equal height are listed in the order in which they are found. Average linkage and Ward's
#' method round, after which equal distances can differ.
#'
#' Memory for n items beside `d`: 2 n^2 bytes in main memory, 0.8 GB for 20,000 items; or 4 n^2 bytes on the GPU. The
#' result does not depend on the GPU or on the number of threads. Of several GPUs the first is used.
#'
#' @param d Distances: an object of class `dist`, as from [stats::dist()] or [gpuDist()]; or a result of [gpuCor()] or
#'   [gpuTOM()], of which `1 - d` is taken (`1 - abs(d)` ignores signs). At least two items, and no missing distance.
#' @param method A string: for `gpuDist()` the measure, see [gpucor-measures]; for `gpuHclust()` the linkage,
#'   `"average"`, `"complete"`, `"single"`, `"mcquitty"`, `"ward.D"` or `"ward.D2"`, see [stats::hclust()]. May be
#'   abbreviated.
#' @return `gpuDist()`: an object of class `dist` with values from 0 (same order) to 2 (opposite order); the distances
#'   of a constant row are `NA`, with a warning. `gpuHclust()`: an object of class [stats::hclust]. Infinite distances
#'   with Ward's method are an error.
#' @examples
#' plot(gpuHclust(gpuDist(mtcars, method = "spearman")), cex = 0.7)
#' tree <- gpuHclust(gpuCor(mtcars)) # of 1 - r of columns
#' cutree(tree, 3)
#' @order 1
#' @export
gpuHclust <- function(d, method = c("average", "complete", "single", "mcquitty", "ward.D", "ward.D2"), ...,
                      control = NULL) {
  specs <- specs_of("gpuHclust", ...)
  method <- check_choice(method, eval(formals()$method), "method")
  check_type(d, "d", inherits(d, "dist") && is_numeric(d), "a dist, or a result of gpuCor() or gpuTOM()",
             if (is.matrix(d)) "; as.dist(d) makes a dist of a matrix")
  n <- attr(d, "Size")
  if (!is_number(n) || !isTRUE(pairs_of(n) == length(d))) {
    fail("attribute \"Size\" of 'd' is ", show_value(n), ", and 'd' has ", n_of(length(d), "distance"),
         "; make it by dist() or as.dist()")
  }
  if (n < 2) fail("'d' must have at least 2 items, not ", n)
  place <- new_place(specs$control)
  place$doing <- list(text = "merge", of = n - 1, rated = FALSE)
  values <- if (is.double(d)) d else as.double(d)
  found <- checked(.Call(r_hclust, values, n, constant(method), is_all_pairs(d), place))
  structure(c(found, list(labels = attr(d, "Labels"), method = method, call = sys.call(),
                          dist.method = attr(d, "method"))), class = "hclust")
}
