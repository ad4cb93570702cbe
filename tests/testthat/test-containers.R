# Experiments in the place of matrices, and data frames with a column of names.

quietly_run <- function(code) suppressMessages(code)

expression <- function() {
  x <- with_names(heavy_ties(20, 40))
  rownames(x) <- paste0("cell", 1:20)
  x
}

with_names <- function(x) {
  colnames(x) <- paste0("gene", seq_len(ncol(x)))
  x
}

expect_as_matrix <- function(experiment, x, ...) {
  r <- quietly_run(gpuCor(experiment, method = "spearman", ...))
  expect_equal(attr(r, "Labels"), colnames(x))
  expect_identical(as.vector(r), as.vector(gpuCor(x, method = "spearman")))
  net <- quietly_run(gpuCorNetwork(experiment, density = 0.05, ...))
  expect_identical(as.data.frame(net), as.data.frame(gpuCorNetwork(x, density = 0.05)))
  expect_identical(quietly_run(gpuCor(experiment, x[, 1:2], ...)), gpuCor(x, x[, 1:2]))
}

test_that("an ExpressionSet is taken as its matrix", {
  skip_if_not_installed("Biobase")
  x <- expression()
  set <- Biobase::ExpressionSet(t(x))
  expect_as_matrix(set, x)
  two <- Biobase::ExpressionSet(Biobase::assayDataNew(exprs = t(x) * 0, other = t(x)))
  expect_as_matrix(two, x, assay = "other")
  expect_error(gpuCor(two, assay = "third"), "does not have; it has \"exprs\", \"other\"")
  Biobase::fData(set)$degree <- gpuConnectivity(set, threshold = 0.3)$degree
  expect_equal(Biobase::fData(set)$degree, unname(gpuConnectivity(x, threshold = 0.3)$degree))
  Biobase::pData(set)$kind <- rep(c("a", "b"), 10)
  expect_equal(gpuAssociation(set, "kind"), gpuAssociation(x, data.frame(kind = rep(c("a", "b"), 10))))
  expect_error(gpuAssociation(set, "age"), "which the samples of 'x' do not have; they have \"kind\"")
})

test_that("a Seurat object is taken as the layer that is asked for, and stays sparse", {
  skip_if_not_installed("SeuratObject")
  x <- expression()
  counts <- Matrix::Matrix(t(abs(round(3 * x))), sparse = TRUE)
  object <- suppressWarnings(SeuratObject::CreateSeuratObject(counts))
  object <- suppressWarnings(SeuratObject::SetAssayData(object, "data", log1p(counts)))
  expect_as_matrix(object, as.matrix(Matrix::t(log1p(counts))))
  expect_as_matrix(object, as.matrix(Matrix::t(counts)), assay = c("RNA", "counts"))
  tell_again()
  expect_message(gpuCor(object), "sparse")
  expect_error(gpuCor(object, assay = "ADT"), "it has \"RNA\"")
  expect_error(gpuCor(object, assay = c("RNA", "scale.data")), "scale.data")
})

test_that("layers that are split by sample have all cells, in the order of the object", {
  counts <- Matrix::Matrix(matrix(rpois(20 * 12, 1), 20, dimnames = list(paste0("g", 1:20), paste0("c", 1:12))),
                           sparse = TRUE)
  cells <- list(data.b = c(2, 12, 5, 7), data.a = c(1, 3, 4, 6, 8:11))
  layers <- c(list(counts = 2 * counts), lapply(cells, function(own) counts[, own]), list(scale.data = 3 * counts))
  seurat <- list( # as in SeuratObject 5, whose LayerData() takes the first of several that match
    Layers = function(object, assay) names(layers),
    LayerData = function(object, layer, assay) layers[[grep(paste0("^", layer), names(layers))[1]]]
  )
  picked <- function(...) getFromNamespace("picked_layer", "gpucor")(counts, c("RNA", ...), seurat)
  expect_identical(as.matrix(picked()), as.matrix(counts))
  expect_identical(as.matrix(picked("data")), as.matrix(counts))
  expect_identical(picked("counts"), 2 * counts)
  expect_identical(picked("scale.data"), 3 * counts)
  expect_identical(picked("data.a"), layers$data.a)
  layers$data.a <- layers$data.a[-1, ]
  expect_error(picked(), "its layers data.b, data.a have different genes; give SeuratObject::JoinLayers", fixed = TRUE)
  layers$data.a <- counts[, 1:3]
  expect_error(picked(), "do not have each cell once; give SeuratObject::JoinLayers", fixed = TRUE)

  skip_if_not_installed("SeuratObject", "5.0.0")
  object <- SeuratObject::CreateSeuratObject(SeuratObject::CreateAssay5Object(counts, log1p(counts)))
  object[["RNA"]] <- split(object[["RNA"]], rep(c("z", "a", "k"), 4))
  expect_as_matrix(object, as.matrix(Matrix::t(log1p(counts))))
  expect_as_matrix(object, as.matrix(Matrix::t(counts)), assay = c("RNA", "counts"))
})

