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

# ---- eigengenes: one value per sample that summarizes a module's genes

# Returns list(values: matrix, samples x modules; explained: fraction of variance of each module). `labels`: module of
# each gene, in the same terms as `modules`.
eigengenes_of <- function(labels, modules, job) {
  found <- lapply(modules, function(module) eigengene(as.matrix(pick_columns(job$x, which(labels == module)))))
  values <- vapply(found, `[[`, numeric(nrow(job$x)), "values")
  list(values = matrix(values, nrow(job$x), dimnames = list(rownames(job$x), modules)),
       explained = stats::setNames(vapply(found, `[[`, 0, "explained"), modules))
}

# Returns the first principal component of scaled columns, with length 1 and the sign of their mean.
eigengene <- function(values) {
  scaled <- scale(if (anyNA(values)) imputed(values) else values)
  first <- svd(scaled, nu = 1L, nv = 0L)
  component <- first$u[, 1L]
  along <- sum(component * rowMeans(scaled))
  list(values = if (along < 0) -component else component, explained = first$d[1L]^2 / sum(first$d^2))
}

# Imputes missing values like WGCNA, but restores the random number generator.
imputed <- function(values) {
  if (ncol(values) < 2L) return(values)
  need_packages("impute", "'x' has missing values, and an eigengene of them")
  withr::with_preserve_seed(t(impute::impute.knn(t(values), k = min(10, ncol(values) - 1))$data))
}

# ---- stability: whether genes stay together in resamples, each a part of the samples

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
