# The steps from data to modules, numbered as in ?gpuModules. Two lists are passed on:
#   set  a data set, see module_data()
#   job  what was asked for, see gpuModules()

# ---- step 1: which genes and samples are included

# Returns list(sets; genes: TRUE for included ones; names: all gene names; covariates: a matrix, a list of each set's,
# or NULL). A set is list(x: the included genes and samples, samples: TRUE for included ones, sample_names: of all), to
# which gpuModules() adds power and fit. `several`: TRUE if x is a list of data sets.
module_data <- function(x, several, use, specs) {
  n <- if (several) length(x) else 1L
  read_set <- function(k) {
    set <- genes_of(if (several) x[[k]] else x, use, specs, k, n)
    if (nrow(set$x) >= 4) return(set) # as in WGCNA, which itself stops if missing values leave fewer
    fail("'x' has ", n_of(nrow(set$x), "row"), " (samples); modules need at least 4")
  }
  read <- if (several) each_subject(n, read_set, paste("data set", seq_len(n))) else list(read_set(1L))
  if (several) {
    names <- if (is.null(names(x))) character(n) else names(x)
    names(read) <- make.unique(ifelse(nzchar(names), names, paste0("set", seq_len(n))))
  }
  x <- lapply(read, `[[`, "x")
  check_same_variables(x)
  good <- taking_part(x, use)
  if (sum(good$genes) < 3L) {
    fail("'x' must have at least 3 genes whose values are there and differ, not ", sum(good$genes))
  }
  sets <- Map(x, good$samples, f = function(x, samples) {
    names <- rownames(x)
    if (!all(good$genes)) x <- pick_named(x, which(good$genes))
    if (!all(samples)) x <- x[samples, , drop = FALSE]
    list(x = x, samples = samples, sample_names = names)
  })
  covariates <- if (!is.null(specs$adjustment$covariates)) lapply(read, `[[`, "covariates")
  list(sets = sets, genes = good$genes, names = colnames(x[[1L]]),
       covariates = if (several) covariates else covariates[[1L]])
}

# What gpuModules() and gpuPreservation() take for `use`, and the hint if it is something else.
MODULE_USES <- c("everything", "all.obs", "pairwise.complete.obs")
OTHER_USES <- "; leave incomplete samples out yourself, x[complete.cases(x), ]"

pick_named <- function(x, columns) {
  values <- pick_columns(x, columns)
  if (is.null(colnames(values)) && !is.null(colnames(x))) colnames(values) <- colnames(x)[columns]
  values
}

# ---- steps 3 to 7

# Returns list(colors, unmerged: their colors before step 6; tree, scales, options: as in cut_tree()).
found_modules <- function(sets, job) {
  found <- cut_tree(sets, job)
  labels <- found$labels
  if (any(labels > 0)) {
    kept <- kept_members(labels, sets, job)
    labels <- if (is.null(job$consensus)) reassigned(kept, sets[[1L]], job) else kept$labels
  }
  unmerged <- WGCNA::labels2colors(labels)
  merged <- merged_modules(unmerged, sets, job)
  # Step 7: colors by size.
  modules <- module_colors(merged)
  size <- as.vector(table(factor(merged, modules)))
  colors <- WGCNA::labels2colors(match(merged, modules[order(-size)], nomatch = 0L))
  c(list(colors = colors, unmerged = unmerged), found[c("tree", "scales", "options")])
}

