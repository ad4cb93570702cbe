# The steps from the overlap to modules; their numbers are those of gpuModules()'s help. job: the data, and what was
# asked for.

# list(colours, unmerged, tree, scales).
found_modules <- function(job) {
  cut <- cut_tree(job)
  labels <- cut$labels
  if (any(labels > 0)) {
    kept <- kept_members(labels, job)
    labels <- if (is_consensus(job)) kept$labels else reassigned(kept, job)
  }
  unmerged <- WGCNA::labels2colors(labels)
  merged <- if (is_consensus(job)) merged_over_sets(unmerged, job) else merged_modules(unmerged, job)
  list(colours = by_size(merged), unmerged = unmerged, tree = cut$tree, scales = cut$scales)
}

is_consensus <- function(job) !is.null(job$consensus)

# The jobs of the data sets that modules are found in; a single one is its own.
sets_of <- function(job) if (is_consensus(job)) job$sets else list(job)

# The tree of the dissimilarity; the numbers of its branches, 0 for genes on none; and gpuTOM()'s attribute scales.
cut_tree <- function(job) {
  tom <- with_settings(gpuTOM, c(list(job$x, power = job$power, type = job$type, TOMType = job$TOMType,
                                      TOMDenom = job$TOMDenom, method = job$method, use = job$use), job$consensus), job)
  scales <- attr(tom, "scales")
  distance <- 1 - tom
  rm(tom)
  if (anyNA(distance)) {
    fail("some pairs of genes have no coefficient, as too few samples have both; leave out genes with many missing ",
         "values")
  }
  tree <- fastcluster::hclust(distance, method = "average")
  n <- attr(distance, "Size")
  square <- .Call(r_unfold, distance, n, numeric(n), new_settings(job$further$control)$threads)
  if (is.list(square)) stop_run(square)
  rm(distance)
  arguments <- c(list(dendro = tree, distM = square, method = "hybrid"), job$cut)
  if (is.null(arguments$verbose)) arguments$verbose <- 0
  labels <- as.integer(do.call(dynamicTreeCut::cutreeDynamic, arguments, quote = TRUE))
  list(tree = tree, labels = labels, scales = scales)
}

# kME of some genes, a row each, with some eigengenes, as modules are judged by it.
membership <- function(genes, eigengenes, job) {
  kme <- kme_of(genes, eigengenes, job)
  if (job$type == "unsigned") abs(kme) else kme
}

kme_of <- function(genes, eigengenes, job) coefficients_of(list(pick_columns(job$x, genes), eigengenes), job)

# In the precision that WGCNA has. Of columns that a measure could not be had of, the overlap has warned.
coefficients_of <- function(data, job) {
  suppressWarnings(with_settings(gpuCor, c(data, list(use = job$use, method = job$method, precision = "double")), job))
}

# Step 4: list(labels, eigengenes), those of the modules that are left, before genes left them, of the first data set.
kept_members <- function(labels, job) {
  sets <- sets_of(job)
  eigengenes <- lapply(sets, function(set) eigengenes_of(labels, seq_len(max(labels)), set)$values)
  for (module in seq_len(max(labels))) {
    genes <- which(labels == module)
    kme <- over_sets(Map(function(set, own) c(membership(genes, own[, module, drop = FALSE], set)), sets, eigengenes),
                     job$least)
    stays <- sum(kme > job$minCoreKME) >= job$minCoreKMESize
    leaves <- kme < job$minKMEtoStay
    if (stays && any(leaves)) stays <- sum(!leaves) >= job$minModuleSize
    labels[if (stays) genes[leaves] else genes] <- 0L
  }
  list(labels = labels, eigengenes = eigengenes[[1L]][, sort(unique(labels[labels > 0])), drop = FALSE])
}

# Of numbers of each data set one of all, a quantile: by default the smallest.
over_sets <- function(each, share) {
  if (length(each) == 1L) return(each[[1L]])
  if (share == 0) return(do.call(pmin, c(each, na.rm = TRUE)))
  apply(do.call(cbind, each), 1L, stats::quantile, share, names = FALSE, na.rm = TRUE)
}

# Step 5; the columns of the eigengenes are called by the modules' numbers.
reassigned <- function(found, job) {
  labels <- found$labels
  genes <- which(labels > 0)
  if (!length(genes)) return(labels)
  numbers <- as.integer(colnames(found$eigengenes))
  kme <- membership(genes, found$eigengenes, job)
  own <- kme[cbind(seq_along(genes), match(labels[genes], numbers))]
  at <- max.col(replace(kme, is.na(kme), -Inf), ties.method = "first")
  best <- kme[cbind(seq_along(genes), at)]
  n <- length(job$samples) # as WGCNA counts them
  gain <- WGCNA::corPvalueFisher(best, n) / WGCNA::corPvalueFisher(own, n)
  moves <- which(own < best & is.finite(gain) & gain < job$reassignThreshold)
  left <- tabulate(labels, max(numbers)) - tabulate(labels[genes[moves]], max(numbers))
  small <- setdiff(which(left < job$minModuleSize), which(tabulate(labels[genes[moves]], max(numbers)) == 0))
  labels[genes[moves]] <- numbers[at[moves]]
  labels[labels %in% small] <- 0L
  labels
}

# Step 6. A module that several have become is called by that of them which comes first in the tree.
merged_modules <- function(colours, job) {
  repeat {
    modules <- module_colours(colours)
    if (length(modules) < 2L) return(colours)
    eigengenes <- eigengenes_of(colours, modules, job)$values
    tree <- fastcluster::hclust(1 - coefficients_of(list(eigengenes), job), method = "average")
    branch <- stats::cutree(tree, h = job$mergeCutHeight)
    if (!anyDuplicated(branch)) return(colours)
    first <- modules[tree$order][match(branch, branch[tree$order])]
    is_in <- colours != "grey"
    colours[is_in] <- first[match(colours[is_in], modules)]
  }
}

# Step 6 of several data sets: their eigengenes' correlations are combined, too.
merged_over_sets <- function(colours, job) {
  if (length(module_colours(colours)) < 2L) return(colours)
  data <- lapply(job$sets, function(set) list(data = as.matrix(pick_columns(set$x, seq_len(ncol(set$x))))))
  utils::capture.output(found <- keeping_random(WGCNA::mergeCloseModules(
    data, colours, cutHeight = job$mergeCutHeight, consensusQuantile = job$least, getNewMEs = FALSE, verbose = 0)))
  as.character(found$colors)
}

module_colours <- function(colours) sort(setdiff(unique(colours), "grey"))

# Step 7.
by_size <- function(colours) {
  modules <- module_colours(colours)
  size <- as.vector(table(factor(colours, modules)))
  labels <- match(colours, modules[order(-size)], nomatch = 0L)
  WGCNA::labels2colors(labels)
}

# Of sparse data it has been told that they are.
with_settings <- function(f, arguments, job) suppressMessages(do.call(f, c(arguments, job$further), quote = TRUE))

# list(power, fit) of a data set.
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

FIT_POWERS <- 1:30
