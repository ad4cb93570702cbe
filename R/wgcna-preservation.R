#' Preservation of modules in other data
#'
#' `gpuPreservation()` tests whether modules of genes are also modules in another data set: whether their genes are
#' still correlated (density), and in the same pattern (connectivity). The statistics are those of
#' `WGCNA::modulePreservation()` (Langfelder and others 2011) and of package NetRep.
#'
#' Genes are matched by column names; all others are left out, and so are, with a warning, genes without variance and
#' modules of fewer than three matched genes. The observed statistics compare each module in `reference` with the same
#' genes in `test`. Each of `n_perm` permutations assigns the modules' labels to randomly drawn genes of `test`, in
#' modules of the same sizes; unassigned genes are drawn, too. Z is the difference between the observed statistic and
#' the mean of the permuted ones in units of their standard deviation. [set.seed()] makes the permutations reproducible.
#'
#' **What is tested.** With `null = "labels"`, as in WGCNA and NetRep, the permutations leave `reference` as it is. The
#' null hypothesis is that the identities of the genes are unrelated between the data sets, not that the genes form no
#' module. Two data sets of the same tissue share much of their correlation, also outside modules. Statistics that
#' compare them gene by gene or pair by pair are then significant for random sets of genes, too: in comparisons of real
#' expression data, 86 to 100 % of random sets had p <= 0.05, and 90 to 100 % had a Zsummary above 2. The three that are
#' marked * below are computed from `test` alone: 5 to 7 % of the random sets had p <= 0.05.
#'
#' `null = "random sets"` takes the drawn genes in both data sets: is a module better preserved than other sets of as
#' many genes? At most about 5 % of random sets have p <= 0.05 by each statistic, however much the data sets share. A
#' module that was found in the reference has other signs there than random sets have: of statistics with signs, or that
#' compare genes with genes, the larger p and the smaller Z of both kinds of draws are returned.
#'
#' **Interpretation.** Langfelder and others recommend: there is strong evidence of preservation if Zsummary is above
#' 10, moderate evidence from 2 to 10, and none below 2. Zsummary increases with the size of a module. `medianRank` does
#' not: modules with lower ranks are better preserved. As a negative control, `gold` genes, drawn at random from all
#' matched ones, are tested as a module. With `"labels"` a module is preserved as one if its Z are clearly above those
#' of as many `gold` genes.
#'
#' **Statistics.** All coefficients are Pearson's. An adjacency follows from a coefficient as in [gpuModules()]; with
#' `network = "overlap"` it is the topological overlap ([gpuTOM()]) of all matched genes. kME is the correlation of a
#' gene with its module's eigengene, and kIM the sum of its adjacencies with the others of the module.
#'
#' | statistic | definition | in NetRep | part of |
#' |---|---|---|---|
#' | `propVarExplained` * | mean of squared kME | `coherence` | Zdensity |
#' | `meanSignAwareKME` | absolute value of `avg.contrib` | | Zdensity |
#' | `meanSignAwareCorDat` | mean coefficient, with the signs in `reference` | `avg.cor` | Zdensity |
#' | `meanAdj` * | mean adjacency | `avg.weight` | Zdensity |
#' | `meanMAR` * | mean maximum adjacency ratio: a gene's sum of squared adjacencies over kIM | | |
#' | `cor.kIM` | correlation of kIM between the data sets | `cor.degree` | Zconnectivity |
#' | `cor.kME` | absolute value of `cor.contrib` | | Zconnectivity |
#' | `cor.cor` | correlation of the coefficients | `cor.cor` | Zconnectivity |
#' | `cor.MAR` | correlation of the maximum adjacency ratios | | |
#' | `avg.contrib` | mean of kME, with the signs in `reference` | `avg.contrib` | |
#' | `cor.contrib` | correlation of kME | `cor.contrib` | |
#'
#' \* computed from `test` alone: tests whether the genes are a module there.
#'
#' Zdensity and Zconnectivity are medians over the statistics of their part, and Zsummary is the mean of these two.
#' `medianRank` is the median rank of a module, among all modules, over the observed statistics of both parts.
#'
#' **P values** are `(1 + b) / (1 + n_perm)` if `b` permutations have a statistic at least as large ([gpucor-p-values]).
#'
#' @section Differences from WGCNA:
#' * WGCNA always uses power 6, or 12 in signed networks.
#' * WGCNA takes a random sample of 1,000 genes from larger modules, unless `maxModuleSize` is higher.
#' * Its ranks include two more rows, the unassigned genes (grey) and a random sample of genes (gold).
#' * Separability, `cor.kMEall` and clustering coefficients, which are not part of its summaries, are not computed.
#' * Missing values are an error, or imputed (`use`), where WGCNA leaves them out pair by pair.
#'
#' @param reference,test Expression values, samples in rows and genes in columns, as in [gpuModules()]: the data that
#'   the modules are from, and other data with some of the same genes. Without names, genes are matched by position.
#' @param modules The result of [gpuModules()] for `reference`; or the label of each gene, a vector of numbers or text
#'   in the order of the columns of `reference`, or named by genes. 0, `"grey"` and `NA`: in no module.
#' @param n_perm An integer: the number of permutations; 0: only observed statistics and ranks.
#' @param power A positive number, or `NULL`: the power of `modules` if [gpuModules()] made them, else 6 (signed: 12).
#' @param type A string: `"unsigned"`, `"signed"` or `"signed hybrid"`, see [pickPower()]. Default: that of `modules`.
#' @param network A string: `"adjacency"`, or `"overlap"` for the topological overlap instead.
#' @param use A string: `"everything"` or `"all.obs"`, missing values are an error; `"pairwise.complete.obs"`, samples
#'   and then genes with more than half of their values missing are left out, and other missing values are imputed as
#'   for the eigengenes of [gpuModules()], among the matched genes.
#' @param gold An integer: the number of genes of the negative control, at most half of the matched ones; below 3: none.
#' @param null A string: `"labels"`, genes are drawn in `test` only; `"random sets"`, in both, which takes longer.
#' @param ...,adjustment,control `r offered_words("gpuPreservation")`
#'   If the modules were made with `covariates`, give them here, too: a list with an element for `reference` and one for
#'   `test`, or one formula for both, whose variables are in `data`, which is also a list of two.
#' @return A list of class `gpuPreservation`:
#' \item{modules}{a data frame with a row for each module, the largest first: `module`, its label; `size`, the number of
#'   its matched genes; `Zsummary`, `Zdensity`, `Zconnectivity`, `medianRank`, `medianRankDensity` and
#'   `medianRankConnectivity`}
#' \item{observed, Z, p.value}{matrices, module x statistic}
#' \item{permuted}{array, permutation x module x statistic}
#' \item{genes, n_obs, n_perm, ..., call}{the number of matched genes; those of samples; the settings; the call}
#' \item{gold}{the negative control, if there are permutations: a data frame with one row, as `as.data.frame()` returns.
#'   Its `module` is `"gold"`, whether or not a module has this label}
#'
#' `as.data.frame()` has the summaries, the observed statistics, Z and p values in one row for each module. `summary()`
#' has the modules' summaries, and how many modules have a Zsummary above 10, from 2 to 10, and below 2.
#' @references
#' Langfelder P, Luo R, Oldham MC, Horvath S (2011). *PLoS Computational Biology* 7(1), e1001057.
#'
#' @examples
#' # three modules of 40 genes in the reference; the third one is none in the test set
#' set.seed(1)
#' modules <- rep(c("blue", "red", "green", "grey"), c(40, 40, 40, 80))
#' data_set <- function(n, kept) {
#'   factors <- matrix(rnorm(n * 4), n, dimnames = list(NULL, c("blue", "red", "green", "grey")))
#'     unname(factors[, modules]) * rep(modules %in% kept, each = n) + matrix(rnorm(n * 200), n)
#' }
#' reference <- data_set(40, c("blue", "red", "green"))
#' test <- data_set(30, c("blue", "red"))
#' preserved <- gpuPreservation(reference, test, modules, n_perm = 99)
#' preserved
#' plot(preserved)
#' @order 1
#' @export
gpuPreservation <- function(reference, test, modules, n_perm = 200, power = NULL,
                            type = c("unsigned", "signed", "signed hybrid"), network = c("adjacency", "overlap"),
                            use = "everything", gold = 1000, null = c("labels", "random sets"), ...,
                            adjustment = NULL, control = NULL) {
  specs <- specs_of("gpuPreservation", ...)
  n_perm <- check_whole(n_perm, "n_perm", 0, 1e6)
  made <- if (inherits(modules, "gpuModules")) modules
  types <- eval(formals()$type)
  type <- if (!missing(type)) check_choice(type, types, "type") else if (is.null(made)) "unsigned" else made$type
  if (is.null(power)) power <- if (!is.null(made)) unique(made$power) else if (type == "signed") 12 else 6
  check_that(power, "power", length(power) == 1L || is.null(made),
             "one number, as the data sets of 'modules' have different powers")
  # Arguments of gpuTOM().
  check_that(power, "power", are_finite(power, 1L) && power > 0, "a positive number")
  rule <- c(list(power = as.numeric(power), type = type), made[c("TOMType", "TOMDenom")])
  network <- check_choice(network, c("adjacency", "overlap"), "network")
  gold <- check_whole(gold, "gold", 0)
  null <- check_choice(null, c("labels", "random sets"), "null")
  run <- new_run(NULL, specs, NULL, NULL, "pearson", "everything", takes = "later")
  data <- preserved_data(list(reference = reference, test = test), modules, use, specs)
  specs$control[c("assay", "pseudobulk")] <- NULL # of what has been read
  gold <- if (n_perm > 0) min(gold, ncol(data$sets$test) %/% 2)
  sizes <- as.numeric(c(lengths(data$members), gold))
  # The reference's coefficients are kept, and each draw reads them.
  check_memory(4 * sum(sizes^2), "gpuPreservation()", n_of(length(sizes), "module"), "leave out the largest module")
  sets <- lapply(data$sets, function(x) {
    columns <- sweep(x, 2L, colMeans(x))
    list(columns = sweep(columns, 2L, sqrt(colSums(columns^2)), "/"), # of mean 0 and length 1
         overlaps = if (network == "overlap") do.call(gpuTOM, c(list(x, control = specs$control), rule), quote = TRUE))
  })
  preserved <- function(members, from, width) {
    preservation_statistics(sets, members, rule, n_perm, null, part_of(run, from, width))
  }
  cost <- sum(lengths(data$members)^2) / sum(lengths(data$members)^2, gold^2)
  found <- preserved(data$members, 0, cost)
  result <- c(found, list(genes = ncol(data$sets$test), n_obs = vapply(data$sets, nrow, 0L), n_perm = n_perm,
                          null = null, type = rule$type, power = rule$power, network = network, call = sys.call()))
  if (sum(gold) > 2) {
    # The state of the random number generator is restored, so that later draws do not depend on `gold`.
    drawn <- withr::with_preserve_seed(preserved(list(gold = sample.int(result$genes, gold)), cost, 1 - cost))
    drawn$modules[c("medianRank", "medianRankDensity", "medianRankConnectivity")] <- NA_real_
    result$gold <- as.data.frame(structure(drawn, class = "gpuPreservation"))
  }
  structure(result, class = c("gpuPreservation", "gpuCorResult"), adjusted = data$adjusted)
}

