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

test_that("an assay that is not there is told as such", {
  skip_if_not_installed("SummarizedExperiment")
  x <- expression()
  experiment <- SummarizedExperiment::SummarizedExperiment(list(counts = t(x)))
  expect_identical(tryCatch(gpuCor(experiment, assay = "zz"), error = conditionMessage),
                   "'assay' is \"zz\", which 'x' does not have; it has \"counts\"")
})

test_that("results go back into rowData() and rowPair()", {
  skip_if_not_installed("SingleCellExperiment")
  x <- expression()
  sce <- SingleCellExperiment::SingleCellExperiment(list(counts = Matrix::Matrix(t(x), sparse = TRUE)))
  expect_as_matrix(sce, x)
  SummarizedExperiment::rowData(sce)$degree <- quietly_run(gpuConnectivity(sce, threshold = 0.3)$degree)
  expect_equal(unname(SummarizedExperiment::rowData(sce)$degree), unname(gpuConnectivity(x, threshold = 0.3)$degree))
  net <- gpuCorNetwork(x, density = 0.05)
  SingleCellExperiment::rowPair(sce, "coexpression") <- suppressMessages(unname(net))
  back <- SingleCellExperiment::rowPair(sce, "coexpression", asSparse = TRUE)
  expect_equal(unname(as.matrix(back)), unname(as.matrix(net)))
})

test_that("a first column of names is an error that says what to do", {
  frame <- data.frame(gene = paste0("g", 1:5), a = 1:5 + 0.5, b = c(2, 1, 4, 3, 5))
  expect_error(gpuCor(frame), "first column \\(gene\\) is names, such as \"g1\".*row.names = x\\[\\[1\\]\\]\\)")
  x <- data.frame(frame[-1], row.names = frame[[1]]) # what the message says
  expect_equal(dim(as.matrix(gpuCor(t(x)))), c(5L, 5L))
  frame$gene[2] <- "g1"
  expect_error(gpuCor(frame), "make.unique(as.character(x[[1]])))", fixed = TRUE)
  expect_error(gpuCor(data.frame(a = 1:5, kind = letters[1:5])), "column 2 (kind) is of class character", fixed = TRUE)
})
