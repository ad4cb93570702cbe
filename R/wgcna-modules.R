#' Modules of co-expressed genes, in one call
#'
#' `gpuModules()` finds modules of co-expressed genes: those of `WGCNA::blockwiseModules()` with all genes in one block.
#' gpucor computes the correlations, the topological overlap ([gpuTOM()]) and its tree ([gpuHclust()]), and cuts the
#' tree as `dynamicTreeCut::cutreeDynamic()` does. Package WGCNA must be installed.
#'
#' The steps, their order and their defaults are those of WGCNA:
#'
#' 1. Genes without variance, and genes and samples with more than half of their values missing, are dropped
#'    (`WGCNA::goodSamplesGenes()`). Dropped genes are in no module.
#' 2. If `power` is not given, [pickPower()] chooses it, see below.
#' 3. A tree is made of `1 - gpuTOM(x, power, type, TOMType, TOMDenom)` and cut below `detectCutHeight`.
#' 4. Modules need at least `minCoreKMESize` genes with kME above `minCoreKME`. Genes with kME below `minKMEtoStay` are
#'    removed; modules left with fewer than `minModuleSize` genes are dropped. kME is the correlation with the eigengene
#'    by `method`, or its absolute value if `type` is `"unsigned"`.
#' 5. A gene is reassigned to the module whose eigengene it correlates with more strongly, if the p value is lower by a
#'    factor of `reassignThreshold`. Modules that become too small are dissolved. (WGCNA 1.72 reassigns to a wrong
#'    module if step 4 has removed a module with a lower number.)
#' 6. Modules whose eigengenes correlate above `1 - mergeCutHeight`, by average linkage, are merged, repeatedly.
#' 7. Modules are numbered by size from 1, the largest; 0 (grey) is no module.
#'
#' An eigengene is the first principal component of a module's scaled genes, with the sign of their mean. Missing values
#' are imputed from ten neighbors within the module by `impute::impute.knn()`, as in WGCNA.
#'
#' **Power.** The lowest of 1 to 30 whose scale-free fit has R^2 above 0.85 and a negative slope. If there is none, the
#' recommendation of WGCNA's authors is used, with a warning: 9, 8, 7 or 6 for fewer than 20, 30, 40 or for more
#' samples, and twice as much with `type = "signed"`.
#'
#' **Covariates.** With `covariates` the genes are first replaced by their residuals, as by
#' `gpuModules(residuals(lm(x ~ factor(batch))))`. Everything in the result, eigengenes included, is that of these
#' adjusted values. A sample without a covariate is dropped, which needs `use = "pairwise.complete.obs"`. Tests of
#' eigengenes need the same covariates, as residuals have fewer degrees of freedom than values:
#' `gpuAssociation(modules, traits)` has them.
#'
#' **Memory.** About 6 n^2 bytes for n genes beside the data (2.4 GB for 20,000 genes). The limit is 65,536 genes; for
#' more, use the most variable ones or `gpuTOM(output = "network")`.
#'
#' **Stability.** `stability = 50` draws 50 resamples, each a `fraction` of the samples without replacement, and finds
#' the modules of each, with the same power and settings. Modules of a resample are matched with those of all samples
#' one to one: first the two that share most genes, then the two of the others that do, and so on. A gene's stability is
#' the fraction of the resamples in which it is in the module matched with its own; a module that is split or merged
#' with a larger one loses genes. Each resample takes as long as the modules of all samples. [set.seed()] makes them
#' reproducible. Of several data sets, each resample has a fraction of the samples of each set.
#'
#' **Enrichment.** Compare the genes of a module with all genes that could have been in it,
#' `fgsea::fora(pathways, modules$members$turquoise, names(modules$labels)[modules$genes])`, as in
#' `vignette("coexpression", "gpucor")`.
#'
#' @section Several data sets:
#' Consensus modules are present in each of several data sets with the same genes, such as cohorts or tissues. `x` is a
#' list of data sets, and `combine` says how their overlaps are combined, see [gpuTOM()]. The result is that of
#' `WGCNA::blockwiseConsensusModules()` with all genes in one block:
#'
#' * Genes dropped from one set are dropped from all (`WGCNA::goodSamplesGenesMS()`).
#' * By default [pickPower()] chooses a power for each set.
#' * `TOMType` is `"unsigned"` by default, and overlaps are scaled before they are combined (`calibration`).
#' * Step 4 uses a gene's smallest kME over the sets (quantile `probs` with `combine = "quantile"`), and `minKMEtoStay`
#'   is 0.2. There is no step 5, as in WGCNA 1.72, where no gene is reassigned.
#' * Step 6 is `WGCNA::mergeCloseModules()` with the smallest Pearson correlation over the sets (or quantile `probs`).
#'
#' @param x Expression values, samples in rows and genes in columns, as in [gpuCor()] for one subject; an experiment
#'   ([gpucor-containers]); or a list of several data sets, with `combine`.
#' @param power A positive number, or `NULL`, see Details. For several data sets one for all or one for each.
#' @param type A string: `"unsigned"`, `"signed"` or `"signed hybrid"`, see [pickPower()]. WGCNA's `networkType`.
#' @param TOMType,TOMDenom Strings: the kind of overlap, by default `"signed"`, and its denominator, see [gpuTOM()].
#' @param method,use As in [gpuCor()]; `use` is `"everything"` or `"all.obs"`, missing values are an error, or WGCNA's
#'   `"pairwise.complete.obs"`.
#' @param deepSplit,detectCutHeight,cut An integer, 0 to 4: how readily branches are split; the dissimilarity at which
#'   they are cut; and a named list of further arguments of `dynamicTreeCut::cutreeDynamic()`, such as `minGap`.
#' @param minModuleSize An integer: the minimum number of genes in a module; `NULL`: 20, or half of the genes if fewer.
#' @param minCoreKME,minCoreKMESize,minKMEtoStay,reassignThreshold,mergeCutHeight Numbers, see steps 4 to 6.
#'   `minCoreKMESize = NULL`: a third of `minModuleSize`; `minKMEtoStay = NULL`: 0.3, or 0.2 for several data sets;
#'   `reassignThreshold`: 0, no gene is reassigned; `NULL`, 1e-6.
#' @param stability,fraction The number of resamples for the stability of modules, 0 for none; and the fraction of the
#'   samples in a resample, a number between 0 and 1.
#' @param combine,probs,calibration,calibrationQuantile For several data sets: see [gpuTOM()].
#' @param ...,adjustment,control `r offered_words("gpuModules")`
#'   Also `pamStage` and `pamRespectsDendro` of `dynamicTreeCut::cutreeDynamic()`, `TRUE` by default. `covariates` is a
#'   list with an element for each of several data sets.
#'
#' @return A list of class `gpuModules`:
#' \item{colors, labels}{the module of each gene, as WGCNA's color (`"grey"`: none) and as a number (0: none)}
#' \item{unmerged}{the colors before step 6}
#' \item{eigengenes}{a data frame with a row for each sample and a column for each module, such as `MEturquoise`; the
#'   last one, `MEgrey`, is that of the genes in no module. `NA` for dropped samples}
#' \item{explained}{the fraction of its genes' variance that an eigengene explains}
#' \item{kME}{matrix, gene x module: the correlation of each gene with each eigengene; `NA` for dropped genes}
#' \item{kWithin}{the sum of a gene's adjacencies with the others of its module; `NA` for genes in none}
#' \item{loadings}{matrix, gene x `center`, `scale` and `weight`: an eigengene is the sum of
#'   `weight * (x - center) / scale` over its genes, see [predict()][predict.gpuModules]; `NA` for dropped genes}
#' \item{members}{a list with the names of the genes of each module, such as `$turquoise`, by decreasing kME (its
#'   absolute value if `type` is `"unsigned"`; for several data sets the smallest one)}
#' \item{tree}{the tree of the genes that were not dropped, of class [stats::hclust]}
#' \item{stability}{with `stability`: each gene's, `NA` for genes in no module}
#' \item{genes, samples}{logical vectors: which were not dropped}
#' \item{power, fit}{the power, and the result of [pickPower()], or `NULL`}
#' \item{covariates, n_obs, ..., call}{covariates as a numeric matrix; the number of samples; the arguments; the call}
#'
#' For several data sets the class is `c("gpuConsensusModules", "gpuModules")`: `eigengenes`, `explained`, `kME`,
#' `kWithin`, `loadings`, `samples` and `fit` are lists with an element for each set (`set1`, `set2` if the list has no
#' names), `power` and `n_obs` have a number for each, and there are `combine`, `probs`, `calibration`,
#' `calibrationQuantile` and `scales`, the powers that scaled the overlaps.
#'
#' For `plot()`, `summary()`, `as.data.frame()` and WGCNA's list see [gpuModules-methods].
#' [predict()][predict.gpuModules] gives new samples their eigengenes, and [gpuPreservation()] tests whether modules are
#' preserved in other data.
#'
#' @references
#' Langfelder P, Horvath S (2008). *BMC Bioinformatics* 9, 559.
#'
#' @examples
#' if (requireNamespace("WGCNA", quietly = TRUE)) {
#'   # 200 genes, each of which follows one of four factors, and 40 that follow none
#'   set.seed(1)
#'   factors <- cbind(matrix(rnorm(50 * 4), 50), 0)
#'   x <- matrix(rnorm(50 * 240), 50) + factors[, rep(1:5, c(80, 60, 40, 20, 40))] * 2
#'   modules <- gpuModules(x, power = 6)
#'   print(head(as.data.frame(modules)))
#'   plot(modules)
#'   sets <- list(first = x[1:25, ], second = x[26:50, ])
#'   gpuModules(sets, power = 6, combine = "min")
#' }
#' @export
gpuModules <- function(x, power = NULL, type = c("unsigned", "signed", "signed hybrid"),
                       TOMType = c("signed", "unsigned", "unsigned 2", "signed 2"),
                       TOMDenom = c("min", "mean"), method = "pearson", use = "everything", combine = NULL,
                       probs = NULL, calibration = c("single quantile", "none"), calibrationQuantile = 0.95,
                       deepSplit = 2, detectCutHeight = 0.995, minModuleSize = NULL, minCoreKME = 0.5,
                       minCoreKMESize = NULL, minKMEtoStay = NULL, reassignThreshold = NULL, mergeCutHeight = 0.15,
                       cut = list(), stability = 0, fraction = 0.63, ..., adjustment = NULL, control = NULL) {
  frame <- environment()
  divided <- (function(pamStage = TRUE, pamRespectsDendro = TRUE, ...) {
    list(cut = list(pamStage = check_flag(pamStage, "pamStage"),
                    pamRespectsDendro = check_flag(pamRespectsDendro, "pamRespectsDendro")),
         specs = specs_of("gpuModules", ..., frame = frame))
  })(...)
  specs <- divided$specs
  stability <- check_whole(stability, "stability", 0, 1e6)
  features_of("gpuModules", specs, environment())
  need_packages("WGCNA", "gpuModules()")
  choice <- function(name) check_choice(get(name), eval(formals(gpuModules)[[name]]), name)
  calibration <- choice("calibration")
  consensus <- check_consensus(x, combine, probs, if (is_subjects(x)) calibration else "none", calibrationQuantile)
  several <- !is.null(consensus)
  if (several && missing(TOMType)) TOMType <- "unsigned"
  network <- list(type = choice("type"), TOMType = choice("TOMType"), TOMDenom = choice("TOMDenom"),
                  method = check_method(method), use = check_choice(use, MODULE_USES, "use", OTHER_USES))
  if (network$method == "given") refuse_given()

  data <- module_data(x, several, network$use, specs)
  n_genes <- sum(data$genes)
  if (is.null(minModuleSize)) minModuleSize <- min(20, n_genes / 2)
  minModuleSize <- check_within(minModuleSize, "minModuleSize", 1, Inf)
  if (is.null(minCoreKMESize)) minCoreKMESize <- minModuleSize / 3
  if (is.null(minKMEtoStay)) minKMEtoStay <- if (several) 0.2 else 0.3
  if (is.null(reassignThreshold)) reassignThreshold <- if (several) 0 else 1e-6
  check_that(reassignThreshold, "reassignThreshold", !several || identical(as.numeric(reassignThreshold), 0),
             "0 with 'combine', where no gene moves to another module")
  if (is.logical(deepSplit)) deepSplit <- as.numeric(deepSplit) # cutreeDynamic() also accepts logical values
  if (!is.null(detectCutHeight)) detectCutHeight <- check_within(detectCutHeight, "detectCutHeight", 0, Inf)
  own <- c(list(deepSplit = check_within(deepSplit, "deepSplit", 0, 4), cutHeight = detectCutHeight,
                minClusterSize = minModuleSize), divided$cut)
  known <- c(ENGINE_CUT, OTHER_CUT)
  ok <- is.list(cut) && length(cut) == length(names(cut)) && all(names(cut) %in% known)
  check_that(cut, "cut", ok, paste("a named list of some of", toString(known)))
  rules <- list(mergeCutHeight = check_within(mergeCutHeight, "mergeCutHeight", 0, 1), minModuleSize = minModuleSize,
                minCoreKME = check_within(minCoreKME, "minCoreKME", -1, 1),
                minCoreKMESize = check_within(minCoreKMESize, "minCoreKMESize", 0, Inf),
                minKMEtoStay = check_within(minKMEtoStay, "minKMEtoStay", -1, 1),
                reassignThreshold = check_within(reassignThreshold, "reassignThreshold", 0, 1))
  drawn <- if (stability > 0) lapply(data$sets, function(set) {
    draw_units(seq_len(nrow(set$x)), stability, fraction, MIN_RESAMPLE, "sample")
  })

  # What was asked for: checked arguments by their names; `consensus`: those that combine data sets, or NULL; `cut`:
  # those of cutreeDynamic(); `further`: those of every function of this package that is called; `device`: what these
  # and options say of the device.
  specs$control[c("assay", "pseudobulk")] <- NULL
  further <- list(options = specs$adjustment$options, control = specs$control)
  device <- new_place(specs$control)[c("backend", "memory", "threads")]
  job <- c(network, rules, list(consensus = consensus, cut = c(own, cut), further = further, device = device))
  # Measured bytes: overlaps, and adjacencies or the tree's distances; dynamicTreeCut's matrix and its copies.
  check_memory((if (engine_cuts(job$cut)) 6 else 23) * as.numeric(n_genes)^2, "gpuModules()", n_of(n_genes, "gene"),
               "take fewer genes, such as those that vary most")
  powers <- if (is.null(power)) list(NULL) else powers_of_sets(power, x)
  data$sets <- Map(data$sets, rep_len(powers, length(data$sets)), f = function(set, power) {
    c(set, module_power(power, set$x, job))
  })
  found <- found_modules(data$sets, job)
  if (stability > 0) found$stability <- stability_of_genes(found$colors, drawn, data$sets, job)
  new_modules(found, data, job, c(names(network), names(rules)), sys.call())
}