# Step 3: returns the tree of dissimilarities, the labels of its branches (0: none), and of gpuTOM()'s attributes scales
# and the measure's changed options.
cut_tree <- function(sets, job) {
  x <- lapply(sets, `[[`, "x")
  n_obs <- max(vapply(x, nrow, 0L))
  pairs <- pairs_of(ncol(x[[1L]]))
  are_many <- pairs > 2^27 # memory matters more than a few per cent of the time
  limited <- job
  # Adjacencies of many genes get the memory of their overlaps. Coefficients are computed again for each part of the
  # overlaps, which takes long unless they are products of few samples.
  is_quick <- job$method %in% c("pearson", "spearman", "bicor", "cosine") && job$use != "pairwise.complete.obs" &&
    100 * n_obs < ncol(x[[1L]])
  if (are_many && is_quick && job$device$backend == "cpu" && !isTRUE(job$device$memory > 0)) {
    limited$further$control$memory <- 4 * pairs
  }
  arguments <- c(list(if (is.null(job$consensus)) x[[1L]] else x, power = vapply(sets, `[[`, 0, "power")),
                 job[c("type", "TOMType", "TOMDenom", "method", "use")], job$consensus)
  tom <- with_settings(gpuTOM, arguments, limited)
  told <- list(scales = attr(tom, "scales"), options = attr(tom, "adjusted")$options)
  if (is.na(sum(tom))) { # anyNA() would allocate a logical value for each pair
    fail("some pairs of genes have no coefficient, as too few samples have both; leave out genes with many missing ",
         "values")
  }
  if (are_many) .Call(r_memory, TRUE) # reclaims that of the adjacencies
  tree <- gpuHclust(tom, control = job$further$control)
  threads <- job$device$threads
  labels <- if (engine_cuts(job$cut)) {
    checked(.Call(r_cut_tree, tom, TRUE, tree$merge, tree$height, cut_rules(tree$height, job$cut), threads))
  } else {
    cut_by_package(tree, tom, job$cut, threads)
  }
  c(list(tree = tree, labels = labels), told)
}

# Calls f() with the options and settings of the job. Messages about sparse or transposed data were shown when the data
# were read.
with_settings <- function(f, arguments, job) {
  suppressWarnings(suppressMessages(do.call(f, c(arguments, job$further), quote = TRUE)), classes = "gpuCorTransposed")
}

# Returns the coefficients of one or two matrices, in double precision as in WGCNA. Warnings would repeat those of the
# overlap.
coefficients_of <- function(data, job) {
  repeated(with_settings(gpuCor, c(data, list(use = job$use, method = job$method, precision = "double")), job))
}

# Returns the kME that decides membership: genes x eigengenes, absolute values in an unsigned network.
membership <- function(x, genes, eigengenes, job) {
  kme <- coefficients_of(list(pick_columns(x, genes), eigengenes), job)
  if (job$type == "unsigned") abs(kme) else kme
}

# Step 4: returns list(labels, eigengenes). Eigengenes are those of the remaining modules, in the first data set, with
# all genes. The kME of several data sets are combined by a quantile, or the min.
kept_members <- function(labels, sets, job) {
  probs <- job$consensus$probs
  eigengenes <- lapply(sets, function(set) eigengenes_of(labels, seq_len(max(labels)), set$x)$values)
  for (module in seq_len(max(labels))) {
    genes <- which(labels == module)
    kme <- Map(function(set, own) c(membership(set$x, genes, own[, module, drop = FALSE], job)), sets, eigengenes)
    kme <- if (is.null(probs) || probs == 0) {
      do.call(pmin, c(kme, na.rm = TRUE))
    } else {
      apply(do.call(cbind, kme), 1L, stats::quantile, probs, names = FALSE, na.rm = TRUE)
    }
    stays <- sum(kme > job$minCoreKME) >= job$minCoreKMESize
    leaves <- kme < job$minKMEtoStay
    if (stays && any(leaves)) stays <- sum(!leaves) >= job$minModuleSize
    labels[if (stays) genes[leaves] else genes] <- 0L
  }
  list(labels = labels, eigengenes = eigengenes[[1L]][, sort(unique(labels[labels > 0])), drop = FALSE])
}

# Step 5. The eigengenes' column names are the modules' numbers.
reassigned <- function(kept, set, job) {
  labels <- kept$labels
  genes <- which(labels > 0)
  if (!length(genes)) return(labels)
  numbers <- as.integer(colnames(kept$eigengenes))
  kme <- membership(set$x, genes, kept$eigengenes, job)
  own <- kme[cbind(seq_along(genes), match(labels[genes], numbers))]
  at <- max.col(replace(kme, is.na(kme), -Inf), ties.method = "first")
  best <- kme[cbind(seq_along(genes), at)]
  n <- length(set$samples) # WGCNA's count of samples
  gain <- WGCNA::corPvalueFisher(best, n) / WGCNA::corPvalueFisher(own, n)
  moves <- which(own < best & is.finite(gain) & gain < job$reassignThreshold)
  leaving <- tabulate(labels[genes[moves]], max(numbers))
  small <- which(leaving > 0 & tabulate(labels, max(numbers)) - leaving < job$minModuleSize)
  labels[genes[moves]] <- numbers[at[moves]]
  labels[labels %in% small] <- 0L
  labels
}

