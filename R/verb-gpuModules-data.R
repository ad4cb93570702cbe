# The data of modules: which genes and samples are included.

# Returns list(sets: for each data set x with the included genes and samples, these samples, and all sample names;
# genes: TRUE for included ones; names: all gene names). `sets`: a list of data sets.
module_data <- function(sets, use, assay) {
  several <- !is.null(names(sets))
  sets <- if (several) Map(genes_of_set, sets, seq_along(sets), list(assay)) else lapply(sets, genes_of, assay)
  if (!use %in% c("everything", "all.obs", "pairwise.complete.obs")) {
    fail("'use' is \"", use, "\", which gpuModules() does not take; leave incomplete samples out yourself, ",
         "x[complete.cases(x), ], or use = \"pairwise.complete.obs\"")
  }
  check_same_variables(sets)
  good <- taking_part(sets, use)
  if (sum(good$genes) < 3L) {
    fail("'x' must have at least 3 genes whose values are there and differ, not ", sum(good$genes))
  }
  list(sets = Map(data_set, sets, good$samples, list(good$genes)), genes = good$genes, names = colnames(sets[[1L]]))
}

genes_of <- function(x, assay) {
  check_has_assay(x, NULL, assay)
  given <- x
  x <- check_variables(x, "x", assay)
  check_matrix_like(x, "a gene in each column")
  warn_transposed(given)
  x
}

# Adds the number of the data set to an error.
genes_of_set <- function(x, number, assay) {
  tryCatch(genes_of(x, assay), error = function(e) fail("data set ", number, ": ", conditionMessage(e)))
}

data_set <- function(x, samples, genes) {
  names <- rownames(x)
  if (!all(genes)) x <- pick_named(x, which(genes))
  if (!all(samples)) x <- x[samples, , drop = FALSE]
  list(x = x, samples = samples, sample_names = names)
}

# Returns list(genes, samples: a list): TRUE for those that are included.
taking_part <- function(sets, use) {
  if (any(vapply(sets, has_missing, NA))) {
    if (use != "pairwise.complete.obs") {
      fail("'x' has missing values; use = \"pairwise.complete.obs\" leaves them out pair by pair, as WGCNA does")
    }
    sets <- lapply(sets, as.matrix)
    for (x in sets) if (any(is.infinite(x))) fail_infinite(x)
    good <- if (length(sets) == 1L) {
      WGCNA::goodSamplesGenes(sets[[1L]], verbose = 0)
    } else {
      WGCNA::goodSamplesGenesMS(lapply(sets, function(x) list(data = x)), verbose = 0)
    }
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
  size <- max(unlist(column_blocks(x, function(values) max(abs(values), 0))))
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
