#' Experiments in the place of matrices
#'
#' `x` (and `y`) of every function that takes data may be one of Bioconductor's experiments, or a Seurat object. Their
#' genes are in rows and their samples, or cells, in columns; genes are the variables, and their names are kept.
#'
#' * `SummarizedExperiment`, `SingleCellExperiment` and others that are one: `assay` is the name or the number of an
#'   assay; unless said otherwise, the first.
#' * `ExpressionSet` of Biobase: the name of an element of its `assayData`; `"exprs"`.
#' * `Seurat` of SeuratObject: the name of an assay, or of an assay and one of its layers (slots), as
#'   `c("RNA", "counts")`; the default assay, and `"data"`.
#'
#' Names of samples, where what goes beside `x` has them, are compared with those of the experiment: see
#' [gpucor-measures].
#'
#' An assay that is sparse (`dgCMatrix`) stays so: its columns are made dense a block at a time. One that is in a file
#' (`DelayedMatrix`) stays there, see [gpuCorFile()]. Other samples or genes are chosen as in any experiment, `se[genes,
#' samples]`, before the call.
#'
#' @section Back into the experiment:
#' Results that have a value for each gene are in the order of its rows, and go back there in one line:
#'
#' ```
#' rowData(se)$degree <- gpuConnectivity(se, threshold = 0.7)$degree
#' rowData(se)[c("module", "kME")] <- as.data.frame(gpuModules(se))[c("colour", "kME")]
#' Biobase::fData(eset)$degree <- gpuConnectivity(eset, threshold = 0.7)$degree
#' seurat[["RNA"]]@meta.features$degree <- gpuConnectivity(seurat, threshold = 0.7)$degree # Seurat 4
#' seurat[["RNA"]]@meta.data$degree <- gpuConnectivity(seurat, threshold = 0.7)$degree     # Seurat 5
#' ```
#'
#' Networks of a `SingleCellExperiment` have a place of their own: `rowPair(sce, "coexpression") <- unname(net)`.
#'
#' @section Errors: an assay that is not there, with those that are; a package that is needed and not installed; a data
#'   frame whose first column is names, with what to do.
#' @seealso [gpuCor()], [gpuModules()], [gpuAssociation()]
#' @examples
#' if (requireNamespace("SummarizedExperiment", quietly = TRUE)) {
#'   counts <- matrix(rpois(50 * 20, 5), 50, dimnames = list(paste0("gene", 1:50), NULL))
#'   se <- SummarizedExperiment::SummarizedExperiment(list(counts = counts, log = log1p(counts)))
#'   gpuCorNetwork(se, density = 0.01, method = "spearman", assay = "counts")
#'   degree <- gpuConnectivity(se, threshold = 0.5, assay = "log")$degree
#'   SummarizedExperiment::rowData(se)$degree <- degree
#' }
#' @name gpucor-containers
NULL

# Classes that have their variables in rows, and how one of their assays is taken: what(x) says what there is, pick(x,
# assay) takes it.
experiments <- list(
  SummarizedExperiment = list(
    package = "SummarizedExperiment",
    names = function(x) SummarizedExperiment::assayNames(x),
    number = function(x) length(SummarizedExperiment::assays(x, withDimnames = FALSE)),
    pick = function(x, assay) SummarizedExperiment::assay(x, assay),
    samples = function(x) SummarizedExperiment::colData(x)
  ),
  ExpressionSet = list(
    package = "Biobase",
    names = function(x) union("exprs", Biobase::assayDataElementNames(x)),
    number = function(x) 1L,
    pick = function(x, assay) Biobase::assayDataElement(x, if (identical(assay, 1L)) "exprs" else assay),
    samples = function(x) Biobase::pData(x)
  ),
  Seurat = list(
    package = "SeuratObject",
    names = function(x) SeuratObject::Assays(x),
    number = function(x) length(SeuratObject::Assays(x)),
    pick = function(x, assay) picked_layer(x, assay),
    samples = function(x) x[[]]
  )
)

is_experiment <- function(x) isS4(x) && inherits(x, names(experiments))

experiment_of <- function(x) {
  known <- experiments[[which(vapply(names(experiments), function(class) inherits(x, class), NA))[1L]]]
  need_package(known$package, paste0("a ", class(x)[1L]))
  known
}

# Its assay of this name or number, the first one for NULL; variables in rows.
picked_assay <- function(x, name, assay) {
  known <- experiment_of(x)
  what <- paste0("'", name, "' is a ", class(x)[1L])
  number <- known$number(x)
  if (!number) fail(what, " without an assay")
  names <- known$names(x)
  if (is.null(assay)) assay <- if (inherits(x, "Seurat")) SeuratObject::DefaultAssay(x) else 1L
  is_there <- assay[1L] %in% names || (is.numeric(assay) && assay[1L] %in% seq_len(number))
  if (!is_there || length(assay) > 1L + inherits(x, "Seurat")) {
    fail("'assay' is ", show_value(assay), ", which '", name, "' does not have; it has ",
         if (length(names)) paste0('"', names, '"', collapse = ", ") else paste("1 to", number, "without names"))
  }
  known$pick(x, assay)
}

# Of Seurat's objects assay[1], and of that the layer assay[2]; what is called a layer today was a slot.
picked_layer <- function(x, assay) {
  layer <- if (length(assay) > 1L) assay[2L] else "data"
  if (is.numeric(assay)) assay <- SeuratObject::Assays(x)[assay[1L]]
  seurat <- asNamespace("SeuratObject")
  values <- tryCatch(
    if (is.null(seurat$LayerData)) {
      SeuratObject::GetAssayData(x, slot = layer, assay = assay[1L])
    } else {
      seurat$LayerData(x, layer = layer, assay = assay[1L])
    },
    error = function(e) fail("'assay' is ", show_value(assay), ": ", conditionMessage(e))
  )
  if (!length(values)) fail("'assay' is ", show_value(assay), ", and its \"", layer, "\" is empty; normalise, or say ",
                            'c("', assay[1L], '", "counts")')
  values
}

check_has_assay <- function(x, y, assay) {
  if (is.null(assay) || is_experiment(x) || is_experiment(y)) return(invisible())
  fail("'assay' is ", show_value(assay), ", and there is no SummarizedExperiment, ExpressionSet or Seurat object to ",
       "take it from; leave it out")
}
