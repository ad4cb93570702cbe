# Time series: lagged correlations, residuals, and networks by surrogates, beside the same by hand in R.
#
#   Rscript inst/bench/series.R [--record]
#
# 94 regions, as of an atlas of the brain, and 1,200 volumes; two threads.
#
# ours     seconds from the call to the finished R object: the best of five calls, elapsed and CPU time (user, system)
# peer     the same by stats: cor() for each lag, with the largest coefficient of each pair; lm.fit(); surrogates by
#          fft() and the largest coefficient of cor()
# floor    seconds that the products take on two cores at 450 Gflop/s; for residuals, reading and writing the data at
#          10 GB/s
# must     the goal in seconds
#
# --record writes the output to results/series-cpu.txt beside this script.
suppressPackageStartupMessages(library(gpucor))
arguments <- commandArgs(TRUE)
here <- dirname(normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))))
for (file in c("gpu-report.R", "seconds.R")) source(file.path(here, file))
options(gpucor.backend = "cpu", gpucor.threads = 2)

set.seed(1)
n_obs <- 1200
n_var <- 94
x <- apply(matrix(rnorm(n_obs * n_var), n_obs), 2, filter, 0.6, "recursive")
motion <- matrix(rnorm(n_obs * 24), n_obs)
lags <- -20:20

lags_by_hand <- function() {
  best <- lag <- matrix(0, n_var, n_var)
  for (l in lags) {
    at <- seq_len(n_obs - abs(l)) + max(0, -l)
    r <- cor(x[at, ], x[at + l, ])
    larger <- abs(r) > abs(best)
    best[larger] <- r[larger]
    lag[larger] <- l
  }
  list(best, lag)
}

surrogates <- 99
surrogates_by_hand <- function() {
  half <- n_obs / 2 - 1
  maxima <- replicate(surrogates, {
    up <- exp(2i * pi * matrix(runif(half * n_var), half))
    made <- Re(mvfft(mvfft(x) * rbind(1, up, 1, Conj(up[half:1, ])), inverse = TRUE))
    max(abs(cor(made)[lower.tri(diag(n_var))]))
  })
  sort(maxima)[0.95 * (surrogates + 1)]
}

rows <- list(
  "41 lags, all pairs" = list(
    ours = function() gpuCor(x, lag = lags), peer = lags_by_hand, must = "0.1",
    floor = 2 * 21 * n_var^2 * n_obs / 450e9),
  "41 lags, density 0.1" = list(
    ours = function() gpuCorNetwork(x, lag = lags, density = 0.1), peer = lags_by_hand, must = "",
    floor = 2 * 21 * n_var^2 * n_obs / 450e9),
  "residuals of 24 covariates" = list(
    ours = function() gpuClean(x, motion), peer = function() lm.fit(cbind(1, motion), x)$residuals, must = "",
    floor = 16 * n_obs * n_var / 10e9),
  "network, 99 phase surrogates" = list(
    ours = function() gpuCorNetwork(x, p.value = 0.05, adjust = "maxT", n_perm = surrogates, surrogate = "phase"),
    peer = surrogates_by_hand, must = "", floor = surrogates * n_var^2 * n_obs / 450e9)
)

open_record("series-cpu.txt")
emit("Series: ", n_var, " regions of ", n_obs, " volumes; seconds")
emit(sprintf("%-30s %9s %9s %9s %9s %9s %7s %6s", "", "floor", "peer", "peer CPU", "ours", "ours CPU", "ratio", "must"))
for (name in names(rows)) {
  row <- rows[[name]]
  ours <- seconds_of(row$ours, 5L)
  peer <- seconds_of(row$peer, 2L)
  emit(sprintf("%-30s %9s %9s %9s %9s %9s %7s %6s", name, number(row$floor), number(peer[["elapsed"]]),
               number(peer[["cpu"]]), number(ours[["elapsed"]]), number(ours[["cpu"]]),
               number(peer[["cpu"]] / ours[["cpu"]]), row$must))
}
emit("ratio: CPU time of the peer to ours")
close_record()
