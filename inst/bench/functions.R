# Functions beside plain networks and dense results, on one GPU, compared with their minimum time.
#
#   Rscript inst/bench/functions.R [--record] [row ...]
#
# Without rows: all of them. rows.R has their data and calls. GPUCOR_BENCH_SCALE: the fraction of the variables to use,
# such as 0.01 for a quick look.
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

sys.source(file.path(here, "rows.R"), globalenv())

pairs_of <- function(n) n * (n - 1) / 2
products <- function(n, n_obs, rate) 2 * pairs_of(n) * n_obs / rate

# Rows of the table in rows.R.
aim <- function(floor, must) list(floor = floor, must = must)
rows <- list(
  "maps" = aim(products(90112, 165, 45e12), 0.4),
  "eigenvector" = aim(products(3e5, 128, 900e12), 1),
  "k-10" = aim(products(3e5, 128, 900e12), 0.4),
  "k-50-kendall" = aim(products(3e5, 128^2 / 2, 10000e12), 0.8),
  "power-6" = aim(products(3e5, 128, 45e12), 0.8),
  "powers" = aim(products(90112, 165, 45e12), 0.4),
  "test" = aim(24 * pairs_of(20000) / 35e9, 0.3),
  "test-kendall" = aim(24 * pairs_of(20000) / 35e9, 0.3),
  "maxT" = aim(1000 * products(5000, 100, 900e12), 0.15),
  "compare" = aim(200 * 2 * products(10000, 50, 900e12), 0.5),
  "pairwise" = aim(6 * products(20000, 200, 45e12), NA),
  "pairwise-cosine" = aim(6 * products(20000, 200, 45e12), 0.5),
  "pairwise-bicor" = aim(NA, 8),
  "windows-moments" = aim(136 * products(20000, 30, 45e12), 2),
  "association" = aim(2 * 20000 * 5000 * 100 / 45e12, 0.5)
)

# ---- the run

say <- function(...) emit(sprintf(...))

run_row <- function(name) {
  row <- c(rows[[name]], ROWS[[name]])
  x <- row$data(row$gpu[1], max(500, round(row$gpu[2] * scale)))
  seconds <- vapply(1:2, function(k) {
    gc(full = TRUE)
    system.time(row$call(x))[["elapsed"]]
  }, 0)
  ours <- min(seconds)
  say("%-17s %9s x %4d  ours %8.3f  floor %7.3f  ratio %6.1f  must %5s", name, format(ncol(x), big.mark = ","),
      nrow(x), ours, row$floor, ours / row$floor, if (is.na(row$must)) "" else format(row$must))
}

wanted <- setdiff(arguments, "--record")
open_record("functions.txt")
for (name in if (length(wanted)) wanted else names(rows)) run_row(name)
close_record()
