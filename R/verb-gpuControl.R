#' How a result is computed
#'
#' The settings of a run: on which device, with how much memory, with how many threads. They do not change a result.
#' Every function that computes has `...`, which goes to `gpuControl()`, and `control`, which takes its value.
#'
#' Settings that are not given come from options, such as `options(gpucor.threads = 4)`, then from environment
#' variables, such as `GPUCOR_THREADS`: see [gpucor-package].
#'
#' @param backend A string: `"cuda"`, `"cpu"`, or `"auto"` (the default), which is the GPU if there is one.
#' @param threads A number of at least 1: threads of the processor. Default: as many as there are cores, or fewer where
#'   the batch system or `OMP_THREAD_LIMIT` says so.
#' @param devices Integers from 0, or `"all"`: the GPUs to use, see [gpuInfo()]. Default: those of [chooseGpu()].
#' @param memory A number of bytes: the memory of a GPU that a run may use. Default: what is free.
#' @param progress `TRUE` or `FALSE`: whether to show a progress bar. Default: in interactive sessions.
#' @param keep `TRUE`, `FALSE` or a number of bytes: the memory of results that is kept for the next result. Default:
#'   as the engine decides.
#' @param ... Must be empty: an unknown argument of the calling function arrives here, and is an error.
#' @return A list of class `gpuControl`.
#' @examples
#' x <- as.matrix(mtcars)
#' gpuCor(x, threads = 2)
#'
#' two <- gpuControl(backend = "cpu", threads = 2)
#' gpuCor(x, control = two)
#' @export
gpuControl <- function(backend = NULL, threads = NULL, devices = NULL, memory = NULL, progress = NULL, keep = NULL,
                       ...) {
  if (...length()) refuse_unused(if (is.null(...names())) "" else ...names()[1L], sys.function(sys.parent()))
  given <- list(backend = backend, threads = threads, devices = devices, memory = memory, progress = progress,
                keep = keep)
  structure(given_of(given), class = "gpuControl")
}

# What other packages call the commonest arguments.
OTHER_NAMES <- c(cutoff = "threshold", sparsity = "density", softPower = "power", networkType = "type",
                 corType = "method", nThreads = "threads", n_jobs = "threads", confounds = "covariates",
                 nperm = "n_perm", verbose = "progress", gpu = "backend", maxPOutliers = "options")

# verb: the function that was called with the argument `name`.
refuse_unused <- function(name, verb) {
  if (!nzchar(name)) fail("an unnamed argument is left over")
  known <- setdiff(union(names(formals(verb)), RUN_SETTINGS), c("...", "control"))
  meant <- if (OTHER_NAMES[name] %in% known) OTHER_NAMES[[name]] else nearest(name, known)
  fail("unused argument '", name, "'", if (length(meant)) paste0("; did you mean '", meant, "'?"))
}
