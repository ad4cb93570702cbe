#' Experiments in the place of matrices
#'
#' Functions that take data also take Bioconductor's experiments and Seurat objects. Their genes, in rows, are the
#' variables, and their samples or cells, in columns, are the observations.
#'
#' `assay` chooses the values:
#' * `SummarizedExperiment`, `SingleCellExperiment` and derived classes: an assay's name or number (default: 1).
#' * `ExpressionSet` of Biobase: the name of an element of its `assayData`, by default `"exprs"`.
#' * `Seurat` of SeuratObject: the name of an assay, or of an assay and one of its layers (slots), such as
#'   `c("RNA", "counts")`; by default the default assay and `"data"`. Layers that Seurat 5 split by sample are joined.
#'
#' A sparse assay (`dgCMatrix`) stays sparse. With at most 5 % nonzeros, Pearson's and Spearman's correlation and the
#' cosine multiply only these, on the processor, and with at most 30 % Kendall's tau compares only these if there is no
#' GPU; otherwise columns are made dense a block at a time. An assay in a file (`DelayedMatrix`) stays in the file, see
#' [gpuCorFile()]. Select samples or genes before the call, `se[genes, samples]`. Names of samples are compared with
#' those of other arguments, see [gpuAdjust()].
#'
#' @section Pseudobulk:
#' Cells of one donor are no independent samples. `pseudobulk = "donor"` makes a sample of each donor, or metacell,
#' before anything is correlated: the counts of its cells are summed, divided by their sum over all genes of `x`, its
#' depth, and become `log2(x + 1)` of counts per million, with the labels as names of the observations. `assay` is then
#' the counts by default (the assay `"counts"`, or Seurat's layer of this name). It also takes a factor with a label for
#' each cell, for matrices of counts, cells x genes, too. Genes that are left out before the call do not count in the
#' depth. `weights`, `covariates` and the like are those of the donors, in the order of the labels' levels.
#'
#' ```
#' gpuCorNetwork(sce[, sce$type == "T cell"], pseudobulk = "donor", density = 0.001)
#' ```
#'
#' @section Back into the experiment:
#' Results with a value for each gene have the order of the rows:
#'
#' ```
#' rowData(se)$degree <- gpuConnectivity(se, threshold = 0.7)$degree
#' rowData(se)[c("module", "kME")] <- as.data.frame(gpuModules(se))[c("color", "kME")]
#' Biobase::fData(eset)$degree <- gpuConnectivity(eset, threshold = 0.7)$degree
#' seurat[["RNA"]]@meta.features$degree <- gpuConnectivity(seurat, threshold = 0.7)$degree # Seurat 4
#' seurat[["RNA"]]@meta.data$degree <- gpuConnectivity(seurat, threshold = 0.7)$degree     # Seurat 5
#' ```
#'
#' A `SingleCellExperiment` also keeps networks: `rowPair(sce, "coexpression") <- as(unname(net), "generalMatrix")`.
#' The conversion is necessary because `rowPair<-` stores only half of the edges of a symmetric matrix.
#'
#' @return What the function returns for the matrix of samples x genes that the object holds.
#' @examples
#' if (requireNamespace("Biobase", quietly = TRUE)) {
#'   genes <- matrix(rnorm(50 * 20), 50, dimnames = list(paste0("gene", 1:50), NULL))
#'   eset <- Biobase::ExpressionSet(genes)
#'   gpuCorNetwork(eset, density = 0.01, method = "spearman")
#' }
#' @name gpucor-containers
NULL

# Classes with variables in rows.
#   package           the one that reads it
#   names, number(x)  names of the assays, and how many there are
#   default(x)        the assay that is meant if none is given
#   counts(x)         the assay of counts
#   parts             max length of `assay`
#   pick(x, assay)    one assay
#   samples(x)        the table of samples
experiments <- list(
  SummarizedExperiment = list(
    package = "SummarizedExperiment",
    names = function(x) SummarizedExperiment::assayNames(x),
    number = function(x) length(SummarizedExperiment::assays(x, withDimnames = FALSE)),
    default = function(x) 1L,
    counts = function(x) if ("counts" %in% SummarizedExperiment::assayNames(x)) "counts" else 1L,
    parts = 1L,
    pick = function(x, assay) SummarizedExperiment::assay(x, assay),
    samples = function(x) SummarizedExperiment::colData(x)
  ),
  ExpressionSet = list(
    package = "Biobase",
    names = function(x) union("exprs", Biobase::assayDataElementNames(x)),
    number = function(x) 1L,
    default = function(x) "exprs",
    counts = function(x) "exprs",
    parts = 1L,
    pick = function(x, assay) Biobase::assayDataElement(x, if (is.numeric(assay)) "exprs" else assay),
    samples = function(x) Biobase::pData(x)
  ),
  Seurat = list(
    package = "SeuratObject",
    names = function(x) SeuratObject::Assays(x),
    number = function(x) length(SeuratObject::Assays(x)),
    default = function(x) SeuratObject::DefaultAssay(x),
    counts = function(x) c(SeuratObject::DefaultAssay(x), "counts"),
    parts = 2L, # and a layer
    pick = function(x, assay) picked_layer(x, assay),
    samples = function(x) x[[]]
  )
)

