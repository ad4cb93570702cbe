#' Modules of co-expressed genes, in one call
#'
#' `gpuModules()` returns the modules of `WGCNA::blockwiseModules()` with all genes in one block. `gpucor` computes the
#' correlations and the topological overlap ([gpuTOM()]); packages fastcluster and dynamicTreeCut make and cut the tree.
#'
#' The steps, their order and their defaults are those of WGCNA:
#'
#' 1. Genes without variance and genes with more than half of their values missing are dropped, and so are samples with
#'    more than half of their values missing (`WGCNA::goodSamplesGenes()`). Dropped genes are in no module.
#' 2. If `power` is not given, [pickPower()] chooses it, see below.
#' 3. A tree is made of `1 - gpuTOM(x, power, type, TOMType, TOMDenom)` and cut below `detectCutHeight`.
#' 4. Modules need at least `minCoreKMESize` genes with kME above `minCoreKME`. Genes with kME below `minKMEtoStay` are
#'    removed; modules left with fewer than `minModuleSize` genes are dropped. kME is the correlation with the
#'    eigengene by `method`, or its absolute value if `type` is `"unsigned"`.
#' 5. A gene is reassigned to the module whose eigengene it correlates with more strongly, if the p value is lower by a
#'    factor of `reassignThreshold`. Modules that become too small are dissolved.
#' 6. Modules whose eigengenes correlate above `1 - mergeCutHeight`, by average linkage, are merged, repeatedly.
#' 7. Modules are numbered by size from 1, the largest; 0 (grey) is no module.
#'
#' One difference: in WGCNA 1.72 step 5 moves a gene to the wrong module if step 4 has removed a module with a lower
#' number.
#'
#' An eigengene is the first principal component of a module's scaled genes, with the sign of their mean. Missing values
#' are imputed from ten neighbors within the module by `impute::impute.knn()`, as in `WGCNA::moduleEigengenes()`.
#'
#' Power: the lowest of 1 to 30 whose scale-free fit has R^2 above 0.85 and a negative slope. If there is none, the
#' recommendation of WGCNA's authors is used, with a warning: 9, 8, 7 or 6 for fewer than 20, 30, 40 or for more
#' samples, and twice as much with `type = "signed"`.
#'
#' Memory: about 24 n^2 bytes for n genes beside the data (10 GB for 20,000 genes), most of it while the tree is cut.
#' The limit is 65,536 genes; for more, use the most variable ones or `gpuTOM(output = "network")`.
#'
#' @section With WGCNA:
#' [as_blockwiseModules()] makes the list that `blockwiseModules()` returns. Of the result `colours` go wherever WGCNA
#' takes `colors`, and `eigengenes` where it takes `MEs`. Whether modules are preserved in other data, `test`, with the
#' same genes as `x` (WGCNA's functions want it attached):
#'
#' ```
#' library(WGCNA)
#' modulePreservation(list(here = list(data = x), there = list(data = test)),
#'                    list(here = modules$colours), networkType = modules$type)
#' ```
#'
#' @section Several data sets:
#' Consensus modules are present in each of several data sets with the same genes, such as cohorts or tissues. `x` is a
#' list of data sets, and `combine` says how their overlaps are combined, see [gpuTOM()]. The result is that of
#' `WGCNA::blockwiseConsensusModules()` with all genes in one block:
#'
#' * Genes dropped from one set are dropped from all (`WGCNA::goodSamplesGenesMS()`).
#' * `power` is one number for all sets or one for each; by default, [pickPower()] chooses one for each set.
#' * `TOMType` is `"unsigned"` by default, and overlaps are scaled before they are combined (`calibration`).
#' * Step 4 uses a gene's smallest kME over the sets (quantile `probs` with `combine = "quantile"`), and `minKMEtoStay`
#'   is 0.2. There is no step 5: WGCNA 1.72 compares lower tails of p values there, so that no gene moves.
#' * Step 6 is `WGCNA::mergeCloseModules()` with the smallest Pearson correlation over the sets (or quantile `probs`).
#'
#' @section Experiments:
#' In a `SummarizedExperiment` genes are in rows ([gpucor-containers]). This stores the modules there:
#'
#' ```
#' SummarizedExperiment::rowData(se)[c("module", "kME")] <- as.data.frame(gpuModules(se))[c("colour", "kME")]
#' ```
#'
#' @inheritParams gpuCor
#' @param x Expression values, samples in rows and genes in columns: as in [gpuCor()], of one subject. Of an experiment
#'   its genes are taken from its rows. Or a list of several data sets with the same genes, with `combine`: see section
#'   Several data sets.
#' @param power What similarities are raised to; `NULL`: see Details. Of several data sets one for all or one for each.
#' @param type `"unsigned"`, `"signed"` or `"signed hybrid"`: how a coefficient becomes an adjacency, see
#'   [pickPower()]. WGCNA's `networkType`.
#' @param TOMType,TOMDenom The kind of overlap, and of its denominator, see [gpuTOM()]. `TOMType` is `"signed"`
#'   unless said otherwise, as in `blockwiseModules()`; for several data sets `"unsigned"`, as in
#'   `blockwiseConsensusModules()`.
#' @param use `"everything"` and `"all.obs"`: missing values are an error. `"pairwise.complete.obs"`: each pair has its
#'   own observations, as in WGCNA.
#' @param deepSplit An integer, 0 to 4: how readily branches are split.
#' @param detectCutHeight A number: the dissimilarity at which branches are cut.
#' @param minModuleSize An integer: the minimum number of genes in a module; `NULL`: 20, or
#'   half of the genes if these are fewer than 40.
#' @param pamStage,pamRespectsDendro Whether genes that are on no branch go to the nearest module, and whether only to
#'   one that their part of the tree has: see `dynamicTreeCut::cutreeDynamic()`.
#' @param minCoreKME,minCoreKMESize,minKMEtoStay Which modules, and which genes of them, stay. `minCoreKMESize = NULL`:
#'   a third of `minModuleSize`; `minKMEtoStay = NULL`: 0.3, or 0.2 of several data sets.
#' @param reassignThreshold See step 5; 0: no gene moves. `NULL`: 1e-6.
#' @param mergeCutHeight See step 6.
#' @param cut A named list of further arguments of `dynamicTreeCut::cutreeDynamic()`, such as `maxCoreScatter`.
#' @param combine,probs,calibration,calibrationQuantile Of several data sets: see the section of that name, and
#'   [gpuTOM()].
#'
#' @return A list of class `gpuModules`:
#' \item{colours, labels}{of each gene its module, as WGCNA's colour (`"grey"`: none) and as a number (0: none);
#'   WGCNA's `$colors` is called `$colours` here, and its `$MEs` `$eigengenes`}
#' \item{unmerged}{the colours before step 6}
#' \item{eigengenes}{data frame of a row for each sample and a column for each module, `MEturquoise` and so on;
#'   `MEgrey`, that of the genes in no module, comes last. `NA` for samples that took no part}
#' \item{explained}{the fraction of its genes' variance that an eigengene explains}
#' \item{kME}{matrix, gene x module: the correlation of each gene with each eigengene, with its sign; `NA` for genes
#'   that took no part}
#' \item{kWithin}{the sum of a gene's adjacencies with the others of its module; `NA` for genes in none}
#' \item{tree}{the tree, of class [stats::hclust], of the genes that took part}
#' \item{genes, samples}{which took part}
#' \item{power, fit}{the power, and what [pickPower()] found, or `NULL`}
#' \item{type, TOMType, ...}{the arguments, as they were used, by their names}
#' \item{n_obs, call}{how many samples took part; the call}
#'
#' Of several data sets it is of class `c("gpuConsensusModules", "gpuModules")`: `eigengenes`, `explained`, `kME`,
#' `kWithin`, `samples` and `fit` are lists with an element for each set, by its name (`set1`, `set2` if the list has
#' none), `power` and `n_obs` have a number for each; and there are `combine`, `probs`, `calibration`,
#' `calibrationQuantile`, and `scales`, the powers by which the overlaps were scaled.
#'
#' For `plot()`, `summary()` and `as.data.frame()` see [gpuModules-methods].
#'
#' @section Errors: as [gpuCor()]. Packages fastcluster, dynamicTreeCut or WGCNA are not installed. Fewer than three
#'   genes with values, missing values where `use` does not allow them, pairs without a coefficient. More genes than the
#'   free memory has room for (see Memory above). `weights`, `covariates` and `bandpass`, which eigengenes do not know
#'   of: give residuals.
#'
#' @references
#' Langfelder P, Horvath S (2008). WGCNA: an R package for weighted correlation network analysis. *BMC Bioinformatics*
#' 9, 559.
#'
#' Langfelder P, Zhang B, Horvath S (2008). Defining clusters from a hierarchical cluster tree: the Dynamic Tree Cut
#' package for R. *Bioinformatics* 24, 719-720.
#'
#' Müllner D (2013). fastcluster: fast hierarchical, agglomerative clustering routines for R and Python. *Journal of
#' Statistical Software* 53(9).
#' @seealso [gpuTOM()], [pickPower()], [gpuAssociation()] for eigengenes and traits
#' @examples
#' if (requireNamespace("WGCNA", quietly = TRUE)) {
#'   # 200 genes, each of which follows one of four factors more or less, and 40 that follow none
#'   set.seed(1)
#'   factors <- cbind(matrix(rnorm(50 * 4), 50), 0)
#'   x <- matrix(rnorm(50 * 240), 50) + factors[, rep(1:5, c(80, 60, 40, 20, 40))] * 2
#'   colnames(x) <- paste0("gene", 1:240)
#'   modules <- gpuModules(x, power = 6)
#'   print(modules)
#'   print(head(as.data.frame(modules)))
#'   plot(modules)
#'
#'   # modules of two data sets with the same genes
#'   sets <- list(first = x[1:25, ], second = x[26:50, ])
#'   consensus <- gpuModules(sets, power = 6, combine = "min")
#'   print(consensus)
#'   table(consensus = consensus$labels, all = modules$labels)
#' }
#' @export
gpuModules <- function(x, power = NULL, type = c("unsigned", "signed", "signed hybrid"),
                       TOMType = c("signed", "unsigned", "signed Nowick", "unsigned 2", "signed 2", "signed Nowick 2"),
                       TOMDenom = c("min", "mean"), method = c("pearson", "kendall", "spearman", "bicor", "cosine"),
                       use = "everything", combine = NULL, probs = NULL,
                       calibration = c("single quantile", "none"), calibrationQuantile = 0.95, deepSplit = 2,
                       detectCutHeight = 0.995, minModuleSize = NULL, pamStage = TRUE, pamRespectsDendro = TRUE,
                       minCoreKME = 0.5, minCoreKMESize = NULL, minKMEtoStay = NULL, reassignThreshold = NULL,
                       mergeCutHeight = 0.15, cut = list(), options = NULL, assay = NULL, ...,
                       control = gpuControl(...)) {
  check_control(control, missing(control), ...names())
  need_packages(c("fastcluster", "dynamicTreeCut", "WGCNA"), "gpuModules()")
  several <- module_sets(x, list(combine = combine, probs = probs, calibrationQuantile = calibrationQuantile,
                                 calibration = check_choice(calibration, rev(calibrations), "calibration")))
  if (!is.null(several$consensus) && missing(TOMType)) TOMType <- "unsigned"
  job <- list(type = check_choice(type, types, "type"),
              TOMType = check_choice(TOMType, eval(formals()$TOMType), "TOMType"),
              TOMDenom = check_choice(TOMDenom, c("min", "mean"), "TOMDenom"), method = check_method(method),
              use = uses[check_use(use)], minCoreKME = check_within(minCoreKME, "minCoreKME", -1, 1),
              mergeCutHeight = check_within(mergeCutHeight, "mergeCutHeight", 0, 1),
              further = list(options = options, control = control))
  job[c("minKMEtoStay", "reassignThreshold")] <- check_members(minKMEtoStay, reassignThreshold, several$consensus)
  data <- module_data(several$sets, job$use, assay)
  job$genes <- data$genes
  n_genes <- sum(data$genes)
  check_module_memory(n_genes)
  if (is.null(minModuleSize)) minModuleSize <- min(20, n_genes / 2)
  job$minModuleSize <- check_within(minModuleSize, "minModuleSize", 1, Inf)
  if (is.null(minCoreKMESize)) minCoreKMESize <- job$minModuleSize / 3
  job$minCoreKMESize <- check_within(minCoreKMESize, "minCoreKMESize", 0, Inf)
  if (is.logical(deepSplit)) deepSplit <- as.numeric(deepSplit) # as cutreeDynamic() takes it
  job$cut <- c(list(deepSplit = check_within(deepSplit, "deepSplit", 0, 4), cutHeight = detectCutHeight,
                    minClusterSize = job$minModuleSize, pamStage = check_flag(pamStage, "pamStage"),
                    pamRespectsDendro = check_flag(pamRespectsDendro, "pamRespectsDendro")), check_cut(cut))
  sets <- sets_with_powers(lapply(data$sets, function(set) c(job, set)), power)
  job <- if (is.null(several$consensus)) sets[[1L]] else consensus_job(job, sets, several)
  found <- found_modules(job)
  all <- colours_of_genes(found, job, data$names)
  own <- lapply(sets_of(job), own_modules, found$colours, all$order, all$colours)
  new_modules(found, job, all, own, sys.call())
}

