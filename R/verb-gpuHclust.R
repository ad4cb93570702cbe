#' Hierarchical clustering
#'
#' Returns the tree of [stats::hclust()] for tens of thousands of items, on a GPU or on the processor. There is no limit
#' of 65,536 items.
#'
#' Distances are kept in single precision, those `1 - r` of coefficients or overlaps `r` as `r`. Heights are within 1e-6
#' of those of [stats::hclust()], relative to the largest distance, and merges are the same, except where distances are
#' nearly equal.
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
#' @param method A string, the linkage: `"average"`, `"complete"`, `"single"`, `"mcquitty"`, `"ward.D"` or `"ward.D2"`,
#'   see [stats::hclust()]. May be abbreviated.
#' @param ...,control `r offered_words("gpuHclust")`
#' @return An object of class [stats::hclust]: a list with `merge`, `height`, `order`, `labels`, `method`, `call` and
#'   `dist.method`. Infinite distances with Ward's method are an error.
#' @examples
#' r <- gpuCor(as.matrix(mtcars))
#' tree <- gpuHclust(r)
#' plot(tree)
#' cutree(tree, 3)
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