# ---- data: the genes of both data sets, and their modules

# Returns list(sets: list(reference, test), matrices of the same genes; members: for each module the indices of its
# genes; adjusted: NULL, or list(covariates: their numbers)). `given`: list(reference, test).
preserved_data <- function(given, modules, use, specs) {
  use <- check_choice(use, MODULE_USES, "use", OTHER_USES)
  if (inherits(modules, "gpuModules") && !is.null(modules$covariates) && is.null(specs$adjustment$covariates)) {
    warn("gpuCorUnadjusted", "'modules' were made with covariates, and 'reference' and 'test' are not adjusted for ",
         "any; covariates = list(modules$covariates, z) adjusts them, with z the covariates of 'test'")
  }
  specs$adjustment <- lapply(specs$adjustment, function(each) {
    if (setequal(names(each), names(given))) each[names(given)] else each
  })
  read <- Map(given, 1:2, names(given), f = function(x, k, name) naming(genes_of(x, use, specs, k, 2L), "x", name))
  sets <- lapply(read, `[[`, "x")
  labels <- labels_of_columns(modules, colnames(sets$reference), ncol(sets$reference))
  is_imputed <- use == "pairwise.complete.obs"
  data <- matched_data(sets, labels, is_imputed)
  kept_genes <- function(keeps, what) { # leaves those out for which keeps() is FALSE in a set
    kept <- Reduce(`&`, lapply(data$sets, keeps))
    kept <- kept & !is.na(kept) # without rows there is no mean
    if (all(kept)) return(data)
    warn("gpuCorConstant", "genes ", what, " are left out: ", column_names(which(!kept), colnames(data$sets[[1L]])))
    list(sets = lapply(data$sets, function(x) x[, kept, drop = FALSE]), labels = data$labels[kept])
  }
  if (is_imputed) {
    data <- kept_genes(function(x) colMeans(is.na(x)) <= 0.5, "with more than half of their values missing")
    data$sets <- Map(function(x, name) if (anyNA(x)) naming(imputed(x), "x", name) else x, data$sets, names(sets))
  }
  data <- kept_genes(differing, "without variance")
  n_genes <- ncol(data$sets$test)
  if (n_genes < 3L) fail("'reference' and 'test' must have at least 3 genes in common, not ", n_genes)
  n_covariates <- vapply(unname(read), function(set) NCOL(set$covariates), 0L)
  # Indices, named by labels, the largest module first, and those of equal size by number or name.
  members <- split(seq_along(data$labels), data$labels)
  sizes <- lengths(members)
  numbers <- vapply(names(members), function(label) {
    label <- utils::type.convert(label, as.is = TRUE)
    if (is.numeric(label)) label else NA
  }, 0)
  members <- members[order(-sizes, numbers, names(members))]
  small <- names(sizes)[sizes < 3L]
  if (length(small) == length(sizes)) fail("'modules' has no module with at least 3 genes in common")
  if (length(small)) {
    warn("gpuCorSmallModules", "modules with fewer than 3 genes in common are left out: ",
         toString(utils::head(small, 5L)), if (length(small) > 5L) ", ...")
  }
  list(sets = data$sets, members = members[setdiff(names(members), small)],
       adjusted = if (!is.null(specs$adjustment$covariates)) list(covariates = n_covariates))
}