# The dissimilarities as a dist and as a matrix, and what cutreeDynamic() makes of the matrix, as measured.
check_module_memory <- function(n_genes) {
  check_memory(23 * as.numeric(n_genes)^2, "gpuModules()", n_of(n_genes, "gene"),
               "take fewer genes, such as those that vary most")
}

# ---- arguments

# With several data sets step 4 has another default, and there is no step 5.
check_members <- function(minKMEtoStay, reassignThreshold, consensus) {
  several <- !is.null(consensus)
  if (several && !is.null(reassignThreshold) && !identical(as.numeric(reassignThreshold), 0)) {
    fail("'reassignThreshold' is of one data set; with 'combine' no gene moves to another module. Leave it out")
  }
  if (is.null(minKMEtoStay)) minKMEtoStay <- if (several) 0.2 else 0.3
  if (is.null(reassignThreshold)) reassignThreshold <- if (several) 0 else 1e-6
  list(check_within(minKMEtoStay, "minKMEtoStay", -1, 1), check_within(reassignThreshold, "reassignThreshold", 0, 1))
}

check_cut <- function(cut) {
  known <- setdiff(names(formals(dynamicTreeCut::cutreeDynamic)),
                   c("dendro", "distM", "cutHeight", "minClusterSize", "method", "deepSplit", "pamStage",
                     "pamRespectsDendro", "indent"))
  if (!is.list(cut) || (length(cut) && is.null(names(cut)))) {
    fail("'cut' must be a named list of arguments of cutreeDynamic(), not ", show_value(cut))
  }
  unknown <- setdiff(names(cut), known)
  if (length(unknown)) fail("'cut' has \"", unknown[1L], "\"; it may have ", toString(known))
  cut
}

