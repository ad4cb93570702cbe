# Classes of networks: sparse matrices with slots that record how they were made.

#' @exportClass gpuNetwork
setClass("gpuNetwork", contains = "VIRTUAL",
         slots = c(method = "character", sign = "character", criterion = "character", value = "numeric",
                   threshold = "numeric", edges = "numeric", pairs = "numeric", n_obs = "numeric", tests = "list",
                   adjusted = "list", stability = "numeric", call = "call"))

#' Networks
#'
#' [gpuCorNetwork()] returns a sparse matrix of package Matrix, whose slots say how it was made. Use it as any sparse
#' matrix: attach Matrix for its functions.
#'
#' Class `gpuCorNetwork` is a symmetric `dsCMatrix`. Class `gpuCorNetworkXY` (variables of `x` against those of `y`) is
#' a `dgCMatrix`. Arithmetic such as `net^2` or `atanh(net)` gives a plain sparse matrix. `t()`, `diag()`, `rowSums()`,
#' `colSums()`, `rowMeans()`, `colMeans()`, `crossprod()` and `isSymmetric()` work without attaching Matrix.
#'
#' @slot method,sign,call The arguments, and the call.
#' @slot criterion,value The argument that chose the edges, and its value.
#' @slot threshold A number: the smallest weight (`|r|`, `r` or `-r`) that makes an edge. `NA` if there is no single
#'   one: for `k`, and if equal coefficients can have different p values. With exact p values of Spearman's rho or
#'   Kendall's tau it lies halfway between that coefficient and the next smaller possible one. Coefficients of
#'   [gpuCor()] differ from those of the network by up to 1e-6, so that pairs this close to the threshold can be on
#'   either side of it; give `precision = "double"` to both functions to find the same pairs.
#' @slot edges,pairs The numbers of edges and of pairs.
#' @slot n_obs The number of observations.
#' @slot tests A list from which `as.data.frame()` makes p values; empty unless `p.value` or `fdr` chose the edges.
#' @slot adjusted A list of what changed the coefficients, such as covariates, or the edges: `pruned`, the tolerance of
#'   [gpuPrune()]; empty if nothing did.
#' @slot stability With `resample`, the fraction of the resamples whose network has the edge, for each element of slot
#'   `x`; otherwise empty.
#' @param x,object A network.
#' @param row.names,optional,... Not used.
#' @return `head()` and `tail()`: the first and last rows of `as.data.frame()`, which are the strongest and the weakest
#'   edges.
#'
#'   `as.data.frame()`: a data frame with an edge in each row, the strongest first: `from`, `to` and `r`. `from`
#'   and `to` are names, or numbers if the columns have no names. Edges chosen by `p.value` or `fdr` also have `p.value`
#'   (two-sided), and those chosen by `fdr` have `fdr`, the p value adjusted by Benjamini and Hochberg over all pairs
#'   that have a coefficient. With `resample` there is a column `stability`, and with `lag` a column `lag`. Variables
#'   without an edge are not in the data frame: see [as_igraph()].
#' @examples
#' net <- gpuCorNetwork(as.matrix(mtcars), density = 0.1)
#' net@edges
#' net@threshold
#' head(as.data.frame(net))
#' plot(net, "weight")
#' @aliases gpuNetwork-class gpuCorNetworkXY-class gpuTOMNetwork-class
#' @exportClass gpuCorNetwork
setClass("gpuCorNetwork", contains = c("gpuNetwork", "dsCMatrix"))

#' @exportClass gpuCorNetworkXY
setClass("gpuCorNetworkXY", contains = c("gpuNetwork", "dgCMatrix"))

#' @exportClass gpuTOMNetwork
setClass("gpuTOMNetwork", contains = "gpuCorNetwork", slots = c(overlap = "list"))

#' @rdname gpuCorCompare
#' @exportClass gpuCorDifference
setClass("gpuCorDifference", contains = "gpuCorNetwork", slots = c(error = "numeric", maxima = "numeric",
                                                                   components = "list", groups = "numeric",
                                                                   min_p = "numeric"))

# `rows`: compressed rows of the lower triangle, or of y.
new_network <- function(rows, task, class = if (is.null(task$y)) "gpuCorNetwork" else "gpuCorNetworkXY") {
  with_slots(methods::new(class), c(matrix_slots(rows, task), network_details(rows, task),
                                    list(tests = rows$tests, stability = as.numeric(rows$stability),
                                         call = task$call)))
}

# `components`: list() or list(table, of).
new_difference <- function(rows, task, value, error, maxima, components = list()) {
  min_p <- if (!is.null(error)) min_rank_p(task$method, compared_groups(task$x))
  rows$x <- atanh(rows$x)
  rows$threshold <- atanh(rows$threshold)
  if (length(rows$tests) && !is.null(error)) {
    rows$tests$distribution <- c(list(deviation = error, groups = several_groups(task$x)), min_p = min_p)
  }
  result <- new_network(rows, task, "gpuCorDifference")
  with_slots(result, list(error = as.numeric(error), value = as.numeric(value), maxima = as.numeric(maxima),
                           components = components, groups = as.numeric(several_groups(task$x)),
                           min_p = as.numeric(min_p)))
}
