#' Which pairs count
#'
#' Argument `pairs` of [gpuCorNetwork()], [gpuConnectivity()] and [pickPower()], and, with a criterion such as
#' `threshold`, of [gpuCorWindows()] and [gpuCorCompare()]: only these pairs of columns are looked at. Others are not
#' computed, as far as columns that are alike can be put next to one another, so that the time falls with the pairs. A
#' density is of the pairs that count, a false discovery rate is over them, and neighbours are looked for among them.
#'
#' * `within(labels)`: columns of the same label. It is a method of [base::within()] for what can be labels.
#' * `between(labels)`: columns of different labels.
#' * `nearer(coords, distance)`: columns at most so far from one another, where each has a place.
#' * `farther(coords, distance)`: the others, as for connectivity that is not the image's own smoothness.
#'
#' Distances are as [stats::dist()] has them. Places may lie in groups between which there is no distance, as genes lie
#' on chromosomes: a data frame, in which one column is called `chromosome`, `chr`, `chrom` or `seqnames`, or is not
#' numeric, and the others are numbers. Pairs of two groups are farther than any distance.
#'
#' A column without a label, or without a place, is in no pair: `NA`. Packages dplyr and data.table have a `between()`
#' of their own, beside which it is `gpucor::between()`.
#'
#' The columns need not be in any order: they are put in one while the pairs are computed, and the result is that of all
#' pairs of which the others are left out, to the last bit. Data that are read by blocks of columns (HDF5,
#' `DelayedArray`, `big.matrix`) are taken as they are: there labels should stand together, and neighbours next to one
#' another.
#'
#' With many subjects ([subjects]) the same pairs count in each of them.
#'
#' Functions whose result has a place for each pair, such as [gpuCor()], and plans ([gpuCorPlan()]) take no `pairs`.
#' [gpuCorWindows()] and [gpuCorCompare()] without a criterion are among them.
#'
#' @param labels,data A label for each column of `x`: character, numeric, logical, or a factor.
#' @param coords A place for each column of `x`: a matrix of up to three columns, as `voxelCoords()` makes it in
#'   millimetres, a vector, or a data frame (see Details).
#' @param distance In the units of `coords`: millimetres, or base pairs.
#' @param y For pairs of columns of `x` with those of `y`: the same of the columns of `y`.
#' @param expr Not used.
#' @param ... For `within()`: `y`.
#' @return An object of class `gpuCorPairs`.
#' @section Errors: labels or places that are not as many as there are columns; infinite or negative distances.
#' @references Morton GM (1966). *A computer oriented geodetic data base and a new technique in file sequencing*. IBM:
#'   the order of places.
#' @examples
#' x <- matrix(rnorm(20 * 60), 20)
#' module <- rep(c("a", "b", "c"), 20)
#' gpuCorNetwork(x, density = 0.1, pairs = within(module))
#' gpuConnectivity(x, threshold = 0.3, pairs = between(module))
#'
#' gene <- data.frame(chromosome = rep(1:2, 30), position = cumsum(1:60))
#' gpuCorNetwork(x, k = 2, pairs = nearer(gene, 200))
#' grid <- as.matrix(expand.grid(1:5, 1:4, 1:3))
#' gpuCorNetwork(x, fdr = 0.5, pairs = farther(grid, 2))
#' @name pairs-that-count
NULL

#' @rdname pairs-that-count
#' @export
nearer <- function(coords, distance, y = NULL) new_pairs("nearer", traits_of(coords, y), distance)

#' @rdname pairs-that-count
#' @export
farther <- function(coords, distance, y = NULL) new_pairs("farther", traits_of(coords, y), distance)

#' @rdname pairs-that-count
#' @export
between <- function(labels, y = NULL) new_pairs("between", traits_of_labels(labels, y))

within_labels <- function(data, expr, ..., y = NULL) {
  if (!missing(expr) || ...length()) fail("within(labels) takes labels and 'y'")
  new_pairs("within", traits_of_labels(data, y))
}

#' @rdname pairs-that-count
#' @method within character
#' @export
within.character <- within_labels

#' @rdname pairs-that-count
#' @method within factor
#' @export
within.factor <- within_labels

#' @rdname pairs-that-count
#' @method within numeric
#' @export
within.numeric <- within_labels

#' @rdname pairs-that-count
#' @method within logical
#' @export
within.logical <- within_labels

#' @method print gpuCorPairs
#' @export
print.gpuCorPairs <- function(x, ...) {
  relation <- relations[x$relation + 1L]
  sizes <- vapply(Filter(Negate(is.null), x[c("x", "y")]), traits_length, 0)
  cat("Pairs of ", paste(vapply(sizes, format_count, ""), collapse = " x "), " column", if (any(sizes != 1)) "s", ", ",
      switch(relation, within = "of the same label", between = "of different labels",
             nearer = paste("at most", format(x$distance), "apart"),
             farther = paste("more than", format(x$distance), "apart")), "\n", sep = "")
  invisible(x)
}

# ---- of a task