# ---- data

# sets: a list of data. list(sets: of each x, with the genes and samples that take part only, these samples, and the
# names of all; genes: that take part; names: of all).
module_data <- function(sets, use, assay) {
  several <- !is.null(names(sets))
  sets <- if (several) Map(genes_of_set, sets, seq_along(sets), list(assay)) else lapply(sets, genes_of, assay)
  if (!use %in% c("everything", "all.obs", "pairwise.complete.obs")) {
    fail("'use' is \"", use, "\", which gpuModules() does not take; leave incomplete samples out yourself, ",
         "x[complete.cases(x), ], or use = \"pairwise.complete.obs\"")
  }
  check_same_variables(sets)
  good <- taking_part(sets, use)
  if (sum(good$genes) < 3L) {
    fail("'x' must have at least 3 genes whose values are there and differ, not ", sum(good$genes))
  }
  list(sets = Map(data_set, sets, good$samples, list(good$genes)), genes = good$genes, names = colnames(sets[[1L]]))
}

genes_of <- function(x, assay) {
  check_has_assay(x, NULL, assay)
  given <- x
  x <- check_variables(x, "x", assay)
  check_matrix_like(x, "a gene in each column")
  warn_transposed(given)
  x
}

# An error says of which data set it is.
genes_of_set <- function(x, number, assay) {
  tryCatch(genes_of(x, assay), error = function(e) fail("data set ", number, ": ", conditionMessage(e)))
}

