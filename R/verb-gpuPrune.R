#' Remove the weakest edge of each triangle of a network
#'
#' `gpuPrune()` applies the data processing inequality of ARACNE (Margolin and others 2006). If two genes interact only
#' through a third one, their edge is the weakest of the triangle. Such edges are removed, and direct interactions
#' remain.
#'
#' The information of an edge with the coefficient r is `-log(1 - r^2) / 2`, the mutual information of bivariate normal
#' variables. An edge is removed if there is a triangle in which its information is less than `1 - tolerance` times that
#' of each of the other two edges. The sign of a coefficient does not matter. All triangles are those of `net`, so the
#' result does not depend on an order. If two edges of a triangle are equally weak, it removes neither of them.
#'
#' With `tolerance = 0` every triangle loses its weakest edge, unless two edges are equally weak. A tolerance of 0.1 to
#' 0.2 keeps edges that are nearly as strong as the others, whose order may be due to errors of estimation. With 1
#' nothing is removed. The same rule applies to every method.
#'
#' Memory: 32 bytes per edge. The result does not depend on the number of threads.
#'
#' @param net A network of [gpuCorNetwork()] or [gpuTOM()] without `y`, or a symmetric sparse matrix of package Matrix
#'   with entries in \[-1, 1\].
#' @param tolerance A number in \[0, 1\].
#' @param ... `r offered_words("gpuPrune")`
#' @return `net` without the removed edges: slot `edges` has their number, and slot `adjusted` the tolerance, as
#'   `pruned`; the other slots say how `net` was made. P values are those of `net`, adjusted over the same pairs. For a
#'   plain sparse matrix: a `dsCMatrix` without diagonal.
#' @section Errors: Anything but a symmetric network; a network of differences; missing entries.
#' @references
#' Margolin AA, Nemenman I, Basso K, Wiggins C, Stolovitzky G, Dalla Favera R, Califano A (2006). ARACNE: an algorithm
#' for the reconstruction of gene regulatory networks in a mammalian cellular context. *BMC Bioinformatics* 7 (Suppl 1),
#' S7.
#' @seealso [gpuCorNetwork()]
#' @examples
#' # A chain of genes, each of which drives the next one
#' set.seed(1)
#' x <- matrix(rnorm(200 * 6), 200, dimnames = list(NULL, letters[1:6]))
#' for (j in 2:6) x[, j] <- x[, j - 1] + 0.5 * x[, j]
#' net <- gpuCorNetwork(x, threshold = 0.3)
#' net@edges
#' as.data.frame(gpuPrune(net))
#' @export
gpuPrune <- function(net, tolerance = 0, ...) {
  specs <- specs_of("gpuPrune", ...)
  tolerance <- check_within(tolerance, "tolerance", 0, 1)
  net <- check_prunable(net)
  threads <- new_settings(specs)$threads
  is_kept <- checked(.Call(r_prune, net@p, net@i, net@x, tolerance, threads))
  slots <- list(p = c(0L, cumsum(is_kept))[net@p + 1L], i = net@i[is_kept], x = net@x[is_kept], factors = list())
  if (is_network(net)) {
    slots <- c(slots, list(edges = as.numeric(sum(is_kept)), tests = pruned_tests(net, is_kept, threads),
                           stability = net@stability[is_kept[seq_along(net@stability)]],
                           adjusted = replace(net@adjusted, "pruned", tolerance)))
  }
  with_slots(net, slots)
}

# Returns the network, or a plain sparse matrix as a dsCMatrix of its upper triangle.
check_prunable <- function(net) {
  if (!is_network(net) && !is_sparse(net)) {
    fail("'net' must be a network of gpuCorNetwork(output = \"matrix\"), not of class ", class(net)[1L])
  }
  check_slots(net, "net")
  if (is_network(net) && value_name(net) == "clr") {
    fail("'net' has context likelihoods, which are no coefficients; prune a network without normalize = \"clr\"")
  }
  if (is(net, "gpuCorDifference")) fail("'net' has differences of coefficients; gpuPrune() is for coefficients")
  if (!is_network(net)) net <- plain_network(net)
  if (!is(net, "dsCMatrix")) fail("'net' must be symmetric; a network of 'x' against 'y' has no triangles")
  bad <- which(is.na(net@x) | abs(net@x) > 1)
  if (length(bad)) fail("'net' must have entries from -1 to 1, not ", format(net@x[bad[1L]]))
  net
}

# Returns slot `tests` of the kept edges. Benjamini and Hochberg's ranks include the removed ones.
pruned_tests <- function(net, is_kept, threads) {
  tests <- net@tests
  if (!length(tests)) return(tests)
  removed <- which(!is_kept)
  if (!is.null(tests$pairs)) {
    tests$others <- c(tests$others, edge_tests(net@x[removed], net@tests, removed, threads)$p.value)
  }
  own <- intersect(c("p.value", EDGE_COLUMNS), names(tests))
  tests[own] <- lapply(tests[own], `[`, is_kept)
  near <- is_kept[tests$near$at]
  if (length(near)) tests$near <- list(at = cumsum(is_kept)[tests$near$at[near]], r = tests$near$r[near])
  tests
}
