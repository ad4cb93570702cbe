# Measures beyond straight lines, beside Pearson's correlation of the same data and a package that has the measure.
#
#   Rscript inst/bench/measures.R [--record] [--peers] [row ...]
#
# Rows depend on the machine: those of a GPU, or those of two cores. The data are those of gene expression: every column
# is a mixture of 20 common factors and noise of its own. --peers: also packages corpcor and energy, on fewer columns.
#
# ours     seconds from the call to the finished R object: the better of three calls
# Pearson  the same call with method = "pearson" and without other arguments; for coherence, of as many observations as
#          there are Fourier coefficients
# floor    seconds that the products of the prepared columns, or the popcounts of the levels, take: on an H200 at 400
#          Tflop/s (half precision and its correction) and 10,000 T bit operations/s; on two cores at 450 Gflop/s and
#          4 T bit operations/s
# must     the goal, in seconds, as a multiple of Pearson's time (x), or the time of a partial network
# peer     seconds of the other package, scaled from the pairs of 1,000 columns (energy: 30) to all pairs
#
# --record writes the output to results/measures.txt beside this script, on a CPU to results/measures-cpu.txt.
suppressPackageStartupMessages(library(gpucor))
arguments <- commandArgs(TRUE)
script <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
here <- dirname(script)
for (file in c("gpu-report.R", "seconds.R")) source(file.path(here, file))
has_gpu <- nrow(gpuInfo()$devices) > 0

mixture <- function(n_obs, n_var) {
  set.seed(1)
  matrix(rnorm(n_obs * 20), n_obs) %*% matrix(rnorm(20 * n_var, sd = 0.3), 20) + rnorm(n_obs * n_var)
}
pairs_of <- function(n) n * (n - 1) / 2
flops <- if (has_gpu) 400e12 else 450e9
bits <- if (has_gpu) 10000e12 else 4e12

network <- function(x, ...) gpuCorNetwork(x, density = 0.001, ...)
all_pairs <- function(x, ...) gpuCor(x, ...)

# steps: multiplications, or bit operations, of a pair; length: observations of Pearson's data.
row <- function(n_obs, n_var, call, arguments, steps, rate, must, peer = NULL, length = n_obs) {
  list(length = length, n_obs = n_obs, n_var = n_var, call = call, arguments = arguments,
       floor = 2 * pairs_of(n_var) * steps / rate, must = must, peer = peer)
}
energy_pairs <- function(x) {
  x <- x[, 1:30]
  used <- system.time(for (i in 2:30) for (j in seq_len(i - 1)) energy::bcdcor(x[, i], x[, j]))[["elapsed"]]
  used / pairs_of(30)
}
corpcor_pairs <- function(x) {
  system.time(corpcor::pcor.shrink(x[, 1:1000], verbose = FALSE))[["elapsed"]] / pairs_of(1000)
}
# Cell lines of 50 tissues, and the effects of genes in them.
related <- list(covariance = diag(0.5, 1000) + 0.5 * outer(rep(1:50, 20), rep(1:50, 20), "=="))
lines <- function(arguments) row(1000, 18000, network, arguments, 1000, flops, "partial")
# Eight segments, ten frequencies.
band <- list(method = "coherence", bandpass = c(0.02, 0.24), tr = 1, options = list(segment = 44))
rows <- if (has_gpu) {
  list(
    "partial" = row(128, 1e6, network, list(partial = TRUE), 128, flops, "1.2 x"),
    "distance" = row(100, 20000, network, list(method = "distance"), 4950, flops, "0.3"),
    "distance, n = 500" = row(500, 20000, network, list(method = "distance"), 124750, flops, "1"),
    "mi, 10 bins" = row(1000, 20000, network, list(method = "mi", options = list(bins = 10)), 1e5, bits, "0.2"),
    "coherence" = row(200, 1e5, all_pairs, band, 320, flops, "4 x", length = 160),
    "coherence, edges" = row(200, 1e5, network, band, 320, flops, "4 x", length = 160),
    "coherence, regions" = row(200, 94, all_pairs, band, 320, flops, "4 x", length = 160),
    "concordance" = row(100, 50000, network, list(method = "concordance"), 100, flops, "-"),
    "proportionality" = row(100, 50000, network, list(method = "concordance", options = list(means = FALSE)), 100,
                            flops, "-"),
    "partial, lines" = lines(list(partial = TRUE)),
    "covariance, lines" = lines(related)
  )
} else {
  list(
    "partial" = row(57, 22283, network, list(partial = TRUE), 57, flops, "1.3 x", corpcor_pairs),
    "distance" = row(100, 2000, all_pairs, list(method = "distance"), 4950, flops, "0.3", energy_pairs),
    "mi, 10 bins" = row(500, 5000, network, list(method = "mi", options = list(bins = 10)), 5e4, bits, "2"),
    "coherence" = row(200, 5000, all_pairs, band, 320, flops, "4 x", length = 160),
    "coherence, regions" = row(200, 94, all_pairs, band, 320, flops, "4 x", length = 160),
    "concordance" = row(100, 20000, network, list(method = "concordance"), 100, flops, "-"),
    "partial, lines" = lines(list(partial = TRUE)),
    "covariance, lines" = lines(related)
  )
}

say <- function(...) emit(sprintf(...))

run_row <- function(name) {
  row <- rows[[name]]
  x <- mixture(row$n_obs, row$n_var)
  time_of <- function(...) seconds_of(function() row$call(x, ...), 3)[["elapsed"]]
  ours <- do.call(time_of, row$arguments)
  peer <- if ("--peers" %in% arguments && !is.null(row$peer)) row$peer(x) * pairs_of(row$n_var)
  if (row$length != row$n_obs) x <- mixture(row$length, row$n_var)
  say("%-18s %9s x %4d  ours %7.3f  Pearson %7.3f  floor %7.3f  must %5s%s", name,
      format(ncol(x), big.mark = ",", scientific = FALSE), row$n_obs, ours, time_of(), row$floor, row$must,
      if (is.null(peer)) "" else sprintf("  peer %8.1f", peer))
}

wanted <- setdiff(arguments, c("--record", "--peers"))
open_record(if (has_gpu) "measures.txt" else "measures-cpu.txt")
for (name in if (length(wanted)) wanted else names(rows)) run_row(name)
close_record()
