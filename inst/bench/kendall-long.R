# Kendall's tau-b of long columns, of columns with few levels, and of both: a dist of all pairs, from an R matrix.
#
#   Rscript inst/bench/kendall-long.R [--record] [--quick]
#
# Takes a minute, with or without a GPU. --record writes the output to results/kendall-long-BACKEND.txt beside this
# script.
#
# ours     seconds from the call to the finished R object, the better of two runs after a small call
# in it    seconds of the engine's stages: preparing and multiplying
# floor    GPU: signs of all pairs of observations once per pair, two operations per bit, at the rate of bit products
#          measured in this run; for columns with few levels, their bytes at the rate of the bus
# must     required seconds, on one H200 or two cores; cells are a sparse matrix
# peer     seconds of pcaPP::cor.fk for as many pairs, extrapolated from a few of them, on one core, if installed
# right    whether six columns' coefficients equal those of the CPU, to the last bit
suppressPackageStartupMessages(library(gpucor))
arguments <- commandArgs(TRUE)
here <- dirname(normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))))
folder <- tempdir()
scale <- 1
for (file in c("gpu-report.R", "gpu-build.R", "gpu-measure.R")) source(file.path(here, file))
info <- gpuInfo()
gpu <- info$default == "cuda"
quick <- "--quick" %in% arguments

# ---- data, from a seed

continuous <- function(n_obs, n_var) matrix(rnorm(n_obs * n_var), n_obs)
one_with_ties <- function(n_obs, n_var) {
  x <- continuous(n_obs, n_var)
  x[, n_var] <- round(x[, n_var], 1)
  x
}
counts <- function(n_obs, n_var) matrix(rpois(n_obs * n_var, 0.3), n_obs)
few_counts <- function(n_obs, n_var) matrix(rpois(n_obs * n_var, 0.2), n_obs)
# One observation of each ten is non-zero: up to 12 levels including 0.
cells <- function(n_obs, n_var) {
  tenth <- n_obs %/% 10
  shift <- sample.int(10, 2 * tenth + n_var, TRUE) - 1L
  value <- pmin(1 + rgeom(2 * tenth + n_var, 0.45), 11)
  own <- rep(seq_len(tenth), n_var) + rep(sample.int(tenth, n_var, TRUE), each = tenth)
  new("dgCMatrix", i = rep(10L * (seq_len(tenth) - 1L), n_var) + shift[own], x = value[own],
      p = as.integer(tenth * (0:n_var)), Dim = as.integer(c(10 * tenth, n_var)))
}
survey <- function(n_obs, n_var) matrix(sample(5, n_obs * n_var, TRUE), n_obs)
peaks <- function(n_obs, n_var) {
  cbind(continuous(n_obs, n_var %/% 2), matrix(rbinom(n_obs * (n_var %/% 2), 1, 0.1), n_obs))
}

row <- function(data, n_var, n_obs, must = NA, signs = TRUE) {
  list(data = data, n_var = n_var, n_obs = n_obs, must = must, signs = signs)
}
rows_gpu <- list(
  row("continuous", 500, 1e4, 0.02), row("continuous", 500, 3e4, 0.08), row("continuous", 500, 1e5, 0.6),
  row("one_with_ties", 500, 1e4, 0.03), row("one_with_ties", 500, 3e4, 0.1), row("one_with_ties", 500, 1e5, 0.8),
  row("counts", 500, 1e4, 0.01, FALSE), row("counts", 500, 3e4, 0.02, FALSE), row("counts", 500, 1e5, 0.05, FALSE),
  row("one_with_ties", 2000, 1e5, 4), row("continuous", 100, 1e6, 2), row("cells", 2000, 1e5, 0.3, FALSE),
  row("cells", 2000, 1e6, 2.5, FALSE), row("peaks", 1000, 3e4), row("continuous", 10, 1e5),
  row("continuous", 100, 1e5), row("continuous", 1000, 1e4), row("continuous", 2, 1e7)
)
rows_cpu <- list(
  row("few_counts", 60, 2e4, 0.39, FALSE), row("continuous", 60, 1e4, 0.48), row("survey", 200, 5e4, 0.1, FALSE),
  row("continuous", 2, 1e5), row("continuous", 2, 1e6), row("continuous", 2, 1e7), row("continuous", 10, 3e4),
  row("one_with_ties", 60, 3e4), row("peaks", 60, 3e4)
)

# ---- a row

kendall <- function(x, ...) suppressMessages(gpuCor(x, method = "kendall", ...))

is_right <- function(x, r) {
  some <- unique(c(seq_len(min(5, ncol(x))), ncol(x)))
  identical(as.vector(kendall(x[, some], backend = "cpu")), as.vector(as.dist(as.matrix(r)[some, some])))
}

peer_seconds <- function(x) {
  if (gpu || !requireNamespace("pcaPP", quietly = TRUE)) return(NA)
  some <- x[, seq_len(min(4, ncol(x)))]
  system.time(pcaPP::cor.fk(some))[["elapsed"]] / pairs_of(ncol(some)) * pairs_of(ncol(x))
}

floor_of <- function(row, rates) {
  if (!gpu) return(NA)
  if (!row$signs) return(8 * row$n_obs * row$n_var / rates$wire)
  2 * pairs_of(row$n_var) * pairs_of(row$n_obs) / rates$bits
}

LINE <- "%-14s %6s %8s %9s %9s %9s %8s %7s %7s %5s %9s %8s %6s"

measure <- function(row, rates) {
  set.seed(1)
  x <- get(row$data)(row$n_obs, row$n_var)
  kendall(x[seq_len(100), ])
  found <- lapply(1:2, function(k) {
    gc()
    seconds <- system.time(r <- kendall(x))[["elapsed"]]
    list(seconds = seconds, stages = engine_stages(), right = k == 2 || is_right(x, r))
  })
  best <- found[[which.min(vapply(found, `[[`, 0, "seconds"))]]
  floor <- floor_of(row, rates)
  peer <- peer_seconds(x)
  right <- all(vapply(found, `[[`, NA, "right"))
  met <- if (is.na(row$must)) "" else if (best$seconds <= row$must) "yes" else "no"
  numbers <- vapply(c(best$seconds, best$stages[1:2], floor), number, "")
  emit(sprintf(LINE, row$data, number(row$n_var), number(row$n_obs, 7), numbers[1], numbers[2], numbers[3], numbers[4],
               number(best$seconds / floor, 2), number(row$must), met, number(peer), number(peer / best$seconds, 3),
               if (right) "yes" else "no"))
}

open_record(paste0("kendall-long-", info$default, ".txt"))
if (gpu && !nzchar(Sys.getenv("GPUCOR_BENCH_LIBS"))) {
  build_random()
  build_rates()
  Sys.setenv(GPUCOR_BENCH_LIBS = folder)
}
describe_machine(info)
rates <- if (gpu) measure_rates(info$threads, TRUE)
if (gpu) describe_rates(rates)
emit("")
emit(sprintf(LINE, "data", "N", "n_obs", "ours", "prepare", "multiply",
             "floor", "ratio", "must", "met", "peer", "peer/our", "right"))
for (row in if (gpu) rows_gpu else rows_cpu) if (!quick || row$n_obs <= 3e4) measure(row, rates)
close_record()
