#' gpucor: correlation of all pairs of columns on a GPU
#'
#' Pearson's correlation, Spearman's rho, Kendall's tau-b, the biweight midcorrelation or the cosine of every pair of
#' columns of a matrix, on an NVIDIA GPU or on all cores of the processor, with
#' the answers of [stats::cor()].
#'
#' * [gpucor-measures]: the measures, weights of observations, covariates, frequency bands, degrees of freedom
#' * [gpuCor()]: coefficients of all pairs, as a `dist` or as a matrix, and [what can be done with them][gpuCor-class]
#' * [gpuCorTriangle()]: the same as a plain vector, in either triangle order; [triangleIndex()] and
#'   [trianglePosition()] tell where pairs are in it
#' * [gpuDist()]: distances `1 - coefficient` between rows
#' * [gpuCorTest()], [gpuTtest()]: test statistics and p values; [gpucor-p-values]: for which data they are valid
#' * [gpuCorNetwork()]: the strongly correlated pairs, as a sparse matrix, an edge list or a file, and
#'   [what can be done with a network][gpuCorNetwork-class]; [as_igraph()]: a graph of igraph
#' * [gpuConnectivity()]: degrees, strengths, soft connectivity, and the histogram of all coefficients
#' * [pairs-that-count]: `within()`, `between()`, `nearer()`, `farther()`: which pairs count in networks and sums
#' * [gpuCorWindows()]: the same in windows that slide over the observations, and moments over the windows
#' * [subjects]: many subjects' coefficients combined, in each of these; [gpuCorCompare()]: where two groups differ
#' * [gpuAssociation()]: every variable against every trait
#' * [pickPower()]: the scale-free topology table
#' * [gpuTOM()]: topological overlap of all pairs; [gpuModules()]: from expression values to modules in one call;
#'   [as_blockwiseModules()]: for the functions of WGCNA
#' * [summary()][summary.gpuCorNetwork], `plot()` and `as.data.frame()` of results; [plot.gpuTOM()]
#' * [gpuCorFile()]: data in a file, larger than memory, in the place of a matrix; [gpucor-containers]: experiments of
#'   Bioconductor and Seurat
#' * [gpuCorPlan()], [gpuCorRun()], [gpuCorStatus()], [gpuCorCollect()]: work on many machines
#' * [voxelMatrix()], [voxelImage()]: from images to matrices and back; [voxelCoords()]: where voxels lie;
#'   [readVoxels()], [writeVoxels()]: their files
#' * [gpuCorPairs()], [gpuCorPerm()]: functions of package gputools; [coming-from]: its calls and those of others beside
#'   these
#' * [gpuInfo()], [chooseGpu()], [getGpuId()]: what the machine has
#'
#' Settings, each with an argument of the computing functions, an option and an
#' environment variable, in this order of precedence:
#'
#' | argument | option | variable | meaning |
#' |---|---|---|---|
#' | `backend` | `gpucor.backend` | `GPUCOR_BACKEND` | `"auto"` (a GPU if there is one), `"cuda"` or `"cpu"` |
#' | `threads` | `gpucor.threads` | `GPUCOR_THREADS` | processor threads; otherwise `OMP_THREAD_LIMIT`, `OMP_NUM_THREADS`, the batch system's number, all cores |
#' | `memory` | `gpucor.memory` | `GPUCOR_MEMORY` | bytes for prepared columns, and for the adjacencies of [gpuTOM()], on the GPU or, with `"cpu"`, in main memory; otherwise what the GPU has free, or 512 MB |
#' | `progress` | `gpucor.progress` | `GPUCOR_PROGRESS` | `TRUE` or `FALSE`: a bar on work of over two seconds, one for all passes of a call, with what it is at, the rate and the time left. Otherwise in interactive sessions, and where a handler of progressr is set, who is told then. By cli where that is installed; a line a minute where there is no terminal |
#' | `devices` | `gpucor.devices` | `GPUCOR_DEVICES` | numbers of the GPUs that share the work, such as `c(0, 1)` (in the environment `"0,1"`), or `"all"`; otherwise those of [chooseGpu()]. Without a meaning where `backend` is `"cpu"`, which takes them, so that a call runs anywhere |
#' | | `gpucor.keep` | `GPUCOR_KEEP` | bytes of results' memory that stay for the next result, which is sooner there in memory that has been in use; `TRUE`, as it is otherwise, for a quarter of what is free; `FALSE` for none. The system takes it back when memory is short |
#' | | `gpucor.folder` | `GPUCOR_FOLDER` | where temporary files of [subjects] and of shares are; otherwise in [tempdir()], see [gpuCorNetwork()] |
#' | | `gpucor.spool_bytes` | `GPUCOR_SPOOL_BYTES` | bytes of edges in memory before they go to the disk, see [gpuCorNetwork()] |
#'
#' Two more are options only: `gpucor.orientation = "columns"` ends the warning that data look transposed, see
#' [gpuCor()], and `gpucor.output` is the default of its `output`. One is a variable only: `GPUCOR_CPU`, the instruction
#' set of the processor to use, see [gpuInfo()].
#'
#' A call that takes more memory than is free is an error before anything is computed: see the section Errors of
#' [gpuCor()]. Results are counted in full; prepared columns, and the adjacencies of [gpuTOM()], are counted as what
#' they take at least.
#'
#' Less memory means more rounds, never another result. Nor is there another result by more threads or more GPUs.
#'
#' @keywords internal
#' @useDynLib gpucor, .registration = TRUE
#' @importFrom methods as is
#' @importClassesFrom Matrix sparseMatrix dgCMatrix dsCMatrix
#' @importFrom methods new setClass setMethod show slot
"_PACKAGE"

.onUnload <- function(libpath) {
  library.dynam.unload("gpucor", libpath)
}
