#' Correlation distances between rows
#'
#' One less the coefficient of every pair of rows, as [stats::dist()] has it:
#' entities in rows, their measurements in columns.
#'
#' @inheritParams gpuCor
#' @param x A numeric, integer or logical matrix or data frame, an entity in
#'   each row; or a sparse matrix, a `DelayedMatrix`, an HDF5 dataset ([gpuCorFile()]) or a `SummarizedExperiment`.
#' @param method `"spearman"`, `"pearson"`, `"kendall"`, `"bicor"` or `"cosine"`: see [gpucor-measures]. May be
#'   abbreviated.
#' @return A plain object of class `dist`, values from 0 (same order) to 2
#'   (opposite). Missing values and ties are treated as in [gpuCor()]; a row of
#'   equal values has `NA` to every other one, with a warning.
#' @section Errors: as [gpuCor()].
#' @references Kim S, Ouyang M, Zhang X (2012). Compute Spearman correlation
#'   coefficient with Matlab/CUDA. *IEEE ISSPIT*, 55-60.
#' @examples
#' d <- gpuDist(mtcars, method = "spearman")
#' plot(hclust(d, method = "average"), cex = 0.7)
#' @export
gpuDist <- function(x, method = c("spearman", "pearson", "kendall", "bicor", "cosine"), use = "everything",
                    precision = c("single", "double"), weights = NULL, weights_are = NULL, covariates = NULL,
                    data = NULL, bandpass = NULL, tr = NULL, df = NULL, options = NULL, assay = NULL, ...,
                    control = gpuControl(...)) {
  check_control(control, missing(control), ...names())
  method <- check_method(method, "spearman", "; distances by other than correlation are those of stats::dist()")
  use <- check_use(use)
  settings <- new_settings(control, mget(ADJUSTMENT), precision, assay = assay, distance = TRUE)
  check_matrix_like(x, "an entity in each row")
  check_has_assay(x, NULL, settings$assay)
  if (is_experiment(x)) x <- picked_assay(x, "x", settings$assay)
  x <- check_variables(x, "x")
  by_row <- is.matrix(x)
  if (!by_row) x <- if (is_outside(x)) transposed_outside(x) else Matrix::t(x)
  settings <- designed_rows(settings, x, by_row, method, use)
  check_filled(if (by_row) ncol(x) else nrow(x), if (by_row) nrow(x) else ncol(x), NULL, use, method)
  check_run_memory(x, NULL, method, use, "row", settings, "gpuDist()",
                   "gpuCorNetwork(t(x)) keeps the pairs of small distances only", by_row = by_row)
  attributes <- list(Size = if (by_row) nrow(x) else ncol(x), Labels = if (by_row) rownames(x) else colnames(x),
                     Diag = FALSE, Upper = FALSE, method = method, call = sys.call(), class = "dist")
  run(x, NULL, method, use, "row", settings, attributes, by_row)
}
