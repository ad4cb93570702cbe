# Class gpuModules: what is made of the modules that were found, and how it is shown.

# names: of all genes, or NULL.
new_modules <- function(found, job, names, call) {
  genes <- if (is.null(names)) as.character(seq_along(job$genes)) else names
  colours <- stats::setNames(rep("grey", length(genes)), genes)
  unmerged <- colours
  colours[job$genes] <- found$colours
  unmerged[job$genes] <- found$unmerged
  sizes <- sort(table(found$colours[found$colours != "grey"]), decreasing = TRUE)
  order <- if (length(sizes)) WGCNA::labels2colors(seq_along(sizes)) else character() # that of their numbers
  result <- list(colours = colours, labels = stats::setNames(match(colours, order, nomatch = 0L), genes),
                 unmerged = unmerged)
  own <- lapply(sets_of(job), own_modules, found$colours, order, colours)
  result <- c(result, if (is_consensus(job)) by_name(own) else own[[1L]], list(tree = found$tree),
              if (!is.null(found$scales)) list(scales = found$scales),
              job[c("genes", "samples", "power", "fit", "type", "TOMType", "TOMDenom", "method", "use",
                    "mergeCutHeight", "minModuleSize", "minCoreKME", "minCoreKMESize", "minKMEtoStay",
                    "reassignThreshold")], job$consensus,
              list(deepSplit = job$cut$deepSplit, detectCutHeight = job$cut$cutHeight,
                   n_obs = vapply(sets_of(job), function(set) nrow(set$x), 0), call = call))
  if (!is_consensus(job)) result$n_obs <- unname(result$n_obs)
  options <- changed_options(job$further$options, job$method)
  structure(result, class = c(if (is_consensus(job)) "gpuConsensusModules", "gpuModules"),
            adjusted = if (length(options)) list(options = options))
}

# What modules are in a data set. own: colours of the genes that take part; order: that of the modules; all: the colour
# of every gene, by its name.
own_modules <- function(set, own, order, all) {
  found <- eigengenes_of(own, c(order, if (any(own == "grey")) "grey"), set)
  list(eigengenes = eigengene_frame(found$values, set), explained = found$explained,
       kME = all_kme(found$values[, order, drop = FALSE], set, names(all)), kWithin = within_modules(all, set))
}

