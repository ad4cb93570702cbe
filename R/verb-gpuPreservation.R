#' Preservation of modules in other data
#'
#' `gpuPreservation()` tests whether modules of genes are also modules in another data set: whether their genes are
#' still correlated (density), and in the same pattern (connectivity). The statistics are those of
#' `WGCNA::modulePreservation()` (Langfelder and others 2011) and of package NetRep (Ritchie and others 2016).
#'
#' Genes are matched by column names; all others are left out. The observed statistics compare each module in
#' `reference` with the same genes in `test`. Each of `n_perm` permutations assigns the modules' labels to randomly
#' drawn genes of `test`, in modules of the same sizes; unassigned genes are drawn, too. Z is the difference between the
#' observed statistic and the mean of the permuted ones in units of their standard deviation. `set.seed()` makes the
#' permutations reproducible, with any number of threads.
#'
#' **Interpretation.** Langfelder and others recommend: there is strong evidence of preservation if Zsummary is above
#' 10, moderate evidence from 2 to 10, and none below 2. Zsummary increases with the size of a module. `medianRank`
#' does not: modules with lower ranks are better preserved.
#'
#' **Statistics.** All coefficients are Pearson's. An adjacency follows from a coefficient as in [gpuModules()]; with
#' `network = "overlap"` it is the topological overlap ([gpuTOM()]) of all matched genes. kME is the correlation of a
#' gene with its module's eigengene, and kIM the sum of its adjacencies with the others of the module.
#'
#' | statistic | definition | in NetRep | part of |
#' |---|---|---|---|
#' | `propVarExplained` | mean of squared kME | `coherence` | Zdensity |
#' | `meanSignAwareKME` | absolute value of `avg.contrib` | | Zdensity |
#' | `meanSignAwareCorDat` | mean coefficient, with the signs in `reference` | `avg.cor` | Zdensity |
#' | `meanAdj` | mean adjacency | `avg.weight` | Zdensity |
#' | `meanMAR` | mean maximum adjacency ratio: a gene's sum of squared adjacencies over kIM | | |
#' | `cor.kIM` | correlation of kIM between the data sets | `cor.degree` | Zconnectivity |
#' | `cor.kME` | absolute value of `cor.contrib` | | Zconnectivity |
#' | `cor.cor` | correlation of the coefficients | `cor.cor` | Zconnectivity |
#' | `cor.MAR` | correlation of the maximum adjacency ratios | | |
#' | `avg.contrib` | mean of kME, with the signs in `reference` | `avg.contrib` | |
#' | `cor.contrib` | correlation of kME | `cor.contrib` | |
#'
#' Zdensity and Zconnectivity are medians over the statistics of their part, and Zsummary is the mean of these two.
#' `medianRank` is the median rank of a module, among all modules, over the observed statistics of both parts.
#'
#' **P values** are `(1 + b) / (1 + n_perm)` if `b` permutations have a statistic at least as large. The null hypothesis
#' is that the labels are exchangeable among the matched genes, so that a module is no more similar to `reference` than
#' the same number of randomly drawn genes. Genes of `test` may depend on one another. See [gpucor-p-values].
#'
#' @section Differences from WGCNA:
#' * WGCNA always uses power 6, or 12 in signed networks, whatever power the modules were made with.
#' * WGCNA takes a random sample of 1,000 genes from larger modules, unless `maxModuleSize` is higher.
#' * Its ranks include two more rows, the unassigned genes (grey) and a random sample of genes (gold).
#' * Separability, `cor.kMEall` and clustering coefficients, which are not part of its summaries, are not computed.
#' * Missing values are an error. Impute them, for example with `impute::impute.knn()`.
#'
#' @inheritParams gpuCor
#' @param reference,test Expression values, samples in rows and genes in columns, as in [gpuModules()]: the data that
#'   the modules are from, and other data with some of the same genes. Without column names the genes are matched by
#'   position.
#' @param modules The result of [gpuModules()] for `reference`; or the label of each gene, a vector of numbers or text
#'   in the order of the columns of `reference`, or named by genes. 0, `"grey"` and `NA`: in no module.
#' @param n_perm An integer: the number of permutations; 0: only observed statistics and ranks.
#' @param power A positive number, or `NULL`: the power of `modules` if [gpuModules()] made them, otherwise WGCNA's, 6,
#'   or 12 in signed networks.
#' @param type A string: `"unsigned"`, `"signed"` or `"signed hybrid"`, how a coefficient becomes an adjacency, see
#'   [pickPower()]. By default that of `modules` if [gpuModules()] made them.
#' @param network A string: `"adjacency"`; or `"overlap"`, the topological overlap instead of the adjacency.
#' @return A list of class `gpuPreservation`:
#' \item{modules}{a data frame with a row for each module, the largest first: `module`, its label; `size`, the number of
#'   its matched genes; `Zsummary`, `Zdensity`, `Zconnectivity`, `medianRank`, `medianRankDensity` and
#'   `medianRankConnectivity`}
#' \item{observed, Z, p.value}{matrices, module x statistic}
#' \item{permuted}{array, permutation x module x statistic}
#' \item{genes, n_obs}{the number of matched genes; the number of samples of `reference` and of `test`}
#' \item{n_perm, type, power, network, call}{the settings; the call}
#'
#' Modules with fewer than three matched genes are left out with a warning, as are genes without variance.
#'
#' `as.data.frame()` has the summaries, the observed statistics, Z and p values in one row for each module. `summary()`
#' has the modules' summaries, and how many modules have a Zsummary above 10, from 2 to 10, and below 2. `plot()` draws
#' Zsummary and `medianRank` by size, as in Langfelder and others (2011).
#' @section Errors: As [gpuCor()]; missing or infinite values; fewer than three genes in common; no label for a column
#'   of `reference`; no module with at least three of the genes in common; modules that do not fit in free memory (4
#'   bytes for each pair of a module's genes, twice).
#' @references
#' Langfelder P, Luo R, Oldham MC, Horvath S (2011). Is my network module preserved and reproducible? *PLoS
#' Computational Biology* 7(1), e1001057.
#'
#' Ritchie SC, Watts S, Fearnley LG, Holt KE, Abraham G, Inouye M (2016). A scalable permutation approach reveals
#' replication and preservation patterns of network modules in large datasets. *Cell Systems* 3, 71-82.
#' @seealso [gpuModules()], [gpuTOM()], [gpuCorCompare()] for single pairs of genes
#' @examples
#' # three modules of 40 genes in the reference; the third one is none in the test set
#' set.seed(1)
#' data_set <- function(factors, loading) {
#'   x <- factors[, rep(1:4, c(40, 40, 40, 80))] * rep(loading, each = nrow(factors))
#'   x <- x + matrix(rnorm(nrow(factors) * 200), ncol = 200)
#'   structure(x, dimnames = list(NULL, paste0("g", 1:200)))
#' }
#' loading <- runif(200, 0.5, 1.5)
#' reference <- data_set(matrix(rnorm(160), 40), replace(loading, 121:200, 0))
#' test <- data_set(matrix(rnorm(120), 30), replace(loading, 81:200, 0))
#' modules <- rep(c("blue", "red", "gold", "grey"), c(40, 40, 40, 80))
#' preserved <- gpuPreservation(reference, test, modules, n_perm = 99)
#' preserved
#' preserved$p.value[, c("meanAdj", "cor.cor")]
#' plot(preserved)
#' # several test sets: lapply(tests, function(test) gpuPreservation(reference, test, modules))
#' @export
gpuPreservation <- function(reference, test, modules, n_perm = 200, power = NULL,
                            type = c("unsigned", "signed", "signed hybrid"), network = c("adjacency", "overlap"),
                            assay = NULL, ..., control = gpuControl(...)) {
  check_control(control, missing(control), ...names())
  n_perm <- check_whole(n_perm, "n_perm", 0, 1e6)
  rule <- preservation_rule(modules, power, if (!missing(type)) check_choice(type, types, "type"))
  network <- check_choice(network, c("adjacency", "overlap"), "network")
  settings <- new_settings(control)
  data <- preserved_data(reference, test, modules, assay)
  check_module_pairs(lengths(data$members))
  sets <- lapply(data$sets, function(x) {
    list(columns = standardized_columns(x), overlaps = if (network == "overlap") overlaps_of(x, rule, control))
  })
  found <- preservation_statistics(sets, data$members, rule$engine, n_perm, settings)
  compared <- compare_with_permuted(found$observed, found$permuted)
  summary <- preservation_summary(found$observed, compared$Z)
  modules <- data.frame(module = names(data$members), size = unname(lengths(data$members)), summary)
  structure(c(list(modules = modules, observed = found$observed), compared,
              list(permuted = found$permuted, genes = ncol(data$sets$test), n_obs = vapply(data$sets, nrow, 0L),
                   n_perm = n_perm, type = rule$type, power = rule$power, network = network, call = sys.call())),
            class = c("gpuPreservation", "gpuCorResult"))
}