# Returns the label of each column as text; NA: in no module.
labels_of_columns <- function(modules, names, n) {
  labels <- if (inherits(modules, "gpuModules")) modules$colors else modules
  ok <- is.null(dim(labels)) && (is_numeric(labels) || is.character(labels) || is.factor(labels))
  check_that(modules, "modules", ok,
             "the result of gpuModules(), or a vector with a label for each column of 'reference'")
  found <- stats::setNames(as.character(labels), names(labels))
  if (!is.null(names(labels)) && !is.null(names)) {
    absent <- setdiff(names, names(labels))
    if (length(absent)) {
      fail("'modules' has no label for ", n_of(length(absent), "column"), " of 'reference', such as ", absent[1L])
    }
    found <- found[names]
  } else {
    check_that(modules, "modules", length(labels) == n,
               paste("a label for each of the", n_of(n, "column"), "of 'reference'"), shown = length(labels))
  }
  found[found %in% c("0", "grey")] <- NA
  unname(found)
}

# Returns list(sets, labels) of the genes that both sets have. Sets are ordinary matrices of finite numbers; with
# `takes_missing` of these and missing values, without the samples that have more than half of their values missing.
matched_data <- function(sets, labels, takes_missing) {
  names <- lapply(sets, colnames)
  n <- vapply(sets, ncol, 0)
  without <- vapply(names, is.null, NA)
  if (all(without)) {
    if (n[1L] != n[2L]) fail("'reference' has ", n_of(n[1L], "column"), ", and 'test' ", n[2L], "; name them by genes")
    names <- lapply(sets, function(x) seq_len(n[1L]))
  } else if (any(without)) {
    fail("'", names(sets)[without], "' has no column names, by which genes are matched")
  }
  for (set in names(sets)) {
    twice <- anyDuplicated(names[[set]])
    if (twice) fail("'", set, "' has several columns ", names[[set]][twice], "; keep one of them")
  }
  both <- intersect(names$reference, names$test)
  matched <- Map(sets, names, names(sets), f = function(x, own, name) {
    values <- as.matrix(pick_named(x, match(both, own)))
    storage.mode(values) <- "double"
    bad <- which(if (takes_missing) colSums(is.infinite(values)) > 0 else !is.finite(colSums(values)))
    if (length(bad)) {
      fail("'", name, "' has ", if (!takes_missing) "missing or ", "infinite values, in ",
           column_names(bad, colnames(values)), "; leave out such genes",
           if (!takes_missing) ", or use = \"pairwise.complete.obs\" to impute missing values")
    }
    if (takes_missing) values[rowMeans(is.na(values)) <= 0.5, , drop = FALSE] else values
  })
  list(sets = matched, labels = labels[match(both, names$reference)])
}

