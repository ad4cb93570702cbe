# The genes of one or several data sets, for modules: read, adjusted for covariates, and which of them are included.

# Returns list(x: the genes of data set i of n, adjusted for covariates; covariates: a numeric matrix, or NULL).
genes_of <- function(given, use, specs, i, n) {
  assay <- assay_of(specs$control)
  if (inherits(assay, "gpuPseudobulk")) {
    given <- read_pseudobulk(given, assay)
    assay <- NULL
  }
  check_has_assay(given, NULL, assay)
  x <- check_variables(given, "x", assay)
  check_matrix_like(x, "a gene in each column")
  warn_transposed(given, x)
  asked <- asked_of_subject(specs$adjustment, i, n)
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
  has_gaps <- any(vapply(sets, has_missing, NA))
  if (has_gaps && use != "pairwise.complete.obs") {
    fail("'x' has missing values; use = \"pairwise.complete.obs\" leaves them out pair by pair, as WGCNA does")
  }
  for (x in sets) { # eigengenes need finite values for every measure
    bad <- which(as.logical(unlist(column_blocks(x, function(values) colSums(is.infinite(values)) > 0))))
    if (length(bad)) {
      fail("'x' has infinite values, in ", column_names(bad, colnames(x)), "; ", INFINITE_WAY_OUT,
           ". Or leave out genes, x[, colSums(is.infinite(x)) == 0]")
    }
  }
  if (!has_gaps) {
    return(list(genes = Reduce(`&`, lapply(sets, differing)), samples = lapply(sets, function(x) rep(TRUE, nrow(x)))))
  }
  sets <- lapply(sets, as.matrix)
  good <- with_our_errors(if (length(sets) == 1L) {
    WGCNA::goodSamplesGenes(sets[[1L]], verbose = 0)
  } else {
    WGCNA::goodSamplesGenesMS(lapply(sets, function(x) list(data = x)), verbose = 0)
  }, "'x' has too many missing values: ")
  list(genes = good$goodGenes, samples = if (length(sets) == 1L) list(good$goodSamples) else good$goodSamples)
}

# Returns TRUE for columns with variance, by WGCNA's criterion.
differing <- function(x) {
  size <- max(0, unlist(column_blocks(x, function(values) max(0, abs(values)))))
  spread <- unlist(column_blocks(x, function(values) {
    colSums(sweep(values, 2L, colMeans(values))^2) / (nrow(values) - 1)
  }))
  spread > (1e-10 * size)^2 & !is.na(spread)
}