data_set <- function(x, samples, genes) {
  names <- rownames(x)
  if (!all(genes)) x <- pick_named(x, which(genes))
  if (!all(samples)) x <- x[samples, , drop = FALSE]
  list(x = x, samples = samples, sample_names = names)
}

# list(genes, samples: a list).
taking_part <- function(sets, use) {
  if (any(vapply(sets, has_missing, NA))) {
    if (use != "pairwise.complete.obs") {
      fail("'x' has missing values; use = \"pairwise.complete.obs\" leaves them out pair by pair, as WGCNA does")
    }
    sets <- lapply(sets, as.matrix)
    for (x in sets) if (any(is.infinite(x))) fail_infinite(x)
    good <- if (length(sets) == 1L) {
      WGCNA::goodSamplesGenes(sets[[1L]], verbose = 0)
    } else {
      WGCNA::goodSamplesGenesMS(lapply(sets, function(x) list(data = x)), verbose = 0)
    }
    return(list(genes = good$goodGenes, samples = if (length(sets) == 1L) list(good$goodSamples) else good$goodSamples))
  }
  list(genes = Reduce(`&`, lapply(sets, differing)), samples = lapply(sets, function(x) rep(TRUE, nrow(x))))
}

# Eigengenes take finite values, whatever the measure.
fail_infinite <- function(x) {
  bad <- which(unlist(column_blocks(x, function(values) colSums(is.infinite(values)) > 0)))
  fail("'x' has infinite values, in ", column_names(bad, colnames(x)), "; ", INFINITE_WAY_OUT, ". Or leave out genes, ",
       "x[, colSums(is.infinite(x)) == 0]")
}

