#' Topological overlap of all pairs of columns
#'
#' How much of their neighbours two columns of `x` have in common, in the weighted network that a soft threshold makes
#' of their correlations: what `WGCNA::TOMsimilarityFromExpr()` computes, to 1e-6, under its names, on a GPU or on all
#' cores of the processor.
#'
#' The adjacency of two columns with the coefficient r is `|r|^power` (`type = "unsigned"`), `((1 + r) / 2)^power`
#' (`"signed"`) or `max(r, 0)^power` (`"signed hybrid"`). With `k_i` the sum of the sizes of all adjacencies of i (its
#' connectivity), `s` the sum over all others of `a_iu a_uj`, and `f` the smaller one of `k_i` and `k_j` (`TOMDenom =
#' "min"`) or their mean (`"mean"`), the overlap of i and j is by `TOMType`
#'
#' | `TOMType` | overlap |
#' |---|---|
#' | `"unsigned"` | `(s + a_ij) / (f + 1 - a_ij)` |
#' | `"signed Nowick"` | `(s + a_ij) / (f + 1 - abs(a_ij))`, of adjacencies `sign(r) abs(r)^power` whatever `type` is |
#' | `"signed"` | its size, with such signs where `type` is `"unsigned"` |
#' | `"unsigned 2"` | `(a_ij + s / (f - a_ij)) / 2` |
#' | `"signed Nowick 2"`, `"signed 2"` | the same, and its size; of adjacencies without a sign, as in WGCNA 1.72 |
#'
#' The second summand of the "2" forms is 0 where neither of the two has another neighbour.
#'
#' `TOMType` is `"signed"` by default, as in `WGCNA::TOMsimilarityFromExpr()` and `blockwiseModules()`; that of
#' `WGCNA::TOMsimilarity()` is `"unsigned"`. The two differ for `type = "unsigned"` only.
#'
#' Missing values: `use` as in [gpuCor()]; WGCNA's is `"pairwise.complete.obs"`. Ties are those of the `method`. Pairs
#' without a coefficient, as of constant columns, have no adjacency, and as each pair's overlap depends on all
#' adjacencies that is an error that names the first such column, where WGCNA stops or returns `NA` for all. With
#' `replaceMissingAdjacencies = TRUE` they are 0, as in WGCNA's function of that argument.
#'
#' Accuracy: coefficients are in double precision, adjacencies on the processor are rounded to single precision, 16 of
#' their products at a time are summed in single precision, and 16 of these sums, which are then added in double; on a
#' GPU all of this is in double. The overlap is rounded to single precision. It is the same for any number of threads,
#' rounds and GPUs to the last bit, and within 1e-6 between processor and GPU.
#'
#' Memory: an adjacency for each pair of columns in both orders, 4 bytes each in main memory, or 8 bytes each on the
#' GPU, from where they do not come to main memory: 40,000 columns take 6.4 GB, or 12.8 GB on the GPU. Where that is
#' more than is free, or than `memory`, two slabs of it at a time are made and multiplied, each the columns of some
#' variables, in rounds; for each of these the correlations are computed again, which is little beside the rest where
#' there are more columns than rows. Several GPUs have it each, and share the products. The result takes 4 bytes a pair,
#' as that of [gpuCor()]. On a GPU they are multiplied by cuBLAS, which is a part of the CUDA Toolkit.
#'
#' [stats::hclust()] and `fastcluster::hclust()` take at most 65,536 columns. With more, `output = "network"` keeps the
#' strong overlaps.
#'
#' Sparse networks: of a `gpuCorNetwork` ([gpuCorNetwork()]) the coefficients become adjacencies as above, of another
#' symmetric sparse matrix of package Matrix the entries are adjacencies, and `power` and `type` are left out. What is
#' no edge is 0. The result is the same network with the overlap of each edge; pairs that are no edges are not looked
#' at.
#'
#' Several data sets of the same columns: a list, and `combine`: the smallest of their overlaps (`"min"`), the mean, or
#' a quantile (`"quantile"`, `probs` as in [stats::quantile()]) of each pair, as `WGCNA::consensusTOM()` has it;
#' [gpuModules()] takes it from there to consensus modules. With `calibration = "single quantile"` the overlaps of each
#' set but the first are raised to a power before, so that quantile `calibrationQuantile` of a sample of them is that of
#' the first set's; the pairs in the sample are those that WGCNA draws by its default seed, about 20,000 for 0.95. The
#' overlaps of all sets are in memory until they are combined.
#'
#' @inheritParams gpuCor
#' @param x As in [gpuCor()], with the variables (genes) in columns; or a list of these, with `combine`; or a symmetric
#'   sparse network, see Details.
#' @param power A positive number; with a list one for all data sets, or one for each.
#' @param type,TOMType,TOMDenom See Details; `type` is WGCNA's `networkType`. May be abbreviated.
#' @param output `"dist"`, `"matrix"`, or `"network"`: the pairs of large overlap by one of `threshold`, `density` and
#'   `k`, as in [gpuCorNetwork()]. May be abbreviated.
#' @param threshold,density,k With `output = "network"`: a number, see [gpuCorNetwork()]; of the size of the overlap.
#' @param combine With a list: `"min"`, `"mean"` or `"quantile"`.
#' @param probs With `combine = "quantile"`: a number in \[0, 1\].
#' @param calibration,calibrationQuantile With a list: how the data sets' overlaps are scaled before they are combined,
#'   see Details; `calibration` is WGCNA's `networkCalibration`. `"none"`: not at all.
#'   `"single quantile"` takes overlaps without a sign.
#' @param replaceMissingAdjacencies Whether a pair without a coefficient has the adjacency 0.
#'
#' @return `output = "dist"`: an object of class [gpuTOM][gpuCor-class]: the overlap of each pair in the order of
#'   [stats::dist()], with attributes `Size`, `Labels`, `method`, `n_obs`, `power`, `type`, `TOMType`, `TOMDenom` and
#'   `call`; of several data sets also `combine` and `probs`, and where they were scaled `scales`, the power of each.
#'   `1 - tom` is a plain `dist`, ready for [stats::hclust()]; `as.matrix()` and `tom[i, j]` are those of [gpuCor()]'s
#'   results.
#'   `"matrix"`: the N x N matrix, with ones in its diagonal, as WGCNA has it. `"network"`: a symmetric sparse matrix of
#'   class `gpuTOMNetwork`, which is a [gpuCorNetwork-class] with the slot `overlap`, a list of `power`, `type`,
#'   `TOMType` and `TOMDenom`. Of a sparse network: a `dsCMatrix`.
#'
#' @section Errors: as [gpuCor()]. Pairs without a coefficient, see Details. A result that does not fit into the
#'   free memory beside two slabs of adjacencies; `output = "network"` takes less.
#' @references
#' Zhang B, Horvath S (2005). A general framework for weighted gene co-expression network analysis. *Statistical
#' Applications in Genetics and Molecular Biology* 4, 17.
#'
#' Nowick K, Gernat T, Almaas E, Stubbs L (2009). Differences in human and chimpanzee gene expression patterns define an
#' evolving network of transcription factors in brain. *PNAS* 106, 22358-22363.
#'
#' Langfelder P, Horvath S (2008). WGCNA: an R package for weighted correlation network analysis. *BMC
#' Bioinformatics* 9, 559.
#' @seealso [pickPower()], [gpuConnectivity()]
#' @examples
#' x <- as.matrix(mtcars)
#' tom <- gpuTOM(x, power = 3)
#' tom
#' tom["mpg", "wt"]
#' plot(hclust(1 - tom, method = "average"))
#'
#' gpuTOM(x, type = "signed", power = 12, output = "network", density = 0.2)
#' gpuTOM(gpuCorNetwork(x, threshold = 0.6), power = 3)[1:4, 1:4]
#' gpuTOM(list(x[1:16, ], x[17:32, ]), power = c(3, 4), combine = "min",
#'        calibration = "single quantile")
#' @export
gpuTOM <- function(x, power = 6, type = c("unsigned", "signed", "signed hybrid"),
                   TOMType = c("signed", "unsigned", "signed Nowick", "unsigned 2", "signed 2", "signed Nowick 2"),
                   TOMDenom = c("min", "mean"), replaceMissingAdjacencies = FALSE, threshold = NULL, density = NULL,
                   k = NULL, method = c("pearson", "kendall", "spearman", "bicor", "cosine"), use = "everything",
                   combine = NULL, probs = NULL, calibration = c("none", "single quantile"),
                   calibrationQuantile = 0.95, output = c("dist", "matrix", "network"), weights = NULL,
                   weights_are = NULL, covariates = NULL, data = NULL, bandpass = NULL, tr = NULL, df = NULL,
                   options = NULL, assay = NULL, ..., control = gpuControl(...)) {
  check_control(control, missing(control), ...names())
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
    return(overlap_of_network(x, rule, missing(power) && missing(type), new_settings(control)$threads))
  }
  method <- check_method(method)
  call <- sys.call()
  settings <- new_settings(control, mget(ADJUSTMENT), assay = assay)
  if (!is.null(how)) return(consensus_overlap(x, how, rules, method, use, output, settings, call))
  if (output == "network") return(tom_network(x, criterion, rule, method, use, settings, call))
  tom_of_all(x, rule, method, use, output, settings, call)
}

# ---- what is asked for

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

# ---- of data

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
