# New samples: their eigengenes by the weights of the modules' genes.

#' Modules of new samples
#'
#' `predict()` takes the modules of [gpuModules()] to new samples, such as another cohort or single cells: it returns
#' their eigengenes, or the kME of genes in them.
#'
#' An eigengene is a weighted sum of its genes, each less its mean and divided by its standard deviation. The weights,
#' means and standard deviations are those of the data that the modules are from (`modules$loadings`), as for
#' `predict(prcomp(x))`. Hence the samples of these data get their own eigengenes again, and the value of a sample
#' does not depend on the other new ones. New data must be on the scale of the old ones: normalized in the same way,
#' logarithms if those were. Where this cannot be, as on another platform, `WGCNA::moduleEigengenes(newdata, colors)`
#' instead computes first principal components of the new data, which need many samples.
#'
#' Genes are matched by name, or by position if `newdata` has as many and no names or the same ones. Without a gene, or
#' with a missing value, an eigengene is the least squares fit of the module's other genes to their weights: their sum
#' is divided by the fraction of the module's squared weights that is there. A warning tells how many genes are not
#' there. A module without any is `NA`.
#'
#' With modules that were made with `covariates`, give those of the new samples, too: `newdata` are regressed on them by
#' themselves, so that the eigengenes have a mean of 0 in the new cohort, and its level is not that of the old one.
#' For a cohort of one batch, give `covariates = ~ 1`.
#'
#' @param object The result of [gpuModules()].
#' @param newdata Expression values, new samples or cells in rows and genes in columns, as in [gpuCor()] for one
#'   subject; or an experiment ([gpucor-containers]). Sparse data are made dense a block of genes at a time. Without it,
#'   the result is that of the modules' own samples.
#' @param type A string: `"eigengenes"` or `"kME"`.
#' @param ...,adjustment,control `r offered_words("predict.gpuModules")`
#' @return `"eigengenes"`: a data frame with a row for each new sample and the columns of `object$eigengenes`, of which
#'   `MEgrey` is of the genes in no module.
#'
#'   `"kME"`: a matrix, gene of `newdata` x module: the correlation of each gene with each of these eigengenes in the
#'   new samples, by `method` and `use` of the modules.
#'
#'   For modules of several data sets: a list of these, by the weights of each set.
#' @examples
#' if (requireNamespace("WGCNA", quietly = TRUE)) {
#'   set.seed(1)
#'   factors <- matrix(rnorm(80 * 3), 80)
#'   x <- matrix(rnorm(80 * 150), 80) + factors[, rep(1:3, c(60, 50, 40))] * 2
#'   modules <- gpuModules(x[1:50, ], power = 6)
#'   predicted <- predict(modules, x[51:80, ])
#'   print(abs(cor(predicted, factors[51:80, ])))
#'   kME <- predict(modules, x[51:80, ], type = "kME")
#'   cor(kME[, 1], modules$kME[, 1]) # do genes follow the first module as they did?
#' }
#' @importFrom stats predict
#' @export
predict.gpuModules <- function(object, newdata, type = c("eigengenes", "kME"), ..., adjustment = NULL,
                               control = NULL) {
  type <- check_choice(type, c("eigengenes", "kME"), "type")
  specs <- specs_of("predict.gpuModules", ...)
  if (missing(newdata)) return(object[[type]])
  if (!is.null(object$covariates) && is.null(specs$adjustment$covariates)) {
    warn("gpuCorUnadjusted", "'object' was made with covariates, and 'newdata' is not adjusted for any; ",
         "covariates = z adjusts it, with z those of 'newdata'")
  }
  x <- naming(genes_of(newdata, object$use, specs, 1L, 1L), "x", "newdata")$x
  at <- columns_of_genes(object, x)
  specs$control[c("assay", "pseudobulk")] <- NULL
  job <- list(use = object$use, method = object$method, further = list(options = object$options,
                                                                       control = specs$control))
  of_set <- function(eigengenes, loadings) {
    values <- projected(paste0("ME", object$colors), names(eigengenes), loadings, x, at)
    if (type == "eigengenes") return(as.data.frame(values))
    kme <- kme_of(x, values[, names(eigengenes) != "MEgrey", drop = FALSE], job)
    structure(kme, dimnames = list(colnames(x), colnames(kme)))
  }
  if (!inherits(object, "gpuConsensusModules")) return(of_set(object$eigengenes, object$loadings))
  Map(of_set, object$eigengenes, object$loadings)
}

# Returns the column of x that has each gene of the modules, or NA. Warns if genes in modules are not there.
columns_of_genes <- function(object, x) {
  genes <- names(object$labels)
  names <- colnames(x)
  if (length(genes) == ncol(x) && (is.null(names) || identical(names, genes))) return(seq_along(genes))
  if (is.null(names)) {
    fail("'newdata' has ", n_of(ncol(x), "column"), " without names, and 'object' ", n_of(length(genes), "gene"),
         "; name the columns by genes")
  }
  twice <- intersect(names[duplicated(names)], genes)
  if (length(twice)) fail("'newdata' has several columns ", twice[1L], "; keep one of them")
  at <- match(genes, names)
  if (all(is.na(at))) {
    fail("'newdata' has none of the genes of 'object': its columns are such as \"", names[1L], "\", and the genes \"",
         genes[1L], "\"")
  }
  absent <- which(is.na(at) & object$labels > 0)
  if (length(absent)) {
    warn("gpuCorAbsentGenes", "'newdata' lacks ", format_count(length(absent)), " of the ",
         n_of(sum(object$labels > 0), "gene"), " in modules, such as ", genes[absent[1L]],
         "; eigengenes are of the other ones")
  }
  at
}

# Returns a matrix, row of x x module, of weighted sums. `of`: the module of each gene; `at`: its column of x, or NA.
projected <- function(of, modules, loadings, x, at) {
  values <- vapply(modules, FUN.VALUE = numeric(nrow(x)), function(module) {
    own <- which(of == module & !is.na(loadings[, "weight"]))
    all <- sum(loadings[own, "weight"]^2)
    own <- own[!is.na(at[own])]
    sums <- there <- numeric(nrow(x))
    for (block in column_ranges(length(own), nrow(x))) {
      genes <- own[block]
      weight <- loadings[genes, "weight"]
      scaled <- (t(as.matrix(pick_columns(x, at[genes]))) - loadings[genes, "center"]) / loadings[genes, "scale"]
      is_there <- !is.na(scaled)
      sums <- sums + crossprod(replace(scaled, !is_there, 0), weight)
      there <- there + crossprod(is_there, weight^2)
    }
    ifelse(there > 0, sums * all / there, NA)
  })
  rows <- if (!is.null(rownames(x))) make.unique(rownames(x))
  matrix(values, nrow(x), dimnames = list(rows, modules))
}
