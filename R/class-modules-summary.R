# summary() of modules: a table of them, and how they were found.

#' @rdname gpuModules-methods
#' @method summary gpuModules
#' @export
summary.gpuModules <- function(object, ...) {
  sizes <- module_sizes(object)
  several <- inherits(object, "gpuConsensusModules")
  explained <- if (several) {
    c(explained = lapply(object$explained, function(share) unname(share[names(sizes)])))
  } else {
    list(explained = unname(object$explained[names(sizes)]))
  }
  table <- list2DF(c(list(module = seq_along(sizes), colour = names(sizes), genes = unname(sizes)), explained,
                     list(hub = hubs_of(object, length(sizes)))))
  details <- object[setdiff(names(object), c("colours", "labels", "unmerged", "eigengenes", "explained", "kME",
                                             "kWithin", "tree", "fit"))]
  structure(list(methods = module_sentences(object, sizes), modules = table, unassigned = sum(object$labels == 0),
                 details = details), class = "summary.gpuModules")
}

# Of each module the gene of the largest kWithin; of several data sets that whose least |kME| is the largest.
hubs_of <- function(x, modules) {
  of <- if (inherits(x, "gpuConsensusModules")) {
    do.call(pmin, c(lapply(unname(x$kME), function(kme) abs(own_kme(kme, x))), na.rm = TRUE))
  } else {
    x$kWithin
  }
  vapply(seq_len(modules), function(module) {
    genes <- which(x$labels == module)
    names(x$labels)[genes[which.max(of[genes])]]
  }, "")
}

module_sentences <- function(x, sizes) {
  several <- inherits(x, "gpuConsensusModules")
  kme <- if (x$type == "unsigned") "|kME|" else "kME"
  packages <- c("fastcluster", "dynamicTreeCut", "WGCNA")
  versions <- vapply(packages, function(name) as.character(utils::packageVersion(name)), "")
  paste0(
    if (several) "Consensus modules" else "Modules", " of co-expressed genes were identified ", with_gpucor(), " (",
    paste(packages, versions, collapse = ", "), ") among ", n_of(sum(x$genes), "gene"), " in ", describe_sets(x),
    ". The adjacency of two genes was ", describe_adjacency(x), " (", x$type, " network; r: ", method_title(x$method),
    "), and their dissimilarity 1 less the topological overlap (TOMType \"", x$TOMType, "\", denominator \"",
    x$TOMDenom, "\")", if (several) describe_combination(x), ". The tree by average linkage was cut by the dynamic ",
    "hybrid method at ", x$detectCutHeight, " (deepSplit = ", x$deepSplit, ", at least ", n_of(x$minModuleSize, "gene"),
    "). Modules stayed if at least ", n_of(ceiling(x$minCoreKMESize), "gene"), " had a ", kme, " above ", x$minCoreKME,
    if (several) describe_least(x, "in each data set"), ", without their genes of a ", kme, " below ", x$minKMEtoStay,
    if (several) describe_least(x, "in any"), "; ",
    if (x$reassignThreshold > 0) {
      paste0("genes moved to another module if its p value was lower by a factor of ", x$reassignThreshold, "; ")
    }, "modules whose eigengenes had a correlation above ", 1 - x$mergeCutHeight,
    if (several) describe_least(x, "in each data set"), " were merged. ", describe_found(sizes, length(x$genes)))
}

# sizes: genes of each module; genes: of all.
describe_found <- function(sizes, genes) {
  if (!length(sizes)) return("No module was found.")
  modules <- if (length(sizes) == 1L) {
    paste("1 module of", n_of(sizes, "gene"), "was found")
  } else {
    paste(n_of(length(sizes), "module"), "of", format_count(min(sizes)), "to", n_of(max(sizes), "gene"), "were found")
  }
  without <- genes - sum(sizes)
  if (without == 0) return(paste0(modules, "; every gene is in one."))
  paste0(modules, "; ", format_count(without), " of ", n_of(genes, "gene"), if (without == 1) " is" else " are",
         " in no module.")
}

describe_adjacency <- function(x) {
  of <- paste0(c(unsigned = "|r|", signed = "((1 + r) / 2)", "signed hybrid" = "max(r, 0)")[[x$type]], "^", x$power)
  if (length(unique(of)) == 1L) of[1L] else paste0(of, " (", names(x$power), ")", collapse = ", ")
}

describe_combination <- function(x) {
  scaled <- if (!is.null(x$scales)) {
    paste0(", after they were raised to the powers ", toString(signif(x$scales, 3)),
           ", by which all sets have the same ", x$calibrationQuantile, " quantile")
  }
  paste0(", over the data sets combined by ", combination_words(x), scaled)
}

# Of which kME or correlation it is; where: if the smallest one counts.
describe_least <- function(x, where) {
  if (x$combine == "quantile") paste0(" (the ", x$probs, " quantile of the data sets)") else paste0(" ", where)
}

#' @method print summary.gpuModules
#' @export
print.summary.gpuModules <- function(x, digits = 3L, ...) {
  print_methods(x)
  if (nrow(x$modules)) print(x$modules, digits = digits, row.names = FALSE)
  invisible(x)
}
