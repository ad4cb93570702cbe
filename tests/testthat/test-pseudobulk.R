# Counts of single cells, summed over the cells of each donor before they are correlated.

set.seed(1)
donor <- sample(rep(sprintf("d%02d", 20:1), rep(c(5, 9), 10)))
counts <- matrix(rpois(140 * 9, rep(c(0.3, 2, 5), each = 140 * 3)), 140,
                 dimnames = list(paste0("cell", 1:140), paste0("g", 1:9)))

# The sums, written out.
by_hand <- function(counts, donor) {
  t(sapply(sort(unique(donor[!is.na(donor)])), function(d) {
    sums <- colSums(counts[which(donor == d), , drop = FALSE])
    log2(1e6 * sums / sum(sums) + 1)
  }))
}

test_that("pseudobulk samples are log2(counts per million + 1) of each label's cells", {
  bulk <- by_hand(counts, donor)
  expect_equal(gpuCor(counts, pseudobulk = donor), gpuCor(bulk), ignore_attr = "call")
  some <- replace(donor, c(3, 50), NA)
  expect_equal(as.matrix(gpuCor(counts, pseudobulk = some, precision = "double")), cor(by_hand(counts, some)))
  age <- data.frame(age = rnorm(20), row.names = rownames(bulk))
  ours <- gpuCorTest(counts, covariates = ~ age, data = age, pseudobulk = factor(donor))
  expect_equal(ours$p.value, gpuCorTest(bulk, covariates = ~ age, data = age)$p.value)
  expect_error(gpuCor(counts, covariates = ~ age, data = age[20:1, , drop = FALSE], pseudobulk = donor),
               "the observations of 'x' in another order")
  sets <- list(counts, counts[140:1, ] * 2)
  expect_equal(as.vector(gpuCor(sets, pseudobulk = donor, combine = "min")),
               as.vector(gpuCor(list(bulk, by_hand(sets[[2]], donor)), combine = "min")))
})

test_that("the order of cells and the class of the data do not matter", {
  net <- as.data.frame(gpuCorNetwork(counts, density = 0.3, pseudobulk = donor))
  same <- function(x, labels = donor) {
    expect_equal(as.data.frame(gpuCorNetwork(x, density = 0.3, pseudobulk = labels)), net)
  }
  any_order <- sample(140)
  same(counts[any_order, ], donor[any_order])
  sparse <- Matrix::Matrix(counts, sparse = TRUE)
  expect_silent(same(sparse))
  expect_silent(same(as(sparse, "RsparseMatrix")))
  same(as.data.frame(counts))
  same(counts, match(donor, sprintf("d%02d", 1:20)))
  skip_if_not_installed("SingleCellExperiment")
  cells <- data.frame(donor, row.names = rownames(counts))
  sce <- SingleCellExperiment::SingleCellExperiment(list(logcounts = log1p(t(counts)), counts = Matrix::t(sparse)),
                                                    colData = cells)
  expect_silent(same(sce, "donor"))
  same(sce[, any_order], donor[any_order])
  ones <- list(counts = t(counts) * 0 + 1, spliced = t(counts))
  ones <- SingleCellExperiment::SingleCellExperiment(ones, colData = cells)
  expect_equal(as.data.frame(gpuCorNetwork(ones, density = 0.3, pseudobulk = "donor", assay = "spliced")), net)
  expect_error(gpuCor(sce, pseudobulk = "who"), "'pseudobulk' has \"who\", which the samples of 'x' do not have")
  skip_unless_full()
  skip_if_not_installed("SeuratObject")
  same(SeuratObject::CreateSeuratObject(Matrix::t(sparse), meta.data = cells), "donor")
})

test_that("what is not counts, or no label of cells, is an error that says so", {
  expect_error(gpuCor(log(counts), pseudobulk = donor), "'pseudobulk' sums counts, and 'x' has negative, missing or")
  expect_error(gpuCor(counts * (donor != "d02"), pseudobulk = donor), "the label d02, whose cells have no counts")
  expect_error(gpuCor(counts, pseudobulk = donor[-1]), "'pseudobulk' has 139 labels; there are 140 observations")
  expect_error(gpuCor(counts, pseudobulk = setNames(donor, rev(rownames(counts)))), "has the observations of")
  expect_error(gpuCor(counts, counts, pseudobulk = donor), "'pseudobulk' sums the cells of one data set")
  expect_error(gpuCorNetwork(counts, k = 2, pseudobulk = donor, shards = 2), "'pseudobulk' is not for plans")
  expect_error(gpuCorWindows(counts, 20, pseudobulk = donor), "unused argument 'pseudobulk'; gpuCorWindows")
})