# ---- statistics

# The engine's statistics in its order (src/cpu/preservation.h). WGCNA takes two of them without their sign.
DRAWN_STATISTICS <- c("propVarExplained", "avg.contrib", "meanSignAwareCorDat", "meanAdj", "meanMAR", "cor.kIM",
                      "cor.contrib", "cor.cor", "cor.MAR")
WITHOUT_SIGN <- c(meanSignAwareKME = "avg.contrib", cor.kME = "cor.contrib")

DENSITY <- c("propVarExplained", "meanSignAwareKME", "meanSignAwareCorDat", "meanAdj")
CONNECTIVITY <- c("cor.kIM", "cor.kME", "cor.cor")
PRESERVATION <- c(DENSITY, "meanMAR", CONNECTIVITY, "cor.MAR", "avg.contrib", "cor.contrib")

# Statistics with the reference's signs, or that compare genes or pairs with it. Other sets' signs in the reference are
# not those of a module that was found there, so that both kinds of draws have to have smaller ones.
OF_BOTH_SETS <- setdiff(PRESERVATION, c("propVarExplained", "meanAdj", "meanMAR"))

# Draws that are passed to the engine at a time take up to this many bytes.
DRAWN_BYTES <- 2^26

# Returns list(modules, observed, Z, p.value, permuted), as in ?gpuPreservation. `sets`: list(reference, test), each
# list(columns: standardized, overlaps); `members`: a list of each module's columns, as indices.
preservation_statistics <- function(sets, members, rule, n_perm, null, run) {
  in_both <- null == "random sets" && n_perm > 0
  values <- drawn_statistics(sets, members, rule, n_perm, null, if (in_both) part_of(run, 0, 0.7) else run)
  observed <- matrix(values[1L, , ], length(members), dimnames = dimnames(values)[2:3])
  permuted <- values[-1L, , , drop = FALSE]
  Z <- p.value <- observed * NA
  # Returns list(Z, p.value). Permutations without a value of a statistic do not count, as in WGCNA.
  compared_with <- function(permuted) {
    each <- function(f) array(apply(permuted, 2:3, f, na.rm = TRUE), dim(observed), dimnames(observed))
    sd <- each(stats::sd)
    larger <- colSums(permuted >= rep(observed, each = nrow(permuted)), na.rm = TRUE)
    p.value <- (1 + larger) / (1 + colSums(!is.na(permuted)))
    p.value[is.na(observed)] <- NA
    list(Z = ifelse(sd > 0, (observed - each(mean)) / sd, NA), p.value = p.value)
  }
  if (n_perm > 0) {
    found <- compared_with(permuted)
    if (in_both) {
      drawn <- drawn_statistics(sets, members, rule, n_perm, "labels", part_of(run, 0.7, 0.3))
      own <- compared_with(drawn[-1L, , , drop = FALSE])
      found$Z[, OF_BOTH_SETS] <- pmin(found$Z[, OF_BOTH_SETS], own$Z[, OF_BOTH_SETS])
      found$p.value[, OF_BOTH_SETS] <- pmax(found$p.value[, OF_BOTH_SETS], own$p.value[, OF_BOTH_SETS])
    }
    Z <- found$Z
    p.value <- found$p.value
  }
  modules <- data.frame(module = names(members), size = unname(lengths(members)), preservation_summary(observed, Z))
  list(modules = modules, observed = observed, Z = Z, p.value = p.value, permuted = permuted)
}

