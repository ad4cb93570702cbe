#' Modules of co-expressed genes, in one call
#'
#' From expression values to modules, by the steps that WGCNA made the field's own: the topological overlap of a
#' weighted network, a tree of average linkage, the dynamic hybrid cut of its branches, and modules of which the
#' eigengenes are alike merged. `gpucor` does what takes time, the correlations and the overlap ([gpuTOM()]); the tree
#' is [fastcluster::hclust()]'s, the cut is `dynamicTreeCut::cutreeDynamic()`'s.
#'
#' The steps, their order and their defaults are those of `WGCNA::blockwiseModules()` with all genes in one block, and
#' so is the result: the same modules, by the same colours.
#'
#' 1. Genes without variance, and those with more than half of their values missing, take no part; with missing values
#'    also samples are left out of which more than half is missing (`WGCNA::goodSamplesGenes()`). They are in no module.
#' 2. `power`: of [pickPower()] if it is not given, see below.
#' 3. `1 - gpuTOM(x, power, type, TOMType, TOMDenom)`; its tree; branches cut off below `detectCutHeight`.
#' 4. A module stays if at least `minCoreKMESize` of its genes have a kME above `minCoreKME`, without its genes with a
#'    kME below `minKMEtoStay`, and if `minModuleSize` genes are left. kME is the correlation with the eigengene, by
#'    `method`; if `type` is `"unsigned"`, its size.
#' 5. A gene moves to the module with whose eigengene it goes better, if the p value of that is lower by a factor of
#'    `reassignThreshold`. A module that this makes too small goes.
#' 6. Modules whose eigengenes have a correlation above `1 - mergeCutHeight`, by average linkage, become one, until
#'    there are none.
#' 7. Modules are numbered by size, from 1, the largest; 0, grey, is no module.
#'
#' A single thing is not as in WGCNA 1.72: there step 5 moves a gene to the wrong module if step 4 has removed a module
#' of a lower number.
#'
#' An eigengene is the first principal component of a module's scaled genes, its sign that of the mean of them:
#' `WGCNA::moduleEigengenes()`. Missing values are imputed from ten neighbours within the module, as there, by
#' `impute.knn()` of package impute.
#'
#' Power: the lowest of 1 to 30 whose scale-free fit has an R^2 above 0.85 and falls. If there is none, that of
#' WGCNA's authors for so many samples, with a warning: 9, 8, 7 or 6 for fewer than 20, 30, 40 and for more; with
#' `type = "signed"` twice as much. `plot()` of the result's `fit` shows the choice.
#'
#' Memory: beside the data, 24 bytes for each pair of genes in both orders, most of them while the tree is cut: 10 GB of
#' 20,000 genes. The tree holds up to 65,536 genes; for more take the most variable ones, or the communities of a
#' network, `gpuTOM(output = "network")`.
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
#' Consensus modules of several data sets with the same genes, `x1` and `x2`, as `blockwiseConsensusModules()` finds
#' them with `networkCalibration = "none"` and without a least kME:
#'
#' ```
#' distance <- 1 - gpuTOM(list(x1, x2), power, TOMType = "signed", combine = "min")
#' tree <- fastcluster::hclust(distance, "average")
#' labels <- dynamicTreeCut::cutreeDynamic(tree, distM = as.matrix(distance), cutHeight = 0.995, deepSplit = 2)
#' WGCNA::mergeCloseModules(list(list(data = x1), list(data = x2)), labels, cutHeight = 0.15, relabel = TRUE)
#' ```
#'
#' @section Experiments:
#' Of a `SummarizedExperiment` the genes are in rows ([gpucor-containers]), and this puts them back there:
#'
#' ```
#' SummarizedExperiment::rowData(se)[c("module", "kME")] <- as.data.frame(gpuModules(se))[c("colour", "kME")]
#' ```
#'
#' @inheritParams gpuCor
#' @param x Expression values, samples in rows and genes in columns: as in [gpuCor()], of one subject. Of an experiment
#'   its genes are taken from its rows.
#' @param power What similarities are raised to; `NULL`: see Details.
#' @param type `"unsigned"`, `"signed"` or `"signed hybrid"`: how a coefficient becomes an adjacency, see
#'   [pickPower()]. WGCNA's `networkType`.
#' @param TOMType,TOMDenom The kind of overlap, and of its denominator, see [gpuTOM()]. `TOMType` is `"signed"`
#'   unless said otherwise, as in `blockwiseModules()`.
#' @param use `"everything"` and `"all.obs"`: missing values are an error. `"pairwise.complete.obs"`: each pair has its
#'   own observations, as in WGCNA.
#' @param deepSplit 0 to 4: how readily branches are split.
#' @param detectCutHeight Where branches are cut off, as a dissimilarity.
#' @param minModuleSize The fewest genes of a module; `NULL`: 20, or half of the genes if these are fewer than 40.
#' @param pamStage,pamRespectsDendro Whether genes that are on no branch go to the nearest module, and whether only to
#'   one that their part of the tree has: see `dynamicTreeCut::cutreeDynamic()`.
#' @param minCoreKME,minCoreKMESize,minKMEtoStay Which modules, and which genes of them, stay. `minCoreKMESize = NULL`:
#'   a third of `minModuleSize`.
#' @param reassignThreshold See step 5; 0: no gene moves.
#' @param mergeCutHeight See step 6.
#' @param cut A named list of further arguments of `dynamicTreeCut::cutreeDynamic()`, such as `maxCoreScatter`.
#' @param ... `threads`, `memory`, `progress`, `devices`: see [gpucor-package]. `assay`: see [gpucor-containers].
#'   Options of a measure: see [gpucor-measures].
#'
#' @return A list of class `gpuModules`:
#' \item{colours, labels}{of each gene its module, as WGCNA's colour (`"grey"`: none) and as a number (0: none)}
#' \item{unmerged}{the colours before step 6}
#' \item{eigengenes}{data frame of a row for each sample and a column for each module, `MEturquoise` and so on;
#'   `MEgrey`, that of the genes in no module, comes last. `NA` for samples that took no part}
#' \item{explained}{the share of its genes' variance that an eigengene explains}
#' \item{kME}{matrix, gene x module: the correlation of each gene with each eigengene, with its sign; `NA` for genes
#'   that took no part}
#' \item{kWithin}{the sum of a gene's adjacencies with the others of its module; `NA` for genes in none}
#' \item{tree}{the tree, of class [stats::hclust], of the genes that took part}
#' \item{genes, samples}{which took part}
#' \item{power, fit}{the power, and what [pickPower()] found, or `NULL`}
#' \item{type, TOMType, TOMDenom, method, use, mergeCutHeight, minModuleSize, deepSplit, n_obs, call}{}
#' For `plot()`, `summary()` and `as.data.frame()` see [gpuModules-methods].
#'
#' @section Errors: as [gpuCor()]. Packages fastcluster, dynamicTreeCut or WGCNA are not installed. Fewer than three
#'   genes with values, missing values where `use` does not allow them, pairs without a coefficient. `weights`,
#'   `covariates` and `bandpass`, which eigengenes do not know of: give residuals.
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
#' }
#' @export
gpuModules <- function(x, power = NULL, type = c("unsigned", "signed", "signed hybrid"),
                       TOMType = c("signed", "unsigned", "signed Nowick", "unsigned 2", "signed 2", "signed Nowick 2"),
                       TOMDenom = c("min", "mean"), use = "everything",
                       method = c("pearson", "kendall", "spearman", "bicor", "cosine"), deepSplit = 2,
                       detectCutHeight = 0.995, minModuleSize = NULL, pamStage = TRUE, pamRespectsDendro = TRUE,
                       minCoreKME = 0.5, minCoreKMESize = NULL, minKMEtoStay = 0.3, reassignThreshold = 1e-6,
                       mergeCutHeight = 0.15, cut = list(), backend = NULL, ...) {
  need_packages(c("fastcluster", "dynamicTreeCut", "WGCNA"), "gpuModules()")
  job <- list(type = check_choice(type, types, "type"),
              TOMType = check_choice(TOMType, eval(formals()$TOMType), "TOMType"),
              TOMDenom = check_choice(TOMDenom, c("min", "mean"), "TOMDenom"), method = check_method(method),
              use = uses[check_use(use)], minCoreKME = check_within(minCoreKME, "minCoreKME", -1, 1),
              minKMEtoStay = check_within(minKMEtoStay, "minKMEtoStay", -1, 1),
              reassignThreshold = check_within(reassignThreshold, "reassignThreshold", 0, 1),
              mergeCutHeight = check_within(mergeCutHeight, "mergeCutHeight", 0, 1), backend = backend)
  job$further <- module_settings(backend, ...)
  data <- module_data(x, job$use, list(...)$assay)
  job[c("x", "genes", "samples")] <- data[c("x", "genes", "samples")]
  if (is.null(minModuleSize)) minModuleSize <- min(20, ncol(job$x) / 2)
  job$minModuleSize <- check_within(minModuleSize, "minModuleSize", 1, Inf)
  if (is.null(minCoreKMESize)) minCoreKMESize <- job$minModuleSize / 3
  job$minCoreKMESize <- check_within(minCoreKMESize, "minCoreKMESize", 0, Inf)
  job$cut <- c(list(deepSplit = deepSplit, cutHeight = detectCutHeight, minClusterSize = job$minModuleSize,
                    pamStage = check_flag(pamStage, "pamStage"),
                    pamRespectsDendro = check_flag(pamRespectsDendro, "pamRespectsDendro")), check_cut(cut))
  job[c("power", "fit")] <- module_power(power, job)
  found <- found_modules(job)
  new_modules(found, job, data, deepSplit, call_of(sys.call()))
}

