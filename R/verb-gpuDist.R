#' @rdname gpuHclust
#' @param x A numeric, integer or logical matrix or data frame with an item in each row; or a sparse matrix, a
#'   `DelayedMatrix`, an HDF5 dataset ([gpuCorFile()]) or a `SummarizedExperiment`.
#' @param use,precision As in [gpuCor()]; `"single"` or `"double"`.
#' @param ...,adjustment,control `r offered_words("gpuDist")` `gpuHclust()` takes those of [gpuControl()] only.
#' @export
gpuDist <- function(x, method = "spearman", use = "everything", precision = c("single", "double"), ...,
                    adjustment = NULL, control = NULL) {
  specs <- specs_of("gpuDist", ...)
  method <- check_method(method, "spearman", "; distances by other than correlation are those of stats::dist()")
  check_matrix_like(x, "an entity in each row")
  check_has_assay(x, NULL, specs$control$assay)
  if (is_experiment(x)) x <- picked_assay(x, "x", specs$control$assay)
  x <- check_variables(x, "x", method = method)
  rows <- if (is_outside(x)) transposed_outside(x) else Matrix::t(x)
  run <- new_run(NULL, specs, NULL, NULL, method, use, takes = "later", precision = precision, call = sys.call(),
                 distance = TRUE, observations = list(names = rownames(rows), side = "col"))
  run <- with_design(with_values(run, rows))
  check_filled(nrow(rows), ncol(rows), NULL, run$use, method)
  check_run_memory(run, "row", "gpuDist()", "gpuCorNetwork(t(x)) keeps the pairs of small distances only")
  values_of_pairs(run, "row", list(Size = ncol(rows), Labels = colnames(rows), Diag = FALSE, Upper = FALSE,
                                   method = method, call = run$call, class = "dist"))
}
