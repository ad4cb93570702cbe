# The steps from overlap to modules, numbered as in ?gpuModules. `sets`: a list of data sets, each list(x: the included
# genes, samples, power); `job`: how their networks are computed and, with `consensus`, combined; `rules`: arguments
# that decide about genes and modules, `cut` those of cutreeDynamic().

# ---- step 1: which genes and samples are included

# The min number of samples, as in WGCNA. If missing values leave fewer, WGCNA itself stops.
MIN_SAMPLES <- 4

# Returns list(sets: for each data set x with the included genes and samples, these samples, and all sample names;
# genes: TRUE for included ones; names: all gene names; covariates: a matrix, a list of each set's, or NULL). `given`: a
# list of data sets, with names if they are several; `asked`: list(covariates, data).
module_data <- function(given, use, assay, asked) {
  check_module_use(use, "gpuModules()")
  several <- !is.null(names(given))
  read_set <- function(k) genes_of(given[[k]], use, assay, asked_of_subject(asked, k, length(given)))
  read <- if (several) {
    each_subject(length(given), read_set, paste("data set", seq_along(given)))
  } else {
    list(read_set(1L))
  }
  names(read) <- names(given)
  x <- lapply(read, `[[`, "x")
  check_same_variables(x)
  few <- which(vapply(x, nrow, 0L) < MIN_SAMPLES)
  if (length(few)) {
    fail(if (length(x) > 1L) paste0("data set ", few[1L], ": "), "'x' has ", n_of(nrow(x[[few[1L]]]), "row"),
         " (samples); modules need at least ", MIN_SAMPLES)
  }
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
  covariates <- if (!is.null(asked$covariates)) lapply(read, `[[`, "covariates")
  list(sets = sets, genes = good$genes, names = colnames(x[[1L]]),
       covariates = if (several) covariates else covariates[[1L]])
}

check_module_use <- function(use, what) {
  if (use %in% c("everything", "all.obs", "pairwise.complete.obs")) return(invisible())
  fail("'use' is \"", use, "\", which ", what, " does not take; leave incomplete samples out yourself, ",
       "x[complete.cases(x), ], or use = \"pairwise.complete.obs\"")
}

# Returns list(x: genes, adjusted for covariates; covariates: a numeric matrix, or NULL). `asked`: list(covariates,
# data).
genes_of <- function(given, use, assay, asked) {
  check_has_assay(given, NULL, assay)
  x <- check_variables(given, "x", assay)
  check_matrix_like(x, "a gene in each column")
  warn_transposed(given, x)
  if (is.null(asked$covariates)) return(list(x = x))
  adjusted <- residuals_of(x, asked, observations_of(given))
  missing <- which(is.na(adjusted$covariates), arr.ind = TRUE)
  if (nrow(missing) && use != "pairwise.complete.obs") {
    fail("'covariates' is missing ", spot_of(adjusted$covariates, missing), "; leave such samples out, or use = ",
         "\"pairwise.complete.obs\"")
  }
  adjusted
}

# Returns list(genes, samples: a list): TRUE for those that are included.
taking_part <- function(sets, use) {
  if (any(vapply(sets, has_missing, NA))) {
    if (use != "pairwise.complete.obs") {
      fail("'x' has missing values; use = \"pairwise.complete.obs\" leaves them out pair by pair, as WGCNA does")
    }
    sets <- lapply(sets, as.matrix)
    for (x in sets) if (any(is.infinite(x))) fail_infinite(x)
    good <- with_our_errors(if (length(sets) == 1L) {
      WGCNA::goodSamplesGenes(sets[[1L]], verbose = 0)
    } else {
      WGCNA::goodSamplesGenesMS(lapply(sets, function(x) list(data = x)), verbose = 0)
    }, "'x' has too many missing values: ")
    return(list(genes = good$goodGenes, samples = if (length(sets) == 1L) list(good$goodSamples) else good$goodSamples))
  }
  list(genes = Reduce(`&`, lapply(sets, differing)), samples = lapply(sets, function(x) rep(TRUE, nrow(x))))
}

# Eigengenes need finite values for every measure.
fail_infinite <- function(x) {
  bad <- which(unlist(column_blocks(x, function(values) colSums(is.infinite(values)) > 0)))
  fail("'x' has infinite values, in ", column_names(bad, colnames(x)), "; ", INFINITE_WAY_OUT, ". Or leave out genes, ",
       "x[, colSums(is.infinite(x)) == 0]")
}

# Returns TRUE for columns with variance, by WGCNA's criterion.
differing <- function(x) {
  size <- max(unlist(column_blocks(x, function(values) max(abs(values), 0))), 0)
  if (is.infinite(size)) fail_infinite(x)
  spread <- unlist(column_blocks(x, function(values) {
    colSums(sweep(values, 2L, colMeans(values))^2) / (nrow(values) - 1)
  }))
  spread > (1e-10 * size)^2 & !is.na(spread)
}

