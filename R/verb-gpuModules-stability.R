# Stability of modules: the modules of resamples, each a part of the samples, and whether genes stay together.

# Returns for each data set a list of `stability` draws: the numbers of the samples that a resample has.
draw_module_samples <- function(sets, stability, fraction) {
  stability <- check_whole(stability, "stability", 0, 1e6)
  if (stability == 0) {
    check_no_fraction(fraction, "stability")
    return(list())
  }
  lapply(sets, function(set) draw_units(seq_len(nrow(set$x)), stability, fraction, MIN_RESAMPLE, "sample"))
}

# Returns for each gene the fraction of the resamples in which it stays with its module; NA for a gene in none.
# `colors`: of the included genes; `whole`: makes one job of those of all data sets.
stability_of_genes <- function(colors, sets, drawn, whole) {
  n <- length(drawn[[1L]])
  stays <- lapply(seq_len(n), function(b) {
    prefixed(paste("resample", b), {
      stays_with_module(colors, resampled_colors(sets, lapply(drawn, `[[`, b), whole))
    })
  })
  replace(Reduce(`+`, stays) / n, colors == "grey", NA)
}

# Returns the colors of a resample's modules. Genes without variance in the resample are in none.
resampled_colors <- function(sets, drawn, whole) {
  x <- Map(function(set, rows) pick_columns(set$x, seq_len(ncol(set$x)))[rows, , drop = FALSE], sets, drawn)
  good <- taking_part(x, sets[[1L]]$use)
  sets <- Map(sets, x, good$samples, f = function(set, x, samples) {
    set[c("x", "samples")] <- list(x[samples, good$genes, drop = FALSE], samples)
    set
  })
  colors <- rep("grey", length(good$genes))
  if (sum(good$genes) > 2L) colors[good$genes] <- suppressWarnings(found_modules(whole(sets))$colors)
  colors
}

# Returns TRUE for genes that are in the module matched with their own. Modules are matched one to one: repeatedly the
# two that share most genes.
stays_with_module <- function(own, other) {
  modules <- lapply(list(own, other), module_colors)
  shared <- table(factor(own, modules[[1L]]), factor(other, modules[[2L]]))
  match_of <- stats::setNames(rep(NA_character_, length(modules[[1L]])), modules[[1L]])
  while (any(shared > 0)) {
    at <- arrayInd(which.max(shared), dim(shared))
    match_of[at[1L]] <- modules[[2L]][at[2L]]
    shared[at[1L], ] <- 0
    shared[, at[2L]] <- 0
  }
  (match_of[own] == other) %in% TRUE
}
