# Step 3 of gpuModules(): the cut of the tree. Arguments and defaults are those of dynamicTreeCut::cutreeDynamic().

# What `cut` may have: numbers and flags that the engine takes, and others, for which dynamicTreeCut cuts the tree.
ENGINE_CUT <- c("maxCoreScatter", "minGap", "maxAbsCoreScatter", "minAbsGap", "minSplitHeight", "minAbsSplitHeight",
                "maxPamDist", "respectSmallClusters")
OTHER_CUT <- c("externalBranchSplitFnc", "minExternalSplit", "externalSplitOptions", "externalSplitFncNeedsDistance",
               "assumeSimpleExternalSpecification", "useMedoids", "maxDistToLabel", "verbose")

engine_cuts <- function(cut) {
  taken <- vapply(cut, function(value) {
    is.null(value) || ((is_number(value) || is.logical(value)) && length(value) == 1L && !is.na(value))
  }, NA)
  all(taken) && !any(names(cut) %in% OTHER_CUT)
}

# Returns the rules that the engine reads, in this order: cut_height, min_size, max_core_scatter, min_gap,
# min_split_height, max_pam_distance, is_pam, respects_tree, respects_small.
cut_rules <- function(heights, cut) {
  at_deep_split <- function(values) { # between two numbers, extrapolated from the nearest one and the next
    nearest <- round(cut$deepSplit + 1)
    if (nearest >= length(values)) return(values[length(values)])
    beyond <- cut$deepSplit + 1 - nearest
    values[nearest] * (1 - beyond) + values[nearest + 1] * beyond
  }
  or <- function(name, default) if (is.null(cut[[name]])) default else cut[[name]]
  scatters <- c(0.64, 0.73, 0.82, 0.91, 0.95) # for each deepSplit
  low <- heights[max(1, round(0.05 * length(heights)))]
  top <- min(or("cutHeight", 0.99 * (max(heights) - low) + low), max(heights))
  scatter <- or("maxCoreScatter", at_deep_split(scatters))
  gap <- or("minGap", at_deep_split((1 - scatters) * 3 / 4))
  pam <- if ("maxPamDist" %in% names(cut)) "maxPamDist" else "cutHeight" # also where the cut is above the tree
  as.numeric(c(top, cut$minClusterSize, or("maxAbsCoreScatter", low + scatter * (top - low)),
               or("minAbsGap", gap * (top - low)),
               or("minAbsSplitHeight", low + or("minSplitHeight", 0) * (top - low)), or(pam, top), cut$pamStage,
               cut$pamRespectsDendro, or("respectSmallClusters", TRUE)))
}

cut_by_package <- function(tree, tom, cut, threads) {
  need_packages("dynamicTreeCut", "'cut'")
  n <- attr(tom, "Size")
  square <- checked(.Call(r_unfold, tom, n, numeric(n), TRUE, threads))
  rm(tom)
  arguments <- c(list(dendro = tree, distM = square, method = "hybrid"), cut)
  if (is.null(arguments$verbose)) arguments$verbose <- 0
  as.integer(with_our_errors(do.call(dynamicTreeCut::cutreeDynamic, arguments, quote = TRUE),
                             "dynamicTreeCut::cutreeDynamic() does not take 'cut' or other arguments: "))
}
