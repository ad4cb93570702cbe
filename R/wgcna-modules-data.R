# The data of modules: which genes and samples are included.

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