# Returns list(power, fit: NULL, or the result of pickPower() that chose the power).
module_power <- function(power, x, job) {
  if (!is.null(power)) return(list(power = check_within(power, "power", 1, 30), fit = NULL))
  fit <- with_settings(pickPower, list(x, 1:30, type = job$type, method = job$method, use = job$use), job)
  if (!is.na(fit$powerEstimate)) return(list(power = fit$powerEstimate, fit = fit))
  # The powers that WGCNA's authors recommend in their FAQ.
  power <- (9 - findInterval(nrow(x), c(20, 30, 40.5))) * if (job$type == "signed") 2 else 1
  warning("no power makes a network that is about scale-free; ", power, " is taken, which is usual for ",
          format_count(nrow(x)), " samples. Look at pickPower(), and give 'power'", call. = FALSE)
  list(power = power, fit = fit)
}

# ---- the result

# `found`: of found_modules(), and the genes' stability, if it was asked for; `data`: of module_data(), with
# powers; `shown`: the names of arguments that the result has.
new_modules <- function(found, data, job, shown, call) {
  genes <- if (is.null(data$names)) as.character(seq_along(data$genes)) else data$names
  of_all <- function(values, none) {
    replace(stats::setNames(rep(none, length(genes)), genes), which(data$genes), values)
  }
  colors <- of_all(found$colors, "grey")
  numbers <- seq_along(module_colors(found$colors))
  modules <- if (length(numbers)) WGCNA::labels2colors(numbers) else character()
  labels <- stats::setNames(match(colors, modules, nomatch = 0L), genes)
  # Returns list(eigengenes, explained, kME, kWithin: each gene's sum of adjacencies with the others of its module, NA
  # for a gene in none; loadings) of a data set.
  modules_in <- function(set) {
    own <- unname(colors[data$genes])
    eigen <- eigengenes_of(own, c(modules, if (any(own == "grey")) "grey"), set$x)
    eigengenes <- matrix(NA_real_, length(set$samples), ncol(eigen$values)) # samples that are left out are NA
    eigengenes[set$samples, ] <- eigen$values
    of_modules <- function(modules) paste0("ME", modules, recycle0 = TRUE)
    rows <- if (!is.null(set$sample_names)) make.unique(set$sample_names)
    dimnames(eigengenes) <- list(rows, of_modules(colnames(eigen$values)))
    kme <- matrix(NA_real_, length(colors), length(modules), dimnames = list(names(colors), of_modules(modules)))
    within <- stats::setNames(rep(NA_real_, length(colors)), names(colors))
    loadings <- matrix(NA_real_, length(colors), 3L, dimnames = list(names(colors), c("center", "scale", "weight")))
    loadings[data$genes, ] <- eigen$loadings
    if (length(modules)) {
      kme[data$genes, ] <- kme_of(set$x, eigen$values[, modules, drop = FALSE], job)
      own[own == "grey"] <- NA
      mask <- pairMask(own, same = TRUE)
      arguments <- c(list(set$x, power = set$power, pairs = mask), job[c("type", "use", "method")])
      soft <- repeated(with_settings(gpuConnectivity, arguments, job)$soft)
      within[data$genes] <- ifelse(is.na(own), NA, soft[, 1L])
    }
    list(eigengenes = as.data.frame(eigengenes), explained = eigen$explained, kME = kme, kWithin = within,
         loadings = loadings)
  }
  own <- lapply(data$sets, modules_in)
  is_in <- which(labels > 0)
  kme <- lapply(unname(own), function(set) set$kME[cbind(is_in, labels[is_in])])
  if (job$type == "unsigned") kme <- lapply(kme, abs)
  by_kme <- is_in[order(-do.call(pmin, kme))]
  members <- split(names(labels)[by_kme], factor(modules[labels[by_kme]], modules))
  several <- !is.null(job$consensus)
  by_set <- function(name, lists = data$sets) {
    values <- lapply(lists, `[[`, name)
    if (several) values else values[[1L]]
  }
  own <- lapply(stats::setNames(nm = names(own[[1L]])), by_set, own)
  is_fitted <- !all(vapply(data$sets, function(set) is.null(set$fit), NA))
  n_obs <- vapply(data$sets, function(set) nrow(set$x), 0L)
  covariates <- data$covariates
  adjusted <- Filter(length, list(covariates = if (several) vapply(covariates, ncol, 0L) else ncol(covariates),
                                  options = found$options))
  structure(c(list(colors = colors, labels = labels, unmerged = of_all(found$unmerged, "grey"), members = members), own,
              list(tree = found$tree),
              if (!is.null(found$stability)) list(stability = of_all(found$stability, NA_real_)),
              if (!is.null(found$scales)) list(scales = found$scales),
              list(genes = data$genes, samples = by_set("samples"), power = unlist(by_set("power")),
                   fit = if (is_fitted) by_set("fit")),
              job[shown], job$consensus,
              list(deepSplit = job$cut$deepSplit, detectCutHeight = job$cut$cutHeight,
                   n_obs = if (several) n_obs + 0 else n_obs),
              if (!is.null(covariates)) list(covariates = covariates),
              if (!is.null(job$further$options)) list(options = job$further$options), list(call = call)),
            class = c(if (several) "gpuConsensusModules", "gpuModules", "gpuCorResult"),
            adjusted = if (length(adjusted)) adjusted)
}
