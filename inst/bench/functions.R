# Functions beside plain networks and dense results, on one GPU, compared with their minimum time.
#
#   Rscript inst/bench/functions.R [--record] [row ...]
#
# Without rows: all of them. The data are those of gene expression: every column is a mixture of 20 common factors and
# noise of its own. GPUCOR_BENCH_SCALE: the fraction of the variables to use, such as 0.01 for a quick look.
#
# ours   seconds from the call to the finished R object: the better of two calls
# floor  minimum seconds on an H200 from the rates of gpu.txt: single-precision products of CUDA cores 45 Tflop/s, half
#        and sign products 900 T and 10,000 T operations/s, copies to the host 50 GB/s, fresh memory 35 GB/s
# must   seconds that were set as a goal; empty: none
#
# --record writes the output to results/functions.txt beside this script.
suppressPackageStartupMessages(library(gpucor))
arguments <- commandArgs(TRUE)
script <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
here <- dirname(script)
source(file.path(here, "gpu-report.R"))
scale <- as.numeric(Sys.getenv("GPUCOR_BENCH_SCALE", "1"))

mixture <- function(n_obs, n_var, missing = 0) {
  n_var <- max(500, round(n_var * scale))
  set.seed(1)
  x <- matrix(rnorm(n_obs * 20), n_obs) %*% matrix(rnorm(20 * n_var, sd = 0.3), 20) + rnorm(n_obs * n_var)
  if (missing > 0) x[sample.int(length(x), missing * length(x))] <- NA
  x
}

pairs_of <- function(n) n * (n - 1) / 2
products <- function(n, n_obs, rate) 2 * pairs_of(n) * n_obs / rate

row <- function(n_obs, n_var, floor, must, call, missing = 0) {
  list(n_obs = n_obs, n_var = n_var, floor = floor, must = must, call = call, missing = missing)
}
rows <- list(
  "maps" = row(165, 90112, products(90112, 165, 45e12), 0.4,
               function(x) gpuConnectivity(x, maps = c("mean", "z"), density = 0.001)),
  "eigenvector" = row(128, 3e5, products(3e5, 128, 900e12), 1,
                      function(x) gpuConnectivity(x, maps = "eigenvector", density = 0.001)),
  "k-10" = row(128, 3e5, products(3e5, 128, 900e12), 0.4, function(x) gpuCorNetwork(x, k = 10)),
  "k-50-kendall" = row(128, 3e5, products(3e5, 128^2 / 2, 10000e12), 0.8,
                       function(x) gpuCorNetwork(x, k = 50, method = "kendall")),
  "power-6" = row(128, 3e5, products(3e5, 128, 45e12), 0.8, function(x) gpuConnectivity(x, power = 6)),
  "powers" = row(165, 90112, products(90112, 165, 45e12), 0.4, function(x) gpuConnectivity(x, power = 1:20)),
  "test" = row(100, 20000, 24 * pairs_of(20000) / 35e9, 0.3, function(x) gpuCorTest(x)),
  "test-kendall" = row(100, 20000, 24 * pairs_of(20000) / 35e9, 0.3, function(x) gpuCorTest(x, method = "kendall")),
  "maxT" = row(100, 5000, 1000 * products(5000, 100, 900e12), 0.15,
               function(x) gpuCorTest(x, adjust = "maxT", n_perm = 1000)),
  "compare" = row(100, 10000, 200 * 2 * products(10000, 50, 900e12), 0.5,
                  function(x) gpuCorCompare(x[1:50, ], x[51:100, ], density = 0.001, n_perm = 200)),
  "pairwise" = row(200, 20000, 6 * products(20000, 200, 45e12), NA, missing = 0.05,
                   function(x) gpuCorNetwork(x, threshold = 0.6, use = "pairwise")),
  "pairwise-cosine" = row(200, 20000, 6 * products(20000, 200, 45e12), 0.5, missing = 0.05,
                          function(x) gpuCorNetwork(x, threshold = 0.6, use = "pairwise", method = "cosine")),
  "pairwise-bicor" = row(200, 20000, NA, 8, missing = 0.05,
                         function(x) gpuCorNetwork(x, threshold = 0.6, use = "pairwise", method = "bicor")),
  "windows-moments" = row(165, 20000, 136 * products(20000, 30, 45e12), 2,
                          function(x) gpuCorWindows(x, 30, output = "moments", density = 0.001)),
  "association" = row(100, 25000, 2 * 20000 * 5000 * 100 / 45e12, 0.5,
                      function(x) gpuAssociation(x[, 1:(ncol(x) * 0.8)], x[, -(1:(ncol(x) * 0.8))], p.value = 1e-6))
)

# ---- the run

say <- function(...) emit(sprintf(...))

run_row <- function(name) {
  row <- rows[[name]]
  x <- mixture(row$n_obs, row$n_var, row$missing)
  seconds <- vapply(1:2, function(k) {
    gc(full = TRUE)
    system.time(row$call(x))[["elapsed"]]
  }, 0)
  ours <- min(seconds)
  say("%-17s %9s x %4d  ours %8.3f  floor %7.3f  ratio %6.1f  must %5s", name, format(ncol(x), big.mark = ","),
      row$n_obs, ours, row$floor, ours / row$floor, if (is.na(row$must)) "" else format(row$must))
}

wanted <- setdiff(arguments, "--record")
info <- gpuInfo()
open_record("functions.txt")
say("%s; gpucor %s; %s", format(Sys.Date()), utils::packageVersion("gpucor"),
    if (nrow(info$devices)) info$devices$name[1] else "no GPU")
for (name in if (length(wanted)) wanted else names(rows)) run_row(name)
close_record()