# Returns an array, draw x module x statistic. The first draw is the modules themselves; the others are permutations.
# Random sets have the same genes in the reference, so that the engine gets each draw's as further modules.
drawn_statistics <- function(sets, members, rule, n_perm, null, run) {
  member <- unlist(members, use.names = FALSE)
  n_genes <- ncol(sets$test$columns)
  in_both <- null == "random sets"
  at_once <- max(1, floor(DRAWN_BYTES / (4 * if (in_both) sum(as.numeric(lengths(members))^2) else length(member))))
  draws <- split(0:n_perm, (0:n_perm) %/% at_once)
  found <- lapply(seq_along(draws), function(part) {
    genes <- vapply(draws[[part]], function(k) if (k == 0L) member else sample.int(n_genes, length(member)), member)
    sizes <- if (in_both) rep(lengths(members), ncol(genes)) else lengths(members)
    if (in_both) member <- genes <- matrix(genes)
    own <- part_of(run, (part - 1) / length(draws), 1 / length(draws), "permutations")
    checked(.Call(r_preservation, sets$reference, sets$test, c(0L, cumsum(sizes)), member - 1L, genes - 1L,
                  list(similarity = constant(rule$type), power = rule$power), own$place))
  })
  values <- matrix(unlist(found), length(DRAWN_STATISTICS), dimnames = list(DRAWN_STATISTICS, NULL))
  values[is.nan(values)] <- NA
  values <- rbind(values, abs(values[WITHOUT_SIGN, , drop = FALSE]))
  rownames(values) <- c(DRAWN_STATISTICS, names(WITHOUT_SIGN))
  aperm(array(values[PRESERVATION, ], c(length(PRESERVATION), length(members), 1L + n_perm),
              list(PRESERVATION, names(members), NULL)))
}

# Returns the summaries of Langfelder and others (2011), one row per module.
preservation_summary <- function(observed, Z) {
  medians <- function(values, columns) apply(values[, columns, drop = FALSE], 1L, stats::median, na.rm = TRUE)
  ranks <- apply(-observed, 2L, rank, na.last = "keep")
  ranks <- matrix(ranks, nrow(observed), dimnames = dimnames(observed))
  z <- cbind(density = medians(Z, DENSITY), connectivity = medians(Z, CONNECTIVITY))
  data.frame(Zsummary = rowMeans(z, na.rm = TRUE), Zdensity = z[, "density"], Zconnectivity = z[, "connectivity"],
             medianRank = medians(ranks, c(DENSITY, CONNECTIVITY)), medianRankDensity = medians(ranks, DENSITY),
             medianRankConnectivity = medians(ranks, CONNECTIVITY), row.names = NULL)
}