test_that("an assay that is not there is told as such", {
  skip_if_not_installed("SummarizedExperiment")
  x <- expression()
  experiment <- SummarizedExperiment::SummarizedExperiment(list(counts = t(x)))
  expect_told(gpuCor(experiment), "SummarizedExperiment whose first assay, \"counts\", is taken; .* logarithms of norm")
  expect_identical(tryCatch(gpuCor(experiment, assay = "zz"), error = conditionMessage),
                   "'assay' is \"zz\", which 'x' does not have; it has \"counts\"")
})

# Its second assay has the columns x.
expect_another_assay <- function(experiment, x) {
  run <- function(...) suppressMessages(bare(...))
  for (assay in list(2, "second")) {
    expect_identical(run(gpuCor(experiment, assay = assay)), run(gpuCor(x)))
    expect_identical(run(gpuCorNetwork(experiment, density = 0.1, assay = assay)), run(gpuCorNetwork(x, density = 0.1)))
    expect_identical(run(gpuConnectivity(experiment, threshold = 0.3, assay = assay)),
                     run(gpuConnectivity(x, threshold = 0.3)))
    expect_identical(run(gpuCor(x[, 1:3], experiment, assay = assay)), run(gpuCor(x[, 1:3], x)))
    expect_identical(run(gpuCorTriangle(experiment, assay = assay)), run(gpuCorTriangle(x)))
    expect_identical(as.vector(run(gpuDist(experiment, assay = assay))), as.vector(gpuDist(t(x))))
    expect_identical(run(gpuCorTest(experiment, assay = assay))$p.value, run(gpuCorTest(x))$p.value)
  }
  path <- tempfile("plan")
  on.exit(unlink(path, recursive = TRUE))
  suppressMessages(utils::capture.output(gpuCorPlan(path, experiment, density = 0.1, assay = "second"),
                                         gpuCorRun(path)))
  expect_identical(run(gpuCorCollect(path)), run(gpuCorNetwork(x, density = 0.1)))
  expect_error(gpuCorRun(path, assay = 2), "unused argument 'assay'")
  for (assay in list("third", 3, 0, NA, 1:2)) {
    expect_error(gpuCor(experiment, assay = assay), "does not have; it has \"first\", \"second\"")
  }
  expect_error(gpuCor(x, assay = 1), "no SummarizedExperiment")
  expect_error(gpuDist(x, assay = 1), "no SummarizedExperiment")
}

test_that("genes are the variables of a SummarizedExperiment", {
  x <- small_data()$complete
  rownames(x) <- paste0("s", seq_len(nrow(x)))
  skip_if_not_installed("SummarizedExperiment")
  assays <- list(plain = t(x), sparse = Matrix::Matrix(t(x), sparse = TRUE),
                 delayed = if (requireNamespace("DelayedArray", quietly = TRUE)) DelayedArray::DelayedArray(t(x)))
  for (name in names(Filter(Negate(is.null), assays))) {
    assay <- assays[[name]]
    experiment <- SummarizedExperiment::SummarizedExperiment(list(first = assay, second = assay * 0))
    run <- function(...) suppressMessages(bare(...))
    expect_identical(run(gpuCor(experiment)), run(gpuCor(x)))
    expect_identical(run(gpuCorNetwork(experiment, density = 0.1)), run(gpuCorNetwork(x, density = 0.1)))
    expect_identical(run(gpuConnectivity(experiment, threshold = 0.3)), run(gpuConnectivity(x, threshold = 0.3)))
    expect_identical(run(gpuCor(experiment, x[, 1:3])), run(gpuCor(x, x[, 1:3])))
    expect_identical(as.vector(run(gpuDist(experiment))), as.vector(gpuDist(t(x))))
    if (name == "sparse" || full_tier()) {
      expect_another_assay(SummarizedExperiment::SummarizedExperiment(list(first = assay * 0, second = assay)), x)
    }
    if (requireNamespace("SingleCellExperiment", quietly = TRUE)) {
      cells <- SingleCellExperiment::SingleCellExperiment(list(counts = assay))
      expect_identical(run(gpuCor(cells)), run(gpuCor(x)))
    }
  }
  expect_error(gpuCor(SummarizedExperiment::SummarizedExperiment()), "without an assay")
})

test_that("results go back into rowData() and rowPair()", {
  skip_if_not_installed("SingleCellExperiment")
  x <- expression()
  sce <- SingleCellExperiment::SingleCellExperiment(list(counts = Matrix::Matrix(t(x), sparse = TRUE)))
  expect_as_matrix(sce, x)
  SummarizedExperiment::rowData(sce)$degree <- quietly_run(gpuConnectivity(sce, threshold = 0.3)$degree)
  expect_equal(unname(SummarizedExperiment::rowData(sce)$degree), unname(gpuConnectivity(x, threshold = 0.3)$degree))
  net <- gpuCorNetwork(x, density = 0.05)
  SingleCellExperiment::rowPair(sce, "coexpression") <- as(unname(net), "generalMatrix")
  back <- SingleCellExperiment::rowPair(sce, "coexpression", asSparse = TRUE)
  expect_equal(unname(as.matrix(back)), unname(as.matrix(net)))
})
