# The GPUs that this session uses.
state$devices <- 0L

#' Choose GPUs, and show the back ends
#'
#' `gpuInfo()` shows the back ends, GPUs and threads that can be used. `chooseGpu()` chooses GPUs for the session; the
#' argument `devices` of [gpuControl()] chooses them for one call.
#'
#' Several GPUs divide the pairs of one call, and each occupies one thread of the processor. Results do not depend on
#' the number of GPUs. Only the first GPU is used for small jobs, and where copying all coefficients to main memory
#' takes longer than computing them (up to about 1,400 observations for Kendall, 16,000 for other measures). If a GPU
#' fails, the others do its work, with a warning.
#'
#' What a GPU does well depends on its generation. All three ways to multiply signs were run on an H200, and nothing on
#' other generations; the rest of the table is from data sheets.
#'
#' | compute capability | GPUs such as | signs (Kendall) are multiplied as | rate of doubles to floats |
#' |---|---|---|---|
#' | 8.0 | A100 | bits | 1/2 |
#' | 8.6, 8.9 | RTX 30 and 40, L40S | bits | 1/64 |
#' | 9.0 | H100, H200 | bits, by instructions of its own | 1/2 |
#' | 10.0 | B200 | bytes | 1/2 |
#' | 10.3, 12.0, 12.1 | B300, RTX 50 | bytes | 1/64 |
#'
#' Where doubles are slow, so are topological overlap, `precision = "double"` and dense results, which need exact
#' coefficients of all pairs; networks need doubles only for pairs near the threshold.
#'
#' @param deviceId A number, several numbers, or `"all"`: GPUs, counted from 0 as in [gpuInfo()].
#' @return `chooseGpu()`: the chosen numbers, invisibly. `getGpuId()`: the numbers in use, `integer(0)` without a GPU.
#'   `gpuInfo()`: a list of class `gpuInfo`: usable `backends`; `default`, the one that `"auto"` takes; `devices`, a
#'   data frame with id, name, compute capability, multiprocessors, memory and free memory in bytes (free memory of the
#'   GPUs in use only); `device`, the numbers in use; `driver` and `runtime` versions; `reason`, why CUDA is missing, or
#'   an empty string; `configured`, the installation's report; `threads`; `instructions`, the CPU instruction sets with
#'   kernels, best first. The best is used unless the environment variable `GPUCOR_CPU` names another.
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
getGpuId <- function() if (backends()$cuda$devices > 0L) state$devices else integer()

#' @rdname chooseGpu
#' @order 1
#' @export
gpuInfo <- function() {
  all <- backends()
  info <- .Call(r_info, state$devices)
  devices <- info$devices
  configured <- system.file("configured", package = "gpucor") # the build in a line: CUDA or why it is missing
  if (is.null(devices)) {
    devices <- list(id = integer(), name = character(), capability = character(), multiprocessors = integer(),
                    memory = numeric(), memory_free = numeric())
  }
  versions <- c(info$driver, info$runtime)
  versions <- ifelse(versions > 0L, paste0(versions %/% 1000L, ".", versions %% 1000L %/% 10L), NA_character_)
  structure(
    list(backends = names(all)[vapply(all, function(b) b$devices > 0L, NA)],
         default = choose_backend(setting(NULL, "backend")),
         devices = as.data.frame(devices), device = getGpuId(),
         driver = versions[1L], runtime = versions[2L], reason = all$cuda$reason,
         configured = if (nzchar(configured)) readLines(configured) else NA_character_, # installed with --no-inst
         threads = choose_threads(setting(NULL, "threads")), instructions = info$instructions),
    class = c("gpuInfo", "gpuCorResult")
  )
}

#' @method print gpuInfo
#' @export
print.gpuInfo <- function(x, ...) {
  cat("gpucor back ends: ", paste(x$backends, collapse = ", "), "; in use: ", x$default, "\n", sep = "")
  cat("CPU:  ", n_of(x$threads, "thread"), ", instructions: ", paste(x$instructions, collapse = ", "), "\n", sep = "")
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
    version <- as.numeric(gpu$capability)
    cat("         Kendall multiplies ", if (version < 10) "bits" else "bytes", "; doubles at ",
        if (version %in% 8:10) "1/2" else "1/64", " of the rate of floats\n", sep = "")
  }
  invisible(x)
}
