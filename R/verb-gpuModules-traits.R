# plot() of modules; with traits it tests them.

#' @rdname gpuModules-methods
#' @export
plot.gpuModules <- function(x, type = c("tree", "stability"), main = NULL, traits = NULL, covariates = x$covariates,
                            ...) {
  type <- check_choice(type, c("tree", "stability"), "type")
  if (is.null(traits)) {
    if (type == "stability") plot_stability(x, main, ...) else draw_modules(x, main)
    return(invisible(x))
  }
  if (is_of_sets(x)) {
    fail("'traits' is for modules of one data set; of several, plot(gpuAssociation(x$eigengenes[[1]], traits, ",
         "output = \"matrix\"), type = \"heatmap\")")
  }
  is_module <- names(x$eigengenes) != "MEgrey"
  if (!any(is_module)) fail("there are no modules to plot: all genes are grey")
  plot(gpuAssociation(x$eigengenes[is_module], traits, covariates = covariates, output = "matrix", ...),
       type = "heatmap", main = main)
}
