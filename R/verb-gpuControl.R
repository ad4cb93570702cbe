#' How a result is computed
#'
#' `gpuControl()` collects the settings of a run: device, memory, threads. They do not change results. Give them
#' directly, `gpuCor(x, threads = 2)`, or as `control = gpuControl(threads = 2)`, for several calls.
#'
#' Settings that are not given come from options, such as `options(gpucor.threads = 4)`, then from environment
#' variables, such as `GPUCOR_THREADS`: see [gpucor-package].
#'
#' @param backend A string: `"cuda"`, `"cpu"`, or `"auto"` (default), a GPU if there is one.
#' @param threads An integer: threads of the processor. Default: the number of cores, or fewer if the batch system or
#'   `OMP_THREAD_LIMIT` says so.
#' @param devices Integers from 0, or `"all"`: the GPUs to use, see [gpuInfo()]. Default: those of [chooseGpu()].
#' @param memory A number of bytes: memory for prepared columns, see [gpucor-package].
#' @param progress `TRUE` or `FALSE`: whether to show a progress bar. Default: in interactive sessions.
#' @param ... Must be empty; an unknown argument is an error.
#' @param keep_memory `TRUE`, `FALSE` or a number of bytes: how much memory of freed results to reuse for the next
#'   result. Default: a quarter of free memory. The name of the argument cannot be abbreviated.
#' @return A list of class `gpuControl`.
#' @examples
#' x <- as.matrix(mtcars)
#' gpuCor(x, threads = 2)
#'
#' two <- gpuControl(backend = "cpu", threads = 2)
#' gpuCor(x, control = two)
#' @export
gpuControl <- function(backend = NULL, threads = NULL, devices = NULL, memory = NULL, progress = NULL, ...,
                       keep_memory = NULL) {
  if (...length()) refuse_unused(if (is.null(...names())) "" else ...names()[1L], sys.function(sys.parent()))
  given <- list(backend = backend, threads = threads, devices = devices, memory = memory, progress = progress,
                keep_memory = keep_memory)
  given <- Filter(Negate(is.null), given)
  if (length(given)) check_run_settings(given)
  structure(given, class = "gpuControl")
}

#' @method print gpuControl
#' @export
print.gpuControl <- function(x, ...) {
  cat("Run settings: ", if (length(x)) toString(paste(names(x), "=", vapply(x, show_value, ""))) else "defaults", "\n",
      sep = "")
  invisible(x)
}

# `verb`: the function that was called with the argument `name`.
refuse_unused <- function(name, verb) {
  if (!nzchar(name)) fail("an unnamed argument is left over")
  if (name == OLD_SETTING) {
    fail("unused argument 'keep'; 'keep_memory' is memory of freed results to reuse, and x[keep, ] takes rows of 'x'")
  }
  known <- setdiff(union(names(formals(verb)), RUN_SETTINGS), c("...", "control"))
  is_option <- "options" %in% known && name %in% unlist(lapply(measures()$options, names))
  if (is_option) fail("unused argument '", name, "'; give options = list(", name, " = )")
  meant <- other_name(name, known)
  if (is.na(meant)) meant <- nearest(name, known)
  fail("unused argument '", name, "'", if (length(meant)) paste0("; did you mean '", meant, "'?"))
}
