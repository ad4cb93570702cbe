# The data of gpuPreservation(): the genes of both data sets, and their modules.

# Returns list(sets: list(reference, test), matrices of the same genes; members: for each module the indices of its
# genes; adjusted: NULL, or list(covariates: their numbers)). `asked`: list(covariates, data).
preserved_data <- function(reference, test, modules, assay, use, asked) {
  use <- uses[check_use(use)]
  check_module_use(use, "gpuPreservation()")
  if (inherits(modules, "gpuModules") && !is.null(modules$covariates) && is.null(asked$covariates)) {
    warn("gpuCorUnadjusted", "'modules' were made with covariates, and 'reference' and 'test' are not adjusted for ",
         "any; covariates = list(modules$covariates, z) adjusts them, with z the covariates of 'test'")
  }
  given <- list(reference = reference, test = test)
  asked <- lapply(asked, function(each) if (setequal(names(each), names(given))) each[names(given)] else each)
  read <- lapply(1:2, function(k) {
    naming(genes_of(given[[k]], use, assay, asked_of_subject(asked, k, 2L)), "x", names(given)[k])
  })
  sets <- stats::setNames(lapply(read, `[[`, "x"), names(given))
  n_covariates <- vapply(read, function(set) NCOL(set$covariates), 0L)
  labels <- labels_of_columns(modules, colnames(sets$reference), ncol(sets$reference))
  common <- common_genes(sets)
  is_imputed <- use == "pairwise.complete.obs"
  sets <- Map(function(x, columns, name) matched_matrix(x, columns, name, is_imputed), sets, common, names(sets))
  data <- list(sets = sets, labels = labels[common$reference])
  if (is_imputed) {
    data <- kept_genes(data, function(x) colMeans(is.na(x)) <= 0.5, "with more than half of their values missing")
    data$sets <- Map(function(x, name) if (anyNA(x)) naming(imputed(x), "x", name) else x, data$sets, names(sets))
  }
  data <- kept_genes(data, differing, "without variance")
  n_genes <- ncol(data$sets$test)
  if (n_genes < 3L) fail("'reference' and 'test' must have at least 3 genes in common, not ", n_genes)
  list(sets = data$sets, members = module_columns(data$labels),
       adjusted = if (!is.null(asked$covariates)) list(covariates = n_covariates))
}

# Leaves the genes out of list(sets, labels) for which keeps() is FALSE in a set.
kept_genes <- function(data, keeps, what) {
  kept <- Reduce(`&`, lapply(data$sets, keeps))
  kept <- kept & !is.na(kept) # without rows there is no mean
  if (all(kept)) return(data)
  warn("gpuCorConstant", "genes ", what, " are left out: ", column_names(which(!kept), colnames(data$sets[[1L]])))
  list(sets = lapply(data$sets, function(x) x[, kept, drop = FALSE]), labels = data$labels[kept])
}

# Returns the label of each column as text; NA: in no module.
labels_of_columns <- function(modules, names, n) {
  labels <- if (inherits(modules, "gpuModules")) modules$colors else modules
  if (!is.null(dim(labels)) || !(is_numeric(labels) || is.character(labels) || is.factor(labels))) {
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

# Returns the columns as an ordinary matrix of finite numbers; or of these and missing values, without the samples that
# have more than half of their values missing.
matched_matrix <- function(x, columns, name, takes_missing) {
  values <- as.matrix(pick_named(x, columns))
  storage.mode(values) <- "double"
  bad <- which(if (takes_missing) colSums(is.infinite(values)) > 0 else !is.finite(colSums(values)))
  if (length(bad)) {
    fail("'", name, "' has ", if (!takes_missing) "missing or ", "infinite values, in ",
         column_names(bad, colnames(values)), "; leave out such genes",
         if (!takes_missing) ", or use = \"pairwise.complete.obs\" to impute missing values")
  }
  if (takes_missing) values[rowMeans(is.na(values)) <= 0.5, , drop = FALSE] else values
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
