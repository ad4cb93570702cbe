# Which GPUs this session uses.
state$devices <- 0L

#' Choose GPUs, and see what there is
#'
#' Several GPUs share the pairs of one call: `chooseGpu(c(0, 1))` for the session, or `devices =` for a
#' call. Each has a thread of the processor for itself, and draws tiles until none is left; the result is the same to
#' the last bit. A small job uses the first one only, and so do all coefficients
#' of columns up to some 1,400 observations by Kendall or 16,000 by the others, which main memory cannot take in faster
#' than one GPU computes them. If a GPU fails, the others do its work, with a warning.
#'
#' @param deviceId The number of a GPU, from 0, as [gpuInfo()] lists them; several numbers; or `"all"`.
#' @return `chooseGpu()`: the numbers, invisibly; they hold for this session.
#'   `getGpuId()`: the numbers in use. `gpuInfo()`: a list of class `gpuInfo`:
#'   `backends` that can be used, `default` (the one that `"auto"` takes),
#'   `devices` (a data frame: id, name, compute capability, multiprocessors,
#'   memory and free memory in bytes, the latter for the GPUs in use only, as
#'   asking takes some), `device` (those in use), `driver` and `runtime` versions, `reason` (why there is
#'   no CUDA; empty if there is), `configured` (the line in which the installation said what it found), `threads`,
#'   `instructions` (the instruction sets of the CPU that there are kernels for, the best first, which is used unless
#'   the environment variable `GPUCOR_CPU` names another).
#' @section Errors: `chooseGpu()`: a number that no GPU has, or no GPU at all.
#' @examples
#' gpuInfo()
#' getGpuId()
#' if (nrow(gpuInfo()$devices) > 0) chooseGpu(0)
#' @export
chooseGpu <- function(deviceId) {
  cuda <- backends()$cuda
  if (cuda$devices == 0L) fail("there is no GPU to choose: ", cuda$reason)
  state$devices <- check_devices(deviceId, "deviceId")
  invisible(state$devices)
}

#' @rdname chooseGpu
#' @export
getGpuId <- function() state$devices

#' @rdname chooseGpu
#' @export
gpuInfo <- function() {
  all <- backends()
  info <- .Call(r_info, state$devices)
  devices <- if (is.null(info$devices)) no_devices() else info$devices
  structure(
    list(backends = names(all)[vapply(all, function(b) b$devices > 0L, NA)],
         default = choose_backend(setting(NULL, "backend")),
         devices = as.data.frame(devices), device = state$devices,
         driver = version_text(info$driver), runtime = version_text(info$runtime), reason = all$cuda$reason,
         configured = what_configure_said(),
         threads = choose_threads(setting(NULL, "threads")), instructions = info$instructions),
    class = c("gpuInfo", "gpuCorResult")
  )
}

# In one line, of this build: CUDA or why not, and whether the compiler had no OpenMP.
what_configure_said <- function() {
  file <- system.file("configured", package = "gpucor")
  if (nzchar(file)) readLines(file) else NA_character_ # installed with --no-inst
}

no_devices <- function() {
  list(id = integer(), name = character(), capability = character(), multiprocessors = integer(),
       memory = numeric(), memory_free = numeric())
}

version_text <- function(version) {
  if (version > 0L) paste0(version %/% 1000L, ".", version %% 1000L %/% 10L) else NA_character_
}

#' @method print gpuInfo
#' @export
print.gpuInfo <- function(x, ...) {
  cat("gpucor back ends: ", paste(x$backends, collapse = ", "), "; in use: ", x$default, "\n", sep = "")
  posix <- grepl(" with POSIX threads", x$configured, fixed = TRUE)
  cat("CPU:  ", n_of(x$threads, if (posix) "POSIX thread" else "thread"), why_no_openmp(x$configured),
      ", instructions: ", paste(x$instructions, collapse = ", "), "\n", sep = "")
  if (nrow(x$devices) == 0L) {
    cat("CUDA: none, ", x$reason, "\n", sep = "")
    return(invisible(x))
  }
  cat("CUDA: runtime ", x$runtime, ", driver for ", x$driver, "\n", sep = "")
  for (d in seq_len(nrow(x$devices))) {
    gpu <- x$devices[d, ]
    free <- if (!is.na(gpu$memory_free)) paste0(" (", format_bytes(gpu$memory_free), " free)")
    cat(if (gpu$id %in% x$device) "    * " else "      ", gpu$id, ": ", gpu$name, ", compute capability ",
        gpu$capability, ", ", format_bytes(gpu$memory), free, "\n", sep = "")
  }
  invisible(x)
}

# What configure said of a C compiler without OpenMP, if it said that.
why_no_openmp <- function(configured) {
  regmatches(configured, regexpr(", as the C compiler has no OpenMP( [(][^)]*[)])?", configured))
}
