#' Compute some of the pairs only
#'
#' A pair mask selects the pairs of columns to compute: pairs of the same group or of different groups, pairs that are
#' near each other or far apart. Argument `pairs` of [gpuCorNetwork()], [gpuConnectivity()] and [pickPower()] takes it,
#' and, with a criterion such as `threshold`, that of [gpuCorWindows()] and [gpuCorCompare()]. Functions whose result
#' has a value for every pair, such as [gpuCor()], take no mask.
#'
#' Other pairs are ignored: a density, a false discovery rate and nearest neighbors refer to the pairs of the mask.
#' Their coefficients are bit for bit those of a run without a mask. A mask saves time, as the run groups the columns.
#' (Data that are read by blocks of columns keep their order: store columns of a group next to each other.)
#'
#' Distances are those of [stats::dist()]. A data frame of coordinates may have one column of groups, such as
#' chromosomes: it is called `chromosome`, `chr`, `chrom` or `seqnames`, or is not numeric. Pairs of different groups
#' are farther than any distance. A column whose label or coordinates are `NA` is in no pair. With many subjects
#' ([subjects]) the mask holds for each.
#'
#' @param x For `same` and `different`, a vector or factor: the label of each column of the data. For distances, a
#'   matrix of up to three columns such as that of [voxelCoords()], a vector, or a data frame (see Details): the
#'   coordinates, one row for each column of the data.
#' @param y As `x`, for the columns of a second data matrix; `NULL` if there is none.
#' @param same,different `TRUE` to compute the pairs with the same label, or those with different labels.
#' @param within_distance,beyond_distance A number in the units of the coordinates: the max distance of a pair; or pairs
#'   must be farther apart than this, for example than the smoothness of an image.
#' @return An object of class `gpuCorPairs`. None or several of the last four arguments are an error, and so are
#'   infinite or negative distances.
#' @references Morton GM (1966). *A computer oriented geodetic data base and a new technique in file sequencing*. IBM:
#'   the order of coordinates.
#' @examples
#' x <- matrix(rnorm(20 * 60), 20)
#' module <- rep(c("a", "b", "c"), 20)
#' gpuCorNetwork(x, density = 0.1, pairs = pairMask(module, same = TRUE))
#'
#' gene <- data.frame(chromosome = rep(1:2, 30), position = cumsum(1:60))
#' gpuCorNetwork(x, k = 2, pairs = pairMask(gene, within_distance = 200))
#' grid <- as.matrix(expand.grid(1:5, 1:4, 1:3))
#' gpuCorNetwork(x, fdr = 0.5, pairs = pairMask(grid, beyond_distance = 2))
#' @export
pairMask <- function(x, y = NULL, same = FALSE, different = FALSE, within_distance = NULL, beyond_distance = NULL) {
  is_asked <- c(same = check_flag(same, "same"), different = check_flag(different, "different"),
                within_distance = !is.null(within_distance), beyond_distance = !is.null(beyond_distance))
  if (sum(is_asked) != 1L) fail("give one of ", paste0("'", names(is_asked), "'", collapse = ", "))
  relation <- names(is_asked)[is_asked]
  if (same || different) return(new_pairs(relation, traits_of_labels(x, y)))
  distance <- if (is.null(within_distance)) beyond_distance else within_distance
  new_pairs(relation, traits_of(x, y), distance)
}

#' @method print gpuCorPairs
#' @export
print.gpuCorPairs <- function(x, ...) {
  sizes <- vapply(Filter(Negate(is.null), x[c("x", "y")]), traits_length, 0)
  cat("Pairs of ", paste(vapply(sizes, format_count, ""), collapse = " x "), " columns, ",
      switch(relations[x$relation + 1L], same = "of the same label", different = "of different labels",
             within_distance = paste("at most", format(x$distance), "apart"),
             beyond_distance = paste("more than", format(x$distance), "apart")), "\n", sep = "")
  invisible(x)
}
