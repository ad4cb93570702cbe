# Class gpuModules: what is made of the modules that were found, and how it is shown.

new_modules <- function(found, job, data, deepSplit, call) {
  n_genes <- length(job$genes)
  genes <- if (is.null(data$names$genes)) as.character(seq_len(n_genes)) else data$names$genes
  colours <- stats::setNames(rep("grey", n_genes), genes)
  unmerged <- colours
  colours[job$genes] <- found$colours
  unmerged[job$genes] <- found$unmerged
  sizes <- sort(table(found$colours[found$colours != "grey"]), decreasing = TRUE)
  order <- if (length(sizes)) WGCNA::labels2colors(seq_along(sizes)) else character() # that of their numbers
  own <- eigengenes_of(found$colours, c(order, if (any(found$colours == "grey")) "grey"), job)
  result <- list(
    colours = colours, labels = stats::setNames(match(colours, order, nomatch = 0L), genes), unmerged = unmerged,
    eigengenes = eigengene_frame(own$values, job, data$names$samples), explained = own$explained,
    kME = all_kme(own$values[, order, drop = FALSE], job, genes), kWithin = within_modules(colours, job),
    tree = found$tree
  )
  structure(c(result, job[c("genes", "samples", "power", "fit", "type", "TOMType", "TOMDenom", "method", "use",
                            "mergeCutHeight", "minModuleSize")],
              list(deepSplit = deepSplit, n_obs = nrow(job$x), call = call)), class = "gpuModules")
}

# A row for each sample, also for those that took no part.
eigengene_frame <- function(values, job, names) {
  all <- matrix(NA_real_, length(job$samples), ncol(values))
  all[job$samples, ] <- values
  rows <- if (is.null(names)) NULL else make.unique(names)
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
  pairs <- new_pairs("within", traits_of_labels(label, NULL))
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
#'   `kME` with its own module's eigengene, and `kWithin`; both are `NA` for a gene in no module. `summary()`: a list of
#'   class `summary.gpuModules` with `modules`, a data frame of each module's number of `genes`, `explained` share of
#'   variance, and `hub`, the gene of the largest `kWithin`; when printed it says how they were found, in words for a
#'   methods section. `plot()`: the tree, below it the modules' colours and,
#'   for those who cannot tell these apart, their numbers, each below the widest run of its genes.
#'
#'   `as_blockwiseModules()`: the list that `WGCNA::blockwiseModules()` returns, of one block: `colors`,
#'   `unmergedColors`, `MEs` in its order, `goodSamples`, `goodGenes`, `dendrograms`, `TOMFiles`, `blockGenes`,
#'   `blocks`, `MEsOK`; for `plotDendroAndColors()` and all else that takes it.
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
  sizes <- tabulate(x$labels, ncol(x$kME))
  cat(format_count(length(sizes)), " modules of ", format_count(sum(sizes)), " of ", format_count(length(x$labels)),
      " genes, ", format_count(x$n_obs), " samples\n", describe_modules(x), "\n", sep = "")
  if (length(sizes)) print(stats::setNames(sizes, colnames(x$kME)))
  invisible(x)
}

describe_modules <- function(x) {
  paste0(method_title(x$method), ", ", x$type, " network, power ", x$power, ", ", x$TOMType, " topological overlap")
}

#' @rdname gpuModules-methods
#' @export
as.data.frame.gpuModules <- function(x, row.names = NULL, optional = FALSE, ...) {
  genes <- names(x$labels)
  own <- rep(NA_real_, length(genes))
  is_in <- which(x$labels > 0)
  own[is_in] <- x$kME[cbind(is_in, x$labels[is_in])]
  data.frame(gene = genes, module = unname(x$labels), colour = unname(x$colours), kME = own,
             kWithin = unname(x$kWithin), row.names = row.names)
}

#' @rdname gpuModules-methods
#' @method summary gpuModules
#' @export
summary.gpuModules <- function(object, ...) {
  modules <- seq_len(ncol(object$kME))
  hub <- vapply(modules, function(module) {
    genes <- which(object$labels == module)
    names(object$labels)[genes[which.max(object$kWithin[genes])]]
  }, "")
  table <- data.frame(module = modules, colour = colnames(object$kME), genes = tabulate(object$labels, length(modules)),
                      explained = unname(object$explained[colnames(object$kME)]), hub = hub)
  structure(list(modules = table, unassigned = sum(object$labels == 0), details = object[setdiff(
    names(object), c("colours", "labels", "unmerged", "eigengenes", "kME", "kWithin", "tree", "fit"))]),
    class = "summary.gpuModules")
}

#' @method print summary.gpuModules
#' @export
print.summary.gpuModules <- function(x, digits = 3L, ...) {
  d <- x$details
  cat(strwrap(paste0(
    "Modules of ", format_count(sum(d$genes)), " genes over ", format_count(d$n_obs), " samples: ", d$type,
    " network by ", method_title(d$method), " to the power of ", d$power, "; ", d$TOMType, " topological overlap ",
    "(denominator: ", d$TOMDenom, "); average linkage; dynamic hybrid tree cut (deepSplit = ", d$deepSplit,
    ", at least ", d$minModuleSize, " genes); modules merged whose eigengenes had a correlation above ",
    1 - d$mergeCutHeight, ". ", format_count(x$unassigned), " of ", format_count(length(d$genes)),
    " genes are in no module.")), sep = "\n")
  if (nrow(x$modules)) print(x$modules, digits = digits, row.names = FALSE)
  invisible(x)
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
  own <- modules$eigengenes
  if (numeric) {
    known <- suppressWarnings(WGCNA::labels2colors(seq_along(unmerged))) # more than there can be
    unmerged <- stats::setNames(match(unmerged, known, nomatch = 0L), names(unmerged))
    names(own) <- paste0("ME", match(names(own), paste0("ME", colnames(modules$kME)), nomatch = 0L))
  }
  if (.row_names_info(own) < 0L) rownames(own) <- paste0("Row.", seq_len(nrow(own))) # as WGCNA calls them
  # By name, as WGCNA has them before it puts them in order.
  label <- substring(names(own), 3L)
  own <- own[if (numeric) order(as.numeric(label)) else order(label)]
  list(colors = if (numeric) modules$labels else modules$colours, unmergedColors = unmerged,
       MEs = WGCNA::orderMEs(own, greyName = if (numeric) "ME0" else "MEgrey"), goodSamples = modules$samples,
       goodGenes = modules$genes, dendrograms = list(modules$tree), TOMFiles = NULL,
       blockGenes = list(which(modules$genes)), blocks = ifelse(modules$genes, 1, NA), MEsOK = TRUE)
}