pick_named <- function(x, columns) {
  values <- pick_columns(x, columns)
  if (is.null(colnames(values)) && !is.null(colnames(x))) colnames(values) <- colnames(x)[columns]
  values
}

# ---- steps 3 to 7

# Returns list(colors, unmerged: their colors before step 6; tree; scales: as in cut_tree()).
found_modules <- function(sets, job, rules) {
  one <- if (is.null(job$consensus)) sets[[1L]]
  found <- cut_tree(sets, job, rules$cut)
  labels <- found$labels
  if (any(labels > 0)) {
    kept <- kept_members(labels, sets, job, rules)
    labels <- if (is.null(one)) kept$labels else reassigned(kept, one, job, rules)
  }
  unmerged <- WGCNA::labels2colors(labels)
  height <- rules$mergeCutHeight
  merged <- if (is.null(one)) {
    merged_over_sets(unmerged, sets, job$consensus$probs, height)
  } else {
    merged_modules(unmerged, one, job, height)
  }
  # Step 7: colors by size.
  modules <- module_colors(merged)
  size <- as.vector(table(factor(merged, modules)))
  colors <- WGCNA::labels2colors(match(merged, modules[order(-size)], nomatch = 0L))
  list(colors = colors, unmerged = unmerged, tree = found$tree, scales = found$scales)
}

# Returns the tree of dissimilarities, the labels of its branches (0: none), and gpuTOM()'s attribute scales.
cut_tree <- function(sets, job, cut) {
  x <- lapply(sets, `[[`, "x")
  if (is.null(job$consensus)) x <- x[[1L]]
  tom <- with_settings(gpuTOM, c(list(x, power = vapply(sets, `[[`, 0, "power")),
                                 job[c("type", "TOMType", "TOMDenom", "method", "use")], job$consensus), job)
  scales <- attr(tom, "scales")
  if (is.na(sum(tom))) { # anyNA() would allocate a logical value for each pair
    fail("some pairs of genes have no coefficient, as too few samples have both; leave out genes with many missing ",
         "values")
  }
  tree <- gpuHclust(tom, control = job$further$control)
  n <- attr(tom, "Size")
  square <- checked(.Call(r_unfold, tom, n, numeric(n), TRUE, new_settings(job$further["control"])$threads))
  rm(tom)
  arguments <- c(list(dendro = tree, distM = square, method = "hybrid"), cut)
  if (is.null(arguments$verbose)) arguments$verbose <- 0
  labels <- as.integer(with_our_errors(do.call(dynamicTreeCut::cutreeDynamic, arguments, quote = TRUE),
                                       "dynamicTreeCut::cutreeDynamic() does not take 'cut' or other arguments: "))
  list(tree = tree, labels = labels, scales = scales)
}

# Calls f() with the options and settings of the job. Messages about sparse or transposed data were shown when the data
# were read.
with_settings <- function(f, arguments, job) {
  suppressWarnings(suppressMessages(do.call(f, c(arguments, job$further), quote = TRUE)), classes = "gpuCorTransposed")
}

# Returns the coefficients of one or two matrices, in double precision as in WGCNA. Warnings would repeat those of the
# overlap.
coefficients_of <- function(data, job) {
  suppressWarnings(with_settings(gpuCor, c(data, list(use = job$use, method = job$method, precision = "double")), job))
}

# Returns the kME that decides membership: genes x eigengenes, absolute values in an unsigned network.
membership <- function(x, genes, eigengenes, job) {
  kme <- coefficients_of(list(pick_columns(x, genes), eigengenes), job)
  if (job$type == "unsigned") abs(kme) else kme
}

# Step 4: returns list(labels, eigengenes). Eigengenes are those of the remaining modules, in the first data set, with
# all genes.
kept_members <- function(labels, sets, job, rules) {
  eigengenes <- lapply(sets, function(set) eigengenes_of(labels, seq_len(max(labels)), set$x)$values)
  for (module in seq_len(max(labels))) {
    genes <- which(labels == module)
    kme <- Map(function(set, own) c(membership(set$x, genes, own[, module, drop = FALSE], job)), sets, eigengenes)
    kme <- over_sets(kme, job$consensus$probs)
    stays <- sum(kme > rules$minCoreKME) >= rules$minCoreKMESize
    leaves <- kme < rules$minKMEtoStay
    if (stays && any(leaves)) stays <- sum(!leaves) >= rules$minModuleSize
    labels[if (stays) genes[leaves] else genes] <- 0L
  }
  list(labels = labels, eigengenes = eigengenes[[1L]][, sort(unique(labels[labels > 0])), drop = FALSE])
}

