#' gpucor: correlation of all pairs of columns on a GPU
#'
#' gpucor correlates every pair of columns of a matrix, on NVIDIA GPUs or on all cores of the processor, with the
#' results of [stats::cor()]. Large problems need not store all pairs: a network keeps the strong pairs only, and
#' connectivity keeps a few numbers for each column.
#'
#' @section Functions by task:
#' | task | functions |
#' |---|---|
#' | all coefficients, as a `dist` or a matrix | [gpuCor()] and [its methods][gpuCor-class]; as a plain vector: [gpuCorTriangle()] |
#' | distances between rows; trees | [gpuDist()]; [gpuHclust()] |
#' | p values | [gpuCorTest()]; by permutation and surrogates: [gpuPermute()]; when they are valid: [gpucor-p-values] |
#' | networks of the strong pairs | [gpuCorNetwork()] and [its methods][gpuCorNetwork-class]; as a graph: [as_igraph()]; without indirect edges: [gpuPrune()] |
#' | stability of edges and modules in resamples; networks of single samples | arguments `resample` and `lioness` of [gpuCorNetwork()], `stability` of [gpuModules()] |
#' | degree, strength, soft connectivity, centrality | [gpuConnectivity()] |
#' | modules of genes, as in WGCNA | [pickPower()], [gpuTOM()], [gpuModules()], [as_blockwiseModules()]; of new samples: [predict()][predict.gpuModules] |
#' | whether modules are preserved in other data | [gpuPreservation()] |
#' | variables against traits | [gpuAssociation()] |
#' | lags of time series | argument `lag` of [gpuCor()] and [gpuCorNetwork()] |
#' | sliding windows | [gpuCorWindows()] |
#' | many subjects, their reliability | [subjects] |
#' | differences between groups, paired, by a design, of components | [gpuCorCompare()]; of samples: [gpuCorCompare-samples]; of subjects: [gpuCorCompare-subjects] |
#' | subjects with the same stimulus: inter-subject correlation | [gpuISC()] |
#' | weights, covariates, band-pass, partial correlations | arguments of most functions: [gpuAdjust()]; the residuals themselves: [gpuClean()] |
#' | only some pairs: within modules, between chromosomes, beyond a distance | [pairMask()] |
#' | epochs of M/EEG: coherence, phase locking | [epochMatrix()], `method = "coherence"` ([gpucor-measures]) |
#' | images: NIfTI, CIFTI and GIFTI files | [voxelMatrix()], [voxelImage()], [voxelCoords()], [readVoxels()], [writeVoxels()] |
#' | series of regions; confounds and studies of fMRIPrep; runs of a scan; gradients | [parcelMeans()]; [readConfounds()], [bidsSubjects()]; [runs]; [gpuGradients()] |
#' | data larger than memory; Bioconductor and Seurat objects | [gpuCorFile()]; [gpucor-containers] |
#' | genotypes of PLINK files; linkage disequilibrium in a window | [gpuCorFile()]; [pairMask()] |
#' | a result as one page of HTML | [gpuReport()] |
#' | a cluster | [gpuCorPlan()], [gpuCorRun()], [gpuCorStatus()], [gpuCorCollect()] |
#' | the machine and its settings | [gpuInfo()], [chooseGpu()], [gpuControl()] |
#' | calls of other packages | [coming-from]; functions of gputools: [gpuCorPairs()], [gpuCorPerm()], [gpuTtest()] |
#'
#' [gpucor-measures] describes the measures, [gpucor-together] what does not go together. Arguments of many functions
#' are described by [gpuAdjust()], [gpuSubjects()], [gpuPermute()] and [gpuControl()], which keep them for several
#' calls; an argument that is given beside such an object replaces its own. Every result has `print()`,
#' [summary()][summary.gpuCorNetwork], `plot()` and `as.data.frame()`.
#'
#' @section Settings:
#' Arguments of [gpuControl()] that a call does not give come from the option, then from the environment variable:
#' `gpucor.backend`, `GPUCOR_BACKEND`; `gpucor.threads`, `GPUCOR_THREADS`; `gpucor.devices`, `GPUCOR_DEVICES` (several
#' as `"0,1"`); `gpucor.memory`, `GPUCOR_MEMORY`; `gpucor.progress`, `GPUCOR_PROGRESS`; `gpucor.keep_memory`,
#' `GPUCOR_KEEP_MEMORY`. There are also:
#'
#' | option | variable | meaning |
#' |---|---|---|
#' | `gpucor.folder` | `GPUCOR_FOLDER` | folder for temporary files. Default: [tempdir()] |
#' | `gpucor.spool_bytes` | `GPUCOR_SPOOL_BYTES` | bytes of edges to buffer in memory before they are spilled to disk, see [gpuCorNetwork()] |
#' | `gpucor.output` | | default of the argument `output` of [gpuCor()]: `"list"` for code written for gputools |
#' | `gpucor.orientation` | | `"columns"` turns off the warning that data look transposed |
#'
#' Results do not depend on memory, threads or the number of GPUs. Coefficients, and what is selected and counted by them,
#' have the same bits on a GPU and on the processor. Overlaps of [gpuTOM()] differ by less than 1e-6; sums of powers that
#' are no multiples of 1/2 up to 32 ([gpuConnectivity()], [pickPower()]) differ in their last digits.
#'
#' @section Errors:
#' Every error has class `"gpucor_error"` and one of `"gpucor_error_input"` (an argument), `"gpucor_error_memory"`,
#' `"gpucor_error_file"` and `"gpucor_error_run"` (the engine), as in
#' `tryCatch(gpuCor(x), gpucor_error_input = function(e) NULL)`. A result too large for free memory is an error at once.
#'
#' @section In a package:
#' Unless gpucor is attached, `rowSums()`, `diag()`, `crossprod()` and the like are those of base R, which do not know
#' networks. Write `importFrom(gpucor, rowSums)` in `NAMESPACE`, or `gpucor::rowSums(net)`. In tests and checks set
#' `options(gpucor.progress = FALSE, gpucor.threads = 2)`.
#'
#' A result contains its call, so that two results with the same numbers can differ: compare them by
#' `all.equal(a, b, check.attributes = FALSE)`.
#'
#' @examples
#' if (requireNamespace("ggplot2", quietly = TRUE)) {
#'   pairs <- as.data.frame(gpuCor(mtcars)) # works for any result
#'   ggplot2::ggplot(pairs, ggplot2::aes(r)) + ggplot2::geom_histogram(bins = 20)
#' }
#' @keywords internal
#' @useDynLib gpucor, .registration = TRUE
#' @importFrom methods as is
#' @importClassesFrom Matrix sparseMatrix dgCMatrix dsCMatrix
#' @importFrom methods new setClass setMethod show slot
"_PACKAGE"

.onUnload <- function(libpath) {
  if (.Call(r_unload)) library.dynam.unload("gpucor", libpath)
}