# Returns list(type, power, overlap: further arguments of gpuTOM(); engine: what the engine reads).
preservation_rule <- function(modules, power, type) {
  made <- if (inherits(modules, "gpuModules")) modules
  if (is.null(type)) type <- if (is.null(made)) "unsigned" else made$type
  if (is.null(power)) power <- if (is.null(made)) if (type == "signed") 12 else 6 else unique(made$power)
  if (length(power) > 1L && !is.null(made)) {
    fail("'power' must be given, as the data sets of 'modules' have different powers: ", toString(power))
  }
  if (!is_number(power) || !is.finite(power) || power <= 0) {
    fail("'power' must be a positive number, not ", show_value(power))
  }
  power <- as.numeric(power)
  list(type = type, power = power, overlap = made[c("TOMType", "TOMDenom")],
       engine = list(similarity = constant(type), power = power))
}

overlaps_of <- function(x, rule, control) {
  do.call(gpuTOM, c(list(x, power = rule$power, type = rule$type, control = control), rule$overlap), quote = TRUE)
}

# The reference's coefficients are kept, and each draw reads them.
check_module_pairs <- function(sizes) {
  check_memory(4 * sum(as.numeric(sizes)^2), "gpuPreservation()", n_of(length(sizes), "module"),
               "leave out the largest module")
}