# Combines the values of all data sets by the quantile `probs`, or the min.
over_sets <- function(each, probs) {
  if (length(each) == 1L) return(each[[1L]])
  if (is.null(probs) || probs == 0) return(do.call(pmin, c(each, na.rm = TRUE)))
  apply(do.call(cbind, each), 1L, stats::quantile, probs, names = FALSE, na.rm = TRUE)
}

# Step 5. The eigengenes' column names are the modules' numbers.
reassigned <- function(found, set, job, rules) {
  labels <- found$labels
  genes <- which(labels > 0)
  if (!length(genes)) return(labels)
  numbers <- as.integer(colnames(found$eigengenes))
  kme <- membership(set$x, genes, found$eigengenes, job)
  own <- kme[cbind(seq_along(genes), match(labels[genes], numbers))]
  at <- max.col(replace(kme, is.na(kme), -Inf), ties.method = "first")
  best <- kme[cbind(seq_along(genes), at)]
  n <- length(set$samples) # WGCNA's count of samples
  gain <- WGCNA::corPvalueFisher(best, n) / WGCNA::corPvalueFisher(own, n)
  moves <- which(own < best & is.finite(gain) & gain < rules$reassignThreshold)
  left <- tabulate(labels, max(numbers)) - tabulate(labels[genes[moves]], max(numbers))
  small <- setdiff(which(left < rules$minModuleSize), which(tabulate(labels[genes[moves]], max(numbers)) == 0))
  labels[genes[moves]] <- numbers[at[moves]]
  labels[labels %in% small] <- 0L
  labels
}

# Step 6. A merged module is named after the one that is first in the tree.
merged_modules <- function(colors, set, job, height) {
  repeat {
    modules <- module_colors(colors)
    if (length(modules) < 2L) return(colors)
    eigengenes <- eigengenes_of(colors, modules, set$x)$values
    tree <- stats::hclust(1 - coefficients_of(list(eigengenes), job), method = "average")
    branch <- stats::cutree(tree, h = height)
    if (!anyDuplicated(branch)) return(colors)
    first <- modules[tree$order][match(branch, branch[tree$order])]
    is_in <- colors != "grey"
    colors[is_in] <- first[match(colors[is_in], modules)]
  }
}

# Step 6 of several data sets, which combines the correlations of their eigengenes.
merged_over_sets <- function(colors, sets, probs, height) {
  if (length(module_colors(colors)) < 2L) return(colors)
  data <- lapply(sets, function(set) list(data = as.matrix(pick_columns(set$x, seq_len(ncol(set$x))))))
  utils::capture.output(found <- withr::with_preserve_seed(WGCNA::mergeCloseModules(
    data, colors, cutHeight = height, consensusQuantile = if (is.null(probs)) 0 else probs, getNewMEs = FALSE,
    verbose = 0)))
  as.character(found$colors)
}

module_colors <- function(colors) sort(setdiff(unique(colors), "grey"))

# ---- eigengenes: one value per sample that summarizes a module's genes

# Returns list(values: matrix, samples x modules; explained: fraction of variance of each module). `labels`: module of
# each gene, in the same terms as `modules`.
eigengenes_of <- function(labels, modules, x) {
  found <- lapply(modules, function(module) eigengene(as.matrix(pick_columns(x, which(labels == module)))))
  values <- vapply(found, `[[`, numeric(nrow(x)), "values")
  list(values = matrix(values, nrow(x), dimnames = list(rownames(x), modules)),
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
  if (stability == 0) return(list())
  lapply(sets, function(set) draw_units(seq_len(nrow(set$x)), stability, fraction, MIN_RESAMPLE, "sample"))
}

# Returns for each gene the fraction of the resamples in which it stays with its module; NA for a gene in none.
# `colors`: of the included genes.
stability_of_genes <- function(colors, drawn, sets, job, rules) {
  n <- length(drawn[[1L]])
  stays <- lapply(seq_len(n), function(b) {
    prefixed(paste("resample", b), {
      stays_with_module(colors, resampled_colors(lapply(drawn, `[[`, b), sets, job, rules))
    })
  })
  replace(Reduce(`+`, stays) / n, colors == "grey", NA)
}

# Returns the colors of a resample's modules. Genes without variance in the resample are in none.
resampled_colors <- function(drawn, sets, job, rules) {
  x <- Map(function(set, rows) pick_columns(set$x, seq_len(ncol(set$x)))[rows, , drop = FALSE], sets, drawn)
  good <- taking_part(x, job$use)
  sets <- Map(sets, x, good$samples, f = function(set, x, samples) {
    list(x = x[samples, good$genes, drop = FALSE], samples = samples, power = set$power)
  })
  colors <- rep("grey", length(good$genes))
  if (sum(good$genes) > 2L) colors[good$genes] <- suppressWarnings(found_modules(sets, job, rules)$colors)
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