# A list of lists the other way round.
by_name <- function(lists) {
  names <- names(lists[[1L]])
  stats::setNames(lapply(names, function(name) lapply(lists, `[[`, name)), names)
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

# ---- shown

#' Modules shown, and taken on
#'
#' Methods for what [gpuModules()] returns.
#'
#' @param x,object,modules An object of class `gpuModules`.
#' @param row.names,optional As in [base::as.data.frame()].
#' @param main A title.
#' @param numeric If `TRUE`, modules are called by their numbers, as with WGCNA's `numericLabels`.
#' @param ... Not used.
#' @return `as.data.frame()`: a row for each gene, in the order of the data: `gene`, `module` (its number), `colour`,
#'   `kME` with its own module's eigengene, and `kWithin`; both are `NA` for a gene in no module. Of several data sets
#'   there are columns for each, `kME.control` and so on by the sets' names.
#'
#'   `summary()`: a list of class `summary.gpuModules` with `methods`, how the modules were found in words for a methods
#'   section, `modules`, a data frame of each module's number of `genes`, `explained` share of variance (of several data
#'   sets a column for each), and `hub`, the gene of the largest `kWithin`, of several data sets that of which the
#'   smallest |kME| in them is the largest; `unassigned`, the number of genes in no module, and `details`, the settings.
#'
#'   `plot()`: the tree, below it the modules' colours and, for those who cannot tell these apart, their numbers, each
#'   below the widest run of its genes.
#'
#'   `as_blockwiseModules()`: the list that `WGCNA::blockwiseModules()` returns, of one block: `colors`,
#'   `unmergedColors`, `MEs` in its order, `goodSamples`, `goodGenes`, `dendrograms`, `TOMFiles`, `blockGenes`,
#'   `blocks`, `MEsOK`; for `plotDendroAndColors()` and all else that takes it. Of several data sets that of
#'   `WGCNA::blockwiseConsensusModules()`, with `multiMEs`, a list with an element `data` for each set, in the place of
#'   `MEs`.
#' @examples
#' if (requireNamespace("WGCNA", quietly = TRUE)) {
#'   set.seed(1)
#'   factors <- matrix(rnorm(50 * 3), 50)
#'   x <- matrix(rnorm(50 * 150), 50) + factors[, rep(1:3, c(60, 50, 40))] * 2
#'   modules <- gpuModules(x, power = 6)
#'   print(summary(modules))
#'   print(table(modules$labels))
#'   blocks <- as_blockwiseModules(modules)
#'   colours <- blocks$colors[blocks$blockGenes[[1]]]
#'   WGCNA::plotDendroAndColors(blocks$dendrograms[[1]], colours, dendroLabels = FALSE)
#' }
#' @name gpuModules-methods
NULL

#' @rdname gpuModules-methods
#' @method print gpuModules
#' @export
print.gpuModules <- function(x, ...) {
  sizes <- module_sizes(x)
  several <- inherits(x, "gpuConsensusModules")
  cat(n_of(length(sizes), if (several) "consensus module" else "module"), " of ", format_count(sum(sizes)), " of ",
      n_of(length(x$labels), "gene"), ", ", describe_sets(x), "\n", method_title(x$method), ", ", x$type, " network, ",
      power_words(unique(x$power)), ", ", x$TOMType, " topological overlap\n",
      adjusted_line(attr(x, "adjusted"), x$method), sep = "")
  if (length(sizes)) print(sizes)
  invisible(x)
}

# Numbers of genes, by colours, in the order of the modules' numbers.
module_sizes <- function(x) {
  numbers <- seq_len(max(x$labels))
  stats::setNames(tabulate(x$labels, length(numbers)), x$colours[match(numbers, x$labels)])
}

describe_sets <- function(x) {
  if (!inherits(x, "gpuConsensusModules")) return(n_of(x$n_obs, "sample"))
  paste0(n_of(length(x$n_obs), "data set"), ": ", paste0(names(x$n_obs), " (", vapply(x$n_obs, n_of, "", "sample"), ")",
                                                         collapse = ", "))
}

#' @rdname gpuModules-methods
#' @export
as.data.frame.gpuModules <- function(x, row.names = NULL, optional = FALSE, ...) {
  several <- inherits(x, "gpuConsensusModules")
  own <- if (several) {
    c(kME = lapply(x$kME, own_kme, x), kWithin = x$kWithin)
  } else {
    list(kME = own_kme(x$kME, x), kWithin = x$kWithin)
  }
  frame <- c(list(gene = names(x$labels), module = unname(x$labels), colour = unname(x$colours)), lapply(own, unname))
  as.data.frame(list2DF(frame), row.names = row.names)
}

# Of each gene the one with its own module.
own_kme <- function(kme, x) {
  own <- rep(NA_real_, length(x$labels))
  is_in <- which(x$labels > 0)
  own[is_in] <- kme[cbind(is_in, x$labels[is_in])]
  own
}

# ---- to WGCNA

#' @rdname gpuModules-methods
#' @export
as_blockwiseModules <- function(modules, numeric = FALSE) {
  if (!inherits(modules, "gpuModules")) {
    fail("'modules' must be what gpuModules() returned, not of class ", class(modules)[1L])
  }
  numeric <- check_flag(numeric, "numeric")
  need_packages("WGCNA", "as_blockwiseModules()")
  unmerged <- modules$unmerged
  if (numeric) {
    known <- suppressWarnings(WGCNA::labels2colors(seq_along(unmerged))) # more than there can be
    unmerged <- stats::setNames(match(unmerged, known, nomatch = 0L), names(unmerged))
  }
  grey <- if (numeric) "ME0" else "MEgrey"
  several <- inherits(modules, "gpuConsensusModules")
  eigengenes <- if (several) {
    sets <- lapply(modules$eigengenes, function(own) list(data = eigengenes_by_label(own, modules, numeric)))
    list(multiMEs = WGCNA::consensusOrderMEs(sets, greyName = grey))
  } else {
    list(MEs = WGCNA::orderMEs(eigengenes_by_label(modules$eigengenes, modules, numeric), greyName = grey))
  }
  c(list(colors = if (numeric) modules$labels else modules$colours, unmergedColors = unmerged), eigengenes,
    list(goodSamples = modules$samples, goodGenes = modules$genes, dendrograms = list(modules$tree), TOMFiles = NULL,
         blockGenes = list(which(modules$genes)), blocks = ifelse(modules$genes, 1, NA)),
    if (!several) list(MEsOK = TRUE))
}

# As WGCNA has them before it puts them in order, and with its names of samples.
eigengenes_by_label <- function(own, modules, numeric) {
  if (numeric) names(own) <- paste0("ME", match(substring(names(own), 3L), names(module_sizes(modules)), nomatch = 0L))
  if (.row_names_info(own) < 0L) rownames(own) <- paste0("Row.", seq_len(nrow(own)))
  label <- substring(names(own), 3L)
  own[if (numeric) order(as.numeric(label)) else order(label)]
}