# Which columns have a variance, by WGCNA's measure.
differing <- function(x) {
  size <- max(unlist(column_blocks(x, function(values) max(abs(values), 0))))
  if (is.infinite(size)) fail_infinite(x)
  spread <- unlist(column_blocks(x, function(values) {
    colSums(sweep(values, 2L, colMeans(values))^2) / (nrow(values) - 1)
  }))
  spread > (1e-10 * size)^2 & !is.na(spread)
}

pick_named <- function(x, columns) {
  values <- pick_columns(x, columns)
  if (is.null(colnames(values)) && !is.null(colnames(x))) colnames(values) <- colnames(x)[columns]
  values
}

# ---- the power
# ---- modules of a data set

# What modules are in a data set. own: colours of the genes that take part; order: that of the modules; all: the colour
# of every gene, by its name.
own_modules <- function(set, own, order, all) {
  found <- eigengenes_of(own, c(order, if (any(own == "grey")) "grey"), set)
  list(eigengenes = eigengene_frame(found$values, set), explained = found$explained,
       kME = all_kme(found$values[, order, drop = FALSE], set, names(all)), kWithin = within_modules(all, set))
}

# A row for each sample, also for those that took no part.
eigengene_frame <- function(values, set) {
  all <- matrix(NA_real_, length(set$samples), ncol(values))
  all[set$samples, ] <- values
  rows <- if (is.null(set$sample_names)) NULL else make.unique(set$sample_names)
  as.data.frame(structure(all, dimnames = list(rows, paste0("ME", colnames(values), recycle0 = TRUE))))
}

all_kme <- function(eigengenes, job, genes) {
  kme <- matrix(NA_real_, length(job$genes), ncol(eigengenes), dimnames = list(genes, colnames(eigengenes)))
  if (!ncol(eigengenes)) return(kme)
  blocks <- lapply(block_columns(job$x), kme_of, eigengenes = eigengenes, job = job)
  kme[job$genes, ] <- do.call(rbind, blocks)
  kme
}

within_modules <- function(colours, job) {
  sums <- rep(NA_real_, length(colours))
  names(sums) <- names(colours)
  label <- unname(colours[job$genes])
  label[label == "grey"] <- NA
  if (all(is.na(label))) return(sums)
  pairs <- new_pairs("same", traits_of_labels(label, NULL))
  soft <- suppressWarnings(with_settings(gpuConnectivity, list(job$x, power = job$power, type = job$type, use = job$use,
                                                               method = job$method, pairs = pairs), job)$soft)
  sums[job$genes] <- ifelse(is.na(label), NA, soft[, 1L])
  sums
}
