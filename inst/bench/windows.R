# Sliding windows over the observations, compared with their minimum time and with published results.
#
#   Rscript inst/bench/windows.R [--record] [row ...]
#
# Rows, of which the second takes minutes only with a GPU:
#   regions  94 regions x 1,200 volumes, width 60, step 1: 1,141 windows, all coefficients; compared with one call of
#            gpuCor() per window, and of stats::cor()
#   maps     90,112 voxels x 165 volumes, width 30, step 1: 136 windows, degree maps, by threshold and by density
#   spread   20,000 of these voxels, the most variable 0.1 % of the pairs over the 136 windows
#
# floor, on a GPU: for each window the slower of transferring its columns, 4 bytes per value at 50 GB/s, and its
# products, at their time in one call for 90,112 x 30. GPU-DFC (Eslami and Saeed 2019,
# https://github.com/pcdslab/GPU-DFC) keeps the windows' correlations above a threshold. Its authors report twice the
# speed of earlier GPU code, and more than 40 times that of a sequential one, but no rate that could be compared. `one
# by one` below is one call per window on this machine.
#
# --record writes the output to results/windows.txt, or windows-cuda.txt, beside this script.
suppressPackageStartupMessages(library(gpucor))
arguments <- commandArgs(TRUE)
script <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
here <- dirname(script)
source(file.path(here, "record.R"))
rows <- setdiff(arguments, "--record")
if (!length(rows)) rows <- c("regions", if ("cuda" %in% gpuInfo()$backends) c("maps", "spread"))

say <- function(...) emit(sprintf(...))

# Seconds from the call to the R object: the best of some runs.
seconds <- function(call, times = 3) {
  min(vapply(seq_len(times), function(k) {
    gc(full = TRUE)
    system.time(call())[["elapsed"]]
  }, 0))
}

# Series that are smooth in time and correlated within groups, like those of an image.
series <- function(n_obs, n_var, groups = 20) {
  set.seed(1)
  common <- apply(matrix(rnorm(n_obs * groups), n_obs), 2, stats::filter, 0.6, "recursive")
  x <- matrix(rnorm(n_obs * n_var), n_obs)
  x + common[, rep_len(seq_len(groups), n_var)]
}

run_regions <- function() {
  x <- series(1200, 94)
  starts <- seq_len(1141)
  one_by_one <- function(f) for (k in starts) f(x[k:(k + 59), ])
  say("regions: 94 x 1,200, width 60, step 1: 1,141 windows")
  say("  %-34s %7.3f s", "gpuCorWindows()", seconds(function() gpuCorWindows(x, 60), 10))
  moments <- function() gpuCorWindows(x, 60, output = "moments")
  say("  %-34s %7.3f s", "gpuCorWindows(output = \"moments\")", seconds(moments, 10))
  degrees <- function() gpuCorWindows(x, 60, output = "connectivity", threshold = 0.3)
  say("  %-34s %7.3f s", "gpuCorWindows(output = \"connectivity\")", seconds(degrees, 10))
  say("  %-34s %7.3f s", "one by one, gpuCor()", seconds(function() one_by_one(gpuCor)))
  say("  %-34s %7.3f s", "one by one, cor()", seconds(function() one_by_one(stats::cor)))
}

run_maps <- function() {
  x <- series(165, 90112)
  n <- 136
  first <- x[1:30, ]
  say("maps: 90,112 x 165, width 30, step 1: 136 windows, degree maps")
  for (by in list(list(threshold = 0.8), list(density = 0.001))) {
    what <- paste(names(by), "=", by[[1]])
    one <- function() do.call(gpuConnectivity, c(list(first), by))
    one()
    alone <- seconds(one)
    stages <- .Call(gpucor:::r_stages)
    wire <- 4 * length(first) / 50e9
    windows <- function() do.call(gpuCorWindows, c(list(x, 30, output = "connectivity"), by))
    all <- seconds(windows, 2)
    say("  %-34s %7.2f s, floor %.2f s (products %.1f ms and wire %.1f ms a window)", what, all,
        n * max(stages[2], wire), 1000 * stages[2], 1000 * wire)
    say("  %-34s %7.2f s, of which preparing %.1f ms a window", "one by one, gpuConnectivity()", n * alone,
        1000 * stages[1])
  }
  say("  %-34s half the time of earlier GPU code", "GPU-DFC, as reported")
}

run_spread <- function() {
  x <- series(165, 20000)
  call <- function() gpuCorWindows(x, 30, output = "moments", density = 0.001)
  all <- seconds(call, 1)
  pairs <- 20000 * 19999 / 2 * 136
  say("spread: 20,000 x 165, width 30, step 1: the most variable 0.1 %% of the pairs")
  say("  %-34s %7.2f s, %.0f million pairs a second; floor %.2f s: 4 bytes a pair through the wire", "gpuCorWindows()",
      all, pairs / all / 1e6, 4 * pairs / 50e9)
}

open_record(if ("cuda" %in% gpuInfo()$backends) "windows-cuda.txt" else "windows.txt")
for (row in rows) get(paste0("run_", row))()
close_record()