# Step 6. A merged module is named after the one that is first in the tree. The correlations of several data sets'
# eigengenes are combined by WGCNA.
merged_modules <- function(colors, sets, job) {
  modules <- module_colors(colors)
  if (length(modules) > 1L && !is.null(job$consensus)) {
    data <- lapply(sets, function(set) list(data = as.matrix(pick_columns(set$x, seq_len(ncol(set$x))))))
    probs <- job$consensus$probs
    utils::capture.output(found <- withr::with_preserve_seed(WGCNA::mergeCloseModules(
      data, colors, cutHeight = job$mergeCutHeight, consensusQuantile = if (is.null(probs)) 0 else probs,
      getNewMEs = FALSE, verbose = 0)))
    return(as.character(found$colors))
  }
  while (length(modules) > 1L) {
    eigengenes <- eigengenes_of(colors, modules, sets[[1L]]$x)$values
    tree <- stats::hclust(1 - coefficients_of(list(eigengenes), job), method = "average")
    branch <- stats::cutree(tree, h = job$mergeCutHeight)
    if (!anyDuplicated(branch)) break
    first <- modules[tree$order][match(branch, branch[tree$order])]
    is_in <- colors != "grey"
    colors[is_in] <- first[match(colors[is_in], modules)]
    modules <- module_colors(colors)
  }
  colors
}

module_colors <- function(colors) sort(setdiff(unique(colors), "grey"))

# ---- eigengenes: one value per sample that summarizes a module's genes

# Returns list(values: matrix, samples x modules; explained: fraction of variance of each module; loadings: as in
# ?gpuModules, for each column of x). An eigengene is the first principal component of scaled columns, with length 1
# and the sign of their mean. `labels`: module of each gene, in the same terms as `modules`.
eigengenes_of <- function(labels, modules, x) {
  explained <- stats::setNames(numeric(length(modules)), modules)
  values <- matrix(0, nrow(x), length(modules), dimnames = list(rownames(x), modules))
  loadings <- matrix(NA_real_, ncol(x), 3L)
  for (k in seq_along(modules)) {
    genes <- which(labels == modules[k])
    own <- as.matrix(pick_columns(x, genes))
    scaled <- scale(if (anyNA(own)) imputed(own) else own)
    first <- svd(scaled, nu = 1L, nv = 0L)
    component <- first$u[, 1L]
    if (sum(component * rowMeans(scaled)) < 0) component <- -component
    values[, k] <- component
    explained[k] <- first$d[1L]^2 / sum(first$d^2)
    loadings[genes, ] <- c(attr(scaled, "scaled:center"), attr(scaled, "scaled:scale"),
                           crossprod(scaled, component) / first$d[1L]^2)
  }
  list(values = values, explained = explained, loadings = loadings)
}

# Returns the kME of all genes: genes x eigengenes.
kme_of <- function(x, eigengenes, job) {
  do.call(rbind, lapply(column_ranges(ncol(x), nrow(x)), function(genes) {
    coefficients_of(list(pick_columns(x, genes), eigengenes), job)
  }))
}

# Imputes missing values like WGCNA, but restores the random number generator.
imputed <- function(values) {
  if (ncol(values) < 2L) return(values)
  need_packages("impute", "'x' has missing values, and an eigengene of them")
  withr::with_preserve_seed(t(impute::impute.knn(t(values), k = min(10, ncol(values) - 1))$data))
}

# ---- stability: whether genes stay together in resamples, each a part of the samples

# Returns for each gene the fraction of the resamples in which it stays with its module; NA for a gene in none. Genes
# without variance in a resample are in none of its modules. `colors`: of the included genes; `drawn`: for each set a
# list of the rows of each resample.
stability_of_genes <- function(colors, drawn, sets, job) {
  n <- length(drawn[[1L]])
  stays <- each_subject(n, function(b) {
    x <- Map(function(set, own) pick_columns(set$x, seq_len(ncol(set$x)))[own[[b]], , drop = FALSE], sets, drawn)
    good <- taking_part(x, job$use)
    sets <- Map(sets, x, good$samples, f = function(set, x, samples) {
      list(x = x[samples, good$genes, drop = FALSE], samples = samples, power = set$power)
    })
    resampled <- rep("grey", length(colors))
    if (sum(good$genes) > 2L) resampled[good$genes] <- repeated(found_modules(sets, job)$colors)
    stays_with_module(colors, resampled)
  }, paste("resample", seq_len(n)))
  replace(Reduce(`+`, stays) / n, colors == "grey", NA)
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