# ---- data

# Returns list(sets: list(reference, test), matrices of the same genes; members: for each module the indices of its
# genes).
preserved_data <- function(reference, test, modules, assay) {
  sets <- list(reference = naming(read_genes(reference, assay), "x", "reference"),
               test = naming(read_genes(test, assay), "x", "test"))
  labels <- labels_of_columns(modules, colnames(sets$reference), ncol(sets$reference))
  common <- common_genes(sets)
  sets <- Map(function(x, columns, name) matched_matrix(x, columns, name), sets, common, names(sets))
  labels <- labels[common$reference]
  varying <- Reduce(`&`, lapply(sets, differing))
  if (!all(varying)) {
    warn("gpuCorConstant", "genes without variance are left out: ", column_names(which(!varying), colnames(sets[[1L]])))
    sets <- lapply(sets, function(x) x[, varying, drop = FALSE])
  }
  if (sum(varying) < 3L) fail("'reference' and 'test' must have at least 3 genes in common, not ", sum(varying))
  list(sets = sets, members = module_columns(labels[varying]))
}

# Returns the label of each column as text; NA: in no module.
labels_of_columns <- function(modules, names, n) {
  labels <- if (inherits(modules, "gpuModules")) modules$colors else modules
  if (!is.null(dim(labels)) || !(is.numeric(labels) || is.character(labels) || is.factor(labels))) {
    fail("'modules' must be the result of gpuModules(), or a vector with a label for each column of 'reference', not ",
         "of class ", class(modules)[1L])
  }
  by_name <- !is.null(names(labels)) && !is.null(names)
  if (!by_name && length(labels) != n) {
    fail("'modules' has ", n_of(length(labels), "label"), ", and 'reference' ", n_of(n, "column"))
  }
  absent <- if (by_name) setdiff(names, names(labels))
  if (length(absent)) {
    fail("'modules' has no label for ", n_of(length(absent), "column"), " of 'reference', such as ", absent[1L])
  }
  found <- stats::setNames(as.character(labels), names(labels))
  if (by_name) found <- found[names]
  found[found %in% c("0", "grey")] <- NA
  unname(found)
}

# Returns list(reference, test): the columns of each set with the genes that both have.
common_genes <- function(sets) {
  names <- lapply(sets, colnames)
  without <- vapply(names, is.null, NA)
  if (all(without)) {
    n <- vapply(sets, ncol, 0)
    if (n[1L] != n[2L]) fail("'reference' has ", n_of(n[1L], "column"), ", and 'test' ", n[2L], "; name them by genes")
    return(list(reference = seq_len(n[1L]), test = seq_len(n[1L])))
  }
  if (any(without)) fail("'", names(sets)[without], "' has no column names, by which genes are matched")
  for (set in names(sets)) {
    twice <- anyDuplicated(names[[set]])
    if (twice) fail("'", set, "' has several columns ", names[[set]][twice], "; keep one of them")
  }
  both <- intersect(names$reference, names$test)
  lapply(names, function(own) match(both, own))
}

# Returns the columns as an ordinary matrix of finite numbers.
matched_matrix <- function(x, columns, name) {
  values <- as.matrix(pick_named(x, columns))
  storage.mode(values) <- "double"
  bad <- which(!is.finite(colSums(values)))
  if (length(bad)) {
    fail("'", name, "' has missing or infinite values, in ", column_names(bad, colnames(values)),
         "; leave out such genes, or impute the values")
  }
  values
}

# Returns a list of indices, named by labels, the largest module first.
module_columns <- function(labels) {
  members <- split(seq_along(labels), labels)
  sizes <- lengths(members)
  members <- members[order(-sizes, suppressWarnings(as.numeric(names(members))), names(members))]
  small <- names(sizes)[sizes < 3L]
  if (length(small) == length(sizes)) fail("'modules' has no module with at least 3 genes in common")
  if (length(small)) {
    warn("gpuCorSmallModules", "modules with fewer than 3 genes in common are left out: ",
         toString(utils::head(small, 5L)), if (length(small) > 5L) ", ...")
  }
  members[setdiff(names(members), small)]
}