is_experiment <- function(x) isS4(x) && inherits(x, names(experiments))

experiment_of <- function(x) {
  known <- experiments[[which(vapply(names(experiments), function(class) inherits(x, class), NA))[1L]]]
  need_packages(known$package, paste0("a ", class(x)[1L]))
  known
}

# Returns the assay of this name or index, by default the first, with variables in rows.
picked_assay <- function(x, name, assay) {
  known <- experiment_of(x)
  number <- known$number(x)
  if (!number) fail("'", name, "' is a ", class(x)[1L], " without an assay")
  names <- known$names(x)
  if (is.null(assay)) {
    assay <- known$default(x)
    if (is.numeric(assay) && identical(names[assay], "counts")) { # whose depth and variance correlations see
      logs <- intersect(c("logcounts", "vst", "rlog"), names)[1L]
      tell_once("'", name, "' is a ", class(x)[1L], " whose first assay, \"counts\", is taken; correlations are ",
                "usually of logarithms",
                if (is.na(logs)) " of normalized counts" else paste0(": assay = \"", logs, "\""))
    }
  }
  is_there <- assay[1L] %in% names || (is_numeric(assay) && assay[1L] %in% seq_len(number))
  if (!is_there || length(assay) > known$parts) {
    fail("'assay' is ", show_value(assay), ", which '", name, "' does not have; it has ",
         if (length(names)) paste0('"', names, '"', collapse = ", ") else paste("1 to", number, "without names"))
  }
  known$pick(x, assay)
}

# Returns layer assay[2] of Seurat's assay[1]; or, if it is split by sample, as into "data.1" and "data.2", all its
# cells in the order of those of x. LayerData() of a split layer returns its first part, and SeuratObject 4 calls a
# layer a slot. `seurat`: the package's functions.
picked_layer <- function(x, assay, seurat = asNamespace("SeuratObject")) {
  layer <- if (length(assay) > 1L) assay[2L] else "data"
  if (is_numeric(assay)) assay <- seurat$Assays(x)[assay[1L]]
  values <- with_our_errors(words = paste0("'assay' is ", show_value(assay), ": "), {
    all <- if (!is.null(seurat$LayerData)) seurat$Layers(x, assay = assay[1L])
    split <- all[startsWith(as.character(all), paste0(layer, "."))]
    if (is.null(seurat$LayerData)) {
      seurat$GetAssayData(x, slot = layer, assay = assay[1L])
    } else if (layer %in% all || !length(split)) {
      seurat$LayerData(x, layer = layer, assay = assay[1L])
    } else {
      parts <- lapply(split, function(part) seurat$LayerData(x, layer = part, assay = assay[1L]))
      same <- vapply(parts, function(part) identical(rownames(part), rownames(parts[[1L]])), NA)
      cells <- unlist(lapply(parts, colnames))
      if (!all(same) || anyDuplicated(cells) || !setequal(cells, colnames(x))) {
        stop("its layers ", toString(split), if (all(same)) " do not have each cell once" else " have different genes",
             "; give SeuratObject::JoinLayers(x)")
      }
      do.call(cbind, parts)[, match(colnames(x), cells), drop = FALSE]
    }
  })
  if (!length(values)) fail("'assay' is ", show_value(assay), ", and its \"", layer, "\" is empty; normalize the data")
  values
}

# Returns columns of an experiment's table of samples, a data frame. `name`: the argument that names them.
sample_columns <- function(x, columns, name) {
  samples <- experiment_of(x)$samples(x)
  absent <- setdiff(columns, colnames(samples))
  if (length(absent)) {
    fail("'", name, "' has \"", absent[1L], "\", which the samples of 'x' do not have; they have ",
         paste0('"', colnames(samples), '"', collapse = ", "))
  }
  as.data.frame(samples, optional = TRUE)[columns]
}

check_has_assay <- function(x, y, assay) {
  if (is.null(assay) || is_experiment(x) || is_experiment(y)) return(invisible())
  fail("'assay' is ", show_value(assay), ", but 'x' is no SummarizedExperiment, ExpressionSet or Seurat object")
}
