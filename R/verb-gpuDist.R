#' Correlation distances between rows
#'
#' Returns 1 - r for every pair of rows. As for [stats::dist()], items are in rows and their measurements in columns.
#'
#' @inheritParams gpuCor
#' @inheritParams gpuControl
#' @param x A numeric, integer or logical matrix or data frame with an item in each row; or a sparse matrix, a
#'   `DelayedMatrix`, an HDF5 dataset ([gpuCorFile()]) or a `SummarizedExperiment`.
#' @param method A string: `"spearman"`, `"pearson"`, `"kendall"`, `"bicor"`, `"cosine"`, `"distance"` or `"mi"`, see
#'   [gpucor-measures]. May be abbreviated.
#' @param ... `r offered_words("gpuDist")`
#' @return An object of class `dist` with values from 0 (same order) to 2 (opposite order). Missing values and ties are
#'   treated as in [gpuCor()]; the distances of a constant row are `NA`, with a warning.
#' @section Errors: As [gpuCor()].
#' @references Kim S, Ouyang M, Zhang X (2012). Compute Spearman correlation
#'   coefficient with Matlab/CUDA. *IEEE ISSPIT*, 55-60.
#' @examples
#' d <- gpuDist(mtcars, method = "spearman")
#' plot(hclust(d, method = "average"), cex = 0.7)
#' @export
gpuDist <- function(x, method = c("spearman", "pearson", "kendall", "bicor", "cosine", "distance", "mi"),
                    use = "everything", precision = c("single", "double"), ...) {
  specs <- specs_of("gpuDist", ...)
  method <- check_method(method, "spearman", "; distances by other than correlation are those of stats::dist()")
  use <- check_use(use)
  settings <- new_settings(specs, precision = precision, distance = TRUE)
  check_matrix_like(x, "an entity in each row")
  check_has_assay(x, NULL, settings$assay)
  if (is_experiment(x)) x <- picked_assay(x, "x", settings$assay)
  x <- check_variables(x, "x", method = method)
  by_row <- is.matrix(x)
  if (!by_row) x <- if (is_outside(x)) transposed_outside(x) else Matrix::t(x)
  settings <- designed_rows(settings, x, by_row, method, use)
  check_filled(if (by_row) ncol(x) else nrow(x), if (by_row) nrow(x) else ncol(x), NULL, use, method)
  check_run_memory(x, NULL, method, use, "row", settings, "gpuDist()",
                   "gpuCorNetwork(t(x)) keeps the pairs of small distances only", by_row = by_row)
  attributes <- list(Size = if (by_row) nrow(x) else ncol(x), Labels = if (by_row) rownames(x) else colnames(x),
                     Diag = FALSE, Upper = FALSE, method = method, call = sys.call(), class = "dist")
  values_of_pairs(x, NULL, method, use, "row", settings, attributes, by_row)
}
