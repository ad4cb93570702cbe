#' Topological overlap of all pairs of columns
#'
#' `gpuTOM()` computes how strongly two genes share neighbors in the weighted network of their correlations. It returns
#' the values of `WGCNA::TOMsimilarityFromExpr()` to 1e-6, under the same argument names.
#'
#' The adjacency a of two columns with the coefficient r is `|r|^power` (`type = "unsigned"`), `((1 + r) / 2)^power`
#' (`"signed"`) or `max(r, 0)^power` (`"signed hybrid"`). Let `k_i` be the connectivity of i, the sum of its absolute
#' adjacencies; `s` the sum over all others u of `a_iu a_uj`; and `f` the smaller of `k_i` and `k_j`
#' (`TOMDenom = "min"`) or their mean (`"mean"`). The overlap of i and j is:
#'
#' | `TOMType` | overlap |
#' |---|---|
#' | `"unsigned"` | `(s + a_ij) / (f + 1 - a_ij)` |
#' | `"signed Nowick"` | `(s + a_ij) / (f + 1 - abs(a_ij))`, with adjacencies `sign(r) abs(r)^power` for every `type` |
#' | `"signed"` | its absolute value; signed adjacencies if `type` is `"unsigned"`, otherwise equal to `"unsigned"` |
#' | `"unsigned 2"` | `(a_ij + s / (f - a_ij)) / 2`; the second term is 0 if neither has another neighbor |
#' | `"signed Nowick 2"`, `"signed 2"` | the same, and its absolute value, of unsigned adjacencies, as in WGCNA 1.72 |
#'
#' `"signed"` is the default of `TOMsimilarityFromExpr()` and `blockwiseModules()`; that of `TOMsimilarity()` is
#' `"unsigned"`.
#'
#' **Missing values.** WGCNA's `use` is `"pairwise.complete.obs"`. A pair without a coefficient, such as of a constant
#' column, is an error, because every overlap depends on all adjacencies. With `replaceMissingAdjacencies = TRUE` its
#' adjacency is 0.
#'
#' **Memory.** The result takes 4 bytes a pair. The adjacencies take 4 bytes for each pair in both orders in main
#' memory, or 8 bytes on the GPU: 40,000 columns take 6.4 GB, or 12.8 GB on the GPU. If that exceeds free memory or
#' `memory`, they are computed again for each part of the result. [gpuHclust()] makes
#' the tree, also of more than 65,536 columns, which [stats::hclust()] does not take.
#'
#' **Accuracy.** Overlaps do not depend on threads, memory or the number of GPUs, and are within 1e-6 between processor
#' and GPU.
#'
#' **Sparse networks.** `x` may be a network of [gpuCorNetwork()], or a symmetric sparse matrix of adjacencies, without
#' `power` and `type`. Pairs without an edge have adjacency 0. The result has the overlap of each edge.
#'
#' **Several data sets.** A list with `combine` gives the consensus overlap of `WGCNA::consensusTOM()`: the minimum,
#' mean or quantile of each pair's overlaps. [gpuModules()] finds consensus modules. With
#' `calibration = "single quantile"` the overlaps of each set but the first are first raised to a power, so that their
#' quantile `calibrationQuantile` equals that of the first set, in the sample of pairs that WGCNA draws. The overlaps of
#' all sets are kept in memory.
#'
#' @inheritParams gpuCor
#' @param x As in [gpuCor()], with genes in columns; a list of these, with `combine`; or a symmetric sparse network, see
#'   Details.
#' @param power A positive number; for several data sets one for all or one for each.
#' @param type,TOMType,TOMDenom Strings, see Details; `type` is WGCNA's `networkType`. May be abbreviated.
#' @param output A string: `"dist"`, `"matrix"`, or `"network"` for the pairs with large overlap. May be abbreviated.
#' @param threshold,density,k With `output = "network"`: one of these, as in [gpuCorNetwork()], applied to overlaps.
#' @param combine With a list: `"min"`, `"mean"` or `"quantile"`.
#' @param probs With `combine = "quantile"`: a number in \[0, 1\].
#' @param calibration With a list: `"none"`, or `"single quantile"` to scale overlaps before they are combined, see
#'   Details. It needs overlaps without a sign. WGCNA's `networkCalibration`.
#' @param calibrationQuantile A number in \[0, 1\]: the quantile for `calibration`.
#' @param replaceMissingAdjacencies `TRUE`: pairs without a coefficient have adjacency 0; `FALSE`: they are an error.
#' @param ... `r offered_words("gpuTOM")`
#'
#' @return `output = "dist"`: an object of class [gpuTOM][gpuCor-class] with the overlap of each pair, in the order of
#'   [stats::dist()]. [gpuHclust()] makes a tree; `1 - tom` is a plain `dist`; `as.matrix()` and `tom[i, j]` work as for
#'   [gpuCor()]. Attributes are the arguments, and for several data sets the powers that scaled them, `scales`.
#'   `"matrix"`: the N x N matrix with ones in its diagonal. `"network"`: a symmetric sparse matrix of class
#'   `gpuTOMNetwork`, a [gpuCorNetwork-class] whose slot `overlap` has the arguments. For a sparse network: a
#'   `dsCMatrix`.
#'
#' @section Errors: As [gpuCor()]; pairs without a coefficient; a result that does not fit in free memory.
#' @references
#' Zhang B, Horvath S (2005). A general framework for weighted gene co-expression network analysis. *Statistical
#' Applications in Genetics and Molecular Biology* 4, 17.
#'
#' Nowick K, Gernat T, Almaas E, Stubbs L (2009). Differences in human and chimpanzee gene expression patterns define an
#' evolving network of transcription factors in brain. *PNAS* 106, 22358-22363.
#'
#' Langfelder P, Horvath S (2008). WGCNA: an R package for weighted correlation network analysis. *BMC Bioinformatics*
#' 9, 559.
#' @seealso [gpuModules()], [pickPower()], [plot.gpuTOM()]
#' @examples
#' x <- as.matrix(mtcars)
#' tom <- gpuTOM(x, power = 3)
#' tom
#' tom["mpg", "wt"]
#' plot(gpuHclust(tom))
#'
#' gpuTOM(x, type = "signed", power = 12, output = "network", density = 0.2)
#' gpuTOM(gpuCorNetwork(x, threshold = 0.6), power = 3)[1:4, 1:4]
#' gpuTOM(list(x[1:16, ], x[17:32, ]), power = c(3, 4), combine = "min",
#'        calibration = "single quantile")
#' @export
gpuTOM <- function(x, power = 6, type = c("unsigned", "signed", "signed hybrid"),
                   TOMType = c("signed", "unsigned", "signed Nowick", "unsigned 2", "signed 2", "signed Nowick 2"),
                   TOMDenom = c("min", "mean"), replaceMissingAdjacencies = FALSE, threshold = NULL, density = NULL,
                   k = NULL, method = c("pearson", "kendall", "spearman", "bicor", "cosine", "distance", "mi"),
                   use = "everything", combine = NULL, probs = NULL, calibration = c("none", "single quantile"),
                   calibrationQuantile = 0.95, output = c("dist", "matrix", "network"), ...) {
  specs <- specs_of("gpuTOM", ...)
  rules <- lapply(powers_of_sets(power, x), overlap_rule, check_choice(type, types, "type"),
                  check_choice(TOMType, tom_types, "TOMType"), check_choice(TOMDenom, tom_denominators, "TOMDenom"),
                  check_flag(replaceMissingAdjacencies, "replaceMissingAdjacencies"))
  rule <- rules[[1L]]
  output <- check_choice(output, c("dist", "matrix", "network"), "output")
  criterion <- check_tom_criterion(output, list(threshold = threshold, density = density, k = k))
  how <- check_consensus(x, list(combine = combine, probs = probs, calibration = calibration,
                                 calibrationQuantile = calibrationQuantile))
  if (is_sparse_network(x)) {
    if (!is.null(criterion)) fail("'", criterion$name, "' is for data; of a network all edges' overlaps are returned")
    return(overlap_of_network(x, rule, missing(power) && missing(type), new_settings(specs)$threads))
  }
  method <- check_method(method)
  call <- sys.call()
  settings <- new_settings(specs)
  if (!is.null(how)) return(consensus_overlap(x, how, rules, method, use, output, settings, call))
  if (output == "network") return(tom_network(x, criterion, rule, method, use, settings, call))
  tom_of_all(x, rule, method, use, output, settings, call)
}

# ---- arguments

check_tom_criterion <- function(output, given) {
  given <- Filter(Negate(is.null), given)
  if (output != "network") {
    if (!length(given)) return(NULL)
    fail("'", names(given)[1L], "' has a meaning with output = \"network\" only; give that, or leave '",
         names(given)[1L], "' out")
  }
  if (length(given) != 1L) {
    fail("output = \"network\" takes one of 'threshold', 'density' and 'k', which says which pairs are kept")
  }
  check_one_criterion(given)
}

# ---- networks

tom_network <- function(x, criterion, rule, method, use, settings, call) {
  check_matrix_like(x, COLUMNS)
  task <- network_task(x, NULL, criterion, "absolute", use, method, settings, takes_subjects = FALSE)
  task$settings$overlap <- rule
  task$mutual <- FALSE
  task$call <- call
  rows <- network_rows(task)
  warn_constant(rows, colnames(task$x), NULL)
  network <- new_network(rows, task, class = "gpuTOMNetwork")
  network@overlap <- rule$names
  network
}