# ---- arguments

# `what` needs all of the packages.
need_packages <- function(packages, what) {
  there <- vapply(packages, requireNamespace, NA, quietly = TRUE)
  if (all(there)) return(invisible())
  names <- paste0('"', packages[!there], '"')
  fail(what, " takes ", if (sum(!there) > 1L) "packages " else "package ", paste(packages[!there], collapse = " and "),
       ", not installed here: BiocManager::install(", if (length(names) > 1L) "c(", toString(names),
       if (length(names) > 1L) ")", ")")
}

check_within <- function(value, name, least, most) {
  ok <- is.numeric(value) && length(value) == 1L && !is.na(value) && value >= least && value <= most
  if (!ok) {
    range <- if (is.finite(most)) paste(" between", least, "and", most) else paste(" of at least", least)
    fail("'", name, "' must be a number", range, ", not ", show_value(value))
  }
  as.numeric(value)
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

# Of `...`, what every call that computes coefficients is given.
module_settings <- function(backend, ...) {
  given <- list(...)
  refused <- intersect(names(given), DESIGN)
  if (length(refused)) {
    fail("'", refused[1L], "' is not for gpuModules(): eigengenes would not know of it. Give it the residuals, such ",
         "as residuals(lm(x ~ z))")
  }
  if (length(given)) {
    check_names(if (is.null(names(given))) "" else names(given), c(SETTINGS, "assay", option_names()))
  }
  given$assay <- NULL
  c(list(backend = backend), given)
}

# ---- data

# The genes and the samples that take part, x with these only, and the names of all.
module_data <- function(x, use, assay) {
  check_has_assay(x, NULL, assay)
  x <- check_variables(x, "x", assay)
  check_matrix_like(x, "a gene in each column")
  if (!use %in% c("everything", "all.obs", "pairwise.complete.obs")) {
    fail("'use' is \"", use, "\", which gpuModules() does not take; leave incomplete samples out yourself, ",
         "x[complete.cases(x), ], or use = \"pairwise.complete.obs\"")
  }
  good <- taking_part(x, use)
  if (sum(good$genes) < 3L) {
    fail("'x' must have at least 3 genes whose values are there and differ, not ", sum(good$genes))
  }
  all <- list(genes = colnames(x), samples = rownames(x))
  if (!all(good$genes)) x <- pick_named(x, which(good$genes))
  if (!all(good$samples)) x <- x[good$samples, , drop = FALSE]
  c(list(x = x, names = all), good)
}

taking_part <- function(x, use) {
  if (has_missing(x)) {
    if (use != "pairwise.complete.obs") {
      fail("'x' has missing values; use = \"pairwise.complete.obs\" leaves them out pair by pair, as WGCNA does")
    }
    good <- WGCNA::goodSamplesGenes(as.matrix(x), verbose = 0)
    return(list(genes = good$goodGenes, samples = good$goodSamples))
  }
  size <- max(unlist(column_blocks(x, function(values) max(abs(values), 0))))
  spread <- unlist(column_blocks(x, function(values) {
    colSums(sweep(values, 2L, colMeans(values))^2) / (nrow(values) - 1)
  }))
  list(genes = spread > (1e-10 * size)^2 & !is.na(spread), samples = rep(TRUE, nrow(x)))
}

pick_named <- function(x, columns) {
  values <- pick_columns(x, columns)
  if (is.null(colnames(values)) && !is.null(colnames(x))) colnames(values) <- colnames(x)[columns]
  values
}

# ---- the power

FIT_POWERS <- 1:30

# list(power, fit).
module_power <- function(power, job) {
  if (!is.null(power)) return(list(power = check_within(power, "power", 1, 30), fit = NULL))
  fit <- with_settings(pickPower, list(job$x, FIT_POWERS, type = job$type, method = job$method, use = job$use), job)
  table <- fit$fitIndices
  fits <- which(table$SFT.R.sq > attr(fit, "r_squared") & table$slope < 0)
  if (length(fits)) return(list(power = table$Power[fits[1L]], fit = fit))
  power <- usual_power(nrow(job$x), job$type)
  warning("no power makes a network that is about scale-free; ", power, " is taken, which is usual for ",
          format_count(nrow(job$x)), " samples. Look at pickPower(), and give 'power'", call. = FALSE)
  list(power = power, fit = fit)
}

# By WGCNA's authors, in the answers to frequent questions.
usual_power <- function(n_obs, type) {
  (9 - findInterval(n_obs, c(20, 30, 40.5))) * if (type == "signed") 2 else 1
}

# Of sparse data it has been told that they are.
with_settings <- function(f, arguments, job) suppressMessages(do.call(f, c(arguments, job$further), quote = TRUE))
