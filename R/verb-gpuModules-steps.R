# The steps from overlap to modules, numbered as in ?gpuModules. `job`: the data and the arguments.

found_modules <- function(job) {
  cut <- cut_tree(job)
  labels <- cut$labels
  if (any(labels > 0)) {
    kept <- kept_members(labels, job)
    labels <- if (is_consensus(job)) kept$labels else reassigned(kept, job)
  }
  unmerged <- WGCNA::labels2colors(labels)
  merged <- if (is_consensus(job)) merged_over_sets(unmerged, job) else merged_modules(unmerged, job)
  list(colors = by_size(merged), unmerged = unmerged, tree = cut$tree, scales = cut$scales)
}

is_consensus <- function(job) !is.null(job$consensus)

# Returns the jobs of the data sets; a single data set is its own job.
sets_of <- function(job) if (is_consensus(job)) job$sets else list(job)

# Returns the tree of dissimilarities, the labels of its branches (0: none), and gpuTOM()'s attribute scales.
cut_tree <- function(job) {
  tom <- with_settings(gpuTOM, c(list(job$x, power = job$power, type = job$type, TOMType = job$TOMType,
                                      TOMDenom = job$TOMDenom, method = job$method, use = job$use), job$consensus), job)
  scales <- attr(tom, "scales")
  if (is.na(sum(tom))) { # anyNA() would allocate a logical value for each pair
    fail("some pairs of genes have no coefficient, as too few samples have both; leave out genes with many missing ",
         "values")
  }
  tree <- gpuHclust(tom, control = job$further$control)
  n <- attr(tom, "Size")
  square <- .Call(r_unfold, tom, n, numeric(n), TRUE, new_settings(job$further["control"])$threads)
  if (is.list(square)) stop_run(square)
  rm(tom)
  arguments <- c(list(dendro = tree, distM = square, method = "hybrid"), job$cut)
  if (is.null(arguments$verbose)) arguments$verbose <- 0
  labels <- as.integer(with_our_errors(do.call(dynamicTreeCut::cutreeDynamic, arguments, quote = TRUE),
                                       "dynamicTreeCut::cutreeDynamic() does not take 'cut' or other arguments: "))
  list(tree = tree, labels = labels, scales = scales)
}

# Returns the kME that decides membership: genes x eigengenes, absolute values in an unsigned network.
membership <- function(genes, eigengenes, job) {
  kme <- kme_of(genes, eigengenes, job)
  if (job$type == "unsigned") abs(kme) else kme
}

kme_of <- function(genes, eigengenes, job) coefficients_of(list(pick_columns(job$x, genes), eigengenes), job)

# WGCNA computes these in double precision. Warnings would repeat those of the overlap.
coefficients_of <- function(data, job) {
  suppressWarnings(with_settings(gpuCor, c(data, list(use = job$use, method = job$method, precision = "double")), job))
}

# Step 4: returns list(labels, eigengenes). Eigengenes are those of the remaining modules, in the first data set, with
# all genes.
kept_members <- function(labels, job) {
  sets <- sets_of(job)
  eigengenes <- lapply(sets, function(set) eigengenes_of(labels, seq_len(max(labels)), set)$values)
  for (module in seq_len(max(labels))) {
    genes <- which(labels == module)
    kme <- over_sets(Map(function(set, own) c(membership(genes, own[, module, drop = FALSE], set)), sets, eigengenes),
                     job$quantile)
    stays <- sum(kme > job$minCoreKME) >= job$minCoreKMESize
    leaves <- kme < job$minKMEtoStay
    if (stays && any(leaves)) stays <- sum(!leaves) >= job$minModuleSize
    labels[if (stays) genes[leaves] else genes] <- 0L
  }
  list(labels = labels, eigengenes = eigengenes[[1L]][, sort(unique(labels[labels > 0])), drop = FALSE])
}

# Combines the values of all data sets by a quantile, by default the min.
over_sets <- function(each, fraction) {
  if (length(each) == 1L) return(each[[1L]])
  if (fraction == 0) return(do.call(pmin, c(each, na.rm = TRUE)))
  apply(do.call(cbind, each), 1L, stats::quantile, fraction, names = FALSE, na.rm = TRUE)
}

# Step 5. The eigengenes' column names are the modules' numbers.
reassigned <- function(found, job) {
  labels <- found$labels
  genes <- which(labels > 0)
  if (!length(genes)) return(labels)
  numbers <- as.integer(colnames(found$eigengenes))
  kme <- membership(genes, found$eigengenes, job)
  own <- kme[cbind(seq_along(genes), match(labels[genes], numbers))]
  at <- max.col(replace(kme, is.na(kme), -Inf), ties.method = "first")
  best <- kme[cbind(seq_along(genes), at)]
  n <- length(job$samples) # WGCNA's count of samples
  gain <- WGCNA::corPvalueFisher(best, n) / WGCNA::corPvalueFisher(own, n)
  moves <- which(own < best & is.finite(gain) & gain < job$reassignThreshold)
  left <- tabulate(labels, max(numbers)) - tabulate(labels[genes[moves]], max(numbers))
  small <- setdiff(which(left < job$minModuleSize), which(tabulate(labels[genes[moves]], max(numbers)) == 0))
  labels[genes[moves]] <- numbers[at[moves]]
  labels[labels %in% small] <- 0L
  labels
}

# Step 6. A merged module is named after the one that is first in the tree.
merged_modules <- function(colors, job) {
  repeat {
    modules <- module_colors(colors)
    if (length(modules) < 2L) return(colors)
    eigengenes <- eigengenes_of(colors, modules, job)$values
    tree <- stats::hclust(1 - coefficients_of(list(eigengenes), job), method = "average")
    branch <- stats::cutree(tree, h = job$mergeCutHeight)
    if (!anyDuplicated(branch)) return(colors)
    first <- modules[tree$order][match(branch, branch[tree$order])]
    is_in <- colors != "grey"
    colors[is_in] <- first[match(colors[is_in], modules)]
  }
}

# Step 6 of several data sets, which combines the correlations of their eigengenes.
merged_over_sets <- function(colors, job) {
  if (length(module_colors(colors)) < 2L) return(colors)
  data <- lapply(job$sets, function(set) list(data = as.matrix(pick_columns(set$x, seq_len(ncol(set$x))))))
  utils::capture.output(found <- withr::with_preserve_seed(WGCNA::mergeCloseModules(
    data, colors, cutHeight = job$mergeCutHeight, consensusQuantile = job$quantile, getNewMEs = FALSE, verbose = 0)))
  as.character(found$colors)
}

module_colors <- function(colors) sort(setdiff(unique(colors), "grey"))

# Step 7.
by_size <- function(colors) {
  modules <- module_colors(colors)
  size <- as.vector(table(factor(colors, modules)))
  labels <- match(colors, modules[order(-size)], nomatch = 0L)
  WGCNA::labels2colors(labels)
}

# Messages about sparse or transposed data were shown when the data were read.
with_settings <- function(f, arguments, job) {
  suppressWarnings(suppressMessages(do.call(f, c(arguments, job$further), quote = TRUE)), classes = "gpuCorTransposed")
}

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

# The powers that WGCNA's authors recommend in their FAQ.
usual_power <- function(n_obs, type) {
  (9 - findInterval(n_obs, c(20, 30, 40.5))) * if (type == "signed") 2 else 1
}

FIT_POWERS <- 1:30
