# Topological overlap to the finished dist, compared with the machine's own rate and with WGCNA.
#
#   Rscript inst/bench/tom.R [backend] [N] [n_obs] [--record] [--peers]
#
# Default: N = 8,000 x 100 on a CPU; 20,000, 60,000 and 140,000 on a GPU (the adjacencies of the last exceed an H200's
# memory), and 60,000 on all GPUs if there are several. --peers: also WGCNA::TOMsimilarityFromExpr(), which computes
# correlations and overlap, with each BLAS of the folders in GPUCOR_BENCH_BLAS (separated by colons; by default
# Debian's), each in a process of its own. --record writes the output to results/tom.txt, or tom-cpu.txt,
# beside this script.
#
# floor   half of all products of the N x N adjacencies: on a CPU in single precision at the rate of multiply-adds
#         measured in this run, on a GPU in double at 64 Tflop/s, which cuBLAS reaches on an H200, and 4 bytes per pair
#         over the bus at 55 GB/s
# ours    seconds from the call to the finished object: the best of some runs; CPU: user and system time of all threads
# ratio   to the floor; for a peer: its time divided by ours, elapsed and CPU
# off     the largest difference from WGCNA among the pairs of a sample of the columns
arguments <- commandArgs(TRUE)
script <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
here <- dirname(script)
folder <- tempdir()
for (file in c("gpu-report.R", "gpu-build.R", "seconds.R")) source(file.path(here, file))
part <- Sys.getenv("GPUCOR_BENCH_PART") # in a process started by this script: the file for WGCNA's result
positional <- grep("^--", arguments, value = TRUE, invert = TRUE)
given <- function(k, default) if (length(positional) >= k) as.numeric(positional[k]) else default

# Groups of columns, as modules of genes.
make_data <- function(n_obs, n_var) {
  set.seed(1)
  group <- seq_len(n_var) %% 50
  common <- matrix(rnorm(n_obs * 50), n_obs)[, group + 1] * rep(group > 10, each = n_obs)
  matrix(rnorm(n_obs * n_var), n_obs) + common
}

SAMPLE <- c(1, 2, 51, 60, 61, 110, 111, 999)

# ---- WGCNA, in a process of its own

peer_part <- function() {
  suppressPackageStartupMessages(library(WGCNA))
  threads <- as.integer(Sys.getenv("GPUCOR_THREADS", "2"))
  invisible(capture.output(enableWGCNAThreads(threads)))
  x <- make_data(given(3, 100), given(2, 8000))
  tom <- NULL
  invisible(capture.output(seconds <- seconds_of(function() {
    tom <<- TOMsimilarityFromExpr(x, TOMType = "signed", nThreads = threads, verbose = 0)
  }, 1)))
  saveRDS(list(seconds = seconds, blas = extSoftVersion()[["BLAS"]], sample = tom[, SAMPLE]), part)
}

peer <- function(blas, n_var, n_obs) {
  result <- tempfile("wgcna")
  environment <- paste0("R_LD_LIBRARY_PATH=", blas, ":", file.path(R.home("lib"))) # R searches it first
  status <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script), "cpu", n_var, n_obs),
                    env = c(environment, paste0("GPUCOR_BENCH_PART=", result)), stdout = FALSE, stderr = FALSE)
  if (status == 0) readRDS(result)
}

blas_folders <- function() {
  given <- Sys.getenv("GPUCOR_BENCH_BLAS")
  if (nzchar(given)) return(strsplit(given, ":")[[1]])
  all <- Sys.glob("/usr/lib/*/*/libblas.so.3")
  unique(dirname(all))
}

# ---- the machine

# Multiply-adds per second of all threads.
single_rate <- function(threads) {
  file.copy(file.path(here, "cpu-rates.c"), folder, overwrite = TRUE)
  build("cpu-rates", paste("PKG_CFLAGS='-O3 -march=native -fopenmp' PKG_LIBS=-fopenmp", r_command(),
                           "CMD SHLIB cpu-rates.c"))
  dyn.load(file.path(folder, "cpu-rates.so"))
  .C("rate_float", as.integer(threads), 0)[[2]]
}

floor_of <- function(backend, n_var, threads) {
  pairs <- n_var * (n_var - 1) / 2
  if (backend == "cpu") pairs * n_var / single_rate(threads) else pairs * n_var * 2 / 64e12 + 4 * pairs / 55e9
}

# ---- the table

LINE <- "%-34s %9s %9s %9s %9s %9s"

# devices: number of the session's GPUs.
measure <- function(backend, n_var, n_obs, devices = 1) {
  threads <- gpucor::gpuInfo()$threads
  x <- make_data(n_obs, n_var)
  invisible(gpucor::gpuTOM(x[, 1:1000], backend = backend))
  tom <- NULL
  times <- if (n_var > 1e5) 1 else if (n_var > 30000) 2 else 3
  ours <- seconds_of(function() tom <<- gpucor::gpuTOM(x, backend = backend), times)
  floor <- floor_of(backend, n_var, threads) / devices
  what <- paste0("gpuTOM(), ", backend, ", N = ", number(n_var, 8), if (devices > 1) paste0(", ", devices, " GPUs"))
  emit(sprintf(LINE, what, number(floor), number(ours[["elapsed"]]), number(ours[["cpu"]]),
               number(ours[["elapsed"]] / floor), ""))
  if (!"--peers" %in% arguments) return(invisible())
  own <- vapply(SAMPLE, function(j) c(tom[seq_len(n_var), j]), numeric(n_var))
  rm(tom)
  for (blas in blas_folders()) {
    found <- peer(blas, n_var, n_obs)
    if (is.null(found)) {
      emit("WGCNA with the BLAS in ", blas, " failed")
      next
    }
    emit(sprintf(LINE, paste("WGCNA,", basename(dirname(found$blas))), "", number(found$seconds[["elapsed"]]),
                 number(found$seconds[["cpu"]]),
                 paste0(number(found$seconds[["elapsed"]] / ours[["elapsed"]]), " / ",
                        number(found$seconds[["cpu"]] / ours[["cpu"]])),
                 sprintf("%.1e", max(abs(own - found$sample)))))
  }
}

main <- function() {
  backend <- if (length(positional)) positional[1] else gpucor::gpuInfo()$default
  open_record(if (backend == "cpu") "tom-cpu.txt" else "tom.txt")
  info <- gpucor::gpuInfo()
  emit("Topological overlap, ", backend, ", n_obs = ", given(3, 100), ", ", info$threads, " threads")
  emit(sprintf(LINE, "", "floor", "elapsed", "CPU", "ratio", "off"))
  default <- if (backend == "cpu") 8000 else c(20000, 60000, 140000)
  for (n_var in given(2, default)) measure(backend, n_var, given(3, 100))
  gpus <- NROW(info$devices)
  if (backend != "cpu" && gpus > 1) {
    options(gpucor.devices = "all")
    measure(backend, given(2, 60000), given(3, 100), gpus)
  }
  close_record()
}

if (nzchar(part)) peer_part() else invisible(main())
